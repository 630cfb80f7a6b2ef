package mcp

import (
	"context"
	"errors"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// Filter says which changes a listener wants to be told of: those of the
// lists of tools, prompts and resources, and those of single resources, of
// which one subscription can watch 10,000.
type Filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// ResourceUpdated tells those who watch the resource at uri that it has
// changed. It never waits for them: several changes of one resource may reach
// a slow listener as one.
func (s *Server) ResourceUpdated(uri string) { s.hub.updated(uri) }

// event is a kind of change to a list.
type event uint8

const (
	toolsChanged event = iota
	promptsChanged
	resourcesChanged
	numEvents
)

var eventMethods = [numEvents]string{
	"notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed",
}

// maxWatched is how many resources one subscription can watch: what it holds
// in memory is the client's choice. Others are not acknowledged.
const maxWatched = 10_000

// hub passes changes on to those who listen.
type hub struct {
	mu        sync.Mutex // protects the fields below
	subs      map[*subscriber]struct{}
	listening int // how many of them are requests of subscriptions/listen
}

// subscriber is one request of subscriptions/listen, or a session of an
// earlier revision.
type subscriber struct {
	id   jsonrpc.ID // of the request; empty: a session
	want [numEvents]bool
	wake chan struct{} // of one element: something is due
	poke func()        // in the place of wake if not nil; it must not block

	mu      sync.Mutex // protects the fields below
	due     [numEvents]bool
	watched map[string]bool // by URI: whether a change is due; nil: none is watched
	dueURIs []string        // those that are, in order

	gone bool // it was removed for good; the hub's mu protects it
}

func (h *hub) changed(e event) {
	h.each(func(s *subscriber) bool {
		due := s.want[e] && !s.due[e]
		s.due[e] = s.due[e] || due
		return due
	})
}

func (h *hub) updated(uri string) {
	h.each(func(s *subscriber) bool {
		due, watched := s.watched[uri]
		if !watched || due {
			return false
		}
		s.watched[uri] = true
		s.dueURIs = append(s.dueURIs, uri)
		return true
	})
}

// each marks what is due at every subscriber and wakes those where mark says
// so. It never waits.
func (h *hub) each(mark func(*subscriber) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		s.mu.Lock()
		due := mark(s)
		s.mu.Unlock()
		if due {
			s.rouse()
		}
	}
}

// rouse lets s know that something is due.
func (s *subscriber) rouse() {
	if s.poke != nil {
		s.poke()
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// add takes in a request of subscriptions/listen, unless there are limit of
// them.
func (h *hub) add(s *subscriber, limit int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listening >= limit {
		return false
	}
	h.listening++
	h.put(s)
	return true
}

// join takes in a session, whose number is limited elsewhere, unless it has
// ended meanwhile.
func (h *hub) join(s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !s.gone {
		h.put(s)
	}
}

// put adds s to subs. h.mu is held.
func (h *hub) put(s *subscriber) {
	if h.subs == nil {
		h.subs = make(map[*subscriber]struct{})
	}
	h.subs[s] = struct{}{}
}

// remove lets s go; it may have gone before.
func (h *hub) remove(s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.subs[s]; there && len(s.id) > 0 {
		h.listening--
	}
	delete(h.subs, s)
	s.gone = true
}

// subscribe opens a subscription: it acknowledges what will be honoured, as
// the first message (MCP 2026-07-28, Subscriptions › Acknowledgment). It is
// the innermost Handler of subscriptions/listen.
func (snap *snapshot) subscribe(ctx context.Context, req *Request) (any, error) {
	var params struct {
		Wanted *Filter `json:"notifications"`
	}
	if raw := req.msg.Params(); raw == nil || jsonx.Unmarshal(raw, &params) != nil || params.Wanted == nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: notifications must be an object with booleans toolsListChanged, promptsListChanged, resourcesListChanged and the list of URIs resourceSubscriptions")
	}
	if req.subscriber != nil {
		return nil, errors.New("middleware called next twice for one subscription")
	}
	sub, honoured := snap.honour(ctx, req, params.Wanted)
	limit := snap.srv.opts.Limits.Streams
	if !snap.srv.hub.add(sub, limit) {
		return nil, Errorf(CodeInternalError, "Internal error: too many subscriptions (%d)", limit)
	}
	req.subscriber = sub
	filter, err := jsonx.Marshal(honoured)
	if err == nil {
		err = sub.send(ctx, req, "notifications/subscriptions/acknowledged", `"notifications":`, filter)
	}
	if err != nil {
		return nil, err
	}
	return honoured, nil
}

// honour makes the subscriber that gets what this server tells of what is
// wanted.
func (snap *snapshot) honour(ctx context.Context, req *Request, wanted *Filter) (*subscriber, *Filter) {
	dynamic := snap.srv.opts.Dynamic
	out := &Filter{
		Tools:     wanted.Tools && dynamic && snap.gates[wire.Tools],
		Prompts:   wanted.Prompts && dynamic && snap.gates[wire.Prompts],
		Resources: wanted.Resources && dynamic && snap.gates[wire.Resources],
	}
	sub := &subscriber{
		id: req.msg.ID, wake: make(chan struct{}, 1), want: [numEvents]bool{out.Tools, out.Prompts, out.Resources},
	}
	for _, uri := range wanted.URIs[:min(len(wanted.URIs), maxWatched)] {
		if _, twice := sub.watched[uri]; twice {
			continue
		}
		if p := snap.resourceAt(ctx, uri); p != nil && p.watchable && req.permits(&p.definition) {
			out.URIs = append(out.URIs, uri)
			if sub.watched == nil {
				sub.watched = make(map[string]bool)
			}
			sub.watched[uri] = false
		}
	}
	return sub, out
}

// send sends one notification of the subscription; member and value, which may
// be empty, are what params has besides _meta.
func (s *subscriber) send(ctx context.Context, req *Request, method, member string, value []byte) error {
	return req.carrier.notify(ctx, s.notice(method, member, value))
}

// notice is a notification, in the form of the subscriber's revision: with the
// id of the request that wanted it, if there is one.
func (s *subscriber) notice(method, member string, value []byte) []byte {
	msg := append(append([]byte(`{"jsonrpc":"2.0","method":"`), method...), '"')
	session := len(s.id) == 0
	if session && member == "" {
		return append(msg, '}')
	}
	msg = append(append(append(msg, `,"params":{`...), member...), value...)
	if session {
		return append(msg, "}}"...)
	}
	if member != "" {
		msg = append(msg, ',')
	}
	msg = append(append(msg, `"_meta":{"`+jsonrpc.MetaSubscriptionID+`":`...), s.id...)
	return append(msg, "}}}"...)
}

// listen answers subscriptions/listen once the chain has run: it stays with a
// subscription that was acknowledged.
func (snap *snapshot) listen(ctx context.Context, req *Request, dst []byte, v any, err error) ([]byte, *Error) {
	if req.subscriber != nil {
		defer snap.srv.hub.remove(req.subscriber)
	}
	if err != nil || req.subscriber == nil {
		return snap.respond(dst, req, v, err)
	}
	return snap.hold(ctx, req, dst), nil
}

// hold tells a subscription's changes until it ends, and appends the response
// if it is the server that ends it (MCP 2026-07-28, Subscriptions › Graceful
// Closure).
func (snap *snapshot) hold(ctx context.Context, req *Request, dst []byte) []byte {
	sub := req.subscriber
	for {
		select {
		case <-sub.wake:
			if sub.tell(ctx, req) != nil && ctx.Err() == nil {
				return dst // the client is gone
			}
		case <-ctx.Done():
			if cause := context.Cause(ctx); errors.Is(cause, ErrCancelled) || errors.Is(cause, ErrDisconnected) {
				return dst
			}
			dst = append(jsonrpc.AppendResult(dst, req.msg.ID), `{"resultType":"complete","_meta":{"`+jsonrpc.MetaSubscriptionID+`":`...)
			dst = append(append(dst, req.msg.ID...), ',')
			return append(append(dst, snap.stamp...), "}}}"...)
		}
	}
}

// tell sends what is due.
func (s *subscriber) tell(ctx context.Context, req *Request) error {
	for _, msg := range s.take() {
		if err := req.carrier.notify(ctx, msg); err != nil {
			return err
		}
	}
	return nil
}

// take returns the notifications that are due, and considers them sent.
func (s *subscriber) take() [][]byte {
	s.mu.Lock()
	due, uris := s.due, s.dueURIs
	s.due, s.dueURIs = [numEvents]bool{}, nil
	for _, uri := range uris {
		s.watched[uri] = false
	}
	s.mu.Unlock()
	var all [][]byte
	for e, is := range due {
		if is {
			all = append(all, s.notice(eventMethods[e], "", nil))
		}
	}
	for _, uri := range uris {
		all = append(all, s.notice("notifications/resources/updated", `"uri":`, jsonx.AppendString(nil, uri)))
	}
	return all
}
