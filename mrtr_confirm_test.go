package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

type deleteArgs struct {
	Path  string   `json:"path" jsonschema:"minLength=1"`
	Count int      `json:"count,omitempty" jsonschema:"default=1"`
	Force bool     `json:"force,omitempty"`
	Rate  *float64 `json:"rate"`
	Tags  []string `json:"tags,omitempty"`
	Of    struct{} `json:"of,omitzero"`
}

// TestToolConfirm follows a tool that nobody runs without a yes.
func TestToolConfirm(t *testing.T) {
	runs := 0
	s := mcp.NewServer("files", "1.0.0", nil)
	mcp.AddTool(s, "delete", "", func(_ context.Context, a deleteArgs) (string, error) {
		runs++
		return "deleted " + a.Path, nil
	}).Confirm("Delete {path} {count} times, force {force}, rate {rate}?")
	call := round{name: "delete", args: `{"path":"/etc"}`}
	first := play(t, s, call)
	t.Run("the user is asked before anything runs", func(t *testing.T) {
		first.asks(t, "mcp.confirm")
		if got := first.Requests["mcp.confirm"].Params.Message; got != `Delete "/etc" 1 times, force (none), rate (none)?` || runs > 0 {
			t.Errorf("message %q after %d runs", got, runs)
		}
	})
	t.Run("agreed", func(t *testing.T) {
		play(t, s, call.again(first, acted("mcp.confirm", "accept"))).says(t, "deleted /etc")
	})
	t.Run("not agreed", func(t *testing.T) {
		for _, action := range []string{"decline", "cancel"} {
			play(t, s, call.again(first, acted("mcp.confirm", action))).fails(t, "not confirmed")
		}
		if runs != 1 {
			t.Errorf("ran %d times", runs)
		}
	})
	t.Run("MRTR-11 agreed, to other arguments", func(t *testing.T) {
		other := call
		other.args = `{"path":"/home"}`
		play(t, s, other.again(first, acted("mcp.confirm", "accept"))).faults(t, mcp.CodeInvalidParams, "requestState")
	})
	t.Run("an answer without the question is none", func(t *testing.T) {
		other := call
		other.answers = acted("mcp.confirm", "accept")
		play(t, s, other).asks(t, "mcp.confirm")
	})
	t.Run("bad arguments are refused before anybody is asked", func(t *testing.T) {
		play(t, s, round{name: "delete", args: `{"path":""}`}).fails(t, "path")
	})
	t.Run("MRTR-07 a client that cannot ask", func(t *testing.T) {
		play(t, s, round{name: "delete", args: call.args, caps: `{"elicitation":{"url":{}}}`}).faults(t, mcp.CodeMissingCapability, "elicitation.form")
	})
}

// TestToolConfirmStyles shows that every style of registration asks, each after all of its checks.
func TestToolConfirmStyles(t *testing.T) {
	s := mcp.NewServer("files", "1.0.0", nil)
	ran := func(string) (string, error) { return "ran", nil }
	mcp.AddTool(s, "tool", "", func(_ context.Context, a struct {
		Path string `json:"path"`
	}) (string, error) {
		return ran(a.Path)
	}).Confirm("Run {path}?")
	mcp.AddTool(s, "even", "", func(context.Context, evenForm) (string, error) { return ran("") }).Confirm("Run {n}?")
	mcp.AddFunc(s, "func", "", ran, mcp.Arg("path", "")).Confirm("Run {path}?")
	raw := func(context.Context, json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{Content: []mcp.Content{mcp.Text("ran")}}, nil
	}
	mcp.AddRawTool(s, "raw", "", mcp.Object().String("path", ""), raw).Confirm("Run {path}?")
	mcp.AddToolDef(s, mcp.ToolDef{Name: "def", InputSchema: []byte(`{"type":"object","properties":{"path":{"type":["string","null"]}}}`)}, raw).Confirm("Run {path}?")
	mcp.AddTool(s, "verbatim", "", func(context.Context, struct {
		Path string `json:"path"`
	}) (string, error) {
		return ran("")
	}).ApplicationValidated().Confirm("Run {path}?")
	for _, tool := range []string{"tool", "func", "raw", "def", "verbatim"} {
		t.Run(tool, func(t *testing.T) {
			call := round{name: tool, args: `{"path":"x"}`}
			first := play(t, s, call)
			first.asks(t, "mcp.confirm")
			if got := first.Requests["mcp.confirm"].Params.Message; got != `Run "x"?` {
				t.Errorf("message %q", got)
			}
			play(t, s, call.again(first, acted("mcp.confirm", "accept"))).says(t, "ran")
			play(t, s, call.again(first, acted("mcp.confirm", "decline"))).fails(t, "not confirmed")
		})
	}
	t.Run("rules in Go come first", func(t *testing.T) {
		play(t, s, round{name: "even", args: `{"n":3}`}).fails(t, "n must be even")
		play(t, s, round{name: "even", args: `{"n":4}`}).asks(t, "mcp.confirm")
	})
	t.Run("a confirmation that an update brings", func(t *testing.T) {
		s := mcp.NewServer("files", "1.0.0", &mcp.ServerOptions{Dynamic: true})
		mcp.AddTool(s, "tool", "", func(_ context.Context, a nameForm) (string, error) { return ran(a.Name) })
		call := round{name: "tool", args: `{"name":"x"}`}
		play(t, s, call).says(t, "ran")
		if err := s.Update(func(u *mcp.Update) error { u.Tool("tool").Confirm("Run {name}?"); return nil }); err != nil {
			t.Fatal(err)
		}
		play(t, s, call).asks(t, "mcp.confirm")
	})
	t.Run("a tool that asks and re-enters", func(t *testing.T) {
		s := mcp.NewServer("files", "1.0.0", nil)
		mcp.AddTool(s, "tool", "", func(ctx context.Context, _ noArgs) (string, error) {
			if n, ok := mcp.State[int](ctx); ok {
				return fmt.Sprint("state ", n), nil
			}
			return "", mcp.InputRequired(7, mcp.AskForm[struct{}]("confirm", "Really?"))
		}).Confirm("Run?")
		call := round{name: "tool"}
		first := play(t, s, call)
		first.asks(t, "mcp.confirm")
		second := play(t, s, call.again(first, acted("mcp.confirm", "accept")))
		second.asks(t, "confirm")
		play(t, s, call.again(second, acted("confirm", "accept"))).says(t, "state 7")
	})
}

// TestConfirmMessage is about what users are shown.
func TestConfirmMessage(t *testing.T) {
	long := strings.Repeat("ä", 201)
	for _, c := range []struct{ name, message, args, want string }{
		{"text", "{a}", `{"a":"x y"}`, `"x y"`},
		{"quotes", "{a}", `{"a":"\" and \\"}`, `"\" and \\"`},
		{"line breaks", "Pay {a} now", `{"a":"5\nConfirmed by admin\r\u2028"}`, `Pay "5\nConfirmed by admin\r\u2028" now`},
		{"control characters", "{a}", `{"a":"\u0000\u001b[2J"}`, `"\x00\x1b[2J"`},
		{"characters that turn text around", "{a}", `{"a":"\u202egpj.exe\u2066"}`, `"\u202egpj.exe\u2066"`},
		{"characters that cannot be seen", "{a}", `{"a":"a\u200bb\u00a0\ufeff"}`, `"a\u200bb\u00a0\ufeff"`},
		{"other scripts", "{a}", `{"a":"日本 é"}`, `"日本 é"`},
		{"200 characters", "{a}", `{"a":"` + long[2:] + `"}`, `"` + long[2:] + `"`},
		{"more than 200", "{a}", `{"a":"` + long + `"}`, `"` + long[2:] + `"…`},
		{"numbers", "{n} and {n}", `{"a":"","n":-1.50}`, `-1.50 and -1.50`},
		{"a boolean", "{b}", `{"a":"","b":true}`, `true`},
		{"absent", "{b}", `{"a":""}`, `(none)`},
		{"braces", "{{a} {a} } {{{{", `{"a":"x"}`, `{a} "x" } {{`},
		{"no arguments", "Sure?", `{"a":"x"}`, `Sure?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mcp.NewServer("files", "1.0.0", nil)
			mcp.AddTool(s, "t", "", func(context.Context, struct {
				A string       `json:"a"`
				B bool         `json:"b,omitempty"`
				N *json.Number `json:"n"`
			}) (string, error) {
				return "", nil
			}).Confirm(c.message)
			res := play(t, s, round{name: "t", args: c.args})
			res.asks(t, "mcp.confirm")
			if diff := cmp.Diff(c.want, res.Requests["mcp.confirm"].Params.Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestConfirmProblems holds messages to being found wrong by Check.
func TestConfirmProblems(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"empty", " ", "the message for Confirm is empty"},
		{"no such argument", "Delete {pth}", "shows {pth}, and there is no such argument"},
		{"a list", "Delete {tags}", "shows {tags}, which is no string, number or boolean"},
		{"an object", "Delete {of}", "shows {of}, which is no string, number or boolean"},
		{"not closed", "Delete {path", "has a brace that is not closed"},
		{"no name", "Delete {}", "shows {}, and there is no such argument"},
		{"fine", "Delete {path} {count} {force} {rate} {{x}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mcp.NewServer("files", "1.0.0", nil)
			mcp.AddTool(s, "delete", "", func(context.Context, deleteArgs) (string, error) { return "", nil }).Confirm(c.message)
			err := s.Check()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `tool "delete"`)) {
				t.Errorf("Check: %v", err)
			}
		})
	}
}
