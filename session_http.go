package mcp

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/wire"
)

// httpSession is a session over HTTP (MCP 2025-11-25, Transports › Session
// Management).
type httpSession struct {
	*session
	store           *sessionStore
	issuer, subject string // whose it is

	users      int          // requests that are served; the store's mu protects it and the next two
	since      time.Time    // when there were none any more
	prev, next *httpSession // in the store's ring, while there are none

	tag  string        // tells its events from those of other sessions
	gone chan struct{} // closed when the session has ended
	log  eventLog
	own  eventStream // what the server says by itself

	mu      sync.Mutex // protects the fields below
	ended   bool
	running map[string]*httpStream  // by the key of the request's id
	streams map[uint64]*eventStream // that are not over
	last    uint64                  // id of a stream
}

// errSessionEnded is why the requests of a session end that the client ended.
var errSessionEnded = fmt.Errorf("%w: the session was ended", ErrDisconnected)

// end ends what goes on in a session that has been taken out of its store.
func (hs *httpSession) end() {
	hs.session.close(hs.store.srv)
	close(hs.gone)
	hs.mu.Lock()
	hs.ended = true
	running := make([]*httpStream, 0, len(hs.running))
	for _, st := range hs.running {
		running = append(running, st)
	}
	hs.mu.Unlock()
	for _, st := range running {
		st.ctx.end(errSessionEnded)
	}
}

// start enters a request among those that can be cancelled.
func (hs *httpSession) start(st *httpStream) *Error {
	key := st.ctx.req.msg.ID.Key()
	hs.mu.Lock()
	defer hs.mu.Unlock()
	switch {
	case hs.ended:
		return Errorf(CodeInvalidRequest, "Invalid Request: the session has ended")
	case hs.running[key] != nil:
		return Errorf(CodeInvalidRequest, "Invalid Request: the id is that of a request still running")
	case hs.running == nil:
		hs.running = make(map[string]*httpStream)
	}
	hs.running[key] = st
	return nil
}

// finished takes a request out again.
func (hs *httpSession) finished(st *httpStream) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	delete(hs.running, st.ctx.req.msg.ID.Key())
}

// newStream makes the stream that begins at out.
func (hs *httpSession) newStream(out *httpStream) *eventStream {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.streams == nil {
		hs.streams = make(map[uint64]*eventStream)
	}
	hs.last++
	e := &eventStream{sess: hs, id: hs.last, out: out}
	hs.streams[e.id] = e
	return e
}

// forget takes out a stream that is over.
func (hs *httpSession) forget(e *eventStream) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	delete(hs.streams, e.id)
}

// stream returns a stream that is not over, nil for others.
func (hs *httpSession) stream(id uint64) *eventStream {
	if id == 0 {
		return &hs.own
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return hs.streams[id]
}

// tell sends the notifications that are due, if somebody listens: otherwise
// they wait, and join.
func (hs *httpSession) tell() {
	hs.own.mu.Lock()
	defer hs.own.mu.Unlock()
	if hs.own.out == nil || !hs.ready.Load() {
		return
	}
	for _, msg := range hs.sub.take() {
		hs.own.put(msg, false)
	}
}

// notified acts on a notification. Those that mean nothing here, such as that
// the roots have changed, which are asked for anew in each call, are ignored.
func (hs *httpSession) notified(m *jsonrpc.Message) {
	switch m.Method {
	case jsonrpc.NotifyInitialized:
		hs.begin(hs.store.srv)
	case jsonrpc.NotifyCancelled:
		id := jsonrpc.ParseID(m.RequestID())
		if id == nil {
			return
		}
		hs.mu.Lock()
		st := hs.running[id.Key()]
		hs.mu.Unlock()
		if st != nil {
			st.sess.unwanted.Store(true)
			st.ctx.end(cancelCause(m))
		}
	}
}

// session finds the session that a request names, for release; nil if it has
// been answered, with 400 or 404 (MCP 2025-11-25, Transports › Session
// Management).
func (h *httpHandler) session(w http.ResponseWriter, r *http.Request) *httpSession {
	id, _, repeated := header.One(r.Header, header.SessionID)
	switch {
	case repeated:
		refuseHTTP(w, http.StatusBadRequest, "the header Mcp-Session-Id is repeated")
		return nil
	case id == "":
		refuseHTTP(w, http.StatusBadRequest, "the header Mcp-Session-Id is missing; "+h.withoutSession(r.Method))
		return nil
	}
	hs := h.sessions.use(id, principalOf(r))
	if hs == nil {
		refuseHTTP(w, http.StatusNotFound, "there is no such session, or it has ended; begin a new one with initialize, without Mcp-Session-Id")
	}
	return hs
}

// withoutSession is what a client can do that names no session.
func (h *httpHandler) withoutSession(method string) string {
	hint := "begin with initialize, and repeat the id of its answer"
	switch modern := wire.Revisions[0]; {
	case method != http.MethodPost:
		return method + " is for sessions of clients that began with initialize; send messages by POST"
	case h.serves(modern):
		return hint + ", or name revision " + modern.Version + ", which has no sessions, in the header MCP-Protocol-Version and in _meta"
	}
	return hint
}

// principalOf is who makes a request, nil for nobody known.
func principalOf(r *http.Request) *Principal {
	p, _ := r.Context().Value(principalKey{}).(*Principal)
	return p
}

// versionServed reports whether the version header of a message without a
// request may stand; otherwise that has been answered.
func (h *httpHandler) versionServed(st *httpStream) bool {
	version, present, repeated := header.One(st.r.Header, header.ProtocolVersion)
	var fault *Error
	switch {
	case repeated:
		fault = checkVersionHeader(&st.ctx.req)
	case present && !h.serves(wire.Lookup(version)):
		fault = h.snap.srv.unsupported(version, h.modernOnly)
	}
	if fault == nil {
		return true
	}
	writeJSON(st.w, http.StatusBadRequest, h.snap.srv.appendFault(nil, nil, fault))
	return false
}
