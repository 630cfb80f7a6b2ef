package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// token1 asks for progress under the token 1.
const token1 = `"progressToken":1`

// TestHTTPAnswerForm shows when the answer to a request is a stream and what it looks like.
func TestHTTPAnswerForm(t *testing.T) {
	t.Parallel()
	s := newRaiser(nil).Server
	mcp.AddTool(s, "late", "Report progress, then fail as told", func(ctx context.Context, a textArgs) (string, error) {
		mcp.Progress(ctx, 1, 1, "")
		switch a.Text {
		case "panic":
			panic("private")
		case "protocol":
			return "", mcp.Errorf(mcp.CodeMissingCapability, "too late")
		}
		return "", errors.New(a.Text)
	})
	h := newHandler(t, s, dualEra)
	progress := modernCall(`"x"`, "progress", `{"count":2}`, token1)
	done := modernText(`"x"`, "done")
	late := func(text string) *http.Request {
		return modernPost(modernCall("3", "late", fmt.Sprintf(`{"text":%q}`, text), token1))
	}

	t.Run("HTTP-09 P17 one JSON object when nothing comes before it", func(t *testing.T) {
		a := exchange(t, h, modernPost(modernCall(`"x"`, "progress", `{"count":0}`, token1)))
		a.expect(t, 200, done)
		if kind := a.header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("Content-Type %q", kind)
		}
	})
	t.Run("HTTP-09 HTTP-15 PRG-09 P17 a stream when something does", func(t *testing.T) {
		a := exchange(t, h, modernPost(progress))
		a.expectStream(t, progressNotice("1", 1, 2), progressNotice("1", 2, 2), done)
		got := []string{a.header.Get("X-Accel-Buffering"), a.header.Get("Cache-Control"), a.header.Get("Content-Length")}
		if diff := cmp.Diff([]string{"no", "no-cache", ""}, got); diff != "" {
			t.Errorf("X-Accel-Buffering, Cache-Control, Content-Length (-want +got):\n%s", diff)
		}
		if a.comments != 1 || !strings.HasPrefix(a.body, ":") {
			t.Errorf("C86: the stream does not begin with its one comment: %.40q", a.body)
		}
	})
	t.Run("PRG-08 no token, no progress, no stream", func(t *testing.T) {
		exchange(t, h, modernPost(modernCall(`"x"`, "progress", `{"count":2}`))).expect(t, 200, done)
	})
	t.Run("HTTP-09 progress is dropped where JSON alone is accepted", func(t *testing.T) {
		exchange(t, h, modernPost(progress, "Accept: application/json")).expect(t, 200, done)
	})
	t.Run("HTTP-09 a stream of one event where streams alone are accepted", func(t *testing.T) {
		exchange(t, h, modernPost(modernCall("1", "add", `{"a":1,"b":2}`), "Accept: text/event-stream")).expectStream(t, modernSum("1", 3))
	})
	t.Run("HTTP-29 faults keep their status where streams alone are accepted", func(t *testing.T) {
		exchange(t, h, modernPost(modernRequest("1", "unknown/x"), "Accept: text/event-stream")).expectError(t, 404, mcp.CodeMethodNotFound, "1")
		exchange(t, h, modernPost(raising(-32021), "Accept: text/event-stream")).expectError(t, 400, mcp.CodeMissingCapability, "7")
	})
	t.Run("AMB-19 HTTP-29 a protocol error after the stream began", func(t *testing.T) {
		exchange(t, h, late("protocol")).expectStream(t, progressNotice("1", 1, 1),
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32021,"message":"too late"}}`)
	})
	t.Run("AMB-19 a failure after the stream began", func(t *testing.T) {
		exchange(t, h, late("no")).expectStream(t, progressNotice("1", 1, 1), modernResult("3", `"content":[{"type":"text","text":"no"}],"isError":true`))
	})
	t.Run("AMB-19 TOOL-15 a panic after the stream began", func(t *testing.T) {
		a := exchange(t, h, late("panic"))
		if len(a.events) != 2 || !strings.Contains(a.events[1], `"isError":true`) || strings.Contains(a.body, "private") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("PRG-09 LHT-16 streams of older revisions", func(t *testing.T) {
		body := plainRequest("1", "tools/call", callParams("progress", `{"count":1}`), `"_meta":{"progressToken":"p"}`)
		exchange(t, h, httpPost(body)).expectStream(t, progressNotice(`"p"`, 1, 1),
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`)
	})
	t.Run("HTTP-12 no request of the server's on any stream", func(t *testing.T) {
		for _, r := range []*http.Request{modernPost(progress), late("no"), late("protocol"), late("panic")} {
			for _, event := range exchange(t, h, r).events {
				if m := parseWire(t, event); m.Method != "" && m.ID != nil {
					t.Errorf("a request: %s", event)
				}
			}
		}
	})
}

// TestHTTPNotificationRace has handlers report from two goroutines up to the moment of their return, and beyond.
func TestHTTPNotificationRace(t *testing.T) {
	t.Parallel()
	const reports, rounds = 50, 100
	var strays sync.WaitGroup
	s := mcp.NewServer("race", "1", nil)
	report := func(ctx context.Context, wg *sync.WaitGroup) {
		var mu sync.Mutex
		var sent float64
		for range 2 {
			wg.Go(func() {
				for range reports / 2 {
					mu.Lock()
					sent++
					mcp.Progress(ctx, sent, 0, "")
					mu.Unlock()
				}
			})
		}
	}
	mcp.AddTool(s, "waits", "", func(ctx context.Context, _ noArgs) (string, error) {
		var wg sync.WaitGroup
		report(ctx, &wg)
		wg.Wait()
		return "done", nil
	})
	mcp.AddTool(s, "strays", "", func(ctx context.Context, _ noArgs) (string, error) {
		report(ctx, &strays)
		return "done", nil
	})
	srv := serveLoopback(t, newHandler(t, s, nil), false)

	// check holds the answer to progress 1, 2, 3 … and then the result.
	check := func(t *testing.T, a httpAnswer) int {
		t.Helper()
		if len(a.events) == 0 { // nothing was reported in time
			a.events = []string{a.body}
		}
		last := len(a.events) - 1
		for i, event := range a.events[:last] {
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i+1); event != want {
				t.Fatalf("event %d: %s", i, event)
			}
		}
		if m := parseWire(t, a.events[last]); m.Result == nil {
			t.Fatalf("the last message is no result: %s", a.events[last])
		}
		return last
	}
	t.Run("C88 HTTP-13 all before the response", func(t *testing.T) {
		for range rounds {
			if n := check(t, fetch(t, srv.Client(), srv.URL, modernPost(modernCall("1", "waits", "{}", token1)))); n != reports {
				t.Fatalf("%d of %d reports came", n, reports)
			}
		}
	})
	t.Run("C88 HTTP-13 PRG-04 nothing after it", func(t *testing.T) {
		for range rounds {
			check(t, fetch(t, srv.Client(), srv.URL, modernPost(modernCall("1", "strays", "{}", token1))))
		}
		strays.Wait()
	})
}

// TestHTTPStreamsAreSeparate runs streams side by side: each has the messages of its own request alone.
func TestHTTPStreamsAreSeparate(t *testing.T) {
	t.Parallel()
	const n = 30
	var all sync.WaitGroup // every call is running
	all.Add(n)
	s := mcp.NewServer("parallel", "1", nil)
	mcp.AddTool(s, "meet", "Report, wait for the others, report again", func(ctx context.Context, _ noArgs) (string, error) {
		mcp.Progress(ctx, 1, 2, "")
		all.Done()
		all.Wait()
		mcp.Progress(ctx, 2, 2, "")
		return "met", nil
	})
	h := newHandler(t, s, nil)
	answers := make([]httpAnswer, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() {
			id := fmt.Sprint(i)
			answers[i] = exchange(t, h, modernPost(modernCall(id, "meet", "{}", `"progressToken":`+id)))
		})
	}
	calls.Wait()
	t.Run("HTTP-31 HTTP-11 HTTP-14", func(t *testing.T) {
		for i, a := range answers {
			id := fmt.Sprint(i)
			events := []string{progressNotice(id, 1, 2), progressNotice(id, 2, 2)}
			if len(a.events) != 3 || !slices.Equal(a.events[:2], events) || string(parseWire(t, a.events[2]).ID) != id {
				t.Errorf("stream %d: %q", i, a.events)
			}
		}
	})
}

// TestHTTPKeepAlive shows what a client hears of a request that takes long.
func TestHTTPKeepAlive(t *testing.T) {
	t.Parallel()
	bubble := func(name string, opts *mcp.HTTPOptions, run func(t *testing.T, free func(), n *pipeNetwork)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(nil)
				mcp.AddTool(f, "busy", "Report ten times, ten seconds apart", func(ctx context.Context, _ noArgs) (string, error) {
					for i := range 10 {
						select {
						case <-time.After(10 * time.Second):
						case <-ctx.Done():
						}
						mcp.Progress(ctx, float64(i+1), 10, "")
					}
					return "done", nil
				})
				mcp.AddTool(f, "refuse", "Wait, then fail the request", func(context.Context, noArgs) (string, error) {
					<-f.release
					return "", mcp.Errorf(mcp.CodeMissingCapability, "too late")
				})
				free := sync.OnceFunc(func() { close(f.release) }) // that a failure leaves nobody behind
				t.Cleanup(free)
				run(t, free, servePipes(t, newHandler(t, f.Server, opts)))
			})
		})
	}
	// within expects a comment after half of d at the earliest and d at the latest.
	within := func(t *testing.T, s *liveStream, since time.Time, d time.Duration) time.Time {
		t.Helper()
		s.expect("comment")
		if took := time.Since(since); took > d || took < d/2 {
			t.Errorf("a comment after %v, want one within %v", took, d)
		}
		return time.Now()
	}
	hold := modernCall("1", "hold", "{}")

	bubble("HTTP-16 C86 comments every 15 s", nil, func(t *testing.T, free func(), n *pipeNetwork) {
		at := time.Now()
		s := n.stream(t, modernPost(hold))
		if kind := s.resp.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Fatalf("Content-Type %q", kind)
		}
		for range 5 {
			at = within(t, s, at, 15*time.Second)
		}
		free()
		s.expect(modernText("1", "released "), "end")
	})
	bubble("HTTP-16 comments every KeepAlive", &mcp.HTTPOptions{KeepAlive: 2 * time.Second}, func(t *testing.T, free func(), n *pipeNetwork) {
		at := time.Now()
		s := n.stream(t, modernPost(hold))
		for range 3 {
			at = within(t, s, at, 2*time.Second)
		}
		free()
		s.expect(modernText("1", "released "), "end")
	})
	bubble("HTTP-16 none while messages come", nil, func(t *testing.T, _ func(), n *pipeNetwork) {
		s := n.stream(t, modernPost(modernCall("1", "busy", "{}", token1)))
		s.expect("comment")
		for i := range 10 {
			s.expect(progressNotice("1", i+1, 10))
		}
		s.expect(modernText("1", "done"), "end")
	})
	bubble("HTTP-16 none where JSON alone is accepted", nil, func(t *testing.T, free func(), n *pipeNetwork) {
		time.AfterFunc(time.Hour, free)
		resp, err := n.client().Do(to(t.Context(), "http://localhost/", modernPost(hold, "Accept: application/json")))
		if err != nil {
			t.Fatal(err)
		}
		readAnswer(t, resp).expect(t, 200, modernText("1", "released "))
	})
	bubble("HTTP-16 none for a quick answer", nil, func(t *testing.T, free func(), n *pipeNetwork) {
		time.AfterFunc(5*time.Second, free)
		resp, err := n.client().Do(to(t.Context(), "http://localhost/", modernPost(hold)))
		if err != nil {
			t.Fatal(err)
		}
		readAnswer(t, resp).expect(t, 200, modernText("1", "released "))
	})
	bubble("AMB-19 faults come in the stream after a comment", nil, func(t *testing.T, free func(), n *pipeNetwork) {
		time.AfterFunc(50*time.Second, free)
		s := n.stream(t, modernPost(modernCall("1", "refuse", "{}")))
		s.expect("comment", "comment", "comment", `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"too late"}}`, "end")
	})
}

// TestHTTPSlowReader shows that a client which does not read costs the server a bounded time and the others nothing.
func TestHTTPSlowReader(t *testing.T) {
	t.Parallel()
	bubble := func(name string, run func(t *testing.T, f *fixture, n *pipeNetwork)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(nil)
				mcp.AddTool(f, "flood", "Report until the context ends", func(ctx context.Context, _ noArgs) (string, error) {
					for i := 1; ctx.Err() == nil; i++ {
						mcp.Progress(ctx, float64(i), 0, "")
					}
					f.ended <- context.Cause(ctx)
					return "", nil
				})
				run(t, f, servePipes(t, newHandler(t, f.Server, nil)))
			})
		})
	}
	bubble("C110 a stream ends with its write deadline, others go on", func(t *testing.T, f *fixture, n *pipeNetwork) {
		start := time.Now()
		s := n.stream(t, modernPost(modernCall("1", "flood", "{}", token1)))
		s.expect("comment") // and then it reads no more
		synctest.Wait()
		resp, err := n.client().Do(to(t.Context(), "http://localhost/", modernPost(modernCall("2", "progress", `{"count":1}`, token1))))
		if err != nil {
			t.Fatal(err)
		}
		readAnswer(t, resp).expectStream(t, progressNotice("1", 1, 1), modernText("2", "done"))
		if took := time.Since(start); took != 0 {
			t.Errorf("another stream took %v", took)
		}
		if cause := <-f.ended; !errors.Is(cause, mcp.ErrDisconnected) {
			t.Errorf("the context ended with %v", cause)
		}
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("the stream ended after %v, not after its deadline", took)
		}
	})
	big := modernCall("1", "blob", `{"count":4000000}`)
	bubble("C92 a large answer that is not read", func(t *testing.T, _ *fixture, n *pipeNetwork) {
		s := n.stream(t, modernPost(big))
		time.Sleep(time.Minute)
		if got, err := io.ReadAll(s.resp.Body); err == nil {
			t.Errorf("a minute later there were still %d bytes to read", len(got))
		}
	})
	for name, r := range map[string]*http.Request{
		"C92 a large answer that is read slowly":            modernPost(big),
		"C92 a large event of a stream that is read slowly": modernPost(big, "Accept: text/event-stream"),
	} {
		bubble(name, func(t *testing.T, _ *fixture, n *pipeNetwork) {
			s := n.stream(t, r)
			got := 0
			for buf := make([]byte, 512<<10); ; time.Sleep(20 * time.Second) {
				n, err := io.ReadFull(s.in, buf)
				got += n
				if err == io.EOF || err == io.ErrUnexpectedEOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if got < 4_000_000 {
				t.Errorf("%d bytes came", got)
			}
		})
	}
}

// unwrapping hides the optional methods of a ResponseWriter, but says where they are.
type unwrapping struct{ w http.ResponseWriter }

func (u unwrapping) Header() http.Header         { return u.w.Header() }
func (u unwrapping) Write(p []byte) (int, error) { return u.w.Write(p) }
func (u unwrapping) WriteHeader(status int)      { u.w.WriteHeader(status) }
func (u unwrapping) Unwrap() http.ResponseWriter { return u.w }

// TestHTTPWrappedWriter puts middleware of net/http around the handler that replaces the ResponseWriter.
func TestHTTPWrappedWriter(t *testing.T) {
	t.Parallel()
	stepped := func() *fixture {
		f := newFixture(nil)
		mcp.AddTool(f, "steps", "Report, wait, report", func(ctx context.Context, _ noArgs) (string, error) {
			mcp.Progress(ctx, 1, 2, "")
			<-f.release
			mcp.Progress(ctx, 2, 2, "")
			if err := ctx.Err(); err != nil {
				return "", err
			}
			return "done", nil
		})
		return f
	}
	steps := modernCall("1", "steps", "{}", token1)
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("C86 events arrive at once through a writer with Unwrap, HTTP/2 %v", http2), func(t *testing.T) {
			f := stepped()
			h := newHandler(t, f.Server, nil)
			srv := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(unwrapping{w}, r) }), http2)
			free := sync.OnceFunc(func() { close(f.release) })
			t.Cleanup(free)
			stream := openStream(t, srv.Client(), srv.URL, modernPost(steps))
			stream.expect("comment", progressNotice("1", 1, 2)) // while the handler waits
			free()
			stream.expect(progressNotice("1", 2, 2), modernText("1", "done"), "end")
		})
	}
	t.Run("C86 a writer that cannot flush still gets everything", func(t *testing.T) {
		f := stepped()
		close(f.release)
		w := httptest.NewRecorder()
		newHandler(t, f.Server, nil).ServeHTTP(struct{ http.ResponseWriter }{w}, modernPost(steps))
		readAnswer(t, w.Result()).expectStream(t, progressNotice("1", 1, 2), progressNotice("1", 2, 2), modernText("1", "done"))
	})
	t.Run("C86 http.TimeoutHandler", func(t *testing.T) {
		f := stepped()
		close(f.release)
		srv := serveLoopback(t, http.TimeoutHandler(newHandler(t, f.Server, nil), time.Minute, "late"), false)
		fetch(t, srv.Client(), srv.URL, modernPost(steps)).expectStream(t,
			progressNotice("1", 1, 2), progressNotice("1", 2, 2), modernText("1", "done"))
	})
}
