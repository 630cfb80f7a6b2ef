package mcp

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
)

func (w *watchers) add(s *Subscription) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.subs == nil {
		w.subs = make(map[*Subscription]struct{})
	}
	w.subs[s] = struct{}{}
}

func (w *watchers) remove(s *Subscription) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.subs, s)
}

func (w *watchers) all() []*Subscription {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.subs))
}

// hold counts who watches uri, and reports whether that is the first or, with
// n negative, was the last.
func (w *watchers) hold(uri string, n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.uris == nil {
		w.uris = make(map[string]int)
	}
	before := w.uris[uri]
	if w.uris[uri] = before + n; before+n == 0 {
		delete(w.uris, uri)
	}
	return before == 0 || before+n == 0
}

// watch is listen with a server before revision 2026-07-28, which tells of its
// lists unasked, and of resources after resources/subscribe (MCP 2025-11-25,
// Resources › Subscriptions).
func (s *Subscription) watch(p *peer, began func()) error {
	c, can := s.client, p.server.Capabilities
	honoured := Filter{
		Tools:     s.want.Tools && can.Tools != nil && can.Tools.ListChanged,
		Prompts:   s.want.Prompts && can.Prompts != nil && can.Prompts.ListChanged,
		Resources: s.want.Resources && can.Resources != nil && can.Resources.ListChanged,
	}
	defer func() { s.unwatch(p, honoured.URIs) }()
	for _, uri := range s.want.URIs {
		if can.Resources == nil || !can.Resources.Subscribe || slices.Contains(honoured.URIs, uri) {
			continue
		}
		if c.watched.hold(uri, 1) {
			if _, err := c.exchangeWith(s.ctx, p, uriCall(jsonrpc.MethodSubscribe, uri), &callOptions{timeout: c.opts.Timeout}); err != nil {
				c.watched.hold(uri, -1)
				if !isRemote(err) {
					return err
				}
				c.log.Warn("mcp: the server refused to tell of changes of a resource", "uri", uri, "error", err)
				continue
			}
		}
		honoured.URIs = append(honoured.URIs, uri)
	}
	s.mu.Lock()
	s.honoured = honoured
	s.mu.Unlock()
	began()
	select {
	case <-p.link.state().fallen():
		return p.link.state().down()
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// unwatch gives up what nobody else watches.
func (s *Subscription) unwatch(p *peer, uris []string) {
	c := s.client
	ctx, cancel := context.WithTimeout(c.ctx, unwatchTime)
	defer cancel()
	for _, uri := range uris {
		if !c.watched.hold(uri, -1) || ctx.Err() != nil || p.link.state().down() != nil {
			continue
		}
		if _, err := c.exchangeWith(ctx, p, uriCall(jsonrpc.MethodUnsubscribe, uri), &callOptions{timeout: unwatchTime}); err != nil {
			c.log.Warn("mcp: the server was not told that changes of a resource are no matter any more", "uri", uri, "error", err)
		}
	}
}

// unwatchTime bounds how long the end of a subscription waits for its server.
const unwatchTime = 5 * time.Second

// uriCall is a request that has nothing but a URI.
func uriCall(method, uri string) *call { return &call{method: method, params: readParams(uri)} }
