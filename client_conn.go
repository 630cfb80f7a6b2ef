package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// connLink is a client's end of a Conn.
type connLink struct {
	calls
	conn Conn
	out  *connWriter
	end  context.CancelCauseFunc
	done chan struct{} // closed when the reader has ended
	shut func() error
}

func newConnLink(ctx context.Context, conn Conn, log *slog.Logger) *connLink {
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	l := &connLink{calls: calls{log: log}, conn: conn, end: end, done: make(chan struct{})}
	l.out = &connWriter{ctx: ctx, io: conn, onFail: func(err error) {
		l.collapse(fmt.Errorf("mcp: writing to the server: %w", err))
	}}
	l.shut = sync.OnceValue(func() error {
		l.collapse(ErrClosed)
		err := l.conn.Close()
		<-l.done
		return err
	})
	go l.read(ctx)
	return l
}

// collapse takes the link down because of err.
func (l *connLink) collapse(err error) {
	if l.fail(err) {
		l.end(err)
	}
}

// close implements link.
func (l *connLink) close() error { return l.shut() }

// send implements link.
func (l *connLink) send(ctx context.Context, _ *pending, out *outgoing) error {
	if err := l.out.await(ctx); err != nil {
		if down := l.down(); down != nil {
			return down
		}
		return fmt.Errorf("mcp: sending %s: %w", out.method, err)
	}
	l.out.enqueue(out.msg)
	l.out.flush()
	return nil
}

// cancel implements link: a notification tells the server.
func (l *connLink) cancel(p *pending, reason string) {
	if l.take(p.id) != nil {
		l.out.enqueue(cancelMessage(p.id, reason))
		l.out.flush()
	}
}

// read takes messages until the connection ends.
func (l *connLink) read(ctx context.Context) {
	defer close(l.done)
	for {
		msg, err := l.conn.Read(ctx)
		switch {
		case errors.Is(err, ErrTooLarge):
			l.log.Warn("mcp: the server sent a message over the size limit; it was dropped")
		case errors.Is(err, io.EOF):
			l.collapse(errors.New("mcp: the server closed the connection"))
			return
		case err != nil:
			l.collapse(fmt.Errorf("mcp: reading from the server: %w", err))
			return
		default:
			l.receive(bytes.Clone(msg)) // results are spans of it
		}
	}
}
