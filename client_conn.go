package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// connLink is a client's end of a Conn.
type connLink struct {
	calls
	conn Conn
	out  *connWriter
	end  context.CancelCauseFunc
	wake chan struct{} // of one element: there is something to write
	busy sync.WaitGroup
	shut func() error

	gaveUp atomic.Bool // requests, of which the server is told
}

func newConnLink(ctx context.Context, conn Conn, c *Client) *connLink {
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	l := &connLink{calls: c.newCalls(), conn: conn, end: end, wake: make(chan struct{}, 1)}
	l.out = &connWriter{ctx: ctx, io: conn, onFail: func(err error) {
		l.collapse(&lostError{err: fmt.Errorf("writing to the server: %w", err)})
	}}
	l.shut = sync.OnceValue(func() error {
		l.farewell()
		l.collapse(ErrClosed)
		err := l.conn.Close()
		l.busy.Wait()
		return err
	})
	l.busy.Go(func() { l.read(ctx) })
	l.busy.Go(func() { l.write(ctx) })
	return l
}

// collapse takes the link down because of err.
func (l *connLink) collapse(err error) {
	if l.fail(err) {
		l.end(err)
	}
}

// farewell tells the server of all that is given up now, so that it can end at
// once. One that does not read is left after a moment.
func (l *connLink) farewell() {
	for _, id := range l.underWay() {
		if p := l.take(id); p != nil { // who gives it up meanwhile tells it, too
			p.done <- answer{err: ErrClosed}
			l.giveUp(id, ErrClosed.Error())
		}
	}
	if !l.gaveUp.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(l.out.ctx, farewellGrace)
	defer cancel()
	_ = l.out.until(ctx, func() bool { return !l.out.busy && len(l.out.waiting) == 0 })
}

// farewellGrace is how long the end of a connection waits for what was written
// before.
const farewellGrace = time.Second

// close implements link.
func (l *connLink) close() error { return l.shut() }

// send implements link.
func (l *connLink) send(ctx context.Context, _ *pending, out *outgoing) error {
	if err := l.out.await(ctx); err != nil {
		if down := l.down(); down != nil {
			return down
		}
		return fmt.Errorf("sending: %w", err)
	}
	l.queue(out.msg)
	return nil
}

// tell implements link.
func (l *connLink) tell(ctx context.Context, msg []byte) error {
	return l.send(ctx, nil, &outgoing{msg: msg})
}

// queue has msg written.
func (l *connLink) queue(msg []byte) {
	l.out.enqueue(msg)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// write writes what is queued, until the link goes down. Callers do not write
// themselves: a server that does not read would hold them past the end of
// their contexts.
func (l *connLink) write(ctx context.Context) {
	for {
		select {
		case <-l.wake:
			l.out.flush()
		case <-ctx.Done():
			return
		}
	}
}

// cancel implements link: a notification tells the server.
func (l *connLink) cancel(p *pending, reason string) {
	if l.take(p.id) != nil && !p.silent {
		l.giveUp(p.id, reason)
	}
}

func (l *connLink) giveUp(id int64, reason string) {
	l.gaveUp.Store(true)
	l.queue(cancelMessage(id, reason))
}

// read takes messages until the connection ends.
func (l *connLink) read(ctx context.Context) {
	for {
		msg, err := l.conn.Read(ctx)
		switch {
		case errors.Is(err, ErrTooLarge):
			l.log.Warn("mcp: the server sent a message over the size limit; it was dropped")
		case errors.Is(err, io.EOF):
			l.collapse(&lostError{err: errors.New("the server closed the connection")})
			return
		case err != nil:
			l.collapse(&lostError{err: fmt.Errorf("reading from the server: %w", err)})
			return
		default:
			l.accept(l, bytes.Clone(msg)) // results are spans of it
		}
	}
}
