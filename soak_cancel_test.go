//go:build soak

package mcp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

const soakCalls = 1000

// newCancellable returns a server whose tools are at different points of their lives when they are cancelled.
func newCancellable() *mcp.Server {
	s := mcp.NewServer("fixture", "1.0.0", &mcp.ServerOptions{Logging: true, Limits: mcp.Limits{InFlight: soakCalls, Queue: soakCalls}})
	mcp.AddTool(s, "work", "", func(ctx context.Context, a countArgs) (string, error) {
		for i := range a.Count {
			mcp.Progress(ctx, float64(i+1), 0, "")
			mcp.Logger(ctx).Info("at work", "i", i)
			runtime.Gosched()
		}
		if a.Count%3 == 0 {
			<-ctx.Done()
		}
		if _, err := mcp.Step(ctx, "step", func(context.Context) (string, error) { return strings.Repeat("x", a.Count), nil }); err != nil {
			return "", err
		}
		if a.Count%3 == 1 {
			_, err := mcp.Confirm(ctx, "sure", "Sure?")
			return "", err
		}
		return "worked", context.Cause(ctx)
	})
	return s
}

// soakLines has soakCalls calls in flight on a connection and cancels each at some point.
func soakLines(t *testing.T, c *lineClient, random *rand.Rand) {
	for id := range soakCalls {
		c.send(modernCall(fmt.Sprint(id), "work", fmt.Sprintf(`{"count":%d}`, random.IntN(9)), fmt.Sprintf(`"progressToken":%d`, id), wantLevel("info")))
		if random.IntN(2) == 0 {
			c.send(cancelNotice(fmt.Sprint(random.IntN(id+1)), "soak"))
		}
	}
	for id := range soakCalls {
		c.send(cancelNotice(fmt.Sprint(id), "soak"))
	}
	c.send(plainRequest(`"end"`, "ping"))
	for m := parseWire(t, c.next()); string(m.ID) != `"end"`; m = parseWire(t, c.next()) {
	}
	if err := c.hangUp(); err != nil {
		t.Error(err)
	}
}

// soakHTTP has soakCalls calls in flight, and hangs up on each at some point.
func soakHTTP(h http.Handler, random *rand.Rand) {
	var calls sync.WaitGroup
	var hangUps []context.CancelFunc
	for id := range soakCalls {
		r := modernPost(modernCall(fmt.Sprint(id), "work", fmt.Sprintf(`{"count":%d}`, random.IntN(9)), fmt.Sprintf(`"progressToken":%d`, id), wantLevel("info")))
		ctx, hangUp := context.WithCancel(r.Context())
		hangUps = append(hangUps, hangUp)
		calls.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx)) })
		if random.IntN(2) == 0 {
			hangUps[random.IntN(id+1)]()
		}
	}
	for _, hangUp := range hangUps {
		hangUp()
	}
	calls.Wait()
}

// heapInUse is what is reachable, once the goroutines are back to those that were there before.
func heapInUse(t *testing.T, before map[string]string) uint64 {
	t.Helper()
	if left := leftGoroutines(before, 10*time.Second); len(left) > 0 {
		t.Fatalf("%d goroutines are left, the first of them:\n%s", len(left), left[0])
	}
	return live()
}

// growRuntime has the runtime make what it never frees: the descriptors of as many goroutines as will run at once.
func growRuntime() {
	var all sync.WaitGroup
	gate := make(chan struct{})
	for range 8 * soakCalls {
		all.Go(func() { <-gate })
	}
	close(gate)
	all.Wait()
}

// TestSoakCancel cancels a thousand calls at once, many times over.
func TestSoakCancel(t *testing.T) {
	for _, name := range []string{"on a stream of lines", "over HTTP"} {
		t.Run("CAN-07 C115 MRTR-08 A67 "+name+" goroutines are back, and the heap within a tenth", func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 4))
			s := newCancellable()
			var again func()
			if name == "over HTTP" {
				h := newHandler(t, s, modernOnly)
				again = func() { soakHTTP(h, random) }
			} else {
				again = func() {
					t.Run("connection", func(t *testing.T) { soakLines(t, serveLines(t, s), random) })
				}
			}
			before := goroutines()
			growRuntime()
			for range 2 { // whatever is made once, is made now
				again()
			}
			base := heapInUse(t, before)
			for range 4 {
				again()
			}
			if now := heapInUse(t, before); now > base+base/10 {
				t.Errorf("the heap went from %d to %d bytes", base, now)
			}
		})
	}
}
