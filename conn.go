package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// Serve answers the messages of c until it ends, and closes it. It returns
// nil at the end of input, when ctx ends and after Shutdown, and otherwise why
// the connection broke. At the end of input running calls may finish for five
// seconds; when ctx ends their contexts end at once, with ErrShutdown. Serve
// waits for handlers, for up to a second after their contexts ended.
//
// Handlers run concurrently, up to Limits.InFlight of them.
func (s *Server) Serve(ctx context.Context, c Conn) error {
	snap, err := s.freeze()
	if err != nil {
		return err
	}
	sc := newConn(ctx, snap, c)
	if err := s.serving.add(sc); err != nil {
		return errors.Join(err, c.Close())
	}
	defer s.serving.remove(sc)
	defer context.AfterFunc(ctx, func() { sc.stop(ErrShutdown) })()
	return sc.serve(ctx)
}

// conn is one connection that is being served.
type conn struct {
	snap *snapshot
	io   Conn
	out  *connWriter
	pool *workers

	base context.Context // what the contexts of all requests derive from
	end  context.CancelCauseFunc

	mu       sync.Mutex // protects the fields below
	flights  map[string]*flight
	calls    int       // running, of those that count
	queue    []*flight // waiting for one of those to end
	session  *session  // opened by initialize
	stopping bool
	failure  error         // the first write error
	drained  chan struct{} // not nil: closed when no flight is left
	stopped  chan struct{} // closed by stop
}

// flight is a request on its way through a connection.
type flight struct {
	inbound
	conn    *conn
	ctx     context.Context
	cancel  context.CancelCauseFunc
	key     string
	counted bool // against Limits.InFlight
	dropped bool // cancelled: nothing more is written; conn.mu protects it
}

func newConn(ctx context.Context, snap *snapshot, rw Conn) *conn {
	limits := snap.srv.opts.Limits
	c := &conn{snap: snap, io: rw, flights: make(map[string]*flight), stopped: make(chan struct{})}
	c.base, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	c.out = &connWriter{ctx: c.base, io: rw, onFail: c.broken}
	c.pool = newWorkers(limits.InFlight, c.run)
	if l, ok := rw.(limiter); ok {
		l.limit(limits.Message)
	}
	return c
}

// serve reads until the input ends or stop is called, and leaves nothing
// running but a reader that cannot be unblocked.
func (c *conn) serve(ctx context.Context) error {
	read := make(chan error, 1)
	go func() { read <- c.read(ctx) }()
	var err error
	reading := false
	select {
	case err = <-read:
		if err == nil {
			c.drain()
			c.stop(ErrShutdown)
		} else {
			c.stop(fmt.Errorf("%w: %w", ErrDisconnected, err))
		}
	case <-c.stopped:
		reading = true
	}
	gone := within(exitTime, c.pool.end())
	closing := c.io.Close()
	if reading {
		within(exitTime, read)
	}
	if !gone {
		err = errors.Join(err, errors.New("mcp: handlers are still running a second after their contexts ended"))
	}
	return c.outcome(err, closing)
}

// within waits for ch, for up to d, and reports whether it was ready.
func within[T any](d time.Duration, ch <-chan T) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ch:
		return true
	case <-t.C:
		return false
	}
}

// outcome is what Serve returns, given why reading and closing failed.
func (c *conn) outcome(err, closing error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failure != nil:
		return fmt.Errorf("mcp: writing to the client: %w", c.failure)
	case err != nil:
		return fmt.Errorf("mcp: reading from the client: %w", err)
	case closing != nil:
		return fmt.Errorf("mcp: closing the connection: %w", closing)
	}
	return nil
}

// stop ends the connection from this side, once: nothing is accepted any
// more, and the contexts of running requests end with cause.
func (c *conn) stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopping {
		c.stopping = true
		c.end(cause)
		close(c.stopped)
	}
}

// broken ends the connection because the peer cannot be written to.
func (c *conn) broken(err error) {
	c.mu.Lock()
	if !c.stopping {
		c.failure = err
	}
	c.mu.Unlock()
	c.stop(fmt.Errorf("%w: %w", ErrDisconnected, err))
}

// drain lets running calls finish after the end of input.
func (c *conn) drain() {
	ctx, cancel := context.WithTimeout(c.base, drainTime)
	defer cancel()
	c.mu.Lock()
	drained := make(chan struct{})
	if len(c.flights) == 0 {
		close(drained)
	} else {
		c.drained = drained
	}
	c.mu.Unlock()
	select {
	case <-drained:
		c.out.settle(ctx)
	case <-ctx.Done():
	}
}

func (c *conn) read(ctx context.Context) error {
	limit := c.snap.srv.opts.Limits.Message
	for {
		msg, err := c.io.Read(ctx)
		switch {
		case errors.Is(err, ErrTooLarge) || err == nil && len(msg) > limit:
			c.refuse(nil, Errorf(CodeInvalidRequest, "Invalid Request: the message is larger than %d bytes", limit))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		default:
			c.receive(bytes.Clone(msg)) // handlers keep spans of it
		}
	}
}

// receive deals with one message. A bad one costs at most itself.
func (c *conn) receive(data []byte) {
	if len(bytes.TrimSpace(data)) == 0 {
		return
	}
	f := &flight{conn: c}
	if err := jsonrpc.Decode(data, c.snap.srv.opts.Limits.Depth, &f.msg); err != nil {
		var fault *jsonrpc.Fault
		errors.As(err, &fault)
		c.refuse(fault.ID, Errorf(Code(fault.Code), "%s", fault.Message))
		return
	}
	switch f.msg.Kind {
	case jsonrpc.Request:
		c.request(f)
	case jsonrpc.Notification:
		c.notified(&f.msg)
	case jsonrpc.Response: // nothing was asked
	}
}

// notified acts on the notifications that mean something; others, and
// malformed ones, are ignored (MCP 2026-07-28, Cancellation).
func (c *conn) notified(m *jsonrpc.Message) {
	switch m.Method {
	case jsonrpc.NotifyCancelled:
		if id := jsonrpc.ParseID(m.Params.RequestID); id != nil {
			c.cancelled(id.Key(), m)
		}
	case jsonrpc.NotifyInitialized:
		c.mu.Lock()
		if c.session != nil {
			c.session.ready.Store(true)
		}
		c.mu.Unlock()
	}
}

// request starts f, or refuses it.
func (c *conn) request(f *flight) {
	if f.msg.Params.Meta.Version == nil {
		switch f.msg.Method {
		case jsonrpc.MethodPing:
			c.reply(append(jsonrpc.AppendResult(nil, f.msg.ID), "{}}"...))
			return
		case jsonrpc.MethodInitialize:
			c.handshake(f)
			return
		}
	}
	f.key = f.msg.ID.Key()
	f.sink = f
	f.counted = counts(f.msg.Method)
	f.ctx, f.cancel = context.WithCancelCause(c.base)
	if fault := c.take(f); fault != nil {
		f.cancel(nil)
		c.refuse(f.msg.ID, fault)
	}
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

// take starts f, or queues it when enough calls are running.
func (c *conn) take(f *flight) *Error {
	limits := c.snap.srv.opts.Limits
	c.mu.Lock()
	defer c.mu.Unlock()
	f.session = c.session
	switch {
	case c.stopping:
		return Errorf(CodeInternalError, "Internal error: %v", ErrShutdown)
	case c.flights[f.key] != nil:
		return Errorf(CodeInvalidRequest, "Invalid Request: the id is that of a request still running")
	case len(c.queue) >= limits.Queue, len(c.flights) >= 2*(limits.InFlight+limits.Queue):
		return Errorf(CodeInternalError, "Internal error: too many requests in flight on this connection (running %d, waiting %d)", c.calls, len(c.queue))
	}
	c.flights[f.key] = f
	if !f.counted {
		c.pool.start(f)
	} else if c.calls < limits.InFlight {
		c.calls++
		c.pool.start(f)
	} else {
		c.queue = append(c.queue, f)
	}
	return nil
}

// run serves f and whatever waited for it, on a worker; nil stands for what
// the reader has to say.
func (c *conn) run(f *flight) {
	if f == nil {
		c.out.flush()
	}
	for f != nil {
		c.answer(f)
		f = c.leave(f)
	}
}

// answer runs f's handler and writes the response.
func (c *conn) answer(f *flight) {
	buf := responses.Get().(*[]byte)
	done := false
	defer func() {
		if !done { // the handler ended its goroutine: answer, and go on elsewhere
			err := c.snap.srv.hide("handler called runtime.Goexit", errors.New("the goroutine ended"), "method", f.msg.Method)
			f.respond(jsonrpc.AppendError(nil, f.msg.ID, int(CodeInternalError), err.Error(), nil))
			if next := c.leave(f); next != nil {
				c.pool.start(next)
			}
		}
	}()
	out, _ := c.snap.handle(f.ctx, &f.inbound, (*buf)[:0])
	done = true
	f.respond(out)
	if cap(out) <= keepBuffer {
		*buf = out
		responses.Put(buf)
	}
}

// responses holds buffers for messages on their way out.
var responses = sync.Pool{New: func() any { return new([]byte) }}

// leave ends f and returns the next call that may run in its place.
func (c *conn) leave(f *flight) *flight {
	f.cancel(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(f)
	if f.counted {
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = slices.Delete(c.queue, 0, 1)
			return next
		}
		c.calls--
	}
	return nil
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
		f.dropped = true
		c.queue = slices.DeleteFunc(c.queue, func(q *flight) bool { return q == f })
		c.forget(f)
	}
	c.mu.Unlock()
	if f != nil {
		f.cancel(cancelCause(m))
	}
}

// cancelCause is why a cancelled request's context ended, with the client's
// reason.
func cancelCause(m *jsonrpc.Message) error {
	var params struct {
		Reason string `json:"reason"`
	}
	if err := jsonx.Unmarshal(m.Params.Raw, &params); err != nil || params.Reason == "" {
		return ErrCancelled
	}
	return fmt.Errorf("%w: %.200s", ErrCancelled, params.Reason)
}

// handshake answers initialize and opens the session.
func (c *conn) handshake(f *flight) {
	sess, result, fault := c.snap.initialize(&f.msg, true)
	c.mu.Lock()
	switch {
	case fault != nil:
	case c.session != nil:
		fault = Errorf(CodeInvalidRequest, "Invalid Request: this connection is initialized already")
	default:
		c.session = sess
	}
	c.mu.Unlock()
	if fault != nil {
		c.refuse(f.msg.ID, fault)
		return
	}
	c.reply(append(append(jsonrpc.AppendResult(nil, f.msg.ID), result...), '}'))
}

// refuse answers a message that is not served.
func (c *conn) refuse(id jsonrpc.ID, fault *Error) {
	c.reply(c.snap.srv.appendFault(nil, id, fault))
}

// reply writes from the reader, which must not block: a worker does the
// writing. It waits only for a peer that sends and does not read.
func (c *conn) reply(msg []byte) {
	if c.out.await(c.base) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopping {
		c.out.enqueue(msg)
		c.pool.start(nil)
	}
}

// notify implements sink.
func (f *flight) notify(ctx context.Context, msg []byte) error {
	if err := f.conn.out.await(ctx); err != nil {
		return err
	}
	return f.write(msg)
}

// respond writes the response, unless the client no longer wants it or the
// peer stopped reading before the connection ended.
func (f *flight) respond(msg []byte) {
	if f.conn.out.await(f.conn.base) == nil {
		_ = f.write(msg) // nobody is left to be told
	}
}

// write queues msg and sees that it is written. Once a cancellation was read
// nothing more is queued for its request.
func (f *flight) write(msg []byte) error {
	f.conn.mu.Lock()
	dropped := f.dropped
	if !dropped {
		f.conn.out.enqueue(msg)
	}
	f.conn.mu.Unlock()
	if dropped {
		return ErrCancelled
	}
	f.conn.out.flush()
	return nil
}
