package mcp

import (
	"context"
	"sync"
	"time"
)

// requestContext is the context of a request and the request itself: one
// allocation for both, within what the transport keeps of the request.
//
// A context that can be cancelled costs more than all else that is made for a
// short call, and most handlers never look at theirs. So it is made for the
// first who does.
type requestContext struct {
	req Request

	mu      sync.Mutex      // protects the fields below
	live    context.Context // nil: not made yet
	cancel  context.CancelCauseFunc
	release func()
	over    bool  // it ended before it was made
	cause   error // why
}

// carrier is the transport of one request.
type carrier interface {
	// notify sends one whole message before the response; it must not keep it.
	notify(ctx context.Context, msg []byte) error
	// streams reports whether the client can get anything before the response.
	streams() bool
	// withdraw sends a message even when the request is over, if there is
	// still a way.
	withdraw(msg []byte)
	// begin makes the context of the request. release ends it, and gives back
	// what it took; it may be called twice.
	begin() (ctx context.Context, cancel context.CancelCauseFunc, release func())
}

// context returns the context that c stands for, which it makes at the first
// call.
func (c *requestContext) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil {
		c.live, c.cancel, c.release = c.req.carrier.begin()
		if c.over {
			c.cancel(c.cause)
			c.release()
		}
	}
	return c.live
}

// end ends the context with cause.
func (c *requestContext) end(cause error) {
	c.mu.Lock()
	cancel := c.cancel
	if !c.over {
		c.over, c.cause = true, cause
	}
	c.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// ended reports whether end or close was called.
func (c *requestContext) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// close ends the context after the handler has returned.
func (c *requestContext) close() {
	c.mu.Lock()
	release := c.release
	c.over = true
	c.mu.Unlock()
	if release != nil {
		release()
	}
}

type requestKey struct{}

// Value implements context.Context.
func (c *requestContext) Value(key any) any {
	if key == (requestKey{}) {
		return &c.req
	}
	return c.context().Value(key)
}

// Deadline implements context.Context.
func (c *requestContext) Deadline() (time.Time, bool) { return c.context().Deadline() }

// Done implements context.Context.
func (c *requestContext) Done() <-chan struct{} { return c.context().Done() }

// Err implements context.Context.
func (c *requestContext) Err() error { return c.context().Err() }
