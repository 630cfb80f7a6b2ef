package mcp_test

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// A server that is told of what was given up can end at once, and need not be waited for.
func TestCloseTellsWhatIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]func(ctx context.Context, cancel context.CancelFunc, c *mcp.Client){
		"calls under way":              func(context.Context, context.CancelFunc, *mcp.Client) {},
		"a call cancelled just before": func(_ context.Context, cancel context.CancelFunc, _ *mcp.Client) { cancel() },
		"a call whose context is over": func(ctx context.Context, cancel context.CancelFunc, _ *mcp.Client) {
			cancel()
			<-ctx.Done()
			synctest.Wait()
		},
		"a call and a client closed twice": func(_ context.Context, _ context.CancelFunc, c *mcp.Client) { _ = c.Close() },
	} {
		bubble(t, "CAN-01 "+name, func(t *testing.T) {
			f := newFakeServer(t)
			c := f.dial(nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() {
				_, err := c.CallTool(ctx, "slow", nil)
				failed <- err
			}()
			call := f.next()
			giveUp(ctx, cancel, c)
			_ = c.Close()
			if err := <-failed; !errors.Is(err, mcp.ErrClosed) && !errors.Is(err, context.Canceled) {
				t.Errorf("the call: %v", err)
			}
			told := f.next()
			if told.Method != "notifications/cancelled" || string(told.Params.RequestID) != string(call.ID) {
				t.Errorf("the server was told %+v", told)
			}
			select {
			case again := <-f.received:
				t.Errorf("and again: %s", again)
			default:
			}
		})
	}
	bubble(t, "a server that does not read is left after a second", func(t *testing.T) {
		f := newFakeServer(t)
		f.received = make(chan string) // of which only the discovery is read
		c := f.dial(nil)
		go func() { _, _ = c.CallTool(t.Context(), "slow", nil) }()
		synctest.Wait()
		start := time.Now()
		_ = c.Close()
		if took := time.Since(start); took != time.Second {
			t.Errorf("Close took %v", took)
		}
	})
}

func TestDialWithoutTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, transport := range map[string]mcp.Transport{
		"a program": mcp.Command(exec.Command("no-such-program")),
		"HTTP":      mcp.HTTP("http://192.0.2.1/mcp", nil),
		"Custom":    mcp.Custom(func(context.Context) (mcp.Conn, error) { return nil, errors.New("was opened") }),
		"memory":    mcp.InMemory(mcp.NewServer("s", "1", nil)),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := mcp.Dial(ctx, transport, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, though there was no time to begin", err)
			}
		})
	}
}
