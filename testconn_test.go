package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

// bubble runs fn as a parallel sub-test in a synctest bubble of its own. The bubble fails if fn leaves a goroutine behind.
func bubble(t *testing.T, name string, fn func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, fn)
	})
}

// step is what a scriptConn's Read returns.
type step struct {
	msg string
	err error
}

// scriptConn is a Conn whose peer is the test: it reads what is put into in and writes to out. It has the three methods
// of a Conn and no more.
type scriptConn struct {
	in       chan step
	out      chan string
	closed   chan struct{}
	close    func()
	closeErr error
	writeErr func() error // nil: none
	watches  bool         // Read returns when its context ends
}

func newScriptConn() *scriptConn {
	c := &scriptConn{in: make(chan step, 1024), out: make(chan string, 1024), closed: make(chan struct{})}
	c.close = sync.OnceFunc(func() { close(c.closed) })
	return c
}

func (c *scriptConn) Read(ctx context.Context) ([]byte, error) {
	if !c.watches {
		ctx = context.Background()
	}
	select {
	case s := <-c.in:
		return []byte(s.msg), s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.ErrClosedPipe
	}
}

func (c *scriptConn) Write(ctx context.Context, msg []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.writeErr != nil {
		if err := c.writeErr(); err != nil {
			return err
		}
	}
	c.out <- string(msg)
	return nil
}

func (c *scriptConn) Close() error {
	c.close()
	return c.closeErr
}

// serve serves s on c until the test ends and returns where the result of Serve will be.
func (c *scriptConn) serve(ctx context.Context, s *mcp.Server) <-chan error {
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, c) }()
	return served
}

// pipeConn is a Conn over a pair of in-memory pipes, with no means but those of the interface.
type pipeConn struct {
	r   *io.PipeReader
	w   *io.PipeWriter
	buf bytes.Buffer
}

// newPipeConns returns two ends that are connected.
func newPipeConns() (a, b *pipeConn) {
	ar, bw := io.Pipe()
	br, aw := io.Pipe()
	return &pipeConn{r: ar, w: aw}, &pipeConn{r: br, w: bw}
}

func (c *pipeConn) Read(context.Context) ([]byte, error) {
	chunk := make([]byte, 512)
	for {
		if i := bytes.IndexByte(c.buf.Bytes(), '\n'); i >= 0 {
			return c.buf.Next(i + 1), nil
		}
		n, err := c.r.Read(chunk)
		if c.buf.Write(chunk[:n]); err != nil {
			return nil, err
		}
	}
}

func (c *pipeConn) Write(_ context.Context, msg []byte) error {
	_, err := c.w.Write(append(bytes.Clone(msg), '\n'))
	return err
}

func (c *pipeConn) Close() error {
	_ = c.r.Close()
	return c.w.Close()
}

// idLog is a Conn that remembers the ids of the requests written to it and not yet answered.
type idLog struct {
	mcp.Conn

	mu      sync.Mutex
	waiting map[string]bool
	sent    int
	reused  []string // while in use
}

func (l *idLog) Write(ctx context.Context, msg []byte) error {
	if id := messageID(msg); id != "" {
		l.mu.Lock()
		if l.waiting[id] {
			l.reused = append(l.reused, id)
		}
		if l.waiting == nil {
			l.waiting = make(map[string]bool)
		}
		l.waiting[id] = true
		l.sent++
		l.mu.Unlock()
	}
	return l.Conn.Write(ctx, msg)
}

func (l *idLog) Read(ctx context.Context) ([]byte, error) {
	msg, err := l.Conn.Read(ctx)
	if err == nil {
		l.mu.Lock()
		delete(l.waiting, messageID(msg))
		l.mu.Unlock()
	}
	return msg, err
}

func messageID(msg []byte) string {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal(msg, &m) != nil {
		return ""
	}
	return string(m.ID)
}
