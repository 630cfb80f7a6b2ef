package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// Event is a change that a server tells of. Kind is tools, prompts or
// resources, for a list that has changed, or updated, for the resource URI.
type Event struct {
	Kind, URI string
}

// The kinds of Event.
const (
	kindTools     = "tools"
	kindPrompts   = "prompts"
	kindResources = "resources"
	kindUpdated   = "updated"
)

const (
	notifyAcknowledged = "notifications/subscriptions/acknowledged"
	notifyUpdated      = "notifications/resources/updated"
)

// eventOf reads a notification of a change.
func eventOf(m *jsonrpc.Message) (Event, bool) {
	switch m.Method {
	case eventMethods[toolsChanged]:
		return Event{Kind: kindTools}, true
	case eventMethods[promptsChanged]:
		return Event{Kind: kindPrompts}, true
	case eventMethods[resourcesChanged]:
		return Event{Kind: kindResources}, true
	case notifyUpdated:
		uri, _ := jsonx.View(m.URI())
		return Event{Kind: kindUpdated, URI: string([]byte(uri))}, true
	}
	return Event{}, false
}

// Subscription tells of changes at a server. It is safe for concurrent use;
// Close it when done.
type Subscription struct {
	client *Client
	want   Filter
	ctx    context.Context
	end    context.CancelCauseFunc
	done   chan struct{} // closed when nothing runs any more
	acked  chan struct{} // of one element: the server has acknowledged
	wake   chan struct{} // of one element: an event is due, or it is over

	mu       sync.Mutex // protects the fields below
	honoured Filter
	due      []Event // in order, each at most once
	isDue    map[Event]bool
	err      error // why it is over, if not by Close
	over     bool
}

// watchers are the subscriptions of a client.
type watchers struct {
	mu   sync.Mutex // protects the fields below
	subs map[*Subscription]struct{}
	uris map[string]int // before 2026-07-28: how many subscriptions watch each
}

// errEnded is the end of a subscription that its server has ended.
var errEnded = errors.New("the server ended the subscription")

// Listen has the server tell of the changes that f asks for, until ctx ends,
// the server ends it, or Close. It returns after the server's acknowledgement:
// see Honoured for what is told of (MCP 2026-07-28, Subscriptions).
//
// A connection that is lost is opened anew, with growing pauses; then every
// kind of change that was asked for is reported once, for there may have been
// one in between. A server before revision 2026-07-28 is asked for the single
// resources; it tells of its lists unasked.
func (c *Client) Listen(ctx context.Context, f Filter) (*Subscription, error) {
	s := &Subscription{
		client: c, want: f, done: make(chan struct{}), acked: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	s.want.URIs = slices.Clone(f.URIs)
	s.ctx, s.end = context.WithCancelCause(ctx)
	ready := make(chan error, 1)
	if err := c.start(func() {
		defer close(s.done)
		defer context.AfterFunc(c.ctx, func() { s.end(context.Cause(c.ctx)) })()
		c.watched.add(s)
		defer c.watched.remove(s)
		s.run(ready)
	}); err != nil {
		s.end(err)
		return nil, err
	}
	if err := <-ready; err != nil {
		<-s.done
		return nil, prefixed(err)
	}
	return s, nil
}

// Honoured is what the server tells of, of what was asked for.
func (s *Subscription) Honoured() Filter {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.honoured
	f.URIs = slices.Clone(f.URIs)
	return f
}

// Events waits for changes and yields them, until the subscription is over.
// Several changes of one thing may be reported as one. An error, why it is
// over, comes last; there is none after Close, or when the server has ended
// the subscription in good order.
func (s *Subscription) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			e, ok, err := s.next()
			switch {
			case err != nil:
				yield(Event{}, err)
				return
			case !ok:
				return
			case !yield(e, nil):
				return
			}
		}
	}
}

// next waits for an event.
func (s *Subscription) next() (e Event, ok bool, err error) {
	for {
		s.mu.Lock()
		if len(s.due) > 0 {
			e = s.due[0]
			s.due = s.due[1:]
			delete(s.isDue, e)
			if len(s.due) > 0 || s.over {
				s.rouse() // others may be waiting too
			}
			s.mu.Unlock()
			return e, true, nil
		}
		over, err := s.over, s.err
		s.mu.Unlock()
		if over {
			s.rouse()
			return Event{}, false, err
		}
		<-s.wake
	}
}

// Close ends the subscription, and waits until the server was told. It may be
// called more than once.
func (s *Subscription) Close() error {
	s.end(ErrClosed)
	<-s.done
	return nil
}

func (s *Subscription) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// tell makes e due, if it was asked for. No more is kept than a subscription
// can ask for, whatever a server sends to a slow reader.
func (s *Subscription) tell(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.honoured.has(e) || s.isDue[e] || len(s.due) > maxWatched {
		return
	}
	if s.isDue == nil {
		s.isDue = make(map[Event]bool)
	}
	s.isDue[e] = true
	s.due = append(s.due, e)
	s.rouse()
}

// has reports whether f asks for e. An update of a part of a resource that is
// watched counts.
func (f *Filter) has(e Event) bool {
	switch e.Kind {
	case kindTools:
		return f.Tools
	case kindPrompts:
		return f.Prompts
	case kindResources:
		return f.Resources
	}
	return len(f.URIs) > 0
}

// missed makes everything due: changes may have gone by.
func (s *Subscription) missed() {
	s.mu.Lock()
	f := s.honoured
	s.mu.Unlock()
	for _, kind := range []string{kindTools, kindPrompts, kindResources} {
		s.tell(Event{Kind: kind})
	}
	for _, uri := range f.URIs {
		s.tell(Event{Kind: kindUpdated, URI: uri})
	}
}

// run listens until the subscription is over. The outcome of the first attempt
// goes to ready.
func (s *Subscription) run(ready chan<- error) {
	const longest = 30 * time.Second
	pause := time.Duration(0)
	began := false
	for {
		err := s.listen(func() {
			if began {
				s.missed()
			} else {
				ready <- nil
			}
			began, pause = true, 0
		})
		var lost *lostError
		switch {
		case s.ctx.Err() != nil:
			if err = context.Cause(s.ctx); errors.Is(err, ErrClosed) && s.client.ctx.Err() == nil {
				err = nil
			}
		case began && !errors.Is(err, errEnded) && (errors.As(err, &lost) || s.client.transport.about().renews && !isRemote(err)):
			pause = min(max(2*pause, 100*time.Millisecond), longest)
			s.client.log.Warn("mcp: a subscription was interrupted; it is opened anew", "error", err)
			if sleep(s.ctx, pause/2+rand.N(pause/2)) == nil {
				continue
			}
			err = nil
		}
		s.finish(err)
		if !began {
			ready <- err
		}
		return
	}
}

func isRemote(err error) bool {
	var remote *Error
	return errors.As(err, &remote)
}

func (s *Subscription) finish(err error) {
	if errors.Is(err, errEnded) {
		err = nil
	}
	if err != nil {
		err = prefixed(err)
	}
	s.mu.Lock()
	s.over, s.err = true, err
	s.mu.Unlock()
	s.end(err)
	s.rouse()
}

// listen subscribes once, calls began when the server has acknowledged, and
// returns why that is over.
func (s *Subscription) listen(began func()) error {
	c := s.client
	p, err := c.reach(s.ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", jsonrpc.MethodListen, err)
	}
	if !p.rev.Modern {
		return s.watch(p, began)
	}
	q := p.link.state().expect(false, false, s)
	defer p.link.forget(q)
	r := &call{method: jsonrpc.MethodListen, params: func(dst []byte) ([]byte, error) {
		dst, err := jsonx.Append(append(dst, `"notifications":`...), &s.want)
		return append(dst, ','), err
	}}
	if err := c.send(s.ctx, p, q, r, new(callOptions)); err != nil {
		return about(r.method, err)
	}
	timeout := time.NewTimer(c.opts.Timeout)
	defer timeout.Stop()
	for {
		select {
		case <-s.acked:
			timeout.Stop()
			began()
		case a := <-q.done:
			if a.err == nil {
				a.err = errEnded
			}
			return about(r.method, a.err)
		case <-timeout.C:
			p.link.cancel(q, "timeout")
			return fmt.Errorf("%s: no acknowledgement after %v: %w", r.method, c.opts.Timeout, context.DeadlineExceeded)
		case <-s.ctx.Done():
			p.link.cancel(q, context.Cause(s.ctx).Error())
			return context.Cause(s.ctx)
		}
	}
}

// subscription returns the subscription that a notification is tagged for.
func (k *calls) subscription(m *jsonrpc.Message) *Subscription {
	tag, _ := jsonx.Find(m.Params(), "_meta", jsonrpc.MetaSubscriptionID)
	id, own := ownID(tag)
	if !own {
		return nil
	}
	if p := k.find(id); p != nil {
		return p.sub
	}
	return nil
}

// acknowledged takes in what a server will tell of.
func (k *calls) acknowledged(m *jsonrpc.Message) {
	var params struct {
		Honoured Filter `json:"notifications"`
	}
	s := k.subscription(m)
	if s == nil {
		return
	}
	if err := jsonx.Unmarshal(m.Params(), &params); err != nil {
		k.log.Warn("mcp: the server sent a malformed acknowledgement of a subscription; it counts as one of nothing", "error", err)
	}
	s.mu.Lock()
	s.honoured = params.Honoured
	s.mu.Unlock()
	select {
	case s.acked <- struct{}{}:
	default:
	}
}

// changed passes a change on to those who listen, and takes what it makes
// stale out of the cache (MCP 2026-07-28, Caching › Notifications).
func (c *Client) changed(k *calls, m *jsonrpc.Message, e Event) {
	switch e.Kind {
	case kindTools:
		c.cache.drop(jsonrpc.MethodToolsList)
	case kindPrompts:
		c.cache.drop(jsonrpc.MethodPromptsList)
	case kindResources:
		c.cache.drop(jsonrpc.MethodResourcesList)
		c.cache.drop(jsonrpc.MethodTemplatesList)
	default:
		c.cache.dropRead(e.URI)
	}
	if !k.legacy.Load() {
		if s := k.subscription(m); s != nil {
			s.tell(e)
		}
		return
	}
	for _, s := range c.watched.all() {
		s.tell(e)
	}
}
