package mcp

import "context"

// Visible sets who may see what: fn is asked for every feature that a request
// would list, call, read, get or complete, and where it says no the feature is
// unknown, with the same answer as one that does not exist. It may depend only
// on facts of the request that ctx carries, such as its principal; it is called
// often and in several goroutines at once. A second call replaces the first.
func (s *Server) Visible(fn func(ctx context.Context, f Info) bool) {
	s.registry.mutate("visibility", func() { s.filter = fn })
}

// visible reports whether the request of ctx may know of a feature.
func (snap *snapshot) visible(ctx context.Context, info func() Info) bool {
	return snap.filter == nil || snap.filter(ctx, info())
}
