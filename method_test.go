package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

type greetParams struct {
	Name  string `json:"name" jsonschema:"minLength=1"`
	Times int    `json:"times,omitempty" jsonschema:"default=1"`
}

type greetResult struct {
	Text string `json:"text"`
}

// methodServer has the method "com.example/greet".
func methodServer() *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	mcp.HandleMethod(s, "com.example/greet", func(_ context.Context, p greetParams) (greetResult, error) {
		switch p.Name {
		case "nobody":
			return greetResult{}, errors.New("nobody there")
		case "protocol":
			return greetResult{}, mcp.Errorf(9, "nine")
		case "panic":
			panic(secret)
		}
		return greetResult{strings.Repeat("hi "+p.Name, p.Times)}, nil
	})
	mcp.HandleMethod(s, "com.example/empty", returning[struct{}](struct{}{}))
	mcp.HandleMethod(s, "com.example/map", func(_ context.Context, p map[string]string) (map[string]string, error) { return p, nil })
	mcp.HandleMethod(s, "com.example/nil", returning[struct{}, *greetResult](nil))
	return s
}

func TestHandleMethod(t *testing.T) {
	t.Parallel()
	s := methodServer()
	const stamp = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`
	for _, tt := range []struct{ name, method, params, modern, legacy string }{
		{"a result", "greet", `"name":"Ada","x":1`, `{"resultType":"complete","text":"hi Ada",` + stamp + `}`, `{"text":"hi Ada"}`},
		{"an empty result", "empty", `"x":1`, `{"resultType":"complete",` + stamp + `}`, `{}`},
		{"params that are a map, without _meta", "map", `"a":"b","c":"\u00e4"`, `{"resultType":"complete","a":"b","c":"ä",` + stamp + `}`, `{"a":"b","c":"ä"}`},
		{"an empty map", "map", ``, `{"resultType":"complete",` + stamp + `}`, `{}`},
	} {
		t.Run("M13 C58 "+tt.name, func(t *testing.T) {
			t.Parallel()
			params := strings.FieldsFunc(tt.params, func(c rune) bool { return c == '\n' })
			for _, era := range []struct{ got, want string }{
				{ask(t, s, modernRequest("1", "com.example/"+tt.method, params...)), tt.modern},
				{askLegacy(t, s, "2024-11-05", plainRequest("1", "com.example/"+tt.method, append(params, `"_meta":{}`)...)), tt.legacy},
			} {
				if want := `{"jsonrpc":"2.0","id":1,"result":` + era.want + `}`; era.got != want {
					t.Errorf("got  %s\nwant %s", era.got, want)
				}
			}
		})
	}
	t.Run("M13 without params, in an older revision", func(t *testing.T) {
		t.Parallel()
		if got := askLegacy(t, s, "2025-06-18", `{"jsonrpc":"2.0","id":1,"method":"com.example/empty"}`); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("%s", got)
		}
	})
	for _, tt := range []struct {
		name, method, params string
		code                 mcp.Code
		part                 string
	}{
		{"a missing param", "greet", `"x":1`, -32602, "name"},
		{"a param of another type", "greet", `"name":5`, -32602, "name"},
		{"a param out of bounds", "greet", `"name":""`, -32602, "name"},
		{"a value of another type", "map", `"a":1`, -32602, "a"},
		{"an error", "greet", `"name":"nobody"`, -32603, "nobody there"},
		{"a protocol error", "greet", `"name":"protocol"`, 9, "nine"},
		{"a panic", "greet", `"name":"panic"`, -32603, "internal error"},
		{"a nil result", "nil", `"x":1`, -32603, "internal error"},
		{"another method", "nosuch", `"x":1`, -32601, "com.example/nosuch"},
	} {
		t.Run("M13 "+tt.name, func(t *testing.T) {
			t.Parallel()
			for _, answer := range []string{
				ask(t, s, modernRequest("1", "com.example/"+tt.method, tt.params)),
				askLegacy(t, s, "2025-11-25", plainRequest("1", "com.example/"+tt.method, tt.params)),
			} {
				if e := faultIn(t, answer); e.Code != tt.code || !strings.Contains(e.Message, tt.part) || strings.Contains(answer, secret) {
					t.Errorf("%s", answer)
				}
			}
		})
	}
	t.Run("M13 over HTTP, by the rules of all methods", func(t *testing.T) {
		t.Parallel()
		h := newHandler(t, s, modernOnly)
		line := modernRequest("1", "com.example/greet", `"name":"Ada"`)
		if a := exchange(t, h, modernPost(line)); a.status != 200 || !strings.Contains(a.body, "hi Ada") {
			t.Errorf("%d %s", a.status, a.body)
		}
		exchange(t, h, modernPost(line, "Mcp-Method: tools/call")).expectError(t, http.StatusBadRequest, mcp.CodeHeaderMismatch, "1")
		exchange(t, h, modernPost(modernRequest("1", "com.example/none"))).expectError(t, http.StatusNotFound, mcp.CodeMethodNotFound, "1")
	})
	t.Run("M13 M32 middleware finds what the function returned", func(t *testing.T) {
		t.Parallel()
		s := methodServer()
		s.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				v, err := next(ctx, req)
				if r, ok := v.(*greetResult); ok {
					r.Text += "!"
				}
				return v, err
			}
		})
		if got := ask(t, s, modernRequest("1", "com.example/greet", `"name":"Ada"`)); !strings.Contains(got, "hi Ada!") {
			t.Errorf("%s", got)
		}
	})
	t.Run("M13 M32 middleware that returns something else", func(t *testing.T) {
		t.Parallel()
		s := methodServer()
		s.Use(func(mcp.Handler) mcp.Handler {
			return func(context.Context, *mcp.Request) (any, error) { return greetResult{"by value"}, nil }
		})
		if e := faultIn(t, ask(t, s, modernRequest("1", "com.example/greet", `"name":"Ada"`))); e.Code != mcp.CodeInternalError {
			t.Errorf("%+v", e)
		}
	})
	t.Run("M13 M30 asking for input is a fault, and logged", func(t *testing.T) {
		t.Parallel()
		var log logBook
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: log.logger()})
		mcp.HandleMethod(s, "com.example/ask", func(ctx context.Context, _ struct{}) (struct{}, error) {
			_, err := mcp.Elicit[nameForm](ctx, "name", "Who?")
			return struct{}{}, err
		})
		line := plainRequest("1", "com.example/ask", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+allCapabilities+`}`)
		if e := faultIn(t, ask(t, s, line)); e.Code != mcp.CodeInternalError {
			t.Errorf("%+v", e)
		}
		if len(log.records(t, slog.LevelError)) != 1 {
			t.Errorf("%s", log.String())
		}
	})
}

func TestHandleMethodProblems(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"tools/call", "initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel", "resources/subscribe", "tasks/get", "tasks/list", "sampling/createMessage",
		"roots/list", "elicitation/create", "notifications/x", "notifications/", "rpc.discover", "",
	} {
		t.Run(fmt.Sprintf("M13 the name %q", name), func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.HandleMethod(s, name, returning[struct{}](struct{}{}))
			expectProblem(t, s, fmt.Sprintf("method %q", name))
		})
	}
	for _, tt := range []struct {
		name string
		add  func(s *mcp.Server)
		want string
	}{
		{"twice", func(s *mcp.Server) {
			mcp.HandleMethod(s, "x/y", returning[struct{}](struct{}{}))
			mcp.HandleMethod(s, "x/y", returning[struct{}](struct{}{}))
		}, "there is a handler for this method already"},
		{"without a handler", func(s *mcp.Server) { mcp.HandleMethod[struct{}, struct{}](s, "x/y", nil) }, "the handler is nil"},
		{"with params that are no object", func(s *mcp.Server) { mcp.HandleMethod(s, "x/y", returning[int](struct{}{})) }, "type int"},
		{"with params that have no JSON", func(s *mcp.Server) { mcp.HandleMethod(s, "x/y", returning[struct{ C chan int }](struct{}{})) }, "C"},
		{"with a result that is text", func(s *mcp.Server) { mcp.HandleMethod(s, "x/y", returning[struct{}]("")) }, "a struct or a map"},
		{"with a result that is a list", func(s *mcp.Server) { mcp.HandleMethod(s, "x/y", returning[struct{}]([]int{})) }, "a struct or a map"},
		{"with a result that is anything", func(s *mcp.Server) { mcp.HandleMethod(s, "x/y", returning[struct{}, any](nil)) }, "a struct or a map"},
		{"with a result that has no JSON", func(s *mcp.Server) { mcp.HandleMethod(s, "x/y", returning[struct{}](struct{ C chan int }{})) }, "C"},
		{"with a result that says its type", func(s *mcp.Server) {
			mcp.HandleMethod(s, "x/y", returning[struct{}](struct {
				T string `json:"resultType"`
			}{}))
		}, `the result has a member "resultType"`},
		{"with a result that has _meta", func(s *mcp.Server) {
			mcp.HandleMethod(s, "x/y", returning[struct{}](struct {
				M json.RawMessage `json:"_meta"`
			}{}))
		}, `the result has a member "_meta"`},
	} {
		t.Run("M13 a method "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.add(s)
			expectProblem(t, s, tt.want)
		})
	}
}
