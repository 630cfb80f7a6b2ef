package mcp_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

// TestBridgePlacesReturned shows that the places of calls which waited for their client are counted right in the end.
func TestBridgePlacesReturned(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, limits mcp.Limits) (*waiter, *lineClient) {
		w := newWaiter(&mcp.ServerOptions{Limits: limits})
		return w, openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
	}
	bubble(t, "A48 others run meanwhile, after many questions still", func(t *testing.T) {
		_, c := open(t, mcp.Limits{InFlight: 1, Queue: 2})
		for i := range 6 {
			c.send(legacyCall("1", "reenter", "{}"))
			c.expect(askedName(fmt.Sprint(i+1), "Name?"))
			synctest.Wait()
			c.send(legacyCall("2", "log", "{}"))
			c.expect(legacyResult("2", "logged"))
			c.send(answered(fmt.Sprint(i+1), namedAnswer("A")))
			c.expect(legacyResult("1", "7A"))
		}
	})
	// placeless is how the call 1 ends that asks, while the call 2 has the only place.
	placeless := func(t *testing.T, end func(*lineClient)) {
		w, c := open(t, mcp.Limits{InFlight: 1, Queue: 1})
		c.send(legacyCall("1", "reenter", "{}"))
		c.expect(askedName("1", "Name?"))
		synctest.Wait()
		c.send(legacyCall("2", "steps", "{}"))
		synctest.Wait()
		end(c)
		c.quiet()
		c.send(legacyCall("3", "log", "{}")) // it may wait, as nobody else does
		c.quiet()                            // and it does, as the one place is taken
		for _, id := range []string{"4", "5"} {
			c.send(listenRequest(id, everything))
			c.expect(acknowledged(id, everything))
		}
		c.send(listenRequest("6", everything)) // as many as run and wait
		c.expectError("6", mcp.CodeInternalError)
		close(w.quit)
		c.expect(legacyResult("2", "stepped"), legacyResult("3", "logged"))
	}
	bubble(t, "A48 CAN-04 one that was cancelled while it waited for a place has none", func(t *testing.T) {
		placeless(t, func(c *lineClient) {
			c.send(answered("1", namedAnswer("A")))
			synctest.Wait()
			c.send(cancelNotice("1", "x"))
		})
	})
	bubble(t, "A48 CAN-04 one that was cancelled while it asked has none", func(t *testing.T) {
		placeless(t, func(c *lineClient) {
			c.send(cancelNotice("1", "x"))
			c.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the call that asked is over"}}`)
		})
	})
}
