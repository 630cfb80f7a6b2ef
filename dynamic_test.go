package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/typedmcp/mcp"
)

// names are the names of the tools that a new connection lists.
func names(t testing.TB, s *mcp.Server) string {
	t.Helper()
	return pageIn(t, ask(t, s, modernRequest("1", "tools/list"))).names
}

// lettered is a dynamic server with the tools a, b and c.
func lettered(opts *mcp.ServerOptions) *mcp.Server {
	var o mcp.ServerOptions
	if opts != nil {
		o = *opts
	}
	o.Dynamic = true
	s := mcp.NewServer("s", "1", &o)
	for _, name := range []string{"a", "b", "c"} {
		mcp.AddTool(s, name, "", returning[struct{}]("this is "+name))
	}
	return s
}

func add(r mcp.Registrar, name string) *mcp.Tool {
	return mcp.AddTool(r, name, "", returning[struct{}]("this is "+name))
}

// expectFrozen holds fn to panicking with a *FrozenError that names the feature and this file.
func expectFrozen(t *testing.T, feature string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		frozen, ok := recover().(*mcp.FrozenError)
		if !ok || !strings.Contains(frozen.Feature, feature) || !strings.Contains(frozen.Caller, "_test.go:") {
			t.Errorf("got %v, want a FrozenError about %q", frozen, feature)
		}
	}()
	fn()
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	t.Run("M11 add, remove and edit take effect at once", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		c := serveLines(t, s)
		err := s.Update(func(u *mcp.Update) error {
			add(u, "d")
			u.Tool("b").Title("Bee").Hidden()
			return u.RemoveTool("a")
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, s); got != "cd" {
			t.Errorf("listed: %s", got)
		}
		c.send(modernCall("1", "a", "{}"))
		c.expectError("1", mcp.CodeInvalidParams)
		c.send(modernCall("2", "b", "{}"))
		if line := c.next(); !strings.Contains(line, "this is b") {
			t.Errorf("%s", line)
		}
		c.send(modernCall("3", "d", "{}"))
		if line := c.next(); !strings.Contains(line, "this is d") {
			t.Errorf("%s", line)
		}
	})
	t.Run("M11 before serving too", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		scope := s.Scope("x")
		handle := add(scope, "early")
		if err := s.Update(func(u *mcp.Update) error { add(u, "d"); return u.RemoveTool("b") }); err != nil {
			t.Fatal(err)
		}
		add(scope, "late") // what there was before still works
		handle.Title("Early")
		if got := names(t, s); got != "acx_earlydx_late" {
			t.Errorf("listed: %s", got)
		}
		expectFrozen(t, "x_early", func() { handle.Title("too late") })
		expectFrozen(t, "x_later", func() { add(scope, "later") })
	})
	t.Run("M11 an error discards all", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		before := names(t, s)
		failure := errors.New("no")
		for name, fn := range map[string]func(u *mcp.Update) error{
			"its own":          func(u *mcp.Update) error { add(u, "d"); _ = u.RemoveTool("a"); u.Tool("b").Hidden(); return failure },
			"an unknown tool":  func(u *mcp.Update) error { add(u, "d"); return u.RemoveTool("a", "nosuch") },
			"a bad definition": func(u *mcp.Update) error { _ = u.RemoveTool("a"); add(u, "d").Icon("ftp://x"); return nil },
			"a name twice":     func(u *mcp.Update) error { add(u, "d"); add(u, "b"); return nil },
			"a bad edit":       func(u *mcp.Update) error { add(u, "d"); u.Tool("a").Icon("ftp://x"); return nil },
		} {
			if err := s.Update(fn); err == nil {
				t.Errorf("%s: no error", name)
			} else if name == "its own" && !errors.Is(err, failure) {
				t.Errorf("%s: %v", name, err)
			}
			if got := names(t, s); got != before {
				t.Errorf("%s: listed %s", name, got)
			}
		}
		if err := s.Update(func(u *mcp.Update) error { add(u, "d"); return nil }); err != nil || names(t, s) != "abcd" {
			t.Errorf("afterwards: %v, %s", err, names(t, s))
		}
	})
	t.Run("M11 a panic discards all, and the next update works", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		var kept *mcp.Update
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = s.Update(func(u *mcp.Update) error { kept = u; add(u, "d"); panic("oops") })
		}()
		expectFrozen(t, "tool", func() { add(kept, "e") })
		if err := s.Update(func(u *mcp.Update) error { add(u, "f"); return nil }); err != nil || names(t, s) != "abcf" {
			t.Errorf("%v, %s", err, names(t, s))
		}
	})
	t.Run("M11 handles of an update are dead when it returns", func(t *testing.T) {
		t.Parallel()
		for _, serving := range []bool{true, false} {
			s := lettered(nil)
			if serving {
				names(t, s)
			}
			var u *mcp.Update
			var scope *mcp.Scope
			var added, edited *mcp.Tool
			var prompt *mcp.Prompt
			var resource *mcp.Resource
			err := s.Update(func(update *mcp.Update) error {
				u, scope = update, update.Scope("sc")
				added, edited = add(scope, "d"), update.Tool("a")
				prompt = mcp.AddPrompt(u, "p", "", returning[struct{}](""))
				resource = mcp.AddText(u, "r://x", "x", "", "")
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			expectFrozen(t, `"sc_d"`, func() { added.Title("x") })
			expectFrozen(t, `"sc_d"`, func() { added.Use(passThrough) })
			expectFrozen(t, `"a"`, func() { edited.ReadOnly() })
			expectFrozen(t, `"p"`, func() { prompt.Title("x") })
			expectFrozen(t, `"r://x"`, func() { resource.Watchable() })
			expectFrozen(t, "tool", func() { add(u, "e") })
			expectFrozen(t, "tool", func() { add(scope, "e") })
			expectFrozen(t, `"sc"`, func() { scope.Use(passThrough) })
			expectFrozen(t, "tool", func() { u.Tool("a") })
			expectFrozen(t, "tool", func() { _ = u.RemoveTool("a") })
		}
	})
	t.Run("M11 a dynamic server is frozen but for updates", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		handle := add(s, "d")
		names(t, s)
		expectFrozen(t, `"d"`, func() { handle.Title("x") })
		expectFrozen(t, `"e"`, func() { add(s, "e") })
		expectFrozen(t, "visibility", func() { s.Visible(nil) })
		expectFrozen(t, "middleware", func() { s.Use(passThrough) })
		expectFrozen(t, "method", func() { mcp.HandleMethod(s, "x/y", returning[struct{}](struct{}{})) })
		expectFrozen(t, `"d"`, func() { _ = s.Update(func(*mcp.Update) error { handle.Title("x"); return nil }) })
	})
	t.Run("M11 a server that is not dynamic has no updates", func(t *testing.T) {
		t.Parallel()
		ran := false
		err := withTool("").Update(func(*mcp.Update) error { ran = true; return nil })
		if err == nil || ran || !strings.Contains(err.Error(), "Dynamic") {
			t.Errorf("%v", err)
		}
	})
	t.Run("M11 the server itself is not to be changed within", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		if err := s.Update(func(u *mcp.Update) error { add(u, "d"); add(s, "e"); return nil }); err == nil {
			t.Error("no error")
		}
		if got := names(t, s); got != "abce" {
			t.Errorf("%s", got)
		}
	})
	t.Run("M11 a warning is told once while it holds, and anew of what comes later", func(t *testing.T) {
		t.Parallel()
		var log logBook
		s := lettered(&mcp.ServerOptions{Logger: log.logger()})
		change := func(want int, fn func(u *mcp.Update) error) {
			t.Helper()
			if err := s.Update(fn); err != nil {
				t.Fatal(err)
			}
			if got := log.records(t, slog.LevelWarn); len(got) != want {
				t.Errorf("%d warnings, want %d: %v", len(got), want, got)
			}
		}
		odd := func(u *mcp.Update) error { add(u, "odd name"); return nil }
		change(1, odd)
		change(1, func(u *mcp.Update) error { add(u, "d"); return nil })
		change(1, func(u *mcp.Update) error { return u.RemoveTool("odd name") })
		change(2, odd)
	})
	t.Run("M11 an edit is of a copy", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		names(t, s)
		failed := errors.New("no")
		if err := s.Update(func(u *mcp.Update) error {
			u.Tool("a").Title("New").Meta("m", 1).Icon("https://example.com/i.png").RequireScopes("x").Tags("k=v").Use(passThrough)
			return failed
		}); err != failed {
			t.Fatal(err)
		}
		if got := entries(t, ask(t, s, modernRequest("1", "tools/list")))[0]; strings.Contains(got, "New") || strings.Contains(got, "_meta") {
			t.Errorf("%s", got)
		}
		if err := s.Update(func(u *mcp.Update) error {
			u.Tool("a").Title("New")
			u.Tool("a").Icon("https://example.com/i.png").OutputSchema(mcp.RawSchema(`{"type":"object"}`)) // of the same copy
			if u.Tool("nosuch") != nil {
				t.Error("a tool that there is not")
			}
			return nil
		}); err == nil || !strings.Contains(err.Error(), "OutputSchema") { // its result is text
			t.Errorf("%v", err)
		}
		if err := s.Update(func(u *mcp.Update) error {
			u.Tool("a").Title("New")
			u.Tool("a").Icon("https://example.com/i.png")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := entries(t, ask(t, s, modernRequest("1", "tools/list")))[0]; !strings.Contains(got, `"title":"New"`) || !strings.Contains(got, "i.png") {
			t.Errorf("%s", got)
		}
	})
	t.Run("M11 an edit of what a result is", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Dynamic: true})
		mcp.AddTool(s, "t", "", returning[struct{}, any](map[string]int{"n": 1}))
		if got := string(resultIn(t, ask(t, s, modernCall("1", "t", "{}")))["structuredContent"]); got != "" {
			t.Errorf("%s", got)
		}
		if err := s.Update(func(u *mcp.Update) error { u.Tool("t").OutputSchema(mcp.Object().Integer("n", "")); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := string(resultIn(t, ask(t, s, modernCall("1", "t", "{}")))["structuredContent"]); got != `{"n":1}` {
			t.Errorf("%s", got)
		}
	})
	t.Run("M11 removal of every kind, and of what there is not", func(t *testing.T) {
		t.Parallel()
		s := newDynamic(t, nil)
		if err := s.Update(func(u *mcp.Update) error {
			return errors.Join(u.RemoveTool("t"), u.RemovePrompt("p"), u.RemoveResource("r://a", "r://b", "r://fixed", "t://{id}"))
		}); err != nil {
			t.Fatal(err)
		}
		for method, member := range map[string]string{
			"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
		} { // the capability stays, and the list is empty
			if got := listIn(t, ask(t, s.Server, modernRequest("1", method)), member); len(got) != 0 {
				t.Errorf("RES-01 PRM-01 TOOL-01 %s: %q", method, got)
			}
		}
		if err := s.Update(func(u *mcp.Update) error {
			if err := errors.Join(u.RemoveTool("t"), u.RemovePrompt("p"), u.RemoveResource("r://a")); err == nil || !strings.Contains(err.Error(), `no resource "r://a"`) {
				t.Errorf("%v", err)
			}
			add(u, "t")
			return nil
		}); err != nil {
			t.Error(err)
		}
		if got := names(t, s.Server); got != "t" {
			t.Errorf("%s", got)
		}
	})
	t.Run("M11 from the handler of a call, which goes on with what it began with", func(t *testing.T) {
		t.Parallel()
		s := lettered(nil)
		mcp.AddTool(s, "swap", "", func(context.Context, struct{}) (string, error) {
			return "swapped", s.Update(func(u *mcp.Update) error { add(u, "d"); return u.RemoveTool("swap") })
		})
		if got := ask(t, s, modernCall("1", "swap", "{}")); !strings.Contains(got, "swapped") {
			t.Errorf("%s", got)
		}
		if got := names(t, s); got != "abcd" {
			t.Errorf("%s", got)
		}
	})
}

func TestUpdateNotices(t *testing.T) {
	t.Parallel()
	bubble(t, "M11 C112 SUB-11 one notice of each kind that changed", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", everything))
		c.expect(acknowledged("1", everything))
		update := func(fn func(u *mcp.Update) error) {
			t.Helper()
			if err := d.Update(fn); err != nil {
				t.Error(err)
			}
		}
		update(func(u *mcp.Update) error {
			for i := range 10 {
				add(u, fmt.Sprintf("x%d", i))
				mcp.AddText(u, fmt.Sprintf("x://%d", i), "x", "", "")
			}
			return u.RemoveTool("t")
		})
		c.expect(changed("1", "tools"), changed("1", "resources"))
		c.quiet()
		update(func(u *mcp.Update) error { u.Tool("x1").Title("changed"); return nil })
		c.expect(changed("1", "tools"))
		update(func(u *mcp.Update) error { return u.RemovePrompt("p") })
		c.expect(changed("1", "prompts"))
		update(func(*mcp.Update) error { return nil })
		update(func(u *mcp.Update) error { add(u, "hidden").Hidden(); return nil }) // no list has it
		update(func(u *mcp.Update) error { add(u, "gone"); return u.RemoveTool("gone") })
		if d.Update(func(u *mcp.Update) error { add(u, "y"); return errors.New("no") }) == nil {
			t.Error("no error")
		}
		c.quiet()
	})
	bubble(t, "M11 PAG-05 M26 pages are stable while entries come and go", func(t *testing.T) {
		s := lettered(&mcp.ServerOptions{PageSize: 2})
		c := serveLines(t, s)
		next := func(p page) page {
			t.Helper()
			c.send(modernRequest("1", "tools/list", fmt.Sprintf(`"cursor":%q`, *p.cursor)))
			return pageIn(t, c.next())
		}
		c.send(modernRequest("1", "tools/list"))
		first := pageIn(t, c.next())
		for _, tt := range []struct {
			name   string
			change func(u *mcp.Update) error
			want   string
		}{
			{"one is added", func(u *mcp.Update) error { add(u, "d"); return nil }, "cd"},
			{"one of the first page goes", func(u *mcp.Update) error { return u.RemoveTool("a") }, "cd"},
			{"the last of the first page goes", func(u *mcp.Update) error { return u.RemoveTool("b") }, "cd"},
			{"it comes again", func(u *mcp.Update) error { add(u, "b"); return nil }, "cd"},
			{"one is edited", func(u *mcp.Update) error { u.Tool("c").Title("Sea"); return nil }, "cd"},
			{"the first of the next page goes", func(u *mcp.Update) error { return u.RemoveTool("c") }, "db"},
			{"all go", func(u *mcp.Update) error { return u.RemoveTool("b", "d") }, ""},
		} {
			if err := s.Update(tt.change); err != nil {
				t.Fatal(err)
			}
			if got := next(first); got.names != tt.want {
				t.Errorf("%s: the second page is %q, want %q", tt.name, got.names, tt.want)
			}
		}
	})
}

// TestUpdateRaces changes tools in pairs from many goroutines, while others list, call and listen.
func TestUpdateRaces(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", &mcp.ServerOptions{Dynamic: true})
	add(s, "fixed").Icon("https://example.com/i.png")
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for r := range 8 {
		readers.Go(func() {
			c := dialMemory(t, s, nil)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				seen := make(map[string]bool)
				for _, tool := range mustList(t, c) {
					seen[tool.Name] = true
				}
				for name := range seen {
					if pair, of := strings.CutSuffix(name, "_left"); of && !seen[pair+"_right"] {
						t.Errorf("M11 C112 %s without the other of its pair", name)
						return
					}
				}
				if !seen["fixed"] {
					t.Error("M11 C112 a tool that was never removed is missing")
					return
				}
				if r%2 == 0 {
					_, _ = c.CallTool(context.Background(), fmt.Sprintf("w%d_left", i%8), nil) // it may be there or not
				}
			}
		})
	}
	for w := range 8 {
		writers.Go(func() {
			pair := fmt.Sprintf("w%d", w)
			for i := range 25 {
				err := s.Update(func(u *mcp.Update) error {
					if i > 0 {
						if err := u.RemoveTool(pair+"_left", pair+"_right"); err != nil {
							return err
						}
					}
					add(u, pair+"_left")
					u.Tool("fixed").Title(fmt.Sprint(w, i))
					add(u, pair+"_right")
					return nil
				})
				if err != nil {
					t.Errorf("M11 C112 %v", err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if got := names(t, s); len(got) != len("fixed")+8*len("w0_leftw0_right") {
		t.Errorf("M11 C112 in the end: %s", got)
	}
}
