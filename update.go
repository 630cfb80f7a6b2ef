package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Update is a change to a Dynamic server. It is a Registrar; it, its scopes
// and the handles that come from it are dead once Server.Update returns: using
// them panics with a *FrozenError. It may be used by several goroutines.
type Update struct {
	srv *Server
	reg *registry
}

func (u *Update) target() target { return target{srv: u.srv, reg: u.reg} }

// Scope returns a scope for features that the update adds.
func (u *Update) Scope(prefix string) *Scope { return &Scope{srv: u.srv, reg: u.reg, prefix: prefix} }

var (
	errNotDynamic = errors.New("mcp: Update needs ServerOptions.Dynamic")
	errOverlap    = errors.New("mcp: the server was changed by other means during an Update, which was dropped; change it through the Update alone")
)

// Update changes what a Dynamic server offers, before and while it serves. fn
// adds, edits and removes; when it returns nil and Check has nothing to say of
// the outcome, all of it takes effect at once, and otherwise none of it.
// Requests see the state before or after, never one in between, and those
// under way finish with the one they began with. Clients that listen are told
// once of each kind of list that changed. Updates run one after another; fn
// must not call Update.
func (s *Server) Update(fn func(u *Update) error) error {
	if !s.opts.Dynamic {
		return errNotDynamic
	}
	s.updating.Lock()
	defer s.updating.Unlock()
	u := &Update{srv: s, reg: s.stage()}
	defer u.end()
	edits := u.reg.edits
	if err := fn(u); err != nil {
		return err
	}
	s.walkTrees(u.reg)
	warnings, before, after, err := s.publish(u.reg, edits)
	s.warn(warnings)
	if err != nil || before == nil {
		return err
	}
	var changed [numEvents]bool // resources and templates are two lists of one kind
	for i := range after.lists {
		l := &after.lists[i]
		changed[l.event] = changed[l.event] || !l.sameAs(&before.lists[i])
	}
	for e, is := range changed {
		if is {
			s.hub.changed(event(e))
		}
	}
	return nil
}

// end makes the update and its handles useless.
func (u *Update) end() {
	u.srv.mu.Lock()
	defer u.srv.mu.Unlock()
	u.reg.frozen = true
}

// stage returns a copy of what is registered, to be changed.
func (s *Server) stage() *registry {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := *s.registry
	r.frozen = false
	r.tools, r.prompts, r.resources = slices.Clone(r.tools), slices.Clone(r.prompts), slices.Clone(r.resources)
	r.byName, r.problems = maps.Clone(r.byName), slices.Clone(r.problems)
	return &r
}

// publish puts the staged r into effect. edits is how often the server had
// been changed when r was staged. The snapshots are nil before the server
// serves.
func (s *Server) publish(r *registry, edits uint64) (warnings []*RegistrationError, before, after *snapshot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.registry.edits != edits {
		return nil, nil, nil, errOverlap
	}
	if warnings, err = r.check(); err != nil {
		return warnings, nil, nil, err
	}
	serving := s.registry.frozen
	*s.registry = *r // in its place: handles and scopes from before know this one
	s.registry.frozen = serving
	if !serving {
		return warnings, nil, nil, nil
	}
	after = s.compile(s.registry)
	return warnings, s.current.Swap(after), after, nil
}

// RemoveTool removes tools by their full names. An unknown one is an error,
// and then none is removed.
func (u *Update) RemoveTool(names ...string) error {
	return u.remove(kindTool, names, func(gone map[*definition]bool) {
		u.reg.tools = slices.DeleteFunc(u.reg.tools, func(t *Tool) bool { return gone[&t.definition] })
	})
}

// RemovePrompt removes prompts by their full names. An unknown one is an
// error, and then none is removed.
func (u *Update) RemovePrompt(names ...string) error {
	return u.remove(kindPrompt, names, func(gone map[*definition]bool) {
		u.reg.prompts = slices.DeleteFunc(u.reg.prompts, func(p *Prompt) bool { return gone[&p.definition] })
	})
}

// RemoveResource removes resources by their URIs, templates by their text and
// trees of files by their base. An unknown one is an error, and then none is
// removed.
func (u *Update) RemoveResource(uris ...string) error {
	return u.remove(kindResource, uris, func(gone map[*definition]bool) {
		u.reg.resources = slices.DeleteFunc(u.reg.resources, func(r *Resource) bool { return gone[&r.definition] })
	})
}

// remove takes the named definitions of a kind off the registry.
func (u *Update) remove(kind string, names []string, drop func(gone map[*definition]bool)) (err error) {
	u.reg.mutate(kind, func() {
		gone := make(map[*definition]bool)
		for _, name := range names {
			d := u.reg.byName[kind+" "+name]
			if d == nil && kind == kindResource {
				d = u.reg.byName[kindTemplate+" "+name]
			}
			if d == nil {
				err = errors.Join(err, fmt.Errorf("mcp: there is no %s %q to remove", kind, name))
				continue
			}
			gone[d] = true
		}
		if err != nil {
			return
		}
		maps.DeleteFunc(u.reg.byName, func(_ string, d *definition) bool { return gone[d] })
		drop(gone)
	})
	return err
}

// Tool returns the handle of the tool with that full name, to be edited; nil
// if there is none. The tool that is being served stays as it is until the
// update takes effect.
func (u *Update) Tool(name string) *Tool {
	var edited *Tool
	u.reg.mutate(kindTool, func() {
		i := slices.IndexFunc(u.reg.tools, func(t *Tool) bool { return t.name == name })
		if i < 0 {
			return
		}
		if edited = u.reg.tools[i]; edited.reg == u.reg { // it is this update's already
			return
		}
		t := *edited
		t.reg = u.reg
		t.given.compiled = false
		t.icons, t.middlewares, t.tags, t.scopes = slices.Clone(t.icons), slices.Clone(t.middlewares), maps.Clone(t.tags), slices.Clone(t.scopes)
		t.problems, t.warnings = slices.Clone(t.problems), slices.Clone(t.warnings)
		u.reg.tools[i] = &t
		u.reg.byName[kindTool+" "+name] = &t.definition
		edited = &t
	})
	return edited
}

// sameAs reports whether two lists have the very same entries.
func (l *listing) sameAs(other *listing) bool {
	return slices.EqualFunc(l.items, other.items, func(a, b listed) bool {
		return a.definitionOf() == b.definitionOf() && a.order() == b.order()
	})
}
