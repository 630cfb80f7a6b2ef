package rounds_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/typedmcp/mcp/internal/rounds"
	"github.com/typedmcp/mcp/internal/seal"
)

func keeper() *rounds.Keeper {
	return &rounds.Keeper{Ring: seal.RandomRing(), TTL: time.Minute, Rounds: 16, Size: 64 << 10}
}

func binding() rounds.Binding {
	return rounds.Binding{Server: "s", Issuer: "i", Subject: "u", Method: "tools/call", Name: "pay", Arguments: []byte(`{"a":1,"b":[9007199254740992]}`)}
}

func question(key, text string) *rounds.Question {
	return &rounds.Question{Key: key, Kind: "form", Text: []byte(text), Payload: text}
}

// next suspends j and opens what comes of it.
func next(t *testing.T, k *rounds.Keeper, j *rounds.Journal) *rounds.Journal {
	t.Helper()
	b := binding()
	_, token, err := k.Suspend(j, &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = k.Open(token, &b); err != nil {
		t.Fatal(err)
	}
	return j
}

func mustAsk(t *testing.T, j *rounds.Journal, q *rounds.Question) {
	t.Helper()
	if err := j.Ask(q); err != nil {
		t.Fatal(err)
	}
}

func found(t *testing.T, j *rounds.Journal, q *rounds.Question) string {
	t.Helper()
	a, ok, err := j.Find(q)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return ""
	}
	return string(a.Raw)
}

func TestRounds(t *testing.T) {
	k := keeper()
	j := rounds.New()
	call := j.CallID()
	name, color := question("name", "Who?"), question("color", "Which?")
	if j.Round() != 1 || call == "" || j.StateID() != "" || j.State() != nil {
		t.Errorf("a new journal is in round %d of call %q, from %q with %s", j.Round(), call, j.StateID(), j.State())
	}
	if got := found(t, j, name); got != "" {
		t.Errorf("answered before it was asked: %s", got)
	}
	mustAsk(t, j, name)

	j = next(t, k, j)
	if j.Round() != 2 || j.CallID() != call || j.StateID() == "" {
		t.Errorf("round %d of call %q, from %q", j.Round(), j.CallID(), j.StateID())
	}
	if kind, _, ok := j.Asked("name"); kind != "form" || !ok {
		t.Errorf("asked: %q, %v", kind, ok)
	}
	j.Receive("name", json.RawMessage(`{"n":1.50}`))
	j.Receive("color", json.RawMessage(`"never asked"`))
	if got := found(t, j, name); got != `{"n":1.50}` {
		t.Errorf("answer %s", got)
	}
	if got := found(t, j, color); got != "" {
		t.Errorf("an answer to no question counts: %s", got)
	}
	mustAsk(t, j, color)

	j = next(t, k, j)
	if _, _, ok := j.Asked("name"); ok {
		t.Error("what was answered is still asked")
	}
	if got := found(t, j, name); got != `{"n":1.50}` {
		t.Errorf("the answer of the round before: %s", got)
	}
	if got := found(t, j, color); got != "" {
		t.Errorf("a missing answer: %s", got)
	}
	if j.Round() != 3 || j.CallID() != call {
		t.Errorf("round %d of call %q", j.Round(), j.CallID())
	}
}

func TestQuestions(t *testing.T) {
	k := keeper()
	ask := func(qs ...*rounds.Question) *rounds.Journal {
		j := rounds.New()
		for _, q := range qs {
			mustAsk(t, j, q)
		}
		return next(t, k, j)
	}
	t.Run("a changed question has no answer", func(t *testing.T) {
		j := ask(question("a", "old"))
		j.Receive("a", json.RawMessage(`1`))
		if got := found(t, j, question("a", "new")); got != "" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a changed kind has no answer", func(t *testing.T) {
		j := ask(question("a", "same"))
		j.Receive("a", json.RawMessage(`1`))
		q := question("a", "same")
		q.Kind = "url"
		if got := found(t, j, q); got != "" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("two questions under one key", func(t *testing.T) {
		j := rounds.New()
		mustAsk(t, j, question("a", "one"))
		if err := j.Ask(question("a", "two")); !errors.Is(err, rounds.ErrConflict) || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("Ask: %v", err)
		}
		if _, _, err := j.Find(question("a", "two")); !errors.Is(err, rounds.ErrConflict) {
			t.Errorf("Find: %v", err)
		}
	})
	t.Run("the same question twice goes out once, as it was put last", func(t *testing.T) {
		j := rounds.New()
		mustAsk(t, j, question("a", "one"))
		mustAsk(t, j, question("b", "two"))
		again := question("a", "one")
		again.Payload = "again"
		mustAsk(t, j, again)
		b := binding()
		pending, _, err := k.Suspend(j, &b, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range pending {
			got = append(got, fmt.Sprint(q.Key, " ", q.Payload))
		}
		if diff := cmp.Diff([]string{"a again", "b two"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("asking again forgets the answer", func(t *testing.T) {
		j := ask(question("a", "one"))
		j.Receive("a", json.RawMessage(`1`))
		mustAsk(t, j, question("a", "one"))
		if _, ok := j.Answer("a"); ok {
			t.Error("the answer is still there")
		}
		if j = next(t, k, j); found(t, j, question("a", "one")) != "" {
			t.Error("the answer came back")
		}
	})
	t.Run("finished answers stay finished", func(t *testing.T) {
		j := ask(question("a", "one"))
		j.Receive("a", json.RawMessage(`1`))
		if a, _ := j.Answer("a"); a.Done {
			t.Error("finished by itself")
		}
		j.Finish("a")
		j.Finish("unknown")
		j = next(t, k, j)
		if a, ok := j.Answer("a"); !ok || !a.Done {
			t.Errorf("got %+v, %v", a, ok)
		}
	})
	t.Run("a schema is kept with its question", func(t *testing.T) {
		q := question("a", "one")
		q.Schema = json.RawMessage(`{"type":"object"}`)
		if _, schema, _ := ask(q).Asked("a"); string(schema) != `{"type":"object"}` {
			t.Errorf("got %s", schema)
		}
	})
	t.Run("nothing is asked after the round", func(t *testing.T) {
		j := rounds.New()
		b := binding()
		if _, _, err := k.Suspend(j, &b, nil); err != nil {
			t.Fatal(err)
		}
		if err := j.Ask(question("a", "one")); !errors.Is(err, rounds.ErrClosed) {
			t.Errorf("Ask: %v", err)
		}
		if _, _, err := k.Suspend(j, &b, nil); !errors.Is(err, rounds.ErrClosed) {
			t.Errorf("Suspend: %v", err)
		}
	})
	t.Run("state of the caller's own", func(t *testing.T) {
		b := binding()
		_, token, err := k.Suspend(rounds.New(), &b, json.RawMessage(`{"at":9007199254740993}`))
		if err != nil {
			t.Fatal(err)
		}
		j, err := k.Open(token, &b)
		if err != nil || string(j.State()) != `{"at":9007199254740993}` {
			t.Errorf("got %s, %v", j.State(), err)
		}
	})
}

func TestBinding(t *testing.T) {
	k := keeper()
	b := binding()
	_, token, err := k.Suspend(rounds.New(), &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*rounds.Binding)
		opens  bool
	}{
		{"same", func(*rounds.Binding) {}, true},
		{"arguments in another order, with space", func(b *rounds.Binding) { b.Arguments = []byte(` {"b" : [9007199254740992], "\u0061":1}`) }, true},
		{"other server", func(b *rounds.Binding) { b.Server = "t" }, false},
		{"other issuer", func(b *rounds.Binding) { b.Issuer = "j" }, false},
		{"other subject", func(b *rounds.Binding) { b.Subject = "v" }, false},
		{"nobody", func(b *rounds.Binding) { b.Issuer, b.Subject = "", "" }, false},
		{"border between two parts moved", func(b *rounds.Binding) { b.Issuer, b.Subject = "iu", "" }, false},
		{"other method", func(b *rounds.Binding) { b.Method = "prompts/get" }, false},
		{"other tool", func(b *rounds.Binding) { b.Name = "refund" }, false},
		{"other value", func(b *rounds.Binding) { b.Arguments = []byte(`{"a":2,"b":[9007199254740992]}`) }, false},
		{"2^53+1 for 2^53", func(b *rounds.Binding) { b.Arguments = []byte(`{"a":1,"b":[9007199254740993]}`) }, false},
		{"number as text", func(b *rounds.Binding) { b.Arguments = []byte(`{"a":"1","b":[9007199254740992]}`) }, false},
		{"member more", func(b *rounds.Binding) { b.Arguments = []byte(`{"a":1,"b":[9007199254740992],"c":1}`) }, false},
		{"no arguments", func(b *rounds.Binding) { b.Arguments = nil }, false},
		{"no JSON", func(b *rounds.Binding) { b.Arguments = []byte(`{`) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := binding()
			c.change(&b)
			if _, err := k.Open(token, &b); (err == nil) != c.opens {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("no arguments, null and the empty object are the same", func(t *testing.T) {
		b := rounds.Binding{Method: "prompts/get"}
		_, token, err := k.Suspend(rounds.New(), &b, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"null", "{}", " { } "} {
			if _, err := k.Open(token, &rounds.Binding{Method: "prompts/get", Arguments: []byte(args)}); err != nil {
				t.Errorf("%s: %v", args, err)
			}
		}
	})
	t.Run("arguments that cannot be bound", func(t *testing.T) {
		b := rounds.Binding{Arguments: []byte(`{"a":1,"a":2}`)}
		if _, _, err := k.Suspend(rounds.New(), &b, nil); err == nil {
			t.Error("sealed")
		}
	})
	t.Run("other key", func(t *testing.T) {
		if _, err := keeper().Open(token, &b); err == nil {
			t.Error("opened")
		}
	})
	t.Run("sealed, but no journal", func(t *testing.T) {
		var plain rounds.Binding
		if _, err := k.Open(k.Ring.Seal([]byte(`[1]`), nil), &plain); err == nil {
			t.Error("opened")
		}
	})
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := keeper()
		b := binding()
		_, token, err := k.Suspend(rounds.New(), &b, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(k.TTL - time.Millisecond)
		j, err := k.Open(token, &b)
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(j.Until()); left <= 0 || left > time.Millisecond {
			t.Errorf("it ends in %v", left)
		}
		_, fresh, err := k.Suspend(j, &b, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		if _, err := k.Open(token, &b); err == nil {
			t.Error("opened after its time")
		}
		if _, err := k.Open(fresh, &b); err != nil {
			t.Errorf("the time did not start anew with the round: %v", err)
		}
	})
}

func TestLimits(t *testing.T) {
	b := binding()
	t.Run("rounds", func(t *testing.T) {
		k := keeper()
		k.Rounds = 3
		j := next(t, k, next(t, k, rounds.New()))
		if _, _, err := k.Suspend(j, &b, nil); !errors.Is(err, rounds.ErrRounds) {
			t.Errorf("after round %d: %v", j.Round(), err)
		}
	})
	t.Run("size", func(t *testing.T) {
		k := keeper()
		_, token, err := k.Suspend(rounds.New(), &b, nil)
		if err != nil {
			t.Fatal(err)
		}
		k.Size = len(token)
		if _, _, err = k.Suspend(rounds.New(), &b, nil); err != nil {
			t.Errorf("of exactly that size: %v", err)
		}
		k.Size--
		if _, _, err := k.Suspend(rounds.New(), &b, nil); !errors.Is(err, rounds.ErrSize) {
			t.Errorf("sealing: %v", err)
		}
		if _, err := k.Open(token, &b); err == nil {
			t.Error("opened")
		}
	})
}

func TestSteps(t *testing.T) {
	ctx := context.Background()
	value := func(v string) func() (json.RawMessage, error) {
		return func() (json.RawMessage, error) { return json.RawMessage(v), nil }
	}
	never := func() (json.RawMessage, error) { return nil, errors.New("done twice") }

	t.Run("once over the rounds", func(t *testing.T) {
		k := keeper()
		j := rounds.New()
		for range 3 {
			if got, err := j.Step(ctx, "a", value(`1`)); err != nil || string(got) != `1` {
				t.Fatalf("got %s, %v", got, err)
			}
			if got, err := j.Step(ctx, "a", never); err != nil || string(got) != `1` {
				t.Fatalf("got %s, %v", got, err)
			}
			j = next(t, k, j)
		}
		if got, err := j.Step(ctx, "b", value(`2`)); err != nil || string(got) != `2` {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("an error is not recorded", func(t *testing.T) {
		j := rounds.New()
		if _, err := j.Step(ctx, "a", never); err == nil {
			t.Error("no error")
		}
		j = next(t, keeper(), j)
		if got, err := j.Step(ctx, "a", value(`1`)); err != nil || string(got) != `1` {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("nor is a panic", func(t *testing.T) {
		j := rounds.New()
		func() {
			defer func() { _ = recover() }()
			_, _ = j.Step(ctx, "a", func() (json.RawMessage, error) { panic("x") })
		}()
		if got, err := j.Step(ctx, "a", value(`1`)); err != nil || string(got) != `1` {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("a step still running is not recorded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j := rounds.New()
			release := make(chan struct{})
			go func() {
				_, _ = j.Step(ctx, "a", func() (json.RawMessage, error) { <-release; return json.RawMessage(`1`), nil })
			}()
			synctest.Wait()
			opened := next(t, keeper(), j)
			close(release)
			if got, err := opened.Step(ctx, "a", value(`2`)); err != nil || string(got) != `2` {
				t.Errorf("got %s, %v", got, err)
			}
		})
	})
	t.Run("of many at once one works", func(t *testing.T) {
		j := rounds.New()
		var runs atomic.Int32
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				got, err := j.Step(ctx, "a", func() (json.RawMessage, error) { runs.Add(1); return json.RawMessage(`1`), nil })
				if err != nil || string(got) != `1` {
					t.Errorf("got %s, %v", got, err)
				}
			})
		}
		wg.Wait()
		if runs.Load() != 1 {
			t.Errorf("done %d times", runs.Load())
		}
	})
	t.Run("who waits leaves with the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j := rounds.New()
			release := make(chan struct{})
			go func() {
				_, _ = j.Step(ctx, "a", func() (json.RawMessage, error) { <-release; return json.RawMessage(`1`), nil })
			}()
			synctest.Wait()
			ended, cancel := context.WithCancelCause(ctx)
			cancel(errors.New("why"))
			if _, err := j.Step(ended, "a", never); err == nil || err.Error() != "why" {
				t.Errorf("got %v", err)
			}
			close(release)
		})
	})
}

// TestConcurrentUse lets the race detector look at everything at once.
func TestConcurrentUse(t *testing.T) {
	k := keeper()
	j := rounds.New()
	for i := range 20 {
		mustAsk(t, j, question(fmt.Sprint(i), "q"))
	}
	j = next(t, k, j)
	var wg sync.WaitGroup
	for i := range 20 {
		key := fmt.Sprint(i)
		wg.Go(func() {
			j.Receive(key, json.RawMessage(`1`))
			if got := found(t, j, question(key, "q")); got != "1" {
				t.Errorf("%s: %s", key, got)
			}
			j.Finish(key)
			mustAsk(t, j, question("new "+key, "q"))
			_, _ = j.Step(context.Background(), key, func() (json.RawMessage, error) { return json.RawMessage(`1`), nil })
			_, _, _ = j.Asked(key)
			_ = j.Asking()
		})
	}
	wg.Wait()
	if !j.Asking() || rounds.New().Asking() {
		t.Error("Asking is wrong")
	}
	j = next(t, k, j)
	for i := range 20 {
		if _, _, ok := j.Asked(fmt.Sprint("new ", i)); !ok {
			t.Errorf("question %d was not asked", i)
		}
	}
	if a, ok := j.Answer("7"); !ok || !a.Done || string(a.Raw) != "1" {
		t.Errorf("got %+v, %v", a, ok)
	}
}

// TestAccept is about answers to what was not asked.
func TestAccept(t *testing.T) {
	k := keeper()
	j := rounds.New()
	who := question("who", "Who?")
	j.Accept(who, json.RawMessage(`1`))
	j.Accept(&rounds.Question{Key: "any", Kind: "form"}, json.RawMessage(`2`))
	for _, j := range []*rounds.Journal{j, next(t, k, j)} {
		if got := found(t, j, who); got != "1" {
			t.Errorf("who: %q", got)
		}
		if got := found(t, j, question("any", "Any?")); got != "" {
			t.Errorf("an answer to no question in particular is taken for one to this: %q", got)
		}
		if a, ok := j.Answer("any"); !ok || string(a.Raw) != "2" || a.Kind != "form" {
			t.Errorf("any: %v %v", a, ok)
		}
	}
}
