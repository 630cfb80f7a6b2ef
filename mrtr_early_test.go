package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/typedmcp/mcp"
)

// newForesight returns a server with a tool for each way of asking, which says what it was told. done counts the steps
// that ran.
func newForesight(done *int) *mcp.Server {
	s := mcp.NewServer("foresight", "1.0.0", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}})
	add := func(name string, fn func(ctx context.Context) (any, error)) *mcp.Tool {
		return mcp.AddTool(s, name, "", func(ctx context.Context, _ noArgs) (string, error) {
			v, err := fn(ctx)
			if errors.Is(err, mcp.ErrDeclined) {
				return "declined", nil
			}
			return fmt.Sprint(v), err
		})
	}
	add("form", func(ctx context.Context) (any, error) { return mcp.Elicit[evenForm](ctx, "q", "An even number?") })
	add("choose", func(ctx context.Context) (any, error) { return mcp.Choose(ctx, "q", "Which?", "red", "green") })
	add("confirm", func(ctx context.Context) (any, error) { return mcp.Confirm(ctx, "q", "Pay 500?") })
	add("bare", func(ctx context.Context) (any, error) { return mcp.Elicit[struct{}](ctx, "q", "Pay 500?") })
	add("guarded", func(context.Context) (any, error) { return "ran", nil }).Confirm("Sure?")
	add("consent", func(ctx context.Context) (any, error) {
		return "consent", mcp.ElicitURL(ctx, "q", "Pay", "https://example.com", nil)
	})
	add("page", func(ctx context.Context) (any, error) {
		return "paid", mcp.ElicitURL(ctx, "q", "Pay", "https://example.com", func(context.Context) (bool, error) { return true, nil })
	})
	add("open_page", func(ctx context.Context) (any, error) {
		return "paid", mcp.ElicitURL(ctx, "q", "Pay", "https://example.com", func(context.Context) (bool, error) { return false, nil })
	})
	hello := &mcp.SampleRequest{Messages: []mcp.Message{mcp.User("Hi")}, MaxTokens: 9}
	add("model", func(ctx context.Context) (any, error) {
		r, err := mcp.Sample(ctx, "q", hello)
		if err != nil {
			return nil, err
		}
		return r.Text(), nil
	})
	add("roots", func(ctx context.Context) (any, error) {
		roots, err := mcp.Roots(ctx, "q")
		return len(roots), err
	})
	add("gather", func(ctx context.Context) (any, error) {
		return "gathered", mcp.Gather(ctx, mcp.AskForm[evenForm]("q", "An even number?"), mcp.AskURL("u", "Pay", "https://example.com"),
			mcp.AskForm[struct{}]("sure", "Sure?"))
	})
	add("step", func(ctx context.Context) (any, error) {
		return mcp.Step(ctx, "q", func(context.Context) (int, error) { *done++; return *done, nil })
	})
	return s
}

const (
	earlyEven   = `{"action":"accept","content":{"n":4}}`
	earlyAccept = `{"action":"accept"}`
	earlyModel  = `{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"}`
	earlyRoots  = `{"roots":[{"uri":"file:///a"}]}`
)

// TestEarlyAnswers answers in the first round what is asked only then.
func TestEarlyAnswers(t *testing.T) {
	const asked = "asked"
	for _, c := range []struct{ name, tool, answers, caps, want string }{
		{"MRTR-22 one that fits its form counts", "form", `{"q":` + earlyEven + `}`, "", "{4}"},
		{"MRTR-22 beside others that nobody asks for", "form", `{"x":5,"q":` + earlyEven + `,"y":{"action":"accept"}}`, "", "{4}"},
		{"a choice", "choose", `{"q":{"action":"accept","content":{"choice":"red"}}}`, "", "red"},
		{"declined", "form", `{"q":{"action":"decline"}}`, "", "declined"},
		{"of the model", "model", `{"q":` + earlyModel + `}`, "", "Hello"},
		{"roots", "roots", `{"q":` + earlyRoots + `}`, "", "1"},
		{"ELI-25 a page that is looked at, and done", "page", `{"q":` + earlyAccept + `}`, "", "paid"},

		{"MRTR-23 under another key", "form", `{"p":` + earlyEven + `}`, "", asked},
		{"MRTR-21 no object", "form", `{"q":5}`, "", asked},
		{"MRTR-21 no answer of its kind", "form", `{"q":` + earlyModel + `}`, "", asked},
		{"MRTR-21 form for the model", "model", `{"q":` + earlyEven + `}`, "", asked},
		{"MRTR-21 form for roots", "roots", `{"q":` + earlyEven + `}`, "", asked},
		{"ELI-17 content of another type", "form", `{"q":{"action":"accept","content":{"n":"4"}}}`, "", asked},
		{"ELI-17 content against a rule in Go", "form", `{"q":{"action":"accept","content":{"n":3}}}`, "", asked},
		{"ELI-11 no option", "choose", `{"q":{"action":"accept","content":{"choice":"blue"}}}`, "", asked},
		{"ELI-25 a page that is looked at, and not done", "open_page", `{"q":` + earlyAccept + `}`, "", asked},
		{"MRTR-22 ELI-25 consent to a page that nobody was shown", "consent", `{"q":` + earlyAccept + `}`, "", asked},
		{"MRTR-22 consent that nobody was asked for", "confirm", `{"q":` + earlyAccept + `}`, "", asked},
		{"MRTR-22 consent that nobody was asked for, with content", "confirm", `{"q":{"action":"accept","content":{"ok":true}}}`, "", asked},
		{"MRTR-22 consent by a form without fields", "bare", `{"q":` + earlyAccept + `}`, "", asked},
		{"MRTR-07 a client that could not have been asked", "form", `{"q":` + earlyEven + `}`, `{"elicitation":{"url":{}}}`, "-32021"},
		{"a step is nobody's to answer", "step", `{"q":7}`, "", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			done := 0
			s := newForesight(&done)
			call := round{name: c.tool, answers: c.answers, caps: c.caps}
			res := play(t, s, call)
			switch c.want {
			case asked:
				res.asks(t, "q")
				if m := res.Requests["q"].Params.Message; len(m) > len("An even number?") {
					t.Errorf("a user who was not asked is told what was wrong: %q", m)
				}
			case "-32021":
				res.faults(t, mcp.CodeMissingCapability, "elicitation.form")
			default:
				res.says(t, c.want)
			}
		})
	}
	t.Run("MRTR-22 a tool with Confirm asks, whatever comes", func(t *testing.T) {
		s := newForesight(new(int))
		call := round{name: "guarded", answers: acted("mcp.confirm", "accept")}
		first := play(t, s, call)
		first.asks(t, "mcp.confirm")
		play(t, s, call.again(first, acted("mcp.confirm", "accept"))).says(t, "ran")
	})
	t.Run("MRTR-22 MRTR-23 what fits is not asked with what does not, and is kept", func(t *testing.T) {
		s := newForesight(new(int))
		call := round{name: "gather", answers: `{"q":` + earlyEven + `,"u":` + earlyAccept + `,"sure":` + earlyAccept + `}`}
		first := play(t, s, call)
		first.asks(t, "u", "sure")
		play(t, s, call.again(first, `{"u":`+earlyAccept+`,"sure":`+earlyAccept+`}`)).says(t, "gathered")
	})
	t.Run("MRTR-22 with a state only what was asked counts", func(t *testing.T) {
		s := newForesight(new(int))
		call := round{name: "gather"}
		first := play(t, s, call)
		first.asks(t, "q", "u", "sure")
		second := play(t, s, call.again(first, `{"u":`+earlyAccept+`}`))
		play(t, s, call.again(second, `{"q":`+earlyEven+`,"u":{"action":"decline"},"sure":`+earlyAccept+`}`)).says(t, "gathered")
	})
}

// TestEarlyAnswer is about handlers that look for answers themselves.
func TestEarlyAnswer(t *testing.T) {
	s := mcp.NewServer("foresight", "1.0.0", nil)
	read := func(name string, fn func(ctx context.Context) (bool, error)) {
		mcp.AddTool(s, name, "", func(ctx context.Context, _ noArgs) (string, error) {
			ok, err := fn(ctx)
			if err == nil && !ok {
				err = mcp.InputRequired(nil, mcp.AskRoots("asked"))
			}
			return "answered", err
		})
	}
	read("struct", func(ctx context.Context) (bool, error) { _, ok, err := mcp.Answer[nameForm](ctx, "q"); return ok, err })
	read("pointer", func(ctx context.Context) (bool, error) { _, ok, err := mcp.Answer[*nameForm](ctx, "q"); return ok, err })
	read("roots", func(ctx context.Context) (bool, error) {
		_, ok, err := mcp.Answer[[]mcp.Root](ctx, "q")
		return ok, err
	})
	read("model", func(ctx context.Context) (bool, error) {
		_, ok, err := mcp.Answer[*mcp.SampleResult](ctx, "q")
		return ok, err
	})
	read("bare", func(ctx context.Context) (bool, error) { _, ok, err := mcp.Answer[struct{}](ctx, "q"); return ok, err })
	read("raw", func(ctx context.Context) (bool, error) {
		_, ok, err := mcp.Answer[json.RawMessage](ctx, "q")
		return ok, err
	})
	read("map", func(ctx context.Context) (bool, error) {
		_, ok, err := mcp.Answer[map[string]any](ctx, "q")
		return ok, err
	})
	read("whole", func(ctx context.Context) (bool, error) {
		_, ok, err := mcp.Answer[*mcp.ElicitResult](ctx, "q")
		return ok, err
	})
	read("own", func(ctx context.Context) (bool, error) {
		_, ok, err := mcp.Answer[nameForm](ctx, "mcp.q")
		return ok, err
	})
	const who = `{"action":"accept","content":{"name":"Ada"}}`
	for _, c := range []struct {
		tool, answer string
		counts       bool
	}{
		{"struct", who, true}, {"pointer", who, true}, {"roots", earlyRoots, true}, {"model", earlyModel, true},
		{"struct", `{"action":"accept","content":{"name":5}}`, false}, {"struct", earlyRoots, false}, {"roots", who, false}, {"model", who, false},
		{"bare", earlyAccept, false}, {"raw", who, false}, {"map", who, false}, {"whole", who, false}, {"own", who, false},
	} {
		t.Run(fmt.Sprint("MRTR-22 read as ", c.tool, ": ", c.answer, " counts: ", c.counts), func(t *testing.T) {
			res := play(t, s, round{name: c.tool, answers: `{"q":` + c.answer + `,"mcp.q":` + c.answer + `}`})
			if c.counts {
				res.says(t, "answered")
			} else {
				res.asks(t, "asked")
			}
		})
	}
}

// TestEarlyAnswerOnce shows that an answer that came early counts for one look: what is asked again is asked of the user.
func TestEarlyAnswerOnce(t *testing.T) {
	s := mcp.NewServer("foresight", "1.0.0", nil)
	mcp.AddTool(s, "twice", "", func(ctx context.Context, _ noArgs) (string, error) {
		u, ok, err := mcp.Answer[nameForm](ctx, "q")
		if err == nil && (!ok || u.Name == "Nobody") {
			err = mcp.InputRequired(nil, mcp.AskForm[nameForm]("q", "Really, who?"))
		}
		return u.Name, err
	})
	looks := 0
	mcp.AddTool(s, "poll", "", func(ctx context.Context, _ noArgs) (string, error) {
		var err error
		for range 2 {
			err = mcp.ElicitURL(ctx, "q", "Pay", "https://example.com", func(context.Context) (bool, error) { looks++; return looks > 1, nil })
		}
		return "paid", err
	})
	t.Run("MRTR-23 it was no use to the handler", func(t *testing.T) {
		call := round{name: "twice", answers: accepted("q", `{"name":"Nobody"}`)}
		first := play(t, s, call)
		first.asks(t, "q")
		play(t, s, call.again(first, "")).asks(t, "q")
		play(t, s, call.again(first, accepted("q", `{"name":"Ada"}`))).says(t, "Ada")
	})
	t.Run("MRTR-23 ELI-25 the page was not done, and is a moment later", func(t *testing.T) {
		call := round{name: "poll", answers: acted("q", "accept")}
		first := play(t, s, call)
		first.asks(t, "q")
		play(t, s, call.again(first, acted("q", "accept"))).says(t, "paid")
	})
}
