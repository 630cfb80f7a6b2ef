package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// webClient connects to a server over HTTP, of revision 2026-07-28, that is but a function: of each request after discovery
// it makes the answer, members of a result or an error in braces.
func webClient(t *testing.T, answer func(m clientMessage, h http.Header) string) *mcp.Client {
	t.Helper()
	transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
		m, members := messageOf(t, r), discovered
		if m.Method != "server/discover" {
			members = answer(m, r.Header)
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, members)
		if strings.HasPrefix(members, "{") {
			body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, members)
		}
		resp := answerOf("application/json", io.NopCloser(strings.NewReader(body)))
		if strings.HasPrefix(members, "{") {
			resp.StatusCode = http.StatusBadRequest
		}
		return resp, nil
	})}})
	c, err := mcp.Dial(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNamesInHeaders(t *testing.T) {
	t.Parallel()
	encoded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	for _, tt := range []struct{ rule, name, want string }{
		{"HDR-03", "plain", "plain"},
		{"HDR-03", "in ner~!", "in ner~!"},
		{"HDR-09", "天気", encoded("天気")},
		{"HDR-09", "café", encoded("café")},
		{"HDR-09", " before", encoded(" before")},
		{"HDR-09", "after ", encoded("after ")},
		{"HDR-09", "a\tb", encoded("a\tb")},
		{"HDR-09", "two\r\nX-Lines: 1", encoded("two\r\nX-Lines: 1")},
		{"HDR-09", "\x7f", encoded("\x7f")},
		{"HDR-10", "=?base64?literal?=", encoded("=?base64?literal?=")},
		{"HDR-10", "=?BASE64?literal?=", "=?BASE64?literal?="},
	} {
		t.Run(fmt.Sprintf("%s the name %q", tt.rule, tt.name), func(t *testing.T) {
			t.Parallel()
			got := make(map[string]string)
			c := webClient(t, func(m clientMessage, h http.Header) string {
				got[m.Method] = h.Get("Mcp-Name")
				return `"content":[],"messages":[],"contents":[]`
			})
			mustCall(t, c, tt.name, nil)
			_, err1 := c.GetPrompt(t.Context(), tt.name, nil)
			_, err2 := c.ReadResource(t.Context(), tt.name)
			_, err3 := mcp.Do[struct{}](t.Context(), c, "tasks/get", map[string]string{"taskId": tt.name})
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Error(err)
			}
			want := map[string]string{"tools/call": tt.want, "prompts/get": tt.want, "resources/read": tt.want, "tasks/get": tt.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeadersOfTheNewestSchema(t *testing.T) {
	t.Parallel()
	plain, mirrored := `{"type":"string"}`, `{"type":"string","x-mcp-header":"A"}`
	for name, tt := range map[string]struct {
		lists []string // schemas of the argument, as it is listed time after time
		want  []string // headers of the call
	}{
		"no list":                    {nil, nil},
		"one list":                   {[]string{mirrored}, []string{"x"}},
		"the annotation goes":        {[]string{mirrored, plain}, nil},
		"the annotation comes":       {[]string{plain, mirrored}, []string{"x"}},
		"the annotation comes again": {[]string{mirrored, plain, mirrored}, []string{"x"}},
	} {
		t.Run("XMH-21 headers are those of the newest schema: "+name, func(t *testing.T) {
			t.Parallel()
			n := 0
			var got []string
			c := webClient(t, func(m clientMessage, h http.Header) string {
				if m.Method == "tools/list" {
					n++
					return `"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":` + tt.lists[n-1] + `}}}]`
				}
				got = h.Values("Mcp-Param-A")
				return `"content":[]`
			})
			for range tt.lists {
				mustList(t, c)
			}
			mustCall(t, c, "t", map[string]string{"a": "x"})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("XMH-21 TOOL-08 an output schema that goes is not held against results", func(t *testing.T) {
		t.Parallel()
		more := `,"outputSchema":{"type":"object","required":["n"]}`
		c := webClient(t, func(m clientMessage, _ http.Header) string {
			if m.Method == "tools/list" {
				return `"tools":[{"name":"t","inputSchema":{"type":"object"}` + more + `}]`
			}
			return `"content":[],"structuredContent":{}`
		})
		mustList(t, c)
		if _, err := c.CallTool(t.Context(), "t", nil); err == nil {
			t.Error("no error while there is a schema")
		}
		more = ""
		mustList(t, c)
		mustCall(t, c, "t", nil)
	})
}

// TestRevisionRefusedLater has servers refuse the revision of a call after they have agreed to it.
func TestRevisionRefusedLater(t *testing.T) {
	t.Parallel()
	const refusal = `{"code":-32022,"message":"m","data":{"requested":"2026-07-28","supported":[%s]}}`
	for _, tt := range []struct {
		name, supported string
		times, calls    int // how often it is refused, how often it is sent
	}{
		{"once, by mistake", `"2026-07-28"`, 1, 2},
		{"for ever", `"2025-11-25","2026-07-28"`, 9, 2},
		{"for want of the revision", `"2031-01-01"`, 9, 1},
		{"without saying what is spoken", ``, 9, 1},
	} {
		run := func(t *testing.T, dial func(answer func(clientMessage) string) *mcp.Client) {
			calls := 0
			c := dial(func(clientMessage) string {
				if calls++; calls <= tt.times {
					return fmt.Sprintf(refusal, tt.supported)
				}
				return `"content":[]`
			})
			_, err := c.CallTool(t.Context(), "t", nil)
			var remote *mcp.Error
			if calls != tt.calls || (err == nil) != (tt.times < tt.calls) || err != nil && (!errors.As(err, &remote) || remote.Code != mcp.CodeUnsupportedVersion) {
				t.Errorf("%v after %d calls", err, calls)
			}
		}
		t.Run("VER-03 a call is refused "+tt.name+", over HTTP", func(t *testing.T) {
			t.Parallel()
			run(t, func(answer func(clientMessage) string) *mcp.Client {
				return webClient(t, func(m clientMessage, _ http.Header) string { return answer(m) })
			})
		})
		bubble(t, "VER-03 a call is refused "+tt.name+", on a pipe", func(t *testing.T) {
			run(t, func(answer func(clientMessage) string) *mcp.Client {
				f := newFakeServer(t)
				c := f.dial(nil)
				f.talk(answer)
				return c
			})
		})
	}
}

// TestMetaOfEveryRequest looks at all that a client can ask of a server.
func TestMetaOfEveryRequest(t *testing.T) {
	t.Parallel()
	bubble(t, "META-06 META-07 VER-01 every request, of every method and round, says what is spoken and can be done", func(t *testing.T) {
		var seen trail
		f := newFakeServer(t)
		asked := make(map[string]int)
		f.talk(func(m clientMessage) string {
			if m.ID == nil {
				return ""
			}
			asked[m.Method]++
			for key, want := range map[string]string{
				"protocolVersion": `"2026-07-28"`, "clientCapabilities": hookCapabilities, "clientInfo": `{"name":"n","version":"v"}`,
			} {
				if got := string(m.Params.Meta["io.modelcontextprotocol/"+key]); got != want {
					t.Errorf("%s, time %d: %s is %s, want %s", m.Method, asked[m.Method], key, got, want)
				}
			}
			switch {
			case m.Method == "server/discover":
				return discovered
			case m.Method == "subscriptions/listen":
				f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
				return ""
			case m.Params.Cursor == nil && m.Method == "tools/list":
				return `"tools":[],"nextCursor":"2"`
			case asked[m.Method] == 1 && (m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read"):
				return suspended(`{"f":`+askedForm+`}`, `"s"`)
			case asked[m.Method] == 2 && m.Method == "tools/call":
				return `{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`
			}
			return `"tools":[],"prompts":[],"resources":[],"resourceTemplates":[],"contents":[],"content":[],"messages":[],"completion":{"values":[]}`
		})
		opts := hooks(&seen)
		opts.Name, opts.Version = "n", "v"
		c, err := mcp.Dial(t.Context(), f.transport(), opts)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mustList(t, c)
		mustCall(t, c, "t", json.RawMessage(`{}`))
		var errs []error
		note := func(err error) { errs = append(errs, err) }
		for _, err := range c.Prompts(t.Context()) {
			note(err)
		}
		for _, err := range c.Resources(t.Context()) {
			note(err)
		}
		for _, err := range c.Templates(t.Context()) {
			note(err)
		}
		_, err = c.GetPrompt(t.Context(), "p", nil)
		note(err)
		_, err = c.ReadResource(t.Context(), "x://a")
		note(err)
		_, err = c.Complete(t.Context(), mcp.PromptRef("p"), "a", "", nil)
		note(err)
		_, err = mcp.Do[struct{}](t.Context(), c, "com.example/do", nil)
		note(err)
		_, err = mcp.Do[struct{}](t.Context(), c, "com.example/other", map[string]int{"n": 1}, mcp.WithMeta("com.example/k", 1))
		note(err)
		sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
		note(err)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		want := map[string]int{
			"server/discover": 1, "tools/list": 2, "tools/call": 3, "prompts/list": 1, "resources/list": 1, "resources/templates/list": 1, "prompts/get": 2,
			"resources/read": 2, "completion/complete": 1, "com.example/do": 1, "com.example/other": 1, "subscriptions/listen": 1,
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// TestSubscriptionsThatEnd is about what is not opened again.
func TestSubscriptionsThatEnd(t *testing.T) {
	t.Parallel()
	const ack = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%[1]s}}}\n\n"
	for name, end := range map[string]string{
		"a result":   "data: {\"jsonrpc\":\"2.0\",\"id\":%[1]s,\"result\":{\"resultType\":\"complete\"}}\n\n",
		"an error":   "data: {\"jsonrpc\":\"2.0\",\"id\":%[1]s,\"error\":{\"code\":-32603,\"message\":\"gone\"}}\n\n",
		"withdrawal": "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%[1]s}}\n\n",
	} {
		bubble(t, "SUB-12 SUB-13 over HTTP, what the server ended by "+name+" is not opened again", func(t *testing.T) {
			listens := 0
			transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
				m := messageOf(t, r)
				if m.Method == "server/discover" {
					return answerOf("application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, discovered)))), nil
				}
				listens++
				return answerOf("text/event-stream", lateBody{strings.NewReader(fmt.Sprintf(ack+end, m.ID)), r.Context()}), nil
			})}})
			c, err := mcp.Dial(context.Background(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range sub.Events() {
				var remote *mcp.Error
				if name != "an error" || !errors.As(err, &remote) || e != (mcp.Event{}) {
					t.Fatalf("%+v, %v", e, err)
				}
			}
			if listens != 1 {
				t.Errorf("opened %d times", listens)
			}
		})
	}
}
