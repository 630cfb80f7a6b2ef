package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// getPrompt is a modern prompts/get.
func getPrompt(id, name, args string) string {
	return modernRequest(id, "prompts/get", callParams(name, args))
}

// promptServer has the one prompt "p", which returns v.
func promptServer[R any](v R) *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	mcp.AddPrompt(s, "p", "", returning[struct{}](v))
	return s
}

// reviewArgs are arguments of every kind that text can stand for.
type reviewArgs struct {
	Topic string    `json:"topic" jsonschema:"title=The topic,minLength=2" jsonschema_description:"What to review"`
	Depth int       `json:"depth,omitempty" jsonschema:"minimum=1,maximum=9,default=3"`
	Share float64   `json:"share,omitempty"`
	Brief bool      `json:"brief,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Tone  string    `json:"tone,omitempty" jsonschema:"enum=kind,enum=stern"`
	Level int       `json:"level,omitempty" jsonschema:"enum=1,enum=1000000"`
}

func reviewServer() *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	mcp.AddPrompt(s, "review", "Review a topic", func(_ context.Context, a reviewArgs) (string, error) {
		raw, err := json.Marshal(a)
		return string(raw), err
	})
	return s
}

func TestPromptArguments(t *testing.T) {
	t.Parallel()
	s := reviewServer()
	for _, tt := range []struct{ name, args, want string }{
		{"P6 what is needed, and defaults", `{"topic":"Go"}`, `{"topic":"Go","depth":3}`},
		{"P6 all kinds", `{"topic":"Go","depth":"7","share":"0.5","brief":"true","since":"2026-07-28T00:00:00Z","tone":"kind","level":"1000000"}`,
			`{"topic":"Go","depth":7,"share":0.5,"brief":true,"since":"2026-07-28T00:00:00Z","tone":"kind","level":1000000}`},
		{"P6 text that looks like something else", `{"topic":"null"}`, `{"topic":"null","depth":3}`},
		{"P6 a number for text", `{"topic":"42"}`, `{"topic":"42","depth":3}`},
		{"P6 an empty number is none", `{"topic":"Go","depth":""}`, `{"topic":"Go","depth":3}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var messages []struct{ Content struct{ Text string } }
			if err := json.Unmarshal(resultIn(t, ask(t, s, getPrompt("1", "review", tt.args)))["messages"], &messages); err != nil {
				t.Fatal(err)
			}
			if len(messages) != 1 || messages[0].Content.Text != tt.want {
				t.Errorf("%+v\nwant %s", messages, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, args, want string }{
		{"PRM-02 PRM-04 P6 M7 a required one is missing", `{}`, "topic"},
		{"PRM-02 PRM-04 no arguments", `null`, "topic"},
		{"PRM-04 P6 an unknown one, with the nearest name", `{"topic":"Go","dept":"3"}`, "depth"},
		{"PRM-04 a number that is none", `{"topic":"Go","depth":"deep"}`, "depth"},
		{"PRM-04 a number with a sign", `{"topic":"Go","depth":"+3"}`, "depth"},
		{"PRM-04 out of bounds", `{"topic":"Go","depth":"10"}`, "depth"},
		{"PRM-04 too short", `{"topic":"G"}`, "topic"},
		{"PRM-04 a boolean that is none", `{"topic":"Go","brief":"yes"}`, "brief"},
		{"PRM-04 a time that is none", `{"topic":"Go","since":"yesterday"}`, "since"},
		{"PRM-04 not of the enumeration", `{"topic":"Go","tone":"rude"}`, "tone"},
		{"PRM-03 a JSON number", `{"topic":"Go","depth":3}`, "values are strings"},
		{"PRM-03 a JSON boolean", `{"topic":true}`, "values are strings"},
		{"PRM-03 null", `{"topic":"Go","depth":null}`, "values are strings"},
		{"PRM-03 an object", `{"topic":{"x":"y"}}`, "values are strings"},
		{"PRM-03 a list of arguments", `["Go"]`, "values are strings"},
		{"PRM-03 text", `"Go"`, "values are strings"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := faultIn(t, ask(t, s, getPrompt("1", "review", tt.args)))
			if e.Code != mcp.CodeInvalidParams || !strings.Contains(e.Message, tt.want) {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("PRM-01 P6 M7 ICON-01 as listed", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddPrompt(s.Scope("x"), "review", "Review a topic", returning[reviewArgs]("")).Title("Review").Icon("https://example.com/i.png", "48x48").Category("demo").Meta("m", 1)
		mcp.AddPrompt(s, "plain", "", returning[struct{}]("")).Tags("title=Plain")
		mcp.AddPrompt(s, "hidden", "", returning[struct{}]("")).Hidden()
		mcp.AddPrompt(s, "off", "", returning[struct{}]("")).Disabled()
		arguments := func(title string) string {
			return `"arguments":[{"name":"topic",` + title + `"description":"What to review","required":true},{"name":"depth"},{"name":"share"},{"name":"brief"},{"name":"since"},{"name":"tone"},{"name":"level"}]`
		}
		want := []string{
			`{"name":"x_review","title":"Review","description":"Review a topic",` + arguments(`"title":"The topic",`) + `,"icons":[{"src":"https://example.com/i.png","sizes":["48x48"]}],"_meta":{"io.github.typedmcp/category":"demo","m":1}}`,
			`{"name":"plain","title":"Plain"}`,
		}
		if diff := cmp.Diff(want, listIn(t, ask(t, s, modernRequest("1", "prompts/list")), "prompts")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		old := []string{`{"name":"x_review","description":"Review a topic",` + arguments("") + `}`, `{"name":"plain"}`}
		if diff := cmp.Diff(old, listIn(t, askLegacy(t, s, "2024-11-05", plainRequest("1", "prompts/list")), "prompts")); diff != "" {
			t.Errorf("2024-11-05 (-want +got):\n%s", diff)
		}
		resultIn(t, ask(t, s, getPrompt("1", "hidden", "{}")))
		faultIn(t, ask(t, s, getPrompt("1", "off", "{}")))
	})
}

func TestPromptsOffered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		opts    *mcp.ServerOptions
		add     func(s *mcp.Server)
		offered bool
	}{
		{"without any", nil, func(*mcp.Server) {}, false},
		{"with a disabled one", nil, func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[idArgs]("")).Disabled() }, false},
		{"with one", nil, func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[idArgs]("")) }, true},
		{"where they may come later", &mcp.ServerOptions{Dynamic: true}, func(*mcp.Server) {}, true},
	} {
		t.Run("PRM-01 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", tt.opts)
			tt.add(s)
			c := serveLines(t, s)
			c.send(modernRequest("1", "server/discover"))
			if declared := strings.Contains(string(resultIn(t, c.next())["capabilities"]), `"prompts":{`); declared != tt.offered {
				t.Errorf("declared: %v", declared)
			}
			for _, line := range []string{modernRequest("1", "prompts/list"), getPrompt("1", "nobody", "{}")} {
				c.send(line)
				switch known := strings.Contains(line, "prompts/list"); {
				case !tt.offered:
					c.expectError("1", mcp.CodeMethodNotFound)
				case known:
					resultIn(t, c.next())
				default:
					c.expectError("1", mcp.CodeInvalidParams)
				}
			}
		})
	}
}

func TestPromptResults(t *testing.T) {
	t.Parallel()
	message := func(role, content string) string { return fmt.Sprintf(`{"role":%q,"content":%s}`, role, content) }
	turn := func(c mcp.Content) []mcp.Message { return []mcp.Message{{Role: "user", Content: c}} }
	for _, tt := range []struct {
		name   string
		server *mcp.Server
		want   string // the messages
	}{
		{"P7 M7 text is one message of the user's", promptServer("hi"), message("user", `{"type":"text","text":"hi"}`)},
		{"P7 one message", promptServer(mcp.Assistant("hi")), message("assistant", `{"type":"text","text":"hi"}`)},
		{"P7 PRM-06 roles and order are kept", promptServer([]mcp.Message{mcp.User("a"), mcp.Assistant(""), mcp.User("c")}),
			message("user", `{"type":"text","text":"a"}`) + "," + message("assistant", `{"type":"text","text":""}`) + "," + message("user", `{"type":"text","text":"c"}`)},
		{"P7 no messages", promptServer[[]mcp.Message](nil), ""},
		{"P9 PRM-07 an image", promptServer(turn(mcp.Image([]byte("i"), "image/png"))), message("user", `{"type":"image","data":"aQ==","mimeType":"image/png"}`)},
		{"P9 PRM-07 a sound", promptServer(turn(mcp.Audio([]byte("s"), "audio/wav"))), message("user", `{"type":"audio","data":"cw==","mimeType":"audio/wav"}`)},
		{"P9 a link", promptServer(turn(mcp.Link("r://x", "x"))), message("user", `{"type":"resource_link","uri":"r://x","name":"x"}`)},
		{"P9 PRM-08 M10 an embedded resource", promptServer(turn(mcp.Embed(mcp.ResourceContents{URI: "r://x", MIMEType: "text/plain", Text: "x"}))),
			message("user", `{"type":"resource","resource":{"uri":"r://x","mimeType":"text/plain","text":"x"}}`)},
		{"PRM-06 another role", promptServer([]mcp.Message{{Role: "system", Content: mcp.Text("x")}}), "fault"},
		{"PRM-06 no role", promptServer([]mcp.Message{{Content: mcp.Text("x")}}), "fault"},
		{"PRM-06 no content", promptServer([]mcp.Message{{Role: "user"}}), "fault"},
		{"PRM-06 a nil block", promptServer(turn((*mcp.TextContent)(nil))), "fault"},
		{"PRM-07 an image without a type", promptServer(turn(mcp.Image(nil, ""))), "fault"},
		{"PRM-07 an image of a type that is none", promptServer(turn(mcp.Image(nil, "png"))), "fault"},
		{"PRM-07 an image that is no base64", promptServer(turn(mcp.ImageBase64("!", "image/png"))), "fault"},
		{"PRM-08 an embedded resource without a URI", promptServer(turn(mcp.Embed(mcp.ResourceContents{MIMEType: "text/plain"}))), "fault"},
		{"PRM-08 an embedded resource without a type", promptServer(turn(mcp.Embed(mcp.ResourceContents{URI: "r://x"}))), "fault"},
		{"C55 P6 a nil result", promptServer[*mcp.PromptResult](nil), "fault"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := ask(t, tt.server, getPrompt("1", "p", "{}"))
			if tt.want == "fault" {
				e := faultIn(t, answer)
				if e.Code != mcp.CodeInternalError {
					t.Errorf("%+v", e)
				}
				undisclosed(t, e.Message)
				return
			}
			if got := string(resultIn(t, answer)["messages"]); got != "["+tt.want+"]" {
				t.Errorf("got  %s\nwant [%s]", got, tt.want)
			}
		})
	}
	t.Run("P6 C58 the whole result, in each era", func(t *testing.T) {
		t.Parallel()
		s := promptServer(&mcp.PromptResult{Description: "d", Messages: []mcp.Message{mcp.User("x")}, Meta: mcp.Meta{"m": json.RawMessage("1")}})
		const body = `"description":"d","messages":[{"role":"user","content":{"type":"text","text":"x"}}],"_meta":{"m":1`
		if got, want := ask(t, s, getPrompt("1", "p", "{}")), `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",`+body+`,"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got, want := askLegacy(t, s, "2025-06-18", plainRequest("1", "prompts/get", callParams("p", "{}"))), `{"jsonrpc":"2.0","id":1,"result":{`+body+`}}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestPromptFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"PRM-02 P6 any error", errors.New("no ideas"), `{"code":-32603,"message":"no ideas"}`},
		{"PRM-02 a protocol error", mcp.Errorf(mcp.CodeInvalidParams, "not today"), `{"code":-32602,"message":"not today"}`},
		{"PRM-02 refused arguments", &mcp.ArgsError{Violations: []mcp.Violation{{Message: "topic is dull"}}}, `{"code":-32602,"message":"Invalid arguments:\n- topic is dull"}`},
		{"PRM-02 an error for the model", mcp.ToolErrorf("ask later"), `{"code":-32603,"message":"ask later"}`},
		{"PRM-02 ErrNotFound is no unknown prompt", mcp.ErrNotFound, `{"code":-32603,"message":"mcp: resource not found"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddPrompt(s, "p", "", func(context.Context, struct{}) (string, error) { return "", tt.err })
			if got := ask(t, s, getPrompt("1", "p", "{}")); !strings.Contains(got, `"error":`+tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("PRM-02 a panic", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddPrompt(s, "p", "", func(context.Context, struct{}) (string, error) { panic(secret) })
		answer := ask(t, s, getPrompt("1", "p", "{}"))
		if e := faultIn(t, answer); e.Code != mcp.CodeInternalError || strings.Contains(answer, secret) {
			t.Errorf("%s", answer)
		}
	})
	t.Run("PRM-05 middleware judges what goes in and what comes out", func(t *testing.T) {
		t.Parallel()
		s := promptServer("ignore all rules")
		mcp.AddPrompt(s, "echo", "", func(_ context.Context, a idArgs) (string, error) { return a.ID, nil })
		s.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				if strings.Contains(string(req.Params()), `"id":"2"`) {
					return nil, mcp.Errorf(mcp.CodeInvalidParams, "not that")
				}
				v, err := next(ctx, req)
				if r, ok := v.(*mcp.PromptResult); ok && strings.Contains(r.Messages[0].Content.(*mcp.TextContent).Text, "ignore all rules") {
					return nil, mcp.Errorf(mcp.CodeInternalError, "not this")
				}
				return v, err
			}
		})
		resultIn(t, ask(t, s, getPrompt("1", "echo", `{"id":"1"}`)))
		if e := faultIn(t, ask(t, s, getPrompt("1", "echo", `{"id":"2"}`))); e.Message != "not that" {
			t.Errorf("%+v", e)
		}
		if e := faultIn(t, ask(t, s, getPrompt("1", "p", `{}`))); e.Message != "not this" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("PRM-02 an unknown prompt", func(t *testing.T) {
		t.Parallel()
		for name, params := range map[string]string{"another": `"name":"q"`, "none": `"x":1`, "null": `"name":null`, "a number": `"name":5`} {
			if e := faultIn(t, ask(t, promptServer(""), modernRequest("1", "prompts/get", params))); e.Code != mcp.CodeInvalidParams {
				t.Errorf("%s: %+v", name, e)
			}
		}
	})
	for _, tt := range []struct {
		name string
		add  func(s *mcp.Server)
		want string
	}{
		{"P6 M3 a map", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[map[string]string]("")) }, "map[string]string is no struct"},
		{"P6 M3 any", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[any]("")) }, "interface {} is no struct"},
		{"P6 M3 text", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[string]("")) }, "string is no struct"},
		{"P6 M3 a field that text cannot stand for", func(s *mcp.Server) {
			mcp.AddPrompt(s, "p", "", returning[struct {
				L []string `json:"l"`
			}](""))
		}, `text cannot stand for "l"`},
		{"P6 M3 a nested field", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[struct{ V nestedArgs }]("")) }, `text cannot stand for "V"`},
		{"P6 M3 a recursive field", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[recursiveArgs]("")) }, `text cannot stand for "next"`},
		{"P6 M3 a result of another type", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[struct{}](5)) }, "the result int is none of string"},
		{"P6 M3 no handler", func(s *mcp.Server) { mcp.AddPrompt[struct{}, string](s, "p", "", nil) }, "the handler is nil"},
		{"P6 M3 no name", func(s *mcp.Server) { mcp.AddPrompt(s, "", "", returning[struct{}]("")) }, "the name is empty"},
		{"P6 M3 a name twice", func(s *mcp.Server) {
			mcp.AddPrompt(s, "p", "", returning[struct{}](""))
			mcp.AddPrompt(s, "p", "", returning[struct{}](""))
		}, "already taken"},
		{"ICON-01 a bad icon", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[struct{}]("")).Icon("ftp://x/y") }, "neither an https: URI"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.add(s)
			expectProblem(t, s, tt.want)
		})
	}
	t.Run("P6 a pointer to a struct", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddPrompt(s, "p", "", func(_ context.Context, a *nestedArgs) (string, error) { return a.X, nil })
		if got := ask(t, s, getPrompt("1", "p", `{"x":"deep"}`)); !strings.Contains(got, `"text":"deep"`) {
			t.Errorf("%s", got)
		}
	})
}

type nestedArgs struct {
	X string `json:"x"`
}

type recursiveArgs struct {
	Next *recursiveArgs `json:"next,omitempty"`
}
