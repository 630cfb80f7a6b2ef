package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func TestListsOfSloppyServers(t *testing.T) {
	t.Parallel()
	const ok = `{"name":"ok","inputSchema":{"type":"object"}}`
	for _, tt := range []struct {
		name  string
		pages []string // members of the results, by the number of the request
		want  []string // names of tools
		fails string   // part of the error, "" for none
		warns string   // part of the log
	}{
		{"C133 null for a list", []string{`"tools":null`}, nil, "", ""},
		{"C133 no list", []string{`"resultType":"complete"`}, nil, "", ""},
		{"C133 null for a tool", []string{`"tools":[null,` + ok + `]`}, []string{"ok"}, "", ""},
		{"C133 a malformed tool", []string{`"tools":[{"name":7},"x",{"name":"a","annotations":[]},` + ok + `]`}, []string{"ok"}, "", "malformed"},
		{"C133 a tool without a name", []string{`"tools":[{},{"name":""},` + ok + `]`}, []string{"ok"}, "", "without a name"},
		{"C133 a type array in a property", []string{`"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":["string","null"]}}}}]`}, []string{"a"}, "", ""},
		{"C133 XMH-09 a bad x-mcp-header is no matter off HTTP", []string{`"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":""}}}}]`}, []string{"a"}, "", ""},
		{"C133 PAG-03 the same cursor for ever", []string{`"tools":[` + ok + `],"nextCursor":"c"`, `"tools":[` + ok + `],"nextCursor":"c"`}, []string{"ok"}, `cursor "c" was sent twice`, ""},
		{"C133 PAG-03 cursors in a ring", []string{`"tools":[],"nextCursor":"a"`, `"tools":[],"nextCursor":"b"`, `"tools":[],"nextCursor":"a"`}, nil, `cursor "a" was sent twice`, ""},
		{"C133 a list that is none", []string{`"tools":{}`}, nil, "answer to tools/list is invalid", ""},
		{"C133 a cursor that is none", []string{`"tools":[],"nextCursor":7`}, nil, "answer to tools/list is invalid", ""},
		{"PAG-03 a null cursor is the end", []string{`"tools":[` + ok + `],"nextCursor":null`}, []string{"ok"}, "", ""},
		{"PAG-03 one page", []string{`"tools":[` + ok + `]`}, []string{"ok"}, "", ""},
		{"PAG-04 short and empty pages between", []string{`"tools":[` + ok + `],"nextCursor":"a"`, `"tools":[],"nextCursor":"b"`, `"tools":[` + ok + `,` + ok + `]`}, []string{"ok", "ok", "ok"}, "", ""},
		{"PAG-02 an empty cursor is one, and goes back", []string{`"tools":[],"nextCursor":""`, `"tools":[` + ok + `]`}, []string{"ok"}, "", ""},
		{"PAG-02 an empty cursor for ever", []string{`"tools":[],"nextCursor":""`, `"tools":[],"nextCursor":""`}, nil, "was sent twice", ""},
		{"BASE-13 unknown members", []string{`"tools":[` + ok + `],"more":{},"_meta":{"x":1}`}, []string{"ok"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var book logBook
			requests := 0
			var owed *string // the cursor that the next request has to bring
			c := dialAnswering(t, &mcp.ClientOptions{Logger: book.logger()}, func(m clientMessage) string {
				if diff := cmp.Diff(owed, m.Params.Cursor); diff != "" {
					t.Errorf("cursor (-want +got):\n%s", diff)
				}
				requests++
				page := tt.pages[min(requests, len(tt.pages))-1]
				var next struct{ NextCursor any }
				if err := json.Unmarshal([]byte("{"+page+"}"), &next); err != nil {
					t.Error(err)
				}
				if cursor, ok := next.NextCursor.(string); ok {
					owed = &cursor
				}
				return page
			})
			var names []string
			var failed []error
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					failed = append(failed, err)
				} else {
					names = append(names, tool.Name)
				}
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if (tt.fails == "") != (failed == nil) || len(failed) > 1 || failed != nil && !strings.Contains(failed[0].Error(), tt.fails) {
				t.Errorf("errors %v", failed)
			}
			if requests > len(tt.pages) {
				t.Errorf("%d requests", requests)
			}
			if (tt.warns == "") != (len(book.records(t, slog.LevelWarn)) == 0) || !strings.Contains(book.String(), tt.warns) {
				t.Errorf("log %s", book.String())
			}
		})
	}
	t.Run("PAG-01 cursors go back unaltered", func(t *testing.T) {
		t.Parallel()
		cursors := []string{"a\"\\\n\u2028\u00e4\U0001f600 =?base64?", " ", "\x00", strings.Repeat("c", 5000)}
		var got []string
		c := dialAnswering(t, nil, func(m clientMessage) string {
			if m.Params.Cursor != nil {
				got = append(got, *m.Params.Cursor)
			}
			if len(got) == len(cursors) {
				return `"tools":[]`
			}
			next, err := json.Marshal(cursors[len(got)])
			if err != nil {
				t.Error(err)
			}
			return `"tools":[],"nextCursor":` + string(next)
		})
		mustList(t, c)
		if diff := cmp.Diff(cursors, got); diff != "" {
			t.Errorf("cursors (-want +got):\n%s", diff)
		}
	})
	t.Run("PAG-03 the loop may be left, and no page is fetched ahead", func(t *testing.T) {
		t.Parallel()
		requests := 0
		c := dialAnswering(t, nil, func(clientMessage) string {
			requests++
			return fmt.Sprintf(`"tools":[%s,%s],"nextCursor":"%d"`, ok, ok, requests)
		})
		seen := 0
		for range c.Tools(t.Context()) {
			if seen++; seen == 3 {
				break
			}
		}
		if requests != 2 {
			t.Errorf("%d requests", requests)
		}
	})
}

func TestIconsOfHostileServers(t *testing.T) {
	t.Parallel()
	icons := `"icons":[{"src":"javascript:alert(1)"},{"src":"https://example.com/i.png"},{"src":"file:///etc/passwd"},{"src":"http://example.com/"},` +
		`{"src":"ftp://example.com/"},{"src":"ws://example.com/"},{"src":"app:x"},{"src":"data:image/png;base64,AAAA"},{"src":"HTTPS://example.com/"},{"src":"DATA:image/png;base64,AAAA"},{"src":"i.png"},{"src":""}]`
	want := []mcp.Icon{{Src: "https://example.com/i.png"}, {Src: "data:image/png;base64,AAAA"}, {Src: "HTTPS://example.com/"}, {Src: "DATA:image/png;base64,AAAA"}}
	f := newFakeServer(t)
	go func() {
		f.result(f.next(), discovered+`,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1",`+icons+`}}`)
	}()
	c, err := mcp.Dial(t.Context(), f.transport(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	f.answering(func(m clientMessage) string {
		entry := `{"name":"n","uri":"u:","uriTemplate":"u:{x}","inputSchema":{},` + icons + `}`
		switch m.Method {
		case "tools/call":
			return `"content":[{"type":"resource_link","uri":"u:","name":"n",` + icons + `}]`
		default:
			return `"tools":[` + entry + `],"prompts":[` + entry + `],"resources":[` + entry + `],"resourceTemplates":[` + entry + `]`
		}
	})
	found := map[string][]mcp.Icon{"the server": c.Server().Icons}
	for tool := range c.Tools(t.Context()) {
		found["a tool"] = tool.Icons
	}
	for prompt := range c.Prompts(t.Context()) {
		found["a prompt"] = prompt.Icons
	}
	for resource := range c.Resources(t.Context()) {
		found["a resource"] = resource.Icons
	}
	for template := range c.Templates(t.Context()) {
		found["a template"] = template.Icons
	}
	found["a link"] = mustCall(t, c, "t", nil).Content[0].(*mcp.ResourceLink).Icons
	for _, what := range []string{"the server", "a tool", "a prompt", "a resource", "a template", "a link"} {
		t.Run("ICON-02 of "+what+", those that may be loaded are left", func(t *testing.T) {
			if diff := cmp.Diff(want, found[what]); diff != "" {
				t.Errorf("icons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResultsOfSloppyServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, result, fails string }{
		{"BASE-12 without resultType", `{"content":[]}`, ""},
		{"BASE-12 with complete", `{"resultType":"complete","content":[]}`, ""},
		{"BASE-13 unknown members", `{"content":[{"type":"text","text":"x","more":1}],"more":{},"_meta":{"a":1}}`, ""},
		{"without content", `{}`, ""},
		{"BASE-11 of a weird type", `{"resultType":"weird","content":[]}`, `unknown type "weird"`},
		{"BASE-11 of an empty type", `{"resultType":"","content":[]}`, `unknown type ""`},
		{"BASE-11 of a type that is no string", `{"resultType":7,"content":[]}`, "is invalid"},
		{"BASE-05 null", `null`, "not an object"},
		{"BASE-05 an array", `[]`, "not an object"},
		{"BASE-05 a string", `"x"`, "not an object"},
		{"CNT-01 content of an unknown type", `{"content":[{"type":"video","url":"x"}]}`, `unknown type "video"`},
		{"CNT-01 content without a type", `{"content":[{"text":"x"}]}`, `unknown type ""`},
		{"CNT-01 content that is null", `{"content":[null]}`, `unknown type ""`},
		{"CNT-01 content that is no list", `{"content":{"type":"text","text":"x"}}`, "is invalid"},
		{"bad base64", `{"content":[{"type":"image","data":"?","mimeType":"image/png"}]}`, `content of type "image"`},
		{"an embedded resource without one", `{"content":[{"type":"resource"}]}`, "has no resource"},
		{"a duplicate member", `{"content":[],"content":[]}`, "is invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			c := f.dial(nil)
			go func() { f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, f.next().ID, tt.result) }()
			_, err := c.CallTool(t.Context(), "t", nil)
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v", err)
			}
			var remote *mcp.Error
			if errors.As(err, &remote) {
				t.Errorf("BASE-20: taken for an error of the peer: %v", err)
			}
		})
	}
}

func TestErrorsOfServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, members string
		code          mcp.Code
		data          string
	}{
		{"BASE-18 C136 a code without a meaning is kept as it is", `"code":-32001,"message":"m","data":{"a":[1]}`, -32001, `{"a":[1]}`},
		{"BASE-18 -32002 of older servers", `"code":-32002,"message":"m","data":{"uri":"u:"}`, -32002, `{"uri":"u:"}`},
		{"BASE-14 data as a string", `"code":1,"message":"m","data":"s"`, 1, `"s"`},
		{"BASE-14 null data", `"code":1,"message":"m","data":null`, 1, `null`},
		{"BASE-14 no data", `"code":1,"message":"m"`, 1, ""},
		{"BASE-13 unknown members", `"code":1,"message":"m","more":1`, 1, ""},
		{"BASE-19 an application's code", `"code":4711,"message":"m"`, 4711, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			c := f.dial(nil)
			go func() { f.fault(f.next(), tt.members) }()
			_, err := c.CallTool(t.Context(), "t", nil)
			var remote *mcp.Error
			if !errors.As(err, &remote) || !remote.Remote() || remote.Code != tt.code || remote.Message != "m" {
				t.Fatalf("error %#v", err)
			}
			raw, _ := remote.Data.(json.RawMessage)
			if string(raw) != tt.data {
				t.Errorf("data %s", raw)
			}
		})
	}
	for name, members := range map[string]string{"no object": `7`, "a code that is none": `{"code":"x","message":"m"}`, "a message that is none": `{"code":1,"message":{}}`} {
		t.Run("BASE-20 an error that is malformed is not the peer's: "+name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			c := f.dial(nil)
			go func() { f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, f.next().ID, members) }()
			_, err := c.CallTool(t.Context(), "t", nil)
			var remote *mcp.Error
			if err == nil || errors.As(err, &remote) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("C136 errors made here are not remote, and a nil target does no harm", func(t *testing.T) {
		t.Parallel()
		if mcp.Errorf(1, "m").Remote() {
			t.Error("remote")
		}
		if errors.Is(mcp.Errorf(1, "m"), (*mcp.Error)(nil)) {
			t.Error("equal to nil")
		}
	})
}

func TestWhatServersMustNotSend(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"BASE-09 a request":               `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`,
		"BASE-09 a request with our id":   `{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}}`,
		"BASE-09 ping":                    `{"jsonrpc":"2.0","id":"x","method":"ping"}`,
		"a cancellation of our own":       `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		"an unknown notification":         `{"jsonrpc":"2.0","method":"notifications/zzz"}`,
		"no JSON":                         `{"jsonrpc":`,
		"BASE-10 a batch":                 `[{"jsonrpc":"2.0","id":2,"result":{}}]`,
		"BASE-01 another JSON-RPC":        `{"jsonrpc":"1.0","id":2,"result":{}}`,
		"BASE-02 a response with null id": `{"jsonrpc":"2.0","id":null,"result":{}}`,
		"an error without id":             `{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`,
		"an error with a string id":       `{"jsonrpc":"2.0","id":"2","error":{"code":1,"message":"m"}}`,
		"BASE-04 our id as a string":      `{"jsonrpc":"2.0","id":"2","result":{"content":[]}}`,
		"a result for nobody":             `{"jsonrpc":"2.0","id":99,"result":{}}`,
		"an id beyond 64 bits":            `{"jsonrpc":"2.0","id":99999999999999999999,"result":{}}`,
		"a result and an error":           `{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"m"}}`,
	} {
		t.Run(name+" is dropped, and nothing is sent for it", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeServer(t)
				c := f.dial(nil)
				got := make(chan string, 1)
				go func() { got <- textOf(mustCall(t, c, "t", nil)) }()
				m := f.next()
				f.sent <- line
				synctest.Wait()
				if len(got) != 0 || len(f.received) != 0 {
					t.Fatalf("%d answers, %d messages sent", len(got), len(f.received))
				}
				f.result(m, `"content":[{"type":"text","text":"mine"}]`)
				if text := <-got; text != "mine" {
					t.Errorf("got %q", text)
				}
			})
		})
	}
	t.Run("an answer that is nested too deep fails its call at once", func(t *testing.T) {
		t.Parallel()
		deep := `"content":[],"structuredContent":` + strings.Repeat("[", 200) + strings.Repeat("]", 200)
		c := dialAnswering(t, nil, func(clientMessage) string { return deep })
		if _, err := c.CallTool(t.Context(), "t", nil); err == nil || !strings.Contains(err.Error(), "nested deeper") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("BASE-09 and reported in the log", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var book logBook
			f := newFakeServer(t)
			f.dial(&mcp.ClientOptions{Logger: book.logger()})
			f.sent <- `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`
			synctest.Wait()
			if records := book.records(t, slog.LevelWarn); len(records) != 1 || records[0]["method"] != "roots/list" {
				t.Errorf("log %v", records)
			}
		})
	})
}

// endingConn is a connection that ends as the test says.
type endingConn struct {
	*fakeServer
	broken chan error
}

func (c endingConn) Read(ctx context.Context) ([]byte, error) {
	select {
	case err := <-c.broken:
		return nil, err
	case msg := <-c.sent:
		return []byte(msg), nil
	case <-c.closed:
		return nil, io.ErrClosedPipe
	}
}

func TestClientEnds(t *testing.T) {
	t.Parallel()
	t.Run("C136 calls after Close and calls it cut off are ErrClosed; closing twice is fine", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(nil)
			c := dialMemory(t, f.Server, nil)
			results := make(chan error, 8)
			for range 8 {
				go func() { _, err := c.CallTool(t.Context(), "block", nil); results <- err }()
			}
			synctest.Wait()
			for range 2 {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
			var remote *mcp.Error
			for range 8 {
				if err := <-results; !errors.Is(err, mcp.ErrClosed) || errors.As(err, &remote) {
					t.Errorf("cut off: %v", err)
				}
			}
			if _, err := c.CallTool(t.Context(), "echo", nil); !errors.Is(err, mcp.ErrClosed) {
				t.Errorf("after: %v", err)
			}
			for _, err := range c.Tools(t.Context()) {
				if !errors.Is(err, mcp.ErrClosed) {
					t.Errorf("after: %v", err)
				}
			}
			for range 8 { // their handlers have ended, as the client is gone
				if cause := <-f.ended; !errors.Is(cause, context.Canceled) {
					t.Errorf("cause %v", cause)
				}
			}
		})
	})
	t.Run("C136 closing from several goroutines", func(t *testing.T) {
		t.Parallel()
		c := dialMemory(t, newFixture(nil).Server, nil)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	})
	for name, cause := range map[string]error{"the end of input": io.EOF, "a typed error": &oddError{ptr("cable cut")}} {
		t.Run("C136 BASE-20 "+name+" fails the calls under way and later ones", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeServer(t)
				conn := endingConn{f, make(chan error, 1)}
				go func() { f.result(f.next(), discovered) }()
				c, err := mcp.Dial(t.Context(), mcp.Custom(func(context.Context) (mcp.Conn, error) { return conn, nil }), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				result := make(chan error, 1)
				go func() { _, err := c.CallTool(t.Context(), "t", nil); result <- err }()
				f.next()
				conn.broken <- cause
				var remote *mcp.Error
				var typed *oddError
				for range 2 {
					if err := <-result; err == nil || errors.As(err, &remote) || errors.As(err, &typed) != (cause != io.EOF) {
						t.Errorf("error %v", err)
					}
					go func() { _, err := c.CallTool(t.Context(), "t", nil); result <- err }()
				}
				<-result
			})
		})
	}
}

func TestDialFails(t *testing.T) {
	t.Parallel()
	boom := &oddError{ptr("no route")}
	answer := func(reply func(*fakeServer, clientMessage)) func(context.Context) (mcp.Conn, error) {
		return func(context.Context) (mcp.Conn, error) {
			f := newFakeServer(t)
			go func() { reply(f, f.next()) }()
			return f, nil
		}
	}
	for _, tt := range []struct {
		name, want string
		dial       func(context.Context) (mcp.Conn, error)
	}{
		{"C136 a typed error", "no route", func(context.Context) (mcp.Conn, error) { return nil, boom }},
		{"no Conn", "returned no Conn", func(context.Context) (mcp.Conn, error) { return nil, nil }},
		{"no function", "no function", nil},
		{"BASE-20 an error of the server", "go away", answer(func(f *fakeServer, m clientMessage) { f.fault(m, `"code":1,"message":"go away"`) })},
		{"an answer that is none", "answer to server/discover is invalid", answer(func(f *fakeServer, m clientMessage) { f.result(m, `"supportedVersions":7`) })},
		{"an answer without versions", "names no versions", answer(func(f *fakeServer, m clientMessage) { f.result(m, `"capabilities":7`) })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := mcp.Dial(t.Context(), mcp.Custom(tt.dial), &mcp.ClientOptions{Versions: []string{mcp.LatestVersion}})
			if c != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, %v", c, err)
			}
			var typed *oddError
			var remote *mcp.Error
			if errors.As(err, &typed) != strings.HasPrefix(tt.name, "C136") || errors.As(err, &remote) != strings.HasPrefix(tt.name, "BASE-20") {
				t.Errorf("%#v", err)
			}
		})
	}
}
