package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// progressState is what the handler of newReentrant keeps between rounds.
type progressState struct {
	Asked int   `json:"asked"`
	Big   int64 `json:"big"`
}

// newReentrant returns a server whose tool keeps track of its rounds itself.
func newReentrant(log *logBook) *mcp.Server {
	s := mcp.NewServer("reentrant", "1.0.0", &mcp.ServerOptions{Logger: log.logger(), StateKeys: [][]byte{stateKey}})
	mcp.AddTool(s, "plan", "", func(ctx context.Context, _ noArgs) (string, error) {
		state, _ := mcp.State[progressState](ctx)
		who, named, err := mcp.Answer[nameForm](ctx, "who")
		if err != nil {
			return "", err
		}
		if !named {
			return "", mcp.InputRequired(progressState{state.Asked + 1, 1<<53 + 1}, mcp.AskForm[nameForm]("who", "Who?"))
		}
		even, ok, err := mcp.Answer[evenForm](ctx, "even")
		if err != nil {
			return "", err
		}
		if !ok {
			state.Asked++
			return "", fmt.Errorf("planning: %w", mcp.InputRequired(&state, mcp.AskForm[evenForm]("even", "An even number?"), mcp.AskRoots("where")))
		}
		where, _, err := mcp.Answer[[]mcp.Root](ctx, "where")
		if err != nil {
			return "", err
		}
		return fmt.Sprint(who.Name, even.N, len(where), state.Asked, state.Big), nil
	})
	return s
}

func TestReentrant(t *testing.T) {
	log := new(logBook)
	call := round{name: "plan"}
	first := play(t, newReentrant(log), call)
	t.Run("A56 A59 A61 A62 state and answers come back, to another server", func(t *testing.T) {
		first.asks(t, "who")
		second := play(t, newReentrant(log), call.again(first, accepted("who", `{"name":"Ada"}`)))
		second.asks(t, "even", "where")
		play(t, newReentrant(log), call.again(second, `{"even":{"action":"accept","content":{"n":4}},"where":{"roots":[]}}`)).
			says(t, "Ada4 0 2 9007199254740993")
	})
	t.Run("ELI-17 an answer that breaks the form is asked for again, with the reason", func(t *testing.T) {
		again := play(t, newReentrant(log), call.again(first, accepted("who", `{"name":5}`)))
		again.asks(t, "who")
		if diff := cmp.Diff("Who?\n\nThe last answer cannot be used:\n- name must be a string, got 5", again.Requests["who"].Params.Message); diff != "" {
			t.Error(diff)
		}
		second := play(t, newReentrant(log), call.again(again, accepted("who", `{"name":"Ada"}`)))
		again = play(t, newReentrant(log), call.again(second, `{"even":{"action":"accept","content":{"n":3}},"where":{"roots":[]}}`))
		again.asks(t, "even", "where")
		if diff := cmp.Diff("An even number?\n\nThe last answer cannot be used:\n- n must be even", again.Requests["even"].Params.Message); diff != "" {
			t.Error(diff)
		}
		play(t, newReentrant(log), call.again(again, `{"even":{"action":"accept","content":{"n":2}},"where":{"roots":[]}}`)).
			says(t, "Ada2 0 4 9007199254740993")
	})
	t.Run("A60 declined and dismissed are errors", func(t *testing.T) {
		play(t, newReentrant(log), call.again(first, acted("who", "decline"))).fails(t, "the user declined")
		play(t, newReentrant(log), call.again(first, acted("who", "cancel"))).fails(t, "the user dismissed the question")
	})
	t.Run("MRTR-23 a missing answer is asked for again", func(t *testing.T) {
		play(t, newReentrant(log), call.again(first, `{}`)).asks(t, "who")
	})
	t.Run("MRTR-10 a state of the handler's own is sealed too", func(t *testing.T) {
		if plain := opened(t, first.State); bytes.Contains(plain, []byte("asked")) || bytes.Contains(plain, []byte("elicitation")) {
			t.Errorf("the state can be read: %s", first.State)
		}
		tampered := first
		tampered.State = tampered.State[:50] + "A" + tampered.State[51:]
		if tampered.State == first.State {
			tampered.State = tampered.State[:50] + "B" + tampered.State[51:]
		}
		play(t, newReentrant(log), call.again(tampered, `{}`)).faults(t, mcp.CodeInvalidParams, "requestState")
	})
	t.Run("an answer without a state counts where the handler looks for it", func(t *testing.T) {
		call := call
		call.answers = accepted("who", `{"name":"Ada"}`)
		second := play(t, newReentrant(log), call)
		second.asks(t, "even", "where")
		play(t, newReentrant(log), call.again(second, `{"even":{"action":"accept","content":{"n":4}},"where":{"roots":[]}}`)).
			says(t, "Ada4 0 1 0")
		for _, answers := range []string{`{"who":5}`, `{"who":{"action":"maybe"}}`, accepted("who", `{"name":5}`), accepted("mcp.who", `{"name":"Ada"}`), `{"where":5}`} {
			call.answers = answers
			play(t, newReentrant(log), call).asks(t, "who")
		}
	})
}

// TestReentrantState is about what State and Answer return.
func TestReentrantState(t *testing.T) {
	log := new(logBook)
	s := mcp.NewServer("reentrant", "1.0.0", &mcp.ServerOptions{Logger: log.logger()})
	var got []string
	note := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	mcp.AddTool(s, "state", "", func(ctx context.Context, a struct {
		Kind string `json:"kind"`
	}) (string, error) {
		n, ok := mcp.State[int](ctx)
		note("%d %v", n, ok)
		text, ok := mcp.State[string](ctx)
		note("%q %v", text, ok)
		if mcp.RequestFrom(ctx).Round() > 1 {
			return "done", nil
		}
		switch a.Kind {
		case "null":
			return "", mcp.InputRequired((*int)(nil))
		case "number":
			return "", mcp.InputRequired(7)
		}
		return "", mcp.InputRequired(nil, mcp.AskForm[struct{}]("go", "Go on?"))
	})
	for _, c := range []struct {
		name, kind string
		want       []string
	}{
		{"a number", "number", []string{"0 false", `"" false`, "7 true", `"" false`}},
		{"null", "null", []string{"0 false", `"" false`, "0 true", `"" true`}},
		{"none", "none", []string{"0 false", `"" false`, "0 false", `"" false`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got = nil
			call := round{name: "state", args: fmt.Sprintf(`{"kind":%q}`, c.kind)}
			first := play(t, s, call)
			if first.Type != "input_required" || (first.members["inputRequests"] == nil) != (c.kind != "none") {
				t.Errorf("AMB-27 got %s", first)
			}
			play(t, s, call.again(first, "")).says(t, "done")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a state of another type is logged", func(t *testing.T) {
		if !strings.Contains(log.String(), "does not fit the type") {
			t.Errorf("logged %s", log)
		}
	})
	t.Run("out of a request there is neither", func(t *testing.T) {
		if _, ok := mcp.State[int](context.Background()); ok {
			t.Error("State")
		}
		if _, ok, err := mcp.Answer[int](context.Background(), "q"); ok || err == nil {
			t.Error("Answer")
		}
	})
}

// TestAnswerTypes reads the same answers as different types.
func TestAnswerTypes(t *testing.T) {
	s := mcp.NewServer("reentrant", "1.0.0", nil)
	var got []string
	note := func(what string, ok bool, err error) { got = append(got, fmt.Sprint(what, " ", ok, " ", err)) }
	mcp.AddTool(s, "read", "", func(ctx context.Context, _ noArgs) (string, error) {
		if mcp.RequestFrom(ctx).Round() == 1 {
			return "", mcp.InputRequired(nil, mcp.AskForm[nameForm]("form", "Who?"), mcp.AskURL("url", "Pay", "https://example.com"),
				mcp.AskSample("model", &mcp.SampleRequest{Messages: []mcp.Message{mcp.User("Hi")}, MaxTokens: 1}), mcp.AskRoots("roots"),
				mcp.AskForm[nameForm]("declined", "Who?"))
		}
		form, ok, err := mcp.Answer[*nameForm](ctx, "form")
		note(form.Name, ok, err)
		raw, ok, err := mcp.Answer[json.RawMessage](ctx, "form")
		note(string(raw), ok, err)
		whole, ok, err := mcp.Answer[*mcp.ElicitResult](ctx, "form")
		note(whole.Action+string(whole.Content), ok, err)
		whole, ok, err = mcp.Answer[*mcp.ElicitResult](ctx, "declined")
		note(whole.Action+string(whole.Content), ok, err)
		_, ok, err = mcp.Answer[nameForm](ctx, "declined")
		note("declined", ok, err)
		_, ok, err = mcp.Answer[struct{}](ctx, "url")
		note("url", ok, err)
		model, ok, err := mcp.Answer[*mcp.SampleResult](ctx, "model")
		note(model.Text(), ok, err)
		roots, ok, err := mcp.Answer[[]mcp.Root](ctx, "roots")
		note(roots[0].URI, ok, err)
		_, ok, err = mcp.Answer[nameForm](ctx, "roots")
		note("roots", ok, err)
		_, ok, err = mcp.Answer[nameForm](ctx, "unknown")
		note("unknown", ok, err)
		_, ok, err = mcp.Answer[struct{ Name []nameForm }](ctx, "form")
		note("bad", ok, nil)
		if err == nil {
			t.Error("a type that is no form is no problem")
		}
		return "read", nil
	})
	call := round{name: "read"}
	answers := strings.Join([]string{
		`{"form":{"action":"accept","content":{"name":"Ada"}}`, `"url":{"action":"accept"}`, `"roots":{"roots":[{"uri":"file:///a"}]}`,
		`"model":{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}`,
		`"declined":{"action":"decline","content":{"name":"x"}}}`,
	}, ",")
	play(t, s, call.again(play(t, s, call), answers)).says(t, "read")
	want := []string{
		"Ada true <nil>", `{"name":"Ada"} true <nil>`, `accept{"name":"Ada"} true <nil>`, "decline true <nil>", "declined true the user declined",
		"url true <nil>", "Hello true <nil>", "file:///a true <nil>", `roots true the answer to question "roots" is read as another type than its own`,
		"unknown false <nil>", "bad true <nil>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
