package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/typedmcp/mcp"
)

// handled serves fn, which gets the message of every POST, until the test ends.
func handled(t testing.TB, fn func(w http.ResponseWriter, r *http.Request, m clientMessage)) string {
	f := &fakeServer{t: t}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m clientMessage
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			m = f.parse(string(body))
		}
		fn(w, r, m)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestEraOverHTTP(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html><h1>Not here</h1>"
	fault := func(code int, more string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"m"%s}}`, code, more)
	}
	for _, tt := range []struct {
		name   string
		status int
		body   string
		legacy bool   // the client goes on with initialize
		fails  string // part of the error, if it does not
	}{
		{"ERD-13 C128 400 with -32000", 400, fault(-32000, ""), true, ""},
		{"ERD-13 C128 AMB-02 400 with -32000 and id null", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m"}}`, true, ""},
		{"ERD-13 400 with a page", 400, page, true, ""},
		{"ERD-13 400 with nothing", 400, "", true, ""},
		{"ERD-14 C128 404 with a page", 404, page, true, ""},
		{"ERD-14 404 with -32601", 404, fault(-32601, ""), true, ""},
		{"ERD-14 405", 405, "", true, ""},
		{"ERD-08 C128 200 with -32601", 200, fault(-32601, ""), true, ""},
		{"ERD-08 C128 200 with -32602", 200, fault(-32602, ""), true, ""},
		{"ERD-12 200 without versions", 200, `{"jsonrpc":"2.0","id":1,"result":{}}`, true, ""},
		{"ERD-11 -32022 with an older version", 400, fault(-32022, `,"data":{"supported":["2025-11-25"]}`), true, ""},
		{"ERD-13 C128 400 with -32020", 400, fault(-32020, ""), false, "code -32020"},
		{"ERD-13 400 with -32021", 400, fault(-32021, ""), false, "code -32021"},
		{"ERD-10 -32022 for ever", 400, fault(-32022, `,"data":{"supported":["2026-07-28"]}`), false, "code -32022"},
		{"ERD-15 C128 401", 401, page, false, "401 Unauthorized"},
		{"ERD-15 C128 401 with an error of the protocol", 401, fault(-32000, ""), false, "401 Unauthorized"},
		{"ERD-15 C128 403", 403, "", false, "403 Forbidden"},
		{"ERD-15 500", 500, page, false, "500 Internal Server Error"},
		{"ERD-15 503 with an error of the protocol", 503, fault(-32603, ""), false, "503 Service Unavailable"},
		{"ERD-15 429", 429, "", false, "429 Too Many Requests"},
		{"HTTP-28 413", 413, "", false, "413 Request Entity Too Large without a result: the request is too large for it"},
		{"HTTP-28 431", 431, "", false, "431 Request Header Fields Too Large without a result: the headers, which repeat arguments, are too large for it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var began atomic.Bool
			url := handled(t, func(w http.ResponseWriter, _ *http.Request, m clientMessage) {
				switch m.Method {
				case "server/discover":
					if strings.HasPrefix(tt.body, "{") {
						w.Header().Set("Content-Type", "application/json")
					}
					w.WriteHeader(tt.status)
					body := strings.Replace(tt.body, `"id":1`, `"id":`+string(m.ID), 1)
					_, _ = io.WriteString(w, body)
				case "initialize":
					began.Store(true)
					writeResult(w, m, initialized)
				default:
					w.WriteHeader(http.StatusAccepted)
				}
			})
			c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), nil)
			if err == nil {
				defer c.Close()
			}
			if began.Load() != tt.legacy || (err == nil) != tt.legacy || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Fatalf("initialize %v, error %v", began.Load(), err)
			}
			var status *mcp.HTTPError
			if errors.As(err, &status) != (tt.fails != "" && tt.status != 400) || status != nil && status.Status != tt.status {
				t.Errorf("%#v", err)
			}
		})
	}
	t.Run("ERD-15 no server at all", func(t *testing.T) {
		t.Parallel()
		web := httptest.NewServer(nil)
		web.Close()
		if _, err := mcp.Dial(t.Context(), mcp.HTTP(web.URL, nil), nil); err == nil || strings.Contains(err.Error(), "initialize") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("ERD-10 VER-03 a first refusal with a list is followed by one more try", func(t *testing.T) {
		t.Parallel()
		var n atomic.Int32
		url := handled(t, func(w http.ResponseWriter, _ *http.Request, m clientMessage) {
			w.Header().Set("Content-Type", "application/json")
			if n.Add(1) == 1 {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}`, m.ID)
				return
			}
			writeResult(w, m, discovered)
		})
		c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), nil)
		if err != nil || n.Load() != 2 {
			t.Fatalf("%v after %d requests", err, n.Load())
		}
		defer c.Close()
	})
}

func TestQuirksOfHTTPServers(t *testing.T) {
	t.Parallel()
	const body = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}`
	var skipped strings.Builder
	for range 10_000 {
		skipped.WriteString("event: ping\ndata: pong\n\n")
	}
	for name, quirk := range map[string]struct {
		kind, body string
		status     int
	}{
		"JSON with a charset":                         {"application/json; charset=utf-8", body, 200},
		"JSON in odd case":                            {"Application/JSON", body, 200},
		"JSON without a type":                         {"", body, 200},
		"JSON called text":                            {"text/plain", body, 200},
		"JSON with a byte order mark and white space": {"application/json", "\ufeff \r\n" + body + "\n", 200},
		"a result with status 201":                    {"application/json", body, 201},
		"C131 a stream with a charset":                {"text/event-stream; charset=utf-8", "data: " + body + "\n\n", 200},
		"C131 comments before and between":            {"text/event-stream", ": hello\n\n:\n\ndata: " + body + "\n\n", 200},
		"C131 events with another name":               {"text/event-stream", "event: ping\ndata: not json\n\ndata: " + body + "\n\n", 200},
		"C131 an answer of another name":              {"text/event-stream", "event: ping\ndata: " + strings.Replace(body, `"ok"`, `"wrong"`, 1) + "\n\ndata: " + body + "\n\n", 200},
		"C131 an event named message":                 {"text/event-stream", "event: message\ndata: " + body + "\n\n", 200},
		"C131 empty data with an id":                  {"text/event-stream", "id: 1\ndata:\n\ndata: " + body + "\n\n", 200},
		"C131 data that is no JSON":                   {"text/event-stream", "data: hello\n\ndata: " + body + "\n\n", 200},
		"C131 data over three lines":                  {"text/event-stream", "data: " + strings.Replace(strings.Replace(body, `"id"`, "\ndata: \"id\"", 1), `"content"`, "\ndata: \"content\"", 1) + "\n\n", 200},
		"C131 CRLF":                                   {"text/event-stream", "data: " + body + "\r\n\r\n", 200},
		"C131 CR":                                     {"text/event-stream", "data: " + body + "\r\r", 200},
		"C131 HTTP-17 a byte order mark":              {"text/event-stream", "\ufeffdata: " + body + "\n\n", 200},
		"C131 fields without a space, and unknown":    {"text/event-stream", "x: y\ndata:" + body + "\n\n", 200},
		"C131 an unfinished last event":               {"text/event-stream", "data: " + body + "\n\ndata: {\"half\"", 200},
		"C131 ten thousand skipped events":            {"text/event-stream", skipped.String() + "data: " + body + "\n\n", 200},
	} {
		t.Run("HTTP-10 "+name, func(t *testing.T) {
			t.Parallel()
			url := handled(t, func(w http.ResponseWriter, _ *http.Request, m clientMessage) {
				if m.Method == "server/discover" {
					writeResult(w, m, discovered)
					return
				}
				w.Header()["Content-Type"] = nil
				if quirk.kind != "" {
					w.Header().Set("Content-Type", quirk.kind)
				}
				w.WriteHeader(quirk.status)
				_, _ = io.WriteString(w, strings.ReplaceAll(quirk.body, "%s", string(m.ID)))
			})
			c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if text := textOf(mustCall(t, c, "t", nil)); text != "ok" {
				t.Errorf("%q", text)
			}
		})
	}
	for name, accept := range map[string]func(http.ResponseWriter){
		"200 with nothing": func(w http.ResponseWriter) { w.WriteHeader(200) },
		"202 with a type":  func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json"); w.WriteHeader(202) },
		"204":              func(w http.ResponseWriter) { w.WriteHeader(204) },
		"202 with a text":  func(w http.ResponseWriter) { w.WriteHeader(202); _, _ = io.WriteString(w, "Accepted") },
		"200 with an object": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
		},
	} {
		t.Run("LHT-03 notifications answered "+name, func(t *testing.T) {
			t.Parallel()
			s := newLegacyServer(t)
			s.refuse = func(w http.ResponseWriter, m clientMessage) bool {
				if m.Method == "notifications/initialized" {
					accept(w)
				}
				return m.Method == "notifications/initialized"
			}
			mustCall(t, s.dial(nil), "t", nil)
		})
	}
	t.Run("HTTP-20 a stream that breaks loses the call: no GET, and nothing is called twice", func(t *testing.T) {
		t.Parallel()
		var calls, lists, gets atomic.Int32
		url := handled(t, func(w http.ResponseWriter, r *http.Request, m clientMessage) {
			switch {
			case r.Method == http.MethodGet:
				gets.Add(1)
			case m.Method == "server/discover":
				writeResult(w, m, discovered)
			case m.Method == "tools/call":
				calls.Add(1)
				sseOf(w)("id: 1\ndata: \n\n")
			case lists.Add(1) == 1:
				sseOf(w)("id: 1\ndata: \n\n")
			default:
				writeResult(w, m, `"tools":[]`)
			}
		})
		c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.CallTool(t.Context(), "t", nil); err == nil || calls.Load() != 1 || gets.Load() != 0 {
			t.Errorf("%v after %d calls, %d GETs", err, calls.Load(), gets.Load())
		}
		if mustList(t, c); lists.Load() != 2 { // AMB-31
			t.Errorf("%d lists", lists.Load())
		}
	})
}

func TestOldestTransport(t *testing.T) {
	t.Parallel()
	// serve plays a server of 2024-11-05: GET opens the stream at /sse, messages are posted to where its first event says.
	serve := func(t *testing.T, endpoint string) string {
		lines := make(chan string, 16)
		return handled(t, func(w http.ResponseWriter, r *http.Request, m clientMessage) {
			switch {
			case r.Method == http.MethodGet && r.URL.Path == "/sse":
				send := sseOf(w)
				send("event: endpoint\ndata: %s\n\n", strings.Replace(endpoint, "HOST", r.Host, 1))
				for {
					select {
					case line := <-lines:
						send("event: message\ndata: %s\n\n", line)
					case <-r.Context().Done():
						return
					}
				}
			case r.Method == http.MethodPost && r.URL.Path == "/messages":
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, "Accepted")
				switch m.Method {
				case "initialize":
					lines <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"oldest","version":"1"}}}`, m.ID)
				case "tools/call":
					lines <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, m.ID, r.URL.RawQuery)
				}
			default:
				http.NotFound(w, r)
			}
		}) + "/sse"
	}
	for name, endpoint := range map[string]string{"a relative": "/messages?session=7", "an absolute": "http://HOST/messages?session=7"} {
		t.Run("LSS-01 LSS-02 ERD-14 "+name+" endpoint", func(t *testing.T) {
			t.Parallel()
			c, err := mcp.Dial(t.Context(), mcp.HTTP(serve(t, endpoint), nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := textOf(mustCall(t, c, "t", nil)); text != "session=7" || c.Server().Protocol != "2024-11-05" {
				t.Errorf("%q by %s", text, c.Server().Protocol)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	for _, endpoint := range []string{"http://evil.example/messages", "https://HOST/messages", "//evil.example/messages"} {
		t.Run("LSS-03 an endpoint at another server: "+endpoint, func(t *testing.T) {
			t.Parallel()
			_, err := mcp.Dial(t.Context(), mcp.HTTP(serve(t, endpoint), nil), nil)
			if err == nil || !strings.Contains(err.Error(), "another server") {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("ERD-14 nothing answers: all that was tried is told", func(t *testing.T) {
		t.Parallel()
		url := handled(t, func(w http.ResponseWriter, r *http.Request, _ clientMessage) { http.NotFound(w, r) })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := mcp.Dial(ctx, mcp.HTTP(url, nil), nil)
		for _, part := range []string{"server/discover", "initialize", "2024-11-05", "404 Not Found"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("error %v, without %q", err, part)
			}
		}
	})
}
