package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
	"github.com/typedmcp/mcp/internal/wire"
)

// respond appends the response to a request that was run, and returns the
// protocol error that it holds, nil for a result.
func (snap *snapshot) respond(dst []byte, req *Request, v any, err error) ([]byte, *Error) {
	start := len(dst)
	if err == nil {
		var out []byte
		if out, err = snap.appendResult(dst, req, v); err == nil {
			return out, nil
		}
		dst = dst[:start]
		err = snap.srv.unsendable("result of "+req.what(), err)
	}
	result, fault := snap.srv.failure(req, err)
	for chosen := true; fault == nil; chosen = false {
		out, err := snap.appendResult(dst[:start], req, result)
		if err == nil {
			return out, nil
		}
		err = snap.srv.unsendable("failure of "+req.what(), err)
		if result, fault = req.failed(err.Error()); !chosen { // not even that
			fault = Errorf(CodeInternalError, "%v", err)
		}
	}
	return snap.srv.appendFault(dst[:start], req.msg.ID, fault), fault
}

// appendResult appends the success response whose result is v. Encoding may
// run methods of users' types.
func (snap *snapshot) appendResult(dst []byte, req *Request, v any) (_ []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = snap.srv.panicked("the encoding of a result of "+req.what(), v)
		}
	}()
	dst = jsonrpc.AppendResult(dst, req.msg.ID)
	var meta Meta
	if suspended, ok := v.(*InputRequiredResult); ok && req.owns(suspended) {
		dst = suspended.appendMembers(dst)
	} else if dst, meta, err = snap.appendBody(appendOpen(dst, req.rev), req, v); err != nil {
		return dst, err
	}
	if dst, err = snap.appendStamp(dst, meta, req.rev); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

// appendBody appends the members that make the result v of req's method, and
// returns the _meta that comes with it.
func (snap *snapshot) appendBody(dst []byte, req *Request, v any) (_ []byte, meta Meta, err error) {
	if !snap.fits(req.msg.Method, v) {
		return dst, nil, snap.wrongResult(req, v)
	}
	if snap.methods[req.msg.Method] != nil {
		dst, err = appendExtension(dst, v)
		return dst, nil, err
	}
	switch r := v.(type) {
	case *Result:
		snap.undeclared(r)
		dst, err = r.appendMembers(dst, req.rev, outputCheck(req, r))
		return dst, r.Meta, err
	case *PromptResult:
		dst, err = r.appendMembers(dst, req.rev)
		return dst, r.Meta, err
	case *ReadResult:
		if dst, err = r.appendMembers(dst, req.rev); err == nil {
			dst = snap.appendReadHints(dst, req)
		}
		return dst, r.Meta, err
	case *Completion:
		dst, err = r.appendMembers(dst)
	case *ListResult:
		if err = checkItems(r.Items); err == nil {
			dst = snap.appendList(dst, snap.listing(req.msg.Method), r, req.rev)
		}
	case *ServerInfo:
		dst, err = snap.appendDiscovery(dst, r, req.modernOnly)
	case *done: // says it all
	}
	return dst, nil, err
}

// fits reports whether v is a result of the method.
func (snap *snapshot) fits(method string, v any) bool {
	if m := snap.methods[method]; m != nil {
		return reflect.TypeOf(v) == m.result
	}
	switch r := v.(type) {
	case *Result:
		return r != nil && method == jsonrpc.MethodToolsCall
	case *PromptResult:
		return r != nil && method == jsonrpc.MethodPromptsGet
	case *ReadResult:
		return r != nil && method == jsonrpc.MethodResourcesRead
	case *Completion:
		return r != nil && method == jsonrpc.MethodComplete
	case *ListResult:
		return r != nil && snap.listing(method) != nil
	case *ServerInfo:
		return r != nil && method == jsonrpc.MethodDiscover
	case *done:
		return method == jsonrpc.MethodSetLevel || method == jsonrpc.MethodSubscribe || method == jsonrpc.MethodUnsubscribe
	}
	return false
}

// wrongResult is the fault of middleware that answered with something else
// than a result of the method.
func (snap *snapshot) wrongResult(req *Request, v any) error {
	err := fmt.Errorf("middleware answered %s with a %T, which is no result of that method", req.msg.Method, v)
	return Errorf(CodeInternalError, "%v", snap.srv.hide("wrong result", err))
}

// checkItems finds list entries that middleware made and that are no JSON.
func checkItems(items []json.RawMessage) error {
	for i, item := range items {
		if !jsonx.Valid(item) {
			return fmt.Errorf("entry %d of the list is not valid JSON", i)
		}
	}
	return nil
}

// outputCheck returns the schema that r must be held to; nil when there is
// none or r conforms by construction, having the handler's own value.
func outputCheck(req *Request, r *Result) *schema.Plan {
	p := req.tool.Load()
	if p == nil || p.output == nil || r.IsError {
		return nil
	}
	if p.given.output == nil && !p.output.NeedsOutputCheck() && reflect.TypeOf(r.Structured) == p.valueType {
		return nil
	}
	return p.output
}

// appendOpen starts a result's object.
func appendOpen(dst []byte, rev *wire.Revision) []byte {
	if rev.Modern {
		return append(dst, `{"resultType":"complete",`...)
	}
	return append(dst, '{')
}

// appendStamp ends a result's object with its _meta: what the handler put
// there, and in modern revisions who the server is.
func (snap *snapshot) appendStamp(dst []byte, meta Meta, rev *wire.Revision) ([]byte, error) {
	if len(meta) == 0 {
		if rev.Modern {
			dst = append(append(append(dst, `,"_meta":{`...), snap.stamp...), '}')
		}
		return append(dst, '}'), nil
	}
	own := make(Meta, len(meta))
	for k, v := range meta {
		if k != jsonrpc.MetaServerInfo { // ours stands there
			own[k] = v
		}
	}
	dst, err := jsonx.Append(append(dst, `,"_meta":`...), &own)
	if err != nil {
		return dst, fmt.Errorf("_meta of the result: %w", err)
	}
	if rev.Modern {
		dst = dst[:len(dst)-1]
		if len(own) > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, snap.stamp...), '}')
	}
	return append(dst, '}'), nil
}

// appendHints appends the caching hints of a method's result.
func (snap *snapshot) appendHints(dst []byte, method string, rev *wire.Revision) []byte {
	if m, _ := rev.Method(method); !m.Cached {
		return dst
	}
	hint, ok := snap.srv.opts.ListCache[method]
	if !ok {
		hint = snap.srv.opts.Cache
	}
	return appendCache(dst, hint)
}

// appendReadHints appends the caching hints of what was read. An answer that
// took several rounds is one client's alone, and good for once (MCP
// 2026-07-28, Caching › Cache Key).
func (snap *snapshot) appendReadHints(dst []byte, req *Request) []byte {
	switch r := req.resource.Load(); {
	case !req.rev.Modern:
		return dst
	case req.answers():
		return appendCache(dst, Cache{})
	default:
		return appendCache(dst, snap.srv.readHint(r))
	}
}

// readHint is the caching hint of reads of r: its own, if it has any.
func (s *Server) readHint(r *Resource) Cache {
	if r != nil && r.cache != nil {
		return *r.cache
	}
	if hint, ok := s.opts.ListCache[jsonrpc.MethodResourcesRead]; ok {
		return hint
	}
	return s.opts.Cache
}

func appendCache(dst []byte, hint Cache) []byte {
	dst = strconv.AppendInt(append(dst, `,"ttlMs":`...), hint.TTL.Milliseconds(), 10)
	if hint.Public {
		return append(dst, `,"cacheScope":"public"`...)
	}
	return append(dst, `,"cacheScope":"private"`...)
}

// serverInfo is the answer to server/discover.
func (snap *snapshot) serverInfo() *ServerInfo {
	info := &ServerInfo{
		Implementation: snap.srv.impl, Protocol: LatestVersion,
		Instructions: snap.srv.opts.Instructions,
	}
	dynamic := snap.srv.opts.Dynamic
	if snap.gates[wire.Tools] {
		info.Capabilities.Tools = &ListCapability{ListChanged: dynamic}
	}
	if snap.gates[wire.Prompts] {
		info.Capabilities.Prompts = &ListCapability{ListChanged: dynamic}
	}
	if snap.gates[wire.Resources] {
		info.Capabilities.Resources = &ResourcesCapability{Subscribe: snap.gates[wire.Subscribe], ListChanged: dynamic}
	}
	if snap.gates[wire.Completions] {
		info.Capabilities.Completions = &struct{}{}
	}
	if snap.gates[wire.Logging] {
		info.Capabilities.Logging = &struct{}{}
	}
	info.Capabilities.Extensions = maps.Clone(snap.extensions) // middleware may write into it
	return info
}

// appendDiscovery appends the members of a result of server/discover.
func (snap *snapshot) appendDiscovery(dst []byte, info *ServerInfo, modernOnly bool) ([]byte, error) {
	versions := snap.srv.versions(modernOnly)
	dst, err := jsonx.Append(append(dst, `"supportedVersions":`...), &versions)
	if err != nil {
		return dst, err
	}
	if dst, err = jsonx.Append(append(dst, `,"capabilities":`...), &info.Capabilities); err != nil {
		return dst, err
	}
	if info.Instructions != "" {
		dst = jsonx.AppendString(append(dst, `,"instructions":`...), info.Instructions)
	}
	return snap.appendHints(dst, jsonrpc.MethodDiscover, wire.Revisions[0]), nil
}

// encodeDiscovery encodes the result of server/discover, nil on failure.
func (snap *snapshot) encodeDiscovery() []byte {
	modern := wire.Revisions[0]
	dst, err := snap.appendDiscovery(appendOpen(nil, modern), snap.serverInfo(), false)
	if err == nil {
		dst, err = snap.appendStamp(dst, nil, modern)
	}
	if err != nil {
		return nil
	}
	return dst
}

// cached returns the encoded result of a request whose answer is the same for
// everybody, nil when there is none.
func (snap *snapshot) cached(req *Request) []byte {
	switch req.msg.Method {
	case jsonrpc.MethodDiscover:
		if !req.modernOnly {
			return snap.discovery()
		}
	}
	if l := snap.listing(req.msg.Method); l != nil && req.msg.Cursor() == nil {
		return snap.encoded(l, req.rev).first
	}
	return nil
}
