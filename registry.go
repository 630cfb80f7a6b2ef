package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// Registrar is where features are registered: a *Server, a *Scope or, while a
// server is serving, an *Update.
type Registrar interface {
	target() target
}

// target is a server and the scope within it.
type target struct {
	srv   *Server
	reg   *registry
	scope *Scope // nil: the server itself
}

func (s *Server) target() target { return target{srv: s, reg: s.registry} }
func (s *Scope) target() target  { return target{srv: s.srv, reg: s.reg, scope: s} }

// Scope registers features under a common name prefix and with common
// middleware. It has nothing to do with the scopes of OAuth.
type Scope struct {
	srv         *Server
	reg         *registry
	parent      *Scope // nil: the server
	prefix      string
	middlewares []Middleware
}

// Scope returns a scope whose tools are named prefix, separator, name. See
// ServerOptions.ScopeSeparator. An empty prefix leaves names as they are: such
// a scope is there for its middleware.
func (s *Server) Scope(prefix string) *Scope { return &Scope{srv: s, reg: s.registry, prefix: prefix} }

// Scope returns a scope within s; prefixes add up.
func (s *Scope) Scope(prefix string) *Scope {
	return &Scope{srv: s.srv, reg: s.reg, parent: s, prefix: prefix}
}

// Use adds middleware around the features of the scope and of scopes within
// it. The first added is outermost.
func (s *Scope) Use(mw ...Middleware) {
	s.reg.use(&s.middlewares, fmt.Sprintf("middleware of scope %q", s.prefix), mw)
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
	srv       *Server
	frozen    bool   // nothing may be changed any more
	edits     uint64 // how often something was changed
	tools     []*Tool
	prompts   []*Prompt
	resources []*Resource
	byName    map[string]*definition // by kind and name, or URI
	seq       uint64
	problems  []error
	warned    map[string]bool // texts of the warnings that were logged
	methods   map[string]*extensionMethod
	writers   map[reflect.Type]writerFunc

	filterSite callSite // of Visible
}

// mutate applies a change to what is registered. It panics when the server is
// already serving; feature is what was to be changed.
func (r *registry) mutate(feature string, apply func()) {
	r.srv.mu.Lock()
	defer r.srv.mu.Unlock()
	if r.frozen {
		panic(&FrozenError{Feature: feature, Caller: callerSite().String()})
	}
	r.edits++
	apply()
}

func (r *registry) addTool(t *Tool) {
	r.tools = append(r.tools, t)
	r.enter(&t.definition, t.name)
}

func (r *registry) addPrompt(p *Prompt) {
	r.prompts = append(r.prompts, p)
	r.enter(&p.definition, p.name)
}

func (r *registry) addResource(res *Resource) {
	r.resources = append(r.resources, res)
	r.enter(&res.definition, res.uri)
}

// enter gives d its place and holds its name to be the only one of its kind.
func (r *registry) enter(d *definition, name string) {
	r.seq++
	d.seq = r.seq
	if name == "" {
		return // Check says so
	}
	key := d.kind + " " + name
	if first := r.byName[key]; first != nil {
		d.problem("", fmt.Errorf("the name is already taken by the %s registered at %s", d.kind, first.site))
		return
	}
	if r.byName == nil {
		r.byName = make(map[string]*definition)
	}
	r.byName[key] = d
}

// snapshot is an immutable state of the registry, compiled for serving.
type snapshot struct {
	srv        *Server
	tools      map[string]*toolPlan
	prompts    map[string]*promptPlan
	resources  map[string]*resourcePlan // by URI
	templates  []*resourcePlan          // in order of registration
	trees      []*resourcePlan          // of files, in order of registration
	methods    map[string]*extensionMethod
	lists      [4]listing                             // tools, prompts, resources, templates
	filter     func(ctx context.Context, f Info) bool // nil: everything is visible
	gates      [wire.Subscribe + 1]bool               // which capabilities are advertised
	extensions map[string]json.RawMessage
	discovery  func() []byte // result of server/discover, encoded once
	stamp      []byte        // the member of _meta that names the server
	root       Handler       // server middleware around route
	direct     bool          // no server middleware: cached answers may be used
}

// latest is the snapshot to answer the next request from.
func (snap *snapshot) latest() *snapshot { return snap.srv.current.Load() }

// compile builds the snapshot of what is registered.
func (s *Server) compile(r *registry) *snapshot {
	snap := &snapshot{srv: s}
	snap.compileTools(r, &snap.lists[0])
	snap.compilePrompts(r, &snap.lists[1])
	snap.compileResources(r, &snap.lists[2], &snap.lists[3])
	snap.filter, snap.methods = s.filter, r.methods
	snap.gates[wire.Always] = true
	snap.gates[wire.Tools] = len(snap.tools) > 0 || s.opts.Dynamic
	snap.gates[wire.Logging] = s.opts.Logging
	snap.direct = len(s.middlewares) == 0 && s.filter == nil
	snap.root = chain(snap.route, s.middlewares...)
	snap.extensions = r.extensions()
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
	case jsonrpc.MethodPromptsGet:
		return snap.getPrompt(ctx, req)
	case jsonrpc.MethodResourcesRead:
		return snap.readResource(ctx, req)
	case jsonrpc.MethodComplete:
		return snap.complete(ctx, req)
	case jsonrpc.MethodDiscover:
		return snap.serverInfo(), nil
	case jsonrpc.MethodListen:
		return snap.subscribe(ctx, req)
	case jsonrpc.MethodSetLevel:
		return req.session.setLevel(req)
	case jsonrpc.MethodSubscribe:
		return snap.watch(ctx, req)
	case jsonrpc.MethodUnsubscribe:
		return req.session.unwatch(req)
	}
	if m := snap.methods[req.msg.Method]; m != nil {
		return m.run(ctx, req)
	}
	if l := snap.listing(req.msg.Method); l != nil {
		return snap.list(ctx, req, l)
	}
	return nil, errors.New("no handler for an admitted method")
}
