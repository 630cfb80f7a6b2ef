package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
)

// Serve answers the messages of c until it ends, and closes it. It returns
// nil at the end of input, when ctx ends and after Shutdown, and otherwise why
// the connection broke. At the end of input running calls may finish for five
// seconds, then their contexts end with ErrDisconnected; when ctx ends they end
// at once, with ErrShutdown. Serve waits for handlers, for up to a second after
// their contexts ended.
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
	defer sc.leave()
	return sc.serve(ctx)
}

// conn is one connection that is being served.
type conn struct {
	snap     *snapshot
	io       Conn
	out      *connWriter
	pool     *workers
	handlers atomic.Int32 // running

	base context.Context // what the contexts of all requests derive from
	end  context.CancelCauseFunc
	hang context.CancelFunc // ends the context of writes

	mu       sync.Mutex // protects the fields below
	flights  map[string]*flight
	calls    int       // started, of those that count against Limits.InFlight
	away     int       // of these, such that wait for the client and gave up their place
	others   int       // started, of the others
	queue    []*flight // waiting for one of calls to end
	session  *session  // opened by initialize
	telling  bool      // a worker is to tell the session of changes
	flushing bool      // a worker is to write what the reader queued
	stopping bool
	failure  error         // the first write error
	drained  chan struct{} // not nil: closed when no flight is left
	stopped  chan struct{} // closed by stop
}

func newConn(ctx context.Context, snap *snapshot, rw Conn) *conn {
	limits := snap.srv.opts.Limits
	c := &conn{snap: snap, io: rw, flights: make(map[string]*flight), stopped: make(chan struct{})}
	c.base, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	// Answers are still written when the requests' contexts have ended.
	writing, hang := context.WithCancel(context.WithoutCancel(ctx))
	c.out, c.hang = &connWriter{ctx: writing, io: rw, onFail: c.broken}, hang
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
		switch {
		case err == nil:
			c.drain()
			c.stop(errInputEnded)
		case ctx.Err() != nil: // the Conn watches it too
			c.stop(ErrShutdown)
			err = nil
		default:
			c.stop(fmt.Errorf("%w: %w", ErrDisconnected, err))
		}
	case <-c.stopped:
		reading = true
	}
	idle := c.pool.end()
	gone := within(exitTime, idle)
	if !gone && c.handlers.Load() > 0 {
		err = errors.Join(err, errors.New("mcp: handlers are still running a second after their contexts ended"))
	}
	c.hang()
	closing := c.io.Close()
	if !gone && c.handlers.Load() == 0 {
		within(exitTime, idle) // a peer that does not read held up the writer
	}
	if d, ok := c.io.(detached); reading && !(ok && d.detached()) {
		within(exitTime, read)
	}
	return c.outcome(err, closing)
}

// errInputEnded is why the contexts end of calls that a client left behind.
var errInputEnded = fmt.Errorf("%w: end of input", ErrDisconnected)

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
		return err
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
	if c.stopping {
		return
	}
	c.stopping = true
	c.end(cause)
	if c.queue != nil {
		for _, f := range c.queue { // they would start only to be told to stop
			if f.turn != nil { // it did start
				c.grant(f)
				continue
			}
			c.forget(f)
			c.put(f, c.snap.srv.appendFault(nil, f.ctx.req.msg.ID, errStopping))
		}
		c.queue = nil
		c.pool.start(nil)
	}
	close(c.stopped)
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
	var open []*flight
	for _, f := range c.flights {
		if f.ctx.req.msg.Method == jsonrpc.MethodListen {
			open = append(open, f)
		}
	}
	c.mu.Unlock()
	for _, f := range open { // a subscription has no end of its own to wait for
		f.ctx.end(ErrShutdown)
	}
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
			c.refuse(nil, nil, Errorf(CodeInvalidRequest, "Invalid Request: the message is larger than %d bytes", limit))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("mcp: reading from the client: %w", err)
		default:
			c.receive(bytes.Clone(msg)) // handlers keep spans of it
		}
	}
}

// receive deals with what was read at once. What is bad costs at most itself.
func (c *conn) receive(data []byte) {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
	case c.batched(data):
		c.receiveBatch(data)
	default:
		c.message(data, nil)
	}
}

// message deals with one message, a part of b unless that is nil.
func (c *conn) message(data []byte, b *batch) {
	f := &flight{conn: c, batch: b}
	if err := jsonrpc.Decode(data, c.snap.srv.opts.Limits.Depth, &f.ctx.req.msg); err != nil {
		var fault *jsonrpc.Fault
		errors.As(err, &fault)
		c.refuse(b, fault.ID, Errorf(Code(fault.Code), "%s", fault.Message))
		return
	}
	switch f.ctx.req.msg.Kind {
	case jsonrpc.Request:
		c.request(f)
	case jsonrpc.Notification:
		c.notified(&f.ctx.req.msg)
	case jsonrpc.Response:
		c.responded(&f.ctx.req.msg)
	}
}

// notified acts on the notifications that mean something; others, and
// malformed ones, are ignored (MCP 2026-07-28, Cancellation).
func (c *conn) notified(m *jsonrpc.Message) {
	switch m.Method {
	case jsonrpc.NotifyCancelled:
		if id := jsonrpc.ParseID(m.RequestID()); id != nil {
			c.cancelled(id.Key(), m)
		}
	case jsonrpc.NotifyInitialized:
		if sess := c.legacySession(); sess != nil {
			sess.begin(c.snap.srv)
		}
	}
}

// handshake answers initialize and opens the session.
func (c *conn) handshake(f *flight) {
	sess, result, fault := c.snap.latest().initialize(&f.ctx.req.msg, LegacySessions)
	if fault == nil {
		sess.sub.poke = c.tellSoon
	}
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
		c.refuse(nil, f.ctx.req.msg.ID, fault)
		return
	}
	c.reply(nil, append(append(jsonrpc.AppendResult(nil, f.ctx.req.msg.ID), result...), '}'))
}

// refuse answers a message that is not served.
func (c *conn) refuse(b *batch, id jsonrpc.ID, fault *Error) {
	c.reply(b, c.snap.srv.appendFault(nil, id, fault))
}

// reply writes from the reader, which must not block: a worker does the
// writing. It waits only for a peer that goes on sending what is answered here
// and reads none of it. The answer to a part of a batch joins the others.
func (c *conn) reply(b *batch, msg []byte) {
	if c.out.awaitReply(c.base) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b != nil {
		b.left++
		c.gather(b, msg)
		return
	}
	c.out.enqueueReply(msg)
	c.flushSoon()
}

// flushSoon has a worker write what the reader queued. c.mu is held. When the
// connection is ending the reader has no say any more.
func (c *conn) flushSoon() {
	if !c.stopping && !c.flushing { // one is enough, however fast bad lines come in
		c.flushing = true
		c.pool.start(nil)
	}
}
