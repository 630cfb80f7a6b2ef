package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
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
	tools     map[string]*toolPlan
	lists     [1]listing
	gates     [wire.Subscribe + 1]bool // which capabilities are advertised
	discovery func() []byte            // result of server/discover, encoded once
	stamp     []byte                   // the member of _meta that names the server
	root      Handler                  // server middleware around route
	direct    bool                     // no server middleware: cached answers may be used
}

// compile builds the snapshot of what is registered.
func (s *Server) compile() *snapshot {
	snap := &snapshot{srv: s}
	snap.compileTools(&s.registry, &snap.lists[0])
	snap.gates[wire.Always] = true
	snap.gates[wire.Tools] = len(snap.tools) > 0
	snap.gates[wire.Logging] = s.opts.Logging
	snap.direct = len(s.middlewares) == 0
	snap.root = chain(snap.route, s.middlewares...)
	snap.stamp = append(jsonx.AppendString(nil, jsonrpc.MetaServerInfo), ':')
	snap.stamp, _ = jsonx.Append(snap.stamp, &s.impl) // plain strings cannot fail
	snap.discovery = sync.OnceValue(snap.encodeDiscovery)
	return snap
}

// route answers an admitted request, inside the server's middleware.
func (snap *snapshot) route(ctx context.Context, req *Request) (any, error) {
	switch req.msg.Method {
	case jsonrpc.MethodToolsCall:
		return snap.callTool(ctx, req)
	case jsonrpc.MethodDiscover:
		return snap.serverInfo(), nil
	}
	if l := snap.listing(req.msg.Method); l != nil {
		return snap.list(req, l)
	}
	return nil, errors.New("no handler for an admitted method")
}
