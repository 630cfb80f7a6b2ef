package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// link is a way for a client's messages to reach their server.
type link interface {
	// state is what the link keeps of the requests that went over it.
	state() *calls
	// send sends the request p; its answer will come to p.done. The message
	// of out is free again when send returns.
	send(ctx context.Context, p *pending, out *outgoing) error
	// tell sends a notification, or a response of an earlier revision.
	tell(ctx context.Context, msg []byte) error
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
	log    *slog.Logger
	client *Client      // takes what answers no request
	legacy atomic.Bool  // a revision before 2026-07-28 is spoken: the server may ask
	asking atomic.Int32 // questions of the server's that are being answered
	spoke  atomic.Int64 // when the last of them was, in nanoseconds of Unix time

	batches atomic.Bool // the revision that was agreed on has several messages in one piece

	mu      sync.Mutex // protects the fields below
	lastID  int64
	pending map[int64]*pending
	asked   map[string]context.CancelCauseFunc // by the key of their id: questions that are being answered
	err     error                              // not nil: why the link is down
	gone    chan struct{}                      // not nil: closed when the link goes down
}

// pending is a request whose answer is awaited.
type pending struct {
	id     int64
	done   chan answer        // of one element, so that nobody waits to answer
	woken  chan struct{}      // of one element: events have come; nil: none are wanted
	sub    *Subscription      // of a subscriptions/listen
	cancel context.CancelFunc // ends the exchange, where it has a context of its own
	silent bool               // the server is not told when it is given up
	bearer bearer             // of the exchange; set before the answer comes

	mu     sync.Mutex
	events []ProgressEvent
}

type answer struct {
	result []byte
	err    error
}

// lostError says that a request has no answer because its way to the server
// broke. The server may have worked on it, unless it is unread.
type lostError struct {
	err    error
	unread bool
}

func (e *lostError) Error() string { return e.err.Error() }

func (e *lostError) Unwrap() error { return e.err }

// maxEvents bounds the progress that waits for a slow caller; the oldest goes
// first, as later progress says more.
const maxEvents = 1024

// batchLimits allow about so many messages of a server's in one piece.
var batchLimits = Limits{InFlight: 10_000}.withDefaults()

func (c *Client) newCalls() calls { return calls{log: c.log, client: c} }

// state implements link.
func (c *calls) state() *calls { return c }

// expect registers a request under a fresh id: ids are never used twice.
func (c *calls) expect(progress, silent bool, sub *Subscription) *pending {
	p := &pending{done: make(chan answer, 1), sub: sub, silent: silent}
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

// quiet is how long nobody has answered a question of the server's.
func (c *calls) quiet() time.Duration {
	if c.asking.Load() > 0 {
		return 0
	}
	return time.Since(time.Unix(0, c.spoke.Load()))
}

// find returns the request with the given id, nil if its answer is not
// awaited.
func (c *calls) find(id int64) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending[id]
}

// idle reports whether no answer is awaited.
func (c *calls) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) == 0
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
	waiting, asked := c.pending, c.asked
	c.pending, c.asked = nil, nil
	if c.gone != nil {
		close(c.gone)
	}
	c.mu.Unlock()
	for _, end := range asked {
		end(err)
	}
	for _, p := range waiting {
		p.done <- answer{err: err}
	}
	return true
}

// underWay returns the ids of the requests whose end the server would be told.
func (c *calls) underWay() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []int64
	for id, p := range c.pending {
		if !p.silent {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// down returns why the link is down, nil while it is not.
func (c *calls) down() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fallen returns a channel that is closed when the link is down.
func (c *calls) fallen() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		c.gone = make(chan struct{})
		if c.err != nil {
			close(c.gone)
		}
	}
	return c.gone
}

// accept deals with what came over l in one piece: a message or, in revision
// 2025-03-26 alone, several (MCP 2025-03-26, Base Protocol › Batching).
func (c *calls) accept(l link, data []byte) {
	if !c.batches.Load() || !isArray(data) {
		c.receive(l, data)
		return
	}
	parts, fault := splitBatch(data, batchLimits)
	if fault != nil {
		c.log.Warn("mcp: the server sent a bad batch of messages; it was dropped", "error", fault)
	}
	for _, part := range parts {
		c.receive(l, part)
	}
}

// receive deals with one message that came over l. It never waits.
func (c *calls) receive(l link, data []byte) {
	var m jsonrpc.Message
	if err := jsonrpc.Decode(data, defaultLimits.Depth, &m); err != nil {
		c.log.Warn("mcp: the server sent a bad message; it was dropped", "error", err)
		if jsonx.DeeperThan(data, defaultLimits.Depth) {
			c.tooDeep(data, err)
		}
		return
	}
	switch {
	case m.Kind == jsonrpc.Response:
		c.answer(&m)
	case m.Kind == jsonrpc.Notification && m.Method == jsonrpc.NotifyProgress:
		c.progress(&m)
	default:
		c.client.incoming(l, &m)
	}
}

// tooDeep fails the request that data answers, for which there will be no
// other answer.
func (c *calls) tooDeep(data []byte, why error) {
	raw, err := jsonx.Find(data, "id")
	if id, own := ownID(raw); err == nil && own {
		if p := c.find(id); p != nil {
			c.settle(p, fmt.Errorf("the server's answer cannot be read: %w", why))
		}
	}
}

// ownID reads an id or a token that the client gave out.
func ownID(raw []byte) (int64, bool) {
	id, err := strconv.ParseInt(string(raw), 10, 64)
	return id, err == nil
}

func (c *calls) answer(m *jsonrpc.Message) {
	id, own := ownID(m.ID)
	if !own {
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

// settle answers p with err, unless it has an answer.
func (c *calls) settle(p *pending, err error) {
	if c.take(p.id) != nil {
		p.done <- answer{err: err}
	}
}

func (c *calls) progress(m *jsonrpc.Message) {
	var params struct {
		Done    float64 `json:"progress"`
		Total   float64 `json:"total"`
		Message string  `json:"message"`
	}
	token, err := jsonx.Find(m.Params(), "progressToken")
	if err == nil {
		err = jsonx.Unmarshal(m.Params(), &params)
	}
	if err != nil {
		c.log.Warn("mcp: the server sent malformed progress; it was dropped", "error", err)
		return
	}
	id, _ := ownID(token)
	p := c.find(id)
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

// waiting reports whether p has no answer yet.
func (c *calls) waiting(p *pending) bool { return c.find(p.id) != nil }

var errNoAnswer = errors.New("the server ended the stream before its answer")
