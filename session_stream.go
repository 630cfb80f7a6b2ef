package mcp

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/sse"
)

// sessionStream is the part that a POST or GET has in a session.
type sessionStream struct {
	of       *httpSession
	events   *eventStream  // of a POST that is streamed; the httpStream's mu protects it
	unwanted atomic.Bool   // the client has cancelled it
	released chan struct{} // of a GET: closed when it carries the stream no longer
}

// get answers GET: a stream of what the server says by itself, or the rest of
// one that broke off (MCP 2025-11-25, Transports › Listening for Messages from
// the Server).
func (h *httpHandler) get(w http.ResponseWriter, r *http.Request) {
	st := &httpStream{h: h, w: w, r: r, sse: true, sess: &sessionStream{released: make(chan struct{})}}
	st.ctx.req.carrier, st.ctx.req.header = st, r.Header
	if _, sse := accepts(r.Header["Accept"]); !sse {
		refuseHTTP(w, http.StatusNotAcceptable, "Accept must allow text/event-stream")
		return
	}
	if !h.versionServed(st) {
		return
	}
	hs := h.session(w, r)
	if hs == nil {
		return
	}
	defer h.sessions.release(hs)
	st.sess.of = hs
	lastID, _, repeated := header.One(r.Header, header.LastEventID)
	tag, stream, seq, ok := parseEventID(lastID)
	switch {
	case repeated || lastID != "" && !ok:
		refuseHTTP(w, http.StatusBadRequest, "Last-Event-ID is no id of an event")
		return
	case lastID != "" && tag != hs.tag:
		refuseHTTP(w, http.StatusNotFound, "Last-Event-ID is that of an event of another session")
		return
	}
	defer st.ctx.close()
	if !h.active.add(st) {
		unavailable(w)
		return
	}
	defer h.active.remove(st)
	defer h.gate.watch(st)()
	e := hs.stream(stream)
	switch {
	case e == nil:
		st.replay(&eventStream{sess: hs, id: stream}, seq)
	case lastID == "":
		st.listen(e)
	case !e.attach(st, seq):
		st.lost()
	default:
		st.follow(e)
	}
}

// listen carries the server's own stream from here on.
func (st *httpStream) listen(e *eventStream) {
	e.mu.Lock()
	e.detach()
	st.prime(e)
	e.out = st
	e.mu.Unlock()
	st.follow(e)
}

// follow stays while st carries the stream.
func (st *httpStream) follow(e *eventStream) {
	var hangUp <-chan time.Time
	if d := st.h.opts.MaxStream; d > 0 && e.sess.rev.Polling {
		timer := time.NewTimer(d)
		defer timer.Stop()
		hangUp = timer.C
	}
	var wake <-chan struct{}
	if e == &e.sess.own {
		wake = e.sess.sub.wake
		e.sess.tell()
	}
	for {
		select {
		case <-wake:
			e.sess.tell()
		case <-hangUp:
			e.leave(st, true)
			return
		case <-st.sess.released:
			return
		case <-st.ctx.Done():
			e.leave(st, false)
			return
		case <-e.sess.gone:
			e.leave(st, false)
			return
		}
	}
}

// replay sends what is left of a stream that is over.
func (st *httpStream) replay(e *eventStream, seq uint64) {
	missed, ends, whole := e.sess.log.after(e.id, seq)
	if !whole || !ends {
		st.lost()
		return
	}
	_ = st.event("", nil)
	for _, ev := range missed {
		if st.event(e.eventID(ev.seq), ev.data) != nil {
			return
		}
	}
}

// delete answers DELETE: the end of a session.
func (h *httpHandler) delete(w http.ResponseWriter, r *http.Request) {
	st := &httpStream{h: h, w: w, r: r}
	st.ctx.req.carrier, st.ctx.req.header = st, r.Header
	if !h.versionServed(st) {
		return
	}
	if hs := h.session(w, r); hs != nil {
		h.sessions.delete(hs)
		h.sessions.release(hs)
		w.WriteHeader(http.StatusNoContent)
	}
}

// prime opens st as the carrier of e. Clients that may be told to come back
// get an id to come back with first (MCP 2025-11-25, Transports › Sending
// Messages to the Server). e.mu is held.
func (st *httpStream) prime(e *eventStream) {
	id := ""
	if e.sess.rev.Polling {
		id = e.eventID(e.seq)
	}
	_ = st.event(id, nil) // a client that is gone is found out by its context
}

// event sends an event of a session's stream; without an id and a message it
// is a sign of life.
func (st *httpStream) event(id string, msg []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.send(id, msg)
}

// lost says that there is no way to go on without a gap.
func (st *httpStream) lost() {
	st.mu.Lock()
	defer st.mu.Unlock()
	_ = st.write(sse.AppendComment(nil, "error: the events after this one are not kept any more"))
}

// close is the end of the response: nothing but the given bytes follows.
func (st *httpStream) close(frame []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if frame != nil {
		_ = st.write(frame)
	}
	st.closed = true
}

// beginEvents makes the stream of a POST in a session one that can be resumed.
// st.mu is held.
func (st *httpStream) beginEvents() *eventStream {
	if st.sess == nil || !st.sse {
		return nil
	}
	if st.sess.events == nil {
		e := st.sess.of.newStream(st)
		st.sess.events = e
		if e.sess.rev.Polling {
			_ = st.send(e.eventID(0), nil)
		}
	}
	return st.sess.events
}

// leaveSession ends the request's use of its session.
func (st *httpStream) leaveSession() {
	if st.sess != nil {
		st.h.sessions.release(st.sess.of)
	}
}

// settled gives the request's id free, which who reads the answer may use
// again at once.
func (st *httpStream) settled() {
	if st.sess != nil {
		st.sess.of.finished(st)
	}
}

// polls reports whether the response may end before the answer is there.
func (st *httpStream) polls() bool {
	return st.h.opts.MaxStream > 0 && st.sess != nil && st.sse && st.sess.of.rev.Polling
}

// servePolled serves a request that goes on when its stream has been closed,
// for the client to come back: on a goroutine of its own, which is waited for
// as requests are.
func (st *httpStream) servePolled() {
	served := make(chan struct{})
	go func() {
		defer close(served)
		st.serve()
	}()
	timer := time.NewTimer(st.h.opts.MaxStream)
	defer timer.Stop()
	select {
	case <-served:
		return
	case <-timer.C:
	}
	st.mu.Lock()
	if st.done { // it is being answered
		st.mu.Unlock()
		<-served
		return
	}
	e := st.beginEvents()
	st.mu.Unlock()
	e.leave(st, true)
}
