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
	version, present, repeated := header.One(st.header, header.ProtocolVersion)
	rev := wire.Lookup(version)
	switch {
	case repeated || st.msg.Params.Meta.Version != nil || rev != nil && rev.Modern:
		return true
	case st.msg.Method == jsonrpc.MethodInitialize:
		h.handshake(st)
		return false
	case !present:
		rev = wire.Lookup(assumedVersion)
	}
	if !h.serves(rev) {
		return true
	}
	if st.msg.Method == jsonrpc.MethodPing {
		writeJSON(st.w, http.StatusOK, append(jsonrpc.AppendResult(nil, st.msg.ID), "{}}"...))
		return false
	}
	st.session = &session{rev: rev}
	st.session.ready.Store(true)
	return true
}

// handshake answers initialize without opening a session.
func (h *httpHandler) handshake(st *httpStream) {
	_, result, fault := h.snap.initialize(&st.msg, !h.modernOnly)
	if fault != nil {
		writeJSON(st.w, httpStatus(fault, false), h.snap.srv.appendFault(nil, st.msg.ID, fault))
		return
	}
	writeJSON(st.w, http.StatusOK, append(append(jsonrpc.AppendResult(nil, st.msg.ID), result...), '}'))
}
