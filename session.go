package mcp

import (
	"slices"
	"sync/atomic"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// session is what initialize agreed on: the opening of every revision before
// 2026-07-28. It holds for the requests that carry no metadata of their own.
type session struct {
	rev          *wire.Revision
	client       Implementation
	capabilities ClientCapabilities
	ready        atomic.Bool // notifications/initialized was received
}

// initialize answers the handshake (MCP 2025-11-25, Lifecycle) and opens a
// session. It fails only on malformed params and on servers without a legacy
// revision, or where those are switched off.
func (snap *snapshot) initialize(m *jsonrpc.Message, legacyOn bool) (*session, []byte, *Error) {
	var params struct {
		Version      string              `json:"protocolVersion"`
		Capabilities *ClientCapabilities `json:"capabilities"`
		Client       *Implementation     `json:"clientInfo"`
	}
	var err error
	if raw := m.Params(); raw != nil && raw[0] == '{' {
		err = jsonx.Unmarshal(m.Params(), &params)
	}
	legacy := slices.DeleteFunc(slices.Clone(snap.srv.revs), func(r *wire.Revision) bool { return r.Modern })
	switch {
	case len(legacy) == 0 || !legacyOn:
		return nil, nil, snap.srv.unsupported(params.Version, !legacyOn)
	case err != nil || params.Version == "" || params.Capabilities == nil || params.Client == nil:
		return nil, nil, Errorf(CodeInvalidParams, "Invalid params: initialize needs protocolVersion (a string), capabilities and clientInfo (objects)")
	}
	sess := &session{rev: legacy[0], client: *params.Client, capabilities: *params.Capabilities}
	if r := wire.Lookup(params.Version); r != nil && slices.Contains(legacy, r) {
		sess.rev = r
	}
	result, err := snap.appendHandshake(nil, sess.rev)
	if err != nil {
		return nil, nil, Errorf(CodeInternalError, "%v", snap.srv.hide("the handshake cannot be encoded", err))
	}
	return sess, result, nil
}

// appendHandshake appends the result of initialize.
func (snap *snapshot) appendHandshake(dst []byte, rev *wire.Revision) ([]byte, error) {
	info := snap.serverInfo()
	impl := info.Implementation
	if !rev.Titles {
		impl.Title = ""
	}
	if !rev.Icons {
		impl.Icons, impl.Description, impl.WebsiteURL = nil, "", ""
	}
	if !rev.Completions {
		info.Capabilities.Completions = nil
	}
	result := struct {
		Version      string             `json:"protocolVersion"`
		Capabilities ServerCapabilities `json:"capabilities"`
		Server       Implementation     `json:"serverInfo"`
		Instructions string             `json:"instructions,omitempty"`
	}{rev.Version, info.Capabilities, impl, info.Instructions}
	if !rev.Instructions {
		result.Instructions = ""
	}
	return jsonx.Append(dst, &result)
}
