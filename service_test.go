package mcp_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// Library is a service: two of its methods are tools, of which one has parameters.
type Library struct {
	_ mcp.ToolTag `method:"Find" name:"find" desc:"Find books" tags:"readonly, category=books, shelf=7" params:"title=A part of the title;year=From this year on, inclusive\\; 0: any"`
	_ mcp.ToolTag `method:"Count" name:"count"`

	mu    sync.Mutex
	calls int
}

func (l *Library) Find(title string, year int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	return []string{fmt.Sprint(title, year)}
}

func (l *Library) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// Burn has no marker.
func (l *Library) Burn() string { return "never" }

// Door is a service under a prefix.
type Door struct {
	_ mcp.ScopeTag `scope:"door"`
	_ mcp.ToolTag  `method:"Login" name:"login" desc:"Open"`
}

func (*Door) Login() string { return "door" }

// Gate is another with a tool of the same name.
type Gate struct {
	_ mcp.ScopeTag `scope:"gate"`
	_ mcp.ToolTag  `method:"Login" name:"login"`
	_ mcp.ToolTag  `method:"Logout" name:"logout" params:"all"`
}

func (*Gate) Login() string { return "gate" }

func (*Gate) Logout(all bool) bool { return all }

// toolNames lists the names of the tools of s.
func toolNames(t testing.TB, s *mcp.Server) []string {
	t.Helper()
	var names []string
	for _, tool := range mustList(t, dialMemory(t, s, nil)) {
		names = append(names, tool.Name)
	}
	return names
}

func TestService(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	library := new(Library)
	handles := mcp.AddService(s, library)
	mcp.AddFunc(s, "extra", "", library.Burn)
	mcp.AddRawTool(s, "raw", "", mcp.Object(), echoRaw)
	handles[1].Title("How many")
	c := dialMemory(t, s, nil)
	tools := mustList(t, c)
	t.Run("B1 B8 B9 B19 marked methods are tools, beside tools of every other style; others are not", func(t *testing.T) {
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff([]string{"find", "count", "extra", "raw"}, names); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, name := range []string{"Burn", "burn", "Find"} {
			if e := faultIn(t, ask(t, s, modernCall("1", name, "{}"))); e.Code != mcp.CodeInvalidParams {
				t.Errorf("%s: %+v", name, e)
			}
		}
	})
	t.Run("B2 B3 B4 B5 the marker has name, description, tags and parameters", func(t *testing.T) {
		const want = `{"name":"find","description":"Find books","inputSchema":{"type":"object","properties":{` +
			`"title":{"type":"string","description":"A part of the title"},"year":{"type":"integer","description":"From this year on, inclusive; 0: any"}},"required":["title","year"]},` +
			`"outputSchema":{"type":"array","items":{"type":"string"}},"annotations":{"readOnlyHint":true},"_meta":{"io.github.typedmcp/category":"books"}}`
		listed := entries(t, ask(t, s, modernRequest("1", "tools/list")))
		if diff := cmp.Diff(want, listed[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if strings.Contains(listed[1], "description") {
			t.Errorf("an empty description: %s", listed[1])
		}
	})
	t.Run("B4 a parameter without a description has none in its schema", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddService(s, &Gate{})
		const want = `{"name":"gate_logout","inputSchema":{"type":"object","properties":{"all":{"type":"boolean"}},"required":["all"]},"outputSchema":{"type":"boolean"}}`
		if diff := cmp.Diff(want, entries(t, ask(t, s, modernRequest("1", "tools/list")))[1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("B2 the handles are those of the markers, in their order", func(t *testing.T) {
		if len(handles) != 2 || tools[1].Title != "How many" {
			t.Errorf("%d handles, title %q", len(handles), tools[1].Title)
		}
	})
	t.Run("B1 B16 M16 one long-lived value serves all calls", func(t *testing.T) {
		const workers, calls = 8, 20
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() {
				for i := range calls {
					got, err := mcp.Call[[]string](t.Context(), c, "find", map[string]any{"title": fmt.Sprint("t", w), "year": i})
					if err != nil || len(got) != 1 || got[0] != fmt.Sprint(fmt.Sprint("t", w), i) {
						t.Error(got, err)
					}
				}
			})
		}
		group.Wait()
		if got, err := mcp.Call[int](t.Context(), c, "count", nil); err != nil || got != workers*calls {
			t.Error(got, err)
		}
	})
}

func TestServiceScopes(t *testing.T) {
	t.Parallel()
	t.Run("B11 B20 B21 B22 several services, equal names under different scopes", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddService(s, &Door{})
		mcp.AddService(s, &Gate{})
		if diff := cmp.Diff([]string{"door_login", "gate_login", "gate_logout"}, toolNames(t, s)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		c := dialMemory(t, s, nil)
		for _, name := range []string{"door", "gate"} {
			if got := textOf(mustCall(t, c, name+"_login", nil)); got != name {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
	t.Run("B15 B23 in a scope, with another separator", func(t *testing.T) {
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{ScopeSeparator: "."})
		mcp.AddService(s.Scope("a").Scope("b"), &Gate{})
		if diff := cmp.Diff([]string{"a.b.gate.login", "a.b.gate.logout"}, toolNames(t, s)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("B15 middleware of the scope is around the tools of the service", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		var seen []string
		scope := s.Scope("a")
		scope.Use(recordTools(&seen))
		mcp.AddService(scope, &Door{})
		mustCall(t, dialMemory(t, s, nil), "a_door_login", nil)
		if !slices.Equal(seen, []string{"a_door_login"}) {
			t.Errorf("seen %q", seen)
		}
	})
	t.Run("B21 equal names in one scope", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddService(s, &Door{})
		mcp.AddService(s, &Door{})
		if err := fmt.Sprint(s.Check()); strings.Count(err, "the name is already taken") != 1 || !strings.Contains(err, `"door_login"`) {
			t.Error(err)
		}
	})
}

// Wrong services.
type (
	// Spoiled has one method that is good, and every mistake in the others.
	Spoiled struct {
		_ mcp.ToolTag  `method:"Good" name:"good"`
		_ mcp.ToolTag  `method:"Missing" name:"missing"`
		_ mcp.ToolTag  `method:"hidden" name:"hidden"`
		_ mcp.ToolTag  `method:"Two" name:"two" params:"a"`
		_ mcp.ToolTag  `name:"none"`
		_ mcp.ToolTag  `method:"Good" name:"typo" desciption:"A misspelt key"`
		_ mcp.ToolTag  `method:"Good" name:"tags" tags:"readonly=maybe"`
		_ mcp.ToolTag  `method:"Good" name:"good"`
		_ mcp.ScopeTag `prefix:"x"`
	}
	// Bare has no marker.
	Bare struct{ mcp.Tool }
)

func (*Spoiled) Good() string    { return "" }
func (*Spoiled) hidden()         {}
func (*Spoiled) Two(int, string) {}

func TestServiceRefused(t *testing.T) {
	t.Parallel()
	t.Run("B5 B10 B14 B17 every mistake is told", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		new(Spoiled).hidden()
		mcp.AddService(s, &Spoiled{})
		const at, bad = "service_test.go: ", "service_test.go: service: type *mcp_test.Spoiled: "
		want := []string{
			bad + "the marker ToolTag `name:\"none\"`: it needs the key \"method\"",
			bad + "the marker ToolTag `method:\"Good\" name:\"typo\" desciption:\"A misspelt key\"`: the key \"desciption\" is none of [\"method\" \"name\" \"desc\" \"tags\" \"params\"]",
			bad + "the marker ScopeTag `prefix:\"x\"`: the key \"prefix\" is none of [\"scope\"]",
			at + `tool "missing": method Missing of *mcp_test.Spoiled: there is no such method; methods must be exported`,
			at + `tool "hidden": method hidden of *mcp_test.Spoiled: there is no such method; methods must be exported`,
			at + `tool "two": func(int, string): parameter 2 besides the context (string) has no Param: each needs one, in order`,
			at + `tool "tags": tags "readonly=maybe": the value "maybe" of the key "readonly" is neither true nor false`,
			bad + `two markers name the tool "good"`,
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), baseNames(fmt.Sprint(s.Check()))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("B10 nothing of it was registered", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddService(s, &Spoiled{})
		before := len(registrationErrors(s.Check()))
		mcp.AddFunc(s, "good", "", func() {}) // would be taken
		if after := len(registrationErrors(s.Check())); after != before {
			t.Errorf("%d problems, then %d", before, after)
		}
	})
	for name, take := range map[string]func(*mcp.Server){
		"a function":   func(s *mcp.Server) { mcp.AddFunc(s, "gate_logout", "", func() {}) },
		"a raw tool":   func(s *mcp.Server) { mcp.AddRawTool(s, "gate_logout", "", mcp.Object(), echoRaw) },
		"a typed tool": func(s *mcp.Server) { mcp.AddTool(s, "gate_logout", "", returning[struct{}]("")) },
	} {
		t.Run("B10 B19 nothing is registered if a name is taken by "+name, func(t *testing.T) {
			s := mcp.NewServer("s", "1", nil)
			take(s)
			mcp.AddService(s, &Gate{})
			const want = `service_test.go: service: type *mcp_test.Gate: tool "gate_logout": the name is already taken by the tool registered at service_test.go`
			mcp.AddFunc(s, "gate_login", "", func() {}) // would be taken
			if diff := cmp.Diff(want, baseNames(fmt.Sprint(s.Check()))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for what, svc := range map[string]any{"nil": nil, "a value": Door{}, "a nil pointer": (*Door)(nil), "a pointer to no struct": new(int)} {
		t.Run("B10 "+what, func(t *testing.T) {
			s := mcp.NewServer("s", "1", nil)
			tools := mcp.AddService(s, svc)
			want := fmt.Sprintf("service_test.go: service: type %v: a service is a non-nil pointer to a struct with marker fields", reflect.TypeOf(svc))
			if got := baseNames(fmt.Sprint(s.Check())); len(tools) != 0 || got != want {
				t.Errorf("%d tools, %s", len(tools), got)
			}
		})
	}
	t.Run("B1 a struct without markers", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddService(s, &Bare{})
		if got := fmt.Sprint(s.Check()); !strings.Contains(got, "the struct has no marker field of type ToolTag") {
			t.Error(got)
		}
	})
	t.Run("B5 a malformed tag", func(t *testing.T) {
		for _, tag := range []reflect.StructTag{`method:"Good" name:unquoted`, `method`, `method:"Good`, `:"x"`, "method:`Good`"} {
			s := mcp.NewServer("s", "1", nil)
			mcp.AddService(s, reflect.New(reflect.StructOf([]reflect.StructField{{Name: "T", Type: reflect.TypeFor[mcp.ToolTag](), Tag: tag}})).Interface())
			if got := fmt.Sprint(s.Check()); !strings.Contains(got, "the marker ToolTag `"+string(tag)+"`: a marker's tag is a list of key:\"value\"") {
				t.Errorf("%s: %s", tag, got)
			}
		}
	})
	t.Run("A17 once the server serves", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		dialMemory(t, s, nil)
		defer func() {
			if frozen, ok := recover().(*mcp.FrozenError); !ok || !strings.Contains(frozen.Caller, "service_test.go") {
				t.Errorf("panic with %#v", frozen)
			}
		}()
		mcp.AddService(s, &Door{})
	})
}
