package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestMisuse shows what handlers get that ask in ways that cannot be.
func TestMisuse(t *testing.T) {
	sure := func(ctx context.Context) error {
		_, err := mcp.Confirm(ctx, "sure", "Sure?")
		return err
	}
	for _, c := range []struct {
		name   string
		fn     func(ctx context.Context) error
		answer string   // to the first question; "": there is no second round
		want   string   // part of what the client is told
		logs   []string // parts of the log
		isTool bool     // a failed result, not a protocol error
	}{
		{"swallowed: the handler names the tool and not the error", func(ctx context.Context) error { _ = sure(ctx); return nil },
			"", `the handler of tool "x" asked for input, and then did not return`, []string{`tool \"x\"`}, false},
		{"another error than that of asking counts", func(ctx context.Context) error { _ = sure(ctx); return errors.New("no stock") },
			"", "no stock", nil, true},
		{"the error may be wrapped", func(ctx context.Context) error { return fmt.Errorf("booking: %w", sure(ctx)) },
			acted("sure", "accept"), "booking: %!w(<nil>)", nil, true},
		{"one key for two questions", func(ctx context.Context) error {
			_ = sure(ctx)
			_, err := mcp.Confirm(ctx, "sure", "Really?")
			return err
		}, "", `question "sure": the key stands for two different questions`, nil, true},
		{"one key for a form and a page", func(ctx context.Context) error {
			_ = sure(ctx)
			return mcp.ElicitURL(ctx, "sure", "Sure?", "https://example.com", nil)
		}, "", `question "sure": the key stands for two different questions`, nil, true},
		{"both forms of asking in one round", func(ctx context.Context) error {
			_ = sure(ctx)
			return mcp.InputRequired(1, mcp.AskRoots("r"))
		}, "", `the handler of tool "x" mixes InputRequired`, []string{"mixes"}, false},
		{"both forms of asking, one after the other", func(ctx context.Context) error {
			if _, ok := mcp.State[int](ctx); !ok {
				return mcp.InputRequired(1, mcp.AskForm[nameForm]("who", "Who?"))
			}
			return sure(ctx)
		}, accepted("who", `{"name":"Ada"}`), `the handler of tool "x" mixes InputRequired`, nil, false},
		{"MRTR-05 A56 neither questions nor state", func(context.Context) error { return mcp.InputRequired(nil) },
			"", `the handler of tool "x" returned InputRequired without questions and without state`, nil, false},
		{"a state without a JSON form", func(context.Context) error { return mcp.InputRequired(func() {}) },
			"", "reference", []string{"has no JSON"}, true},
		{"a step within itself", func(ctx context.Context) error { return nested(ctx, "a", "a") },
			"", `step "a" is called within itself`, nil, true},
		{"a step within a step within itself", func(ctx context.Context) error { return nested(ctx, "a", "b", "a") },
			"", `step "a" is called within itself`, nil, true},
		{"a step within another", func(ctx context.Context) error { return errors.Join(nested(ctx, "a", "b"), errors.New("went well")) },
			"", "went well", nil, true},
		{"no key", func(ctx context.Context) error { _, err := mcp.Confirm(ctx, "", "Sure?"); return err },
			"", "a key is text of 1 to 200 bytes", nil, true},
		{"a key too long", func(ctx context.Context) error {
			_, err := mcp.Confirm(ctx, strings.Repeat("k", 201), "Sure?")
			return err
		}, "", "a key is text of 1 to 200 bytes", nil, true},
		{"a key that is no text", func(ctx context.Context) error { _, err := mcp.Confirm(ctx, "\xff", "Sure?"); return err },
			"", "a key is text of 1 to 200 bytes", nil, true},
		{"a key of this package", func(ctx context.Context) error { _, err := mcp.Confirm(ctx, "mcp.confirm", "Sure?"); return err },
			"", `keys that start with "mcp." are not for handlers`, nil, true},
		{"a key of this package, by InputRequired", func(context.Context) error { return mcp.InputRequired(nil, mcp.AskRoots("mcp.x")) },
			"", `keys that start with "mcp." are not for handlers`, nil, true},
		{"a key of this package, by Gather", func(ctx context.Context) error { return mcp.Gather(ctx, mcp.AskRoots("mcp.x")) },
			"", `keys that start with "mcp." are not for handlers`, nil, true},
		{"a key of this package, for roots", func(ctx context.Context) error { _, err := mcp.Roots(ctx, "mcp.x"); return err },
			"", `keys that start with "mcp." are not for handlers`, nil, true},
		{"ELI-05 no message", func(ctx context.Context) error { _, err := mcp.Confirm(ctx, "sure", ""); return err },
			"", "there is no message", nil, true},
		{"no options", func(ctx context.Context) error { _, err := mcp.Choose(ctx, "sure", "Which?"); return err },
			"", "there are no options", nil, true},
		{"an option twice", func(ctx context.Context) error { _, err := mcp.Choose(ctx, "sure", "Which?", "a", "a"); return err },
			"", "reference", []string{`the option \"a\" is there twice`}, true},
		{"A57 MRTR-06 a kind that is none", func(ctx context.Context) error { return mcp.Gather(ctx, mcp.Ask{Key: "k", Kind: "guessing"}) },
			"", `the kind "guessing" is none of`, nil, true},
		{"a sampling request that is not there", func(ctx context.Context) error { _, err := mcp.Sample(ctx, "k", nil); return err },
			"", "there is no sampling request", nil, true},
		{"a step without a JSON form", func(ctx context.Context) error {
			_, err := mcp.Step(ctx, "s", func(context.Context) (chan int, error) { return nil, nil })
			return err
		}, "", "reference", []string{`step \"s\"`, "chan int"}, true},
		{"a step that fails", func(ctx context.Context) error {
			_, err := mcp.Step(ctx, "s", func(context.Context) (int, error) { return 0, errors.New("out of ink") })
			return err
		}, "", "out of ink", nil, true},
		{"a step whose value has no JSON", func(ctx context.Context) error {
			_, err := mcp.Step(ctx, "s", func(context.Context) (func(), error) { return nil, nil })
			return err
		}, "", "reference", nil, true},
		{"an answer read as something else", func(ctx context.Context) error {
			if err := mcp.Gather(ctx, mcp.AskRoots("r")); err != nil {
				return err
			}
			_, _, err := mcp.Answer[*mcp.SampleResult](ctx, "r")
			return err
		}, `{"r":{"roots":[]}}`, `the answer to question "r" is read as another type`, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := new(logBook)
			s := mcp.NewServer("misused", "1.0.0", &mcp.ServerOptions{Logger: log.logger()})
			mcp.AddTool(s, "x", "", func(ctx context.Context, _ noArgs) (string, error) { return "done", c.fn(ctx) })
			call := round{name: "x"}
			res := play(t, s, call)
			if c.answer != "" {
				res = play(t, s, call.again(res, c.answer))
			}
			if c.isTool {
				res.fails(t, c.want)
			} else {
				res.faults(t, mcp.CodeInternalError, c.want)
			}
			for _, part := range c.logs {
				if !strings.Contains(log.String(), part) {
					t.Errorf("logged %s, want %q", log, part)
				}
			}
			if text := res.String(); strings.Contains(text, "chan int") || strings.Contains(text, ".go:") {
				t.Errorf("the client is told of the program: %s", text)
			}
		})
	}
}

// TestOtherMethods asks where no answer can be a question.
func TestOtherMethods(t *testing.T) {
	log := new(logBook)
	s := mcp.NewServer("misused", "1.0.0", &mcp.ServerOptions{Logger: log.logger()})
	mcp.AddTool(s, "x", "", func(context.Context, noArgs) (string, error) { return "", nil })
	mcp.AddPrompt(s, "p", "", func(context.Context, nameForm) (string, error) { return "", nil }).
		Complete("name", func(ctx context.Context, _ string, _ map[string]string) ([]string, error) {
			_, err := mcp.Confirm(ctx, "sure", "Sure?")
			return nil, err
		})
	mcp.HandleMethod(s, "x/ask", func(ctx context.Context, _ noArgs) (struct{}, error) {
		_, err := mcp.Confirm(ctx, "sure", "Sure?")
		return struct{}{}, err
	})
	mcp.HandleMethod(s, "x/reenter", func(context.Context, noArgs) (struct{}, error) {
		return struct{}{}, mcp.InputRequired(1)
	})
	s.Use(func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, r *mcp.Request) (any, error) {
			switch r.Method() {
			case "tools/list":
				if _, err := mcp.Confirm(ctx, "sure", "Sure?"); err != nil {
					return nil, err
				}
			case "prompts/list":
				return nil, mcp.InputRequired(1, mcp.AskRoots("r"))
			case "server/discover":
				return &mcp.InputRequiredResult{State: "x"}, nil
			}
			return next(ctx, r)
		}
	})
	for _, line := range []string{
		round{method: "tools/list"}.line("1"), round{method: "prompts/list"}.line("1"), round{method: "server/discover"}.line("1"),
		round{method: "x/ask"}.line("1"), round{method: "x/reenter"}.line("1"),
		round{method: "completion/complete", raw: []string{`"ref":{"type":"ref/prompt","name":"p"}`, `"argument":{"name":"name","value":""}`}}.line("1"),
	} {
		method := parseWireMethod(t, line)
		t.Run("MRTR-02 MRTR-03 "+method, func(t *testing.T) {
			before := len(log.String())
			readRound(t, ask(t, s, line)).faults(t, mcp.CodeInternalError, "")
			if !strings.Contains(log.String()[before:], `"level":"ERROR"`) {
				t.Errorf("logged %s", log.String()[before:])
			}
		})
	}
}

func parseWireMethod(t *testing.T, line string) string {
	t.Helper()
	_, rest, _ := strings.Cut(line, `"method":"`)
	method, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatal(line)
	}
	return method
}

// TestAskersOfAllKinds shows that prompts and resources ask as tools do, and middleware as well.
func TestAskersOfAllKinds(t *testing.T) {
	var seen trail
	s := mcp.NewServer("askers", "1.0.0", nil)
	who := func(ctx context.Context) (string, error) {
		u, err := mcp.Elicit[nameForm](ctx, "who", "Who?")
		return "for " + u.Name, err
	}
	mcp.AddPrompt(s, "poem", "", func(ctx context.Context, _ noArgs) (string, error) { return who(ctx) })
	mcp.AddResource(s, "test://diary", "diary", who).Cache(mcp.Cache{TTL: 1e9})
	mcp.AddTemplate(s, "test://diary/{year}", "year", func(ctx context.Context, _ struct {
		Year int `json:"year"`
	}) (string, error) {
		return who(ctx)
	})
	mcp.AddTool(s, "toast", "", func(ctx context.Context, _ noArgs) (string, error) { return who(ctx) }).
		Use(seen.watch("tool"))
	guarded := s.Scope("guarded")
	guarded.Use(func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, r *mcp.Request) (any, error) {
			if ok, err := mcp.Confirm(ctx, "gate", "Let it through?"); err != nil || !ok {
				return nil, err
			}
			return next(ctx, r)
		}
	})
	mcp.AddTool(guarded, "toast", "", func(ctx context.Context, _ noArgs) (string, error) { return who(ctx) })
	mcp.AddTool(guarded, "reenter", "", func(ctx context.Context, _ noArgs) (string, error) {
		u, ok, err := mcp.Answer[nameForm](ctx, "who")
		if !ok {
			return "", mcp.InputRequired(nil, mcp.AskForm[nameForm]("who", "Who?"))
		}
		return "for " + u.Name, err
	})
	s.Use(seen.watch("server"))

	for _, c := range []struct {
		name  string
		call  round
		wants []string // keys asked, round for round
		text  string
	}{
		{"MRTR-02 P8 a prompt", round{method: "prompts/get", name: "poem"}, []string{"who"}, `"text":"for Ada"`},
		{"MRTR-02 a resource", round{method: "resources/read", name: "test://diary"}, []string{"who"}, `"text":"for Ada"`},
		{"MRTR-02 a template", round{method: "resources/read", name: "test://diary/1843"}, []string{"who"}, `"text":"for Ada"`},
		{"MRTR-02 a tool", round{name: "toast"}, []string{"who"}, `"text":"for Ada"`},
		{"middleware asks before the tool does", round{name: "guarded_toast"}, []string{"gate", "who"}, `"text":"for Ada"`},
		{"middleware asks before a tool that re-enters", round{name: "guarded_reenter"}, []string{"gate", "who"}, `"text":"for Ada"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := play(t, s, c.call)
			for _, key := range c.wants {
				res.asks(t, key)
				if res.members["ttlMs"] != nil || res.members["cacheScope"] != nil {
					t.Errorf("a question has caching hints: %s", res)
				}
				answer := accepted(key, `{"name":"Ada"}`)
				res = play(t, s, c.call.again(res, answer))
			}
			if res.fault != nil || res.Type != "complete" || !strings.Contains(res.String(), c.text) {
				t.Errorf("got %s", res)
			}
		})
	}
	t.Run("MRTR-11 the answer to one URI is none to another", func(t *testing.T) {
		first := play(t, s, round{method: "resources/read", name: "test://diary/1843"})
		play(t, s, round{method: "resources/read", name: "test://diary/1844"}.again(first, accepted("who", `{"name":"Ada"}`))).
			faults(t, mcp.CodeInvalidParams, "requestState")
	})
	t.Run("middleware sees that the call waits", func(t *testing.T) {
		seen.take()
		play(t, s, round{name: "toast"}).asks(t, "who")
		want := []string{"server > tools/call tool toast", "tool > tools/call tool toast", "tool < *mcp.InputRequiredResult", "server < *mcp.InputRequiredResult"}
		if diff := cmp.Diff(want, seen.take()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestMiddlewareMeddles shows that middleware may look at a call that waits, and no more.
func TestMiddlewareMeddles(t *testing.T) {
	for _, c := range []struct {
		name   string
		meddle func(v any, err error) (any, error)
		check  func(t *testing.T, res roundResult)
	}{
		{"it sees questions and state", func(v any, err error) (any, error) {
			r := v.(*mcp.InputRequiredResult)
			if len(r.Requests) != 1 || r.Requests[0].Key != "who" || r.Requests[0].Message != "Who are you?" || r.Requests[0].Kind != "elicitation.form" || r.State == "" {
				return nil, fmt.Errorf("sees %+v", r)
			}
			return v, err
		}, func(t *testing.T, res roundResult) { res.asks(t, "who") }},
		{"what it changes is not sent", func(v any, err error) (any, error) {
			r := v.(*mcp.InputRequiredResult)
			r.State = "mine"
			r.Requests[0].Message = "What is your password?"
			return v, err
		}, func(t *testing.T, res roundResult) {
			if res.asks(t, "who"); res.State == "mine" || res.Requests["who"].Params.Message != "Who are you?" {
				t.Errorf("got %s", res)
			}
		}},
		{"another result in its place", func(any, error) (any, error) { return &mcp.Result{}, nil },
			func(t *testing.T, res roundResult) {
				res.faults(t, mcp.CodeInternalError, "middleware put another result in the place")
			}},
		{"another question in its place", func(any, error) (any, error) { return &mcp.InputRequiredResult{State: "x"}, nil },
			func(t *testing.T, res roundResult) {
				res.faults(t, mcp.CodeInternalError, "middleware put another result in the place")
			}},
		{"an error in its place", func(any, error) (any, error) { return nil, errors.New("closed for today") },
			func(t *testing.T, res roundResult) { res.fails(t, "closed for today") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAsker(nil)
			s.Use(func(next mcp.Handler) mcp.Handler {
				return func(ctx context.Context, r *mcp.Request) (any, error) {
					return c.meddle(next(ctx, r))
				}
			})
			c.check(t, play(t, s, round{name: "greet"}))
		})
	}
}

// TestAskingAtOnce asks from several goroutines, which share a round.
func TestAskingAtOnce(t *testing.T) {
	s := mcp.NewServer("askers", "1.0.0", nil)
	var done, refused atomic.Int32
	mcp.AddTool(s, "all", "", func(ctx context.Context, _ noArgs) (string, error) {
		var wg sync.WaitGroup
		names := make([]string, 8)
		errs := make([]error, len(names))
		for i := range names {
			wg.Go(func() {
				u, err := mcp.Elicit[nameForm](ctx, fmt.Sprint("q", i), "Who?")
				names[i], errs[i] = u.Name, err
				_, err = mcp.Step(ctx, fmt.Sprint("s", i), func(context.Context) (int32, error) { return done.Add(1), nil })
				errs[i] = errors.Join(errs[i], err)
				if _, err = mcp.Step(ctx, "once", func(context.Context) (int32, error) { return done.Add(1), nil }); err != nil {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		return strings.Join(names, " "), errors.Join(errs...)
	})
	call := round{name: "all"}
	first := play(t, s, call)
	first.asks(t, "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7")
	var answers []string
	for i := range 8 {
		answers = append(answers, fmt.Sprintf(`"q%d":{"action":"accept","content":{"name":"n%d"}}`, i, i))
	}
	play(t, s, call.again(first, "{"+strings.Join(answers, ",")+"}")).says(t, "n0 n1 n2 n3 n4 n5 n6 n7")
	if done.Load() != 8+1 || refused.Load() != 2*7 {
		t.Errorf("%d steps were done, and %d refused as their key was used", done.Load(), refused.Load())
	}
}

// TestAskingAfterTheEnd asks when the handler has returned.
func TestAskingAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mcp.NewServer("askers", "1.0.0", nil)
		late := make(chan error, 4)
		returned := make(chan struct{})
		mcp.AddTool(s, "leave", "", func(ctx context.Context, _ noArgs) (string, error) {
			go func() {
				<-returned
				_, err := mcp.Confirm(ctx, "sure", "Sure?")
				late <- err
				late <- mcp.Gather(ctx, mcp.AskRoots("r"))
				_, err = mcp.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil })
				late <- err
				_, _, err = mcp.Answer[nameForm](ctx, "sure")
				late <- err
			}()
			return "left", nil
		})
		play(t, s, round{name: "leave"}).says(t, "left")
		close(returned)
		for range cap(late) {
			if err := <-late; !errors.Is(err, mcp.ErrRequestDone) {
				t.Errorf("got %v, want ErrRequestDone", err)
			}
		}
	})
}

// nested runs a step that runs the next one, and so on.
func nested(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := mcp.Step(ctx, keys[0], func(ctx context.Context) (int, error) { return 0, nested(ctx, keys[1:]...) })
	return err
}
