package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

// watchRequest begins to watch a resource, unwatchRequest ends that.
func watchRequest(id, uri string) string {
	return plainRequest(id, "resources/subscribe", fmt.Sprintf(`"uri":%q`, uri))
}

func unwatchRequest(id, uri string) string {
	return plainRequest(id, "resources/unsubscribe", fmt.Sprintf(`"uri":%q`, uri))
}

// updatedURI tells a session of a change.
func updatedURI(uri string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri)
}

// TestSessionWatch is about resources that clients of earlier revisions watch.
func TestSessionWatch(t *testing.T) {
	t.Parallel()
	for _, version := range append([]string{"2024-11-05"}, earlier...) {
		bubble(t, "LFE-01 LFE-02 M24 what requires scopes is not watched without: "+version, func(t *testing.T) {
			watchScoped(t, version, "admin", `"code":-32002`, nil)
			watchScoped(t, version, "admin files:read", `"result":{}`, []string{updatedURI("r://x")})
		})
		bubble(t, "LFE-01 LFE-02 each change is told of, on a pipe: "+version, func(t *testing.T) {
			w := newWaiter(nil)
			c := openPipeSession(t, w.Server, version, "")
			c.send(watchRequest("1", "asking://menu"))
			c.expect(answered("1", "{}"))
			for range 3 {
				w.ResourceUpdated("asking://menu")
				c.expect(menuUpdated)
			}
			c.send(unwatchRequest("2", "asking://menu"))
			c.expect(answered("2", "{}"))
			w.ResourceUpdated("asking://menu")
			c.quiet()
		})
	}
	bubble(t, "LFE-02 C110 no more than 10,000 in a session", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := openPipeSession(t, d.Server, "2025-11-25", "")
		for i := range 10_000 {
			c.send(watchRequest("1", fmt.Sprint("t://", i)))
			c.expect(answered("1", "{}"))
		}
		c.send(watchRequest("2", "t://10000"))
		if text := c.expectError("2", mcp.CodeInternalError); !strings.Contains(text, "too many watched resources (10000)") {
			t.Error(text)
		}
		c.send(watchRequest("3", "t://7"))
		c.expect(answered("3", "{}"))
		d.ResourceUpdated("t://10000")
		d.ResourceUpdated("t://7")
		c.expect(updatedURI("t://7"))
		c.send(unwatchRequest("4", "t://7"))
		c.expect(answered("4", "{}"))
		c.send(watchRequest("5", "t://10000"))
		c.expect(answered("5", "{}"))
	})
}

// watchScoped watches what requires scopes in a session of one who has some, and holds the server to its answer and to
// what it tells of a change.
func watchScoped(t *testing.T, version, scopes, answer string, told []string) {
	t.Helper()
	s := scoped()
	c := newScriptConn()
	ctx, stop := context.WithCancel(mcp.WithPrincipal(context.Background(), &mcp.Principal{Subject: "a", Scopes: strings.Fields(scopes)}))
	served := c.serve(ctx, s)
	for _, line := range []string{initializeWith(version, ""), initializedNotice, watchRequest("1", "r://x")} {
		c.in <- step{msg: line}
		synctest.Wait()
	}
	<-c.out // of initialize
	if got := receive(t, c.out); !strings.Contains(got, answer) {
		t.Errorf("with %s: %s", scopes, got)
	}
	s.ResourceUpdated("r://x")
	synctest.Wait()
	if len(c.out) != len(told) {
		t.Errorf("with %s: %d messages tell of the change", scopes, len(c.out))
	}
	for _, want := range told {
		if got := receive(t, c.out); got != want {
			t.Errorf("with %s: %s", scopes, got)
		}
	}
	stop()
	<-served
}

// TestSessionWatchJoins is about changes that nobody has been told of yet.
func TestSessionWatchJoins(t *testing.T) {
	t.Parallel()
	menu := "asking://menu"
	watches := func(t *testing.T, s *streamed) *httpSession {
		c := s.open("2025-11-25", "")
		c.exchange(c.post(watchRequest("1", menu))).expect(t, 200, answered("1", "{}"))
		return c
	}
	listens := func(t *testing.T, s *streamed, c *httpSession) *events {
		stream := s.n.events(t, c.get())
		stream.primed()
		synctest.Wait() // what was due has been sent
		return stream
	}
	end := func(t *testing.T, c *httpSession, stream *events) {
		synctest.Wait()
		c.exchange(c.end()).expect(t, 204, "")
		stream.ended()
	}
	streams(t, "LFE-01 LFE-02 several of one resource join, and later ones are told of too", nil, func(t *testing.T, s *streamed) {
		c := watches(t, s)
		for range 3 {
			s.ResourceUpdated(menu)
		}
		stream := listens(t, s, c)
		stream.expect(menuUpdated)
		for range 2 {
			s.ResourceUpdated(menu)
			stream.expect(menuUpdated)
		}
		end(t, c, stream)
	})
	streams(t, "LFE-02 watching twice changes nothing", nil, func(t *testing.T, s *streamed) {
		c := watches(t, s)
		s.ResourceUpdated(menu)
		c.exchange(c.post(watchRequest("2", menu))).expect(t, 200, answered("2", "{}"))
		s.ResourceUpdated(menu)
		stream := listens(t, s, c)
		stream.expect(menuUpdated)
		end(t, c, stream)
	})
	streams(t, "LFE-02 what is not watched any more is not told of, though it was due", nil, func(t *testing.T, s *streamed) {
		c := watches(t, s)
		s.ResourceUpdated(menu)
		c.exchange(c.post(unwatchRequest("2", menu))).expect(t, 200, answered("2", "{}"))
		end(t, c, listens(t, s, c))
	})
	bubble(t, "LFE-01 C110 what waits for a client that reads nothing is bounded", func(t *testing.T) {
		const rounds, bound = 100, 1 << 20
		s := mcp.NewServer("s", "1", nil)
		uri := "r://" + strings.Repeat("x", 1<<16)
		mcp.AddText(s, uri, "x", "", "").Watchable()
		c := newScriptConn()
		gate := make(chan struct{})
		c.writeErr = func() error { <-gate; return nil }
		ctx, stop := context.WithCancel(context.Background())
		served := c.serve(ctx, s)
		for _, line := range []string{initializeWith("2025-11-25", ""), initializedNotice, watchRequest("1", uri)} {
			c.in <- step{msg: line}
			synctest.Wait()
		}
		for range rounds {
			s.ResourceUpdated(uri)
			synctest.Wait()
		}
		close(gate)
		synctest.Wait()
		told := len(c.out) - 2 // the answers to initialize and to watching
		if most := bound/len(uri) + 2; told < 1 || told > most {
			t.Errorf("told %d times of %d changes, want at most %d", told, rounds, most)
		}
		s.ResourceUpdated(uri)
		synctest.Wait()
		if n := len(c.out) - 2; n != told+1 {
			t.Errorf("told %d times, after %d", n, told)
		}
		stop()
		<-served
	})
}
