package mcp_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

// TestCancelNotices is about notifications/cancelled that mean nothing, and those that a server sends.
func TestCancelNotices(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]string{
		"no params":                    `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		"params that are null":         `{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}`,
		"params that are a list":       `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}`,
		"no id":                        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
		"an id of null":                `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}`,
		"an id that is an object":      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"id":1}}}`,
		"an id that is a fraction":     `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`,
		"an id in the wrong place":     `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"id":1}}`,
		"a reason that is no text":     `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99,"reason":{}}}`,
		"the id of nothing":            cancelNotice("99", ""),
		"the id as text, not a number": cancelNotice(`"1"`, ""),
	} {
		bubble(t, "CAN-05 CAN-08 C107 A66 nothing comes of a cancellation with "+name, func(t *testing.T) {
			log := new(logBook)
			f := newFixture(&mcp.ServerOptions{Logger: log.logger()})
			c := serveLines(t, f.Server)
			c.send(modernCall("1", "hold", `{"tag":"a"}`))
			<-f.started
			c.send(notice, notice)
			synctest.Wait()
			close(f.release)
			c.expect(modernText("1", "released a"))
			c.quiet()
			if bad := log.records(t, slog.LevelError); len(bad) > 0 {
				t.Errorf("logged %v", bad)
			}
		})
	}
	bubble(t, "CAN-05 nor of one for what is finished, again and again", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		for range 3 {
			c.send(modernCall("1", "echo", `{"text":"x"}`))
			c.expect(modernText("1", "x"))
			c.send(cancelNotice("1", "late"), cancelNotice("1", "later"))
			c.quiet()
		}
	})
	bubble(t, "CAN-08 a reason is logged as it is, on one line", func(t *testing.T) {
		log := new(logBook)
		f := newFixture(&mcp.ServerOptions{Logger: log.logger()})
		c := serveLines(t, f.Server)
		c.send(modernCall("1", "block", `{}`))
		<-f.started
		c.send(cancelNotice("1", "done\nlevel=ERROR msg=forged"))
		f.expectCause(t, mcp.ErrCancelled, "forged")
		c.quiet()
		if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), `done\n`) {
			t.Errorf("%d lines: %s", n, log)
		}
	})
	bubble(t, "CAN-02 a server cancels nothing but subscriptions", func(t *testing.T) {
		f := newFixture(&mcp.ServerOptions{Dynamic: true, Limits: mcp.Limits{InFlight: 4}})
		mcp.AddTool(f, "ask", "", func(ctx context.Context, _ noArgs) (string, error) {
			_, err := mcp.Confirm(ctx, "sure", "Sure?")
			return "", err
		})
		c := serveLines(t, f.Server)
		c.send(listenRequest("0", `"toolsListChanged":true`))
		c.expect(acknowledged("0", `"toolsListChanged":true`))
		for i, call := range [][2]string{{"echo", `{"text":"x"}`}, {"fail", `{"text":"x"}`}, {"panic", `{"text":"x"}`}, {"goexit", `{}`}, {"ask", `{}`},
			{"none", `{}`}, {"add", `{"a":"x"}`}, {"block", `{}`}, {"block", `{}`}} {
			id := fmt.Sprint(i + 1)
			c.send(round{name: call[0], args: call[1]}.line(id))
			if call[0] == "block" {
				<-f.started
				continue
			}
			if m := parseWire(t, c.next()); m.Method != "" || string(m.ID) != id {
				t.Errorf("%s: sent %+v", call[0], m)
			}
		}
		c.send(cancelNotice("8", ""))
		<-f.ended
		go func() { _ = f.Shutdown(context.Background()) }()
		<-f.ended
		cancelled := 0
		for c := range c.lines {
			if m := parseWire(t, strings.TrimSpace(c)); m.Method == "notifications/cancelled" {
				cancelled++
				if string(m.Params) != `{"requestId":0}` {
					t.Errorf("cancels %s", m.Params)
				}
			}
		}
		if cancelled != 1 {
			t.Errorf("%d cancellations", cancelled)
		}
	})
}
