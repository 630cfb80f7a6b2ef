package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
)

// Transport is a way to reach a server, for Dial: HTTP, InMemory or Custom.
type Transport interface {
	// open connects; ctx bounds that alone.
	open(ctx context.Context, log *slog.Logger) (link, error)
}

// InMemory reaches a server in the same process: for tests, and for programs
// that are their own client. Messages are encoded and decoded as on any other
// transport. Dial fails with what s.Check finds.
//
//	client, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
//
// Each Dial opens a connection of its own; values of its context reach the
// handlers.
func InMemory(s *Server) Transport { return memoryTransport{s} }

type memoryTransport struct{ srv *Server }

func (t memoryTransport) open(ctx context.Context, log *slog.Logger) (link, error) {
	if _, err := t.srv.freeze(); err != nil {
		return nil, err
	}
	client, server := newMemoryPair()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = t.srv.Serve(context.WithoutCancel(ctx), server) // the client sees its end of it
	}()
	return newConnLink(ctx, &servedConn{Conn: client, served: served}, log), nil
}

// servedConn is a Conn to a server that somebody must wait for.
type servedConn struct {
	Conn
	served <-chan struct{}
}

func (c *servedConn) Close() error {
	err := c.Conn.Close()
	<-c.served
	return err
}

// Custom reaches a server over whatever dial returns. The context of dial
// bounds the dial only.
func Custom(dial func(ctx context.Context) (Conn, error)) Transport { return customTransport{dial} }

type customTransport struct {
	dial func(context.Context) (Conn, error)
}

func (t customTransport) open(ctx context.Context, log *slog.Logger) (link, error) {
	if t.dial == nil {
		return nil, errors.New("mcp: Custom was given no function")
	}
	c, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("mcp: the function given to Custom returned no Conn")
	}
	return newConnLink(ctx, c, log), nil
}

// memoryBacklog is how many messages may wait in one direction.
const memoryBacklog = 64

// memoryConn is one end of a pair of queues.
type memoryConn struct {
	in, out chan *[]byte
	closed  chan struct{} // shared by both ends
	close   func()
	last    *[]byte // what Read returned, free for reuse at the next one
}

func newMemoryPair() (a, b *memoryConn) {
	up, down := make(chan *[]byte, memoryBacklog), make(chan *[]byte, memoryBacklog)
	closed := make(chan struct{})
	end := sync.OnceFunc(func() { close(closed) })
	return &memoryConn{in: down, out: up, closed: closed, close: end},
		&memoryConn{in: up, out: down, closed: closed, close: end}
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
	case c.last = <-c.in:
		return *c.last, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.closed:
	}
	select { // what was sent before the end counts
	case c.last = <-c.in:
		return *c.last, nil
	default:
		return nil, io.ErrClosedPipe
	}
}

// Write implements Conn.
func (c *memoryConn) Write(ctx context.Context, msg []byte) error {
	buf := responses.Get().(*[]byte)
	*buf = append((*buf)[:0], msg...)
	select {
	case c.out <- buf:
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close implements Conn.
func (c *memoryConn) Close() error {
	c.close()
	return nil
}
