package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// receive returns the next value of ch, which has to come.
func receive[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(lineTimeout):
		t.Fatal("nothing came")
	}
	panic("unreachable")
}

// TestHTTPHangUp has clients hang up: that is how a modern client cancels (MCP 2026-07-28, Streamable HTTP ›
// Cancellation).
func TestHTTPHangUp(t *testing.T) {
	t.Parallel()
	f := newFixture(nil)
	mcp.AddTool(f, "streaming", "Report, then wait for the end of the context", func(ctx context.Context, _ noArgs) (string, error) {
		mcp.Progress(ctx, 1, 0, "")
		<-ctx.Done()
		mcp.Progress(ctx, 2, 0, "")
		f.ended <- context.Cause(ctx)
		return "", ctx.Err()
	})
	h := newHandler(t, f.Server, dualEra)

	for _, http2 := range []bool{false, true} {
		protocol := map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[http2]
		srv := serveLoopback(t, h, http2)
		ended := func(t *testing.T) {
			t.Helper()
			cause := receive(t, f.ended)
			if !errors.Is(cause, mcp.ErrDisconnected) || errors.Is(cause, mcp.ErrShutdown) || errors.Is(cause, mcp.ErrCancelled) {
				t.Errorf("the context ended with %v", cause)
			}
		}
		for name, r := range map[string]*http.Request{
			"of known length":   modernPost(modernCall("1", "block", "{}")),
			"of unknown length": withBody(modernPost(modernCall("1", "block", "{}")), -1),
		} {
			t.Run("HTTP-18 C106 "+protocol+" while one answer is pending, body "+name, func(t *testing.T) {
				ctx, hangUp := context.WithCancel(t.Context())
				failed := make(chan error, 1)
				go func() {
					_, err := srv.Client().Do(to(ctx, srv.URL, r))
					failed <- err
				}()
				receive(t, f.started)
				hangUp()
				ended(t)
				if err := receive(t, failed); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		t.Run("HTTP-18 C106 "+protocol+" in a stream", func(t *testing.T) {
			s := openStream(t, srv.Client(), srv.URL, modernPost(modernCall("1", "streaming", "{}", token1)))
			s.expect("comment", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
			if err := s.resp.Body.Close(); err != nil {
				t.Error(err)
			}
			ended(t)
		})
	}
}

// shutDown shuts s down and waits for that.
func shutDown(t testing.TB, s *mcp.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lineTimeout)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// withBody changes the length that r announces: -1 for none.
func withBody(r *http.Request, length int64) *http.Request {
	r.ContentLength = length
	return r
}

// TestHTTPHangUpSeen shows what a hang-up that the server has seen means: to handlers of older revisions nothing.
func TestHTTPHangUpSeen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		r    func() *http.Request
		want error
	}{
		{"HTTP-18 modern", func() *http.Request { return modernPost(modernCall("1", "block", "{}")) }, mcp.ErrDisconnected},
		{"LHT-17 older", func() *http.Request { return httpPost(legacyCall("1", "block", "{}")) }, mcp.ErrShutdown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(nil)
				n := servePipes(t, newHandler(t, f.Server, dualEra))
				ctx, hangUp := context.WithCancel(t.Context())
				go func() { _, _ = n.client().Do(to(ctx, "http://localhost/", tt.r())) }()
				<-f.started
				hangUp()
				synctest.Wait() // the server has seen it
				shutDown(t, f.Server)
				if cause := <-f.ended; !errors.Is(cause, tt.want) {
					t.Errorf("the context ended with %v, want %v", cause, tt.want)
				}
			})
		})
	}
}

// TestHTTPContext shows what reaches the contexts of handlers from the handlers of net/http around them.
func TestHTTPContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	errQuota := errors.New("quota exceeded")
	type end struct {
		Cause, Err error
		Deadline   bool
	}
	// run has a handler wait for the end of its context, which arrange brings about.
	run := func(t *testing.T, arrange func(context.Context, *mcp.Server) (context.Context, context.CancelFunc)) (got end) {
		s := mcp.NewServer("context", "1", nil)
		mcp.AddTool(s, "wait", "", func(ctx context.Context, _ noArgs) (string, error) {
			<-ctx.Done()
			_, got.Deadline = ctx.Deadline()
			got.Cause, got.Err = context.Cause(ctx), ctx.Err()
			return "", nil
		})
		r := modernPost(modernCall("1", "wait", "{}"))
		ctx, cancel := arrange(r.Context(), s)
		defer cancel()
		exchange(t, newHandler(t, s, nil), r.WithContext(ctx))
		return got
	}
	tests := []struct {
		name    string
		arrange func(context.Context, *mcp.Server) (context.Context, context.CancelFunc)
		cause   error
		err     error
		timed   bool
	}{
		{"C116 hang-up", func(ctx context.Context, _ *mcp.Server) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, mcp.ErrDisconnected, context.Canceled, false},
		{"C116 hung up before the handler looks", func(ctx context.Context, _ *mcp.Server) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, mcp.ErrDisconnected, context.Canceled, false},
		{"C116 shutdown", func(ctx context.Context, s *mcp.Server) (context.Context, context.CancelFunc) {
			time.AfterFunc(time.Second, func() { _ = s.Shutdown(context.Background()) })
			return context.WithCancel(ctx)
		}, mcp.ErrShutdown, context.Canceled, false},
		{"C116 deadline", func(ctx context.Context, _ *mcp.Server) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded, context.DeadlineExceeded, true},
		{"C116 a reason of the middleware's", func(ctx context.Context, _ *mcp.Server) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(errQuota) })
			return ctx, func() { cancel(nil) }
		}, errQuota, context.Canceled, false},
	}
	causes := []error{mcp.ErrDisconnected, mcp.ErrShutdown, mcp.ErrCancelled, context.DeadlineExceeded, errQuota}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := run(t, tt.arrange)
				for _, cause := range causes {
					if errors.Is(got.Cause, cause) != (cause == tt.cause) {
						t.Errorf("cause %v: is it %v? want %v", got.Cause, cause, tt.cause)
					}
				}
				if got.Err != tt.err || got.Deadline != tt.timed {
					t.Errorf("Err() = %v, deadline %v; want %v, %v", got.Err, got.Deadline, tt.err, tt.timed)
				}
			})
		})
	}

	t.Run("C116 HTTP-30 values of one request, and of no other", func(t *testing.T) {
		f := newFixture(nil)
		mcp.AddTool(f, "value", "", func(ctx context.Context, _ noArgs) (string, error) {
			return fmt.Sprintf("%v %v", ctx.Value(key{}), mcp.RequestFrom(ctx).Header().Values("X-User")), nil
		})
		h := newHandler(t, f.Server, nil)
		srv := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user := r.Header.Get("X-User"); user != "" {
				r = r.WithContext(context.WithValue(r.Context(), key{}, user))
			}
			h.ServeHTTP(w, r)
		}), false)
		call := modernCall("1", "value", "{}")
		fetch(t, srv.Client(), srv.URL, modernPost(call, "X-User: ann")).expect(t, 200, modernText("1", "ann [ann]"))
		fetch(t, srv.Client(), srv.URL, modernPost(call)).expect(t, 200, modernText("1", "<nil> []"))
	})
	t.Run("C113 facts of one request, and of no other", func(t *testing.T) {
		srv := serveLoopback(t, newHandler(t, newFixture(nil).Server, dualEra), false)
		facts := func(version, client, level, token string, roots bool) string {
			text := fmt.Sprintf(`{"version":%q,"client":%q,"logLevel":%q,"token":%q,"roots":%v}`, version, client, level, token, roots)
			return fmt.Sprintf(`"structuredContent":%s,"content":[{"type":"text","text":%q}]`, text, text)
		}
		full := strings.Replace(modernCall("1", "whoami", "{}", `"io.modelcontextprotocol/clientInfo":{"name":"ann","version":"1"}`,
			`"io.modelcontextprotocol/logLevel":"debug"`, `"progressToken":7`), `clientCapabilities":{}`, `clientCapabilities":{"roots":{}}`, 1)
		fetch(t, srv.Client(), srv.URL, modernPost(full)).expect(t, 200, modernResult("1", facts("2026-07-28", "ann", "debug", "7", true)))
		fetch(t, srv.Client(), srv.URL, modernPost(modernCall("2", "whoami", "{}"))).expect(t, 200, modernResult("2", facts("2026-07-28", "", "", "", false)))
		fetch(t, srv.Client(), srv.URL, httpPost(legacyCall("3", "whoami", "{}"), "MCP-Protocol-Version: 2025-06-18")).expect(t, 200,
			`{"jsonrpc":"2.0","id":3,"result":{`+facts("2025-06-18", "", "", "", false)+`}}`)
	})
}

// TestHTTPAfterTheEnd shows that nothing is sent for a request whose context has ended.
func TestHTTPAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mcp.NewServer("end", "1", nil)
		mcp.AddTool(s, "goes on", "", func(ctx context.Context, _ noArgs) (string, error) {
			mcp.Progress(ctx, 1, 0, "")
			<-ctx.Done()
			mcp.Progress(ctx, 2, 0, "")
			mcp.Progress(context.WithoutCancel(ctx), 3, 0, "")
			return "done", nil
		})
		time.AfterFunc(time.Second, func() { _ = s.Shutdown(context.Background()) })
		a := exchange(t, newHandler(t, s, nil), modernPost(modernCall("1", "goes on", "{}", token1), "Mcp-Name: goes on"))
		if len(a.events) != 2 || !strings.Contains(a.events[0], `"progress":1`) || !strings.Contains(a.events[1], "done") {
			t.Errorf("CAN-04: %q", a.events)
		}
	})
}

// gateWriter holds the first write until gate is closed.
type gateWriter struct {
	*httptest.ResponseRecorder
	once          sync.Once
	writing, gate chan struct{}
}

func (w *gateWriter) Write(p []byte) (int, error) {
	w.once.Do(func() {
		close(w.writing)
		<-w.gate
	})
	return w.ResponseRecorder.Write(p)
}

// TestHTTPBadHandlers has handlers end in ways that handlers should not.
func TestHTTPBadHandlers(t *testing.T) {
	t.Parallel()
	f := newFixture(nil)
	mcp.AddTool(f, "goexit late", "Report, then end the goroutine", func(ctx context.Context, _ noArgs) (string, error) {
		mcp.Progress(ctx, 1, 1, "")
		runtime.Goexit()
		return "", nil
	})
	srv := serveLoopback(t, newHandler(t, f.Server, nil), false)
	call := func(t *testing.T, body string) httpAnswer {
		return fetch(t, srv.Client(), srv.URL, modernPost(body))
	}
	lives := func(t *testing.T) {
		t.Helper()
		call(t, modernCall("9", "add", `{"a":1,"b":2}`)).expect(t, 200, modernSum("9", 3))
	}
	t.Run("TOOL-15 C61 panic", func(t *testing.T) {
		a := call(t, modernCall("1", "panic", `{"text":"postgres://secret"}`))
		if a.status != 200 || !strings.Contains(a.body, `"isError":true`) || strings.Contains(a.body, "secret") {
			t.Errorf("%d %s", a.status, a.body)
		}
		lives(t)
	})
	t.Run("C109 runtime.Goexit", func(t *testing.T) {
		err := call(t, modernCall("1", "goexit", `{}`)).expectError(t, 200, mcp.CodeInternalError, "1")
		if strings.Contains(strings.ToLower(err.Message), "goexit") {
			t.Errorf("the message tells how the server is made: %s", err.Message)
		}
		lives(t)
	})
	t.Run("C109 runtime.Goexit in a stream", func(t *testing.T) {
		s := openStream(t, srv.Client(), srv.URL, modernPost(modernCall("1", "goexit late", `{}`, token1)))
		s.expect("comment", progressNotice("1", 1, 1))
		if m := parseWire(t, s.next()); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
			t.Errorf("%+v", m)
		}
		if rest, err := io.ReadAll(s.in); len(rest) > 0 || err == nil { // net/http's goroutine is gone, and with it the end
			t.Errorf("after the response: %q %v", rest, err)
		}
		lives(t)
	})
	t.Run("C88 HTTP-13 PRG-04 what a handler left running after runtime.Goexit reports nothing", func(t *testing.T) {
		for range 50 { // the report comes while the response is being written, or after
			s := mcp.NewServer("stray", "1", nil)
			w := &gateWriter{ResponseRecorder: httptest.NewRecorder(), writing: make(chan struct{}), gate: make(chan struct{})}
			about, reported := make(chan struct{}), make(chan struct{})
			mcp.AddTool(s, "stray", "", func(ctx context.Context, _ noArgs) (string, error) {
				go func() {
					defer close(reported)
					<-w.writing
					close(about)
					mcp.Progress(ctx, 1, 1, "")
				}()
				runtime.Goexit()
				return "", nil
			})
			h := newHandler(t, s, nil)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				h.ServeHTTP(w, modernPost(modernCall("1", "stray", "{}", token1)))
			}()
			<-about
			runtime.Gosched()
			close(w.gate)
			<-gone
			<-reported
			if m := parseWire(t, w.Body.String()); m.Error == nil {
				t.Fatal(w.Body.String())
			}
		}
	})
	t.Run("C109 one of many", func(t *testing.T) {
		const n = 40
		answers := make(chan *http.Response, n)
		for i := range n {
			go func() {
				body := modernCall("1", "add", `{"a":1,"b":2}`)
				switch i {
				case 7:
					body = modernCall("1", "goexit", `{}`)
				case 11:
					body = modernCall("1", "panic", `{"text":"x"}`)
				}
				resp, err := srv.Client().Do(to(context.Background(), srv.URL, modernPost(body)))
				if err != nil {
					t.Error(err)
				}
				answers <- resp
			}()
		}
		counts := map[bool]int{}
		for range n {
			if resp := receive(t, answers); resp != nil {
				counts[!strings.Contains(readAnswer(t, resp).body, `"sum":3`)]++
			}
		}
		if diff := cmp.Diff(map[bool]int{false: n - 2, true: 2}, counts); diff != "" {
			t.Errorf("failed (-want +got):\n%s", diff)
		}
	})
}
