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

// classify decides whether a request belongs to a legacy revision and gives
// it its session then; it reports whether there is more to do. Whoever names
// a modern version, in _meta or header, is held to the modern rules, and so is
// whoever names none that is served.
func (h *httpHandler) classify(st *httpStream) bool {
	req := &st.ctx.req
	if req.msg.Version() != nil || namesModern(req.header) {
		return true
	}
	if req.msg.Method == jsonrpc.MethodInitialize {
		h.handshake(st)
		return false
	}
	rev := h.legacyRevision(req.header)
	if rev == nil {
		return true
	}
	if req.msg.Method == jsonrpc.MethodPing {
		writeJSON(st.w, http.StatusOK, appendPong(nil, req.msg.ID))
		return false
	}
	req.session = sessionless(rev)
	return true
}

// namesModern reports whether the header claims the modern revisions: only
// those may not be guessed at.
func namesModern(head http.Header) bool {
	version, _, repeated := header.One(head, header.ProtocolVersion)
	rev := wire.Lookup(version)
	return repeated || rev != nil && rev.Modern
}

// sessionless is the session of a request that has none.
func sessionless(rev *wire.Revision) *session {
	s := &session{rev: rev}
	s.ready.Store(true)
	return s
}

// appendPong appends the answer to a ping.
func appendPong(dst []byte, id jsonrpc.ID) []byte {
	return append(jsonrpc.AppendResult(dst, id), "{}}"...)
}

// handshake answers initialize without opening a session.
func (h *httpHandler) handshake(st *httpStream) {
	msg := &st.ctx.req.msg
	_, result, fault := h.snap.latest().initialize(msg, h.opts.Legacy)
	if fault != nil {
		writeJSON(st.w, httpStatus(fault, false), h.snap.srv.appendFault(nil, msg.ID, fault))
		return
	}
	writeJSON(st.w, http.StatusOK, append(append(jsonrpc.AppendResult(nil, msg.ID), result...), '}'))
}
