package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// loopback is where the requests of modernPost and httpPost say that they came in.
var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}

// httpPost returns a POST of body, as a client of any revision sends it to a server on this machine. Each edit changes
// the header: "Name: value" sets a value, "+Name: value" adds one, "-Name" removes all; "Host" is the request's own.
func httpPost(body string, edits ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, loopback))
	r.Host = "127.0.0.1:8080"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return editHeader(r, edits...)
}

func editHeader(r *http.Request, edits ...string) *http.Request {
	for _, edit := range edits {
		if name, ok := strings.CutPrefix(edit, "-"); ok {
			r.Header.Del(name)
			continue
		}
		added := strings.HasPrefix(edit, "+")
		name, value, _ := strings.Cut(strings.TrimPrefix(edit, "+"), ": ")
		switch key := textproto.CanonicalMIMEHeaderKey(name); {
		case key == "Host":
			r.Host = value
		case added:
			r.Header[key] = append(r.Header[key], value)
		default:
			r.Header[key] = []string{value}
		}
	}
	return r
}

// modernPost is httpPost with the headers that mirror body, a modern message.
func modernPost(body string, edits ...string) *http.Request {
	r := httpPost(body)
	for name, value := range mirrored(body) {
		r.Header.Set(name, value)
	}
	return editHeader(r, edits...)
}

// mirrored are the headers that repeat parts of a modern message.
func mirrored(body string) map[string]string {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
			URI  string `json:"uri"`
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal([]byte(body), &m) // tests of malformed messages set headers of their own
	headers := map[string]string{"Mcp-Protocol-Version": cmp.Or(m.Params.Meta.Version, mcp.LatestVersion), "Mcp-Method": m.Method}
	if name := cmp.Or(m.Params.Name, m.Params.URI); name != "" {
		headers["Mcp-Name"] = name
	}
	return headers
}

// httpAnswer is a whole HTTP response: of one message, or of a stream.
type httpAnswer struct {
	status   int
	header   http.Header
	body     string   // all of it
	events   []string // the data of the events of a stream
	comments int      // of a stream
}

// exchange has h answer r, without sockets.
func exchange(t testing.TB, h http.Handler, r *http.Request) httpAnswer {
	t.Helper()
	w := &onceWriter{ResponseRecorder: httptest.NewRecorder(), t: t}
	h.ServeHTTP(w, r)
	return readAnswer(t, w.Result())
}

// onceWriter records a response and holds the handler to one status line.
type onceWriter struct {
	*httptest.ResponseRecorder
	t    testing.TB
	sent bool
}

func (w *onceWriter) WriteHeader(status int) {
	if w.sent {
		w.t.Errorf("a second status line: %d", status)
	}
	w.sent = true
	w.ResponseRecorder.WriteHeader(status)
}

// readAnswer reads resp to its end.
func readAnswer(t testing.TB, resp *http.Response) httpAnswer {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the answer: %v after %.300q", err, body)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatalf("closing the answer: %v", err)
	}
	a := httpAnswer{status: resp.StatusCode, header: resp.Header, body: string(body)}
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		a.events, a.comments = parseStream(t, a.body)
	}
	return a
}

// parseStream takes a stream of this server's apart. It knows the form that this server writes and no other.
func parseStream(t testing.TB, body string) (events []string, comments int) {
	t.Helper()
	blocks, whole := strings.CutSuffix(body, "\n\n")
	if !whole && body != "" {
		t.Fatalf("the stream ends within an event: %.300q", body)
	}
	for block := range strings.SplitSeq(blocks, "\n\n") {
		if id, rest, _ := strings.Cut(block, "\n"); strings.HasPrefix(id, "id: ") { // of a session
			if block = rest; block == "data: " {
				continue
			}
		}
		data, event := strings.CutPrefix(block, "data: ")
		switch {
		case event && !strings.Contains(data, "\n"):
			events = append(events, data)
		case strings.HasPrefix(block, ":") && !strings.Contains(block, "\n"):
			comments++
		default:
			t.Fatalf("neither an event nor a comment of this server's: %.300q", block)
		}
	}
	return events, comments
}

// message is the one JSON message of a, which must not be a stream.
func (a httpAnswer) message(t testing.TB) wireMessage {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Fatalf("status %d, Content-Type %q, body %.300q: want one JSON message", a.status, got, a.body)
	}
	return parseWire(t, a.body)
}

// expect holds a to a status and a JSON body.
func (a httpAnswer) expect(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("got  %d %s\nwant %d %s", a.status, a.body, status, body)
	}
}

// expectError holds a to a status and one JSON error with that code and id, "" meaning none. It returns the error.
func (a httpAnswer) expectError(t testing.TB, status int, code mcp.Code, id string) *wireError {
	t.Helper()
	m := a.message(t)
	if a.status != status || m.Error == nil || m.Error.Code != code || string(m.ID) != id {
		t.Fatalf("got  %d %.400s\nwant %d, an error with code %d and id %q", a.status, a.body, status, code, id)
	}
	return m.Error
}

// expectStream holds a to a stream of exactly these messages.
func (a httpAnswer) expectStream(t testing.TB, events ...string) {
	t.Helper()
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "text/event-stream" || !slices.Equal(a.events, events) {
		t.Errorf("got  %d %s %q\nwant a stream of %q", a.status, a.header.Get("Content-Type"), a.events, events)
	}
}

// newHandler returns the handler of s.
func newHandler(t testing.TB, s *mcp.Server, opts *mcp.HTTPOptions) http.Handler {
	t.Helper()
	h, err := s.HTTPHandler(opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The endpoints that most tests are about: one for modern clients alone, and one for older ones too.
var (
	modernOnly = &mcp.HTTPOptions{Legacy: mcp.LegacyOff}
	dualEra    = &mcp.HTTPOptions{Legacy: mcp.LegacyStateless}
)
