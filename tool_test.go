package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// returning is a handler that always returns v, whatever the arguments.
func returning[A, R any](v R) func(context.Context, A) (R, error) {
	return func(context.Context, A) (R, error) { return v, nil }
}

// withTool is a server with the one tool "t" that returns v.
func withTool[R any](v R) *mcp.Server {
	s := mcp.NewServer("one", "1", nil)
	mcp.AddTool(s, "t", "", returning[struct{}](v))
	return s
}

// entries returns the entries of a tools/list answer, as received.
func entries(t testing.TB, answer string) []string {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal(resultIn(t, answer)["tools"], &raw); err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(raw))
	for i := range raw {
		all[i] = string(raw[i])
	}
	return all
}

func TestToolDefinition(t *testing.T) {
	t.Parallel()
	type args struct {
		Zip  string `json:"zip" jsonschema_description:"Postal code"`
		Also bool   `json:"also,omitempty"`
	}
	add := func(s *mcp.Server) *mcp.Tool { return mcp.AddTool(s, "t", "Does t", returning[args]("")) }
	const schema = `"inputSchema":{"type":"object","properties":{"zip":{"type":"string","description":"Postal code"},"also":{"type":"boolean"}},"required":["zip"]}`
	plain := func(members string) string { return `{"name":"t","description":"Does t",` + schema + members + `}` }

	tests := []struct {
		name   string
		define func(*mcp.Tool)
		want   string
	}{
		{"A1 name, description and schema, nothing else", func(*mcp.Tool) {}, plain("")},
		{"A50 title at the top, not among the annotations", func(t *mcp.Tool) { t.Title("Tee") },
			`{"name":"t","title":"Tee","description":"Does t",` + schema + `}`},
		{"A50 title at the top alone, beside annotations too", func(t *mcp.Tool) { t.Title("Tee").ReadOnly() },
			`{"name":"t","title":"Tee","description":"Does t",` + schema + `,"annotations":{"readOnlyHint":true}}`},
		{"A51 read-only", func(t *mcp.Tool) { t.ReadOnly() }, plain(`,"annotations":{"readOnlyHint":true}`)},
		{"A51 C59 not read-only", func(t *mcp.Tool) { t.ReadOnly(false) }, plain(`,"annotations":{"readOnlyHint":false}`)},
		{"A52 destructive", func(t *mcp.Tool) { t.Destructive() }, plain(`,"annotations":{"destructiveHint":true}`)},
		{"A52 C59 not destructive", func(t *mcp.Tool) { t.Destructive(false) }, plain(`,"annotations":{"destructiveHint":false}`)},
		{"A53 idempotent", func(t *mcp.Tool) { t.Idempotent() }, plain(`,"annotations":{"idempotentHint":true}`)},
		{"A53 C59 not idempotent", func(t *mcp.Tool) { t.Idempotent(false) }, plain(`,"annotations":{"idempotentHint":false}`)},
		{"A54 open world", func(t *mcp.Tool) { t.OpenWorld() }, plain(`,"annotations":{"openWorldHint":true}`)},
		{"A54 C59 closed world", func(t *mcp.Tool) { t.OpenWorld(false) }, plain(`,"annotations":{"openWorldHint":false}`)},
		{"TOOL-18 false, true and unset are three things", func(t *mcp.Tool) { t.ReadOnly(false).Idempotent(true) },
			plain(`,"annotations":{"readOnlyHint":false,"idempotentHint":true}`)},
		{"A48 setting twice overwrites", func(t *mcp.Tool) { t.Title("no").Title("yes").Destructive().Destructive(false) },
			`{"name":"t","title":"yes","description":"Does t",` + schema + `,"annotations":{"destructiveHint":false}}`},
		{"A48 a chain of setters shows in full", func(t *mcp.Tool) {
			t.Title("Tee").ReadOnly().Icon("https://example.com/i.png", "48x48", "any").Meta("com.example/k", map[string]int{"n": 1})
		}, `{"name":"t","title":"Tee","description":"Does t",` + schema + `,"annotations":{"readOnlyHint":true},` +
			`"icons":[{"src":"https://example.com/i.png","sizes":["48x48","any"]}],"_meta":{"com.example/k":{"n":1}}}`},
		{"ICON-01 several icons", func(t *mcp.Tool) { t.Icon("https://example.com/1").Icon("data:image/png;base64,AAAA") },
			plain(`,"icons":[{"src":"https://example.com/1"},{"src":"data:image/png;base64,AAAA"}]`)},
		{"A48 a _meta key set twice has the last value", func(t *mcp.Tool) { t.Meta("k", 1).Meta("k", nil) }, plain(`,"_meta":{"k":null}`)},
		{"strict schemas forbid further names", func(t *mcp.Tool) { t.Strict() },
			`{"name":"t","description":"Does t",` + strings.TrimSuffix(schema, "}") + `,"additionalProperties":false}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.define(add(s))
			if diff := cmp.Diff([]string{tt.want}, entries(t, ask(t, s, modernRequest("1", "tools/list")))); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolsListed(t *testing.T) {
	t.Parallel()
	list := modernRequest("1", "tools/list")
	names := func(t *testing.T, s *mcp.Server) string {
		var all []string
		for _, tool := range mustList(t, dialMemory(t, s, nil)) {
			all = append(all, tool.Name)
		}
		return strings.Join(all, " ")
	}

	t.Run("A2 TOOL-04 order of registration, over scopes", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		scope := s.Scope("k")
		mcp.AddTool(s, "zebra", "", returning[struct{}](""))
		mcp.AddTool(scope, "ant", "", returning[struct{}](""))
		mcp.AddTool(s, "bee", "", returning[struct{}](""))
		if got := names(t, s); got != "zebra k_ant bee" {
			t.Errorf("listed %s", got)
		}
	})
	t.Run("NAME-03 names differ by case", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "Foo", "", returning[struct{}]("upper"))
		mcp.AddTool(s, "foo", "", returning[struct{}]("lower"))
		c := dialMemory(t, s, nil)
		if got := textOf(mustCall(t, c, "Foo", nil)) + textOf(mustCall(t, c, "foo", nil)); got != "upperlower" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("TOOL-01 VER-07 A2 without tools there is no capability and no method", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		if got := string(resultIn(t, ask(t, s, modernRequest("1", "server/discover")))["capabilities"]); got != "{}" {
			t.Errorf("capabilities %s", got)
		}
		for _, method := range []string{"tools/list", "tools/call"} {
			if e := faultIn(t, ask(t, s, modernRequest("1", method))); e.Code != mcp.CodeMethodNotFound {
				t.Errorf("%s: %+v", method, e)
			}
		}
	})
	t.Run("TOOL-01 an empty list is [] under the capability; a hidden tool is callable", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "secret", "", returning[struct{}]("found")).Hidden()
		if got := string(resultIn(t, ask(t, s, list))["tools"]); got != "[]" {
			t.Errorf("tools %s", got)
		}
		if got := string(resultIn(t, ask(t, s, modernRequest("1", "server/discover")))["capabilities"]); got != `{"tools":{}}` {
			t.Errorf("capabilities %s", got)
		}
		if got := textOf(mustCall(t, dialMemory(t, s, nil), "secret", nil)); got != "found" {
			t.Errorf("called: %s", got)
		}
	})
	t.Run("B27 a disabled tool is as unknown as one that never was", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "on", "", returning[struct{}](""))
		mcp.AddTool(s, "off", "", returning[struct{}]("")).Disabled()
		if got := names(t, s); got != "on" {
			t.Errorf("listed %s", got)
		}
		off, never := ask(t, s, modernCall("1", "off", "{}")), ask(t, s, modernCall("1", "nil", "{}"))
		if strings.ReplaceAll(off, "off", "nil") != never {
			t.Errorf("disabled: %s\nunknown:  %s", off, never)
		}
	})
	t.Run("TOOL-02 the same before and after calls, and on two connections", func(t *testing.T) {
		t.Parallel()
		f := newFixture(nil)
		a, b := serveLines(t, f.Server), serveLines(t, f.Server)
		a.send(list)
		first := a.next()
		a.send(modernCall("2", "add", `{"a":1,"b":2}`), modernCall("3", "panic", `{"text":"x"}`))
		a.next()
		a.next()
		a.send(list)
		b.send(list)
		if again, other := a.next(), b.next(); again != first || other != first {
			t.Errorf("lists differ:\n%s\n%s\n%s", first, again, other)
		}
	})
}

func TestToolsListShared(t *testing.T) {
	t.Parallel()
	type wide struct {
		F01, F02, F03, F04, F05, F06, F07, F08, F09, F10 int
		G01, G02, G03, G04, G05, G06, G07, G08, G09, G10 string
		H01, H02, H03, H04, H05, H06, H07, H08, H09, H10 []bool
	}
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "wide", "", returning[wide](wide{})).Title("Wide").Icon("https://example.com/", "any").Meta("k", "v")
	c := dialMemory(t, s, nil)
	pristine := mustList(t, c)[0]
	want, err := json.Marshal(pristine)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("C29 fields come in Go order", func(t *testing.T) {
		var schema struct{ Properties json.RawMessage }
		if err := json.Unmarshal(pristine.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, prefix := range "FGH" {
			for i := range 10 {
				next := strings.Index(string(schema.Properties), fmt.Sprintf("%q", fmt.Sprintf("%c%02d", prefix, i+1)))
				if next <= at {
					t.Fatalf("%c%02d is out of order: %s", prefix, i+1, schema.Properties)
				}
				at = next
			}
		}
	})
	t.Run("C29 TOOL-04 112 lists from 16 goroutines, one of which writes into what it got", func(t *testing.T) {
		var group sync.WaitGroup
		for g := range 16 {
			group.Go(func() {
				for range 7 {
					for tool, err := range c.Tools(t.Context()) {
						if err != nil {
							t.Error(err)
							return
						}
						if got, err := json.Marshal(tool); err != nil || string(got) != string(want) {
							t.Errorf("%v: %s", err, got)
							return
						}
						if g == 0 {
							scribble(tool)
						}
					}
				}
			})
		}
		group.Wait()
	})
	t.Run("C29 what middleware writes into a list shows nowhere else", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		writes := true
		s.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				v, err := next(ctx, r)
				if list, ok := v.(*mcp.ListResult); ok && writes {
					writes = false
					copy(list.Items[0], `{"name":"x",`)
				}
				return v, err
			}
		})
		mcp.AddTool(s, "t", "", returning[struct{}](""))
		line := serveLines(t, s)
		line.send(modernRequest("1", "tools/list"))
		written := line.next()
		line.send(modernRequest("2", "tools/list"))
		clean := line.next()
		if !strings.Contains(written, `"x"`) || strings.Contains(clean, `"x"`) || !strings.Contains(clean, `"name":"t"`) {
			t.Errorf("first %s\nthen  %s", written, clean)
		}
	})
}

// scribble writes into everything that can be reached from a tool.
func scribble(d *mcp.ToolInfo) {
	d.Name, d.Title = "scribbled", "scribbled"
	for _, raw := range []json.RawMessage{d.InputSchema, d.OutputSchema, d.Meta["k"]} {
		clear(raw)
	}
	d.Icons[0].Src, d.Icons[0].Sizes[0] = "scribbled", "scribbled"
	d.Meta["k"] = nil
}

func TestInputSchemas(t *testing.T) {
	t.Parallel()
	const empty = `{"type":"object","properties":{},"additionalProperties":false}`
	s := mcp.NewServer("s", "1", nil)
	type ignored struct {
		Left string `json:"-"`
	}
	mcp.AddTool(s, "empty", "", returning[struct{}](""))
	mcp.AddTool(s, "pointer", "", returning[*struct{}](""))
	mcp.AddTool(s, "named", "", returning[noArgs](""))
	mcp.AddTool(s, "ignored", "", returning[ignored](""))
	mcp.AddTool(s, "map", "", returning[map[string]int](""))
	mcp.AddTool(s, "any", "", returning[any](""))
	mcp.AddTool(s, "fields", "", returning[addArgs](""))
	tools := mustList(t, dialMemory(t, s, nil))
	for i, tool := range tools {
		t.Run("TOOL-05 the root is an object: "+tool.Name, func(t *testing.T) {
			var schema struct {
				Type       string
				Properties map[string]json.RawMessage
			}
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || schema.Type != "object" || schema.Properties == nil {
				t.Errorf("%v: %s", err, tool.InputSchema)
			}
			if strings.Contains(string(tool.InputSchema), "null") {
				t.Errorf("null in %s", tool.InputSchema)
			}
		})
		if i < 4 {
			t.Run("TOOL-06 C20 a tool without parameters: "+tool.Name, func(t *testing.T) {
				if string(tool.InputSchema) != empty {
					t.Errorf("%s", tool.InputSchema)
				}
			})
		}
	}
	t.Run("C20 extra arguments for a tool without parameters are ignored", func(t *testing.T) {
		if r := mustCall(t, dialMemory(t, s, nil), tools[0].Name, map[string]int{"x": 1}); r.IsError {
			t.Error(textOf(r))
		}
	})
	t.Run("TOOL-05 other roots are refused at registration", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "string", "", returning[string](""))
		mcp.AddTool(s, "slice", "", returning[[]int](""))
		mcp.AddTool(s, "keys", "", returning[map[bool]int](""))
		problems := registrationErrors(s.Check())
		if len(problems) != 3 {
			t.Errorf("problems: %v", problems)
		}
	})
}

func TestDisplayName(t *testing.T) {
	t.Parallel()
	title := &mcp.ToolAnnotations{Title: "annotated"}
	for _, tt := range []struct {
		name, want string
		def        mcp.ToolInfo
	}{
		{"TOOL-19 the title comes first", "titled", mcp.ToolInfo{Name: "n", Title: "titled", Annotations: title}},
		{"TOOL-19 then that of the annotations", "annotated", mcp.ToolInfo{Name: "n", Annotations: title}},
		{"TOOL-19 then the name", "n", mcp.ToolInfo{Name: "n", Annotations: &mcp.ToolAnnotations{}}},
		{"TOOL-19 the name, without annotations", "n", mcp.ToolInfo{Name: "n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.def.DisplayName(); got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestToolDefRoundTrip(t *testing.T) {
	t.Parallel()
	for name, def := range map[string]string{
		"TOOL-28 every keyword, known or not": `{"name":"t","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$anchor":"a","$defs":{"d":{"const":1.0}},` +
			`"if":{},"then":false,"else":true,"allOf":[{"x-own":[1e2,{}]}],"properties":{"z":{"$ref":"#/$defs/d"},"a":{"type":["string","null"]}},"unevaluatedProperties":false},` +
			`"outputSchema":{"oneOf":[{"type":"array","prefixItems":[{}]},{"not":{}}],"deprecated":true}}`,
		"META-05 unknown members and _meta keys": `{"name":"t","inputSchema":{},"_meta":{"com.example/a":{"b":[1]},"traceparent":"x"},"execution":{"taskSupport":"optional"},"zeta":null}`,
		"TOOL-18 false hints":                    `{"name":"t","inputSchema":{},"annotations":{"title":"T","readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}}`,
		"ICON-01 every member of an icon":        `{"name":"t","inputSchema":{},"icons":[{"src":"https://a/","mimeType":"image/png","sizes":["1x1"],"theme":"dark"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d mcp.ToolDef
			if err := json.Unmarshal([]byte(def), &d); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(def, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	listed := func(t *testing.T, opts *mcp.ServerOptions) []string {
		s := mcp.NewServer("s", "1", opts)
		mail := s.Scope("mail")
		mcp.AddTool(s, "top", "", returning[struct{}](""))
		mcp.AddTool(mail, "send", "", returning[struct{}](""))
		mcp.AddTool(mail.Scope("draft"), "send", "", returning[struct{}](""))
		mcp.AddTool(mail.Scope("").Scope("x"), "y", "", returning[struct{}](""))
		mcp.AddTool(s.Scope(""), "plain", "", returning[struct{}](""))
		var names []string
		for _, tool := range mustList(t, dialMemory(t, s, nil)) {
			names = append(names, tool.Name)
		}
		return names
	}
	for _, tt := range []struct {
		name, separator string
		want            []string
	}{
		{"prefixes add up", "", []string{"top", "mail_send", "mail_draft_send", "mail_x_y", "plain"}},
		{"another separator", ".", []string{"top", "mail.send", "mail.draft.send", "mail.x.y", "plain"}},
	} {
		t.Run("B20 B21 "+tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, listed(t, &mcp.ServerOptions{ScopeSeparator: tt.separator})); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("A15 functions and method values are registered alike", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		g := greeter{"Hello"}
		mcp.AddTool(s, "method", "", g.greet)
		mcp.AddTool(s, "function", "", func(ctx context.Context, a textArgs) (string, error) { return g.greet(ctx, a) })
		c := dialMemory(t, s, nil)
		for _, name := range []string{"method", "function"} {
			if got := textOf(mustCall(t, c, name, textArgs{"Ada"})); got != "Hello, Ada" {
				t.Errorf("%s: %s", name, got)
			}
		}
		tools := mustList(t, c)
		tools[0].Name = tools[1].Name
		if diff := cmp.Diff(tools[0], tools[1]); diff != "" {
			t.Errorf("definitions differ:\n%s", diff)
		}
	})
}

type greeter struct{ word string }

func (g greeter) greet(_ context.Context, a textArgs) (string, error) {
	return g.word + ", " + a.Text, nil
}

func TestToolNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ id, name, text string }{
		{"NAME-01", "a", ""},
		{"NAME-01", strings.Repeat("a", 128), ""},
		{"NAME-01", strings.Repeat("a", 129), "has 129 characters, more than the 128 that hosts accept"},
		{"NAME-02", "ABCxyz019_-.", ""},
		{"NAME-02", "with space", "has ' '"},
		{"NAME-02", "a,b", "has ','"},
		{"NAME-02", "a/b", "has '/'"},
		{"NAME-02", "größe", "has 'ö'"},
		{"NAME-01", strings.Repeat("ä", 128), "has 'ä'"},
	} {
		t.Run(fmt.Sprintf("%s %.20s is warned about, but works", tt.id, tt.name), func(t *testing.T) {
			t.Parallel()
			var book logBook
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: book.logger()})
			mcp.AddTool(s, tt.name, "", returning[struct{}]("works"))
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			warnings := book.records(t, slog.LevelWarn)
			if (len(warnings) == 1) != (tt.text != "") || tt.text != "" && !strings.Contains(warnings[0]["msg"].(string), tt.text) {
				t.Errorf("warnings: %v", warnings)
			}
			if got := textOf(mustCall(t, dialMemory(t, s, nil), tt.name, nil)); got != "works" {
				t.Error(got)
			}
		})
		t.Run(fmt.Sprintf("B24 %s %.20s under StrictNames", tt.id, tt.name), func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{StrictNames: true})
			mcp.AddTool(s, tt.name, "", returning[struct{}](""))
			if err := s.Check(); (err != nil) != (tt.text != "") || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Check: %v", err)
			}
		})
	}
	for what, name := range map[string]string{"empty": "", "control": "a\nb", "UTF-8": "a\xff"} {
		t.Run("B24 NAME-01 a name that no client can use is refused: "+what, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddTool(s, name, "", returning[struct{}](""))
			mcp.AddTool(s.Scope("p"), name, "", returning[struct{}](""))
			problems := registrationErrors(s.Check())
			if len(problems) != 2 {
				t.Fatalf("problems: %v", problems)
			}
			for _, p := range problems {
				if !strings.Contains(p.Err.Error(), what) {
					t.Errorf("problem: %v", p)
				}
			}
		})
	}
}
