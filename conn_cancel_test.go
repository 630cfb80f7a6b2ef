package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// expectCause holds the next context that ended to one of the causes, whose text has text in it.
func (f *fixture) expectCause(t *testing.T, want error, text string) {
	t.Helper()
	select {
	case got := <-f.ended:
		if !errors.Is(got, want) || !errors.Is(got, context.Canceled) || !strings.Contains(got.Error(), text) {
			t.Errorf("the context ended with %v, want %v with %q in it", got, want, text)
		}
		for _, other := range []error{mcp.ErrCancelled, mcp.ErrDisconnected, mcp.ErrShutdown} {
			if other != want && errors.Is(got, other) {
				t.Errorf("the cause %v is %v too", got, other)
			}
		}
	case <-time.After(lineTimeout):
		t.Fatal("the context did not end")
	}
}

func TestConnCancel(t *testing.T) {
	t.Parallel()
	bubble(t, "CAN-04 STD-09 STD-10 C116 A26 A66 A67 A68 a running call", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		c.send(modernCall("1", "block", `{}`))
		<-f.started
		c.send(cancelNotice("1", "the user closed the tab"))
		f.expectCause(t, mcp.ErrCancelled, "the user closed the tab")
		c.quiet()
	})
	bubble(t, "CAN-04 without a reason", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		for _, notice := range []string{
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":7}}`,
		} {
			c.send(modernCall("1", "block", `{}`))
			<-f.started
			c.send(notice)
			f.expectCause(t, mcp.ErrCancelled, "")
		}
		c.quiet()
	})
	bubble(t, "STD-09 nothing is reported after a cancellation", func(t *testing.T) {
		f := newFixture(nil)
		mcp.AddTool(f, "stubborn", "Report on when cancelled", func(ctx context.Context, _ noArgs) (string, error) {
			mcp.Progress(ctx, 1, 0, "")
			<-ctx.Done()
			mcp.Progress(context.WithoutCancel(ctx), 2, 0, "")
			mcp.Progress(ctx, 3, 0, "")
			return "finished all the same", nil
		})
		c := serveLines(t, f.Server)
		c.send(modernCall("1", "stubborn", `{}`, `"progressToken":"t"`))
		c.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`)
		c.send(cancelNotice("1", ""))
		c.quiet()
	})
	bubble(t, "CAN-04 a call that waits never starts", func(t *testing.T) {
		f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{InFlight: 1}})
		c := serveLines(t, f.Server)
		c.send(modernCall("1", "hold", `{"tag":"first"}`), modernCall("2", "hold", `{"tag":"second"}`), modernCall("3", "hold", `{"tag":"third"}`))
		c.send(cancelNotice("2", ""))
		synctest.Wait()
		close(f.release)
		c.expect(modernText("1", "released first"), modernText("3", "released third"))
		c.quiet()
		if first, third := <-f.started, <-f.started; first != "first" || third != "third" || len(f.started) > 0 {
			t.Errorf("started: %s, %s and %d more", first, third, len(f.started))
		}
	})
	bubble(t, "CAN-08 the reason is logged", func(t *testing.T) {
		var log bytes.Buffer
		f := newFixture(&mcp.ServerOptions{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		c := serveLines(t, f.Server)
		c.send(modernCall("1", "block", `{}`))
		<-f.started
		c.send(cancelNotice("1", "changed my mind"))
		f.expectCause(t, mcp.ErrCancelled, "changed my mind")
		c.quiet()
		if !strings.Contains(log.String(), "changed my mind") {
			t.Errorf("the log has no reason:\n%s", &log)
		}
	})
	bubble(t, "C107 only the exact id", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		ids := []string{"0", `"0"`, `""`, "1", `"1"`, "9007199254740993", "9007199254740992"}
		for _, id := range ids {
			c.send(modernCall(id, "block", fmt.Sprintf(`{"tag":%q}`, id)))
			<-f.started
		}
		c.send(cancelNotice("999", ""), cancelNotice("null", ""), cancelNotice("[0]", ""), cancelNotice("0.0", ""), cancelNotice("false", ""))
		synctest.Wait()
		if len(f.ended) > 0 {
			t.Fatal("a cancellation of no request ended one")
		}
		for i, id := range ids {
			c.send(cancelNotice(id, "reason of "+id))
			f.expectCause(t, mcp.ErrCancelled, "reason of "+id)
			synctest.Wait()
			if len(f.ended) > 0 {
				t.Fatalf("the cancellation of request %d ended another", i)
			}
		}
		c.quiet()
	})
}

// TestConnCauses shows that a handler can tell why its context ended.
func TestConnCauses(t *testing.T) {
	t.Parallel()
	type key struct{}
	for name, test := range map[string]struct {
		end  func(t *testing.T, s *mcp.Server, c *scriptConn, stop context.CancelFunc)
		want error
		text string
	}{
		"cancelled": {func(_ *testing.T, _ *mcp.Server, c *scriptConn, _ context.CancelFunc) {
			c.in <- step{msg: cancelNotice("1", "enough")}
		}, mcp.ErrCancelled, "enough"},
		"context of Serve": {func(_ *testing.T, _ *mcp.Server, _ *scriptConn, stop context.CancelFunc) { stop() }, mcp.ErrShutdown, ""},
		"context of Serve, watched by the Conn": {func(_ *testing.T, _ *mcp.Server, c *scriptConn, stop context.CancelFunc) {
			stop()
		}, mcp.ErrShutdown, ""},
		"Shutdown": {func(t *testing.T, s *mcp.Server, _ *scriptConn, _ context.CancelFunc) {
			if err := s.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		}, mcp.ErrShutdown, ""},
		"end of input": {func(_ *testing.T, _ *mcp.Server, c *scriptConn, _ context.CancelFunc) {
			c.in <- step{err: io.EOF}
		}, mcp.ErrDisconnected, "end of input"},
		"broken input": {func(_ *testing.T, _ *mcp.Server, c *scriptConn, _ context.CancelFunc) {
			c.in <- step{err: errors.New("reset by peer")}
		}, mcp.ErrDisconnected, "reset by peer"},
		"broken output": {func(_ *testing.T, _ *mcp.Server, c *scriptConn, _ context.CancelFunc) {
			c.writeErr = func() error { return errors.New("broken pipe") }
			c.in <- step{msg: plainRequest("2", "ping")}
		}, mcp.ErrDisconnected, "broken pipe"},
	} {
		bubble(t, "C116 "+name, func(t *testing.T) {
			f := newFixture(nil)
			values := make(chan any, 1)
			mcp.AddTool(f, "value", "", func(ctx context.Context, _ noArgs) (string, error) {
				values <- ctx.Value(key{})
				return "", nil
			})
			conn := newScriptConn()
			conn.watches = strings.Contains(name, "watched")
			ctx, stop := context.WithCancel(context.WithValue(context.Background(), key{}, "of Serve"))
			defer stop()
			served := conn.serve(ctx, f.Server)
			conn.in <- step{msg: modernCall("0", "value", `{}`)}
			if v := <-values; v != "of Serve" {
				t.Errorf("a handler sees the value %v", v)
			}
			<-conn.out
			conn.in <- step{msg: modernCall("1", "block", `{}`)}
			<-f.started
			synctest.Wait()
			test.end(t, f.Server, conn, stop)
			f.expectCause(t, test.want, test.text)
			stop()
			<-served
		})
	}
}
