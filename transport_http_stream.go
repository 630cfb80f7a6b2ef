package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/sse"
)

// What a client must read within writeTimeout, in bytes, lest it be taken for
// gone: one event, or writeSize of a long one.
const (
	writeTimeout = 30 * time.Second
	writeSize    = 512 << 10
)

// httpStream is one POST on its way: a JSON answer, unless something has to
// be sent before it, which turns it into a stream of events.
type httpStream struct {
	ctx       requestContext
	h         *httpHandler
	w         http.ResponseWriter
	r         *http.Request
	json, sse bool           // what the client accepts
	sess      *sessionStream // nil: it is not of a session
	length    [1]string

	mu     sync.Mutex // protects the fields below and orders writes
	open   bool       // the response is a stream by now
	done   bool       // the answer is there
	closed bool       // the response has ended, whatever of the answer
	err    error      // the first write error

	seen  atomic.Uint64  // tick of the last sign of life
	alive sync.WaitGroup // the calls of keepAlive

	prev, next *httpStream // in the list of active streams
}

// Header values that are the same in every response. net/http reads them
// only; nobody may change them.
var (
	jsonValue    = []string{"application/json"}
	sseValue     = []string{"text/event-stream"}
	noCacheValue = []string{"no-cache"}
	noValue      = []string{"no"}
)

// writeJSON answers with one JSON object.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	writeSized(w, status, body, new([1]string))
}

// writeSized is writeJSON with memory for the value of a header.
func writeSized(w http.ResponseWriter, status int, body []byte, length *[1]string) {
	length[0] = strconv.Itoa(len(body))
	head := w.Header()
	head["Content-Type"] = jsonValue
	head["Content-Length"] = length[:]
	w.WriteHeader(status)
	if len(body) <= writeSize { // fits into the buffers on the way
		_, _ = w.Write(body) // a client that is gone needs no answer
	} else {
		_ = write(w, http.NewResponseController(w), body)
	}
}

// write sends data in pieces, each within writeTimeout: a slow reader is
// served, and one that has stopped reading is left.
func write(w http.ResponseWriter, rc *http.ResponseController, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), writeSize)
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has deadlines
		if _, err := w.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// serve runs the request in net/http's goroutine.
func (st *httpStream) serve() {
	defer st.ctx.close()
	defer st.leaveSession()
	if !st.h.active.add(st) {
		st.refuse()
		return
	}
	defer st.h.active.remove(st)
	buf := responses.Get().(*[]byte)
	finished := false
	defer func() {
		if !finished { // the handler ended its goroutine, and so net/http's
			fault := st.gone()
			st.hangUp()
			st.finish(st.h.snap.srv.appendFault(nil, st.ctx.req.msg.ID, fault), fault)
			st.flush() // nobody else will
		}
	}()
	out, fault := st.h.snap.latest().handle(&st.ctx, (*buf)[:0])
	finished = true
	st.finish(out, fault)
	if cap(out) <= keepResponse {
		*buf = out
		responses.Put(buf)
	}
}

// gone is the fault of a handler that ended its goroutine.
func (st *httpStream) gone() *Error {
	return Errorf(CodeInternalError, "%v",
		st.h.snap.srv.hide("handler called runtime.Goexit", errors.New("the goroutine ended"), "method", st.ctx.req.msg.Method))
}

// hangUp announces that the connection ends with this response, if there is
// still time to.
func (st *httpStream) hangUp() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.open && !st.closed {
		st.w.Header().Set("Connection", "close")
	}
}

// flush passes on what was written, if the response has not ended.
func (st *httpStream) flush() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.closed {
		_ = http.NewResponseController(st.w).Flush()
	}
}

// refuse answers a request that came too late.
func (st *httpStream) refuse() {
	st.settled()
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done = true; !st.closed {
		unavailable(st.w)
	}
}

// begin implements carrier. The context is that of net/http, but ends with the
// causes that this package names. What net/http alone knows is that the client
// hung up, which cancels a modern request and means nothing in older revisions
// (MCP 2026-07-28, Streamable HTTP › Cancellation; MCP 2025-11-25, Transports ›
// Sending Messages to the Server).
func (st *httpStream) begin() (ctx context.Context, cancel context.CancelCauseFunc, release func()) {
	parent := st.r.Context()
	ctx, cancel = context.WithCancelCause(context.WithoutCancel(parent))
	if parent.Done() == nil {
		return ctx, cancel, func() { cancel(nil) }
	}
	timeout := context.CancelFunc(func() {})
	deadline, timed := parent.Deadline()
	if timed {
		ctx, timeout = context.WithDeadline(ctx, deadline)
	}
	ended := func() {
		switch cause := context.Cause(parent); {
		case timed && cause == context.DeadlineExceeded: // ours ends by itself
		case cause != context.Canceled: // handlers around this one had a reason
			cancel(cause)
		case st.ctx.req.session == nil:
			cancel(fmt.Errorf("%w: %w", ErrDisconnected, cause))
		}
	}
	unwatch := func() bool { return true }
	if parent.Err() != nil {
		ended() // before the handler looks
	} else {
		unwatch = context.AfterFunc(parent, ended)
	}
	return ctx, cancel, func() {
		unwatch()
		timeout()
		cancel(nil)
	}
}

// finish sends the response and ends the stream, if it became one.
func (st *httpStream) finish(body []byte, fault *Error) {
	st.settled()
	st.mu.Lock()
	st.done = true
	status := httpStatus(fault, st.ctx.req.session != nil)
	dropped := st.sess != nil && st.sess.unwanted.Load()
	if e := st.sessionEvents(status, dropped); e != nil {
		if dropped {
			body = nil
			if !st.open {
				_ = st.send("", nil) // a stream of nothing
			}
		}
		st.mu.Unlock() // which e takes by itself
		e.finish(body)
		return
	}
	defer st.mu.Unlock()
	if dropped {
		st.w.WriteHeader(http.StatusNoContent)
		return
	}
	if len(body) == 0 { // there is nobody to answer
		return
	}
	if !st.open && (st.json || status != http.StatusOK) {
		if fault != nil && fault.scopes != nil {
			st.w.Header().Set("WWW-Authenticate", st.h.gate.insufficientScope(fault.scopes))
		}
		writeSized(st.w, status, body, &st.length)
		return
	}
	_ = st.send("", body) // a client that is gone needs no answer
}

// sessionEvents returns the session's stream that the answer goes to, nil if
// it is to go out as it is. st.mu is held.
func (st *httpStream) sessionEvents(status int, dropped bool) *eventStream {
	if st.sess == nil || st.sess.events == nil && !dropped && st.json {
		return nil
	}
	if st.sess.events == nil && status != http.StatusOK {
		return nil
	}
	return st.beginEvents()
}

// notify implements carrier. A client that accepts no stream goes without, and
// nothing follows the end of the request's context.
func (st *httpStream) notify(_ context.Context, msg []byte) error {
	if err := context.Cause(&st.ctx); err != nil {
		return err
	}
	st.mu.Lock()
	if st.done || !st.sse {
		st.mu.Unlock()
		return errNoStream
	}
	return st.sendOn(msg)
}

// sendOn sends a message before the answer. It unlocks st.mu.
func (st *httpStream) sendOn(msg []byte) error {
	if e := st.beginEvents(); e != nil {
		st.mu.Unlock()
		e.send(msg)
		return nil // the client may come back for it
	}
	defer st.mu.Unlock()
	return st.send("", msg)
}

// streams implements carrier.
func (st *httpStream) streams() bool { return st.sse }

// withdraw implements carrier.
func (st *httpStream) withdraw(msg []byte) {
	st.mu.Lock()
	if st.done || !st.sse {
		st.mu.Unlock()
		return
	}
	_ = st.sendOn(msg) // a client that is gone waits for nothing
}

var errNoStream = errors.New("mcp: the client accepts no stream, or the request has ended")

// keepAlive sends a comment, so that neither client nor proxy take silence
// for the end. Whoever is writing already breaks it.
func (st *httpStream) keepAlive() {
	if !st.mu.TryLock() {
		return
	}
	defer st.mu.Unlock()
	if st.done || st.closed {
		return
	}
	if !st.open && st.sess != nil && st.sess.events == nil && st.sess.released == nil {
		st.beginEvents()
	}
	_ = st.send("", nil)
}

// send writes a message as an event, or, without a message and an id, a sign
// of life, at once. Openings and signs of life are comments. st.mu is held.
func (st *httpStream) send(id string, msg []byte) error {
	buf := responses.Get().(*[]byte)
	out := (*buf)[:0]
	if !st.open || msg == nil && id == "" {
		out = sse.AppendComment(out, "")
	}
	if msg != nil || id != "" {
		out = sse.AppendEvent(out, sse.Event{ID: id, Data: msg})
	}
	err := st.write(out)
	if cap(out) <= keepResponse {
		*buf = out
		responses.Put(buf)
	}
	return err
}

// write sends parts of a stream, which it opens when it is not yet one. st.mu
// is held.
func (st *httpStream) write(out []byte) error {
	if st.err != nil {
		return st.err
	}
	if !st.open {
		st.open = true
		head := st.w.Header()
		head["Content-Type"] = sseValue
		head["Cache-Control"] = noCacheValue
		head["X-Accel-Buffering"] = noValue
		st.w.WriteHeader(http.StatusOK)
	}
	rc := http.NewResponseController(st.w)
	if st.err = write(st.w, rc, out); st.err == nil {
		if err := rc.Flush(); !errors.Is(err, http.ErrNotSupported) { // else the events come late, but come
			st.err = err
		}
	}
	st.seen.Store(st.h.active.now.Load())
	if st.err != nil && st.ctx.req.session == nil {
		st.ctx.end(fmt.Errorf("%w: %w", ErrDisconnected, st.err))
	}
	return st.err
}

// streams are the requests a handler is serving, watched by one timer for
// all.
type streams struct {
	tick time.Duration
	now  atomic.Uint64 // ticks so far

	mu    sync.Mutex // protects the fields below and the links of the streams
	head  httpStream // of a ring
	n     int
	armed bool // the timer is running
	timer *time.Timer
	cause error  // not nil: no more streams are taken
	empty func() // called once, when the last one has gone after that
}

// ticksOfSilence is how many ticks make the time a response may be silent.
const ticksOfSilence = 4

func (s *streams) init(silence time.Duration) {
	s.tick = max(silence/ticksOfSilence, time.Millisecond)
	s.head.prev, s.head.next = &s.head, &s.head
}

// add takes st in, unless the server is stopping.
func (s *streams) add(st *httpStream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return false
	}
	st.seen.Store(s.now.Load())
	st.prev, st.next = s.head.prev, &s.head
	st.prev.next, st.next.prev = st, st
	s.n++
	if !s.armed {
		s.armed = true
		if s.timer == nil {
			s.timer = time.AfterFunc(s.tick, s.sweep)
		} else {
			s.timer.Reset(s.tick)
		}
	}
	return true
}

// remove takes st out and waits for the last of its signs of life.
func (s *streams) remove(st *httpStream) {
	defer st.alive.Wait() // none is started any more then
	s.mu.Lock()
	defer s.mu.Unlock()
	st.prev.next, st.next.prev = st.next, st.prev
	s.n--
	s.settle()
}

// settle reports, once, that no stream is left. s.mu is held.
func (s *streams) settle() {
	if s.cause == nil || s.n > 0 || s.empty == nil {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	empty := s.empty
	s.empty = nil
	empty()
}

// sweep keeps alive the streams that were silent for too long. Each is
// written to on a goroutine of its own, as a slow client must not keep the
// others waiting; the stream's request waits for it.
func (s *streams) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now.Add(1)
	if s.n == 0 {
		s.armed = false
		return
	}
	s.timer.Reset(s.tick)
	for st := s.head.next; st != &s.head; st = st.next {
		if st.sse && now-st.seen.Load() >= ticksOfSilence {
			st.seen.Store(now)
			st.alive.Go(st.keepAlive)
		}
	}
}

// end refuses further streams and ends those there are. empty is called when
// none is left.
func (s *streams) end(cause error, empty func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cause, s.empty = cause, empty
	for st := s.head.next; st != &s.head; st = st.next {
		st.ctx.end(cause)
	}
	s.settle()
}
