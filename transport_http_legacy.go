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

// classify decides whether a request belongs to a legacy revision and gives
// it its session then; it reports whether there is more to do. Whoever names
// a modern version, in _meta or header, is held to the modern rules, and so is
// whoever names none that is served.
func (h *httpHandler) classify(st *httpStream) bool {
	req := &st.ctx.req
	version, present, repeated := header.One(req.header, header.ProtocolVersion)
	rev := wire.Lookup(version)
	switch {
	case repeated || req.msg.Params.Meta.Version != nil || rev != nil && rev.Modern:
		return true
	case req.msg.Method == jsonrpc.MethodInitialize:
		h.handshake(st)
		return false
	case !present:
		rev = wire.Lookup(assumedVersion)
	}
	if !h.serves(rev) {
		return true
	}
	if req.msg.Method == jsonrpc.MethodPing {
		writeJSON(st.w, http.StatusOK, append(jsonrpc.AppendResult(nil, req.msg.ID), "{}}"...))
		return false
	}
	req.session = &session{rev: rev}
	req.session.ready.Store(true)
	return true
}

// handshake answers initialize without opening a session.
func (h *httpHandler) handshake(st *httpStream) {
	msg := &st.ctx.req.msg
	_, result, fault := h.snap.latest().initialize(msg, !h.modernOnly)
	if fault != nil {
		writeJSON(st.w, httpStatus(fault, false), h.snap.srv.appendFault(nil, msg.ID, fault))
		return
	}
	writeJSON(st.w, http.StatusOK, append(append(jsonrpc.AppendResult(nil, msg.ID), result...), '}'))
}
