package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/typedmcp/mcp"
)

func init() {
	transcriptServers["asking"] = func() *mcp.Server { return newWaiter(nil).Server }
	transcriptEvents["the menu changes"] = func(_ testing.TB, s *mcp.Server) { s.ResourceUpdated("asking://menu") }
	transcriptEvents["all lists change"] = func(t testing.TB, s *mcp.Server) { addOneOfEach(t, s, "new") }
}

// waiter is a server with a tool for every way to ask a client and to tell it something.
type waiter struct {
	*mcp.Server
	runs atomic.Int32  // of the tool two
	step atomic.Int32  // of its step
	ends chan error    // causes with which the contexts of calls of two, form and roots ended that did not complete
	quit chan struct{} // closed by the test: calls of leave return
}

// meal is a form with a field of every kind that 2025-06-18 has too.
type meal struct {
	Size  string `json:"size" jsonschema:"enum=s,enum=m,default=m" mcp:"titles=Small|Medium"`
	Count int    `json:"count" jsonschema:"minimum=1,maximum=9,default=1"`
	Gift  bool   `json:"gift,omitempty" jsonschema:"default=true"`
	Note  string `json:"note,omitempty" jsonschema:"maxLength=20" jsonschema_description:"For the kitchen"`
}

// newWaiter returns a server that calls itself "asking". opts may be nil; Dynamic and Logging are set.
func newWaiter(opts *mcp.ServerOptions) *waiter {
	var o mcp.ServerOptions
	if opts != nil {
		o = *opts
	}
	o.Dynamic, o.Logging = true, true
	a := &waiter{Server: mcp.NewServer("asking", "1.0.0", &o), ends: make(chan error, 64), quit: make(chan struct{})}
	a.addAsks()
	a.addNews()
	return a
}

// done passes on err, and notes why a call is over that did not complete.
func (a *waiter) done(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		a.ends <- context.Cause(ctx)
	}
	return err
}

func (a *waiter) addAsks() {
	mcp.AddTool(a, "form", "Ask for an order", func(ctx context.Context, _ noArgs) (string, error) {
		o, err := mcp.Elicit[meal](ctx, "order", "What will it be?")
		return fmt.Sprintf("%+v", o), err
	})
	mcp.AddTool(a, "several", "Ask for several of a list", func(ctx context.Context, _ noArgs) (string, error) {
		picked, err := mcp.ChooseMany(ctx, "sides", "Which sides?", "rice", "peas")
		return strings.Join(picked, "+"), err
	})
	mcp.AddTool(a, "two", "Ask twice, with work in between", func(ctx context.Context, _ noArgs) (string, error) {
		a.runs.Add(1)
		first, err := mcp.Elicit[nameForm](ctx, "first", "First name?")
		if err != nil {
			return "", a.done(ctx, err)
		}
		n, err := mcp.Step(ctx, "step", func(context.Context) (int32, error) { return a.step.Add(1), nil })
		if err != nil {
			return "", err
		}
		last, err := mcp.Elicit[nameForm](ctx, "last", "Last name?")
		return fmt.Sprintf("%s %s, step %d, round %d", first.Name, last.Name, n, mcp.RequestFrom(ctx).Round()), a.done(ctx, err)
	})
	mcp.AddTool(a, "both", "Ask for a name and the roots in one round", func(ctx context.Context, _ noArgs) (string, error) {
		if err := mcp.Gather(ctx, mcp.AskForm[nameForm]("name", "Name?"), mcp.AskRoots("roots")); err != nil {
			return "", a.done(ctx, err)
		}
		name, _, err := mcp.Answer[nameForm](ctx, "name")
		if err != nil {
			return "", err
		}
		roots, err := mcp.Roots(ctx, "roots")
		return fmt.Sprint(name.Name, " has ", roots), err
	})
	mcp.AddTool(a, "sample", "Ask the model", func(ctx context.Context, _ noArgs) (string, error) {
		r, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{MaxTokens: 9, Messages: []mcp.Message{
			{Role: "user", Content: mcp.Blocks{mcp.Text("What is it?"), mcp.Audio([]byte("la"), "audio/wav")}},
		}})
		if err != nil {
			return "", err
		}
		return r.Model + ": " + r.Text(), nil
	})
	mcp.AddTool(a, "page", "Ask to open a page", func(ctx context.Context, _ noArgs) (string, error) {
		return "opened", mcp.ElicitURL(ctx, "pay", "Please pay", "https://example.com/pay", nil)
	})
	mcp.AddTool(a, "sure", "Ask for agreement", func(context.Context, tagArgs) (string, error) {
		return "agreed", nil
	}).Confirm("Go on with {tag}?")
	mcp.AddTool(a, "reenter", "Ask by returning", func(ctx context.Context, _ noArgs) (string, error) {
		if n, again := mcp.State[int](ctx); again {
			name, _, err := mcp.Answer[nameForm](ctx, "name")
			return fmt.Sprint(n, name.Name), err
		}
		return "", mcp.InputRequired(7, mcp.AskForm[nameForm]("name", "Name?"))
	})
	mcp.AddPrompt(a, "greeting", "Ask for a name", func(ctx context.Context, _ noArgs) (string, error) {
		n, err := mcp.Elicit[nameForm](ctx, "name", "Name?")
		return "Greet " + n.Name, err
	})
	mcp.AddResource(a, "asking://name", "name", func(ctx context.Context) (string, error) {
		n, err := mcp.Elicit[nameForm](ctx, "name", "Name?")
		return n.Name, err
	})
}

// addNews registers what tells clients something.
func (a *waiter) addNews() {
	mcp.AddText(a, "asking://menu", "menu", "text/plain", "soup").Watchable()
	mcp.AddText(a, "asking://rules", "rules", "text/plain", "be nice")
	mcp.AddTool(a, "log", "Log at three levels", func(ctx context.Context, _ noArgs) (string, error) {
		log := mcp.Logger(ctx)
		log.Debug("fine")
		log.Info("known", "n", 1)
		log.Error("bad")
		return "logged", nil
	})
	mcp.AddTool(a, "steps", "Report progress, and again when the test says so", func(ctx context.Context, _ noArgs) (string, error) {
		mcp.Progress(ctx, 1, 2, "")
		select {
		case <-a.quit:
		case <-ctx.Done():
			return "", a.done(ctx, context.Cause(ctx))
		}
		mcp.Progress(ctx, 2, 2, "")
		return "stepped", nil
	})
}

// addOneOfEach adds a tool, a prompt and a resource of that name while the server serves.
func addOneOfEach(t testing.TB, s *mcp.Server, name string) {
	t.Helper()
	err := s.Update(func(u *mcp.Update) error {
		mcp.AddTool(u, name, "", returning[noArgs](""))
		mcp.AddPrompt(u, name, "", returning[noArgs](""))
		mcp.AddText(u, "new://"+name, name, "", "")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
