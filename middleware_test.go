package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// trail keeps what middleware saw, in order.
type trail struct {
	mu    sync.Mutex
	steps []string
}

func (l *trail) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, fmt.Sprintf(format, args...))
}

// take returns the steps so far and starts anew.
func (l *trail) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	steps := l.steps
	l.steps = nil
	return steps
}

// watch is middleware that notes what goes in and what comes out.
func (l *trail) watch(name string) mcp.Middleware {
	return func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, r *mcp.Request) (any, error) {
			l.add("%s > %s %s %s", name, r.Method(), r.Info().Kind, r.Info().Name)
			v, err := next(ctx, r)
			var args *mcp.ArgsError
			var fault *mcp.Error
			switch {
			case errors.As(err, &args):
				l.add("%s < *ArgsError of %d", name, len(args.Violations))
			case errors.As(err, &fault):
				l.add("%s < *Error %d", name, fault.Code)
			case err != nil:
				l.add("%s < error", name)
			default:
				l.add("%s < %T", name, v)
			}
			return v, err
		}
	}
}

func TestMiddlewareOrder(t *testing.T) {
	t.Parallel()
	var l trail
	s := mcp.NewServer("s", "1", nil)
	scope := s.Scope("out")
	inner := scope.Scope("in")
	ran := func(context.Context, addArgs) (string, error) { l.add("handler"); return "", nil }
	mcp.AddTool(inner, "t", "", ran).Use(l.watch("tool1"), l.watch("tool2"))
	mcp.AddTool(s, "plain", "", ran)
	// Order among scopes and server does not depend on when middleware was added.
	inner.Use(l.watch("inner1"))
	inner.Use(l.watch("inner2"))
	scope.Use(l.watch("outer"))
	s.Use(l.watch("server1"), l.watch("server2"))
	c := serveLines(t, s)

	// chain is what a call sees: each level on the way in, what is inside, each level on the way out.
	chain := func(levels []string, in, out string, inside ...string) []string {
		var steps []string
		for _, level := range levels {
			steps = append(steps, level+" > "+in)
		}
		steps = append(steps, inside...)
		for i := len(levels) - 1; i >= 0; i-- {
			steps = append(steps, levels[i]+" < "+out)
		}
		return steps
	}
	all := []string{"server1", "server2", "outer", "inner1", "inner2", "tool1", "tool2"}
	server := all[:2]
	for _, tt := range []struct {
		name, line string
		want       []string
	}{
		{"server, scope, nested scope, tool, handler", modernCall("1", "out_in_t", `{"a":1,"b":2}`), chain(all, "tools/call tool out_in_t", "*mcp.Result", "handler")},
		{"bad arguments are seen by all, as *ArgsError", modernCall("1", "out_in_t", `{"a":"x"}`), chain(all, "tools/call tool out_in_t", "*ArgsError of 2")},
		{"arguments that are no object are an *Error", modernCall("1", "out_in_t", `[]`), chain(all, "tools/call tool out_in_t", "*Error -32602")},
		{"a tool outside the scope", modernCall("1", "plain", `{"a":1,"b":2}`), chain(server, "tools/call tool plain", "*mcp.Result", "handler")},
		{"an unknown tool is seen by the server's alone", modernCall("1", "nil", `{}`), chain(server, "tools/call tool nil", "*Error -32602")},
		{"a call without a name", plainRequest("1", "tools/call", modernMeta()), chain(server, "tools/call tool ", "*Error -32602")},
		{"a list", modernRequest("1", "tools/list"), chain(server, "tools/list  ", "*mcp.ListResult")},
		{"a list with a bad cursor", modernRequest("1", "tools/list", `"cursor":"x"`), chain(server, "tools/list  ", "*Error -32602")},
		{"discovery", modernRequest("1", "server/discover"), chain(server, "server/discover  ", "*mcp.ServerInfo")},
		{"not ping", plainRequest("1", "ping"), nil},
		{"not initialize", initializeRequest("1", "2025-11-25"), nil},
		{"not what is not admitted: version", strings.Replace(modernRequest("1", "tools/list"), "2026-07-28", "2020-01-01", 1), nil},
		{"not what is not admitted: method", modernRequest("1", "tools/drop"), nil},
		{"not what is not admitted: token", plainRequest("1", "tools/list", modernMeta(`"progressToken":{}`)), nil},
	} {
		t.Run("M32 "+tt.name, func(t *testing.T) {
			c.t = t
			c.send(tt.line)
			c.next()
			if diff := cmp.Diff(tt.want, l.take()); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("M32 not notifications", func(t *testing.T) {
		c.t = t
		c.send(cancelNotice("9", "x"), `{"jsonrpc":"2.0","method":"notifications/x"}`, plainRequest("1", "ping"))
		c.next()
		if steps := l.take(); steps != nil {
			t.Errorf("steps %v", steps)
		}
	})
	t.Run("M32 A5 what all of them passed on is stamped", func(t *testing.T) {
		c.t = t
		c.send(modernRequest("1", "tools/list"))
		if got := resultIn(t, c.next()); string(got["ttlMs"]) != "0" || string(got["resultType"]) != `"complete"` || got["_meta"] == nil {
			t.Errorf("%s", got)
		}
	})
}

// inserted is a server with a tool "t" of one level's middleware around "ran".
func inserted(level string, mw mcp.Middleware, opts *mcp.ServerOptions) (s *mcp.Server, tool string) {
	s = mcp.NewServer("fixture", "1.0.0", opts)
	scope := s.Scope("sc")
	handle := mcp.AddTool(scope, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
		added, _ := ctx.Value(trailKey{}).(string)
		return "ran" + added, nil
	})
	switch level {
	case "server":
		s.Use(mw)
	case "scope":
		scope.Use(mw)
	case "tool":
		handle.Use(mw)
	}
	return s, "sc_t"
}

func TestMiddlewarePowers(t *testing.T) {
	t.Parallel()
	var nilResult *mcp.Result
	answer := func(v any, err error) mcp.Middleware {
		return func(mcp.Handler) mcp.Handler {
			return func(context.Context, *mcp.Request) (any, error) { return v, err }
		}
	}
	for _, level := range []string{"server", "scope", "tool"} {
		for _, tt := range []struct {
			name string
			mw   mcp.Middleware
			want string // members of the result; "ref", "fault": with a reference
		}{
			{"nothing", passThrough, holdingText("ran")},
			{"a short-circuit with a result", answer(&mcp.Result{Structured: 7}, nil), holdingValue("7")},
			{"a short-circuit with an error", answer(nil, mcp.ToolErrorf("closed")), holdingText("closed") + `,"isError":true`},
			{"a change of the result", func(next mcp.Handler) mcp.Handler {
				return func(ctx context.Context, r *mcp.Request) (any, error) {
					v, err := next(ctx, r)
					if result, ok := v.(*mcp.Result); ok {
						result.Content = append(result.Content, mcp.Text("more"))
					}
					return v, err
				}
			}, holding(`{"type":"text","text":"ran"},{"type":"text","text":"more"}`)},
			{"an error turned into a result", func(next mcp.Handler) mcp.Handler {
				return func(ctx context.Context, r *mcp.Request) (any, error) {
					return &mcp.Result{Content: []mcp.Content{mcp.Text("mended")}}, nil
				}
			}, holdingText("mended")},
			{"a value in the context", func(next mcp.Handler) mcp.Handler {
				return func(ctx context.Context, r *mcp.Request) (any, error) {
					if mcp.RequestFrom(ctx) != r {
						return nil, errors.New("the request is not in the context")
					}
					return next(context.WithValue(ctx, trailKey{}, " with it"), r)
				}
			}, holdingText("ran with it")},
			{"a string for a result", answer("text", nil), "fault"},
			{"nothing for a result", answer(nil, nil), "fault"},
			{"a nil result", answer(nilResult, nil), "fault"},
			{"a result of another method", answer(&mcp.ListResult{}, nil), "fault"},
			{"a result by value", answer(mcp.Result{}, nil), "fault"},
			{"a panic", func(mcp.Handler) mcp.Handler {
				return func(context.Context, *mcp.Request) (any, error) { panic(secret) }
			}, "ref"},
			{"a panic after the call", func(next mcp.Handler) mcp.Handler {
				return func(ctx context.Context, r *mcp.Request) (any, error) {
					_, _ = next(ctx, r)
					panic(secret)
				}
			}, "ref"},
			{"a nil handler", func(mcp.Handler) mcp.Handler { return nil }, "ref"},
			{"runtime.Goexit", func(mcp.Handler) mcp.Handler {
				return func(context.Context, *mcp.Request) (any, error) { runtime.Goexit(); return nil, nil }
			}, "fault"},
		} {
			t.Run("M32 "+level+": "+tt.name, func(t *testing.T) {
				t.Parallel()
				var book logBook
				s, tool := inserted(level, tt.mw, &mcp.ServerOptions{Logger: book.logger()})
				c := serveLines(t, s)
				c.send(modernCall("1", tool, "{}"))
				line, ref := c.next(), ""
				switch tt.want {
				case "ref":
					ref = reference(t, failureIn(t, line))
				case "fault":
					e := faultIn(t, line)
					if e.Code != mcp.CodeInternalError {
						t.Errorf("answer %s", line)
					}
					ref = reference(t, e.Message)
				default:
					if line != modernResult("1", tt.want) {
						t.Errorf("answer %s", line)
					}
				}
				if !strings.Contains(book.String(), ref) || strings.Contains(line, secret) {
					t.Errorf("answer %s, log %s", line, book.String())
				}
				c.send(plainRequest("2", "ping"))
				c.next() // the server lives
			})
		}
	}
}

type trailKey struct{}

func TestMiddlewareOfLists(t *testing.T) {
	t.Parallel()
	serve := func(mw mcp.Middleware) *mcp.Server {
		s := mcp.NewServer("s", "1", nil)
		s.Use(mw)
		mcp.AddTool(s, "a", "", returning[struct{}](""))
		mcp.AddTool(s, "b", "", returning[struct{}](""))
		return s
	}
	change := func(apply func(*mcp.ListResult)) mcp.Middleware {
		return func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				v, err := next(ctx, r)
				if list, ok := v.(*mcp.ListResult); ok {
					apply(list)
				}
				return v, err
			}
		}
	}
	t.Run("M32 entries may be dropped and replaced", func(t *testing.T) {
		t.Parallel()
		s := serve(change(func(l *mcp.ListResult) {
			l.Items = append(l.Items[1:], json.RawMessage(`{"name":"c","inputSchema":{"type":"object"}}`))
		}))
		tools := mustList(t, dialMemory(t, s, nil))
		if len(tools) != 2 || tools[0].Name != "b" || tools[1].Name != "c" {
			t.Errorf("%+v", tools)
		}
	})
	t.Run("TOOL-01 no entries are []", func(t *testing.T) {
		t.Parallel()
		s := serve(change(func(l *mcp.ListResult) { l.Items = nil }))
		if got := string(resultIn(t, ask(t, s, modernRequest("1", "tools/list")))["tools"]); got != "[]" {
			t.Errorf("tools %s", got)
		}
	})
	for _, bad := range []string{`{"name":`, ``, `{"a":1,"a":2}`} {
		t.Run("M32 an entry that is no JSON breaks the answer, not the line: "+bad, func(t *testing.T) {
			t.Parallel()
			s := serve(change(func(l *mcp.ListResult) { l.Items[0] = json.RawMessage(bad) }))
			undisclosed(t, faultIn(t, ask(t, s, modernRequest("1", "tools/list"))).Message)
		})
	}
	t.Run("CCH-05 middleware decides for every request, whatever the caching hint says", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Cache: mcp.Cache{TTL: 1 << 40, Public: true}})
		asked := 0
		s.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				if asked++; asked%2 == 0 {
					return nil, mcp.Errorf(4711, "not you")
				}
				return next(ctx, r)
			}
		})
		mcp.AddTool(s, "a", "", returning[struct{}](""))
		for range 2 {
			for _, method := range []string{"tools/list", "server/discover"} {
				resultIn(t, ask(t, s, modernRequest("1", method)))
				if e := faultIn(t, ask(t, s, modernRequest("2", method))); e.Code != 4711 {
					t.Errorf("%+v", e)
				}
			}
		}
	})
	t.Run("M32 discovery may be changed", func(t *testing.T) {
		t.Parallel()
		s := serve(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				v, err := next(ctx, r)
				if info, ok := v.(*mcp.ServerInfo); ok {
					info.Instructions = "own"
				}
				return v, err
			}
		})
		if got := dialMemory(t, s, nil).Server().Instructions; got != "own" {
			t.Errorf("instructions %q", got)
		}
	})
}
