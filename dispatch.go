package mcp

// The path of a request, file by file:
//
//	transport_stdio.go   a line, a message of a Conn     conn.go: reader, workers, writer
//	transport_http.go    host, origin → method, content type, accept → body     transport_http_stream.go: answer or stream
//	        └── []byte + carrier
//	internal/jsonrpc     decode one message, in one pass
//	dispatch.go          classify: modern (_meta) or legacy (session); the wire.Revision is picked here, once
//	dispatch.go          admit: _meta, version, method and capability, log level
//	request.go           facts and sink into the context
//	middleware.go        server chain: every admitted request but initialize and ping, unknown tools too
//	registry.go          look-up in the snapshot; visible.go, scopes.go: who may
//	middleware.go        scope chain → tool chain: see validation failures
//	args.go              defaults → check → decode → rules; textargs.go: from text
//	user function        func(ctx, A) (R, error)
//	result.go            R → *Result
//	        (the chains unwind)
//	failure.go           an error becomes a failed result or a protocol error
//	mrtr_bridge.go       a legacy client is asked what the handler waits for, and the handler runs again
//	encode.go            trim to the revision; stamp; encode once
//	transport            one line; one JSON body, or a stream if a notification was sent first

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// handle answers one request: it appends the response to dst and returns the
// protocol error that it holds, nil for a result.
func (snap *snapshot) handle(c *requestContext, dst []byte) ([]byte, *Error) {
	req := &c.req
	rev, fault := snap.admit(req)
	if fault != nil {
		return snap.srv.appendFault(dst, req.msg.ID, fault), fault
	}
	req.srv, req.rev, req.ctx = snap.srv, rev, c
	if rev.Modern {
		req.session = nil
	}
	if snap.direct {
		if cached := snap.cached(req); cached != nil {
			return append(append(jsonrpc.AppendResult(dst, req.msg.ID), cached...), '}'), nil
		}
	}
	if req.msg.Method == jsonrpc.MethodListen {
		req.end() // there is no progress and no log on its stream
		v, err := snap.run(c, req)
		return snap.listen(c, req, dst, v, err)
	}
	v, err := snap.run(c, req)
	if !rev.Modern {
		v, err = snap.bridge(c, v, err)
	}
	req.end()
	return snap.respond(dst, req, v, err)
}

// run calls the server's chain and turns a panic of middleware into an error.
func (snap *snapshot) run(ctx context.Context, req *Request) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = snap.srv.panicked("middleware", v)
		}
	}()
	v, err := snap.root(ctx, req)
	return req.settle(v, err)
}

// admit decides under which revision a request is served, or why it is not
// (MCP 2026-07-28, Versioning; Basic › _meta). The order of the checks is the
// protocol's: the first fault is the answer.
func (snap *snapshot) admit(req *Request) (*wire.Revision, *Error) {
	msg := &req.msg
	if msg.Version() == nil && req.session != nil {
		return snap.admitLegacy(req)
	}
	if fault := checkVersionHeader(req); fault != nil {
		return nil, fault
	}
	if fault := checkMeta(msg); fault != nil {
		return nil, fault
	}
	if fault := matchHeader(req, header.ProtocolVersion, msg.Version()); fault != nil {
		return nil, fault
	}
	version, _ := jsonx.View(msg.Version())
	rev := wire.Lookup(version)
	if rev == nil || !rev.Modern || !slices.Contains(snap.srv.revs, rev) {
		return nil, snap.srv.unsupported(strings.Clone(version), req.modernOnly)
	}
	if fault := matchRouting(req); fault != nil {
		return nil, fault
	}
	if fault := snap.admitMethod(rev, req.msg.Method); fault != nil {
		return nil, fault
	}
	if level := msg.LogLevel(); level != nil && !knownLevel(level) {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s must be one of debug, info, notice, warning, error, critical, alert, emergency", jsonrpc.MetaLogLevel)
	}
	return rev, checkToken(msg)
}

// admitLegacy admits a request of a session opened by initialize.
func (snap *snapshot) admitLegacy(req *Request) (*wire.Revision, *Error) {
	rev := req.session.rev
	if !req.session.ready.Load() {
		return nil, Errorf(CodeInvalidRequest, "Invalid Request: notifications/initialized must come before %s", req.msg.Method)
	}
	if fault := snap.admitMethod(rev, req.msg.Method); fault != nil {
		return nil, fault
	}
	if method, _ := rev.Method(req.msg.Method); method.Session && req.session.stateless() {
		return nil, Errorf(CodeMethodNotFound, "Method not found: %s needs a session, and this server has none", req.msg.Method)
	}
	if raw := req.msg.Params(); raw != nil && raw[0] != '{' {
		return nil, Errorf(CodeInvalidParams, "Invalid params: params must be an object")
	}
	return rev, checkToken(&req.msg)
}

func (snap *snapshot) admitMethod(rev *wire.Revision, name string) *Error {
	method, known := rev.Method(name)
	if !known && snap.methods[name] != nil {
		return nil
	}
	if !known {
		return Errorf(CodeMethodNotFound, "Method not found: %.200q", name)
	}
	if !snap.gates[method.Gate] {
		return Errorf(CodeMethodNotFound, "Method not found: this server does not offer %q", name)
	}
	return nil
}

// checkMeta holds _meta to what every modern request must carry.
func checkMeta(msg *jsonrpc.Message) *Error {
	var keys []string
	version, capabilities := msg.Version(), msg.Capabilities()
	if len(version) == 0 || version[0] != '"' {
		keys = append(keys, jsonrpc.MetaVersion)
	}
	if len(capabilities) == 0 || capabilities[0] != '{' {
		keys = append(keys, jsonrpc.MetaCapabilities)
	}
	switch {
	case keys == nil:
		return nil
	case version != nil || capabilities != nil:
	case msg.Meta() != nil && msg.Meta()[0] != '{':
		return badMeta("Invalid params: _meta must be an object")
	}
	fault := badMeta("Invalid params: _meta must hold %s (a string) and %s (an object); missing or malformed: %q",
		jsonrpc.MetaVersion, jsonrpc.MetaCapabilities, keys)
	fault.Data = struct {
		Keys []string `json:"keys"`
	}{keys}
	return fault
}

// badMeta is a fault of _meta, which HTTP answers with 400 unlike other faults
// of params.
func badMeta(format string, args ...any) *Error {
	fault := Errorf(CodeInvalidParams, format, args...)
	fault.status = http.StatusBadRequest
	return fault
}

// checkToken holds a progress token to its two types.
func checkToken(msg *jsonrpc.Message) *Error {
	if t := msg.ProgressToken(); t != nil && jsonrpc.ParseID(t) == nil {
		return Errorf(CodeInvalidParams, "Invalid params: progressToken must be a string or an integer")
	}
	return nil
}

func knownLevel(quoted []byte) bool {
	switch string(quoted) {
	case `"debug"`, `"info"`, `"notice"`, `"warning"`, `"error"`, `"critical"`, `"alert"`, `"emergency"`:
		return true
	}
	return false
}

// unsupported is the answer to a version that is not served.
func (s *Server) unsupported(requested string, modernOnly bool) *Error {
	supported := s.versions(modernOnly)
	return &Error{
		Code:    CodeUnsupportedVersion,
		Message: fmt.Sprintf("Unsupported protocol version %.60q; supported: %v", requested, supported),
		Data: struct {
			Supported []string `json:"supported"`
			Requested string   `json:"requested"`
		}{supported, requested},
	}
}

// versions names the accepted revisions, newest first.
func (s *Server) versions(modernOnly bool) []string {
	all := make([]string, 0, len(s.revs))
	for _, r := range s.revs {
		if r.Modern || !modernOnly {
			all = append(all, r.Version)
		}
	}
	return all
}

// appendFault appends the error response for e.
func (s *Server) appendFault(dst []byte, id jsonrpc.ID, e *Error) []byte {
	return jsonrpc.AppendError(dst, id, int(e.Code), e.Message, s.appendData(nil, e))
}
