package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Visible sets who may see what: fn is asked for every feature that a request
// would list, call, read, get or complete, and where it says no the feature is
// unknown, with the same answer as one that does not exist. It may depend only
// on facts of the request that ctx carries, such as its principal; it is called
// often and in several goroutines at once. A second call replaces the first.
func (s *Server) Visible(fn func(ctx context.Context, f Info) bool) {
	site := callerSite()
	s.registry.mutate("visibility", func() { s.filter, s.registry.filterSite = fn, site })
}

// visible reports whether the request of ctx may know of a feature.
func (snap *snapshot) visible(ctx context.Context, info func() Info) bool {
	return snap.filter == nil || snap.filter(ctx, info())
}

// checkShared finds caching hints that would hand to some what only others may
// have: a shared cache asks nobody who they are (MCP 2026-07-28, Caching ›
// Security Considerations).
func (r *registry) checkShared() (problems []*RegistrationError) {
	s := r.srv
	filtered := s.filter != nil
	bad := func(d *definition, why string) {
		e := &RegistrationError{Feature: "server", Caller: r.filterSite.String()}
		if d != nil {
			e.Feature, e.Caller = d.feature(), d.site.String()
		}
		e.Err = fmt.Errorf("a public cache %s; leave Public unset", why)
		problems = append(problems, e)
	}
	if filtered && s.opts.Cache.Public {
		bad(nil, "would show to all what Visible shows to some (option Cache)")
	}
	for _, method := range slices.Sorted(maps.Keys(s.opts.ListCache)) {
		if filtered && s.opts.ListCache[method].Public {
			bad(nil, fmt.Sprintf("would show to all what Visible shows to some (option ListCache, %q)", method))
		}
	}
	for _, res := range r.resources {
		switch hint := s.readHint(res); {
		case filtered && res.cache != nil && res.cache.Public:
			bad(&res.definition, "would show to all what Visible shows to some")
		case hint.Public && res.scopes != nil:
			bad(&res.definition, "would serve the resource without the scopes it requires")
		}
	}
	return problems
}
