package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// flight is a request on its way through a connection.
type flight struct {
	ctx     requestContext
	conn    *conn
	batch   *batch // nil: a message of its own
	key     string
	counted bool          // against Limits.InFlight
	turn    chan struct{} // not nil: it waits for a place to go on in; closed when it has one. conn.mu protects it
	over    bool          // answered or cancelled: nothing more is written; conn.mu protects it
}

// request starts f, or refuses it.
func (c *conn) request(f *flight) {
	msg := &f.ctx.req.msg
	if f.batch != nil {
		if fault := unfit(msg); fault != nil {
			c.refuse(f.batch, msg.ID, fault)
			return
		}
	}
	if msg.Version() == nil {
		switch msg.Method {
		case jsonrpc.MethodPing:
			if c.snap.legacy() {
				c.reply(f.batch, append(jsonrpc.AppendResult(nil, msg.ID), "{}}"...))
				return
			}
		case jsonrpc.MethodInitialize:
			c.handshake(f)
			return
		}
	}
	f.key = msg.ID.Key()
	f.ctx.req.carrier = f
	f.counted = counts(msg.Method)
	if fault := c.take(f); fault != nil {
		c.refuse(f.batch, msg.ID, fault)
	}
}

// begin implements carrier.
func (f *flight) begin() (context.Context, context.CancelCauseFunc, func()) {
	ctx, cancel := context.WithCancelCause(f.conn.base)
	return ctx, cancel, func() { cancel(nil) }
}

// legacy reports whether a revision is served that initialize opens.
func (snap *snapshot) legacy() bool {
	return slices.ContainsFunc(snap.srv.revs, func(r *wire.Revision) bool { return !r.Modern })
}

// counts tells which requests run user code for long: these are limited.
func counts(method string) bool {
	switch method {
	case jsonrpc.MethodDiscover, jsonrpc.MethodPing, jsonrpc.MethodToolsList, jsonrpc.MethodResourcesList,
		jsonrpc.MethodTemplatesList, jsonrpc.MethodPromptsList, jsonrpc.MethodListen:
		return false
	}
	return true
}

// errStopping answers the requests that wait when the server stops.
var errStopping = Errorf(CodeInternalError, "Internal error: the server is shutting down")

// take starts f, or queues it when enough calls are running.
func (c *conn) take(f *flight) *Error {
	limits := c.snap.srv.opts.Limits
	c.mu.Lock()
	defer c.mu.Unlock()
	f.ctx.req.session = c.session
	full := c.calls >= limits.InFlight
	switch {
	case c.stopping:
		return errStopping
	case c.flights[f.key] != nil:
		return Errorf(CodeInvalidRequest, "Invalid Request: the id is that of a request still running")
	case f.counted && full && len(c.queue)+c.away >= limits.Queue, !f.counted && c.others >= limits.InFlight+limits.Queue:
		return Errorf(CodeInternalError, "Internal error: too many requests in flight on this connection (running %d, waiting %d)", c.calls+c.others, len(c.queue)+c.away)
	}
	c.flights[f.key] = f
	if f.batch != nil {
		f.batch.left++
	}
	switch {
	case !f.counted:
		c.others++
	case full:
		c.queue = append(c.queue, f)
		return nil
	default:
		c.calls++
	}
	c.pool.start(f)
	return nil
}

// run serves f and whatever waited for it, on a worker; nil stands for what
// the reader has to say.
func (c *conn) run(f *flight) {
	if f == nil {
		c.mu.Lock()
		c.flushing = false // what is queued from here on needs another worker
		c.mu.Unlock()
		c.out.flush()
		c.tell()
	}
	for f != nil {
		f = c.answer(f)
	}
}

// answer runs f's handler, writes the response and returns the call that runs
// next in its place.
func (c *conn) answer(f *flight) (next *flight) {
	srv := c.snap.srv
	if c.base.Err() != nil || f.ctx.ended() { // it waited until it was not wanted any more
		return c.finish(f, srv.appendFault(nil, f.ctx.req.msg.ID, errStopping))
	}
	buf := responses.Get().(*[]byte)
	done := false
	c.handlers.Add(1)
	defer func() {
		if !done { // the handler ended its goroutine: answer, and go on elsewhere
			c.handlers.Add(-1)
			err := srv.hide("handler called runtime.Goexit", errors.New("the goroutine ended"), "method", f.ctx.req.msg.Method)
			if next := c.finish(f, srv.appendFault(nil, f.ctx.req.msg.ID, Errorf(CodeInternalError, "%v", err))); next != nil {
				c.pool.start(next)
			}
		}
	}()
	out, _ := c.snap.latest().handle(&f.ctx, (*buf)[:0])
	done = true
	c.handlers.Add(-1)
	next = c.finish(f, out)
	if cap(out) <= keepResponse {
		*buf = out
		responses.Put(buf)
	}
	return next
}

// keepResponse is the largest buffer that goes back to responses.
const keepResponse = 4 << 20

// responses holds buffers for messages on their way out.
var responses = sync.Pool{New: func() any { return new([]byte) }}

// finish ends f with its response and returns the call that may run in its
// place. The response is not written when the client no longer wants it, or
// the peer stopped reading before the connection ended.
//
// Who reads the response may use the id and the place again at once.
func (c *conn) finish(f *flight, response []byte) (next *flight) {
	room := c.out.await(c.base) == nil
	c.mu.Lock()
	if room && !f.over && len(response) > 0 {
		c.put(f, response)
		if f.ctx.req.subscriber != nil { // both ways in which a server ends a subscription
			c.out.enqueue(append(append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), f.ctx.req.msg.ID...), "}}"...))
		}
	}
	f.over = true
	c.forget(f)
	switch {
	case !f.counted:
		c.others--
	default:
		next = c.vacate()
	}
	c.mu.Unlock()
	f.ctx.close()
	c.out.flush()
	return next
}

// forget takes f off the list of those in flight. c.mu is held.
func (c *conn) forget(f *flight) {
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
	}
	if c.drained != nil && len(c.flights) == 0 {
		close(c.drained)
		c.drained = nil
	}
}

// cancelled ends the request with the given id, if there is one.
func (c *conn) cancelled(key string, m *jsonrpc.Message) {
	c.mu.Lock()
	f := c.flights[key]
	if f != nil {
		f.over = true
		c.queue = slices.DeleteFunc(c.queue, func(q *flight) bool { return q == f })
		c.forget(f)
		if f.batch != nil {
			c.gather(f.batch, nil)
			c.flushSoon()
		}
	}
	c.mu.Unlock()
	if f != nil {
		cause := cancelCause(m)
		c.snap.srv.log.Debug("mcp: a request was cancelled", "method", f.ctx.req.msg.Method, "cause", cause.Error())
		f.ctx.end(cause)
	}
}

// cancelCause is why a cancelled request's context ended, with the client's
// reason.
func cancelCause(m *jsonrpc.Message) error {
	var params struct {
		Reason string `json:"reason"`
	}
	if err := jsonx.Unmarshal(m.Params(), &params); err != nil || params.Reason == "" {
		return ErrCancelled
	}
	return fmt.Errorf("%w: %.200s", ErrCancelled, params.Reason)
}

// notify implements carrier. Nothing is written for a request after its response,
// or after its cancellation was read.
func (f *flight) notify(ctx context.Context, msg []byte) error {
	c := f.conn
	if err := c.out.await(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	over := f.over
	if !over {
		c.out.enqueue(msg)
	}
	c.mu.Unlock()
	if over {
		return errOver
	}
	c.out.flush()
	return nil
}

var errOver = errors.New("mcp: the request is over")
