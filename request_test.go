package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// facts is all that a handler can know of its request.
type facts struct {
	Method, Version, LogLevel, Token, Session string
	Info                                      mcp.Info
	Client                                    mcp.Implementation
	Capabilities                              mcp.ClientCapabilities
	Params                                    string
	Meta                                      map[string]string
	Header                                    bool
}

func factsOf(r *mcp.Request) facts {
	f := facts{
		Method: r.Method(), Version: r.Version(), LogLevel: r.LogLevel(), Token: string(r.ProgressToken()), Session: r.SessionID(),
		Info: r.Info(), Client: r.Client(), Capabilities: r.Capabilities(), Params: string(r.Params()), Header: r.Header() != nil,
	}
	for k, v := range r.Meta() {
		if f.Meta == nil {
			f.Meta = make(map[string]string)
		}
		f.Meta[k] = string(v)
	}
	return f
}

// factServer has the tool "t", which notes the facts of its requests.
func factServer() (*mcp.Server, <-chan facts) {
	seen := make(chan facts, 16)
	s := mcp.NewServer("fixture", "1.0.0", nil)
	mcp.AddTool(s, "t", "", func(ctx context.Context, _ any) (string, error) {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, trailKey{}, 1)) // a derived context will do
		defer cancel()
		seen <- factsOf(mcp.RequestFrom(ctx))
		return "", nil
	}).Tags("category=c,own=x")
	return s, seen
}

const (
	versionMember = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	capsMember    = `"io.modelcontextprotocol/clientCapabilities":`
	clientMember  = `"io.modelcontextprotocol/clientInfo":`
	levelMember   = `"io.modelcontextprotocol/logLevel":`
)

func TestRequestFacts(t *testing.T) {
	t.Parallel()
	info := mcp.Info{Kind: "tool", Name: "t", Category: "c", Tags: map[string]string{"own": "x"}}
	params := func(meta ...string) string { return `{"name":"t","_meta":{` + strings.Join(meta, ",") + `}}` }
	request := func(id string, meta ...string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + params(meta...) + `}`
	}
	full := []string{versionMember, capsMember + `{"elicitation":{"form":{}},"sampling":{},"extensions":{"com.example/x":{"a":1}},"other":true}`,
		clientMember + `{"name":"c","version":"9","title":"C","icons":[{"src":"https://example.com/"}],"unknown":1}`,
		levelMember + `"warning"`, `"progressToken":"tok\u0065n"`, `"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`,
		`"tracestate":"a=b"`, `"baggage":"k=v"`, `"com.example/k":{"a": [1]}`}
	fullFacts := facts{
		Method: "tools/call", Version: "2026-07-28", LogLevel: "warning", Token: `"tok\u0065n"`, Info: info,
		Client: mcp.Implementation{Name: "c", Version: "9", Title: "C", Icons: []mcp.Icon{{Src: "https://example.com/"}}},
		Capabilities: mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}}, Sampling: &mcp.SamplingCapability{},
			Extensions: map[string]json.RawMessage{"com.example/x": json.RawMessage(`{"a":1}`)},
		},
		Params: params(full...),
		Meta: map[string]string{
			"io.modelcontextprotocol/protocolVersion":    `"2026-07-28"`,
			"io.modelcontextprotocol/clientCapabilities": `{"elicitation":{"form":{}},"sampling":{},"extensions":{"com.example/x":{"a":1}},"other":true}`,
			"io.modelcontextprotocol/clientInfo":         `{"name":"c","version":"9","title":"C","icons":[{"src":"https://example.com/"}],"unknown":1}`,
			"io.modelcontextprotocol/logLevel":           `"warning"`, "progressToken": `"tok\u0065n"`,
			"traceparent": `"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`, "tracestate": `"a=b"`, "baggage": `"k=v"`, "com.example/k": `{"a": [1]}`,
		},
	}
	bare := []string{versionMember, capsMember + `{}`}
	bareFacts := facts{Method: "tools/call", Version: "2026-07-28", Info: info, Params: params(bare...),
		Meta: map[string]string{"io.modelcontextprotocol/protocolVersion": `"2026-07-28"`, "io.modelcontextprotocol/clientCapabilities": `{}`}}

	t.Run("A20 A21 A22 A23 META-05 META-14 META-15 all facts of a modern request", func(t *testing.T) {
		t.Parallel()
		s, seen := factServer()
		resultIn(t, ask(t, s, request("1", full...)))
		if diff := cmp.Diff(fullFacts, <-seen); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("A21 META-09 absent client info is empty, and no fault", func(t *testing.T) {
		t.Parallel()
		s, seen := factServer()
		resultIn(t, ask(t, s, request("1", bare...)))
		if diff := cmp.Diff(bareFacts, <-seen); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("C113 A22 BASE-21 each request on a connection has its own", func(t *testing.T) {
		t.Parallel()
		s, seen := factServer()
		c := serveLines(t, s)
		for i := range 6 {
			members, want := full, fullFacts
			if i%2 == 1 {
				members, want = bare, bareFacts
			}
			c.send(request(fmt.Sprint(i), members...))
			resultIn(t, c.next())
			if diff := cmp.Diff(want, <-seen); diff != "" {
				t.Errorf("request %d (-want +got):\n%s", i, diff)
			}
		}
	})
	for _, version := range legacyVersions {
		t.Run("A20 A21 C113 "+version+" has those of the handshake, and a modern request beside it its own", func(t *testing.T) {
			t.Parallel()
			s, seen := factServer()
			c := serveLines(t, s)
			c.openLegacy(version)
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}}`)
			if answer := resultIn(t, c.next()); answer["resultType"] != nil {
				t.Errorf("modern members: %s", answer)
			}
			want := facts{Method: "tools/call", Version: version, Token: "7", Info: info, Client: mcp.Implementation{Name: "tester", Version: "0"},
				Params: `{"name":"t","_meta":{"progressToken":7}}`, Meta: map[string]string{"progressToken": "7"}}
			if diff := cmp.Diff(want, <-seen); diff != "" {
				t.Errorf("legacy (-want +got):\n%s", diff)
			}
			c.send(request("2", full...))
			if answer := resultIn(t, c.next()); answer["resultType"] == nil {
				t.Errorf("modern members are missing: %s", answer)
			}
			if diff := cmp.Diff(fullFacts, <-seen); diff != "" {
				t.Errorf("modern (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("A22 what cannot be read is not declared", func(t *testing.T) {
		t.Parallel()
		s, seen := factServer()
		resultIn(t, ask(t, s, request("1", versionMember, capsMember+`{"sampling":7}`, clientMember+`"nobody"`)))
		if got := <-seen; got.Capabilities.Sampling != nil || got.Client.Name != "" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("C113 outside a request there are no facts", func(t *testing.T) {
		t.Parallel()
		r := mcp.RequestFrom(t.Context())
		if diff := cmp.Diff(facts{}, factsOf(r)); r == nil || diff != "" {
			t.Errorf("%s", diff)
		}
		mcp.Progress(t.Context(), 1, 2, "nobody hears it")
	})
	t.Run("C113 facts outlive the request, and may be read at once", func(t *testing.T) {
		t.Parallel()
		kept := make(chan *mcp.Request, 1)
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ any) (string, error) { kept <- mcp.RequestFrom(ctx); return "", nil })
		c := serveLines(t, s)
		c.send(request("1", full...))
		c.next()
		r := <-kept
		for i := range 50 { // whatever is reused, is reused now
			c.send(request(fmt.Sprint(i+2), bare...))
			c.next()
			<-kept
		}
		want := fullFacts
		want.Info.Category, want.Info.Tags = "", nil
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if diff := cmp.Diff(want, factsOf(r)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
		group.Wait()
	})
}

func TestRequestMeta(t *testing.T) {
	t.Parallel()
	const caps = capsMember + `{}`
	f := newFixture(nil)
	for _, tt := range []struct {
		name, params, text string
		keys               []string // what data names
	}{
		{"META-08 no params", ``, "missing or malformed", []string{"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"}},
		{"META-08 no _meta", `,"params":{}`, "missing or malformed", []string{"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"}},
		{"META-08 null params", `,"params":null`, "missing or malformed", []string{"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"}},
		{"META-08 no version", `,"params":{"_meta":{` + caps + `}}`, "missing or malformed", []string{"io.modelcontextprotocol/protocolVersion"}},
		{"META-08 no capabilities", `,"params":{"_meta":{` + versionMember + `}}`, "missing or malformed", []string{"io.modelcontextprotocol/clientCapabilities"}},
		{"META-08 version that is no string", `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":20260728,` + caps + `}}`, "missing or malformed", []string{"io.modelcontextprotocol/protocolVersion"}},
		{"META-08 capabilities that are no object", `,"params":{"_meta":{` + versionMember + `,` + capsMember + `[]}}`, "missing or malformed", []string{"io.modelcontextprotocol/clientCapabilities"}},
		{"META-08 null capabilities", `,"params":{"_meta":{` + versionMember + `,` + capsMember + `null}}`, "missing or malformed", []string{"io.modelcontextprotocol/clientCapabilities"}},
		{"META-08 _meta that is no object", `,"params":{"_meta":"x"}`, "_meta must be an object", nil},
		{"META-15 PRG-01 token that is a fraction", `,"params":{` + modernMeta(`"progressToken":1.5`) + `}`, "progressToken must be a string or an integer", nil},
		{"META-15 PRG-01 token that is null", `,"params":{` + modernMeta(`"progressToken":null`) + `}`, "progressToken must be a string or an integer", nil},
		{"META-15 PRG-01 token that is an object", `,"params":{` + modernMeta(`"progressToken":{}`) + `}`, "progressToken must be a string or an integer", nil},
		{"A24 unknown log level", `,"params":{` + modernMeta(levelMember+`"loud"`) + `}`, "must be one of debug", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := parseWire(t, ask(t, f.Server, `{"jsonrpc":"2.0","id":"x","method":"tools/list"`+tt.params+`}`))
			if m.Error == nil || m.Error.Code != mcp.CodeInvalidParams || string(m.ID) != `"x"` || !strings.Contains(m.Error.Message, tt.text) {
				t.Fatalf("%s %+v", m.ID, m.Error)
			}
			var data struct{ Keys []string }
			if m.Error.Data != nil {
				if err := json.Unmarshal(m.Error.Data, &data); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.keys, data.Keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
	for name, line := range map[string]string{
		"BASE-13 META-05 unknown members everywhere": `{"jsonrpc":"2.0","id":1,"more":[{}],"method":"tools/call","params":{"name":"echo","arguments":{"text":"x","zzz":{}},"task":{},` +
			modernMeta(`"com.example/zzz":[null]`, `"zzz":1`) + `}}`,
		"META-14 malformed trace context is ignored": modernCall("1", "echo", `{"text":"x"}`, `"traceparent":7`, `"tracestate":{}`, `"baggage":null`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, f.Server, line); got != modernText("1", "x") {
				t.Errorf("answer %s", got)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	type step struct {
		Done, Total float64
		Message     string
	}
	inf, nan := math.Inf(1), math.NaN()
	notice := func(token, members string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,` + members + `}}`
	}
	for _, tt := range []struct {
		name, token string
		steps       []step
		want        []string
	}{
		{"PRG-01 PRG-02 META-15 string token, done alone", `"a\"b"`, []step{{1, 0, ""}}, []string{notice(`"a\"b"`, `"progress":1`)}},
		{"PRG-01 integer token", `9007199254740993`, []step{{1, 0, ""}}, []string{notice(`9007199254740993`, `"progress":1`)}},
		{"PRG-02 P10 total and message", `0`, []step{{1, 3, "a\n\"b\""}}, []string{notice(`0`, `"progress":1,"total":3,"message":"a\n\"b\""`)}},
		{"PRG-02 a token does not oblige", `1`, nil, nil},
		{"PRG-03 equal and lower values are dropped", `1`, []step{{1, 0, ""}, {1, 0, "again"}, {0.5, 0, ""}, {-1, 0, ""}, {1.5, 0, ""}}, []string{notice("1", `"progress":1`), notice("1", `"progress":1.5`)}},
		{"PRG-03 whatever the total", `1`, []step{{1, 10, ""}, {1, 20, ""}, {2, 20, ""}}, []string{notice("1", `"progress":1,"total":10`), notice("1", `"progress":2,"total":20`)}},
		{"PRG-03 the first may be zero or less", `1`, []step{{-2, 0, ""}, {0, 0, ""}}, []string{notice("1", `"progress":-2`), notice("1", `"progress":0`)}},
		{"PRG-05 fractions", `1`, []step{{0.2, 1.5, ""}}, []string{notice("1", `"progress":0.2,"total":1.5`)}},
		{"PRG-05 large whole numbers have no exponent", `1`, []step{{123456789, 1e12, ""}}, []string{notice("1", `"progress":123456789,"total":1000000000000`)}},
		{"P10 totals of no meaning are left out", `1`, []step{{1, -3, ""}, {2, nan, ""}, {3, inf, ""}}, []string{notice("1", `"progress":1`), notice("1", `"progress":2`), notice("1", `"progress":3`)}},
		{"P10 values that are no numbers are dropped", `1`, []step{{nan, 1, ""}, {inf, 1, ""}, {1, 1, ""}}, []string{notice("1", `"progress":1,"total":1`)}},
		{"PRG-08 A23 P10 without a token there is none", ``, []step{{1, 2, "x"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mcp.NewServer("fixture", "1.0.0", nil)
				mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
					for _, p := range tt.steps {
						mcp.Progress(ctx, p.Done, p.Total, p.Message)
					}
					return "x", nil
				})
				c := serveLines(t, s)
				meta := []string{`"progressToken":` + tt.token}
				if tt.token == "" {
					meta = nil
				}
				c.send(modernCall("5", "t", "{}", meta...))
				c.expect(append(tt.want, modernText("5", "x"))...) // PRG-09: before the response
				c.quiet()
			})
		})
	}
	t.Run("PRG-04 STD-09 nothing follows the return of the handler, nor its response", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := mcp.NewServer("fixture", "1.0.0", nil)
			late := make(chan context.Context, 1)
			mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (reportsInJSON, error) {
				late <- ctx
				return reportsInJSON{ctx}, nil
			})
			c := serveLines(t, s)
			c.send(modernCall("5", "t", "{}", `"progressToken":1`))
			if m := parseWire(t, c.next()); m.Result == nil {
				t.Errorf("first %+v", m)
			}
			mcp.Progress(<-late, 2, 0, "")
			c.quiet()
		})
	})
	t.Run("PRG-09 reports of many goroutines rise, and precede the response", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
			var group sync.WaitGroup
			for g := range 8 {
				group.Go(func() {
					for i := range 50 {
						mcp.Progress(ctx, float64(i*8+g), 0, "")
					}
				})
			}
			group.Wait()
			return "", nil
		})
		c := serveLines(t, s)
		c.send(modernCall("5", "t", "{}", `"progressToken":1`))
		last, count := -1.0, 0
		for m := parseWire(t, c.next()); m.Method != ""; m = parseWire(t, c.next()) {
			var params struct{ Progress float64 }
			if err := json.Unmarshal(m.Params, &params); err != nil || params.Progress <= last {
				t.Fatalf("%v after %v: %v", params.Progress, last, err)
			}
			last = params.Progress
			count++
		}
		if count == 0 || last != 399 {
			t.Errorf("%d reports up to %v", count, last)
		}
	})
	t.Run("PRG-02 2024-11-05 has no messages", func(t *testing.T) {
		t.Parallel()
		for _, version := range legacyVersions {
			s := mcp.NewServer("s", "1", nil)
			mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) { mcp.Progress(ctx, 1, 2, "m"); return "", nil })
			want := notice("1", `"progress":1,"total":2,"message":"m"`)
			if version == "2024-11-05" {
				want = notice("1", `"progress":1,"total":2`)
			}
			if got := askLegacy(t, s, version, plainRequest("5", "tools/call", `"name":"t"`, `"_meta":{"progressToken":1}`)); got != want {
				t.Errorf("%s: %s", version, got)
			}
		}
	})
	t.Run("PRG-01 tokens of parallel calls are not mixed up", func(t *testing.T) {
		t.Parallel()
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		for i := range 20 {
			c.send(modernCall(fmt.Sprint(i), "progress", `{"count":3}`, fmt.Sprintf(`"progressToken":"t%d"`, i)))
		}
		seen := make(map[string]int)
		for range 20 * 4 {
			m := parseWire(t, c.next())
			if m.Method == "" {
				if token := `"t` + string(m.ID) + `"`; seen[token] != 3 {
					t.Errorf("%d reports before the response of %s", seen[token], m.ID)
				}
				continue
			}
			var params struct {
				ProgressToken json.RawMessage
				Progress      int
			}
			if err := json.Unmarshal(m.Params, &params); err != nil || params.Progress != seen[string(params.ProgressToken)]+1 {
				t.Errorf("%v: %s", err, m.Params)
			}
			seen[string(params.ProgressToken)]++
		}
	})
}

// reportsInJSON reports progress while it is encoded.
type reportsInJSON struct{ ctx context.Context }

func (r reportsInJSON) MarshalJSON() ([]byte, error) {
	mcp.Progress(r.ctx, 1, 0, "")
	return []byte("{}"), nil
}
