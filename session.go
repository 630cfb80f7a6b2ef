package mcp

import (
	"slices"
	"sync/atomic"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// Sessions, which the revisions before 2026-07-28 begin with initialize, stand
// beside the path of a request and not under it:
//
//	session.go          what initialize agreed on
//	session_methods.go  what a client may set: log level, watched resources
//	session_asks.go     requests to the client that wait for its response
//	mrtr_bridge.go      questions of handlers become such requests
//	conn_session.go     one on a pipe or Conn
//	session_http.go     one over HTTP; session_store.go: all of them; session_events.go: their streams

// session is what initialize agreed on: the opening of every revision before
// 2026-07-28. It holds for the requests that carry no metadata of their own.
type session struct {
	rev          *wire.Revision
	client       Implementation
	capabilities ClientCapabilities // as far as the revision knows them
	id           string             // "": not over HTTP
	ready        atomic.Bool        // notifications/initialized was received
	level        atomic.Int32       // the least to log: 1 and the index in logLevels; 0: nothing
	sub          *subscriber        // nil: stateless
	asks         asks
}

// stateless reports whether s is that of one request alone.
func (s *session) stateless() bool { return s.sub == nil }

// begin lets the session be used: the client has seen what was agreed on.
func (s *session) begin(srv *Server) {
	if !s.stateless() && !s.ready.Swap(true) {
		srv.hub.join(s.sub)
	}
}

// close ends what the server does for the session by itself.
func (s *session) close(srv *Server) {
	if !s.stateless() {
		srv.hub.remove(s.sub)
	}
}

// initialize answers the handshake (MCP 2025-11-25, Lifecycle) and opens a
// session, one that lasts unless it is to be stateless. It fails only on
// malformed params and on servers without a legacy revision, or where those
// are switched off.
func (snap *snapshot) initialize(m *jsonrpc.Message, mode LegacyMode) (*session, []byte, *Error) {
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
	case len(legacy) == 0 || mode == LegacyOff:
		return nil, nil, snap.srv.unsupported(params.Version, mode == LegacyOff)
	case err != nil || params.Version == "" || params.Capabilities == nil || params.Client == nil:
		return nil, nil, Errorf(CodeInvalidParams, "Invalid params: initialize needs protocolVersion (a string), capabilities and clientInfo (objects)")
	}
	sess := &session{rev: legacy[0], client: *params.Client}
	if r := wire.Lookup(params.Version); r != nil && slices.Contains(legacy, r) {
		sess.rev = r
	}
	sess.capabilities = params.Capabilities.in(sess.rev)
	if mode == LegacySessions {
		dynamic := snap.srv.opts.Dynamic
		sess.sub = &subscriber{want: [numEvents]bool{
			dynamic && snap.gates[wire.Tools], dynamic && snap.gates[wire.Prompts], dynamic && snap.gates[wire.Resources],
		}}
	}
	result, err := snap.appendHandshake(nil, sess)
	if err != nil {
		return nil, nil, Errorf(CodeInternalError, "%v", snap.srv.hide("the handshake cannot be encoded", err))
	}
	return sess, result, nil
}

// in returns what of c means something in an earlier revision. Whether
// sampling may have the context of servers was no matter of a capability
// before 2025-11-25.
func (c *ClientCapabilities) in(rev *wire.Revision) ClientCapabilities {
	out := *c
	if rev.FullAsks {
		return out
	}
	if out.Elicitation != nil {
		out.Elicitation = &ElicitationCapability{Form: &struct{}{}}
	}
	if !rev.Forms {
		out.Elicitation = nil
	}
	if out.Sampling != nil {
		out.Sampling = &SamplingCapability{Context: &struct{}{}}
	}
	return out
}

// appendHandshake appends the result of initialize.
func (snap *snapshot) appendHandshake(dst []byte, sess *session) ([]byte, error) {
	rev, info := sess.rev, snap.serverInfo()
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
	if sess.stateless() {
		info.Capabilities.forget()
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

// forget takes out what a server can do only for clients that it remembers.
func (c *ServerCapabilities) forget() {
	c.Logging = nil
	for _, list := range []*ListCapability{c.Tools, c.Prompts} {
		if list != nil {
			list.ListChanged = false
		}
	}
	if c.Resources != nil {
		c.Resources.ListChanged, c.Resources.Subscribe = false, false
	}
}
