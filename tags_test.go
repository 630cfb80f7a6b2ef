package mcp_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// recordTools notes the names of the tools that are called.
func recordTools(seen *[]string) mcp.Middleware {
	return func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, req *mcp.Request) (any, error) {
			*seen = append(*seen, req.Info().Name)
			return next(ctx, req)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	const app = "ui://shop/cart.html"
	for _, tt := range []struct {
		name, tags string
		methods    func(*mcp.Tool) // that say the same
		want       string          // members that are listed
	}{
		{"B25 B38 all at once", "title=Cart, app=" + app + ",category = demo , readonly,icon=https://example.com/i.png",
			func(t *mcp.Tool) {
				t.Title("Cart").App(app).Category("demo").ReadOnly().Icon("https://example.com/i.png")
			},
			`"title":"Cart","annotations":{"readOnlyHint":true},"icons":[{"src":"https://example.com/i.png"}],"_meta":{"io.github.typedmcp/category":"demo","ui":{"resourceUri":"ui://shop/cart.html"}}`},
		{"B31 readonly", "readonly", func(t *mcp.Tool) { t.ReadOnly() }, `"annotations":{"readOnlyHint":true}`},
		{"B31 not readonly", "readonly=false", func(t *mcp.Tool) { t.ReadOnly(false) }, `"annotations":{"readOnlyHint":false}`},
		{"B31 readonly, said in full", "readonly=true", func(t *mcp.Tool) { t.ReadOnly(true) }, `"annotations":{"readOnlyHint":true}`},
		{"B32 destructive", "destructive", func(t *mcp.Tool) { t.Destructive() }, `"annotations":{"destructiveHint":true}`},
		{"B32 not destructive", "destructive=false", func(t *mcp.Tool) { t.Destructive(false) }, `"annotations":{"destructiveHint":false}`},
		{"B33 idempotent", "idempotent", func(t *mcp.Tool) { t.Idempotent() }, `"annotations":{"idempotentHint":true}`},
		{"B33 not idempotent", "idempotent=false", func(t *mcp.Tool) { t.Idempotent(false) }, `"annotations":{"idempotentHint":false}`},
		{"B34 openworld", "openworld", func(t *mcp.Tool) { t.OpenWorld() }, `"annotations":{"openWorldHint":true}`},
		{"B34 not openworld", "openworld=false", func(t *mcp.Tool) { t.OpenWorld(false) }, `"annotations":{"openWorldHint":false}`},
		{"B26 APP-06 B39 B40 B41 app", "app=" + app, func(t *mcp.Tool) { t.App(app) }, `"_meta":{"ui":{"resourceUri":"ui://shop/cart.html"}}`},
		{"B30 category", "category=finance", func(t *mcp.Tool) { t.Category("finance") }, `"_meta":{"io.github.typedmcp/category":"finance"}`},
		{"B25 the first equals sign ends the key", "title=a=b", func(t *mcp.Tool) { t.Title("a=b") }, `"title":"a=b"`},
		{"B25 a query in a URI", "icon=https://example.com/i?a=1&b=2", func(t *mcp.Tool) { t.Icon("https://example.com/i?a=1&b=2") }, `"icons":[{"src":"https://example.com/i?a=1&b=2"}]`},
		{"B38 a comma in a value", `title=Carts\, large,icon=data:image/png;base64\,AAAA`, func(t *mcp.Tool) { t.Title("Carts, large").Icon("data:image/png;base64,AAAA") },
			`"title":"Carts, large","icons":[{"src":"data:image/png;base64,AAAA"}]`},
		{"B38 blank entries and blanks", " , readonly ,, ", func(t *mcp.Tool) { t.ReadOnly() }, `"annotations":{"readOnlyHint":true}`},
		{"B42 unknown keys are not listed", "team=payments,urgent", func(*mcp.Tool) {}, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tagged, chained := mcp.NewServer("s", "1", nil), mcp.NewServer("s", "1", nil)
			for _, s := range []*mcp.Server{tagged, chained} {
				mcp.AddApp(s, app, "cart", mcp.AppPage{HTML: func(context.Context) (string, error) { return "", nil }})
			}
			mcp.AddFunc(tagged, "t", "", func() {}).Tags(tt.tags)
			tt.methods(mcp.AddFunc(chained, "t", "", func() {}))
			list := func(s *mcp.Server) string { return entries(t, ask(t, s, modernRequest("1", "tools/list")))[0] }
			const schema = `"inputSchema":{"type":"object","properties":{},"additionalProperties":false}`
			want := `{"name":"t",` + schema
			if title, rest, ok := strings.Cut(tt.want, `","`); ok && strings.HasPrefix(title, `"title"`) {
				want, tt.want = `{"name":"t",`+title+`",`+schema, `"`+rest
			} else if strings.HasPrefix(tt.want, `"title"`) {
				want, tt.want = `{"name":"t",`+tt.want+`,`+schema, ""
			}
			if tt.want != "" {
				want += ","
			}
			if diff := cmp.Diff(want+tt.want+"}", list(tagged)); diff != "" {
				t.Errorf("tagged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(list(chained), list(tagged)); diff != "" {
				t.Errorf("not like the methods (-methods +tags):\n%s", diff)
			}
		})
	}
}

func TestTagsThatHide(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	for _, tags := range []string{"hidden", "disabled", "hidden=false", "disabled=false"} {
		mcp.AddFunc(s, strings.ReplaceAll(tags, "=", "_"), "", func() {}).Tags(tags)
	}
	t.Run("B27 hidden: not listed, but callable; disabled: neither", func(t *testing.T) {
		if diff := cmp.Diff([]string{"hidden_false", "disabled_false"}, toolNames(t, s)); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
		if r := mustCall(t, dialMemory(t, s, nil), "hidden", nil); r.IsError {
			t.Error(textOf(r))
		}
		if e := faultIn(t, ask(t, s, modernCall("1", "disabled", "{}"))); e.Message != `Unknown tool: "disabled"` {
			t.Errorf("%+v", e)
		}
	})
}

func TestTagsKept(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddFunc(s, "a", "", func() {}).Tags("team=payments,urgent,category=finance,readonly").Tags("team=risk")
	mcp.AddFunc(s, "b", "", func() {}).Tags("category=finance")
	mcp.AddFunc(s, "c", "", func() {}).Category("other")
	seen := make(map[string]mcp.Info)
	s.Use(func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, req *mcp.Request) (any, error) {
			v, err := next(ctx, req)
			seen[req.Info().Name] = req.Info()
			return v, err
		}
	})
	s.Visible(func(_ context.Context, f mcp.Info) bool { return f.Category == "finance" })
	c := dialMemory(t, s, nil)
	t.Run("B42 other keys are for middleware", func(t *testing.T) {
		mustCall(t, c, "a", nil)
		if diff := cmp.Diff(map[string]string{"team": "risk", "urgent": "true"}, seen["a"].Tags); diff != "" || seen["a"].Category != "finance" {
			t.Errorf("%+v", seen["a"])
		}
	})
	t.Run("B30 a filter by category gives a subset", func(t *testing.T) {
		if diff := cmp.Diff([]string{"a", "b"}, toolNames(t, s)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestTagsRefused(t *testing.T) {
	t.Parallel()
	for tags, want := range map[string]string{
		"B31 readonly=maybe":            `the value "maybe" of the key "readonly" is neither true nor false`,
		"B32 destructive=":              `the value "" of the key "destructive" is neither true nor false`,
		"B38 readonly,title=x,readonly": `the key "readonly" is there twice`,
		"B42 team=a,team=b":             `the key "team" is there twice`,
		"B38 =x":                        `an entry has no key`,
		"B28 icon":                      `the key "icon" needs a value`,
		"B30 category=":                 `the key "category" needs a value`,
		"B26 app=https://example.com":   `the app's URI "https://example.com" does not start with ui://`,
		"B29 icon=ftp://example.com/i":  `icon "ftp://example.com/i": it is neither an https: URI nor a data: URI`,
	} {
		t.Run(tags, func(t *testing.T) {
			t.Parallel()
			_, tags, _ := strings.Cut(tags, " ")
			s := mcp.NewServer("s", "1", nil)
			mcp.AddFunc(s, "t", "", func() {}).Tags(tags)
			problems := registrationErrors(s.Check())
			if len(problems) != 1 || !strings.HasSuffix(problems[0].Error(), want) || problems[0].Feature != `tool "t"` {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

func TestTagsStructured(t *testing.T) {
	t.Parallel()
	const rowSchema = `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]}`
	for _, tt := range []struct {
		name   string
		define func(*mcp.Server) *mcp.Tool
		tags   string
		schema string
		want   string // members of the result
	}{
		{"B35 B36 a struct has both", func(s *mcp.Server) *mcp.Tool { return mcp.AddFunc(s, "t", "", func() row { return row{7, "x"} }) }, "structured", rowSchema, holdingValue(`{"id":7,"name":"x"}`)},
		{"B35 without the tag too", func(s *mcp.Server) *mcp.Tool { return mcp.AddFunc(s, "t", "", func() row { return row{7, "x"} }) }, "", rowSchema, holdingValue(`{"id":7,"name":"x"}`)},
		{"B35 structured=false: text alone", func(s *mcp.Server) *mcp.Tool { return mcp.AddFunc(s, "t", "", func() row { return row{7, "x"} }) }, "structured=false", "", holdingText(`{"id":7,"name":"x"}`)},
		{"B35 structured=false on Structured", func(s *mcp.Server) *mcp.Tool {
			return mcp.AddFunc(s, "t", "", func() mcp.Structured[row] { return mcp.Structured[row]{Value: row{7, "x"}} })
		}, "structured=false", "", holdingText(`{"id":7,"name":"x"}`)},
		{"B35 structured=false on Structured with content", func(s *mcp.Server) *mcp.Tool {
			return mcp.AddFunc(s, "t", "", func() mcp.Structured[row] { return mcp.Structured[row]{Content: []mcp.Content{mcp.Text("own")}} })
		}, "structured=false", "", holdingText(`own`)},
		{"B37 an array in the modern revision", func(s *mcp.Server) *mcp.Tool { return mcp.AddFunc(s, "t", "", func() []int { return []int{1} }) }, "structured", `{"type":"array","items":{"type":"integer"}}`, holdingValue(`[1]`)},
		{"B37 a scalar", func(s *mcp.Server) *mcp.Tool { return mcp.AddFunc(s, "t", "", func() bool { return true }) }, "structured", `{"type":"boolean"}`, holdingValue(`true`)},
		{"B35 any, with a schema", func(s *mcp.Server) *mcp.Tool {
			return mcp.AddFunc(s, "t", "", func() any { return row{7, "x"} }).OutputSchema(mcp.SchemaFor[row]())
		}, "structured", rowSchema, holdingValue(`{"id":7,"name":"x"}`)},
		{"A49 a raw tool, with a schema", func(s *mcp.Server) *mcp.Tool {
			return mcp.AddRawTool(s, "t", "", mcp.Object(), echoRaw).OutputSchema(mcp.RawSchema(rowSchema))
		}, "structured", rowSchema, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("fixture", "1.0.0", nil)
			tt.define(s).Tags(tt.tags)
			if got := string(mustList(t, dialMemory(t, s, nil))[0].OutputSchema); got != tt.schema {
				t.Errorf("output schema %s", got)
			}
			if tt.want == "" {
				return
			}
			if diff := cmp.Diff(modernResult("1", tt.want), ask(t, s, modernCall("1", "t", "{}"))); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
	for name, tt := range map[string]struct {
		define func(*mcp.Server)
		want   string
	}{
		"B35 nothing to structure": {func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() {}).Tags("structured") },
			`it is tagged as structured, but its result struct {} has no schema; return a struct or give an OutputSchema`},
		"B35 text": {func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() string { return "" }).Tags("structured") },
			`it is tagged as structured, but its result string has no schema; return a struct or give an OutputSchema`},
		"B35 a raw tool": {func(s *mcp.Server) { mcp.AddRawTool(s, "t", "", mcp.Object(), echoRaw).Tags("structured") },
			`it is tagged as structured, but has no OutputSchema`},
		"B35 both ways": {func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func() any { return 1 }).OutputSchema(mcp.Object()).Tags("structured=false")
		},
			`it is tagged as not structured, but has an OutputSchema`},
		"A49 a schema for text": {func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() string { return "" }).OutputSchema(mcp.Object()) },
			`it has an OutputSchema, but its result string is content alone; return a value, or a *Result with one`},
		"A49 a schema for blocks": {func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func() []mcp.Content { return nil }).OutputSchema(mcp.Object())
		},
			`it has an OutputSchema, but its result []mcp.Content is content alone; return a value, or a *Result with one`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.define(s)
			if got := baseNames(fmt.Sprint(s.Check())); got != `tags_test.go: tool "t": `+tt.want {
				t.Error(got)
			}
		})
	}
}

func TestApps(t *testing.T) {
	t.Parallel()
	page := mcp.AppPage{HTML: func(context.Context) (string, error) { return "<!doctype html>", nil }}
	warnings := func(t *testing.T, define func(*mcp.Server)) []string {
		var book logBook
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: book.logger()})
		define(s)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, record := range book.records(t, slog.LevelWarn) {
			all = append(all, fmt.Sprint(record["msg"]))
		}
		return all
	}
	tool := func(s *mcp.Server) *mcp.Tool { return mcp.AddFunc(s, "t", "", func() string { return "done" }) }
	t.Run("B26 a tool whose app nobody serves is warned about", func(t *testing.T) {
		got := warnings(t, func(s *mcp.Server) { tool(s).App("ui://none") })
		if diff := cmp.Diff([]string{`mcp: there is no resource "ui://none", so that hosts cannot show its app; register one with AddApp`}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("B26 one that is served is not, whatever serves it and when it was registered", func(t *testing.T) {
		for what, define := range map[string]func(*mcp.Server){
			"before":   func(s *mcp.Server) { mcp.AddApp(s, "ui://a/b", "b", page); tool(s).App("ui://a/b") },
			"after":    func(s *mcp.Server) { tool(s).App("ui://a/b"); mcp.AddApp(s, "ui://a/b", "b", page) },
			"template": func(s *mcp.Server) { tool(s).App("ui://a/b"); addPage(s, "ui://a/{page}") },
		} {
			if got := warnings(t, define); len(got) != 0 {
				t.Errorf("%s: %q", what, got)
			}
		}
	})
	t.Run("B41 the last of two apps counts, with a warning", func(t *testing.T) {
		got := warnings(t, func(s *mcp.Server) {
			mcp.AddApp(s, "ui://2", "2", page)
			tool(s).App("ui://1").Tags("app=ui://2").App("ui://2")
		})
		if len(got) != 1 || !strings.Contains(got[0], `tied to the app "ui://1" and then to "ui://2"`) {
			t.Errorf("%q", got)
		}
	})
}

// addPage registers pages by a template.
func addPage(s *mcp.Server, template string) {
	mcp.AddTemplate(s, template, "pages", func(_ context.Context, p struct {
		Page string `json:"page"`
	}) (string, error) {
		return p.Page, nil
	})
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	declared := func(t *testing.T, s *mcp.Server) []string {
		c := dialMemory(t, s, nil)
		var all []string
		for _, id := range slices.Sorted(maps.Keys(c.Server().Capabilities.Extensions)) {
			all = append(all, id+" "+string(c.Server().Capabilities.Extensions[id]))
		}
		for _, version := range legacyVersions {
			line := serveLines(t, s)
			line.send(initializeRequest("1", version))
			answer := line.next()
			for _, id := range all {
				name, settings, _ := strings.Cut(id, " ")
				if !strings.Contains(answer, fmt.Sprintf("%q:%s", name, settings)) {
					t.Errorf("%s: no %s in %s", version, id, answer)
				}
			}
			if len(all) == 0 && strings.Contains(answer, "extensions") {
				t.Errorf("%s: extensions in %s", version, answer)
			}
		}
		return all
	}
	server := func(extensions map[string]any) *mcp.Server {
		return mcp.NewServer("s", "1", &mcp.ServerOptions{Extensions: extensions})
	}
	page := mcp.AppPage{HTML: func(context.Context) (string, error) { return "", nil }}
	t.Run("EXT-04 none by default", func(t *testing.T) {
		if got := declared(t, server(nil)); len(got) != 0 {
			t.Errorf("%q", got)
		}
	})
	t.Run("EXT-03 with their settings, in discovery and in the handshake", func(t *testing.T) {
		got := declared(t, server(map[string]any{"com.example/audit": map[string]int{"level": 3}, "com.example/plain": nil, "io.modelcontextprotocol/other": struct{}{}}))
		want := []string{`com.example/audit {"level":3}`, `com.example/plain {}`, `io.modelcontextprotocol/other {}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("EXT-04 B26 apps turn theirs on", func(t *testing.T) {
		for what, define := range map[string]func(*mcp.Server){
			"a tool": func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() {}).App("ui://a") },
			"a tag":  func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() {}).Tags("app=ui://a") },
			"an app": func(s *mcp.Server) { mcp.AddApp(s, "ui://a", "a", page) },
			"all that": func(s *mcp.Server) {
				mcp.AddApp(s, "ui://a", "a", page)
				mcp.AddFunc(s, "t", "", func() {}).App("ui://a")
			},
		} {
			s := server(nil)
			define(s)
			if diff := cmp.Diff([]string{"io.modelcontextprotocol/ui {}"}, declared(t, s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		s := server(map[string]any{"io.modelcontextprotocol/ui": map[string]bool{"own": true}})
		mcp.AddFunc(s, "t", "", func() {}).App("ui://a")
		if diff := cmp.Diff([]string{`io.modelcontextprotocol/ui {"own":true}`}, declared(t, s)); diff != "" {
			t.Errorf("own settings (-want +got):\n%s", diff)
		}
		s = server(nil)
		mcp.AddFunc(s, "t", "", func() {}).App("ui://a").Disabled()
		if got := declared(t, s); len(got) != 0 {
			t.Errorf("a disabled tool: %q", got)
		}
	})
	for id, want := range map[string]string{
		"audit":               "an id needs a prefix, such as com.example/",
		"":                    "the name must start",
		"/audit":              `the label "" must start`,
		"1com.example/audit":  `the label "1com" must start`,
		"com.example/a/b":     "more than one slash",
		"com.example/_audit":  "the name must start",
		"com..example/audit":  `the label "" must start`,
		"com.exämple/audit":   `the label "exämple" must start`,
		"com.example/au dit":  "the name must start",
		"com.example-/audit":  `the label "example-" must start`,
		"com.example/au\ndit": "the name must start",
	} {
		t.Run(fmt.Sprintf("EXT-01 %q is refused", id), func(t *testing.T) {
			t.Parallel()
			got := baseNames(fmt.Sprint(server(map[string]any{id: nil}).Check()))
			if !strings.HasPrefix(got, fmt.Sprintf("tags_test.go: server: option Extensions: extension %q: ", id)) || !strings.Contains(got, want) {
				t.Error(got)
			}
		})
	}
	for what, settings := range map[string]any{"a list": []int{1}, "a number": 7, "a function": func() {}, "a panic": panicsInJSON{}} {
		t.Run("EXT-05 settings that are "+what, func(t *testing.T) {
			t.Parallel()
			if got := fmt.Sprint(server(map[string]any{"com.example/x": settings}).Check()); !strings.Contains(got, `extension "com.example/x": the settings`) {
				t.Error(got)
			}
		})
	}
}
