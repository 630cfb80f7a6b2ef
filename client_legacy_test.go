package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/typedmcp/mcp"
)

// legacyServer is a server of Streamable HTTP before 2026-07-28, played by a test.
type legacyServer struct {
	*httptest.Server
	t        testing.TB
	version  string                                            // to answer initialize with; "": 2025-11-25
	capable  string                                            // capabilities
	call     func(w http.ResponseWriter, m clientMessage)      // answers requests that are none of the handshake; nil: an empty result
	stream   func(w http.ResponseWriter, r *http.Request)      // answers GET; nil: 405
	refuse   func(w http.ResponseWriter, m clientMessage) bool // answers before all else
	sessions int
	id       string        // of all sessions; "": each has its own
	over     chan struct{} // closed when the test ends: handlers that wait give up

	mu  sync.Mutex
	got []recorded
}

// recorded is a request that came.
type recorded struct {
	verb    string
	header  http.Header
	message clientMessage
	body    string
}

func newLegacyServer(t testing.TB) *legacyServer {
	s := &legacyServer{t: t, over: make(chan struct{}), capable: `{"tools":{},"resources":{"subscribe":true,"listChanged":true}}`}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		close(s.over)
		s.Close()
	})
	return s
}

// requests returns what came so far: of a method, or of a verb.
func (s *legacyServer) requests(name string) (found []recorded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.got {
		if r.message.Method == name || r.verb == name {
			found = append(found, r)
		}
	}
	return found
}

func (s *legacyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m clientMessage
	if r.Method == http.MethodPost {
		if err := json.Unmarshal(body, &m); err != nil {
			s.t.Errorf("%v: %s", err, body)
		}
	}
	s.mu.Lock()
	s.got = append(s.got, recorded{r.Method, r.Header.Clone(), m, string(body)})
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && s.stream != nil:
		s.stream(w, r)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusOK)
	case s.refuse != nil && s.refuse(w, m):
	case m.Method == "initialize":
		s.mu.Lock()
		s.sessions++
		w.Header().Set("Mcp-Session-Id", cmp.Or(s.id, fmt.Sprintf("session-%d", s.sessions)))
		s.mu.Unlock()
		version := s.version
		if version == "" {
			version = legacyVersion
		}
		writeResult(w, m, fmt.Sprintf(`"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"old","version":"1"}`, version, s.capable))
	case m.Method == "server/discover":
		http.Error(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`, http.StatusBadRequest)
	case len(m.ID) == 0 || m.Method == "":
		w.WriteHeader(http.StatusAccepted)
	case s.call != nil:
		s.call(w, m)
	default:
		writeResult(w, m, `"content":[]`)
	}
}

func writeResult(w http.ResponseWriter, m clientMessage, members string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, members)
}

// sseOf begins a stream; it returns how to send more of it.
func sseOf(w http.ResponseWriter) func(format string, args ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	return func(format string, args ...any) {
		fmt.Fprintf(w, format, args...)
		_ = flush.Flush()
	}
}

func (s *legacyServer) dial(opts *mcp.ClientOptions) *mcp.Client {
	s.t.Helper()
	c, err := mcp.Dial(s.t.Context(), mcp.HTTP(s.URL, nil), opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return c
}

func TestLegacySessionOverHTTP(t *testing.T) {
	t.Parallel()
	t.Run("LHT-05 an id that no id can be is not repeated", func(t *testing.T) {
		t.Parallel()
		for _, id := range []string{"a b", "a\u00e4", "a\tb"} {
			s := newLegacyServer(t)
			s.id = id
			c := s.dial(nil)
			mustCall(t, c, "t", nil)
			for _, r := range s.requests("tools/call") {
				if got := r.header.Get("Mcp-Session-Id"); got != "" {
					t.Errorf("%q was repeated: %q", id, got)
				}
			}
		}
	})
	t.Run("LFE-04 a level is set only where the server has logs", func(t *testing.T) {
		t.Parallel()
		for capable, want := range map[string]int{`{}`: 0, `{"logging":{}}`: 1} {
			s := newLegacyServer(t)
			s.capable = capable
			s.dial(&mcp.ClientOptions{ServerLog: slog.New(slog.DiscardHandler)})
			if n := len(s.requests("logging/setLevel")); n != want {
				t.Errorf("%s: set %d times", capable, n)
			}
		}
	})
	t.Run("LHT-02 LHT-05 LHT-10 LHT-12 what is sent", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		c := s.dial(nil)
		mustCall(t, c, "t", nil)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, r := range s.got {
			order = append(order, strings.TrimSpace(r.verb+" "+r.message.Method))
			later := r.message.Method != "server/discover" && r.message.Method != "initialize"
			if later != (r.header.Get("Mcp-Session-Id") == "session-1") || later != (r.header.Get("Mcp-Protocol-Version") == legacyVersion) {
				t.Errorf("%s: header %v", order[len(order)-1], r.header)
			}
			wanted := "application/json, text/event-stream"
			if r.verb != http.MethodPost {
				wanted = "text/event-stream"
			}
			if r.header.Get("Accept") != wanted {
				t.Errorf("%s: accepts %q", order[len(order)-1], r.header.Get("Accept"))
			}
		}
		if got := strings.Join(order, ", "); got != "POST server/discover, POST initialize, POST notifications/initialized, GET, POST tools/call, DELETE" {
			t.Errorf("sent %s", got)
		}
	})
	t.Run("LHT-12 no version header before 2025-06-18", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		s.version = "2025-03-26"
		mustCall(t, s.dial(nil), "t", nil)
		if r := s.requests("tools/call")[0]; r.header.Get("Mcp-Protocol-Version") != "" {
			t.Errorf("%v", r.header)
		}
	})
	t.Run("LHT-10 no session, nothing to delete", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		s.refuse = func(w http.ResponseWriter, m clientMessage) bool {
			if m.Method == "initialize" {
				writeResult(w, m, initialized)
			}
			return m.Method == "initialize"
		}
		if err := s.dial(nil).Close(); err != nil || len(s.requests(http.MethodDelete)) != 0 {
			t.Errorf("%v, %d DELETEs", err, len(s.requests(http.MethodDelete)))
		}
	})
	t.Run("LHT-08 a session that the server forgot is opened anew, and the call not lost", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		forgot := false
		s.refuse = func(w http.ResponseWriter, m clientMessage) bool {
			if forgot || m.Method != "tools/call" {
				return false
			}
			forgot = true
			http.Error(w, "no such session", http.StatusNotFound)
			return true
		}
		c := s.dial(nil)
		mustCall(t, c, "t", nil)
		calls, opened := s.requests("tools/call"), s.requests("initialize")
		if len(calls) != 2 || len(opened) != 2 || opened[1].header.Get("Mcp-Session-Id") != "" || calls[1].header.Get("Mcp-Session-Id") != "session-2" {
			t.Errorf("%d calls, %d sessions", len(calls), len(opened))
		}
	})
	t.Run("LHT-08 one that forgets for ever", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		s.refuse = func(w http.ResponseWriter, m clientMessage) bool {
			if m.Method == "tools/call" {
				w.WriteHeader(http.StatusNotFound)
			}
			return m.Method == "tools/call"
		}
		if _, err := s.dial(nil).CallTool(t.Context(), "t", nil); err == nil || len(s.requests("tools/call")) != 2 {
			t.Errorf("%v after %d calls", err, len(s.requests("tools/call")))
		}
	})
	t.Run("LHT-17 LFE-05 giving a call up posts its cancellation", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		begun := make(chan struct{})
		s.call = func(w http.ResponseWriter, m clientMessage) {
			sseOf(w)
			close(begun)
			<-s.over
		}
		c := s.dial(nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		failed := make(chan error, 1)
		go func() { _, err := c.CallTool(ctx, "t", nil); failed <- err }()
		receive(t, begun)
		cancel()
		if err := receive(t, failed); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		eventually(t, func() bool { return len(s.requests("notifications/cancelled")) == 1 })
		if got := s.requests("notifications/cancelled")[0].message.Params.RequestID; string(got) != string(s.requests("tools/call")[0].message.ID) {
			t.Errorf("cancelled %s", got)
		}
	})
}

func TestLegacyStreams(t *testing.T) {
	t.Parallel()
	result := `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"late"}]}}`
	t.Run("LHT-21 progress and messages over several breaks, none twice", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		var id json.RawMessage
		s.call = func(w http.ResponseWriter, m clientMessage) {
			id = m.ID
			sseOf(w)("id: 1\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1}}\n\n", id)
		}
		s.stream = func(w http.ResponseWriter, r *http.Request) {
			switch r.Header.Get("Last-Event-Id") {
			case "1":
				sseOf(w)("id: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":2}}\n\n", id)
			case "2":
				sseOf(w)("id: 3\ndata: "+result+"\n\n", id)
			default:
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
		}
		var got []float64
		mustCall(t, s.dial(nil), "t", nil, mcp.WithProgress(func(e mcp.ProgressEvent) { got = append(got, e.Done) }))
		if len(got) != 2 || got[0] != 1 || got[1] != 2 {
			t.Errorf("progress %v", got)
		}
	})
	t.Run("LHT-21 without ids there is nothing to resume by", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		s.call = func(w http.ResponseWriter, m clientMessage) { sseOf(w)("data: \n\n") }
		if _, err := s.dial(nil).CallTool(t.Context(), "t", nil); err == nil || !strings.Contains(err.Error(), "ended the stream before its answer") {
			t.Errorf("error %v", err)
		}
		if len(s.requests("tools/call")) != 1 { // AMB-31
			t.Error("called again")
		}
	})
	for _, status := range []int{400, 404, 405, 501} {
		t.Run(fmt.Sprintf("LHT-01 a GET answered %d: there is no stream, and the rest works", status), func(t *testing.T) {
			t.Parallel()
			s := newLegacyServer(t)
			s.stream = func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", status) }
			c := s.dial(nil)
			for range 3 {
				mustCall(t, c, "t", nil)
			}
			if n := len(s.requests(http.MethodGet)); n != 1 {
				t.Errorf("%d GETs", n)
			}
		})
	}
}

func TestLegacyQuestions(t *testing.T) {
	t.Parallel()
	const form = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"Ada"}}}}`
	opts := &mcp.ClientOptions{
		ElicitForm: acceptForm,
		Roots:      func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///x"}}, nil },
	}
	refusing := &mcp.ClientOptions{Sample: func(context.Context, *mcp.SampleRequest) (*mcp.SampleResult, error) { return nil, errors.New("no") }}
	const sampling = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10}`
	for _, tt := range []struct {
		name, method, params string
		opts                 *mcp.ClientOptions
		want                 string
	}{
		{"LIF-09 ping", "ping", `{}`, nil, `"result":{}`},
		{"LFE-06 elicitation, with defaults filled in", "elicitation/create", form, opts, `"result":{"action":"accept","content":{"name":"Ada"}}`},
		{"LFE-06 roots", "roots/list", `{}`, opts, `"result":{"roots":[{"uri":"file:///x"}]}`},
		{"LFE-07 roots that were not declared", "roots/list", `{}`, nil, `"code":-32601`},
		{"LFE-07 sampling that was not declared", "sampling/createMessage", sampling, nil, `"code":-32601`},
		{"LFE-07 a form that was not declared", "elicitation/create", form, nil, `"code":-32602`},
		{"LFE-07 a mode that was not declared", "elicitation/create", `{"mode":"url","message":"m","url":"https://example.com/","elicitationId":"1"}`, opts, `"code":-32602`},
		{"LFE-07 the user refuses sampling", "sampling/createMessage", sampling, refusing, `"code":-1`},
		{"LFE-07 malformed", "elicitation/create", `{}`, opts, `"code":-32602`},
		{"an unknown method", "weird/thing", `{}`, opts, `"code":-32601`},
	} {
		t.Run(tt.name+", over HTTP", func(t *testing.T) {
			t.Parallel()
			s := newLegacyServer(t)
			answered := make(chan string, 1)
			s.refuse = func(w http.ResponseWriter, m clientMessage) bool {
				if string(m.ID) == `"q"` {
					answered <- s.requests("")[len(s.requests(""))-1].body
					w.WriteHeader(http.StatusAccepted)
				}
				return string(m.ID) == `"q"`
			}
			var got string
			s.call = func(w http.ResponseWriter, m clientMessage) {
				send := sseOf(w)
				send("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":%q,\"params\":%s}\n\n", tt.method, tt.params)
				select {
				case got = <-answered:
				case <-s.over:
				}
				send("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
			}
			mustCall(t, s.dial(tt.opts), "t", nil)
			if !strings.Contains(got, tt.want) || !strings.Contains(got, `"id":"q"`) {
				t.Errorf("answered %s", got)
			}
		})
		bubble(t, tt.name+", on a pipe", func(t *testing.T) {
			f := newFakeServer(t)
			go func() {
				f.next()
				f.sent <- `{"jsonrpc":"2.0","id":1,"result":{` + initialized + `}}`
				f.next()
				m := f.next()
				f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, tt.method, tt.params)
				if got := <-f.received; !strings.Contains(got, tt.want) || !strings.Contains(got, `"id":"q"`) {
					t.Errorf("answered %s", got)
				}
				f.result(m, `"content":[]`)
			}()
			o := mcp.ClientOptions{}
			if tt.opts != nil {
				o = *tt.opts
			}
			o.Versions = []string{legacyVersion}
			c, err := mcp.Dial(t.Context(), f.transport(), &o)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			mustCall(t, c, "t", nil)
		})
	}
}
