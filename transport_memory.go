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
	snap, err := t.srv.freeze()
	if err != nil {
		return nil, err
	}
	srv := t.srv
	l := &memoryLink{calls: c.newCalls(), closed: make(chan struct{}), served: make(chan struct{})}
	l.shut = sync.OnceFunc(func() { close(l.closed) })
	ctx = context.WithoutCancel(ctx)
	l.server = newConn(ctx, snap, memoryConn{l})
	if err := srv.serving.add(l.server); err != nil {
		return nil, err
	}
	go func() {
		defer close(l.served)
		_ = l.server.serve(ctx) // the client sees its end of it
		l.server.leave()
		srv.serving.remove(l.server)
		l.fail(&lostError{err: errHungUp})
	}()
	return l, nil
}

var errHungUp = errors.New("the server closed the connection")

// memoryLink is a connection without anything between its ends: whoever sends
// a message has the other end deal with it, in the same goroutine, where
// nothing waits. So a call passes through no more goroutines than the server
// has for it.
type memoryLink struct {
	calls
	server *conn
	order  sync.Mutex    // of what is for the server; held while it takes a message in
	closed chan struct{} // by either end
	shut   func()
	served chan struct{} // closed when the server is done
}

// send implements link.
func (l *memoryLink) send(ctx context.Context, _ *pending, out *outgoing) error {
	return l.tell(ctx, out.msg)
}

// tell implements link.
func (l *memoryLink) tell(_ context.Context, msg []byte) error {
	if limit := l.server.snap.srv.opts.Limits.Message; len(msg) > limit {
		return fmt.Errorf("the message of %d bytes is larger than the server accepts (%d)", len(msg), limit)
	}
	select {
	case <-l.closed:
		if err := l.down(); err != nil {
			return err
		}
		return &lostError{err: errHungUp, unread: true}
	default:
	}
	data := bytes.Clone(msg) // handlers keep spans of it
	l.order.Lock()
	defer l.order.Unlock()
	l.server.receive(data)
	return nil
}

// cancel implements link: a notification tells the server.
func (l *memoryLink) cancel(p *pending, reason string) {
	if l.take(p.id) != nil && !p.silent {
		_ = l.tell(context.Background(), cancelMessage(p.id, reason)) // else it is gone, and the call with it
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
type memoryConn struct{ link *memoryLink }

// Read implements Conn. It returns nothing but the end, which is a broken
// connection rather than the end of input: nobody waits for answers then.
func (c memoryConn) Read(ctx context.Context) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.link.closed:
		return nil, io.ErrClosedPipe
	}
}

// Write implements Conn.
func (c memoryConn) Write(_ context.Context, msg []byte) error {
	select {
	case <-c.link.closed:
		return io.ErrClosedPipe
	default:
	}
	c.link.receive(c.link, bytes.Clone(msg)) // results are spans of it
	return nil
}

// Close implements Conn.
func (c memoryConn) Close() error {
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
