package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// httpSession is the raw client of one session over HTTP.
type httpSession struct {
	t       testing.TB
	h       http.Handler
	id      string
	version string
}

// openHTTPSession opens a session that declares caps, "" for none, and completes the handshake.
func openHTTPSession(t testing.TB, h http.Handler, version, caps string) *httpSession {
	t.Helper()
	s := beginHTTPSession(t, h, version, caps)
	exchange(t, h, s.post(initializedNotice)).expect(t, 202, "")
	return s
}

// beginHTTPSession is openHTTPSession without notifications/initialized.
func beginHTTPSession(t testing.TB, h http.Handler, version, caps string, edits ...string) *httpSession {
	t.Helper()
	a := exchange(t, h, httpPost(initializeWith(version, caps), edits...))
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(a.message(t).Result, &result); err != nil || a.status != 200 || result.Version != version {
		t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	return &httpSession{t: t, h: h, id: a.header.Get("Mcp-Session-Id"), version: version}
}

// initializeWith is a handshake that declares caps, "" for none.
func initializeWith(version, caps string) string {
	if caps == "" {
		caps = "{}"
	}
	return plainRequest(`"init"`, "initialize", fmt.Sprintf(`"protocolVersion":%q`, version), `"capabilities":`+caps,
		`"clientInfo":{"name":"tester","version":"0"}`)
}

func (s *httpSession) edits(edits []string) []string {
	return append([]string{"Mcp-Session-Id: " + s.id, "MCP-Protocol-Version: " + s.version}, edits...)
}

// post is a POST of the session, get a GET and end a DELETE.
func (s *httpSession) post(body string, edits ...string) *http.Request {
	return httpPost(body, s.edits(edits)...)
}

func (s *httpSession) get(edits ...string) *http.Request {
	return withMethod(httpPost("", s.edits(append([]string{"-Content-Type", "Accept: text/event-stream"}, edits...))...), http.MethodGet)
}

func (s *httpSession) end(edits ...string) *http.Request {
	return withMethod(httpPost("", s.edits(append([]string{"-Content-Type", "-Accept"}, edits...))...), http.MethodDelete)
}

// exchange sends a request that is answered at once.
func (s *httpSession) exchange(r *http.Request) httpAnswer {
	s.t.Helper()
	return exchange(s.t, s.h, r)
}

// calls sends a tools/call and returns the text of its result.
func (s *httpSession) call(tool, args string) string {
	s.t.Helper()
	a := s.exchange(s.post(legacyCall("1", tool, args)))
	if len(a.events) > 0 {
		s.t.Fatalf("a stream: %s", a.body)
	}
	return legacyText(s.t, a.body)
}

// legacyText is the text of a result, with what makes it a failed one in front.
func legacyText(t testing.TB, answer string) string {
	t.Helper()
	m := parseWire(t, answer)
	if m.Error != nil {
		return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Content) != 1 {
		t.Fatalf("no single text: %s", answer)
	}
	if r.IsError {
		return "failed: " + r.Content[0].Text
	}
	return r.Content[0].Text
}

// sentEvent is one block of a stream.
type sentEvent struct {
	id, data       string
	retry, comment string
	primes         bool // it has data, and that is empty
}

// events reads a stream block by block.
type events struct {
	t    testing.TB
	resp *http.Response
	in   *bufio.Reader
}

// events sends r, which is answered with a stream.
func (n *pipeNetwork) events(t testing.TB, r *http.Request) *events {
	t.Helper()
	s := n.stream(t, r)
	if got := s.resp.Header.Get("Content-Type"); s.resp.StatusCode != 200 || got != "text/event-stream" {
		body, _ := io.ReadAll(s.in)
		t.Fatalf("%d %s %s", s.resp.StatusCode, got, body)
	}
	return &events{t, s.resp, s.in}
}

// block returns the next block; false at the end of the stream, which is the server's doing: a connection that broke off
// or was given up by the client is none.
func (e *events) block() (sentEvent, bool) {
	e.t.Helper()
	var out sentEvent
	for first := true; ; first = false {
		line, err := e.in.ReadString('\n')
		switch {
		case err == io.EOF && line == "" && first:
			return out, false
		case err != nil:
			e.t.Fatalf("the stream broke off: %q %v", line, err)
		case line == "\n":
			return out, true
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "":
			out.comment = ":" + value
		case "id":
			out.id = value
		case "retry":
			out.retry = value
		case "data":
			out.data, out.primes = value, value == ""
		default:
			e.t.Fatalf("an unknown field: %q", line)
		}
	}
}

// next returns the next block that is no comment; false at the end.
func (e *events) next() (sentEvent, bool) {
	e.t.Helper()
	for {
		if ev, ok := e.block(); !ok || ev.comment == "" {
			return ev, ok
		}
	}
}

// primed holds the next event to be one that carries nothing but an id, which it returns.
func (e *events) primed() string {
	e.t.Helper()
	ev, ok := e.next()
	if !ok || ev.id == "" || !ev.primes {
		e.t.Fatalf("got %+v %v, want an id and empty data", ev, ok)
	}
	return ev.id
}

// expect holds the next events to these messages, and returns the id of the last.
func (e *events) expect(messages ...string) (id string) {
	e.t.Helper()
	for _, want := range messages {
		ev, ok := e.next()
		if !ok || ev.data != want {
			e.t.Fatalf("got  %+v %v\nwant %s", ev, ok, want)
		}
		id = ev.id
	}
	return id
}

// ended holds the stream to its end, which comes without anybody waiting for it in the time of the bubble.
func (e *events) ended() {
	e.t.Helper()
	from := time.Now()
	if ev, ok := e.next(); ok {
		e.t.Fatalf("got %+v, want the end", ev)
	}
	if late := time.Since(from); late > 0 {
		e.t.Fatalf("the stream ended %v late", late)
	}
}

// legacyResult is the success response of an earlier revision with one block of plain text.
func legacyResult(id, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

// answered is the response to a request of the server.
func answered(id, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// askedName is the question of the name as the server sends it to clients of 2025-11-25.
func askedName(id, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"mode":"form","message":%q,`+
		`"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}`, id, message)
}

// namedAnswer is what a user says who gives that name.
func namedAnswer(name string) string {
	return fmt.Sprintf(`{"action":"accept","content":{"name":%q}}`, name)
}

var earlier = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

// withSessions are the options under which earlier revisions have sessions.
var withSessions = &mcp.HTTPOptions{Legacy: mcp.LegacySessions}
