package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// registrationErrors returns the single problems that Check joined.
func registrationErrors(err error) []*mcp.RegistrationError {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var all []*mcp.RegistrationError
	for _, e := range joined.Unwrap() {
		var problem *mcp.RegistrationError
		if errors.As(e, &problem) {
			all = append(all, problem)
		}
	}
	return all
}

// callSite matches the file and line of a call in a test.
var callSite = regexp.MustCompile(`[^\s]*/([a-z_]+_test\.go):\d+`)

// baseNames leaves the base names of call sites in a text.
func baseNames(text string) string { return callSite.ReplaceAllString(text, "$1") }

func passThrough(next mcp.Handler) mcp.Handler { return next }

// panicsInJSON cannot be encoded: its method panics.
type panicsInJSON struct{}

func (panicsInJSON) MarshalJSON() ([]byte, error) { panic("no JSON of me, sesame") }

func TestCheckShowsEveryProblem(t *testing.T) {
	t.Parallel()
	type inner struct {
		Rank int `json:"rank" jsonschema:"minimum=x"`
	}
	type broken struct {
		When  chan int `json:"when"`
		Inner inner    `json:"inner"`
	}
	s := mcp.NewServer("", "1", &mcp.ServerOptions{
		Versions:  []string{"2026-07-28", "1999-01-01"},
		Cache:     mcp.Cache{TTL: -1},
		ListCache: map[string]mcp.Cache{"tools/lst": {}, "tools/list": {TTL: -5}},
		Icons:     []mcp.Icon{{Src: "ftp://example.com/i.png"}},
	})
	s.Use(nil)
	scope := s.Scope("sc")
	scope.Use(passThrough, nil)
	mcp.AddTool(s, "", "", returning[struct{}](""))
	mcp.AddTool[broken, string](s, "broken", "", nil)
	mcp.AddTool(s, "result", "", returning[struct{}](func() {}))
	mcp.AddTool(scope, "twice", "", returning[struct{}]("")).Title("first")
	mcp.AddTool(s, "sc_twice", "", returning[struct{}]("")).Title("second")
	mcp.AddTool(s, "icons", "", returning[struct{}]("")).Icon("http://example.com/i.png").Icon("https://example.com/i.png", "large")
	mcp.AddTool(s, "meta", "", returning[struct{}]("")).Meta("dev.mcp/x", 1).Meta("a//b", 1).Meta("k", func() {}).Meta("p", panicsInJSON{}).Use(nil)
	err := s.Check()

	// One line a problem, with all that a user needs to find it.
	const want = `registration_test.go: server: name and version must not be empty
registration_test.go: server: option Versions: revision "1999-01-01" is unknown; LatestVersion is 2026-07-28
registration_test.go: server: option Cache: the TTL -1ns is negative; 0 means that nothing is kept
registration_test.go: server: option ListCache: the TTL -5ns of "tools/list" is negative; 0 means that nothing is kept
registration_test.go: server: option ListCache: results of "tools/lst" have no caching hints
registration_test.go: server: option Icons: icon "ftp://example.com/i.png": it is neither an https: URI nor a data: URI
registration_test.go: server middleware: middleware 1 of the 1 given to Use is nil
registration_test.go: middleware of scope "sc": middleware 2 of the 2 given to Use is nil
registration_test.go: tool "meta": middleware 1 of the 1 given to Use is nil
registration_test.go: tool "": the name is empty
registration_test.go: tool "broken": type mcp_test.broken: field broken.When: tag ` + "`json:\"when\"`" + `: chan int has no JSON form; leave the field out with ` + "`json:\"-\"`" + `
registration_test.go: tool "broken": type mcp_test.broken: field broken.Inner.Rank: tag ` + "`jsonschema:minimum=x`" + `: is no number
registration_test.go: tool "broken": the handler is nil
registration_test.go: tool "result": type func(): func() has no JSON form; leave the field out with ` + "`json:\"-\"`" + `
registration_test.go: tool "sc_twice": the name is already taken by the tool registered at registration_test.go
registration_test.go: tool "icons": icon "http://example.com/i.png": it is neither an https: URI nor a data: URI
registration_test.go: tool "icons": icon "https://example.com/i.png": the size "large" is neither "any" nor like "48x48"
registration_test.go: tool "meta": _meta key "dev.mcp/x": the prefix "dev.mcp" is reserved for the protocol; use a domain name of your own, reversed
registration_test.go: tool "meta": _meta key "a//b": more than one slash
registration_test.go: tool "meta": _meta key "k": func() has no JSON form
registration_test.go: tool "meta": _meta key "p": panic: no JSON of me, sesame`

	t.Run("A1 A7 CCH-02 META-03 every problem of every kind, and nothing panicked", func(t *testing.T) {
		if diff := cmp.Diff(want, baseNames(fmt.Sprint(err))); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	})
	t.Run("each is a RegistrationError with its parts", func(t *testing.T) {
		problems := registrationErrors(err)
		if len(problems) != strings.Count(want, "\n")+1 {
			t.Fatalf("%d problems", len(problems))
		}
		rank := problems[11]
		if rank.Feature != `tool "broken"` || rank.Type != "mcp_test.broken" || rank.Field != "broken.Inner.Rank" || !strings.Contains(rank.Tag, "minimum=x") || rank.Unwrap() == nil {
			t.Errorf("%#v", rank)
		}
		if !callSite.MatchString(rank.Caller) {
			t.Errorf("caller %q", rank.Caller)
		}
	})
	t.Run("checking again says the same", func(t *testing.T) {
		if again := s.Check(); again.Error() != err.Error() {
			t.Errorf("again: %v", again)
		}
	})
	t.Run("serving fails with the same error", func(t *testing.T) {
		_, dialled := mcp.Dial(t.Context(), mcp.InMemory(s), nil)
		if dialled == nil || !strings.Contains(dialled.Error(), err.Error()) {
			t.Errorf("Dial: %v", dialled)
		}
		c := mcp.NewConn(strings.NewReader(modernRequest("1", "server/discover")), &strings.Builder{})
		if served := s.Serve(t.Context(), c); served == nil || served.Error() != err.Error() {
			t.Errorf("Serve: %v", served)
		}
	})
}

func TestDuplicateNames(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "x", "", returning[struct{}](""))
	mcp.AddTool(s, "x", "", returning[addArgs](1)).Disabled()
	problems := registrationErrors(s.Check())
	t.Run("A7 NAME-04 the problem names the tool and both call sites", func(t *testing.T) {
		if len(problems) != 1 {
			t.Fatalf("problems: %v", problems)
		}
		lines := regexp.MustCompile(`registration_test\.go:\d+`).FindAllString(problems[0].Error(), -1)
		if len(lines) != 2 || lines[0] == lines[1] || !strings.Contains(problems[0].Error(), `tool "x"`) {
			t.Errorf("problem: %v", problems[0])
		}
	})
}

func TestIconsChecked(t *testing.T) {
	t.Parallel()
	data := func(kind string, n int) string { return "data:" + kind + ";base64," + strings.Repeat("AAAA", n) }
	for _, tt := range []struct {
		icon mcp.Icon
		want string // part of the problem, "" for none
	}{
		{mcp.Icon{Src: "https://example.com/a.png"}, ""},
		{mcp.Icon{Src: "https://example.com/a.png", Sizes: []string{"48x48", "any"}, Theme: "dark"}, ""},
		{mcp.Icon{Src: data("image/png", 1), Theme: "light"}, ""},
		{mcp.Icon{Src: data("image/jpeg", 1)}, ""},
		{mcp.Icon{Src: data("image/webp", 1)}, ""},
		{mcp.Icon{Src: data("image/svg+xml", 1)}, ""},
		{mcp.Icon{Src: data("image/png", 64<<10/3)}, ""},
		{mcp.Icon{Src: data("image/png", 64<<10/3+1)}, "more than 65536"},
		{mcp.Icon{Src: data("image/gif", 1)}, "must begin with data:image/png;base64,"},
		{mcp.Icon{Src: "data:image/png,AAAA"}, "must begin with"},
		{mcp.Icon{Src: "data:image/png;base64,AAA"}, "not standard base64"},
		{mcp.Icon{Src: "data:text/html;base64,AAAA"}, "must begin with"},
		{mcp.Icon{Src: "http://example.com/a.png"}, "neither an https: URI"},
		{mcp.Icon{Src: "https:///a.png"}, "neither an https: URI"},
		{mcp.Icon{Src: "javascript:alert(1)"}, "neither an https: URI"},
		{mcp.Icon{Src: "file:///etc/passwd"}, "neither an https: URI"},
		{mcp.Icon{Src: ""}, "neither an https: URI"},
		{mcp.Icon{Src: "https://e.com", Sizes: []string{"48"}}, `the size "48"`},
		{mcp.Icon{Src: "https://e.com", Sizes: []string{"x48"}}, `the size "x48"`},
		{mcp.Icon{Src: "https://e.com", Theme: "blue"}, `the theme "blue"`},
	} {
		t.Run(fmt.Sprintf("B29 ICON-01 %.40s %v %s", tt.icon.Src, tt.icon.Sizes, tt.icon.Theme), func(t *testing.T) {
			t.Parallel()
			err := mcp.NewServer("s", "1", &mcp.ServerOptions{Icons: []mcp.Icon{tt.icon}}).Check()
			if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check: %v", err)
			}
		})
	}
}

func TestMetaKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, key string
		ok      bool
	}{
		{"META-01", "a/x", true}, {"META-01", "com.ex-1/x", true}, {"META-01", "a1.b-c.d/x", true},
		{"META-01", "1a/x", false}, {"META-01", "a-/x", false}, {"META-01", "-a/x", false}, {"META-01", "a..b/x", false},
		{"META-01", "/x", false}, {"META-01", "a/b/c", false}, {"META-01", "a_b/x", false}, {"META-01", "ä/x", false},
		{"META-02", "com.example/", true}, {"META-02", "x", true}, {"META-02", "a.b_c-d9", true}, {"META-02", "9", true},
		{"META-02", "", false}, {"META-02", "_x", false}, {"META-02", "x.", false}, {"META-02", "com.example/_x", false},
		{"META-02", "com.example/x-", false}, {"META-02", "com.example/a b", false},
		{"META-03", "dev.mcp/x", false}, {"META-03", "org.modelcontextprotocol.api/x", false}, {"META-03", "io.modelcontextprotocol/x", false},
		{"META-03", "com.example.mcp/x", true}, {"META-03", "mcp.example/x", true},
		{"META-04", "com.example.tools/x", true}, {"META-14", "traceparent", true},
	} {
		t.Run(fmt.Sprintf("%s %q on a tool, %v", tt.id, tt.key, tt.ok), func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddTool(s, "t", "", returning[struct{}]("")).Meta(tt.key, 1)
			if err := s.Check(); (err == nil) != tt.ok {
				t.Errorf("Check: %v", err)
			}
		})
		t.Run(fmt.Sprintf("%s %q on a call, %v", tt.id, tt.key, tt.ok), func(t *testing.T) {
			t.Parallel()
			c := dialMemory(t, withTool(""), nil)
			if _, err := c.CallTool(t.Context(), "t", nil, mcp.WithMeta(tt.key, 1)); (err == nil) != tt.ok {
				t.Errorf("CallTool: %v", err)
			}
		})
	}
	for what, v := range map[string]any{"no JSON": func() {}, "a panic": panicsInJSON{}} {
		t.Run("META-05 a value that is "+what+" fails the call on this side", func(t *testing.T) {
			t.Parallel()
			c := dialMemory(t, withTool(""), nil)
			_, err := c.CallTool(t.Context(), "t", nil, mcp.WithMeta("k", v))
			var remote *mcp.Error
			if err == nil || errors.As(err, &remote) {
				t.Errorf("CallTool: %v", err)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	type left struct{ Name string }
	type right struct{ Name string }
	type ambiguous struct {
		left
		right
		Kept int
	}
	var book logBook
	s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: book.logger()})
	tool := mcp.AddTool(s, "odd name", "", returning[ambiguous](""))
	check := func(t *testing.T) []map[string]any {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		return book.records(t, slog.LevelWarn)
	}
	t.Run("B24 A55 logged at Warn, naming feature, type, field and caller", func(t *testing.T) {
		warnings := check(t)
		if len(warnings) != 2 {
			t.Fatalf("warnings: %v", warnings)
		}
		fields := warnings[0]
		if fields["feature"] != `tool "odd name"` || fields["type"] != "mcp_test.ambiguous" || !strings.Contains(fmt.Sprint(fields["field"]), "Name") || !callSite.MatchString(fields["caller"].(string)) {
			t.Errorf("first: %v", fields)
		}
		if !strings.Contains(warnings[1]["msg"].(string), "hosts refuse") {
			t.Errorf("second: %v", warnings[1])
		}
	})
	t.Run("B24 only once", func(t *testing.T) {
		if warnings := check(t); len(warnings) != 2 {
			t.Errorf("warnings: %v", warnings)
		}
	})
	t.Run("A55 what is new since is logged too", func(t *testing.T) {
		tool.ReadOnly().Destructive()
		warnings := check(t)
		if len(warnings) != 3 || !strings.Contains(warnings[2]["msg"].(string), "both read-only and destructive") {
			t.Errorf("warnings: %v", warnings)
		}
	})
	t.Run("A55 B24 it serves nonetheless", func(t *testing.T) {
		if r := mustCall(t, dialMemory(t, s, nil), "odd name", map[string]any{"Kept": 1}); r.IsError {
			t.Error(textOf(r))
		}
		if warnings := book.records(t, slog.LevelWarn); len(warnings) != 3 {
			t.Errorf("serving logged again: %v", warnings)
		}
	})
	t.Run("a log handler may use the server", func(t *testing.T) {
		handler := &callbackHandler{Handler: slog.DiscardHandler}
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: slog.New(handler)})
		calls := 0
		handler.call = func() { calls++; _ = s.Check() }
		mcp.AddTool(s, "a b", "", returning[struct{}](""))
		if err := s.Check(); err != nil || calls != 1 {
			t.Errorf("Check: %v after %d calls", err, calls)
		}
	})
}

// TestHostWarnings shows what is said of schemas that some hosts refuse.
func TestHostWarnings(t *testing.T) {
	t.Parallel()
	hard := mcp.RawSchema(objectSchema(`"a":{"type":["string","null"]}`, `"anyOf":[{"required":["a"]},{"required":["b"]}]`))
	register := func(full bool) []map[string]any {
		var book logBook
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: book.logger(), FullSchemas: full})
		raw := func(context.Context, json.RawMessage) (*mcp.Result, error) { return nil, nil }
		mcp.AddRawTool(s, "raw", "", hard, raw)
		mcp.AddRawTool(s, "verbatim", "", hard, raw).ApplicationValidated()
		mcp.AddRawTool(s, "out", "", mcp.Object(), raw).OutputSchema(mcp.RawSchema(`{"type":"object"}`))
		mcp.AddRawTool(s, "safe", "", mcp.RawSchema(objectSchema(`"a":{"type":"string"}`)), raw)
		mcp.AddRawTool(s, "built", "", mcp.Object().Number("n", "").Keyword("exclusiveMinimum", 0).Integer("i", "").Enum(1, 2), raw)
		mcp.AddTool(s, "typed", "", func(_ context.Context, a struct {
			N int `jsonschema:"multipleOf=3,enum=3,enum=6"`
		}) (int, error) {
			return a.N, nil
		})
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		return book.records(t, slog.LevelWarn)
	}
	t.Run("keywords and forms that hosts refuse are warned about, with their place", func(t *testing.T) {
		var got []string
		for _, w := range register(false) {
			got = append(got, fmt.Sprint(w["feature"], " ", w["msg"]))
			if !callSite.MatchString(fmt.Sprint(w["caller"])) {
				t.Errorf("no place: %v", w)
			}
		}
		refused := `mcp: input schema: some hosts refuse a tool for a list of types at #/properties/a, "anyOf" at #`
		for i, want := range []string{`tool "raw" ` + refused, `tool "verbatim" ` + refused, `tool "out" mcp: output schema: some hosts refuse a tool for no "properties" at #`,
			`tool "built" mcp: input schema: some hosts refuse a tool for "exclusiveMinimum" at #/properties/n, an "enum" of other values than strings at #/properties/i`} {
			if len(got) != 4 || !strings.HasPrefix(got[i], want) {
				t.Fatalf("warnings:\n%s\nwant one that begins with %s", strings.Join(got, "\n"), want)
			}
		}
	})
	t.Run("not for those who say that their hosts take all", func(t *testing.T) {
		if got := register(true); len(got) != 0 {
			t.Errorf("warnings: %v", got)
		}
	})
}

// callbackHandler is a log handler that calls back.
type callbackHandler struct {
	slog.Handler
	call func()
}

func (h *callbackHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *callbackHandler) Handle(context.Context, slog.Record) error {
	h.call()
	return nil
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	scope := s.Scope("sc")
	tool := mcp.AddTool(s, "t", "", returning[struct{}](""))
	t.Run("A16 Check does not freeze", func(t *testing.T) {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		tool.Title("Tee")
		s.Use(passThrough)
		mcp.AddTool(scope, "u", "", returning[struct{}](""))
	})
	c := dialMemory(t, s, nil)
	before := mustList(t, c)

	for name, change := range map[string]struct {
		feature string
		do      func()
	}{
		"AddTool":      {`tool "late"`, func() { mcp.AddTool(s, "late", "", returning[struct{}]("")) }},
		"AddTool in":   {`tool "sc_late"`, func() { mcp.AddTool(scope, "late", "", returning[struct{}]("")) }},
		"bad AddTool":  {`tool ""`, func() { mcp.AddTool[int, string](s, "", "", nil) }},
		"Title":        {`tool "t"`, func() { tool.Title("x") }},
		"ReadOnly":     {`tool "t"`, func() { tool.ReadOnly() }},
		"Destructive":  {`tool "t"`, func() { tool.Destructive() }},
		"Idempotent":   {`tool "t"`, func() { tool.Idempotent() }},
		"OpenWorld":    {`tool "t"`, func() { tool.OpenWorld() }},
		"Icon":         {`tool "t"`, func() { tool.Icon("https://example.com") }},
		"Hidden":       {`tool "t"`, func() { tool.Hidden() }},
		"Disabled":     {`tool "t"`, func() { tool.Disabled() }},
		"Strict":       {`tool "t"`, func() { tool.Strict() }},
		"Meta":         {`tool "t"`, func() { tool.Meta("k", 1) }},
		"bad Meta":     {`tool "t"`, func() { tool.Meta("//", 1) }},
		"Tool.Use":     {`tool "t"`, func() { tool.Use(passThrough) }},
		"Server.Use":   {"server middleware", func() { s.Use(passThrough) }},
		"Scope.Use":    {`middleware of scope "sc"`, func() { scope.Use(passThrough) }},
		"nested Scope": {`middleware of scope "n"`, func() { scope.Scope("n").Use(passThrough) }},
	} {
		t.Run("A16 A17 "+name, func(t *testing.T) {
			defer func() {
				frozen, ok := recover().(*mcp.FrozenError)
				if !ok || frozen.Feature != change.feature || !strings.Contains(frozen.Caller, "registration_test.go:") {
					t.Errorf("panic with %#v", frozen)
				}
				if frozen != nil && !strings.Contains(frozen.Error(), change.feature+" cannot be changed") {
					t.Errorf("text: %v", frozen)
				}
			}()
			change.do()
		})
	}
	t.Run("A17 the list is unchanged", func(t *testing.T) {
		if diff := cmp.Diff(before, mustList(t, c)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	})
	t.Run("A16 a server with problems stays open to mending", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		tool := mcp.AddTool(s, "t", "", returning[struct{}]("")).Icon("nonsense")
		if _, err := mcp.Dial(t.Context(), mcp.InMemory(s), nil); err == nil {
			t.Fatal("served a bad icon")
		}
		tool.Title("still open")
	})
}

// TestRegistrationRaces shows, under the race detector, that registration, checks and serving may overlap.
func TestRegistrationRaces(t *testing.T) {
	t.Parallel()
	t.Run("A16 checks and registrations at once", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		scope := s.Scope("sc")
		var group sync.WaitGroup
		for g := range 8 {
			group.Go(func() {
				tool := mcp.AddTool(scope, fmt.Sprintf("a%d", g), "", returning[addArgs](sumResult{}))
				tool.Title("x").Strict().Meta("k", g).Use(passThrough)
				scope.Use(passThrough)
				s.Use(passThrough)
				if err := s.Check(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := len(mustList(t, dialMemory(t, s, nil))); got != 8 {
			t.Errorf("%d tools", got)
		}
	})
	t.Run("A16 checks, lists and first connections at once", func(t *testing.T) {
		f := newFixture(nil)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				c, err := mcp.Dial(t.Context(), mcp.InMemory(f.Server), nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				for _, err := range c.Tools(t.Context()) {
					if err != nil {
						t.Error(err)
					}
				}
				if err := f.Check(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	})
}
