package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// TestEraOfServersFarBehind has servers that do not speak the newest of the earlier revisions.
func TestEraOfServersFarBehind(t *testing.T) {
	t.Parallel()
	refused := func(versions string) string {
		return `{"code":-32022,"message":"m","data":{"requested":"2026-07-28","supported":[` + versions + `]}}`
	}
	for _, tt := range []struct {
		name     string
		probe    string // answer to server/discover
		versions []string
		offered  string
	}{
		{"-32022 with one revision", refused(`"2025-03-26"`), nil, "2025-03-26"},
		{"-32022 with the oldest", refused(`"2024-11-05"`), nil, "2024-11-05"},
		{"-32022 with the best in the middle", refused(`"2024-11-05","2025-06-18","2025-03-26"`), nil, "2025-06-18"},
		{"-32022 with revisions that nobody knows", refused(`"2031-01-01","1999-01-01","2025-03-26"`), nil, "2025-03-26"},
		{"-32022 with what the options leave out", refused(`"2025-06-18","2024-11-05"`), []string{"2026-07-28", "2025-11-25", "2024-11-05"}, "2024-11-05"},
		{"a result with the best in the middle", `"supportedVersions":["2024-11-05","2025-06-18"]`, nil, "2025-06-18"},
	} {
		bubble(t, "ERD-11 "+tt.name, func(t *testing.T) {
			f := newFakeServer(t)
			var offered []string
			f.talk(func(m clientMessage) string {
				switch m.Method {
				case "server/discover":
					return tt.probe
				case "initialize":
					offered = append(offered, m.version())
					return fmt.Sprintf(`"protocolVersion":%q,"capabilities":{}`, m.version())
				}
				return `"content":[]`
			})
			c, err := mcp.Dial(t.Context(), f.transport(), &mcp.ClientOptions{Versions: tt.versions})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(offered, " "); got != tt.offered || c.Server().Protocol != tt.offered {
				t.Errorf("offered %q, speaks %s", got, c.Server().Protocol)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		t.Run("ERD-11 over HTTP, "+tt.name, func(t *testing.T) {
			t.Parallel()
			var offered atomic.Value
			url := handled(t, func(w http.ResponseWriter, _ *http.Request, m clientMessage) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case m.Method == "initialize":
					offered.Store(m.version())
					writeResult(w, m, fmt.Sprintf(`"protocolVersion":%q,"capabilities":{}`, m.version()))
				case m.Method != "server/discover":
					w.WriteHeader(http.StatusAccepted)
				case tt.probe[0] == '{':
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, tt.probe)
				default:
					writeResult(w, m, tt.probe)
				}
			})
			c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), &mcp.ClientOptions{Versions: tt.versions})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if offered.Load() != tt.offered || c.Server().Protocol != tt.offered {
				t.Errorf("offered %v, speaks %s", offered.Load(), c.Server().Protocol)
			}
		})
	}
}

// lateBody is the body of an answer whose end does not come before its request ends.
type lateBody struct {
	io.Reader
	ctx context.Context
}

func (b lateBody) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	<-b.ctx.Done()
	return 0, context.Cause(b.ctx)
}

func (b lateBody) Close() error { return nil }

// answerOf makes an answer in HTTP with the given type and body.
func answerOf(kind string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: body}
}

// messageOf reads the message of a POST.
func messageOf(t testing.TB, r *http.Request) clientMessage {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	var m clientMessage
	if err := json.Unmarshal(body, &m); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	return m
}

// TestProbeWithoutVerdict has servers over HTTP whose silence, unlike that on a pipe, says nothing about their revision.
func TestProbeWithoutVerdict(t *testing.T) {
	t.Parallel()
	cut := errors.New("cable cut")
	for _, tt := range []struct {
		name  string
		probe func(r *http.Request) (*http.Response, error)
		fails error
		takes time.Duration
	}{
		{"no answer in time", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}, context.DeadlineExceeded, 20 * time.Second},
		{"no body in time", func(r *http.Request) (*http.Response, error) {
			return answerOf("application/json", lateBody{strings.NewReader(`{"jsonrpc":`), r.Context()}), nil
		}, context.DeadlineExceeded, 20 * time.Second},
		{"no event in time", func(r *http.Request) (*http.Response, error) {
			return answerOf("text/event-stream", lateBody{strings.NewReader(": wait\n\n"), r.Context()}), nil
		}, context.DeadlineExceeded, 20 * time.Second},
		{"a connection that breaks", func(*http.Request) (*http.Response, error) { return nil, cut }, cut, 0},
		{"a body that breaks", func(*http.Request) (*http.Response, error) {
			return answerOf("application/json", io.NopCloser(io.MultiReader(strings.NewReader(`{"jsonrpc":`), iotest.ErrReader(cut)))), nil
		}, cut, 0},
	} {
		bubble(t, "ERD-15 "+tt.name, func(t *testing.T) {
			var methods []string
			mute := true
			transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
				m := messageOf(t, r)
				methods = append(methods, m.Method)
				if mute {
					return tt.probe(r)
				}
				return answerOf("application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, discovered)))), nil
			})}})
			opts := &mcp.ClientOptions{Timeout: 20 * time.Second, ProbeTimeout: time.Second}
			start := time.Now()
			_, err := mcp.Dial(t.Context(), transport, opts)
			if !errors.Is(err, tt.fails) || time.Since(start) != tt.takes {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			synctest.Wait()
			mute = false
			c, err := mcp.Dial(t.Context(), transport, opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(methods, " "); got != "server/discover server/discover" {
				t.Errorf("sent %q", got)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestQuestionsAtOnce has a server of an earlier revision ask more at once than a client answers.
func TestQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	const most = 16
	bubble(t, "LFE-06 questions at once are bounded, by number and by id", func(t *testing.T) {
		var running atomic.Int32
		release := make(chan struct{})
		f := newFakeServer(t)
		go func() {
			f.result(f.next(), initialized)
			f.next()
		}()
		c, err := mcp.Dial(t.Context(), f.transport(), &mcp.ClientOptions{
			Versions: []string{legacyVersion},
			Roots: func(ctx context.Context) ([]mcp.Root, error) {
				running.Add(1)
				select {
				case <-release:
				case <-ctx.Done():
				}
				return nil, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ask := func(id int) { f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, id) }
		for range most { // one id: an answer could not be told from another
			ask(7)
		}
		synctest.Wait()
		if n := running.Load(); n != 1 {
			t.Errorf("%d with one id", n)
		}
		for id := range 10 * most {
			ask(100 + id)
		}
		synctest.Wait()
		if n := running.Load(); n != most {
			t.Errorf("%d at once", n)
		}
		close(release)
		synctest.Wait()
		if n := len(f.received); n != most {
			t.Errorf("%d answers", n)
		}
		for len(f.received) > 0 {
			<-f.received
		}
		ask(7) // there is room again, also for an id that was answered
		synctest.Wait()
		if n := len(f.received); n != 1 {
			t.Errorf("%d answers to the next", n)
		}
	})
}
