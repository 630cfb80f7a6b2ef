package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

const (
	toolsChanged     = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	promptsChanged   = `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`
	resourcesChanged = `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`
	menuUpdated      = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"asking://menu"}}`
)

// progressCall is a call of the tool steps that wants to know how far it is.
func progressCall(id string) string {
	return plainRequest(id, "tools/call", callParams("steps", "{}"), `"_meta":{"progressToken":`+id+`}`)
}

// streamed is a server with sessions in a bubble.
type streamed struct {
	*waiter
	t testing.TB
	h http.Handler
	n *pipeNetwork
}

// streams runs fn as a sub-test in a bubble, with a server that has the options.
func streams(t *testing.T, name string, opts *mcp.HTTPOptions, fn func(t *testing.T, s *streamed)) {
	t.Helper()
	bubble(t, name, func(t *testing.T) {
		w, h := newSessions(t, opts)
		fn(t, &streamed{w, t, h, servePipes(t, h)})
	})
}

func (s *streamed) open(version, caps string) *httpSession {
	return openHTTPSession(s.t, s.h, version, caps)
}

// TestHTTPServerStream is about what the server says by itself.
func TestHTTPServerStream(t *testing.T) {
	t.Parallel()
	for _, version := range earlier {
		streams(t, "LHT-01 LFE-01 changes come unasked on GET: "+version, nil, func(t *testing.T, s *streamed) {
			c := s.open(version, "")
			stream := s.n.events(t, c.get())
			if version == "2025-11-25" {
				stream.primed()
			} else if ev, ok := stream.block(); !ok || ev.comment == "" {
				t.Fatalf("C86: got %+v, want a comment at once", ev)
			}
			if stream.resp.Header.Get("X-Accel-Buffering") != "no" {
				t.Error("C86: a proxy may hold the stream up")
			}
			addOneOfEach(t, s.Server, "new")
			stream.expect(toolsChanged, promptsChanged, resourcesChanged)
			s.ResourceUpdated("asking://menu") // nobody watches it
			c.exchange(c.post(plainRequest("1", "resources/subscribe", `"uri":"asking://menu"`))).expect(t, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			s.ResourceUpdated("asking://menu")
			s.ResourceUpdated("asking://rules")
			stream.expect(menuUpdated)
			c.exchange(c.post(plainRequest("2", "resources/unsubscribe", `"uri":"asking://menu"`))).expect(t, 200, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			s.ResourceUpdated("asking://menu")
			c.exchange(c.end()).expect(t, 204, "")
			stream.ended()
		})
	}
	streams(t, "LHT-18 LHT-20 what happens before somebody listens waits, and joins", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		for i := range 3 {
			addOneOfEach(t, s.Server, fmt.Sprint("new", i))
		}
		stream := s.n.events(t, c.get())
		stream.primed()
		stream.expect(toolsChanged, promptsChanged, resourcesChanged)
		synctest.Wait()
		c.exchange(c.end())
		stream.ended()
	})
	streams(t, "LIF-06 nothing comes before initialized", nil, func(t *testing.T, s *streamed) {
		c := beginHTTPSession(t, s.h, "2025-11-25", "")
		stream := s.n.events(t, c.get())
		stream.primed()
		addOneOfEach(t, s.Server, "early")
		synctest.Wait()
		c.exchange(c.post(initializedNotice)).expect(t, 202, "")
		addOneOfEach(t, s.Server, "late")
		stream.expect(toolsChanged, promptsChanged, resourcesChanged)
		c.exchange(c.end())
		stream.ended()
	})
	streams(t, "LHT-18 of two GETs the later gets each message, once", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		first := s.n.events(t, c.get())
		first.primed()
		second := s.n.events(t, c.get())
		second.primed()
		first.ended()
		addOneOfEach(t, s.Server, "new")
		second.expect(toolsChanged, promptsChanged, resourcesChanged)
		c.exchange(c.end())
		second.ended()
	})
	streams(t, "LHT-18 LHT-19 calls have their own streams, which GET sees nothing of", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		own := s.n.events(t, c.get())
		own.primed()
		call := s.n.events(t, c.post(legacyCall("1", "reenter", "{}")))
		call.primed()
		call.expect(askedName("1", "Name?"))
		addOneOfEach(t, s.Server, "new")
		own.expect(toolsChanged, promptsChanged, resourcesChanged)
		c.exchange(c.post(answered("1", namedAnswer("Ada")))).expect(t, 202, "")
		call.expect(legacyResult("1", "7Ada"))
		call.ended()
		c.exchange(c.end())
		own.ended()
	})
	streams(t, "BRG-04 one change, one notice for each session and each listener", nil, func(t *testing.T, s *streamed) {
		listener := s.n.stream(t, modernPost(listenRequest("7", everything)))
		listener.expect("comment", acknowledged("7", everything))
		var all []*events
		for _, version := range earlier {
			c := s.open(version, "")
			stream := s.n.events(t, c.get())
			if version == "2025-11-25" {
				stream.primed()
			}
			all = append(all, stream)
		}
		pipe := serveLines(t, s.Server)
		pipe.openLegacy("2024-11-05")
		for range 2 {
			synctest.Wait()
			addOneOfEach(t, s.Server, fmt.Sprint("new", time.Now().UnixNano()))
			time.Sleep(time.Second)
			listener.expect(changed("7", "tools"), changed("7", "prompts"), changed("7", "resources"))
			for _, stream := range all {
				stream.expect(toolsChanged, promptsChanged, resourcesChanged)
			}
			pipe.expect(toolsChanged, promptsChanged, resourcesChanged)
		}
		pipe.quiet()
	})
	streams(t, "C86 a silent stream gets comments", &mcp.HTTPOptions{KeepAlive: 2 * time.Second}, func(t *testing.T, s *streamed) {
		c := s.open("2025-06-18", "")
		stream := s.n.events(t, c.get())
		start := time.Now()
		for range 5 {
			if ev, ok := stream.block(); !ok || ev.comment == "" {
				t.Fatalf("got %+v", ev)
			}
		}
		if took := time.Since(start); took < 6*time.Second || took > 12*time.Second {
			t.Errorf("five comments in %v", took)
		}
	})
}

// TestHTTPResume is about clients that lose a stream and come back for the rest.
func TestHTTPResume(t *testing.T) {
	t.Parallel()
	for _, version := range earlier {
		streams(t, "LHT-20 LHT-22 M15 the rest of a call, once, and nothing of another: "+version, nil, func(t *testing.T, s *streamed) {
			c := s.open(version, "")
			one, two := s.n.events(t, c.post(progressCall("1"))), s.n.events(t, c.post(progressCall("2")))
			if version == "2025-11-25" {
				one.primed()
				two.primed()
			}
			id := one.expect(progressNotice("1", 1, 2))
			other := two.expect(progressNotice("2", 1, 2))
			if id == "" || id == other {
				t.Fatalf("LHT-20: ids %q and %q", id, other)
			}
			_ = one.resp.Body.Close()
			time.Sleep(10 * time.Second)
			close(s.quit)
			two.expect(progressNotice("2", 2, 2), legacyResult("2", "stepped"))
			two.ended()
			rest := s.n.events(t, c.get("Last-Event-ID: "+id))
			last := rest.expect(progressNotice("1", 2, 2), legacyResult("1", "stepped"))
			rest.ended()
			again := s.n.events(t, c.get("Last-Event-ID: "+id))
			again.expect(progressNotice("1", 2, 2), legacyResult("1", "stepped"))
			again.ended()
			s.n.events(t, c.get("Last-Event-ID: "+last)).ended()
		})
	}
	streams(t, "LHT-17 LHT-22 M15 while the call is running", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		call := s.n.events(t, c.post(progressCall("1")))
		first := call.primed()
		call.expect(progressNotice("1", 1, 2))
		_ = call.resp.Body.Close()
		synctest.Wait()
		rest := s.n.events(t, c.get("Last-Event-ID: "+first))
		rest.expect(progressNotice("1", 1, 2))
		taken := s.n.events(t, c.get("Last-Event-ID: "+first)) // from the one before
		taken.expect(progressNotice("1", 1, 2))
		rest.ended()
		close(s.quit)
		taken.expect(progressNotice("1", 2, 2), legacyResult("1", "stepped"))
		taken.ended()
		if len(s.ends) > 0 {
			t.Errorf("LHT-17: the call was told %v", <-s.ends)
		}
	})
	streams(t, "LHT-22 M15 the server's own stream", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		stream := s.n.events(t, c.get())
		id := stream.primed()
		addOneOfEach(t, s.Server, "new")
		stream.expect(toolsChanged)
		_ = stream.resp.Body.Close()
		synctest.Wait()
		rest := s.n.events(t, c.get("Last-Event-ID: "+id))
		rest.expect(toolsChanged, promptsChanged, resourcesChanged)
		s.ResourceUpdated("asking://menu")
		c.exchange(c.end())
		rest.ended()
	})
	streams(t, "M15 C122 ids that mean nothing here", nil, func(t *testing.T, s *streamed) {
		c, other := s.open("2025-11-25", ""), s.open("2025-11-25", "")
		stream := s.n.events(t, other.get())
		foreign := stream.primed()
		c.exchange(c.get("Last-Event-ID: "+foreign)).expectError(t, 404, mcp.CodeInvalidRequest, "")
		for _, id := range []string{"x", "1", "a-b-c", "a-1-", "a--1-1", "1-1-1-1"} {
			if a := c.exchange(c.get("Last-Event-ID: " + id)); a.status != 400 {
				t.Errorf("%q: %d", id, a.status)
			}
		}
		if a := c.exchange(c.get("Last-Event-ID: 1", "+Last-Event-ID: 1")); a.status != 400 {
			t.Errorf("repeated: %d", a.status)
		}
		own := s.n.events(t, c.get("Last-Event-ID: "))
		tag, _, _ := strings.Cut(own.primed(), "-")
		if strings.Contains(c.id, tag) {
			t.Errorf("the id of an event gives a part of the session's away")
		}
		for _, place := range []string{"-99-0", "-0-99", "-99-99"} {
			lost(t, s.n.events(t, c.get("Last-Event-ID: "+tag+place)))
		}
	})
	bubble(t, "M15 no silent gap where events are not kept any more", func(t *testing.T) {
		w := newWaiter(&mcp.ServerOptions{Limits: mcp.Limits{Events: 3}})
		mcp.AddTool(w, "count", "", func(ctx context.Context, _ noArgs) (string, error) {
			for i := range 5 {
				mcp.Progress(ctx, float64(i+1), 5, "")
			}
			return "counted", nil
		})
		h := newHandler(t, w.Server, nil)
		n := servePipes(t, h)
		c := openHTTPSession(t, h, "2025-11-25", "")
		call := n.events(t, c.post(plainRequest("1", "tools/call", callParams("count", "{}"), `"_meta":{"progressToken":1}`)))
		ids := []string{call.primed()}
		for i := range 5 {
			ids = append(ids, call.expect(progressNotice("1", i+1, 5)))
		}
		call.expect(legacyResult("1", "counted"))
		call.ended()
		for i, id := range ids {
			rest := n.events(t, c.get("Last-Event-ID: "+id))
			if i < 3 { // the fourth and fifth report and the answer are kept
				lost(t, rest)
				continue
			}
			for j := i + 1; j <= 5; j++ {
				rest.expect(progressNotice("1", j, 5))
			}
			rest.expect(legacyResult("1", "counted"))
			rest.ended()
		}
	})
	bubble(t, "M15 what is kept is bounded in bytes, too", func(t *testing.T) {
		w := newWaiter(nil)
		mcp.AddTool(w, "large", "", func(ctx context.Context, a countArgs) (string, error) {
			mcp.Progress(ctx, 1, 1, "")
			return strings.Repeat("x", a.Count), nil
		})
		h := newHandler(t, w.Server, nil)
		n := servePipes(t, h)
		for _, tt := range []struct{ size, times, kept int }{{3 << 20, 1, 1}, {3 << 20, 3, 1}, {5 << 20, 1, 0}} {
			c := openHTTPSession(t, h, "2025-11-25", "")
			var ids []string
			for i := range tt.times {
				call := n.events(t, c.post(plainRequest(fmt.Sprint(i), "tools/call", callParams("large", fmt.Sprintf(`{"count":%d}`, tt.size)), `"_meta":{"progressToken":1}`)))
				ids = append(ids, call.primed())
				call.expect(progressNotice("1", 1, 1))
				if ev, ok := call.next(); !ok || len(ev.data) < tt.size {
					t.Fatalf("%d bytes", len(ev.data))
				}
			}
			for i, id := range ids {
				rest := n.events(t, c.get("Last-Event-ID: "+id))
				if i < tt.times-tt.kept {
					lost(t, rest)
					continue
				}
				rest.expect(progressNotice("1", 1, 1))
				if ev, ok := rest.next(); !ok || len(ev.data) < tt.size {
					t.Errorf("%d bytes", len(ev.data))
				}
			}
		}
	})
}

// lost holds a stream to say that it cannot go on, and to end.
func lost(t testing.TB, e *events) {
	t.Helper()
	for range 3 { // a comment opens the stream
		ev, ok := e.block()
		switch {
		case !ok:
			t.Errorf("the stream ends without a word")
			return
		case ev.comment == "":
			t.Errorf("got %+v", ev)
			return
		case strings.Contains(ev.comment, "error"):
			e.ended()
			return
		}
	}
	t.Errorf("the stream goes on")
}

// TestHTTPPolling is about streams that the server closes early.
func TestHTTPPolling(t *testing.T) {
	t.Parallel()
	polling := &mcp.HTTPOptions{MaxStream: 10 * time.Second}
	hungUp := func(t *testing.T, e *events) {
		t.Helper()
		if ev, ok := e.next(); !ok || ev.retry == "" || ev.data != "" {
			t.Fatalf("got %+v, want a time to retry", ev)
		}
		e.ended()
	}
	streams(t, "LHT-23 M15 a call goes on without its stream", polling, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		start := time.Now()
		call := s.n.events(t, c.post(progressCall("1")))
		id := call.primed()
		id2 := call.expect(progressNotice("1", 1, 2))
		hungUp(t, call)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("closed after %v", took)
		}
		again := s.n.events(t, c.get("Last-Event-ID: "+id))
		again.expect(progressNotice("1", 1, 2))
		hungUp(t, again)
		close(s.quit)
		rest := s.n.events(t, c.get("Last-Event-ID: "+id2))
		rest.expect(progressNotice("1", 2, 2), legacyResult("1", "stepped"))
		rest.ended()
	})
	streams(t, "LHT-23 a call that says nothing becomes a stream to be closed", polling, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		call := s.n.events(t, c.post(legacyCall("1", "steps", "{}")))
		id := call.primed()
		hungUp(t, call)
		close(s.quit)
		synctest.Wait()
		rest := s.n.events(t, c.get("Last-Event-ID: "+id))
		rest.expect(legacyResult("1", "stepped"))
		rest.ended()
	})
	streams(t, "LHT-23 short answers stay as they are", polling, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		c.exchange(c.post(legacyCall("1", "log", "{}"))).expect(t, 200, legacyResult("1", "logged"))
	})
	streams(t, "LHT-23 the server's own stream", polling, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		stream := s.n.events(t, c.get())
		id := stream.primed()
		hungUp(t, stream)
		addOneOfEach(t, s.Server, "new")
		rest := s.n.events(t, c.get("Last-Event-ID: "+id))
		rest.expect(toolsChanged, promptsChanged, resourcesChanged)
		hungUp(t, rest)
	})
	for _, version := range earlier[1:] {
		streams(t, "LHT-23 not for clients that know nothing of it: "+version, polling, func(t *testing.T, s *streamed) {
			c := s.open(version, "")
			call, stream := s.n.events(t, c.post(progressCall("1"))), s.n.events(t, c.get())
			time.Sleep(25 * time.Second) // less than a write may take
			close(s.quit)
			call.expect(progressNotice("1", 1, 2), progressNotice("1", 2, 2), legacyResult("1", "stepped"))
			call.ended()
			addOneOfEach(t, s.Server, "new")
			stream.expect(toolsChanged, promptsChanged, resourcesChanged)
		})
	}
	streams(t, "P17 shutdown waits for a call without a stream", polling, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		call := s.n.events(t, c.post(progressCall("1")))
		call.primed()
		call.expect(progressNotice("1", 1, 2))
		hungUp(t, call)
		shutDown(t, s.Server)
		if cause := <-s.ends; !errors.Is(cause, mcp.ErrShutdown) {
			t.Errorf("the context ended with %v", cause)
		}
	})
	streams(t, "C109 a call without a stream that ends its goroutine", polling, func(t *testing.T, s *streamed) {
		w := newWaiter(nil)
		mcp.AddTool(w, "exit", "", func(context.Context, noArgs) (string, error) {
			<-w.quit
			runtime.Goexit()
			return "", nil
		})
		h := newHandler(t, w.Server, polling)
		n := servePipes(t, h)
		c := openHTTPSession(t, h, "2025-11-25", "")
		call := n.events(t, c.post(legacyCall("1", "exit", "{}")))
		id := call.primed()
		hungUp(t, call)
		close(w.quit)
		synctest.Wait()
		rest := n.events(t, c.get("Last-Event-ID: "+id))
		if ev, ok := rest.next(); !ok || parseWire(t, ev.data).Error == nil {
			t.Errorf("got %+v", ev)
		}
		rest.ended()
	})
}
