package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// newInterviewer returns a server with a tool for each kind of question, which returns what it was told.
func newInterviewer() *mcp.Server {
	s := mcp.NewServer("interviewer", "1.0.0", nil)
	type trip struct {
		City string `json:"city,omitempty" jsonschema:"default=Rome"`
		Days int    `json:"days" jsonschema:"minimum=1,maximum=30"`
	}
	verdict := func(v any, err error) (string, error) {
		switch {
		case errors.Is(err, mcp.ErrDeclined):
			return "declined", nil
		case errors.Is(err, mcp.ErrDismissed):
			return "dismissed", nil
		}
		return fmt.Sprint(v), err
	}
	mcp.AddTool(s, "form", "", func(ctx context.Context, _ noArgs) (string, error) {
		return verdict(mcp.Elicit[trip](ctx, "q", "Where to?"))
	})
	mcp.AddTool(s, "optional", "", func(ctx context.Context, _ noArgs) (string, error) {
		v, err := mcp.Elicit[struct {
			Note string `json:"note,omitempty"`
		}](ctx, "q", "Anything else?")
		return verdict(v.Note, err)
	})
	mcp.AddTool(s, "confirm", "", func(ctx context.Context, _ noArgs) (string, error) {
		return verdict(mcp.Confirm(ctx, "q", "Sure?"))
	})
	mcp.AddTool(s, "choose", "", func(ctx context.Context, _ noArgs) (string, error) {
		return verdict(mcp.Choose(ctx, "q", "Which?", "red", "green"))
	})
	mcp.AddTool(s, "many", "", func(ctx context.Context, _ noArgs) (string, error) {
		return verdict(mcp.ChooseMany(ctx, "q", "Which?", "red", "green"))
	})
	mcp.AddTool(s, "page", "", func(ctx context.Context, _ noArgs) (string, error) {
		return verdict("consent", mcp.ElicitURL(ctx, "q", "Sign", "https://example.com/sign", nil))
	})
	mcp.AddTool(s, "model", "", func(ctx context.Context, _ noArgs) (string, error) {
		r, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{Messages: []mcp.Message{mcp.User("Hi")}, MaxTokens: 9})
		if err != nil {
			return "", err
		}
		return strings.Join([]string{r.Role, r.Text(), r.Model, r.StopReason}, "/"), nil
	})
	mcp.AddTool(s, "roots", "", func(ctx context.Context, _ noArgs) (string, error) {
		roots, err := mcp.Roots(ctx, "q")
		return fmt.Sprint(roots), err
	})
	return s
}

func TestAnswers(t *testing.T) {
	const (
		asked = "asked again" // the answer was no use
		bad   = "-32602"
	)
	s := newInterviewer()
	for _, c := range []struct{ name, tool, answer, want string }{
		{"A60 form filled in", "form", `{"action":"accept","content":{"city":"Oslo","days":3}}`, "{Oslo 3}"},
		{"ELI-14 what is absent has its default", "form", `{"action":"accept","content":{"days":3}}`, "{Rome 3}"},
		{"C97 ELI-18 declined", "form", `{"action":"decline"}`, "declined"},
		{"C97 ELI-18 dismissed", "form", `{"action":"cancel"}`, "dismissed"},
		{"C97 declined with content, which is not looked at", "form", `{"action":"decline","content":{"days":99}}`, "declined"},
		{"C97 ELI-15 declined with content that is no object", "form", `{"action":"decline","content":5}`, "declined"},
		{"C97 accepted without content", "form", `{"action":"accept"}`, asked},
		{"C97 accepted without content where none is needed", "optional", `{"action":"accept"}`, ""},
		{"ELI-17 out of bounds", "form", `{"action":"accept","content":{"days":31}}`, asked},
		{"ELI-17 of another type", "form", `{"action":"accept","content":{"days":"3"}}`, asked},
		{"ELI-09 a fraction for an integer", "form", `{"action":"accept","content":{"days":1.5}}`, asked},
		{"an integer spelled otherwise", "form", `{"action":"accept","content":{"days":3.0}}`, "{Rome 3}"},
		{"further members", "form", `{"action":"accept","content":{"days":3,"x":[1]}}`, "{Rome 3}"},
		{"null for an optional field", "form", `{"action":"accept","content":{"days":3,"city":null}}`, "{Rome 3}"},

		{"confirmed", "confirm", `{"action":"accept"}`, "true"},
		{"confirmed with an empty form", "confirm", `{"action":"accept","content":{}}`, "true"},
		{"M30 not confirmed", "confirm", `{"action":"decline"}`, "false"},
		{"M30 confirmation dismissed", "confirm", `{"action":"cancel"}`, "dismissed"},
		{"M30 chosen", "choose", `{"action":"accept","content":{"choice":"green"}}`, "green"},
		{"ELI-11 no option", "choose", `{"action":"accept","content":{"choice":"blue"}}`, asked},
		{"nothing chosen", "choose", `{"action":"accept","content":{}}`, asked},
		{"M30 several chosen", "many", `{"action":"accept","content":{"choices":["green","red"]}}`, "[green red]"},
		{"ELI-12 one is no option", "many", `{"action":"accept","content":{"choices":["green","blue"]}}`, asked},
		{"none chosen", "many", `{"action":"accept","content":{"choices":[]}}`, "[]"},
		{"choice declined", "choose", `{"action":"decline"}`, "declined"},

		{"ELI-15 consent", "page", `{"action":"accept"}`, "consent"},
		{"C104 consent with content, which is not looked at", "page", `{"action":"accept","content":{"x":1}}`, "consent"},
		{"no consent", "page", `{"action":"decline"}`, "declined"},
		{"page dismissed", "page", `{"action":"cancel"}`, "dismissed"},

		{"SMP-08 sampled", "model", `{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m","stopReason":"odd"}`, "assistant/Hello/m/odd"},
		{"SMP-08 sampled in blocks, without a reason", "model", `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"model":"m"}`, "assistant/a\nb/m/"},
		{"roots", "roots", `{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}`, "[{file:///a A map[]} {file:///b  map[]}]"},
		{"ROOT-04 no roots", "roots", `{"roots":[]}`, "[]"},

		{"C98 MRTR-21 a string", "form", `"Ada"`, bad},
		{"MRTR-21 a number", "form", `5`, bad},
		{"MRTR-21 null", "form", `null`, bad},
		{"C98 wrapped in an object", "form", `{"result":{"action":"accept","content":{"days":3}}}`, bad},
		{"unknown action", "form", `{"action":"maybe"}`, bad},
		{"action of another case", "form", `{"action":"Accept"}`, bad},
		{"no action", "form", `{"content":{"days":3}}`, bad},
		{"content that is no object", "form", `{"action":"accept","content":[3]}`, bad},
		{"of another kind", "model", `{"action":"accept"}`, bad},
		{"SMP-08 no model", "model", `{"role":"assistant","content":{"type":"text","text":"x"}}`, bad},
		{"SMP-08 no content", "model", `{"role":"assistant","model":"m"}`, bad},
		{"SMP-08 unknown role", "model", `{"role":"system","content":{"type":"text","text":"x"},"model":"m"}`, bad},
		{"unknown content", "model", `{"role":"assistant","content":{"type":"film"},"model":"m"}`, bad},
		{"roots that are none", "roots", `{"roots":null}`, bad},
		{"roots missing", "roots", `{}`, bad},
		{"ROOT-02 not a file", "roots", `{"roots":[{"uri":"https://example.com"}]}`, bad},
		{"ROOT-02 without slashes", "roots", `{"roots":[{"uri":"file:a"}]}`, bad},
		{"ROOT-02 nothing behind the scheme", "roots", `{"roots":[{"uri":"file:"}]}`, bad},
		{"ROOT-02 one slash", "roots", `{"roots":[{"uri":"file:/a"}]}`, bad},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := round{name: c.tool}
			first := play(t, s, call)
			first.asks(t, "q")
			res := play(t, s, call.again(first, `{"q":`+c.answer+`}`))
			switch c.want {
			case asked:
				res.asks(t, "q")
				if got := res.Requests["q"].Params.Message; !strings.Contains(got, "The last answer cannot be used:\n- ") {
					t.Errorf("the question does not say what was wrong: %q", got)
				}
			case bad:
				res.faults(t, mcp.CodeInvalidParams, `"q"`)
			default:
				res.says(t, c.want)
			}
		})
	}
}

// TestMalformedRounds is about inputResponses and requestState that are neither.
func TestMalformedRounds(t *testing.T) {
	s := newInterviewer()
	first := play(t, s, round{name: "confirm"})
	for _, c := range []struct{ name, raw, part string }{
		{"A25 MRTR-21 responses are a number", `"inputResponses":5`, "inputResponses must be an object"},
		{"MRTR-21 responses are null", `"inputResponses":null`, "inputResponses must be an object"},
		{"responses are a list", `"inputResponses":[]`, "inputResponses must be an object"},
		{"a key twice", `"inputResponses":{"q":{"action":"accept"},"q":{"action":"accept"}}`, "inputResponses must be an object"},
		{"a name twice in an answer", `"inputResponses":{"q":{"action":"accept","content":{"days":3,"days":4}}}`, "inputResponses must be an object"},
		{"A25 A62 state is a number", `"requestState":5`, "requestState must be a string"},
		{"state is null", `"requestState":null`, "requestState must be a string"},
		{"state is an object", `"requestState":{}`, "requestState must be a string"},
		{"responses bad beside a good state", `"inputResponses":true,"requestState":` + quoted(first.State), "inputResponses must be an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, s, round{name: "confirm", raw: []string{c.raw}}).faults(t, mcp.CodeInvalidParams, c.part)
			play(t, s, round{name: "form", raw: []string{c.raw}}).faults(t, mcp.CodeInvalidParams, c.part)
		})
	}
	t.Run("a method that cannot ask does not look at them", func(t *testing.T) {
		res := play(t, s, round{method: "tools/list", raw: []string{`"inputResponses":5`, `"requestState":5`}})
		if res.fault != nil || res.members["tools"] == nil {
			t.Errorf("got %s", res)
		}
	})
}

// TestAskedAgain follows one question over bad answers.
func TestAskedAgain(t *testing.T) {
	s := newInterviewer()
	call := round{name: "form"}
	res := play(t, s, call)
	for _, content := range []string{`{}`, `{"days":0,"city":5}`, `{"days":31}`} {
		res = play(t, s, call.again(res, accepted("q", content)))
		res.asks(t, "q")
		got := res.Requests["q"].Params.Message
		if !strings.HasPrefix(got, "Where to?\n\nThe last answer cannot be used:\n- ") || strings.Count(got, "Where to?") != 1 {
			t.Errorf("ELI-17 message %q", got)
		}
		if strings.Contains(got, "argument") || strings.Contains(got, "json") || strings.Contains(got, "struct") {
			t.Errorf("the user is told of arguments or of the program: %q", got)
		}
	}
	play(t, s, call.again(res, accepted("q", `{"days":2}`))).says(t, "{Rome 2}")
}

// TestElicitURL follows a page until it is done.
func TestElicitURL(t *testing.T) {
	var looks int
	done := false
	s := mcp.NewServer("pages", "1.0.0", nil)
	mcp.AddTool(s, "sign", "", func(ctx context.Context, _ noArgs) (string, error) {
		url := fmt.Sprintf("https://example.com/sign/%d", mcp.RequestFrom(ctx).Round())
		err := mcp.ElicitURL(ctx, "page", "Sign the lease", url, func(context.Context) (bool, error) {
			looks++
			return done, nil
		})
		if err != nil {
			return "", err
		}
		who, err := mcp.Elicit[nameForm](ctx, "who", "Who signed?")
		return "signed by " + who.Name, err
	})
	call := round{name: "sign"}
	res := play(t, s, call)
	for i := range 3 {
		t.Run("C104 ELI-25 the page is not done", func(t *testing.T) {
			res.asks(t, "page")
			want := fmt.Sprintf(`{"page":{"method":"elicitation/create","params":{"mode":"url","message":"Sign the lease","url":"https://example.com/sign/%d"}}}`, i+1)
			if diff := cmp.Diff(want, string(res.members["inputRequests"])); diff != "" {
				t.Error(diff)
			}
			if looks != i {
				t.Errorf("looked %d times", looks)
			}
			res = play(t, s, call.again(res, acted("page", "accept")))
		})
	}
	t.Run("C104 the page is done, once and for all", func(t *testing.T) {
		done = true
		res = play(t, s, call.again(res, acted("page", "accept")))
		res.asks(t, "who")
		done = false
		before := looks
		play(t, s, call.again(res, accepted("who", `{"name":"Ada"}`))).says(t, "signed by Ada")
		if looks != before {
			t.Error("looked again at a page that was done")
		}
	})
	t.Run("the look fails", func(t *testing.T) {
		s := mcp.NewServer("pages", "1.0.0", nil)
		mcp.AddTool(s, "sign", "", func(ctx context.Context, _ noArgs) (string, error) {
			return "", mcp.ElicitURL(ctx, "page", "Sign", "https://example.com", func(context.Context) (bool, error) { return false, errors.New("no answer from the notary") })
		})
		play(t, s, call.again(play(t, s, call), acted("page", "accept"))).fails(t, "no answer from the notary")
	})
	for _, url := range []string{"", "example.com/x", "/x", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://", "https://ada:secret@example.com/", "https://exa mple.com", "ftp://example.com"} {
		t.Run("ELI-05 ELI-23 no URL to send anybody to: "+url, func(t *testing.T) {
			s := mcp.NewServer("pages", "1.0.0", nil)
			mcp.AddTool(s, "sign", "", func(ctx context.Context, _ noArgs) (string, error) {
				return "", mcp.ElicitURL(ctx, "page", "Sign", url, nil)
			})
			play(t, s, call).fails(t, "the URL")
		})
	}
}

// TestChangedQuestion shows that an answer is one to the question that was asked, and to no other.
func TestChangedQuestion(t *testing.T) {
	price := 5
	s := mcp.NewServer("shop", "1.0.0", nil)
	mcp.AddTool(s, "buy", "", func(ctx context.Context, _ noArgs) (string, error) {
		ok, err := mcp.Confirm(ctx, "sure", fmt.Sprintf("Pay %d?", price))
		return fmt.Sprint("paid ", price, ok), err
	})
	call := round{name: "buy"}
	first := play(t, s, call)
	price = 500
	second := play(t, s, call.again(first, acted("sure", "accept")))
	second.asks(t, "sure")
	if got := second.Requests["sure"].Params.Message; got != "Pay 500?" {
		t.Errorf("message %q", got)
	}
	play(t, s, call.again(second, acted("sure", "accept"))).says(t, "paid 500 true")
}
