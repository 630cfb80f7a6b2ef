package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func TestConnAnswers(t *testing.T) {
	t.Parallel()
	bubble(t, "one call after the other", func(t *testing.T) {
		c := serveLines(t, newFixture(nil).Server)
		c.send(modernCall("1", "add", `{"a":1,"b":2}`))
		c.expect(modernSum("1", 3))
		c.send(modernCall("2", "echo", `{"text":"x"}`))
		c.expect(modernText("2", "x"))
		c.quiet()
		if err := c.hangUp(); err != nil {
			t.Error(err)
		}
	})
	bubble(t, "STD-07 BASE-22 a fast call overtakes a slow one", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		c.send(modernCall(`"a1"`, "hold", `{"tag":"first"}`), modernCall(`"b1"`, "echo", `{"text":"of another conversation"}`))
		c.expect(modernText(`"b1"`, "of another conversation"))
		c.send(modernCall(`"a2"`, "hold", `{"tag":"second"}`), modernCall(`"b2"`, "echo", `{"text":"again"}`))
		c.expect(modernText(`"b2"`, "again"))
		c.quiet()
		close(f.release)
		c.expectAnyOrder(modernText(`"a1"`, "released first"), modernText(`"a2"`, "released second"))
	})
	bubble(t, "BASE-03 BASE-04 an answered id is free at once, and so is its place", func(t *testing.T) {
		c := serveLines(t, newFixture(&mcp.ServerOptions{Limits: mcp.Limits{InFlight: 1, Queue: 1}}).Server)
		c.send(modernCall("1", "echo", `{"text":"x"}`), modernCall("2", "echo", `{"text":"x"}`))
		for range 1000 {
			m := parseWire(t, c.next())
			if m.Error != nil {
				t.Fatalf("%s: %s", m.ID, m.Error.Message)
			}
			c.send(modernCall(string(m.ID), "echo", `{"text":"x"}`))
		}
	})
	bubble(t, "BASE-07 notifications are not answered", func(t *testing.T) {
		c := serveLines(t, newFixture(nil).Server)
		c.send(`{"jsonrpc":"2.0","method":"notifications/unknown","params":{}}`, `{"jsonrpc":"2.0","method":"tools/call"}`,
			initializedNotice, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
		c.quiet()
	})
	bubble(t, "BASE-21 C113 facts of parallel requests keep apart", func(t *testing.T) {
		f := newFixture(nil)
		type facts struct{ Client, LogLevel, Token string }
		asked := make(chan facts, 2)
		all := make(chan struct{})
		mcp.AddTool(f, "facts", "Return the facts when all calls have come", func(ctx context.Context, _ noArgs) (string, error) {
			<-all
			r := mcp.RequestFrom(ctx)
			asked <- facts{r.Client().Name, r.LogLevel(), string(r.ProgressToken())}
			return string(r.ProgressToken()), nil
		})
		c := serveLines(t, f.Server)
		c.send(
			modernCall("1", "facts", `{}`, `"progressToken":1`, `"io.modelcontextprotocol/logLevel":"debug"`, `"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}`),
			modernCall("2", "facts", `{}`, `"progressToken":2`))
		synctest.Wait()
		close(all)
		c.expectAnyOrder(modernText("1", "1"), modernText("2", "2"))
		got := []facts{<-asked, <-asked}
		slices.SortFunc(got, func(a, b facts) int { return strings.Compare(a.Token, b.Token) })
		if diff := cmp.Diff([]facts{{"a", "debug", "1"}, {"", "", "2"}}, got); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
	})
}

// TestConnLines shows that whatever is in an answer, it is one line.
func TestConnLines(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"line\nbreak", "carriage\rreturn", "both\r\n", "line\u2028and\u2029paragraph", "next\u0085line", "nul\x00and\x1fcontrols\x7f",
		"quote\" and \\ and /", "</script><!-- & -->", "\ufeffmark", "\U0001F980 beyond the BMP", "",
	} {
		bubble(t, fmt.Sprintf("STD-01 BASE-01 text %q", text), func(t *testing.T) {
			arg, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			c := serveLines(t, newFixture(nil).Server)
			c.send(modernCall("1", "echo", `{"text":`+string(arg)+`}`))
			line := c.next()
			var r struct {
				Result struct{ Content []struct{ Text string } }
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("not one message: %v: %q", err, line)
			}
			if diff := cmp.Diff([]struct{ Text string }{{text}}, r.Result.Content); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			if strings.ContainsRune(line, '\r') {
				t.Errorf("a carriage return within a line: %q", line)
			}
			c.quiet()
		})
	}
	bubble(t, "STD-01 line breaks between the tokens of JSON from the user", func(t *testing.T) {
		f := newFixture(nil)
		mcp.AddTool(f, "meta", "Return JSON that has line breaks", func(context.Context, noArgs) (*mcp.Result, error) {
			return &mcp.Result{Meta: mcp.Meta{"com.example/raw": json.RawMessage("{\r\n\t\"a\":\r[1,\n2]}\n")}}, nil
		})
		f.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				v, err := next(ctx, req)
				if list, ok := v.(*mcp.ListResult); ok {
					list.Items = append(list.Items, json.RawMessage("{\r\n  \"name\": \"added\",\n\r  \"inputSchema\":\r{\"type\":\"object\"}\n}\n"))
				}
				return v, err
			}
		})
		c := serveLines(t, f.Server)
		for _, request := range []string{modernCall("1", "meta", `{}`), modernRequest("1", "tools/list")} {
			c.send(request)
			line := c.next()
			if m := parseWire(t, line); m.Result == nil || strings.ContainsRune(line, '\r') {
				t.Errorf("got %q", line)
			}
		}
		c.quiet()
	})
}

// TestConnEveryTool audits all that a server writes, for every way in which a request can end.
func TestConnEveryTool(t *testing.T) {
	t.Parallel()
	requests := map[string]string{
		"1": modernCall("1", "add", `{"a":1,"b":2}`), "2": modernCall("2", "add", `{}`), "3": modernCall("3", "echo", `{"text":"x"}`),
		"4": modernCall("4", "whoami", `{}`), "5": modernCall("5", "fail", `{"text":"x"}`), "6": modernCall("6", "panic", `{"text":"x"}`),
		"7": modernCall("7", "goexit", `{}`), "8": modernCall("8", "progress", `{"count":3}`, `"progressToken":"t"`),
		"9": modernCall("9", "blob", `{"count":1}`), "10": modernCall("10", "unknown", `{}`), "11": modernRequest("11", "unknown"),
		"12": modernRequest("12", "tools/list"), "13": modernRequest("13", "server/discover"),
	}
	bubble(t, "BASE-04 BASE-05 BASE-06 BASE-08 every answer is whole and no line is a request", func(t *testing.T) {
		c := serveLines(t, newFixture(nil).Server)
		for _, request := range requests {
			c.send(request)
		}
		synctest.Wait()
		if err := c.hangUp(); err != nil {
			t.Error(err)
		}
		answered := make(map[string]string)
		for _, line := range c.rest() {
			m := parseWire(t, line) // fails on a request
			if m.Method == "notifications/progress" {
				continue
			}
			answered[string(m.ID)] = requests[string(m.ID)]
			var result struct{ ResultType string }
			if m.Error == nil && (json.Unmarshal(m.Result, &result) != nil || result.ResultType != "complete") {
				t.Errorf("resultType %q in %s", result.ResultType, line)
			}
		}
		if diff := cmp.Diff(requests, answered); diff != "" {
			t.Errorf("answered requests (-want +got):\n%s", diff)
		}
	})
}

// TestConnProgressOrder shows that a request's notifications come before its response, and none after it.
func TestConnProgressOrder(t *testing.T) {
	t.Parallel()
	bubble(t, "PRG-03 PRG-09 in order and before the response", func(t *testing.T) {
		const calls, reports = 50, 20
		c := serveLines(t, newFixture(nil).Server)
		for i := range calls {
			c.send(modernCall(fmt.Sprint(i), "progress", fmt.Sprintf(`{"count":%d}`, reports), fmt.Sprintf(`"progressToken":%d`, i)))
		}
		reported := make(map[string]int)
		for range calls * (reports + 1) {
			m := parseWire(t, c.next())
			if m.Method == "" {
				if reported[string(m.ID)] != reports {
					t.Errorf("call %s was answered after %d of its %d notifications", m.ID, reported[string(m.ID)], reports)
				}
				continue
			}
			var p struct {
				Token    json.RawMessage `json:"progressToken"`
				Progress int             `json:"progress"`
			}
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			if reported[string(p.Token)]++; p.Progress != reported[string(p.Token)] {
				t.Errorf("call %s reported %d, want %d", p.Token, p.Progress, reported[string(p.Token)])
			}
		}
		c.quiet()
	})
	for name, end := range map[string]func(){
		"returns": func() {}, "panics": func() { panic("on purpose") }, "ends its goroutine": runtime.Goexit,
	} {
		bubble(t, "PRG-04 nothing after the response when the handler "+name, func(t *testing.T) {
			f := newFixture(nil)
			kept := make(chan context.Context, 1)
			mcp.AddTool(f, "keep", "Keep the context", func(ctx context.Context, _ noArgs) (string, error) {
				mcp.Progress(ctx, 1, 0, "")
				kept <- ctx
				end()
				return "done", nil
			})
			c := serveLines(t, f.Server)
			c.send(modernCall("1", "keep", `{}`, `"progressToken":7`))
			c.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`)
			if m := parseWire(t, c.next()); string(m.ID) != "1" {
				t.Errorf("got an answer to %s, want to 1", m.ID)
			}
			ctx := <-kept
			mcp.Progress(context.WithoutCancel(ctx), 2, 0, "")
			c.quiet()
			if ctx.Err() == nil {
				t.Error("the context of a call goes on after its end")
			}
		})
	}
}

func TestConnFrozen(t *testing.T) {
	t.Parallel()
	bubble(t, "A16 TOOL-02 nothing is registered under a connection", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		c.send(modernRequest("1", "tools/list"))
		before := c.next()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				defer func() {
					var frozen *mcp.FrozenError
					if err, _ := recover().(error); !errors.As(err, &frozen) || frozen.Feature != `tool "new"` {
						t.Errorf("registering while serving panicked with %v", err)
					}
				}()
				mcp.AddTool(f, "new", "", func(context.Context, noArgs) (string, error) { return "", nil })
			})
			c.send(modernRequest("1", "tools/list"))
			c.expect(before)
		}
		group.Wait()
		c.send(modernCall("2", "new", `{}`))
		c.expectError("2", mcp.CodeInvalidParams)
	})
}

func TestConnClientIDs(t *testing.T) {
	t.Parallel()
	bubble(t, "BASE-03 1,000 calls at once have ids of their own", func(t *testing.T) {
		f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Queue: 2000}})
		served := make(chan error, 1)
		var log *idLog
		client, err := mcp.Dial(t.Context(), mcp.Custom(func(context.Context) (mcp.Conn, error) {
			near, far := newPipeConns()
			go func() { served <- f.Serve(context.Background(), far) }()
			log = &idLog{Conn: near}
			return log, nil
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range 1000 {
			group.Go(func() {
				got, err := mcp.Call[sumResult](t.Context(), client, "add", addArgs{i, 1})
				if err != nil || got.Sum != i+1 {
					t.Errorf("add %d: %v, %v", i, got, err)
				}
			})
		}
		group.Wait()
		if log.sent < 1000 || log.reused != nil {
			t.Errorf("%d requests were sent; ids used again too early: %v", log.sent, log.reused)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
