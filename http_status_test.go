package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// raiseArgs are the arguments of a tool that returns a protocol error.
type raiseArgs struct {
	Code int    `json:"code"`
	Data string `json:"data,omitempty"` // JSON
}

// newRaiser is a fixture that has the tool raise too.
func newRaiser(opts *mcp.ServerOptions) *fixture {
	f := newFixture(opts)
	mcp.AddTool(f, "raise", "Return a protocol error", func(_ context.Context, a raiseArgs) (string, error) {
		err := &mcp.Error{Code: mcp.Code(a.Code), Message: "raised"}
		if a.Data != "" {
			err.Data = json.RawMessage(a.Data)
		}
		return "", err
	})
	return f
}

// bareRequest is a request whose params are exactly that JSON.
func bareRequest(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

func raising(code int) string { return modernCall("7", "raise", fmt.Sprintf(`{"code":%d}`, code)) }

const (
	metaVersionKey = "io.modelcontextprotocol/protocolVersion"
	metaCapsKey    = "io.modelcontextprotocol/clientCapabilities"
)

// TestHTTPErrorCodes goes through the error codes of MCP 2026-07-28, Basic › Error Codes: which fault has which, on
// which status, with which data, and with an id whenever it could be read.
func TestHTTPErrorCodes(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newRaiser(&mcp.ServerOptions{Limits: mcp.Limits{Depth: 20}}).Server, modernOnly)
	discover := modernRequest("7", "server/discover")
	metaOf := func(meta string) string { return bareRequest("7", "tools/list", `{"_meta":`+meta+`}`) }
	keys := func(names ...string) string { return `{"keys":["` + strings.Join(names, `","`) + `"]}` }
	versions := func(requested string) string { return `{"supported":["2026-07-28"],"requested":"` + requested + `"}` }
	versioned := func(version string) string { return strings.Replace(discover, "2026-07-28", version, 1) }

	tests := []struct {
		name, body string
		edits      []string
		status     int
		code       mcp.Code
		id, data   string
	}{
		{"C89 BASE-06 broken text", `{bad`, nil, 400, -32700, "", ""},
		{"C89 empty body", ``, nil, 400, -32700, "", ""},
		{"cut off", strings.TrimSuffix(discover, "}"), nil, 400, -32700, "", ""},
		{"two messages", discover + discover, nil, 400, -32700, "", ""},
		{"BASE-01 bad UTF-8", strings.Replace(discover, "7", "\"\xff\"", 1), nil, 400, -32700, "", ""},

		{"BASE-01 version of JSON-RPC", strings.Replace(discover, `"2.0"`, `"1.0"`, 1), nil, 400, -32600, "7", ""},
		{"BASE-01 no version of JSON-RPC", strings.Replace(discover, `"jsonrpc":"2.0",`, ``, 1), nil, 400, -32600, "7", ""},
		{"no method", `{"jsonrpc":"2.0","id":7}`, nil, 400, -32600, "7", ""},
		{"method of another type", `{"jsonrpc":"2.0","id":7,"method":5}`, nil, 400, -32600, "7", ""},
		{"C67 empty method", `{"jsonrpc":"2.0","id":7,"method":""}`, nil, 400, -32600, "7", ""},
		{"C67 notification with an id", strings.Replace(cancelNotice("1", "x"), `{`, `{"id":7,`, 1), nil, 400, -32600, "7", ""},
		{"BASE-02 null id", strings.Replace(discover, "7", "null", 1), nil, 400, -32600, "", ""},
		{"BASE-02 fractional id", strings.Replace(discover, "7", "1.5", 1), nil, 400, -32600, "", ""},
		{"BASE-02 boolean id", strings.Replace(discover, "7", "true", 1), nil, 400, -32600, "", ""},
		{"BASE-02 object id", strings.Replace(discover, "7", "{}", 1), nil, 400, -32600, "", ""},
		{"BASE-10 C89 batch", "[" + discover + "]", nil, 400, -32600, "", ""},
		{"C65 empty batch", "[]", nil, 400, -32600, "", ""},
		{"C65 null", "null", nil, 400, -32600, "", ""},
		{"C65 number", "42", nil, 400, -32600, "", ""},
		{"C65 string", `"x"`, nil, 400, -32600, "", ""},
		{"HTTP-07 C89 posted result", `{"jsonrpc":"2.0","id":7,"result":{}}`, nil, 400, -32600, "", ""},
		{"HTTP-07 C89 posted error", `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`, nil, 400, -32600, "", ""},
		{"C41 id twice", strings.Replace(discover, `"id":7`, `"id":7,"id":8`, 1), nil, 400, -32600, "", ""},
		{"nested too deep", modernCall("7", "echo", `{"text":`+strings.Repeat("[", 20)+strings.Repeat("]", 20)+`}`), nil, 400, -32600, "", ""},
		{"raised -32600", raising(-32600), nil, 400, -32600, "7", ""},

		{"HTTP-21 unknown method", modernRequest(`"a"`, "unknown/x"), nil, 404, -32601, `"a"`, ""},
		{"HTTP-21 method in another case", modernRequest("7", "TOOLS/LIST"), nil, 404, -32601, "7", ""},
		{"HTTP-21 ping", modernRequest("7", "ping"), nil, 404, -32601, "7", ""},
		{"HTTP-21 ERD-01 initialize", modernRequest("7", "initialize"), nil, 404, -32601, "7", ""},
		{"HTTP-21 logging/setLevel", modernRequest("7", "logging/setLevel"), nil, 404, -32601, "7", ""},
		{"HTTP-21 resources/subscribe", modernRequest("7", "resources/subscribe"), nil, 404, -32601, "7", ""},
		{"HTTP-21 resources/unsubscribe", modernRequest("7", "resources/unsubscribe"), nil, 404, -32601, "7", ""},
		{"VER-07 capability not advertised", modernRequest("7", "prompts/list"), nil, 404, -32601, "7", ""},

		{"META-08 HTTP-23 no params", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, nil, 400, -32602, "7", keys(metaVersionKey, metaCapsKey)},
		{"META-08 params no object", bareRequest("7", "tools/list", "[]"), nil, 400, -32602, "7", keys(metaVersionKey, metaCapsKey)},
		{"META-08 C91 no _meta", bareRequest("7", "tools/list", "{}"), nil, 400, -32602, "7", keys(metaVersionKey, metaCapsKey)},
		{"META-08 _meta no object", metaOf(`[]`), nil, 400, -32602, "7", ""},
		{"META-08 ERD-03 no version", metaOf(`{"` + metaCapsKey + `":{}}`), nil, 400, -32602, "7", keys(metaVersionKey)},
		{"META-08 version no string", metaOf(`{"` + metaVersionKey + `":1,"` + metaCapsKey + `":{}}`), nil, 400, -32602, "7", keys(metaVersionKey)},
		{"META-08 C91 no capabilities", metaOf(`{"` + metaVersionKey + `":"2026-07-28"}`), nil, 400, -32602, "7", keys(metaCapsKey)},
		{"META-08 C91 capabilities null", metaOf(`{"` + metaVersionKey + `":"2026-07-28","` + metaCapsKey + `":null}`), nil, 400, -32602, "7", keys(metaCapsKey)},
		{"META-08 C91 capabilities a string", metaOf(`{"` + metaVersionKey + `":"2026-07-28","` + metaCapsKey + `":"x"}`), nil, 400, -32602, "7", keys(metaCapsKey)},

		{"AMB-18 TOOL-12 unknown tool", modernCall("7", "nope", "{}"), nil, 200, -32602, "7", ""},
		{"AMB-18 TOOL-13 arguments no object", modernCall("7", "add", "[]"), nil, 200, -32602, "7", ""},
		{"AMB-18 TOOL-13 no name", modernRequest("7", "tools/call"), nil, 200, -32602, "7", ""},
		{"AMB-18 TOOL-13 name no string", modernRequest("7", "tools/call", `"name":5`), []string{"Mcp-Method: tools/call"}, 200, -32602, "7", ""},
		{"AMB-18 bad cursor", modernRequest("7", "tools/list", `"cursor":"x"`), nil, 200, -32602, "7", ""},
		{"AMB-18 bad log level", modernCall("7", "add", "{}", `"io.modelcontextprotocol/logLevel":"loud"`), nil, 200, -32602, "7", ""},
		{"AMB-18 bad progress token", modernCall("7", "add", "{}", `"progressToken":1.5`), nil, 200, -32602, "7", ""},
		{"AMB-18 raised -32602", raising(-32602), nil, 200, -32602, "7", ""},
		{"AMB-18 raised -32603", raising(-32603), nil, 200, -32603, "7", ""},

		{"HDR-05 -32020", discover, []string{"Mcp-Method: tools/list"}, 400, -32020, "7", ""},
		{"META-12 HTTP-23 HTTP-29 -32021 raised", modernCall("7", "raise", `{"code":-32021,"data":"{\"requiredCapabilities\":{\"sampling\":{}}}"}`), nil,
			400, -32021, "7", `{"requiredCapabilities":{"sampling":{}}}`},
		{"VER-02 HTTP-22 unknown version", versioned("1900-01-01"), nil, 400, -32022, "7", versions("1900-01-01")},
		{"VER-02 AMB-16 version not served here", versioned("2025-11-25"), nil, 400, -32022, "7", versions("2025-11-25")},

		{"BASE-15 raised -32050", raising(-32050), nil, 200, -32603, "7", ""},
		{"BASE-16 raised -32002", raising(-32002), nil, 200, -32603, "7", ""},
		{"BASE-16 raised -32042", raising(-32042), nil, 200, -32603, "7", ""},
		{"BASE-17 raised -32001", raising(-32001), nil, 200, -32603, "7", ""},
		{"HTTP-21 raised -32601", raising(-32601), nil, 200, -32603, "7", ""},
		{"BASE-19 application code", modernCall("7", "raise", `{"code":4711,"data":"[1]"}`), nil, 200, 4711, "7", `[1]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := exchange(t, h, modernPost(tt.body, tt.edits...)).expectError(t, tt.status, tt.code, tt.id)
			if string(err.Data) != tt.data {
				t.Errorf("data %s, want %s", err.Data, tt.data)
			}
			if err.Message == "" || strings.Contains(err.Message, "\n") {
				t.Errorf("BASE-14: message %q is not one line", err.Message)
			}
		})
	}
}

// TestHTTPAnswers goes through the answers of MCP 2026-07-28, Streamable HTTP, that hold no JSON-RPC error for a request.
func TestHTTPAnswers(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: 1000}}).Server, modernOnly)
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	notice := `{"jsonrpc":"2.0","method":"notifications/x"}`

	// Refusals of requests that were not read have an error without an id, notifications have no body.
	tests := []struct {
		name   string
		post   *http.Request
		status int
		body   string // "": none, "error": an error without id
		allow  string
	}{
		{"HTTP-02 P17 origin", modernPost(call, "Origin: https://evil.example"), 403, "error", ""},
		{"HTTP-03 host", modernPost(call, "Host: evil.example"), 403, "error", ""},
		{"HTTP-24 C83 GET", withMethod(modernPost(call), "GET"), 405, "error", "POST"},
		{"HTTP-24 C83 DELETE", withMethod(modernPost(call), "DELETE"), 405, "error", "POST"},
		{"C83 PUT", withMethod(modernPost(call), "PUT"), 405, "error", "POST"},
		{"C83 PATCH", withMethod(modernPost(call), "PATCH"), 405, "error", "POST"},
		{"C83 HEAD", withMethod(modernPost(call), "HEAD"), 405, "error", "POST"},
		{"C83 OPTIONS that is no preflight", withMethod(modernPost(call), "OPTIONS"), 405, "error", "POST"},
		{"C82 content type", modernPost(call, "Content-Type: text/plain"), 415, "error", ""},
		{"accept", modernPost(call, "Accept: text/html"), 406, "error", ""},
		{"C92 P17 too large", modernPost(modernCall("1", "echo", `{"text":"`+strings.Repeat("x", 1000)+`"}`)), 413, "error", ""},
		{"HTTP-08 P17 C89 notification", modernPost(notice), 202, "", ""},
		{"AMB-24 C89 cancellation", modernPost(cancelNotice("1", "no longer wanted")), 202, "", ""},
		{"HDR-16 notification without headers", httpPost(notice), 202, "", ""},
		{"HTTP-08 notification of an unknown version", modernPost(notice, "MCP-Protocol-Version: 1900-01-01"), 400, "error", ""},
		{"HTTP-08 notification of a version that is off", modernPost(notice, "MCP-Protocol-Version: 2025-11-25"), 400, "error", ""},
		{"HTTP-08 notification with two versions", modernPost(notice, "+MCP-Protocol-Version: 2026-07-28"), 400, "error", ""},
		{"HTTP-01 P17 request", modernPost(call), 200, modernSum("1", 3), ""},
		{"HTTP-25 old session header", modernPost(call, "Mcp-Session-Id: abc"), 200, modernSum("1", 3), ""},
		{"HTTP-26 old resumption header", modernPost(call, "Last-Event-ID: 5"), 200, modernSum("1", 3), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := exchange(t, h, tt.post)
			if a.status != tt.status || a.header.Get("Allow") != tt.allow {
				t.Errorf("status %d, Allow %q; want %d, %q", a.status, a.header.Get("Allow"), tt.status, tt.allow)
			}
			if tt.body == "error" {
				if m := a.message(t); m.Error == nil || m.ID != nil {
					t.Errorf("no error without an id: %s", a.body)
				}
			} else if a.body != tt.body {
				t.Errorf("got  %s\nwant %s", a.body, tt.body)
			}
			if id := a.header.Values("Mcp-Session-Id"); id != nil {
				t.Errorf("HTTP-25: the answer has the session id %q", id)
			}
			if n := a.header.Get("Content-Length"); a.body != "" && n != fmt.Sprint(len(a.body)) {
				t.Errorf("Content-Length %q for %d bytes", n, len(a.body))
			}
		})
	}
}

func withMethod(r *http.Request, method string) *http.Request {
	r.Method = method
	return r
}

// TestHTTPEveryResult shows that the answers of all methods are marked and stamped as modern ones, on any transport.
func TestHTTPEveryResult(t *testing.T) {
	t.Parallel()
	f := newFixture(nil)
	h := newHandler(t, f.Server, dualEra)
	for _, body := range []string{
		modernRequest("1", "server/discover"), modernRequest("2", "tools/list"), modernCall("3", "add", `{"a":1,"b":2}`),
		modernCall("4", "fail", `{"text":"no"}`), modernCall("5", "add", `{}`), modernCall("6", "panic", `{"text":"x"}`),
	} {
		t.Run("BASE-05 C58 "+strings.Trim(body[23:33], `",`), func(t *testing.T) {
			a := exchange(t, h, modernPost(body))
			var result struct {
				Type string                     `json:"resultType"`
				Meta map[string]json.RawMessage `json:"_meta"`
			}
			if err := json.Unmarshal(a.message(t).Result, &result); err != nil {
				t.Fatal(err)
			}
			if _, stamped := result.Meta["io.modelcontextprotocol/serverInfo"]; a.status != 200 || result.Type != "complete" || !stamped {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}

	t.Run("M23 the same over HTTP and over a connection", func(t *testing.T) {
		c := serveLines(t, f.Server)
		for _, body := range []string{
			modernRequest(`"d"`, "server/discover"), modernRequest("2", "tools/list"), modernCall("3", "add", `{"a":1,"b":2}`),
			modernCall("4", "add", `{"a":"x"}`), modernCall("5", "nope", `{}`), modernRequest("6", "prompts/list"),
		} {
			c.send(body)
			if got, want := exchange(t, h, modernPost(body)).body, c.next(); got != want {
				t.Errorf("HTTP       %s\nconnection %s", got, want)
			}
		}
	})
}

// TestHTTPOrder holds the checks of a modern POST to their order: of two faults of neighbouring steps the first is the
// answer, and either alone is answered for itself.
func TestHTTPOrder(t *testing.T) {
	t.Parallel()
	type args struct {
		Region string `json:"region" mcp:"header=Region"`
		N      int    `json:"n"`
		Raise  bool   `json:"raise,omitempty"`
	}
	s := mcp.NewServer("order", "1", &mcp.ServerOptions{Limits: mcp.Limits{Message: 2000}})
	mcp.AddTool(s, "place", "", func(_ context.Context, a args) (string, error) {
		if a.Raise {
			return "", mcp.Errorf(mcp.CodeMissingCapability, "raised")
		}
		return "", nil
	})
	h := newHandler(t, s, modernOnly)

	for i, step := range orderSteps {
		for _, second := range step {
			t.Run(second.name, func(t *testing.T) { second.expect(t, exchange(t, h, faulty(second))) })
			if i == 0 {
				continue
			}
			for _, first := range orderSteps[i-1] {
				t.Run(first.name+" before "+second.name, func(t *testing.T) {
					first.expect(t, exchange(t, h, faulty(first, second)))
				})
			}
		}
	}
}

// draft is a request in the making: a call of place that would succeed, if faults did not change it.
type draft struct {
	http, jsonrpc, method, tool, arguments string
	version, caps, logLevel                string
	cut                                    bool
	edits                                  []string
}

// fault is one thing wrong with a request, and how it is answered.
type fault struct {
	name   string
	apply  func(*draft)
	status int
	code   mcp.Code // 0: a failed result
	text   string   // in the answer
}

func edited(edits ...string) func(*draft) {
	return func(d *draft) { d.edits = append(d.edits, edits...) }
}

var orderSteps = [][]fault{
	{
		{"host", edited("Host: evil.example"), 403, -32600, "AllowedHosts"},
		{"origin", edited("Origin: https://evil.example"), 403, -32600, "AllowedOrigins"},
	},
	{{"HTTP method", func(d *draft) { d.http = "PUT" }, 405, -32600, "PUT"}},
	{{"content type", edited("Content-Type: text/plain"), 415, -32600, "Content-Type"}},
	{{"C82 content encoding", edited("Content-Encoding: gzip"), 415, -32600, "Content-Encoding"}},
	{{"accept", edited("Accept: text/html"), 406, -32600, "Accept"}},
	{{"size", func(d *draft) { d.arguments = `{"n":"` + strings.Repeat("x", 2000) + `"}` }, 413, -32600, "2000 bytes"}},
	{{"parse", func(d *draft) { d.cut = true }, 400, -32700, ""}},
	{{"message", func(d *draft) { d.jsonrpc = "1.0" }, 400, -32600, "jsonrpc"}},
	{
		{"version header", edited("-MCP-Protocol-Version"), 400, -32020, "MCP-Protocol-Version"},
		{"version header twice", edited("+MCP-Protocol-Version: 2026-07-28"), 400, -32020, "MCP-Protocol-Version"},
	},
	{{"_meta", func(d *draft) { d.caps = "null" }, 400, -32602, metaCapsKey}},
	{{"header and _meta version", edited("MCP-Protocol-Version: 2025-11-25"), 400, -32020, "MCP-Protocol-Version"}},
	{{"version", func(d *draft) { d.version = "1900-01-01" }, 400, -32022, "1900-01-01"}},
	{
		{"Mcp-Method", edited("Mcp-Method: tools/list"), 400, -32020, "Mcp-Method"},
		{"no Mcp-Method", edited("-Mcp-Method"), 400, -32020, "Mcp-Method"},
	},
	{
		{"Mcp-Name", edited("Mcp-Name: other"), 400, -32020, "Mcp-Name"},
		{"undecodable Mcp-Name", edited("Mcp-Name: =?base64?!?="), 400, -32020, "Mcp-Name"},
	},
	{{"method", func(d *draft) { d.method = "prompts/get" }, 404, -32601, "prompts/get"}},
	{
		{"log level", func(d *draft) { d.logLevel = "loud" }, 200, -32602, "logLevel"},
		{"arguments no object", func(d *draft) { d.arguments = "[]" }, 200, -32602, "arguments"},
		{"tool", func(d *draft) { d.tool = "nowhere" }, 200, -32602, "nowhere"},
	},
	{
		{"Mcp-Param", edited("Mcp-Param-Region: there"), 400, -32020, "Mcp-Param-Region"},
		{"no Mcp-Param", edited("-Mcp-Param-Region"), 400, -32020, "Mcp-Param-Region"},
	},
	{{"arguments", func(d *draft) { d.arguments = strings.Replace(d.arguments, `"n":1`, `"n":"x"`, 1) }, 200, 0, "n must be an integer"}},
	{{"handler", func(d *draft) { d.arguments = strings.Replace(d.arguments, `}`, `,"raise":true}`, 1) }, 400, -32021, "raised"}},
}

// faulty returns a request with these faults.
func faulty(faults ...fault) *http.Request {
	d := draft{
		http: "POST", jsonrpc: "2.0", method: "tools/call", tool: "place", arguments: `{"region":"here","n":1}`,
		version: "2026-07-28", caps: "{}", logLevel: "info",
		edits: []string{"Mcp-Param-Region: here"},
	}
	for _, f := range slices.Backward(faults) {
		f.apply(&d)
	}
	body := fmt.Sprintf(`{"jsonrpc":%q,"id":1,"method":%q,"params":{"name":%q,"arguments":%s,"_meta":{%q:%q,%q:%s,%q:%q}}}`,
		d.jsonrpc, d.method, d.tool, d.arguments, metaVersionKey, d.version, metaCapsKey, d.caps,
		"io.modelcontextprotocol/logLevel", d.logLevel)
	r := modernPost(body, d.edits...)
	if d.cut {
		r = httpPost(body[:len(body)-1], d.edits...)
	}
	return withMethod(r, d.http)
}

func (f *fault) expect(t *testing.T, a httpAnswer) {
	t.Helper()
	var m wireMessage
	if a.body != "" {
		m = a.message(t)
	}
	switch {
	case a.status != f.status || !strings.Contains(a.body, f.text):
	case f.code != 0 && m.Error != nil && m.Error.Code == f.code:
		return
	case f.code == 0 && f.status == 200 && strings.Contains(string(m.Result), `"isError":true`):
		return
	}
	t.Errorf("got %d %s\nwant %d with code %d and %q", a.status, a.body, f.status, f.code, f.text)
}
