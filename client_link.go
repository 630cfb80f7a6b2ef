package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// link is a way for a client's requests to reach their server.
type link interface {
	// expect registers a request under a fresh id.
	expect(progress bool) *pending
	// send sends the request p; its answer will come to p.done. The message
	// of out is free again when send returns.
	send(ctx context.Context, p *pending, out *outgoing) error
	// cancel gives p up and tells the server, in the transport's own way.
	cancel(p *pending, reason string)
	// forget drops p; an answer that comes late is ignored.
	forget(p *pending)
	// close ends the link and waits for whatever it started.
	close() error
}

// outgoing is an encoded request, with what a transport may need of it.
type outgoing struct {
	method, name string // name is what Mcp-Name repeats, if the method has that
	msg          []byte
	params       http.Header // arguments that headers mirror; nil: none
}

// calls are the requests of a link that have no answer yet.
type calls struct {
	log *slog.Logger

	mu      sync.Mutex // protects the fields below
	lastID  int64
	pending map[int64]*pending
	err     error // not nil: why the link is down
}

// pending is a request whose answer is awaited.
type pending struct {
	id     int64
	done   chan answer        // of one element, so that nobody waits to answer
	woken  chan struct{}      // of one element: events have come; nil: none are wanted
	cancel context.CancelFunc // ends the exchange, where it has a context of its own
	held   atomic.Int64       // the timeout stands still if negative; else until when it did, in Unix nanoseconds

	mu     sync.Mutex
	events []ProgressEvent
}

type answer struct {
	result []byte
	err    error
}

// maxEvents bounds the progress that waits for a slow caller; the oldest goes
// first, as later progress says more.
const maxEvents = 1024

// expect implements link. Ids are never used twice.
func (c *calls) expect(progress bool) *pending {
	p := &pending{done: make(chan answer, 1)}
	if progress {
		p.woken = make(chan struct{}, 1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	p.id = c.lastID
	if c.err != nil {
		p.done <- answer{err: c.err}
		return p
	}
	if c.pending == nil {
		c.pending = make(map[int64]*pending)
	}
	c.pending[p.id] = p
	return p
}

// forget implements link.
func (c *calls) forget(p *pending) { c.take(p.id) }

// take removes the request with the given id and returns it, nil if its
// answer is not awaited.
func (c *calls) take(id int64) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	delete(c.pending, id)
	return p
}

// fail takes the link down, once; everybody who waits gets err. It reports
// whether it was the first.
func (c *calls) fail(err error) bool {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return false
	}
	c.err = err
	waiting := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, p := range waiting {
		p.done <- answer{err: err}
	}
	return true
}

// down returns why the link is down, nil while it is not.
func (c *calls) down() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// receive deals with one message. What is no answer or progress of ours is
// logged and dropped: a server of this revision asks nothing.
func (c *calls) receive(data []byte) {
	var m jsonrpc.Message
	if err := jsonrpc.Decode(data, Limits{}.withDefaults().Depth, &m); err != nil {
		c.log.Warn("mcp: the server sent a bad message; it was dropped", "error", err)
		return
	}
	switch {
	case m.Kind == jsonrpc.Response:
		c.answer(&m)
	case m.Kind == jsonrpc.Notification && m.Method == jsonrpc.NotifyProgress:
		c.progress(&m)
	default:
		c.log.Warn("mcp: the server sent what this client does not expect; it was dropped", "method", m.Method)
	}
}

func (c *calls) answer(m *jsonrpc.Message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		c.log.Warn("mcp: the server sent an error that belongs to no request", "error", string(m.Fault()))
		return
	}
	p := c.take(id)
	switch {
	case p == nil: // cancelled, or timed out
	case m.Fault() != nil:
		p.done <- answer{err: remoteError(m.Fault())}
	default:
		p.done <- answer{result: m.Result()}
	}
}

func (c *calls) progress(m *jsonrpc.Message) {
	var params struct {
		Token   int64   `json:"progressToken"`
		Done    float64 `json:"progress"`
		Total   float64 `json:"total"`
		Message string  `json:"message"`
	}
	if err := jsonx.Unmarshal(m.Params(), &params); err != nil {
		c.log.Warn("mcp: the server sent malformed progress; it was dropped", "error", err)
		return
	}
	c.mu.Lock()
	p := c.pending[params.Token]
	c.mu.Unlock()
	if p == nil || p.woken == nil {
		return
	}
	p.mu.Lock()
	if len(p.events) == maxEvents {
		p.events = append(p.events[:0], p.events[1:]...)
	}
	p.events = append(p.events, ProgressEvent{params.Done, params.Total, params.Message})
	p.mu.Unlock()
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// deliver runs fn for the progress that has come, in the caller's goroutine.
func (p *pending) deliver(fn func(ProgressEvent)) {
	if fn == nil {
		return
	}
	p.mu.Lock()
	events := p.events
	p.events = nil
	p.mu.Unlock()
	for _, e := range events {
		fn(e)
	}
}
