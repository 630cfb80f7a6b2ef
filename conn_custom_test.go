package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestConnCustom serves Conns that have nothing but the methods of the interface.
func TestConnCustom(t *testing.T) {
	t.Parallel()
	bubble(t, "P15 STD-17 strings in, strings out", func(t *testing.T) {
		c := newScriptConn()
		served := c.serve(context.Background(), newFixture(nil).Server)
		c.in <- step{msg: modernCall("1", "add", `{"a":1,"b":2}`)}
		if got := <-c.out; got != modernSum("1", 3) {
			t.Errorf("got %s", got)
		}
		c.in <- step{msg: strings.ReplaceAll(modernCall("2", "echo", `{"text":"of several lines"}`), ",", ",\r\n\t")}
		if got := <-c.out; got != modernText("2", "of several lines") {
			t.Errorf("got %s", got)
		}
		c.in <- step{err: io.EOF}
		if err := <-served; err != nil {
			t.Error(err)
		}
		<-c.closed
	})
	bubble(t, "P16 messages over the limit are dropped, and reading goes on", func(t *testing.T) {
		c := newScriptConn()
		served := c.serve(context.Background(), newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: 300}}).Server)
		const refusal = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: the message is larger than 300 bytes"}}`
		for _, s := range []step{
			{err: mcp.ErrTooLarge}, {err: fmt.Errorf("frame of 5 GB: %w", mcp.ErrTooLarge)},
			{msg: modernCall("1", "echo", `{"text":"`+strings.Repeat("x", 300)+`"}`)}, {msg: strings.Repeat(" ", 301)},
		} {
			c.in <- s
			if got := <-c.out; got != refusal {
				t.Errorf("%v was answered with %s", s, got)
			}
		}
		c.in <- step{msg: modernCall("1", "echo", `{"text":"x"}`)}
		if got := <-c.out; got != modernText("1", "x") {
			t.Errorf("got %s", got)
		}
		c.in <- step{err: io.EOF}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	bubble(t, "empty messages are passed over", func(t *testing.T) {
		c := newScriptConn()
		served := c.serve(context.Background(), newFixture(nil).Server)
		c.in <- step{}
		c.in <- step{msg: " \r\n\t"}
		c.in <- step{msg: plainRequest("1", "ping")}
		if got := <-c.out; got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("got %s", got)
		}
		c.in <- step{err: io.EOF}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	bubble(t, "the buffer of a message may be used again", func(t *testing.T) {
		conn := newScriptConn()
		f := newFixture(nil)
		served := make(chan error, 1)
		go func() { served <- f.Serve(context.Background(), &reusingConn{scriptConn: conn}) }()
		conn.in <- step{msg: modernCall(`"first"`, "hold", `{"tag":"a"}`)}
		<-f.started
		conn.in <- step{msg: modernCall(`"other"`, "hold", `{"tag":"b"}`)}
		<-f.started
		close(f.release)
		got := map[string]bool{<-conn.out: true, <-conn.out: true}
		if !got[modernText(`"first"`, "released a")] || !got[modernText(`"other"`, "released b")] {
			t.Errorf("got %v", got)
		}
		conn.in <- step{err: io.EOF}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	for _, test := range []struct {
		name   string
		set    func(c *scriptConn)
		want   error
		prefix string
	}{
		{"reading fails", func(c *scriptConn) { c.in <- step{err: errTest} }, errTest, "mcp: reading from the client: "},
		{"reading fails wrapped", func(c *scriptConn) { c.in <- step{err: fmt.Errorf("frame 7: %w", errTest)} }, errTest, "mcp: reading from the client: "},
		{"input ends within a frame", func(c *scriptConn) { c.in <- step{err: io.ErrUnexpectedEOF} }, io.ErrUnexpectedEOF, "mcp: reading from the client: "},
		{"writing fails", func(c *scriptConn) {
			c.writeErr = func() error { return errTest }
			c.in <- step{msg: plainRequest("1", "ping")}
		}, errTest, "mcp: writing to the client: "},
		{"closing fails", func(c *scriptConn) { c.closeErr = errTest; c.in <- step{err: io.EOF} }, errTest, "mcp: closing the connection: "},
		{"the input ends", func(c *scriptConn) { c.in <- step{err: fmt.Errorf("socket: %w", io.EOF)} }, nil, ""},
	} {
		bubble(t, "what Serve returns when "+test.name, func(t *testing.T) {
			c := newScriptConn()
			test.set(c)
			err := <-c.serve(context.Background(), newFixture(nil).Server)
			if !errors.Is(err, test.want) || err != nil && !strings.HasPrefix(err.Error(), test.prefix) {
				t.Errorf("Serve: %v, want %q and %v", err, test.prefix, test.want)
			}
			<-c.closed
		})
	}
	bubble(t, "C116 a Conn that watches the context of Serve", func(t *testing.T) {
		for range 200 { // who sees the end first is up to the scheduler
			c := newScriptConn()
			c.watches = true
			ctx, cancel := context.WithCancel(context.Background())
			f := newFixture(nil)
			served := c.serve(ctx, f.Server)
			c.in <- step{msg: modernCall("1", "block", `{}`)}
			<-f.started
			cancel()
			f.expectCause(t, mcp.ErrShutdown, "")
			if err := <-served; err != nil {
				t.Errorf("Serve: %v", err)
			}
			if got := <-c.out; !strings.Contains(got, `"id":1`) { // its Write refuses contexts that have ended
				t.Errorf("got %s", got)
			}
		}
	})
	bubble(t, "a Conn whose Write waits for the end of its context", func(t *testing.T) {
		c := newScriptConn()
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- newFixture(nil).Serve(ctx, waitingConn{c}) }()
		c.in <- step{msg: plainRequest("1", "ping")}
		synctest.Wait()
		start := time.Now()
		cancel()
		if err, took := <-served, time.Since(start); err != nil || took != time.Second {
			t.Errorf("Serve returned after %v: %v", took, err)
		}
	})
	t.Run("a server with problems serves nothing", func(t *testing.T) {
		s := mcp.NewServer("", "", nil)
		c := newScriptConn()
		if err := s.Serve(t.Context(), c); err == nil || !strings.Contains(err.Error(), "name and version") {
			t.Errorf("Serve: %v", err)
		}
	})
}

var errTest = errors.New("made for the test")

// waitingConn is a scriptConn that can write nothing.
type waitingConn struct{ *scriptConn }

func (c waitingConn) Write(ctx context.Context, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// reusingConn is a scriptConn that reads into one buffer.
type reusingConn struct {
	*scriptConn
	buf []byte
}

func (c *reusingConn) Read(ctx context.Context) ([]byte, error) {
	msg, err := c.scriptConn.Read(ctx)
	for i := range c.buf {
		c.buf[i] = '#'
	}
	c.buf = append(c.buf[:0], msg...)
	return c.buf, err
}

// TestConnCarriers runs the same conversation over whatever carries lines or messages.
func TestConnCarriers(t *testing.T) {
	t.Parallel()
	carriers := map[string]func(t *testing.T, s *mcp.Server) *lineClient{
		"io.Pipe": func(t *testing.T, s *mcp.Server) *lineClient { return serveLines(t, s) },
		"net.Pipe": func(t *testing.T, s *mcp.Server) *lineClient {
			near, far := net.Pipe()
			return serveConn(t, s, mcp.NewConn(far, far), near, near)
		},
		"TCP socket": func(t *testing.T, s *mcp.Server) *lineClient { return serveSocket(t, s, "tcp", "127.0.0.1:0") },
		"Conn of the user": func(t *testing.T, s *mcp.Server) *lineClient {
			near, far := newPipeConns()
			return serveConn(t, s, far, near.r, near.w)
		},
	}
	if runtime.GOOS != "windows" {
		carriers["Unix socket"] = func(t *testing.T, s *mcp.Server) *lineClient {
			return serveSocket(t, s, "unix", filepath.Join(t.TempDir(), "s"))
		}
	}
	for name, carry := range carriers {
		t.Run("STD-16 STD-17 "+name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: 1 << 20}})
			c := carry(t, f.Server)
			c.send("hello there")
			c.expectError("", mcp.CodeParseError)
			c.raw("\xef\xbb\xbf" + modernCall("1", "add", `{"a":1,"b":2}`) + "\r\n\r\n")
			c.expect(modernSum("1", 3))
			c.send(modernCall("2", "progress", `{"count":2}`, `"progressToken":"t"`))
			c.expect(progressNotice(`"t"`, 1, 2), progressNotice(`"t"`, 2, 2), modernText("2", "done"))
			c.send(modernCall("3", "blob", `{"count":500000}`))
			c.expect(modernText("3", strings.Repeat("x", 500_000)))
			c.send(modernCall("4", "echo", `{"text":"`+strings.Repeat("y", 500_000)+`"}`))
			c.expect(modernText("4", strings.Repeat("y", 500_000)))
			c.send(modernCall("5", "echo", `{"text":"`+strings.Repeat("z", 1<<20)+`"}`))
			c.expectError("", mcp.CodeInvalidRequest)
			c.send(modernCall("6", "block", `{}`))
			<-f.started
			c.send(cancelNotice("6", "enough"))
			f.expectCause(t, mcp.ErrCancelled, "enough")
			c.openLegacy("2025-06-18")
			c.send(legacyCall("7", "echo", `{"text":"x"}`), modernCall("8", "hold", `{"tag":"last"}`))
			c.expect(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"x"}]}}`)
			<-f.started
			close(f.release)
			c.expect(modernText("8", "released last"))
			if err := c.hangUp(); err != nil {
				t.Errorf("Serve: %v", err)
			}
			if rest := c.rest(); rest != nil {
				t.Errorf("unexpected lines: %.200q", rest)
			}
		})
	}
}

// serveSocket serves s on one accepted connection.
func serveSocket(t *testing.T, s *mcp.Server, network, addr string) *lineClient {
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return serveConn(t, s, mcp.NewConn(far, far), near, near)
}

// TestLineConn shows how lines are told apart.
func TestLineConn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for _, test := range []struct {
		name, input string
		want        []string
	}{
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"P16 C64 CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"P16 C64 blank lines and spaces", "\n\r\n \t\n  a \t \n\n", []string{"a"}},
		{"the last line may lack its newline", "a\nb", []string{"a", "b"}},
		{"the last line may lack its newline after a carriage return", "a\r", []string{"a"}},
		{"long lines", long + "\n" + long + "\r\nb\n" + long, []string{long, long, "b", long}},
		{"nothing", "", nil},
		{"nothing but blank lines", "\n\n  ", nil},
		{"a line break across the buffer's end", strings.Repeat("x", 64<<10-1) + "\r\nb\n", []string{strings.Repeat("x", 64<<10-1), "b"}},
		{"a line as long as the buffer", strings.Repeat("x", 64<<10) + "\nb\n", []string{strings.Repeat("x", 64<<10), "b"}},
		{"NUL and bytes that are no UTF-8 are the decoder's business", "\x00\xff\n", []string{"\x00\xff"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := mcp.NewConn(strings.NewReader(test.input), io.Discard)
			var got []string
			for {
				msg, err := c.Read(t.Context())
				if err != nil {
					if err != io.EOF {
						t.Errorf("Read: %v", err)
					}
					break
				}
				got = append(got, string(msg))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("P16 the limit without a server", func(t *testing.T) {
		c := mcp.NewConn(io.MultiReader(io.LimitReader(repeating("x"), 16<<20+1), strings.NewReader("\nb\n")), io.Discard)
		if _, err := c.Read(t.Context()); !errors.Is(err, mcp.ErrTooLarge) {
			t.Errorf("Read: %v", err)
		}
		if msg, err := c.Read(t.Context()); err != nil || string(msg) != "b" {
			t.Errorf("Read: %q, %v", msg, err)
		}
	})
	t.Run("STD-01 Write ends a message with a newline", func(t *testing.T) {
		var out strings.Builder
		c := mcp.NewConn(strings.NewReader(""), &out)
		msg := append(make([]byte, 0, 100), "abc"...) // with room to be written into
		for range 2 {
			if err := c.Write(t.Context(), msg); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != "abc\nabc\n" || string(msg[:4]) != "abc\x00" {
			t.Errorf("wrote %q; the message is now %q", out.String(), msg[:4])
		}
	})
	t.Run("Close closes both ends, once", func(t *testing.T) {
		in, out := new(countingCloser), &countingCloser{err: errTest}
		c := mcp.NewConn(in, out)
		for range 2 {
			if err := c.Close(); !errors.Is(err, errTest) {
				t.Errorf("Close: %v", err)
			}
		}
		if in.closed != 1 || out.closed != 1 {
			t.Errorf("the input was closed %d times, the output %d times", in.closed, out.closed)
		}
	})
}

// repeating is an endless input.
type repeating string

func (r repeating) Read(p []byte) (int, error) {
	for n := copy(p, r); n < len(p); {
		n += copy(p[n:], p[:n])
	}
	return len(p), nil
}

type countingCloser struct {
	repeating
	closed int
	err    error
}

func (c *countingCloser) Write(p []byte) (int, error) { return len(p), nil }
func (c *countingCloser) Close() error                { c.closed++; return c.err }

// TestConnLineLimit shows where a line becomes too long, and that too long a line costs no memory.
func TestConnLineLimit(t *testing.T) {
	t.Parallel()
	const limit = 70_000 // over the size of the reader's buffer
	empty := len(modernCall("1", "echo", `{"text":""}`))
	request := func(size int) string {
		return modernCall("1", "echo", `{"text":"`+strings.Repeat("x", size-empty)+`"}`)
	}
	for _, test := range []struct {
		name, input string
		ok          bool
		limit       int
	}{
		{"exactly the limit", request(limit) + "\n", true, limit},
		{"exactly the limit with CRLF", request(limit) + "\r\n", true, limit},
		{"one byte over", request(limit+1) + "\n", false, limit},
		{"one byte over with CRLF", request(limit+1) + "\r\n", false, limit},
		{"far over", request(limit*10) + "\n", false, limit},
		{"exactly a small limit", request(1000) + "\n", true, 1000},
		{"exactly a small limit with CRLF", request(1000) + "\r\n", true, 1000},
		{"one byte over a small limit", request(1001) + "\n", false, 1000},
		{"carriage returns without end", strings.Repeat("\r", limit*3) + "\n", false, limit},
		{"spaces without end", strings.Repeat(" ", limit*3) + "\n", false, limit},
	} {
		bubble(t, "P16 "+test.name, func(t *testing.T) {
			c := serveLines(t, newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: test.limit}}).Server)
			c.raw(test.input)
			if !test.ok {
				c.expectError("", mcp.CodeInvalidRequest)
			} else if m := parseWire(t, c.next()); m.Error != nil || string(m.ID) != "1" {
				t.Errorf("got an answer to %s: %v", m.ID, m.Error)
			}
			c.send(modernCall("2", "echo", `{"text":"next"}`))
			c.expect(modernText("2", "next"))
			c.quiet()
		})
	}
}

// TestConnLineMemory runs alone, as it looks at what is allocated.
func TestConnLineMemory(t *testing.T) {
	for _, filler := range []string{"x", "\r", " ", "\r \t"} {
		t.Run(fmt.Sprintf("P16 a line of 64 MB of %q", filler), func(t *testing.T) {
			f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: 70_000}})
			line := io.MultiReader(io.LimitReader(repeating(filler), 64<<20), strings.NewReader("\n"))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := f.Serve(t.Context(), mcp.NewConn(line, io.Discard)); err != nil {
				t.Error(err)
			}
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
				t.Errorf("%d bytes were allocated for a line that is refused", grown)
			}
		})
	}
}

// TestConnMemory shows the ends of in-memory connections.
func TestConnMemory(t *testing.T) {
	t.Parallel()
	bubble(t, "STD-17 C116 Shutdown answers what is running", func(t *testing.T) {
		for range 10 { // what comes first is up to the scheduler
			const calls = 20
			f := newFixture(nil)
			client, err := mcp.Dial(t.Context(), mcp.InMemory(f.Server), nil)
			if err != nil {
				t.Fatal(err)
			}
			results := make(chan error, calls)
			for range calls {
				go func() {
					r, err := client.CallTool(t.Context(), "block", tagArgs{})
					if err == nil && !r.IsError {
						err = errors.New("the call succeeded")
					}
					results <- err
				}()
			}
			synctest.Wait()
			if err := f.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			for range calls {
				f.expectCause(t, mcp.ErrShutdown, "")
				if err := <-results; err != nil {
					t.Errorf("a call that was running: %v", err)
				}
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	bubble(t, "C116 Close of the client is a disconnect", func(t *testing.T) {
		f := newFixture(nil)
		client, err := mcp.Dial(t.Context(), mcp.InMemory(f.Server), nil)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			_, err := client.CallTool(t.Context(), "block", tagArgs{})
			failed <- err
		}()
		<-f.started
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		f.expectCause(t, mcp.ErrDisconnected, "")
		if err := <-failed; !errors.Is(err, mcp.ErrClosed) {
			t.Errorf("the call that was running: %v", err)
		}
		synctest.Wait()
	})
}
