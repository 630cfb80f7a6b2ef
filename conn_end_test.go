package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// sleepy adds a tool that sleeps for count milliseconds, whatever its context, and returns how that is then.
func (f *fixture) sleepy() *fixture {
	mcp.AddTool(f, "sleep", "Sleep for count milliseconds", func(ctx context.Context, a countArgs) (string, error) {
		time.Sleep(time.Duration(a.Count) * time.Millisecond)
		return fmt.Sprintf("slept: %v", context.Cause(ctx)), nil
	})
	return f
}

func sleepCall(id string, milliseconds int) string {
	return modernCall(id, "sleep", fmt.Sprintf(`{"count":%d}`, milliseconds))
}

// TestConnEOF shows what becomes of running calls when the client sends no more.
func TestConnEOF(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		limits mcp.Limits
		calls  []string
		want   []string
		after  time.Duration // Serve returns, after the end of input
		fails  bool
	}{
		{"STD-12 nothing is running", mcp.Limits{}, nil, nil, 0, false},
		{"STD-12 SUB-13 a subscription ends at once", mcp.Limits{}, []string{listenRequest("1", "")},
			[]string{acknowledged("1", ""), closedGracefully("1"), endNotice("1")}, 0, false},
		{"STD-12 SUB-13 a subscription ends before the calls beside it", mcp.Limits{}, []string{listenRequest("1", ""), sleepCall("2", 1000)},
			[]string{acknowledged("1", ""), closedGracefully("1"), endNotice("1"), modernText("2", "slept: <nil>")}, time.Second, false},
		{"STD-12 calls finish", mcp.Limits{}, []string{sleepCall("1", 1000), sleepCall("2", 4000)},
			[]string{modernText("1", "slept: <nil>"), modernText("2", "slept: <nil>")}, 4 * time.Second, false},
		{"STD-12 waiting calls run and finish", mcp.Limits{InFlight: 1}, []string{sleepCall("1", 1000), sleepCall("2", 1000), sleepCall("3", 2000)},
			[]string{modernText("1", "slept: <nil>"), modernText("2", "slept: <nil>"), modernText("3", "slept: <nil>")}, 4 * time.Second, false},
		{"STD-12 a call that is told after five seconds still answers", mcp.Limits{}, []string{modernCall("1", "block", `{}`)},
			[]string{modernResult("1", `"content":[{"type":"text","text":"mcp: client disconnected: end of input"}],"isError":true`)}, 5 * time.Second, false},
		{"STD-12 waiting calls do not start after five seconds", mcp.Limits{InFlight: 1}, []string{modernCall("1", "block", `{}`), sleepCall("2", 1000)},
			[]string{modernResult("1", `"content":[{"type":"text","text":"mcp: client disconnected: end of input"}],"isError":true`),
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error: the server is shutting down"}}`}, 5 * time.Second, false},
		{"STD-12 a handler that does not listen has one second more", mcp.Limits{}, []string{sleepCall("1", 5500), sleepCall("2", 9000)},
			[]string{modernText("1", "slept: mcp: client disconnected: end of input")}, 6 * time.Second, true},
	} {
		bubble(t, test.name, func(t *testing.T) {
			c := serveLines(t, newFixture(&mcp.ServerOptions{Limits: test.limits}).sleepy().Server)
			c.send(test.calls...)
			synctest.Wait()
			start := time.Now()
			err := c.hangUp()
			if took := time.Since(start); took != test.after {
				t.Errorf("Serve returned after %v, want %v", took, test.after)
			}
			if (err != nil) != test.fails || test.fails && !strings.Contains(err.Error(), "still running") {
				t.Errorf("Serve: %v", err)
			}
			got := make(map[string]bool)
			for _, line := range c.rest() {
				got[line] = true
			}
			for _, want := range test.want {
				if !got[want] {
					t.Errorf("no answer %s", want)
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("got %d lines, want %d: %v", len(got), len(test.want), got)
			}
			time.Sleep(10 * time.Second) // the last handler returns
		})
	}
}

// TestConnStop shows how a connection ends from the server's side.
func TestConnStop(t *testing.T) {
	t.Parallel()
	stops := map[string]func(*lineClient, *fixture) error{
		"the context of Serve ends": func(c *lineClient, _ *fixture) error { c.stop(); return nil },
		"Shutdown":                  func(_ *lineClient, f *fixture) error { return f.Shutdown(context.Background()) },
	}
	for name, stop := range stops {
		bubble(t, "C116 STD-13 calls are told and answered when "+name, func(t *testing.T) {
			f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{InFlight: 1}})
			c := serveLines(t, f.Server)
			c.send(modernCall("1", "block", `{}`), modernCall("2", "block", `{}`))
			synctest.Wait()
			if err := stop(c, f); err != nil {
				t.Error(err)
			}
			f.expectCause(t, mcp.ErrShutdown, "")
			start := time.Now()
			if err := c.wait(); err != nil || time.Since(start) > 0 {
				t.Errorf("Serve returned after %v: %v", time.Since(start), err)
			}
			c.expectAnyOrder(
				modernResult("1", `"content":[{"type":"text","text":"mcp: server is shutting down"}],"isError":true`),
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error: the server is shutting down"}}`)
			if rest := c.rest(); rest != nil { // the output is closed
				t.Errorf("unexpected lines: %q", rest)
			}
			if len(f.started) != 1 {
				t.Errorf("%d calls were started, want 1", len(f.started))
			}
		})
		bubble(t, "a handler that does not listen holds Serve for a second when "+name, func(t *testing.T) {
			f := newFixture(nil)
			defer close(f.release)
			c := serveLines(t, f.Server)
			c.send(modernCall("1", "hold", `{}`))
			<-f.started
			start := time.Now()
			_ = stop(c, f)
			err := c.wait()
			if took := time.Since(start); took != time.Second || err == nil || !strings.Contains(err.Error(), "still running") {
				t.Errorf("Serve returned after %v: %v", took, err)
			}
		})
		bubble(t, "a peer that does not read holds Serve for a second when "+name, func(t *testing.T) {
			f := newFixture(nil)
			serverIn, out := io.Pipe()
			_, serverOut := io.Pipe()
			c := &lineClient{t: t, in: out, served: make(chan error, 1)}
			c.ctx, c.stop = context.WithCancel(context.Background())
			go func() { c.served <- f.Serve(c.ctx, mcp.NewConn(serverIn, serverOut)) }()
			for i := range 100 {
				c.send(modernCall(fmt.Sprint(i), "blob", `{"count":100000}`))
			}
			synctest.Wait()
			start := time.Now()
			_ = stop(c, f)
			if err, took := c.wait(), time.Since(start); err != nil || took != time.Second {
				t.Errorf("Serve returned after %v: %v", took, err)
			}
		})
	}
	bubble(t, "Shutdown waits no longer than its context", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		c.send(modernCall("1", "hold", `{}`))
		<-f.started
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := f.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		close(f.release)
		if err := c.wait(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	bubble(t, "Shutdown ends every connection and refuses new ones", func(t *testing.T) {
		f := newFixture(nil)
		clients := []*lineClient{serveLines(t, f.Server), serveLines(t, f.Server), serveLines(t, f.Server)}
		synctest.Wait()
		for range 2 { // once more is no harm
			if err := f.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for _, c := range clients {
			if err := c.wait(); err != nil {
				t.Errorf("Serve: %v", err)
			}
		}
		conn := newScriptConn()
		if err := f.Serve(t.Context(), conn); err == nil || !strings.Contains(err.Error(), "shut down") {
			t.Errorf("Serve after Shutdown: %v", err)
		}
		<-conn.closed
	})
	bubble(t, "Serve with a context that has ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		conn := newScriptConn()
		if err := newFixture(nil).Serve(ctx, conn); err != nil {
			t.Error(err)
		}
		<-conn.closed
	})
	bubble(t, "Serve does not wait for a reader that nothing can unblock", func(t *testing.T) {
		in, out := io.Pipe()
		defer out.Close()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- newFixture(nil).Serve(ctx, mcp.NewConn(struct{ io.Reader }{in}, io.Discard))
		}()
		synctest.Wait()
		start := time.Now()
		cancel()
		if err, took := <-served, time.Since(start); err != nil || took > 0 {
			t.Errorf("Serve returned after %v: %v", took, err)
		}
	})
}

// TestConnBroken shows what becomes of a connection that breaks.
func TestConnBroken(t *testing.T) {
	t.Parallel()
	bubble(t, "C73 the client closes the output", func(t *testing.T) {
		f := newFixture(nil)
		serverIn, out := io.Pipe()
		in, serverOut := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.Serve(context.Background(), mcp.NewConn(serverIn, serverOut)) }()
		for i := range 10 {
			if _, err := fmt.Fprintln(out, modernCall(fmt.Sprint(i), "block", `{}`)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		_ = in.CloseWithError(errors.New("no reader"))
		if _, err := fmt.Fprintln(out, plainRequest("99", "ping")); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err := <-served
		if err == nil || !strings.Contains(err.Error(), "writing to the client: no reader") || time.Since(start) > 0 {
			t.Errorf("Serve returned after %v: %v", time.Since(start), err)
		}
		for range 10 {
			f.expectCause(t, mcp.ErrDisconnected, "no reader")
		}
	})
	bubble(t, "C73 the client closes the output while it is written to", func(t *testing.T) {
		f := newFixture(nil)
		serverIn, out := io.Pipe()
		in, serverOut := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.Serve(context.Background(), mcp.NewConn(serverIn, serverOut)) }()
		for i := range 100 { // more than may wait
			if _, err := fmt.Fprintln(out, modernCall(fmt.Sprint(i), "blob", `{"count":100000}`)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		_ = in.Close()
		if err := <-served; !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "writing to the client") {
			t.Errorf("Serve: %v", err)
		}
	})
	bubble(t, "the input breaks", func(t *testing.T) {
		f := newFixture(nil)
		serverIn, out := io.Pipe()
		broken := errors.New("reset by peer")
		served := make(chan error, 1)
		go func() { served <- f.Serve(context.Background(), mcp.NewConn(serverIn, io.Discard)) }()
		if _, err := fmt.Fprintln(out, modernCall("1", "block", `{}`)); err != nil {
			t.Fatal(err)
		}
		<-f.started
		_ = out.CloseWithError(broken)
		f.expectCause(t, mcp.ErrDisconnected, "reset by peer")
		if err := <-served; !errors.Is(err, broken) || !strings.Contains(err.Error(), "reading from the client") {
			t.Errorf("Serve: %v", err)
		}
	})
	bubble(t, "the input ends and nobody reads", func(t *testing.T) {
		serverIn, out := io.Pipe()
		_, serverOut := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- newFixture(nil).Serve(context.Background(), mcp.NewConn(serverIn, serverOut)) }()
		if _, err := fmt.Fprintln(out, modernCall("1", "echo", `{"text":"x"}`)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		start := time.Now()
		_ = out.Close()
		if err, took := <-served, time.Since(start); err != nil || took != 6*time.Second {
			t.Errorf("Serve returned after %v: %v", took, err)
		}
	})
}
