package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// newAsker returns a server whose tool "greet" asks for a name.
func newAsker(opts *mcp.ServerOptions) *mcp.Server {
	s := mcp.NewServer("asker", "1.0.0", opts)
	mcp.AddTool(s, "greet", "Greet somebody", func(ctx context.Context, _ noArgs) (string, error) {
		who, err := mcp.Elicit[nameForm](ctx, "who", "Who are you?")
		if err != nil {
			return "", err
		}
		return "Hello, " + who.Name, nil
	})
	return s
}

func TestElicit(t *testing.T) {
	s := newAsker(nil)
	call := round{name: "greet"}
	first := play(t, s, call)
	t.Run("A56 M29 MRTR-05 the first answer asks", func(t *testing.T) {
		first.asks(t, "who")
	})
	t.Run("MRTR-06 ELI-05 the question is a request without id", func(t *testing.T) {
		want := `{"who":{"method":"elicitation/create","params":{"mode":"form","message":"Who are you?",` +
			`"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}}`
		if diff := cmp.Diff(want, string(first.members["inputRequests"])); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("META-10 nothing else but who the server is, and no caching hints", func(t *testing.T) {
		if len(first.members) != 4 || first.Meta["io.modelcontextprotocol/serverInfo"] == nil {
			t.Errorf("got %s", first)
		}
	})
	t.Run("A59 the handler runs again with the answer", func(t *testing.T) {
		play(t, s, call.again(first, accepted("who", `{"name":"Ada"}`))).says(t, "Hello, Ada")
	})
	t.Run("MRTR-22 C98 an answer to no question is ignored", func(t *testing.T) {
		play(t, s, call.again(first, `{"who":{"action":"accept","content":{"name":"Ada"}},"other":5}`)).says(t, "Hello, Ada")
	})
	t.Run("MRTR-23 C98 a missing answer is asked for again", func(t *testing.T) {
		for _, answers := range []string{`{}`, acted("other", "accept"), ""} {
			again := play(t, s, call.again(first, answers))
			again.asks(t, "who")
			play(t, s, call.again(again, accepted("who", `{"name":"Ada"}`))).says(t, "Hello, Ada")
		}
	})
	t.Run("MRTR-08 a client that does not come back leaves nothing behind", func(t *testing.T) {
		for range 100 {
			play(t, s, call).asks(t, "who")
		}
	})
}

// TestFourRounds plays a handler that asks three times and does something once, each round with a server of its own.
func TestFourRounds(t *testing.T) {
	for name, play := range map[string]func(testing.TB, *mcp.Server, round) roundResult{
		"on a stream of lines": play,
		"over HTTP":            func(t testing.TB, s *mcp.Server, r round) roundResult { return playAs(t, s, nil, r) },
	} {
		t.Run(name, func(t *testing.T) { playFourRounds(t, play) })
	}
}

func playFourRounds(t *testing.T, play func(testing.TB, *mcp.Server, round) roundResult) {
	var done atomic.Int32
	var callIDs, roundsSeen []string
	book := func(ctx context.Context, a tagArgs) (string, error) {
		r := mcp.RequestFrom(ctx)
		callIDs = append(callIDs, r.CallID())
		roundsSeen = append(roundsSeen, fmt.Sprint(r.Round()))
		who, err := mcp.Elicit[nameForm](ctx, "who", "Who travels?")
		if err != nil {
			return "", err
		}
		seat, err := mcp.Step(ctx, "reserve", func(context.Context) (int, error) {
			return 16 + int(done.Add(1)), nil
		})
		if err != nil {
			return "", err
		}
		class, err := mcp.Choose(ctx, "class", "Which class?", "first", "second")
		if err != nil {
			return "", err
		}
		if ok, err := mcp.Confirm(ctx, "sure", fmt.Sprintf("Book seat %d?", seat)); err != nil || !ok {
			return "not booked", err
		}
		return fmt.Sprintf("%s sits in %s class on seat %d", who.Name, class, seat), nil
	}
	server := func() *mcp.Server {
		s := mcp.NewServer("rail", "1.0.0", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}})
		mcp.AddTool(s, "book", "Book a seat", book)
		return s
	}
	call := round{name: "book", args: `{"tag":"x"}`}
	res := play(t, server(), call)
	states := map[string]bool{}
	for _, step := range []struct{ key, answers string }{
		{"who", accepted("who", `{"name":"Ada"}`)},
		{"class", accepted("class", `{"choice":"first"}`)},
		{"sure", acted("sure", "accept")},
	} {
		res.asks(t, step.key)
		states[res.State] = true
		res = play(t, server(), call.again(res, step.answers))
	}
	t.Run("A61 MRTR-09 MRTR-20 another server of that name and key goes on", func(t *testing.T) {
		res.says(t, "Ada sits in first class on seat 17")
	})
	t.Run("what is in a Step is done once", func(t *testing.T) {
		if done.Load() != 1 {
			t.Errorf("done %d times", done.Load())
		}
	})
	t.Run("A62 every round has a state of its own", func(t *testing.T) {
		if len(states) != 3 {
			t.Errorf("%d states in three rounds", len(states))
		}
	})
	t.Run("the call keeps its id and counts its rounds", func(t *testing.T) {
		if callIDs[0] == "" || callIDs[0] != callIDs[1] || callIDs[0] != callIDs[3] {
			t.Errorf("ids %q", callIDs)
		}
		if diff := cmp.Diff([]string{"1", "2", "3", "4"}, roundsSeen); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("another call has another id", func(t *testing.T) {
		play(t, server(), call).asks(t, "who")
		if callIDs[4] == callIDs[0] {
			t.Error("the id is the same")
		}
	})
}

func TestGather(t *testing.T) {
	s := mcp.NewServer("asker", "1.0.0", nil)
	var got string
	mcp.AddTool(s, "all", "Ask for everything at once", func(ctx context.Context, _ noArgs) (string, error) {
		err := mcp.Gather(ctx,
			mcp.AskForm[nameForm]("who", "Who?"),
			mcp.AskURL("page", "Pay", "https://example.com/pay"),
			mcp.AskSample("poem", &mcp.SampleRequest{Messages: []mcp.Message{mcp.User("Rhyme")}, MaxTokens: 50}),
			mcp.AskRoots("where"),
			mcp.AskSchema("color", "Which?", mcp.Object().String("color", "").Enum("red", "green")),
		)
		if err != nil {
			return "", err
		}
		who, _, err := mcp.Answer[nameForm](ctx, "who")
		if err != nil {
			return "", err
		}
		_, paid, err := mcp.Answer[json.RawMessage](ctx, "page")
		if err != nil {
			return "", err
		}
		poem, _, err := mcp.Answer[*mcp.SampleResult](ctx, "poem")
		if err != nil {
			return "", err
		}
		roots, _, err := mcp.Answer[[]mcp.Root](ctx, "where")
		if err != nil {
			return "", err
		}
		color, _, err := mcp.Answer[map[string]string](ctx, "color")
		if err != nil {
			return "", err
		}
		same, err := mcp.Elicit[nameForm](ctx, "who", "Who?") // the same question: no further round
		if err != nil {
			return "", err
		}
		got = fmt.Sprint(who.Name, same.Name, paid, poem.Text(), poem.Model, roots[0].URI, color["color"])
		return got, nil
	})
	call := round{name: "all"}
	first := play(t, s, call)
	const (
		who   = `"who":{"action":"accept","content":{"name":"Ada"}}`
		page  = `"page":{"action":"accept"}`
		poem  = `"poem":{"role":"assistant","content":{"type":"text","text":"rain"},"model":"m"}`
		where = `"where":{"roots":[{"uri":"file:///home"}]}`
		color = `"color":{"action":"accept","content":{"color":"red"}}`
	)
	t.Run("A57 A65 MRTR-14 all questions go out in one round", func(t *testing.T) {
		first.asks(t, "who", "page", "poem", "where", "color")
		var methods []string
		for _, key := range []string{"who", "page", "poem", "where"} {
			r := first.Requests[key]
			methods = append(methods, r.Method+" "+r.Params.Mode)
		}
		if diff := cmp.Diff([]string{"elicitation/create form", "elicitation/create url", "sampling/createMessage ", "roots/list "}, methods); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("A65 every kind of answer arrives", func(t *testing.T) {
		play(t, s, call.again(first, "{"+who+","+page+","+poem+","+where+","+color+"}")).says(t, "AdaAdatruerainmfile:///homered")
	})
	t.Run("C98 MRTR-23 only what is missing is asked again", func(t *testing.T) {
		second := play(t, s, call.again(first, "{"+who+","+poem+"}"))
		second.asks(t, "page", "where", "color")
		play(t, s, call.again(second, "{"+page+","+where+","+color+"}")).says(t, "AdaAdatruerainmfile:///homered")
	})
	t.Run("ELI-17 an answer that breaks the form is asked for again, with the reason", func(t *testing.T) {
		second := play(t, s, call.again(first, `{"who":{"action":"accept","content":{"name":5}},`+page+","+poem+","+where+
			`,"color":{"action":"accept","content":{"color":"blue"}}}`))
		second.asks(t, "who", "color")
		want := "Who?\n\nThe last answer cannot be used:\n- name must be a string, got 5"
		if diff := cmp.Diff(want, second.Requests["who"].Params.Message); diff != "" {
			t.Error(diff)
		}
		play(t, s, call.again(second, "{"+who+","+color+"}")).says(t, "AdaAdatruerainmfile:///homered")
	})
}
