package mcp

import (
	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// The checks of this file hold the headers of an HTTP request to its body
// (MCP 2026-07-28, Streamable HTTP › Server Validation). The body is the
// truth; a difference is refused before anything runs. Off HTTP they pass.

func headerFault(err error) *Error {
	return Errorf(CodeHeaderMismatch, "Header mismatch: %v", err)
}

// checkVersionHeader refuses a request without the version header.
func checkVersionHeader(req *Request) *Error {
	if req.header == nil {
		return nil
	}
	switch _, present, repeated := header.One(req.header, header.ProtocolVersion); {
	case repeated:
		return Errorf(CodeHeaderMismatch, "Header mismatch: %s is repeated; send it once", header.Display(header.ProtocolVersion))
	case !present:
		return Errorf(CodeHeaderMismatch, "Header mismatch: %s is missing; send the version that _meta names", header.Display(header.ProtocolVersion))
	}
	return nil
}

// matchHeader refuses a request whose header differs from the JSON string in
// its body.
func matchHeader(req *Request, key string, quoted []byte) *Error {
	if req.header == nil {
		return nil
	}
	want, _ := jsonx.View(quoted)
	if err := header.Match(req.header, key, want); err != nil {
		return headerFault(err)
	}
	return nil
}

// matchRouting compares the headers by which intermediaries route.
func matchRouting(req *Request) *Error {
	if req.header == nil {
		return nil
	}
	if err := header.Match(req.header, header.Method, req.msg.Method); err != nil {
		return headerFault(err)
	}
	switch req.msg.Method {
	case jsonrpc.MethodToolsCall, jsonrpc.MethodPromptsGet:
		return matchName(req, req.msg.Name())
	case jsonrpc.MethodResourcesRead:
		return matchName(req, req.msg.URI())
	}
	return nil
}

// matchName compares Mcp-Name. A body without a name is refused later, as the
// invalid request that it is.
func matchName(req *Request, quoted []byte) *Error {
	if len(quoted) == 0 || quoted[0] != '"' {
		return nil
	}
	return matchHeader(req, header.Name, quoted)
}

// checkParams compares the headers that mirror arguments of the tool; older
// revisions have none. Arguments that are no object are refused later, as the
// invalid params that they are.
func (p *toolPlan) checkParams(req *Request) *Error {
	args := req.msg.Arguments()
	if req.header == nil || !req.rev.Modern || len(args) > 0 && args[0] != '{' && args[0] != 'n' {
		return nil
	}
	for i := range p.headers {
		b := &p.headers[i]
		raw, err := jsonx.Find(args, b.Path...)
		if err != nil { // refused with the other faults of the arguments
			continue
		}
		if err := b.Check(req.header, raw, jsonx.Unquote); err != nil {
			return headerFault(err)
		}
	}
	return nil
}
