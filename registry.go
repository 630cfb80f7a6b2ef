package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
	"github.com/typedmcp/mcp/internal/wire"
)

// Registrar is where features are registered: a *Server or a *Scope.
type Registrar interface {
	target() target
}

// target is a server and the scope within it.
type target struct {
	srv   *Server
	scope *Scope // nil: the server itself
}

func (s *Server) target() target { return target{srv: s} }
func (s *Scope) target() target  { return target{srv: s.srv, scope: s} }

// Scope registers features under a common name prefix and with common
// middleware. It has nothing to do with the scopes of OAuth.
type Scope struct {
	srv         *Server
	parent      *Scope // nil: the server
	prefix      string
	middlewares []Middleware
}

// Scope returns a scope whose tools are named prefix, separator, name. See
// ServerOptions.ScopeSeparator. An empty prefix leaves names as they are: such
// a scope is there for its middleware.
func (s *Server) Scope(prefix string) *Scope { return &Scope{srv: s, prefix: prefix} }

// Scope returns a scope within s; prefixes add up.
func (s *Scope) Scope(prefix string) *Scope {
	return &Scope{srv: s.srv, parent: s, prefix: prefix}
}

// Use adds middleware around the features of the scope and of scopes within
// it. The first added is outermost.
func (s *Scope) Use(mw ...Middleware) {
	s.srv.use(&s.middlewares, fmt.Sprintf("middleware of scope %q", s.prefix), mw)
}

// prefixed returns the full name of a feature called name in s.
func (s *Scope) prefixed(name string) string {
	for at := s; at != nil; at = at.parent {
		if at.prefix != "" {
			name = at.prefix + at.srv.separator() + name
		}
	}
	return name
}

// all returns the middleware of s and the scopes around it, outermost first.
func (s *Scope) all() []Middleware {
	if s == nil {
		return nil
	}
	return append(s.parent.all(), s.middlewares...)
}

// registry is what has been registered so far. Server.mu protects it.
type registry struct {
	tools    []*Tool
	byName   map[string]*Tool
	seq      uint64
	problems []error
	warned   map[string]bool // texts of the warnings that were logged
	writers  map[reflect.Type]writerFunc
}

func (r *registry) addTool(t *Tool) {
	r.seq++
	t.seq = r.seq
	r.tools = append(r.tools, t)
	if t.name == "" {
		return // Check says so
	}
	if first, taken := r.byName[t.name]; taken {
		t.problem("", fmt.Errorf("the name is already taken by the tool registered at %s", first.site))
		return
	}
	if r.byName == nil {
		r.byName = make(map[string]*Tool)
	}
	r.byName[t.name] = t
}

// snapshot is an immutable state of the registry, compiled for serving.
type snapshot struct {
	srv       *Server
	listed    []*toolPlan // in order of registration
	byName    map[string]*toolPlan
	gates     [wire.Subscribe + 1]bool // which capabilities are advertised
	lists     [len(wire.Revisions)]listCache
	discovery func() []byte // result of server/discover, encoded once
	stamp     []byte        // the member of _meta that names the server
	root      Handler       // server middleware around route
	direct    bool          // no server middleware: cached answers may be used
}

// toolPlan is a tool ready to be called.
type toolPlan struct {
	*Tool
	input   *schema.Plan    // what calls are checked against
	output  *schema.Plan    // what results are checked against; nil: no output schema
	headers header.Bindings // arguments that HTTP headers mirror
	run     Handler         // scope and tool middleware around invoke
}

// compile builds the snapshot of what is registered.
func (s *Server) compile() *snapshot {
	snap := &snapshot{srv: s, byName: make(map[string]*toolPlan, len(s.registry.tools))}
	for _, t := range s.registry.tools {
		if t.disabled {
			continue
		}
		p := &toolPlan{Tool: t, input: t.given.inPlan, output: t.given.outPlan}
		if t.strict || s.opts.StrictArgs {
			p.input = p.input.Strict()
		}
		p.headers = p.input.Headers()
		p.run = chain(p.invoke, append(t.scope.all(), t.middlewares...)...)
		snap.byName[t.name] = p
		if !t.hidden {
			snap.listed = append(snap.listed, p)
		}
	}
	snap.gates[wire.Always] = true
	snap.gates[wire.Tools] = len(snap.byName) > 0
	snap.gates[wire.Logging] = s.opts.Logging
	snap.direct = len(s.middlewares) == 0
	snap.root = chain(snap.route, s.middlewares...)
	snap.stamp = append(jsonx.AppendString(nil, jsonrpc.MetaServerInfo), ':')
	snap.stamp, _ = jsonx.Append(snap.stamp, &s.impl) // plain strings cannot fail
	snap.discovery = sync.OnceValue(snap.encodeDiscovery)
	return snap
}

// lookup finds the tool named by the JSON string quoted.
func (snap *snapshot) lookup(quoted []byte) (*toolPlan, error) {
	if len(quoted) == 0 || quoted[0] != '"' {
		return nil, Errorf(CodeInvalidParams, "Invalid params: name must be a string, the name of a tool")
	}
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		if p := snap.byName[string(inner)]; p != nil {
			return p, nil
		}
	}
	name, _ := unquoted(quoted)
	if p := snap.byName[name]; p != nil {
		return p, nil
	}
	return nil, Errorf(CodeInvalidParams, "Unknown tool: %.200q", name)
}

// invoke checks the arguments and runs the handler: the innermost Handler of
// a tool call.
func (p *toolPlan) invoke(ctx context.Context, req *Request) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = p.srv.panicked(p.feature(), v)
		}
	}()
	args := req.msg.Params.Arguments
	if len(args) == 0 || args[0] == 'n' {
		args = emptyObject
	}
	if args[0] != '{' {
		return nil, Errorf(CodeInvalidParams, "Invalid params: arguments must be a JSON object")
	}
	if args, err = checkArgs(p.input, args); err != nil {
		return nil, err
	}
	result, err := p.call(ctx, args)
	if err != nil {
		return nil, err
	}
	return result, nil
}

var emptyObject = []byte("{}")

// route answers an admitted request, inside the server's middleware.
func (snap *snapshot) route(ctx context.Context, req *Request) (any, error) {
	switch req.msg.Method {
	case jsonrpc.MethodToolsCall:
		p, err := snap.lookup(req.msg.Params.Name)
		if err != nil {
			return nil, err
		}
		req.tool.Store(p)
		if fault := p.checkParams(req); fault != nil {
			return nil, fault
		}
		return p.run(ctx, req)
	case jsonrpc.MethodToolsList:
		return snap.listTools(req)
	case jsonrpc.MethodDiscover:
		return snap.serverInfo(), nil
	}
	return nil, errors.New("no handler for an admitted method")
}
