package mcp_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// TestHTTPSessionUse is about what counts as the use of a session.
func TestHTTPSessionUse(t *testing.T) {
	t.Parallel()
	minute := &mcp.HTTPOptions{SessionTTL: time.Minute, KeepAlive: time.Hour}
	count := func(t *testing.T, s *streamed, want int) {
		t.Helper()
		if n := mcp.SessionCount(s.h); n != want {
			t.Errorf("%d sessions, want %d", n, want)
		}
	}
	streams(t, "M14 a short request beside a long one", minute, func(t *testing.T, s *streamed) {
		c := s.open("2025-06-18", "")
		call := s.n.events(t, c.post(progressCall("7")))
		call.expect(progressNotice("7", 1, 2))
		if got := c.call("log", "{}"); got != "logged" {
			t.Error(got)
		}
		time.Sleep(10 * time.Minute)
		count(t, s, 1)
		close(s.quit)
		call.expect(progressNotice("7", 2, 2), legacyResult("7", "stepped"))
		call.ended()
		time.Sleep(2 * time.Minute)
		count(t, s, 0)
	})
	streams(t, "M14 a ping is over when it is answered", minute, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", "")
		c.exchange(c.post(plainRequest("1", "ping"))).expect(t, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		time.Sleep(2 * time.Minute)
		count(t, s, 0)
	})
	streams(t, "M14 a request that is refused for its id is over", minute, func(t *testing.T, s *streamed) {
		c := s.open("2025-06-18", "")
		call := s.n.events(t, c.post(progressCall("7")))
		call.expect(progressNotice("7", 1, 2))
		c.exchange(c.post(legacyCall("7", "log", "{}"))).expectError(t, 200, mcp.CodeInvalidRequest, "7")
		close(s.quit)
		call.expect(progressNotice("7", 2, 2), legacyResult("7", "stepped"))
		call.ended()
		time.Sleep(2 * time.Minute)
		count(t, s, 0)
	})
	streams(t, "M14 a batch is over when it is answered", minute, func(t *testing.T, s *streamed) {
		c := s.open("2025-03-26", "")
		c.exchange(c.post(batchOf(plainRequest("1", "ping")))).expect(t, 200, `[{"jsonrpc":"2.0","id":1,"result":{}}]`)
		c.exchange(c.post("[]")).expectError(t, 400, mcp.CodeInvalidRequest, "")
		time.Sleep(2 * time.Minute)
		count(t, s, 0)
	})
	streams(t, "LHT-07 ended by two at once, or after Shutdown", nil, func(t *testing.T, s *streamed) {
		c, other := s.open("2025-11-25", ""), s.open("2025-11-25", "")
		first, second, late := mcp.HoldSession(s.h, c.id), mcp.HoldSession(s.h, c.id), mcp.HoldSession(s.h, other.id)
		first()
		second()
		count(t, s, 1)
		shutDown(t, s.Server)
		late()
		count(t, s, 0)
	})
}

// TestSessionLeaks shows that nothing stays of what a session did, or of itself.
func TestSessionLeaks(t *testing.T) {
	t.Parallel()
	told := func(t *testing.T, s *mcp.Server, want int) {
		t.Helper()
		synctest.Wait()
		if n := mcp.SubscriberCount(s); n != want {
			t.Errorf("%d sessions are told of changes, want %d", n, want)
		}
	}
	streams(t, "C115 M14 a session that ends while its initialized comes in is told nothing", nil, func(t *testing.T, s *streamed) {
		c := beginHTTPSession(t, s.h, "2025-11-25", "")
		begin := mcp.HoldInitialized(s.h, c.id)
		c.exchange(c.end()).expect(t, 204, "")
		begin()
		told(t, s.Server, 0)
	})
	for name, end := range map[string]func(*testing.T, *streamed, *httpSession){
		"by DELETE": func(t *testing.T, _ *streamed, c *httpSession) { c.exchange(c.end()).expect(t, 204, "") },
		"by time":   func(*testing.T, *streamed, *httpSession) { time.Sleep(time.Hour) },
		"by Shutdown": func(t *testing.T, s *streamed, _ *httpSession) {
			shutDown(t, s.Server)
		},
	} {
		streams(t, "C115 M14 an ended session is told nothing: "+name, nil, func(t *testing.T, s *streamed) {
			c := s.open("2025-11-25", "")
			told(t, s.Server, 1)
			end(t, s, c)
			told(t, s.Server, 0)
		})
	}
	bubble(t, "C115 M14 a session that gave way is told nothing", func(t *testing.T) {
		w := newWaiter(&mcp.ServerOptions{Limits: mcp.Limits{Sessions: 1}})
		h := newHandler(t, w.Server, nil)
		for range 3 {
			openHTTPSession(t, h, "2025-11-25", "")
			told(t, w.Server, 1)
		}
	})
	bubble(t, "C115 a connection that ended is told nothing", func(t *testing.T) {
		w := newWaiter(nil)
		c := openPipeSession(t, w.Server, "2025-11-25", "")
		told(t, w.Server, 1)
		if err := c.hangUp(); err != nil {
			t.Error(err)
		}
		told(t, w.Server, 0)
	})
	streams(t, "C115 M14 calls, answered and cancelled, leave nothing in their session", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		for _, id := range []string{"1", "2"} {
			call := s.n.events(t, c.post(legacyCall("1", "reenter", "{}")))
			call.primed()
			call.expect(askedName(id, "Name?"))
			load(t, s, 1, 1, 1)
			if id == "1" {
				c.exchange(c.post(answered("1", namedAnswer("Ada")))).expect(t, 202, "")
				call.expect(legacyResult("1", "7Ada"))
			} else {
				c.exchange(c.post(cancelNotice("1", "x"))).expect(t, 202, "")
				call.next() // the question is withdrawn
			}
			call.ended()
			load(t, s, 0, 0, 0)
		}
	})
}

// load holds the sessions of s to so many requests, streams and questions.
func load(t testing.TB, s *streamed, requests, streams, questions int) {
	t.Helper()
	synctest.Wait()
	if r, st, q := mcp.SessionLoad(s.h); r != requests || st != streams || q != questions {
		t.Errorf("%d requests, %d streams and %d questions, want %d, %d and %d", r, st, q, requests, streams, questions)
	}
}

// TestHTTPResumeGap is about events of streams that go on, of which too many were missed.
func TestHTTPResumeGap(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *streamed {
		w := newWaiter(&mcp.ServerOptions{Limits: mcp.Limits{Events: 3}})
		mcp.AddTool(w, "count", "", func(ctx context.Context, _ noArgs) (string, error) {
			for i := range 5 {
				mcp.Progress(ctx, float64(i+1), 5, "")
			}
			<-w.quit
			return "counted", nil
		})
		h := newHandler(t, w.Server, nil)
		return &streamed{w, t, h, servePipes(t, h)}
	}
	count := func(t *testing.T, s *streamed, c *httpSession) (call *events, ids []string) {
		call = s.n.events(t, c.post(plainRequest("1", "tools/call", callParams("count", "{}"), `"_meta":{"progressToken":1}`)))
		ids = []string{call.primed()}
		for i := range 5 {
			ids = append(ids, call.expect(progressNotice("1", i+1, 5)))
		}
		return call, ids
	}
	bubble(t, "M15 no silent gap in a call that is running", func(t *testing.T) {
		s := open(t)
		c := openHTTPSession(t, s.h, "2025-11-25", "")
		_, ids := count(t, s, c)
		var rest *events
		for i, id := range ids {
			rest = s.n.events(t, c.get("Last-Event-ID: "+id))
			if i < 2 { // the last three reports are kept
				lost(t, rest)
				continue
			}
			for j := i + 1; j <= 5; j++ {
				rest.expect(progressNotice("1", j, 5))
			}
		}
		close(s.quit)
		rest.expect(legacyResult("1", "counted"))
		rest.ended()
	})
	bubble(t, "M15 no silent gap in the server's own stream", func(t *testing.T) {
		s := open(t)
		c := openHTTPSession(t, s.h, "2025-11-25", "")
		stream := s.n.events(t, c.get())
		ids := []string{stream.primed()}
		for _, name := range []string{"new1", "new2"} {
			addOneOfEach(t, s.Server, name)
			for _, notice := range []string{toolsChanged, promptsChanged, resourcesChanged} {
				ids = append(ids, stream.expect(notice))
			}
		}
		for _, id := range ids[:3] {
			lost(t, s.n.events(t, c.get("Last-Event-ID: "+id)))
		}
		kept := s.n.events(t, c.get("Last-Event-ID: "+ids[3]))
		kept.expect(toolsChanged, promptsChanged, resourcesChanged)
		call, _ := count(t, s, c) // of the stream nothing is kept any more
		for _, id := range ids[:6] {
			lost(t, s.n.events(t, c.get("Last-Event-ID: "+id)))
		}
		close(s.quit)
		call.expect(legacyResult("1", "counted"))
		rest := s.n.events(t, c.get("Last-Event-ID: "+ids[6]))
		addOneOfEach(t, s.Server, "new3")
		rest.expect(toolsChanged, promptsChanged, resourcesChanged)
	})
}
