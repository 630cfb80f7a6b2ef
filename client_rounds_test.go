package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// clientRound is a request of a call as a client sent it: its id and the members of its params, _meta apart.
type clientRound struct {
	id     string
	params map[string]json.RawMessage
	meta   map[string]json.RawMessage
}

func readClientRound(t testing.TB, line string) clientRound {
	t.Helper()
	var m struct {
		ID     json.RawMessage
		Params map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Errorf("%v: %s", err, line)
	}
	r := clientRound{id: string(m.ID), params: m.Params}
	if err := json.Unmarshal(m.Params["_meta"], &r.meta); err != nil {
		t.Errorf("%v: %s", err, line)
	}
	delete(m.Params, "_meta")
	return r
}

const (
	askedForm  = `{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":7}},"required":["name"]}}}`
	askedURL   = `{"method":"elicitation/create","params":{"mode":"url","message":"Pay","url":"https://example.com/pay"}}`
	askedModel = `{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":9}}`
	askedTools = `{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":9,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}`
	askedRoots = `{"method":"roots/list"}`
)

// suspended are the members of a result that asks; state is JSON, "" for none.
func suspended(requests, state string) string {
	members := `"resultType":"input_required"`
	if requests != "" {
		members += `,"inputRequests":` + requests
	}
	if state != "" {
		members += `,"requestState":` + state
	}
	return members
}

// hooks are options that answer everything, and note what they were asked.
func hooks(seen *trail) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitForm: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			seen.add("form %s %s", r.Mode, r.Message)
			return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"name":"Ada"}`)}, nil
		},
		ElicitURL: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			seen.add("page %s %s %s", r.Mode, r.Message, r.URL)
			return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"dropped":1}`)}, nil
		},
		Sample: func(_ context.Context, r *mcp.SampleRequest) (*mcp.SampleResult, error) {
			seen.add("model %d", r.MaxTokens)
			return &mcp.SampleResult{Content: mcp.Text("Hello"), Model: "m"}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) {
			seen.add("roots")
			return []mcp.Root{{URI: "file:///a"}}, nil
		},
	}
}

// TestClientRounds has a client answer what a server asks in the middle of a call.
func TestClientRounds(t *testing.T) {
	t.Parallel()
	playWith := func(t *testing.T, opts *mcp.ClientOptions, options []mcp.CallOption, results ...string) (sent []clientRound, err error) {
		f := newFakeServer(t)
		c := f.dial(opts)
		returned, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case line := <-f.received:
					m := f.parse(line)
					if sent = append(sent, readClientRound(t, line)); len(sent) > len(results) {
						t.Errorf("sent too: %s", line)
						f.fault(m, `"code":-32603,"message":"nothing more was wanted"`)
						continue
					}
					f.result(m, results[len(sent)-1])
				case <-returned:
					return
				}
			}
		}()
		_, err = c.CallTool(t.Context(), "t", json.RawMessage(`{"a":1}`), append(options, mcp.WithMeta("traceparent", "00-1-2-01"))...)
		close(returned)
		<-done
		if len(f.received) != 0 {
			t.Errorf("sent after all: %s", <-f.received)
		}
		return sent, err
	}
	play := func(t *testing.T, opts *mcp.ClientOptions, results ...string) ([]clientRound, error) {
		return playWith(t, opts, nil, results...)
	}
	const complete = `"resultType":"complete","content":[]`
	t.Run("MRTR-14 MRTR-18 MRTR-24 ELI-15 ELI-14 ELI-06 every kind goes to its hook, and all answers into one new request", func(t *testing.T) {
		t.Parallel()
		var seen trail
		sent, err := play(t, hooks(&seen), suspended(`{"f":`+askedForm+`,"u":`+askedURL+`,"m":`+askedModel+`,"r":`+askedRoots+`}`, `"s"`), complete)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"form form Who?", "page url Pay https://example.com/pay", "model 9", "roots"}, seen.take()); diff != "" {
			t.Error(diff)
		}
		want := map[string]json.RawMessage{"name": json.RawMessage(`"t"`), "arguments": json.RawMessage(`{"a":1}`), "requestState": json.RawMessage(`"s"`),
			"inputResponses": json.RawMessage(`{"f":{"action":"accept","content":{"name":"Ada","age":7}},"u":{"action":"accept"},` +
				`"m":{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"m"},"r":{"roots":[{"uri":"file:///a"}]}}`)}
		if diff := cmp.Diff(want, sent[1].params); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if sent[0].id == sent[1].id || string(sent[1].meta["traceparent"]) != `"00-1-2-01"` {
			t.Errorf("ids %s and %s, _meta %s", sent[0].id, sent[1].id, sent[1].meta)
		}
	})
	t.Run("ELI-01 SMP-01 ROOT-01 what the hooks answer is declared, with every round", func(t *testing.T) {
		t.Parallel()
		for want, opts := range map[string]*mcp.ClientOptions{
			`{}`:                          {},
			`{"elicitation":{"form":{}}}`: {ElicitForm: hooks(new(trail)).ElicitForm},
			`{"elicitation":{"url":{}}}`:  {ElicitURL: hooks(new(trail)).ElicitURL},
			`{"sampling":{}}`:             {Sample: hooks(new(trail)).Sample},
			`{"sampling":{"tools":{}}}`:   {Sample: hooks(new(trail)).Sample, SampleTools: true},
			`{"roots":{}}`:                {Roots: hooks(new(trail)).Roots},
			hookCapabilities:              hooks(new(trail)),
		} {
			sent, err := play(t, opts, suspended("", `"s"`), complete)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range sent {
				if got := string(r.meta["io.modelcontextprotocol/clientCapabilities"]); got != want {
					t.Errorf("declares %s, want %s", got, want)
				}
			}
		}
	})
	t.Run("MRTR-16 the state comes back as it was", func(t *testing.T) {
		t.Parallel()
		for _, state := range []string{`""`, `"a\"\\\u0000\u2028😀/\/"`, quoted(strings.Repeat("x", 64<<10)), `"{\"not\":\"read\"}"`} {
			sent, err := play(t, hooks(new(trail)), suspended(`{"r":`+askedRoots+`}`, state), complete)
			if err != nil {
				t.Fatal(err)
			}
			var got, want string
			if json.Unmarshal(sent[1].params["requestState"], &got) != nil || json.Unmarshal([]byte(state), &want) != nil || got != want {
				t.Errorf("got %.100s, want %.100s", sent[1].params["requestState"], state)
			}
		}
	})
	for name, state := range map[string]string{"an empty state": `""`, "a state": `"s"`, "none": ""} {
		t.Run("MRTR-16 by hand "+name+" comes back as it was", func(t *testing.T) {
			t.Parallel()
			_, err := playWith(t, nil, []mcp.CallOption{mcp.WithManual()}, suspended(`{"r":`+askedRoots+`}`, state))
			var asked *mcp.InputRequiredResult
			if !errors.As(err, &asked) {
				t.Fatal(err)
			}
			sent, err := playWith(t, nil, []mcp.CallOption{asked.WithAnswers(map[string]any{"r": []mcp.Root{{URI: "file:///a"}}})}, complete)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(sent[0].params["requestState"]); got != state {
				t.Errorf("state %s, want %s", got, state)
			}
			if got := string(sent[0].params["inputResponses"]); got != `{"r":{"roots":[{"uri":"file:///a"}]}}` {
				t.Errorf("answers %s", got)
			}
		})
	}
	t.Run("ELI-15 by hand too, what is not accepted has no content", func(t *testing.T) {
		t.Parallel()
		answers := make(map[string]any)
		for _, action := range []string{"accept", "decline", "cancel"} {
			answers[action] = &mcp.ElicitResult{Action: action, Content: json.RawMessage(`{"name":"Ada"}`)}
		}
		sent, err := playWith(t, nil, []mcp.CallOption{mcp.WithAnswers(answers, "")}, complete)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(sent[0].params["inputResponses"]); got != `{"accept":{"action":"accept","content":{"name":"Ada"}},"cancel":{"action":"cancel"},"decline":{"action":"decline"}}` {
			t.Errorf("answers %s", got)
		}
	})
	t.Run("MRTR-17 MRTR-20 each round has the state and the answers of the last one alone", func(t *testing.T) {
		t.Parallel()
		sent, err := play(t, hooks(new(trail)), suspended(`{"r":`+askedRoots+`}`, `"one"`), suspended(`{"f":`+askedForm+`}`, ""), complete)
		if err != nil {
			t.Fatal(err)
		}
		if string(sent[1].params["requestState"]) != `"one"` || sent[2].params["requestState"] != nil {
			t.Errorf("states %s and %s", sent[1].params["requestState"], sent[2].params["requestState"])
		}
		if got := string(sent[2].params["inputResponses"]); got != `{"f":{"action":"accept","content":{"name":"Ada","age":7}}}` {
			t.Errorf("answers %s", got)
		}
	})
	for name, c := range map[string]struct {
		opts    *mcp.ClientOptions
		members string
		want    string
	}{
		"MRTR-25 a form that it did not declare":     {&mcp.ClientOptions{Roots: hooks(new(trail)).Roots}, suspended(`{"f":`+askedForm+`}`, ""), "elicitation.form, which this client did not declare"},
		"MRTR-25 roots that it did not declare":      {nil, suspended(`{"r":`+askedRoots+`}`, ""), "roots, which this client did not declare"},
		"SMP-03 tools that it did not declare":       {hooks(new(trail)), suspended(`{"m":`+askedTools+`}`, ""), "sampling.tools, which this client did not declare"},
		"MRTR-05 neither questions nor state":        {nil, suspended("", ""), "neither"},
		"MRTR-06 a method that is none":              {hooks(new(trail)), suspended(`{"x":{"method":"tools/list"}}`, ""), `"tools/list"`},
		"a state that is no text":                    {nil, suspended("", `5`), "t"},
		"questions that are no object":               {nil, suspended(`[]`, ""), "inputRequests"},
		"META-01 a type of result that nobody knows": {nil, `"resultType":"later"`, "later"},
		"SMP-05 sampling without a maximum":          {hooks(new(trail)), suspended(`{"m":{"method":"sampling/createMessage","params":{"messages":[]}}}`, ""), "maxTokens is missing"},
		"SMP-15 a model that fails": {&mcp.ClientOptions{Sample: func(context.Context, *mcp.SampleRequest) (*mcp.SampleResult, error) {
			return nil, errors.New("no model today")
		}}, suspended(`{"m":`+askedModel+`}`, ""), "no model today"},
		"ROOT-06 roots that fail": {&mcp.ClientOptions{Roots: func(context.Context) ([]mcp.Root, error) { return nil, errors.New("no disk") }},
			suspended(`{"r":`+askedRoots+`}`, ""), "no disk"},
		"ROOT-02 a root that is no file": {&mcp.ClientOptions{Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "https://example.com"}}, nil }},
			suspended(`{"r":`+askedRoots+`}`, ""), "file://"},
		"ROOT-02 a root without an authority": {&mcp.ClientOptions{Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:/a"}}, nil }},
			suspended(`{"r":`+askedRoots+`}`, ""), "file://"},
		"ELI-17 content that breaks the form": {&mcp.ClientOptions{ElicitForm: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"name":5}`)}, nil
		}}, suspended(`{"f":`+askedForm+`}`, ""), "name must be a string"},
		"an action that is none": {&mcp.ClientOptions{ElicitForm: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "maybe"}, nil
		}}, suspended(`{"f":`+askedForm+`}`, ""), `"maybe"`},
	} {
		t.Run(name+" fails the call, and nothing is sent", func(t *testing.T) {
			t.Parallel()
			_, err := play(t, c.opts, c.members)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	t.Run("ELI-18 a user who cannot be asked has turned away", func(t *testing.T) {
		t.Parallel()
		log := new(logBook)
		sent, err := play(t, &mcp.ClientOptions{Logger: log.logger(), ElicitForm: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return nil, errors.New("no window")
		}}, suspended(`{"f":`+askedForm+`}`, `"s"`), complete)
		if err != nil || string(sent[1].params["inputResponses"]) != `{"f":{"action":"cancel"}}` || len(log.records(t, slog.LevelWarn)) == 0 {
			t.Errorf("%v, %s, logged %s", err, sent[1].params, log)
		}
	})
}

const hookCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// TestClientRoundLimits is about servers that go on asking.
func TestClientRoundLimits(t *testing.T) {
	t.Parallel()
	bubble(t, "MRTR-15 a state alone is sent back after a moment, and not for ever", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(&mcp.ClientOptions{MaxRounds: 4})
		f.answering(func(clientMessage) string { return suspended("", `"s"`) })
		start := time.Now()
		_, err := c.CallTool(t.Context(), "t", nil)
		var asked *mcp.InputRequiredResult
		if !errors.As(err, &asked) || !errors.Is(err, mcp.ErrInputRequired) || asked.State != "s" || len(asked.Requests) != 0 {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took < 4*50*time.Millisecond || took > 4*time.Second {
			t.Errorf("four rounds took %v", took)
		}
	})
	bubble(t, "MRTR-15 the moment does not wear off, however often a state comes", func(t *testing.T) {
		const rounds = 100
		f := newFakeServer(t)
		c := f.dial(&mcp.ClientOptions{MaxRounds: rounds})
		f.answering(func(clientMessage) string { return suspended("", `"s"`) })
		start := time.Now()
		if _, err := c.CallTool(t.Context(), "t", nil); !errors.Is(err, mcp.ErrInputRequired) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took < (rounds-5)*time.Second || took > rounds*time.Second {
			t.Errorf("%d rounds took %v", rounds, took)
		}
	})
	bubble(t, "MRTR-15 a context that ends in the moment ends the call, and nothing more is sent", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(nil)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		go func() { f.result(f.next(), suspended("", `"s"`)) }()
		start := time.Now()
		if _, err := c.CallTool(ctx, "t", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 20*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		synctest.Wait()
		if len(f.received) != 0 {
			t.Errorf("sent %s", <-f.received)
		}
	})
	bubble(t, "C104 ELI-25 nor is a user asked for ever", func(t *testing.T) {
		var seen trail
		f := newFakeServer(t)
		c := f.dial(hooks(&seen))
		f.answering(func(clientMessage) string { return suspended(`{"u":`+askedURL+`}`, `"s"`) })
		_, err := c.CallTool(t.Context(), "t", nil)
		if n := len(seen.take()); !errors.Is(err, mcp.ErrInputRequired) || n != 10 {
			t.Errorf("asked %d times, %v", n, err)
		}
	})
	bubble(t, "CAN-03 a context that ends while the user is asked ends the call, and nothing more is sent", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(&mcp.ClientOptions{ElicitForm: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		go func() { f.result(f.next(), suspended(`{"f":`+askedForm+`}`, `"s"`)) }()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := c.CallTool(ctx, "t", nil); done <- err }()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		if len(f.received) != 0 {
			t.Errorf("sent %s", <-f.received)
		}
	})
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "completion/complete"} {
		bubble(t, "MRTR-04 C100 a question in answer to "+method+" is a fault of the server's", func(t *testing.T) {
			f := newFakeServer(t)
			c := f.dial(hooks(new(trail)))
			f.answering(func(clientMessage) string {
				return suspended(`{"r":`+askedRoots+`}`, `"s"`) + `,"tools":[],"prompts":[],"resources":[],"_meta":{}`
			})
			var err error
			switch method {
			case "tools/list":
				for _, err = range c.Tools(t.Context()) {
				}
			case "prompts/list":
				for _, err = range c.Prompts(t.Context()) {
				}
			case "resources/list":
				for _, err = range c.Resources(t.Context()) {
				}
			default:
				_, err = c.Complete(t.Context(), mcp.PromptRef("p"), "a", "", nil)
			}
			if err == nil || !strings.Contains(err.Error(), "must not") {
				t.Errorf("error %v", err)
			}
		})
	}
	bubble(t, "C100 MRTR-02 a state alone, with _meta, is a question in answer to a call, a prompt or a read", func(t *testing.T) {
		for _, method := range []string{"tools/call", "prompts/get", "resources/read"} {
			f := newFakeServer(t)
			c := f.dial(nil)
			asked := 0
			f.answering(func(m clientMessage) string {
				if m.Method != method {
					t.Errorf("sent %s", m.Method)
				}
				if asked++; asked == 1 {
					return suspended("", `"s"`) + `,"_meta":{}`
				}
				return `"resultType":"complete","content":[],"messages":[],"contents":[],"ttlMs":0,"cacheScope":"private"`
			})
			var err error
			switch method {
			case "tools/call":
				_, err = c.CallTool(t.Context(), "t", nil)
			case "prompts/get":
				_, err = c.GetPrompt(t.Context(), "p", nil)
			default:
				_, err = c.ReadResource(t.Context(), "test://a")
			}
			if err != nil || asked != 2 {
				t.Errorf("%s: %d requests, %v", method, asked, err)
			}
		}
	})
}

// TestClientRoundsAtOnce answers many calls of one tool at once.
func TestClientRoundsAtOnce(t *testing.T) {
	s := mcp.NewServer("asker", "1.0.0", nil)
	mcp.AddTool(s, "ask", "", func(ctx context.Context, a countArgs) (string, error) {
		v, err := mcp.Elicit[countArgs](ctx, "q", fmt.Sprint("Number ", a.Count))
		return fmt.Sprint(a.Count, " ", v.Count), err
	})
	c := dialMemory(t, s, &mcp.ClientOptions{ElicitForm: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"count":` + strings.TrimPrefix(r.Message, "Number ") + `}`)}, nil
	}})
	t.Run("MRTR-19 answers and states stay with their call", func(t *testing.T) {
		results := make(chan string, 100)
		for i := range cap(results) {
			go func() { results <- fmt.Sprint(i, " ", textOf(mustCall(t, c, "ask", countArgs{i}))) }()
		}
		for range cap(results) {
			if got := <-results; len(strings.Fields(got)) != 3 || strings.Fields(got)[0] != strings.Fields(got)[1] || strings.Fields(got)[1] != strings.Fields(got)[2] {
				t.Errorf("got %q", got)
			}
		}
	})
}
