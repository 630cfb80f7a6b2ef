package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// hints are the caching hints in the result that an answer holds, "" for none.
func hints(t testing.TB, answer string) string {
	t.Helper()
	r := resultIn(t, answer)
	if r["ttlMs"] == nil && r["cacheScope"] == nil {
		return ""
	}
	return string(r["ttlMs"]) + " " + strings.Trim(string(r["cacheScope"]), `"`)
}

// oneOfEach is a server with one of everything.
func oneOfEach(opts *mcp.ServerOptions) *mcp.Server {
	s := mcp.NewServer("s", "1", opts)
	mcp.AddTool(s, "t", "", returning[struct{}](""))
	mcp.AddPrompt(s, "p", "", returning[idArgs](""))
	mcp.AddText(s, "r://x", "x", "", "")
	mcp.AddTemplate(s, "t://{id}", "t", returning[idArgs](""))
	mcp.AddText(s, "r://own", "own", "", "").Cache(mcp.Cache{TTL: 90 * time.Second, Public: true})
	mcp.AddText(s, "r://never", "never", "", "").Cache(mcp.Cache{})
	return s
}

func TestCachingOfAll(t *testing.T) {
	t.Parallel()
	cacheable := map[string]string{
		"server/discover": modernRequest("1", "server/discover"), "tools/list": modernRequest("1", "tools/list"), "prompts/list": modernRequest("1", "prompts/list"),
		"resources/list": modernRequest("1", "resources/list"), "resources/templates/list": modernRequest("1", "resources/templates/list"), "resources/read": readRequest("1", "r://x"),
	}
	for _, tt := range []struct {
		name string
		opts *mcp.ServerOptions
		want func(method string) string
	}{
		{"by default", nil, func(string) string { return "0 private" }},
		{"by the server", &mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Minute, Public: true}}, func(string) string { return "60000 public" }},
		{"by the method", &mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Minute}, ListCache: map[string]mcp.Cache{
			"server/discover": {TTL: 1 * time.Millisecond}, "tools/list": {TTL: 2 * time.Millisecond}, "prompts/list": {TTL: 3 * time.Millisecond}, "resources/list": {TTL: 4 * time.Millisecond},
			"resources/templates/list": {TTL: 5 * time.Millisecond}, "resources/read": {TTL: 6 * time.Millisecond, Public: true},
		}}, func(method string) string {
			return map[string]string{
				"server/discover": "1 private", "tools/list": "2 private", "prompts/list": "3 private", "resources/list": "4 private", "resources/templates/list": "5 private", "resources/read": "6 public",
			}[method]
		}},
	} {
		s := oneOfEach(tt.opts)
		for method, line := range cacheable {
			t.Run("CCH-01 CCH-02 M27 P5 "+tt.name+" "+method, func(t *testing.T) {
				t.Parallel()
				if got := hints(t, ask(t, s, line)); got != tt.want(method) {
					t.Errorf("got %q, want %q", got, tt.want(method))
				}
			})
		}
	}
	s := oneOfEach(&mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Minute}, ListCache: map[string]mcp.Cache{"resources/read": {TTL: time.Hour}}})
	for uri, want := range map[string]string{"r://own": "90000 public", "r://never": "0 private", "r://x": "3600000 private", "t://1": "3600000 private"} {
		t.Run("CCH-01 M27 of one resource: "+uri, func(t *testing.T) {
			t.Parallel()
			if got := hints(t, ask(t, s, readRequest("1", uri))); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	t.Run("CCH-03 C58 calls, prompts and completions have none", func(t *testing.T) {
		t.Parallel()
		for _, line := range []string{modernCall("1", "t", "{}"), getPrompt("1", "p", `{"id":"1"}`), completeRequest(promptRef, "id", "")} {
			if got := hints(t, ask(t, s, line)); got != "" {
				t.Errorf("%s has %s", line, got)
			}
		}
	})
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run("CCH-01 C58 P13 what 2026-07-28 puts into results is not in those of "+version, func(t *testing.T) {
			t.Parallel()
			s := oneOfEach(&mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Minute, Public: true}})
			for method, params := range map[string]string{
				"tools/list": "", "prompts/list": "", "resources/list": "", "resources/templates/list": "", "tools/call": callParams("t", "{}"),
				"resources/read": `"uri":"r://own"`, "prompts/get": callParams("p", `{"id":"1"}`), "completion/complete": `"ref":` + promptRef + `,"argument":{"name":"id","value":""}`,
			} {
				result := resultIn(t, askLegacy(t, s, version, plainRequest("1", method, params)))
				for _, member := range []string{"resultType", "ttlMs", "cacheScope", "_meta"} {
					if result[member] != nil {
						t.Errorf("%s: %s is %s", method, member, result[member])
					}
				}
			}
		})
	}
	t.Run("CCH-02 a negative time is a problem", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddText(s, "r://x", "x", "", "").Cache(mcp.Cache{TTL: -time.Second})
		expectProblem(t, s, "the cache TTL -1s is negative")
	})
	t.Run("CCH-03 a fault has none", func(t *testing.T) {
		t.Parallel()
		if answer := ask(t, s, readRequest("1", "r://nosuch")); strings.Contains(answer, "ttlMs") {
			t.Errorf("%s", answer)
		}
	})
}

// TestAskingFromPromptsAndReads shows that prompts and reads may ask as tools do.
func TestAskingFromPromptsAndReads(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}, Cache: mcp.Cache{TTL: time.Minute}})
	name := func(ctx context.Context) (string, error) {
		f, err := mcp.Elicit[nameForm](ctx, "name", "Who?")
		return "for " + f.Name, err
	}
	mcp.AddPrompt(s, "p", "", func(ctx context.Context, _ idArgs) (string, error) { return name(ctx) })
	mcp.AddResource(s, "r://x", "x", name).Cache(mcp.Cache{TTL: time.Hour, Public: true})
	mcp.AddTemplate(s, "t://{id}", "t", func(ctx context.Context, _ idArgs) (string, error) { return name(ctx) })
	rounds := map[string]round{
		"CCH-03 PRM-09 P8 a prompt":   {method: "prompts/get", name: "p", args: `{"id":"1"}`},
		"CCH-03 RES-15 a resource":    {method: "resources/read", name: "r://x"},
		"CCH-03 RES-15 of a template": {method: "resources/read", name: "t://1"},
	}
	for what, first := range rounds {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			asked := play(t, s, first)
			asked.asks(t, "name")
			if asked.members["ttlMs"] != nil || asked.members["cacheScope"] != nil {
				t.Errorf("hints: %s", asked)
			}
			done := play(t, s, first.again(asked, accepted("name", `{"name":"Ada"}`)))
			if done.fault != nil || done.Type != "complete" || !strings.Contains(done.String(), "for Ada") {
				t.Fatalf("%s", done)
			}
			want := "" // a prompt has no hints
			if first.method == "resources/read" {
				want = `"cacheScope":"private"`
				if string(done.members["ttlMs"]) != "0" {
					t.Errorf("CCH-07 M27 %s", done)
				}
			}
			if !strings.Contains(done.String(), want) || want == "" && done.members["ttlMs"] != nil {
				t.Errorf("CCH-01 CCH-07 M27 %s", done)
			}
		})
		t.Run(what+", declined", func(t *testing.T) {
			t.Parallel()
			asked := play(t, s, first)
			play(t, s, first.again(asked, acted("name", "decline"))).faults(t, mcp.CodeInternalError, "declined")
		})
		t.Run(what+", of a client that cannot be asked", func(t *testing.T) {
			t.Parallel()
			cannot := first
			cannot.caps = "{}"
			play(t, s, cannot).faults(t, mcp.CodeMissingCapability, "")
		})
		t.Run(what+", with the state of another", func(t *testing.T) {
			t.Parallel()
			for other, r := range rounds {
				if other == what {
					continue
				}
				asked := play(t, s, r)
				play(t, s, first.again(asked, accepted("name", `{"name":"Ada"}`))).faults(t, mcp.CodeInvalidParams, "requestState")
			}
		})
	}
	for what, r := range map[string]round{
		"PRM-09 a prompt": {method: "prompts/get", name: "p", args: `{"id":"1"}`}, "RES-15 a resource": {method: "resources/read", name: "r://x"},
	} {
		t.Run(what+" that asks nothing refuses a state that is not ours", func(t *testing.T) {
			t.Parallel()
			r.state = ptr("made up")
			play(t, oneOfEach(nil), r).faults(t, mcp.CodeInvalidParams, "requestState")
		})
	}
	t.Run("CCH-03 CCH-07 answers that nobody asked for make a read uncacheable too", func(t *testing.T) {
		t.Parallel()
		s := oneOfEach(nil)
		line := modernRequest("1", "resources/read", `"uri":"r://own"`, `"inputResponses":{}`)
		if got := hints(t, ask(t, s, line)); got != "0 private" {
			t.Errorf("%q", got)
		}
	})
	t.Run("PRM-09 a prompt's arguments are part of what is asked", func(t *testing.T) {
		t.Parallel()
		asked := play(t, s, rounds["CCH-03 PRM-09 P8 a prompt"])
		other := rounds["CCH-03 PRM-09 P8 a prompt"].again(asked, accepted("name", `{"name":"Ada"}`))
		other.args = `{"id":"2"}`
		play(t, s, other).faults(t, mcp.CodeInvalidParams, "requestState")
	})
	t.Run("RES-14 CCH-05 P8 access is checked in each round", func(t *testing.T) {
		t.Parallel()
		var rounds []string
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}})
		mcp.AddResource(s, "r://x", "x", name).Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				rounds = append(rounds, fmt.Sprint(req.Info().URI, " ", req.Round()))
				return next(ctx, req)
			}
		})
		first := round{method: "resources/read", name: "r://x"}
		play(t, s, first.again(play(t, s, first), accepted("name", `{"name":"Ada"}`)))
		if raw, _ := json.Marshal(rounds); string(raw) != `["r://x 1","r://x 2"]` {
			t.Errorf("%s", raw)
		}
	})
}
