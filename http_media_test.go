package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestHTTPAccept shows how Accept chooses the form of an answer: liberally, as clients and proxies send all kinds.
func TestHTTPAccept(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newFixture(nil).Server, modernOnly)
	// A call with progress shows what is accepted: both, one JSON object alone, a stream alone, or neither.
	const both, json, sse, neither = "both", "JSON", "stream", "neither"
	tests := []struct{ accept, want string }{
		{"application/json, text/event-stream", both},
		{"text/event-stream, application/json", both},
		{"application/json,text/event-stream", both},
		{"application/json;charset=utf-8, text/event-stream; charset=utf-8", both},
		{"Application/JSON, TEXT/Event-Stream", both},
		{"application/json; q=0.9, text/event-stream; q=0.1", both},
		{"application/json;q=1.000,text/event-stream;Q=0.001", both},
		{"*/*", both},
		{"*/*; q=0.8", both},
		{"*", both},
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", both},
		{"application/*, text/*", both},
		{"application/json, */*;q=0.1", both},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", both},
		{"", both},
		{" , ", both},
		{"application/json;q=x, text/event-stream", both},
		{"application/json", json},
		{"application/json, text/plain", json},
		{"application/*", json},
		{"application/json, text/event-stream;q=0", json},
		{"application/json, text/event-stream; q=0.0", json},
		{"application/json, text/event-stream ;\tq = 0.000", json},
		{"*/*, text/event-stream;q=0", json},
		{"text/event-stream;q=0, */*", json},
		{"text/*;q=0, */*", json},
		{"application/json, text/*;q=0", json},
		{"text/event-stream", sse},
		{"text/*", sse},
		{"application/json;q=0, */*", sse},
		{"application/*;q=0, application/json;q=0, text/event-stream", sse},
		{"*/*;q=0, text/event-stream", sse},
		{"text/html", neither},
		{"text/plain, application/xml", neither},
		{"application/json;q=0, text/event-stream;q=0", neither},
		{"*/*;q=0", neither},
		{"application/jsonx, text/event-streams", neither},
		{"application/json-seq", neither},
		{"application", neither},
	}
	progress := modernCall("1", "progress", `{"count":1}`, token1)
	check := func(t *testing.T, want string, edits ...string) {
		t.Helper()
		a := exchange(t, h, modernPost(progress, edits...))
		quiet := exchange(t, h, modernPost(modernCall("1", "add", `{"a":1,"b":2}`), edits...))
		switch want {
		case both:
			a.expectStream(t, progressNotice("1", 1, 1), modernText("1", "done"))
			quiet.expect(t, 200, modernSum("1", 3))
		case json:
			a.expect(t, 200, modernText("1", "done"))
			quiet.expect(t, 200, modernSum("1", 3))
		case sse:
			a.expectStream(t, progressNotice("1", 1, 1), modernText("1", "done"))
			quiet.expectStream(t, modernSum("1", 3))
		default:
			a.expectError(t, 406, mcp.CodeInvalidRequest, "")
			quiet.expectError(t, 406, mcp.CodeInvalidRequest, "")
		}
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("HTTP-09 %q: %s", tt.accept, tt.want), func(t *testing.T) { check(t, tt.want, "Accept: "+tt.accept) })
	}
	t.Run("HTTP-09 no header: both", func(t *testing.T) { check(t, both, "-Accept") })
	t.Run("HTTP-09 two headers: both", func(t *testing.T) { check(t, both, "Accept: application/json", "+Accept: text/event-stream") })
	t.Run("HTTP-09 two headers, one empty: JSON", func(t *testing.T) { check(t, json, "Accept: ", "+Accept: application/json") })
	t.Run("HTTP-08 notifications are held to it too", func(t *testing.T) {
		if a := exchange(t, h, modernPost(cancelNotice("1", "x"), "Accept: text/html")); a.status != 406 {
			t.Error(a.status)
		}
	})
}

// TestHTTPContentType shows which bodies count as JSON.
func TestHTTPContentType(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newFixture(nil).Server, modernOnly)
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	for status, kinds := range map[int][]string{
		http.StatusOK: {
			"application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8", `application/json; charset="utf-8"`,
			"application/json; charset=utf8", "APPLICATION/JSON", " application/json ", "application/json; profile=x", "application/json;",
		},
		http.StatusUnsupportedMediaType: {
			"", "text/plain", "text/plain; x=application/json", "text/plain;application/json", "text/json", "application/jsonx", "application/json-rpc",
			"application/x-www-form-urlencoded", "multipart/form-data; boundary=application/json", "application/json; charset=iso-8859-1",
			"application/json, text/plain", "application/json; charset", "json",
		},
	} {
		for _, kind := range kinds {
			t.Run(fmt.Sprintf("C82 %q: %d", kind, status), func(t *testing.T) {
				a := exchange(t, h, modernPost(call, "Content-Type: "+kind))
				if status == http.StatusOK {
					a.expect(t, status, modernSum("1", 3))
				} else {
					a.expectError(t, status, mcp.CodeInvalidRequest, "")
				}
			})
		}
	}
	t.Run("C82 none: 415", func(t *testing.T) {
		exchange(t, h, modernPost(call, "-Content-Type")).expectError(t, 415, mcp.CodeInvalidRequest, "")
	})
	t.Run("C82 two: 415", func(t *testing.T) {
		exchange(t, h, modernPost(call, "+Content-Type: application/json")).expectError(t, 415, mcp.CodeInvalidRequest, "")
	})
}

// TestHTTPContentEncoding shows that bodies are taken as they are, and as nothing else.
func TestHTTPContentEncoding(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.Handler{
		"modern": newHandler(t, newFixture(nil).Server, modernOnly), "with sessions": newHandler(t, newFixture(nil).Server, nil),
	} {
		for _, codings := range []string{"", "identity", "Identity", " identity , identity", ","} {
			t.Run(fmt.Sprintf("C82 %s, %q", name, codings), func(t *testing.T) {
				exchange(t, h, modernPost(modernCall("1", "add", `{"a":1,"b":2}`), "Content-Encoding: "+codings)).expect(t, 200, modernSum("1", 3))
			})
		}
		for _, edits := range [][]string{
			{"Content-Encoding: gzip"}, {"Content-Encoding: identity, br"}, {"Content-Encoding: identity", "+Content-Encoding: zstd"}, {"Content-Encoding: x"},
		} {
			t.Run(fmt.Sprintf("C82 %s, %q", name, edits), func(t *testing.T) {
				for _, body := range []string{"\x1f\x8b\x08", cancelNotice("1", "x"), initializeRequest("1", "2025-06-18")} {
					a := exchange(t, h, httpPost(body, edits...))
					err := a.expectError(t, 415, mcp.CodeInvalidRequest, "")
					if !strings.Contains(err.Message, "Content-Encoding") || !strings.Contains(err.Message, "identity") || a.header.Get("Accept-Encoding") != "identity" {
						t.Errorf("%v, Accept-Encoding %q", err, a.header.Get("Accept-Encoding"))
					}
				}
			})
		}
	}
}

// TestHTTPMethods shows which methods an endpoint has, for whom, and what is said of the others.
func TestHTTPMethods(t *testing.T) {
	t.Parallel()
	sessions, modern := newHandler(t, newFixture(nil).Server, nil), "MCP-Protocol-Version: 2026-07-28"
	for _, tt := range []struct {
		name    string
		h       http.Handler
		methods []string
		edits   []string
		status  int
		allow   string
		text    string
	}{
		{"HTTP-24 C83 of a modern client, beside sessions", sessions, []string{"GET", "DELETE"}, []string{modern}, 405, "POST", "by POST, not by"},
		{"HTTP-24 HTTP-25 with the id of a session", sessions, []string{"GET", "DELETE"}, []string{modern, "Mcp-Session-Id: x"}, 405, "POST", "by POST, not by"},
		{"LHT-06 without a session", sessions, []string{"GET", "DELETE"}, nil, 400, "", "send messages by POST"},
		{"LHT-14 of an unknown version", sessions, []string{"GET", "DELETE"}, []string{"MCP-Protocol-Version: 1900-01-01"}, 400, "", "1900-01-01"},
		{"C83 that nobody has", sessions, []string{"PUT", "HEAD", "X"}, nil, 405, "GET, POST, DELETE", "by POST, not by"},
		{"HTTP-24 C83 no sessions, as no revision has them", newHandler(t, newFixture(&mcp.ServerOptions{Versions: []string{"2026-07-28"}}).Server, nil),
			[]string{"GET", "DELETE", "PUT"}, nil, 405, "POST", "by POST, not by"},
		{"LHT-28 no sessions, as they are off", newHandler(t, newFixture(nil).Server, &mcp.HTTPOptions{Legacy: mcp.LegacyStateless}),
			[]string{"GET", "DELETE", "PUT"}, nil, 405, "POST", "by POST, not by"},
		{"LHT-06 a call without a session", sessions, []string{"POST"}, nil, 400, "", "name revision 2026-07-28"},
		{"LHT-06 a call without a session, where all have one", newHandler(t, newFixture(&mcp.ServerOptions{Versions: []string{"2025-11-25"}}).Server, nil),
			[]string{"POST"}, []string{"MCP-Protocol-Version: 2025-11-25"}, 400, "", "repeat the id of its answer\""},
	} {
		for _, method := range tt.methods {
			t.Run(tt.name+" "+method, func(t *testing.T) {
				a := exchange(t, tt.h, withMethod(httpPost(legacyCall("1", "add", `{"a":1,"b":2}`), append(tt.edits, "Accept: */*")...), method))
				if a.status != tt.status || a.header.Get("Allow") != tt.allow || a.message(t).Error == nil || !strings.Contains(a.body, tt.text) {
					t.Errorf("%d, Allow %q: %s", a.status, a.header.Get("Allow"), a.body)
				}
			})
		}
	}
}
