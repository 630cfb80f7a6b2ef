package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Transport is a way to reach a server, for Dial: Command, HTTP, InMemory or
// Custom. A value may be used again, for another connection of its own; it
// remembers which revision of MCP the server spoke.
type Transport interface {
	// open connects; ctx bounds that alone. e matters to transports that
	// differ between revisions.
	open(ctx context.Context, c *Client, e era) (link, error)
	about() *traits
}

// InMemory reaches a server in the same process: for tests, and for programs
// that are their own client. Messages are encoded and decoded as on any other
// transport. Dial fails with what s.Check finds.
//
//	client, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
//
// Each Dial opens a connection of its own; values of its context reach the
// handlers.
func InMemory(s *Server) Transport { return &memoryTransport{srv: s} }

type memoryTransport struct {
	traits
	srv *Server
}

func (t *memoryTransport) open(ctx context.Context, c *Client, _ era) (link, error) {
	if _, err := t.srv.freeze(); err != nil {
		return nil, err
	}
	l := &memoryLink{calls: c.newCalls(), up: make(chan *[]byte, memoryBacklog), closed: make(chan struct{}), served: make(chan struct{})}
	l.shut = sync.OnceFunc(func() { close(l.closed) })
	go func() {
		defer close(l.served)
		_ = t.srv.Serve(context.WithoutCancel(ctx), &memoryConn{link: l}) // the client sees its end of it
		l.fail(&lostError{err: errors.New("the server closed the connection")})
	}()
	return l, nil
}

// memoryBacklog is how many messages of a client may wait.
const memoryBacklog = 64

// memoryLink is the client's end: what it sends waits for the server to read,
// and what the server writes is dealt with at once, in the goroutine that
// writes. So a call passes through no more goroutines than the server has for
// it.
type memoryLink struct {
	calls
	up     chan *[]byte
	closed chan struct{} // by either end
	shut   func()
	served chan struct{} // closed when the server is done
}

// send implements link.
func (l *memoryLink) send(ctx context.Context, _ *pending, out *outgoing) error {
	return l.tell(ctx, out.msg)
}

// tell implements link.
func (l *memoryLink) tell(ctx context.Context, msg []byte) error {
	buf := responses.Get().(*[]byte)
	*buf = append((*buf)[:0], msg...)
	select {
	case l.up <- buf:
		return nil
	case <-l.closed:
		if err := l.down(); err != nil {
			return err
		}
		return &lostError{err: errors.New("the server closed the connection"), unread: true}
	case <-ctx.Done():
		return fmt.Errorf("sending: %w", context.Cause(ctx))
	}
}

// cancel implements link: a notification tells the server.
func (l *memoryLink) cancel(p *pending, reason string) {
	if l.take(p.id) == nil || p.silent {
		return
	}
	msg := cancelMessage(p.id, reason)
	select {
	case l.up <- &msg:
	case <-l.closed:
	}
}

// close implements link.
func (l *memoryLink) close() error {
	l.fail(ErrClosed)
	l.shut()
	<-l.served
	return nil
}

// memoryConn is the server's end of a memoryLink.
type memoryConn struct {
	link *memoryLink
	last *[]byte // what Read returned, free for reuse at the next one
}

// Read implements Conn. After either end was closed it is broken rather than
// at its end: nobody waits for answers to what is sent from then on.
func (c *memoryConn) Read(ctx context.Context) ([]byte, error) {
	if c.last != nil {
		if cap(*c.last) <= keepBuffer {
			responses.Put(c.last)
		}
		c.last = nil
	}
	select {
	case c.last = <-c.link.up:
		return *c.last, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.link.closed:
	}
	select { // what was sent before the end counts
	case c.last = <-c.link.up:
		return *c.last, nil
	default:
		return nil, io.ErrClosedPipe
	}
}

// Write implements Conn.
func (c *memoryConn) Write(_ context.Context, msg []byte) error {
	select {
	case <-c.link.closed:
		return io.ErrClosedPipe
	default:
	}
	c.link.receive(c.link, bytes.Clone(msg)) // results are spans of it
	return nil
}

// Close implements Conn.
func (c *memoryConn) Close() error {
	c.link.shut()
	return nil
}

// Custom reaches a server over whatever dial returns. The context of dial
// bounds the dial only. A connection that is lost is not dialled again.
func Custom(dial func(ctx context.Context) (Conn, error)) Transport {
	t := &customTransport{dial: dial}
	t.pipe = true
	return t
}

type customTransport struct {
	traits
	dial func(context.Context) (Conn, error)
}

func (t *customTransport) open(ctx context.Context, client *Client, _ era) (link, error) {
	if t.dial == nil {
		return nil, errors.New("Custom was given no function")
	}
	c, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("the function given to Custom returned no Conn")
	}
	return newConnLink(ctx, c, client), nil
}
