package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// newVault returns a server whose tools "open" and "shut" ask for a name, and the number of times that one of them got
// past its question.
func newVault(name string, opts *mcp.ServerOptions) (*mcp.Server, *atomic.Int32) {
	effects := new(atomic.Int32)
	s := mcp.NewServer(name, "1.0.0", opts)
	for _, tool := range []string{"open", "shut"} {
		mcp.AddRawTool(s, tool, "Ask, then act", mcp.Object(), func(ctx context.Context, _ json.RawMessage) (*mcp.Result, error) {
			who, err := mcp.Elicit[nameForm](ctx, "who", "Who are you?")
			if err != nil {
				return nil, err
			}
			effects.Add(1)
			return &mcp.Result{Content: []mcp.Content{mcp.Text(who.Name)}}, nil
		})
	}
	return s, effects
}

// playAs plays a round as a principal, nil for nobody.
func playAs(t testing.TB, s *mcp.Server, who *mcp.Principal, r round) roundResult {
	t.Helper()
	h, err := s.HTTPHandler(nil)
	if err != nil {
		t.Fatal(err)
	}
	req := r.request()
	if who != nil {
		req = req.WithContext(mcp.WithPrincipal(req.Context(), who))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return readRound(t, w.Body.String())
}

// TestState presents a state in every way that it was not issued for.
func TestState(t *testing.T) {
	ada := &mcp.Principal{Issuer: "https://id.example", Subject: "ada", Client: "app"}
	call := round{name: "open", args: `{"sum":9007199254740992,"to":"x"}`, answers: accepted("who", `{"name":"Ada"}`)}
	options := func(log *logBook) *mcp.ServerOptions {
		return &mcp.ServerOptions{StateKeys: [][]byte{stateKey}, Logger: log.logger()}
	}
	issue := func(t *testing.T) string {
		s, _ := newVault("vault", options(new(logBook)))
		first := call
		first.answers = ""
		res := playAs(t, s, ada, first)
		res.asks(t, "who")
		return res.State
	}
	for _, c := range []struct {
		name   string
		server string
		who    *mcp.Principal
		change func(r *round)
		reason string // what the log says; "": it is accepted
	}{
		{"unchanged", "vault", ada, nil, ""},
		{"A63 arguments in another order and spelling", "vault", ada, func(r *round) { r.args = `{ "to":"\u0078", "sum":9007199254740992 }` }, ""},
		{"the same subject with other credentials", "vault", &mcp.Principal{Issuer: ada.Issuer, Subject: "ada", Client: "other", Scopes: []string{"s"}}, nil, ""},

		{"MRTR-11 C122 ELI-27 other principal", "vault", &mcp.Principal{Issuer: ada.Issuer, Subject: "eve", Client: "app"}, nil, "another purpose"},
		{"MRTR-11 other issuer", "vault", &mcp.Principal{Issuer: "https://evil.example", Subject: "ada"}, nil, "another purpose"},
		{"MRTR-11 nobody", "vault", nil, nil, "another purpose"},
		{"MRTR-11 a client of that name", "vault", &mcp.Principal{Issuer: ada.Issuer, Client: "ada"}, nil, "another purpose"},
		{"MRTR-11 other tool", "vault", ada, func(r *round) { r.name = "shut" }, "another purpose"},
		{"MRTR-11 other argument", "vault", ada, func(r *round) { r.args = `{"sum":9007199254740992,"to":"y"}` }, "another purpose"},
		{"MRTR-11 2^53+1 for 2^53", "vault", ada, func(r *round) { r.args = `{"sum":9007199254740993,"to":"x"}` }, "another purpose"},
		{"MRTR-11 no arguments", "vault", ada, func(r *round) { r.args = `{}` }, "another purpose"},
		{"MRTR-11 other server", "bank", ada, nil, "another purpose"},
		{"MRTR-10 truncated", "vault", ada, func(r *round) { *r.state = (*r.state)[:len(*r.state)-1] }, "altered"},
		{"MRTR-10 appended", "vault", ada, func(r *round) { *r.state += "-TAMPERED" }, "altered"},
		{"MRTR-10 empty", "vault", ada, func(r *round) { *r.state = "" }, "altered"},
		{"MRTR-10 made up", "vault", ada, func(r *round) { *r.state = "eyJyb3VuZCI6Mn0" }, "altered"},
		{"MRTR-10 larger than any that was issued", "vault", ada, func(r *round) { *r.state = strings.Repeat("A", 65<<10) }, "66560 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := new(logBook)
			s, effects := newVault(c.server, options(log))
			state := issue(t)
			r := call
			r.state = &state
			if c.change != nil {
				c.change(&r)
			}
			res := playAs(t, s, c.who, r)
			if c.reason == "" {
				res.says(t, "Ada")
				return
			}
			const told = "Invalid params: requestState is not valid for this request; make the call anew, without it"
			if res.faults(t, mcp.CodeInvalidParams, told); res.fault.Message != told || res.fault.Data != nil {
				t.Errorf("it tells %s", res)
			}
			if effects.Load() > 0 {
				t.Error("the handler went on")
			}
			warned := log.records(t, slog.LevelWarn)
			if len(warned) != 1 || !strings.Contains(fmt.Sprint(warned[0]["reason"]), c.reason) {
				t.Errorf("logged %v, want a reason with %q", warned, c.reason)
			}
			if len(state) > 10 && strings.Contains(log.String(), state[:10]) || strings.Contains(log.String(), "9007199254740992") {
				t.Error("the log has the state or the arguments")
			}
		})
	}
}

// TestStateBytes alters a state in every place.
func TestStateBytes(t *testing.T) {
	s, effects := newVault("vault", nil)
	call := round{name: "open"}
	first := play(t, s, call)
	c := serveLines(t, s)
	for i := range len(first.State) {
		altered := []byte(first.State)
		if altered[i] == 'A' {
			altered[i] = 'B'
		} else {
			altered[i] = 'A'
		}
		again := first
		again.State = string(altered)
		c.send(call.again(again, accepted("who", `{"name":"Ada"}`)).line(fmt.Sprint(i + 1)))
		c.expectError(fmt.Sprint(i+1), mcp.CodeInvalidParams)
	}
	if effects.Load() != 0 {
		t.Error("the handler went on")
	}
	play(t, s, call.again(first, accepted("who", `{"name":"Ada"}`))).says(t, "Ada")
}

func TestStateExpires(t *testing.T) {
	for _, c := range []struct {
		name string
		ttl  time.Duration
		want time.Duration
	}{
		{"MRTR-11 after ten minutes", 0, 10 * time.Minute},
		{"MRTR-11 after StateTTL", time.Hour, time.Hour},
	} {
		bubble(t, c.name, func(t *testing.T) {
			log := new(logBook)
			s, _ := newVault("vault", &mcp.ServerOptions{StateTTL: c.ttl, Logger: log.logger()})
			call := round{name: "open"}
			first := play(t, s, call)
			time.Sleep(c.want - time.Millisecond)
			second := play(t, s, call.again(first, `{}`))
			second.asks(t, "who")
			time.Sleep(time.Millisecond)
			play(t, s, call.again(first, accepted("who", `{"name":"Ada"}`))).faults(t, mcp.CodeInvalidParams, "requestState")
			if !strings.Contains(log.String(), "expired") {
				t.Errorf("logged %s", log)
			}
			play(t, s, call.again(second, accepted("who", `{"name":"Ada"}`))).says(t, "Ada") // its time began with its round
		})
	}
}

func TestSpend(t *testing.T) {
	type use struct {
		id    string
		until time.Duration
	}
	var mu sync.Mutex
	var uses []use
	var fail error
	log := new(logBook)
	s, effects := newVault("vault", &mcp.ServerOptions{
		Logger: log.logger(),
		Spend: func(_ context.Context, id string, until time.Time) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			first := !slices.ContainsFunc(uses, func(u use) bool { return u.id == id })
			uses = append(uses, use{id, time.Until(until).Round(time.Minute)})
			return first, fail
		},
	})
	call := round{name: "open"}
	first := play(t, s, call)
	if len(uses) > 0 {
		t.Error("a first round spends something")
	}
	t.Run("an answer that is none spends nothing", func(t *testing.T) {
		play(t, s, call.again(first, `{"who":5}`)).faults(t, mcp.CodeInvalidParams, "who")
		play(t, s, call.again(first, `5`)).faults(t, mcp.CodeInvalidParams, "inputResponses")
		if len(uses) > 0 {
			t.Error("spent")
		}
	})
	second := play(t, s, call.again(first, `{}`))
	second.asks(t, "who")
	play(t, s, call.again(second, accepted("who", `{"name":"Ada"}`))).says(t, "Ada")
	t.Run("MRTR-12 a state is good for one use", func(t *testing.T) {
		for _, res := range []roundResult{first, second} {
			play(t, s, call.again(res, accepted("who", `{"name":"Ada"}`))).faults(t, mcp.CodeInvalidParams, "requestState")
		}
		if effects.Load() != 1 || !strings.Contains(log.String(), "spent before") {
			t.Errorf("done %d times; logged %s", effects.Load(), log)
		}
	})
	t.Run("each state has an id of its own, and an end", func(t *testing.T) {
		if len(uses) != 4 || uses[0].id == uses[1].id || uses[0].id == "" || uses[0].until != 10*time.Minute {
			t.Errorf("spent %v", uses)
		}
	})
	t.Run("a store that fails fails the request, with the reason in the log", func(t *testing.T) {
		fail = errors.New("the store is down")
		res := play(t, s, call.again(play(t, s, call), accepted("who", `{"name":"Ada"}`)))
		res.fails(t, "reference")
		if effects.Load() != 1 || strings.Contains(res.text(), "store") || !strings.Contains(log.String(), "the store is down") {
			t.Errorf("got %s; logged %s", res, log)
		}
	})
	t.Run("a store that panics is no end", func(t *testing.T) {
		s, effects := newVault("vault", &mcp.ServerOptions{Spend: func(context.Context, string, time.Time) (bool, error) { panic("oh") }})
		play(t, s, call.again(play(t, s, call), accepted("who", `{"name":"Ada"}`))).fails(t, "internal error")
		if effects.Load() != 0 {
			t.Error("the handler went on")
		}
	})
}

func TestReplayWithoutSpend(t *testing.T) {
	s, effects := newVault("vault", nil)
	call := round{name: "open"}
	first := play(t, s, call)
	for range 2 {
		play(t, s, call.again(first, accepted("who", `{"name":"Ada"}`))).says(t, "Ada")
	}
	if effects.Load() != 2 {
		t.Errorf("done %d times", effects.Load())
	}
}

func TestStateKeys(t *testing.T) {
	other := []byte(strings.Repeat("o", 32))
	call := round{name: "open"}
	server := func(keys ...[]byte) *mcp.Server {
		s, _ := newVault("vault", &mcp.ServerOptions{StateKeys: keys})
		return s
	}
	for _, c := range []struct {
		name   string
		before [][]byte
		after  [][]byte
		opens  bool
	}{
		{"the same key", [][]byte{stateKey}, [][]byte{stateKey}, true},
		{"a new key in front", [][]byte{stateKey}, [][]byte{other, stateKey}, true},
		{"the old key dropped", [][]byte{stateKey}, [][]byte{other}, false},
		{"a key that only some have yet", [][]byte{stateKey, other}, [][]byte{other, stateKey}, true},
		{"none: a random one for each server", nil, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := play(t, server(c.before...), call)
			res := play(t, server(c.after...), call.again(first, accepted("who", `{"name":"Ada"}`)))
			if c.opens {
				res.says(t, "Ada")
			} else {
				res.faults(t, mcp.CodeInvalidParams, "requestState")
			}
		})
	}
	t.Run("options that cannot be", func(t *testing.T) {
		for want, opts := range map[string]*mcp.ServerOptions{
			"option StateKeys: key 1 has 31 bytes": {StateKeys: [][]byte{stateKey, stateKey[1:]}},
			"option StateKeys: there are no keys":  {StateKeys: [][]byte{}},
			"option StateTTL: -1s is negative":     {StateTTL: -time.Second},
		} {
			if err := mcp.NewServer("s", "1", opts).Check(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Check: %v, want %q", err, want)
			}
		}
	})
	t.Run("over HTTP a server warns once that its key is its own", func(t *testing.T) {
		for keys, want := range map[string]int{"": 1, string(stateKey): 0} {
			log := new(logBook)
			opts := &mcp.ServerOptions{Logger: log.logger()}
			if keys != "" {
				opts.StateKeys = [][]byte{[]byte(keys)}
			}
			s, _ := newVault("vault", opts)
			for range 2 {
				playAs(t, s, nil, call).asks(t, "who")
			}
			if warned := log.records(t, slog.LevelWarn); len(warned) != want || want > 0 && !strings.Contains(fmt.Sprint(warned[0]["msg"]), "StateKeys") {
				t.Errorf("logged %v", warned)
			}
		}
	})
	t.Run("on a pipe it does not", func(t *testing.T) {
		log := new(logBook)
		s, _ := newVault("vault", &mcp.ServerOptions{Logger: log.logger()})
		play(t, s, call).asks(t, "who")
		if log.String() != "" {
			t.Errorf("logged %s", log)
		}
	})
}

func TestRoundLimits(t *testing.T) {
	t.Run("few", func(t *testing.T) {
		s, _ := newVault("vault", &mcp.ServerOptions{Limits: mcp.Limits{Rounds: 3}})
		call := round{name: "open"}
		t.Run("C104 ELI-25 a call is given up after Limits.Rounds", func(t *testing.T) {
			res := play(t, s, call)
			for range 2 {
				res.asks(t, "who")
				res = play(t, s, call.again(res, `{}`))
			}
			res.fails(t, "3 rounds")
		})
		t.Run("the last round can still be answered", func(t *testing.T) {
			res := play(t, s, call)
			res = play(t, s, call.again(res, `{}`))
			play(t, s, call.again(res, accepted("who", `{"name":"Ada"}`))).says(t, "Ada")
		})
	})
	t.Run("16 rounds without one", func(t *testing.T) {
		s, _ := newVault("vault", nil)
		call := round{name: "open"}
		res := play(t, s, call)
		for range 15 {
			res.asks(t, "who")
			res = play(t, s, call.again(res, `{}`))
		}
		res.fails(t, "16 rounds")
	})
	t.Run("what is kept is bounded", func(t *testing.T) {
		log := new(logBook)
		s := mcp.NewServer("big", "1", &mcp.ServerOptions{Logger: log.logger(), Limits: mcp.Limits{State: 4 << 10}})
		mcp.AddTool(s, "hoard", "Keep size bytes", func(ctx context.Context, a countArgs) (string, error) {
			if _, err := mcp.Step(ctx, "hoard", func(context.Context) (string, error) { return strings.Repeat("x", a.Count), nil }); err != nil {
				return "", err
			}
			_, err := mcp.Confirm(ctx, "sure", "Sure?")
			return "", err
		})
		play(t, s, round{name: "hoard", args: `{"count":2000}`}).asks(t, "sure")
		play(t, s, round{name: "hoard", args: `{"count":4000}`}).fails(t, "4096 bytes")
		if !strings.Contains(log.String(), "Limits.State") || !strings.Contains(log.String(), "hoard") {
			t.Errorf("logged %s", log)
		}
	})
}

// FuzzState presents whatever comes as the state of a call.
func FuzzState(f *testing.F) {
	s, effects := newVault("vault", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}})
	call := round{name: "open"}
	first := play(f, s, call)
	other, _ := newVault("bank", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}})
	f.Add(first.State+"A", "Ada")
	f.Add(first.State[:len(first.State)-4], "")
	f.Add(play(f, s, round{name: "shut"}).State, "Ada") // of another tool
	f.Add(play(f, other, call).State, "Ada")            // of another server
	f.Add("", "")
	f.Add("eyJyb3VuZCI6Mn0", "\x00\xff")
	f.Fuzz(func(t *testing.T, state, name string) {
		play(t, s, round{name: "open", answers: accepted("who", `{"name":`+quoted(name)+`}`), state: &state}).
			faults(t, mcp.CodeInvalidParams, "requestState")
		if effects.Load() != 0 {
			t.Fatal("the handler went on")
		}
	})
}
