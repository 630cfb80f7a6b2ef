package mcp

import (
	"net/http"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/wire"
)

// assumedVersion is what a legacy request without a version header is taken
// for (MCP 2025-11-25, Transports › Protocol Version Header).
const assumedVersion = "2025-03-26"

// legacyRevision returns the revision before 2026-07-28 that the header names,
// or that a client which names none is taken for; nil when it is not served.
func (h *httpHandler) legacyRevision(head http.Header) *wire.Revision {
	version, present, repeated := header.One(head, header.ProtocolVersion)
	if !present {
		version = assumedVersion
	}
	if rev := wire.Lookup(version); !repeated && h.serves(rev) && !rev.Modern {
		return rev
	}
	return nil
}

// namesModern reports whether the header claims the modern revisions: only
// those may not be guessed at.
func namesModern(head http.Header) bool {
	version, _, repeated := header.One(head, header.ProtocolVersion)
	rev := wire.Lookup(version)
	return repeated || rev != nil && rev.Modern
}

// hasSessions reports whether GET and DELETE mean anything to whoever sent the
// header: the modern revisions have no sessions (MCP 2026-07-28, Streamable
// HTTP › Earlier Revisions).
func (h *httpHandler) hasSessions(head http.Header) bool {
	version, _, repeated := header.One(head, header.ProtocolVersion)
	rev := wire.Lookup(version)
	return h.sessions != nil && (repeated || !h.serves(rev) || !rev.Modern)
}

// request serves a request. Whoever names a modern version, in _meta or
// header, is held to the modern rules, and so is whoever names none that is
// served.
func (h *httpHandler) request(st *httpStream) {
	req := &st.ctx.req
	if req.msg.Version() != nil || namesModern(req.header) {
		st.serve()
		return
	}
	if req.msg.Method == jsonrpc.MethodInitialize {
		h.handshake(st)
		return
	}
	rev := h.legacyRevision(req.header)
	switch {
	case rev == nil && !h.inSession(req.header):
		st.serve()
	case h.sessions != nil:
		h.requestInSession(st)
	case req.msg.Method == jsonrpc.MethodPing:
		writeJSON(st.w, http.StatusOK, appendPong(nil, req.msg.ID))
	default:
		req.session = sessionless(rev)
		st.serve()
	}
}

// inSession reports whether a request without a version names a session, whose
// version holds then.
func (h *httpHandler) inSession(head http.Header) bool {
	return h.sessions != nil && head[header.SessionID] != nil && head[header.ProtocolVersion] == nil
}

// requestInSession serves a request of a session.
func (h *httpHandler) requestInSession(st *httpStream) {
	hs := h.session(st.w, st.r)
	if hs == nil {
		return
	}
	req := &st.ctx.req
	if req.msg.Method == jsonrpc.MethodPing {
		writeJSON(st.w, http.StatusOK, appendPong(nil, req.msg.ID))
		h.sessions.release(hs)
		return
	}
	req.session = hs.session
	st.sess = &sessionStream{of: hs}
	if fault := hs.start(st); fault != nil {
		writeJSON(st.w, httpStatus(fault, true), h.snap.srv.appendFault(nil, req.msg.ID, fault))
		h.sessions.release(hs)
		return
	}
	if st.polls() {
		st.servePolled()
	} else {
		st.serve()
	}
}

// sessionless is the session of a request that has none.
func sessionless(rev *wire.Revision) *session { return statelessSessions[rev.Index] }

// statelessSessions are those of each revision. Nothing changes them.
var statelessSessions = func() (all [len(wire.Revisions)]*session) {
	for i, rev := range wire.Revisions {
		all[i] = &session{rev: rev}
		all[i].ready.Store(true)
	}
	return all
}()

// appendPong appends the answer to a ping.
func appendPong(dst []byte, id jsonrpc.ID) []byte {
	return append(jsonrpc.AppendResult(dst, id), "{}}"...)
}

// handshake answers initialize, with the id of a new session if there are any.
func (h *httpHandler) handshake(st *httpStream) {
	msg := &st.ctx.req.msg
	sess, result, fault := h.snap.latest().initialize(msg, h.opts.Legacy)
	status := httpStatus(fault, false)
	if fault == nil && h.sessions != nil {
		var hs *httpSession
		if hs, fault = h.sessions.add(sess, principalOf(st.r)); fault == nil {
			defer h.sessions.release(hs)
			st.w.Header().Set(header.SessionID, hs.id)
		} else {
			status = http.StatusServiceUnavailable
			st.w.Header().Set("Retry-After", "60")
		}
	}
	if fault != nil {
		writeJSON(st.w, status, h.snap.srv.appendFault(nil, msg.ID, fault))
		return
	}
	writeJSON(st.w, http.StatusOK, append(append(jsonrpc.AppendResult(nil, msg.ID), result...), '}'))
}

// notified answers a notification. None means anything without a session, not
// even a cancellation, as ids are unique to a client only. Headers may be
// absent then, but not name a version that is not served.
func (h *httpHandler) notified(st *httpStream) {
	if !h.versionServed(st) {
		return
	}
	if h.sessions != nil && st.ctx.req.msg.Version() == nil && !namesModern(st.r.Header) {
		hs := h.session(st.w, st.r)
		if hs == nil {
			return
		}
		defer h.sessions.release(hs)
		hs.notified(&st.ctx.req.msg)
	}
	st.w.WriteHeader(http.StatusAccepted)
}

// responded takes in the response to a request of a session's.
func (h *httpHandler) responded(st *httpStream) {
	if h.sessions == nil || namesModern(st.r.Header) {
		refuseHTTP(st.w, http.StatusBadRequest, "responses are not accepted: this server asks nothing")
		return
	}
	if !h.versionServed(st) {
		return
	}
	if hs := h.session(st.w, st.r); hs != nil {
		defer h.sessions.release(hs)
		hs.asks.responded(&st.ctx.req.msg)
		st.w.WriteHeader(http.StatusAccepted)
	}
}
