package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// link is a client's end of a Conn: it matches answers to requests.
type link struct {
	conn  Conn
	out   *connWriter
	log   *slog.Logger
	end   context.CancelCauseFunc
	done  chan struct{} // closed when the reader has ended
	close func() error

	mu      sync.Mutex // protects the fields below
	lastID  int64
	pending map[int64]*pending
	err     error // not nil: why the link is down
}

// pending is a request whose answer is awaited.
type pending struct {
	id    int64
	done  chan answer   // of one element, so that the reader never waits
	woken chan struct{} // of one element: events have come

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

func newLink(ctx context.Context, conn Conn, log *slog.Logger) *link {
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	l := &link{conn: conn, log: log, end: end, done: make(chan struct{}), pending: make(map[int64]*pending)}
	l.out = &connWriter{ctx: ctx, io: conn, onFail: func(err error) {
		l.fail(fmt.Errorf("mcp: writing to the server: %w", err))
	}}
	l.close = sync.OnceValue(l.shut)
	go l.read(ctx)
	return l
}

// shut ends the link from this side and waits for the reader.
func (l *link) shut() error {
	l.fail(ErrClosed)
	err := l.conn.Close()
	<-l.done
	return err
}

// fail takes the link down, once; everybody who waits gets err.
func (l *link) fail(err error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = err
	waiting := l.pending
	l.pending = nil
	l.mu.Unlock()
	l.end(err)
	for _, p := range waiting {
		p.done <- answer{err: err}
	}
}

// expect registers a request under a fresh id. Ids are never used twice.
func (l *link) expect(progress bool) *pending {
	p := &pending{done: make(chan answer, 1)}
	if progress {
		p.woken = make(chan struct{}, 1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	p.id = l.lastID
	if l.err != nil {
		p.done <- answer{err: l.err}
		return p
	}
	l.pending[p.id] = p
	return p
}

// forget drops a request; an answer that comes late is ignored.
func (l *link) forget(p *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, p.id)
}

// take removes the request with the given id and returns it.
func (l *link) take(id int64) *pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pending[id]
	delete(l.pending, id)
	return p
}

func (l *link) send(ctx context.Context, msg []byte) error {
	if err := l.out.await(ctx); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.err != nil {
			return l.err
		}
		return fmt.Errorf("mcp: sending: %w", err)
	}
	l.out.enqueue(msg)
	l.out.flush()
	return nil
}

// cancel tells the server that the answer to p is no longer awaited.
func (l *link) cancel(p *pending, reason string) {
	if l.take(p.id) != nil {
		l.out.enqueue(cancelMessage(p.id, reason))
		l.out.flush()
	}
}

// read takes messages until the connection ends.
func (l *link) read(ctx context.Context) {
	defer close(l.done)
	for {
		msg, err := l.conn.Read(ctx)
		switch {
		case errors.Is(err, ErrTooLarge):
			l.log.Warn("mcp: the server sent a message over the size limit; it was dropped")
		case errors.Is(err, io.EOF):
			l.fail(errors.New("mcp: the server closed the connection"))
			return
		case err != nil:
			l.fail(fmt.Errorf("mcp: reading from the server: %w", err))
			return
		default:
			l.receive(bytes.Clone(msg)) // results are spans of it
		}
	}
}

// receive deals with one message. What is no answer or progress of ours is
// logged and dropped: a server of this revision asks nothing.
func (l *link) receive(data []byte) {
	var m jsonrpc.Message
	if err := jsonrpc.Decode(data, Limits{}.withDefaults().Depth, &m); err != nil {
		l.log.Warn("mcp: the server sent a bad message; it was dropped", "error", err)
		return
	}
	switch {
	case m.Kind == jsonrpc.Response:
		l.answer(&m)
	case m.Kind == jsonrpc.Notification && m.Method == jsonrpc.NotifyProgress:
		l.progress(&m)
	default:
		l.log.Warn("mcp: the server sent what this client does not expect; it was dropped", "method", m.Method)
	}
}

func (l *link) answer(m *jsonrpc.Message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		l.log.Warn("mcp: the server sent an error that belongs to no request", "error", string(m.Error))
		return
	}
	p := l.take(id)
	switch {
	case p == nil: // cancelled, or timed out
	case m.Error != nil:
		p.done <- answer{err: remoteError(m.Error)}
	default:
		p.done <- answer{result: m.Result}
	}
}

func (l *link) progress(m *jsonrpc.Message) {
	var params struct {
		Token   int64   `json:"progressToken"`
		Done    float64 `json:"progress"`
		Total   float64 `json:"total"`
		Message string  `json:"message"`
	}
	if err := jsonx.Unmarshal(m.Params.Raw, &params); err != nil {
		l.log.Warn("mcp: the server sent malformed progress; it was dropped", "error", err)
		return
	}
	l.mu.Lock()
	p := l.pending[params.Token]
	l.mu.Unlock()
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
