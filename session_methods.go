package mcp

import (
	"context"
	"slices"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// done is the result of a method that has nothing to say.
type done struct{}

// logLevel is the least level of logs that the client of s wants; "" for none,
// which is so until it says something else.
func (s *session) logLevel() string {
	if n := s.level.Load(); n > 0 {
		return logLevels[n-1].name
	}
	return ""
}

// setLevel answers logging/setLevel (MCP 2025-11-25, Logging › Setting Log
// Level).
func (s *session) setLevel(req *Request) (*done, error) {
	var params struct {
		Level string `json:"level"`
	}
	if raw := req.msg.Params(); raw != nil {
		_ = jsonx.Unmarshal(raw, &params) // what cannot be read is no level
	}
	for i := range logLevels {
		if logLevels[i].name == params.Level {
			s.level.Store(int32(i) + 1)
			return new(done), nil
		}
	}
	return nil, Errorf(CodeInvalidParams, "Invalid params: level must be one of debug, info, notice, warning, error, critical, alert, emergency")
}

// watch answers resources/subscribe (MCP 2025-11-25, Resources ›
// Subscriptions).
func (snap *snapshot) watch(ctx context.Context, req *Request) (*done, error) {
	uri, ok := unquoted(req.msg.URI())
	if !ok {
		return nil, Errorf(CodeInvalidParams, "Invalid params: uri must be a string")
	}
	p := snap.resourceAt(ctx, uri)
	switch {
	case p == nil || !req.permits(&p.definition):
		return nil, notFound(uri, req.rev)
	case !p.watchable:
		return nil, Errorf(CodeInvalidParams, "Invalid params: changes of the resource %.200q are not announced", uri)
	case !req.session.sub.watch(uri):
		return nil, Errorf(CodeInternalError, "Internal error: too many watched resources (%d); unsubscribe from some", maxWatched)
	}
	return new(done), nil
}

// unwatch answers resources/unsubscribe. To stop what was not begun is no
// fault.
func (s *session) unwatch(req *Request) (*done, error) {
	uri, ok := unquoted(req.msg.URI())
	if !ok {
		return nil, Errorf(CodeInvalidParams, "Invalid params: uri must be a string")
	}
	s.sub.unwatch(uri)
	return new(done), nil
}

// watch has the subscriber told of changes at uri, unless that would be too
// many.
func (s *subscriber) watch(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.watched[uri]; twice {
		return true
	}
	if len(s.watched) >= maxWatched {
		return false
	}
	if s.watched == nil {
		s.watched = make(map[string]bool)
	}
	s.watched[uri] = false
	return true
}

// unwatch ends watch, also for a change that has not been told yet.
func (s *subscriber) unwatch(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, uri)
	s.dueURIs = slices.DeleteFunc(s.dueURIs, func(due string) bool { return due == uri })
}
