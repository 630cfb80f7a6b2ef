package mcp_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

// TestSessionBatchOrder shows that what is not answered takes effect in its place of a batch.
func TestSessionBatchOrder(t *testing.T) {
	t.Parallel()
	const sampled = `{"role":"assistant","content":{"type":"text","text":"it"},"model":"m"}`
	streams(t, "LHT-26 LIF-06 requests after initialized in its batch", nil, func(t *testing.T, s *streamed) {
		for range 50 {
			c := beginHTTPSession(t, s.h, "2025-03-26", "")
			c.exchange(c.post(batchOf(plainRequest("1", "ping"), initializedNotice, legacyCall("2", "log", "{}")))).
				expect(t, 200, batchOf(`{"jsonrpc":"2.0","id":1,"result":{}}`, legacyResult("2", "logged")))
		}
	})
	streams(t, "LHT-26 LFE-05 a cancellation after its request in a batch", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-03-26", "")
		for range 20 {
			c.exchange(c.post(batchOf(legacyCall("7", "steps", "{}"), legacyCall("8", "log", "{}"), cancelNotice("7", "x")))).
				expect(t, 200, batchOf(legacyResult("8", "logged")))
		}
		for len(s.ends) > 0 {
			if cause := <-s.ends; !errors.Is(cause, mcp.ErrCancelled) {
				t.Errorf("a call was told %v", cause)
			}
		}
	})
	streams(t, "LHT-26 an id twice in a batch", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-03-26", "")
		got := make(chan httpAnswer, 1)
		go func() {
			got <- c.exchange(c.post(batchOf(legacyCall("7", "steps", "{}"), legacyCall("7", "log", "{}"))))
		}()
		synctest.Wait()
		close(s.quit)
		a := <-got
		if !strings.HasPrefix(a.body, "["+legacyResult("7", "stepped")+",") || !strings.Contains(a.body, "-32600") {
			t.Error(a.body)
		}
		if got := c.call("log", "{}"); got != "logged" {
			t.Error(got)
		}
	})
	streams(t, "LHT-26 a response in an array", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-03-26", allCapabilities)
		call := s.n.events(t, c.post(legacyCall("1", "sample", "{}")))
		if ev, ok := call.next(); !ok || !strings.Contains(ev.data, `"id":1,"method":"sampling/createMessage"`) {
			t.Fatalf("got %+v", ev)
		}
		c.exchange(c.post(batchOf(initializedNotice, answered("1", sampled)))).expect(t, 202, "")
		call.expect(legacyResult("1", "m: it"))
		call.ended()
	})
	bubble(t, "LHT-26 a response in an array, on a pipe", func(t *testing.T) {
		c := openPipeSession(t, newWaiter(nil).Server, "2025-03-26", allCapabilities)
		c.send(legacyCall("1", "sample", "{}"))
		if line := c.next(); !strings.Contains(line, `"id":1,"method":"sampling/createMessage"`) {
			t.Fatal(line)
		}
		c.send(batchOf(initializedNotice, answered("1", sampled)))
		c.expect(legacyResult("1", "m: it"))
	})
}

// TestHTTPSessionVersions is about sessions of a server that does not serve what requests without a version are taken for.
func TestHTTPSessionVersions(t *testing.T) {
	t.Parallel()
	t.Run("LHT-13 the session's version holds where 2025-03-26 is off", func(t *testing.T) {
		w := newWaiter(&mcp.ServerOptions{Versions: []string{"2026-07-28", "2025-11-25"}})
		s := openHTTPSession(t, newHandler(t, w.Server, nil), "2025-11-25", "")
		s.exchange(s.post(plainRequest("2", "ping"), "-MCP-Protocol-Version")).expect(t, 200, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		s.exchange(s.post(legacyCall("3", "log", "{}"), "-MCP-Protocol-Version")).expect(t, 200, legacyResult("3", "logged"))
	})
}
