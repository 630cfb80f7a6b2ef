package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

func TestClientTimeouts(t *testing.T) {
	t.Parallel()
	// dial connects in a bubble, to a server that never answers.
	dial := func(t *testing.T, opts *mcp.ClientOptions) (*fakeServer, *mcp.Client) {
		f := newFakeServer(t)
		return f, f.dial(opts)
	}
	cancelled := func(t *testing.T, f *fakeServer, m clientMessage, reason string) {
		t.Helper()
		synctest.Wait()
		if n := f.next(); n.Method != "notifications/cancelled" || n.ID != nil || string(n.Params.RequestID) != string(m.ID) || n.Params.Reason != reason {
			t.Errorf("%+v", n)
		}
		if len(f.received) != 0 {
			t.Errorf("more was sent: %s", <-f.received)
		}
	}
	for _, tt := range []struct {
		name    string
		opts    mcp.ClientOptions
		options []mcp.CallOption
		want    time.Duration
	}{
		{"a minute by default", mcp.ClientOptions{}, nil, time.Minute},
		{"the client's", mcp.ClientOptions{Timeout: 3 * time.Second}, nil, 3 * time.Second},
		{"the call's", mcp.ClientOptions{Timeout: 3 * time.Second}, []mcp.CallOption{mcp.WithTimeout(5 * time.Second)}, 5 * time.Second},
		{"never over the maximum", mcp.ClientOptions{MaxTimeout: 4 * time.Second}, []mcp.CallOption{mcp.WithTimeout(time.Hour)}, 4 * time.Second},
		{"ten minutes at most by default", mcp.ClientOptions{}, []mcp.CallOption{mcp.WithTimeout(time.Hour)}, 10 * time.Minute},
	} {
		t.Run("CAN-09 BASE-20 STD-08 "+tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, c := dial(t, &tt.opts)
				start := time.Now()
				_, err := c.CallTool(t.Context(), "t", nil, tt.options...)
				var remote *mcp.Error
				if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &remote) || time.Since(start) != tt.want {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				cancelled(t, f, f.next(), "timeout")
			})
		})
	}
	t.Run("CAN-10 progress extends", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, c := dial(t, &mcp.ClientOptions{Timeout: 10 * time.Second})
			go func() {
				m := f.next()
				for i := range 5 {
					time.Sleep(9 * time.Second)
					f.progress(m.ID, fmt.Sprintf(`"progress":%d`, i))
				}
				time.Sleep(9 * time.Second)
				f.result(m, `"content":[]`)
			}()
			start := time.Now()
			mustCall(t, c, "t", nil, mcp.WithProgress(func(mcp.ProgressEvent) {}))
			if d := time.Since(start); d != 54*time.Second {
				t.Errorf("returned after %v", d)
			}
		})
	})
	t.Run("CAN-11 STD-08 the maximum holds with progress", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, c := dial(t, &mcp.ClientOptions{Timeout: 10 * time.Second, MaxTimeout: 25 * time.Second})
			request := make(chan clientMessage, 1)
			go func() {
				m := f.next()
				for i := range 10 {
					time.Sleep(9 * time.Second)
					f.progress(m.ID, fmt.Sprintf(`"progress":%d`, i))
				}
				request <- m
			}()
			start := time.Now()
			_, err := c.CallTool(t.Context(), "t", nil, mcp.WithProgress(func(mcp.ProgressEvent) {}))
			if d := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || d != 25*time.Second {
				t.Errorf("%v after %v", err, d)
			}
			cancelled(t, f, <-request, "timeout")
		})
	})
	t.Run("STD-08 CAN-01 CAN-06 a cancelled context sends one notification with its reason, and late answers are dropped", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, c := dial(t, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("user went away")
			result := make(chan error, 1)
			go func() { _, err := c.CallTool(ctx, "t", nil); result <- err }()
			m := f.next()
			cancel(reason)
			var remote *mcp.Error
			if err := <-result; !errors.Is(err, reason) || errors.As(err, &remote) {
				t.Errorf("error %v", err)
			}
			cancelled(t, f, m, "user went away")
			// CAN-06: what comes late belongs to nobody, and does no harm.
			f.result(m, `"content":[]`)
			f.fault(m, `"code":1,"message":"late"`)
			f.progress(m.ID, `"progress":1`)
			go func() { f.result(f.next(), `"content":[{"type":"text","text":"next"}]`) }()
			if got := textOf(mustCall(t, c, "t", nil)); got != "next" {
				t.Errorf("then %q", got)
			}
		})
	})
	t.Run("CAN-03 nothing is cancelled after the answer, nor before the request", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, c := dial(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { f.result(f.next(), `"content":[]`) }()
			if _, err := c.CallTool(ctx, "t", nil); err != nil {
				t.Error(err)
			}
			cancel()
			if _, err := c.CallTool(ctx, "t", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			synctest.Wait()
			if len(f.received) != 0 {
				t.Errorf("sent %s", <-f.received)
			}
		})
	})
	t.Run("CAN-07 answers and cancellations at once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(nil)
		c := dialMemory(t, f.Server, nil)
		var group sync.WaitGroup
		for g := range 8 {
			group.Go(func() {
				for i := range 50 {
					ctx, cancel := context.WithCancel(t.Context())
					if i%2 == 0 {
						go cancel()
					}
					got, err := mcp.Call[sumResult](ctx, c, "add", addArgs{g, i})
					if err == nil && got.Sum != g+i || err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("%v, %v", got, err)
					}
					cancel()
				}
			})
		}
		group.Wait()
	})
}

// stuckConn is a connection whose other end takes nothing and says nothing.
type stuckConn struct{ closed chan struct{} }

func (c stuckConn) Read(context.Context) ([]byte, error) { <-c.closed; return nil, io.EOF }

func (c stuckConn) Write(context.Context, []byte) error { <-c.closed; return io.ErrClosedPipe }

func (c stuckConn) Close() error { close(c.closed); return nil }

func TestClientOfStuckServer(t *testing.T) {
	t.Parallel()
	t.Run("CAN-09 a server that does not read keeps nobody past their context", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			transport := mcp.Custom(func(context.Context) (mcp.Conn, error) { return stuckConn{make(chan struct{})}, nil })
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			start := time.Now()
			if _, err := mcp.Dial(ctx, transport, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
}
