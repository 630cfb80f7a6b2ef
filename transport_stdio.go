package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"sync/atomic"
)

// Conn carries whole JSON-RPC messages between two peers. One goroutine may
// read while another writes. Implement it to carry MCP over anything that
// keeps messages apart and in order.
type Conn interface {
	// Read returns the next message, valid until the next Read. io.EOF means
	// that the peer sends no more; an error matching ErrTooLarge that one
	// message was dropped and reading can go on; any other that the
	// connection is broken.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one message, which holds no newline. It must not keep msg.
	Write(ctx context.Context, msg []byte) error
	// Close ends the connection and unblocks Read.
	Close() error
}

// ErrTooLarge is returned by Conn.Read in place of a message over the size
// limit. The message was dropped; reading goes on with the next one.
var ErrTooLarge = errors.New("mcp: message too large")

// NewConn returns a Conn with one message a line, the framing of MCP's stdio
// transport, over any stream: pipes, sockets, a child process. Messages may
// end in CRLF; blank lines are skipped. Close closes r and w where they are
// io.Closers; an r that is none must return from Read by itself when the
// connection ends, or a goroutine stays in it.
func NewConn(r io.Reader, w io.Writer) Conn {
	_, closable := r.(io.Closer)
	return &lineConn{r: bufio.NewReaderSize(r, 64<<10), w: w, closers: closersOf(r, w), stays: !closable}
}

type lineConn struct {
	r       *bufio.Reader
	w       io.Writer
	max     atomic.Int64 // bytes of a message; 0: the default
	long    []byte       // a line longer than the reader's buffer
	closers []io.Closer
	stays   bool // Close does not unblock Read
	once    sync.Once
	err     error
}

func closersOf(values ...any) []io.Closer {
	var all []io.Closer
	for _, v := range values {
		if c, ok := v.(io.Closer); ok {
			all = append(all, c)
		}
	}
	return all
}

// limiter is a Conn that can refuse large messages while it reads them.
type limiter interface{ limit(n int) }

func (c *lineConn) limit(n int) { c.max.Store(int64(n)) }

// detached is a Conn whose Close may be unable to unblock Read, which nobody
// need wait for then.
type detached interface{ detached() bool }

func (c *lineConn) detached() bool { return c.stays }

func (c *lineConn) maxMessage() int {
	if n := c.max.Load(); n > 0 {
		return int(n)
	}
	return defaultLimits.Message
}

// Read implements Conn.
func (c *lineConn) Read(context.Context) ([]byte, error) {
	for {
		line, err := c.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// line returns the next line. The last one may lack its newline.
func (c *lineConn) line() ([]byte, error) {
	limit := c.maxMessage()
	line, err := c.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = c.longLine(line, limit)
	}
	if err != nil && !(errors.Is(err, io.EOF) && len(line) > 0) {
		return nil, err
	}
	if line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'}); len(line) > limit {
		return nil, ErrTooLarge
	}
	return line, nil
}

// longLine reads on from the start of a line that the reader's buffer cannot
// hold. Of a line over the limit it keeps no more than tells.
func (c *lineConn) longLine(line []byte, limit int) ([]byte, error) {
	const ending = len("\r\n")
	c.long = append(c.long[:0], line...)
	err := bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = c.r.ReadSlice('\n')
		if len(c.long) <= limit+ending {
			c.long = append(c.long, line...)
		}
	}
	long := c.long
	if cap(long) > keepBuffer {
		c.long = nil
	}
	return long, err
}

// Write implements Conn.
func (c *lineConn) Write(_ context.Context, msg []byte) error {
	_, err := c.w.Write(append(bytes.Clone(msg), '\n'))
	return err
}

// writeLines writes messages that each end in a newline, all at once.
func (c *lineConn) writeLines(_ context.Context, lines []byte) error {
	_, err := c.w.Write(lines)
	return err
}

// Close implements Conn.
func (c *lineConn) Close() error {
	c.once.Do(func() {
		for _, closer := range c.closers {
			// Both directions may be one and the same connection.
			if err := closer.Close(); !errors.Is(err, fs.ErrClosed) && !errors.Is(err, net.ErrClosed) {
				c.err = errors.Join(c.err, err)
			}
		}
	})
	return c.err
}

// ServeStdio serves on standard input and output until the input ends; then
// it returns nil. Running calls get a few seconds to finish.
//
// While it serves, the process's descriptor 1 is standard error, so that
// nothing which handlers or their child processes print can break the
// protocol. One ServeStdio can run at a time in a process.
func (s *Server) ServeStdio(ctx context.Context) error {
	if _, err := s.freeze(); err != nil { // before any descriptor is touched
		return err
	}
	if !stdioBusy.CompareAndSwap(false, true) {
		return errors.New("mcp: ServeStdio is already running in this process")
	}
	defer stdioBusy.Store(false)
	out, restore, err := takeStdout()
	if err != nil {
		return err
	}
	err = s.Serve(ctx, NewConn(stdinReader{}, out))
	return errors.Join(err, restore())
}

var stdioBusy atomic.Bool

// stdinReader reads os.Stdin without giving anybody a way to close it.
type stdinReader struct{}

func (stdinReader) Read(p []byte) (int, error) { return os.Stdin.Read(p) }
