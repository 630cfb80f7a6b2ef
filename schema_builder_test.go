package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// echoRaw is a raw handler that returns its arguments as text.
func echoRaw(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
	return &mcp.Result{Content: []mcp.Content{mcp.Text(string(args))}}, nil
}

// rawServer has the raw tool "t", which returns its arguments.
func rawServer(opts *mcp.ServerOptions, input mcp.Schema) *mcp.Server {
	s := mcp.NewServer("s", "1", opts)
	mcp.AddRawTool(s, "t", "", input, echoRaw)
	return s
}

// inputSchemaOf returns the input schema of the one tool of s, as it is listed.
func inputSchemaOf(t testing.TB, s *mcp.Server) string {
	t.Helper()
	tools := mustList(t, dialMemory(t, s, nil))
	if len(tools) != 1 {
		t.Fatalf("%d tools", len(tools))
	}
	return string(tools[0].InputSchema)
}

// place is a part of built schemas.
type place struct {
	City string  `json:"city" jsonschema:"minLength=2,pattern=^[A-Z]"`
	Zip  *string `json:"zip,omitempty"`
}

func TestSchemaBuilder(t *testing.T) {
	t.Parallel()
	object := func(properties, rest string) string {
		return `{"type":"object","properties":{` + properties + `}` + rest + `}`
	}
	for _, tt := range []struct {
		name   string
		schema mcp.Schema
		want   string
	}{
		{"A10 strings, numbers, integers and booleans, required and in order",
			mcp.Object().String("s", "A text").Number("n", "A number").Integer("i", "A count").Boolean("b", "Whether"),
			object(`"s":{"type":"string","description":"A text"},"n":{"type":"number","description":"A number"},`+
				`"i":{"type":"integer","description":"A count"},"b":{"type":"boolean","description":"Whether"}`, `,"required":["s","n","i","b"]`)},
		{"A10 optional properties are not required, empty descriptions are not there",
			mcp.Object().String("a", "").Optional().String("b", ""), object(`"a":{"type":"string"},"b":{"type":"string"}`, `,"required":["b"]`)},
		{"A10 all optional: nothing is required", mcp.Object().String("a", "").Optional(), object(`"a":{"type":"string"}`, ``)},
		{"A36 a default makes optional", mcp.Object().Integer("a", "").Default(10).Boolean("b", "").Default(false),
			object(`"a":{"type":"integer","default":10},"b":{"type":"boolean","default":false}`, ``)},
		{"A35 enumerations", mcp.Object().String("a", "").Enum("x", "y").Integer("b", "").Enum(1, 2),
			object(`"a":{"type":"string","enum":["x","y"]},"b":{"type":"integer","enum":[1,2]}`, `,"required":["a","b"]`)},
		{"A9 bounds of any Go number", mcp.Object().Integer("a", "").Min(-1).Max(uint64(math.MaxUint64)).Number("b", "").Min(0.5).Max(float32(2)),
			object(`"a":{"type":"integer","minimum":-1,"maximum":18446744073709551615},"b":{"type":"number","minimum":0.5,"maximum":2}`, `,"required":["a","b"]`)},
		{"A9 lengths and patterns", mcp.Object().String("a", "").MinLength(1).MaxLength(9).Pattern("^[a-z]+$"),
			object(`"a":{"type":"string","minLength":1,"maxLength":9,"pattern":"^[a-z]+$"}`, `,"required":["a"]`)},
		{"A9 a later step wins", mcp.Object().Integer("a", "").Min(1).Min(2), object(`"a":{"type":"integer","minimum":2}`, `,"required":["a"]`)},
		{"A10 nested objects and arrays",
			mcp.Object().Object("o", "An object", mcp.Object().String("x", "")).Array("l", "A list", mcp.Type("integer").Min(1)),
			object(`"o":{"type":"object","description":"An object","properties":{"x":{"type":"string"}},"required":["x"]},`+
				`"l":{"type":"array","description":"A list","items":{"type":"integer","minimum":1}}`, `,"required":["o","l"]`)},
		{"A10 arrays have items always", mcp.Object().Array("a", "", mcp.Type("array")),
			object(`"a":{"type":"array","items":{"type":"array","items":{}}}`, `,"required":["a"]`)},
		{"A9 any value", mcp.Object().Any("a", "What you like"), object(`"a":{"description":"What you like"}`, `,"required":["a"]`)},
		{"A9 any keyword", mcp.Object().Keyword("description", "All").Array("a", "", mcp.Type("string")).Keyword("uniqueItems", true),
			`{"type":"object","description":"All","properties":{"a":{"type":"array","uniqueItems":true,"items":{"type":"string"}}},"required":["a"]}`},
		{"A9 keywords take the place of type and items",
			mcp.Object().String("a", "").Keyword("type", []string{"string", "null"}).Array("b", "", mcp.Type("string")).Keyword("items", mcp.Type("number")),
			object(`"a":{"type":["string","null"]},"b":{"type":"array","items":{"type":"number"}}`, `,"required":["a","b"]`)},
		{"XMH-02 headers", mcp.Object().String("a", "").Header("Region"), object(`"a":{"type":"string","x-mcp-header":"Region"}`, `,"required":["a"]`)},
		{"A9 names are quoted", mcp.Object().String("a\"\n", "\u2028<"), object(`"a\"\n":{"type":"string","description":"\u2028<"}`, `,"required":["a\"\n"]`)},
		{"TOOL-06 A10 without properties", mcp.Object(), object("", `,"additionalProperties":false`)},
		{"TOOL-06 A10 the zero Schema is the same", mcp.Schema{}, object("", `,"additionalProperties":false`)},
		{"A10 a nested object without properties is open", mcp.Object().Object("o", "", mcp.Schema{}), object(`"o":{"type":"object","properties":{}}`, `,"required":["o"]`)},
		{"A10 Go types as parts, as hosts take them", mcp.Object().Object("from", "Start", mcp.SchemaFor[place]()).Array("to", "Stops", mcp.SchemaFor[place]()),
			object(`"from":{"description":"Start","type":"object","properties":{"city":{"type":"string","minLength":2,"description":"matching ^[A-Z]"},"zip":{"type":"string"}},"required":["city"]},`+
				`"to":{"type":"array","description":"Stops","items":{"type":"object","properties":{"city":{"type":"string","minLength":2,"description":"matching ^[A-Z]"},"zip":{"type":"string"}},"required":["city"]}}`,
				`,"required":["from","to"]`)},
		{"A10 Go types that are no objects", mcp.Object().Object("a", "", mcp.SchemaFor[[]string]()).Optional().Array("b", "", mcp.SchemaFor[int8]()).Optional(),
			object(`"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array","items":{"type":"integer","minimum":-128,"maximum":127}}`, ``)},
		{"A10 JSON as parts, and a description in the place of theirs",
			mcp.Object().Object("a", "", mcp.RawSchema(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)).Object("b", "Mine", mcp.RawSchema(`{"description":"Yours","const":1}`)),
			object(`"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"description":"Mine","const":1}`, `,"required":["a","b"]`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, inputSchemaOf(t, rawServer(nil, tt.schema))); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, tt.schema.JSON()); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchemaIsAValue(t *testing.T) {
	t.Parallel()
	base := mcp.Object().String("a", "First").Integer("b", "Second")
	before := base.JSON()
	t.Run("A9 steps leave what they start from as it was", func(t *testing.T) {
		items := mcp.Type("string")
		left := base.Optional().Min(1).Keyword("title", "L").String("c", "").Array("d", "", items)
		right := base.Max(9).Number("e", "").Default(1.5).Keyword("title", "R")
		_, _, _ = items.Enum("x"), base.Header("no"), left.Min("no")
		if got := base.JSON(); got != before {
			t.Errorf("base %s", got)
		}
		const (
			a         = `{"type":"object","properties":{"a":{"type":"string","description":"First"},`
			wantLeft  = a + `"b":{"type":"integer","description":"Second","minimum":1,"title":"L"},"c":{"type":"string"},"d":{"type":"array","items":{"type":"string"}}},"required":["a","c","d"]}`
			wantRight = a + `"b":{"type":"integer","description":"Second","maximum":9},"e":{"type":"number","default":1.5,"title":"R"}},"required":["a","b"]}`
		)
		if diff := cmp.Diff([]string{wantLeft, wantRight}, []string{left.JSON(), right.JSON()}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("A9 two schemas that go on from one do not share what they add", func(t *testing.T) {
		base := mcp.Object().String("a", "").String("b", "").String("c", "") // appending leaves room behind three
		one, other := base.String("one", ""), base.String("other", "")
		const want = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"%[1]s":{"type":"string"}},"required":["a","b","c","%[1]s"]}`
		if diff := cmp.Diff([]string{fmt.Sprintf(want, "one"), fmt.Sprintf(want, "other")}, []string{one.JSON(), other.JSON()}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("A9 nor the mistakes", func(t *testing.T) {
		base := mcp.Object().String("a", "").String("a", "").String("a", "").String("a", "")
		one, other := base.Min("one"), base.Min("other")
		for want, s := range map[string]mcp.Schema{"not one": one, "not other": other} {
			if _, err := json.Marshal(s); err == nil || strings.Count(err.Error(), "twice") != 3 || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
	})
	t.Run("A9 nor the keywords", func(t *testing.T) {
		base := mcp.Object().Integer("a", "").Min(1).Max(9).Keyword("title", "A")
		again, one, other := base.Min(2), base.Keyword("x-own", 1), base.Keyword("x-own", 2)
		const want = `{"type":"object","properties":{"a":{"type":"integer",%s}},"required":["a"]}`
		if diff := cmp.Diff([]string{
			fmt.Sprintf(want, `"minimum":1,"maximum":9,"title":"A"`), fmt.Sprintf(want, `"maximum":9,"title":"A","minimum":2`),
			fmt.Sprintf(want, `"minimum":1,"maximum":9,"title":"A","x-own":1`), fmt.Sprintf(want, `"minimum":1,"maximum":9,"title":"A","x-own":2`),
		}, []string{base.JSON(), again.JSON(), one.JSON(), other.JSON()}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("A9 one schema for several tools, in parts too", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddRawTool(s, "one", "", base, echoRaw)
		mcp.AddRawTool(s, "two", "", base, echoRaw)
		mcp.AddRawTool(s, "three", "", mcp.Object().Object("in", "Inside", base).Array("list", "", base), echoRaw)
		tools := mustList(t, dialMemory(t, s, nil))
		inner := strings.Replace(before, `{"type":"object",`, `{"type":"object","description":"Inside",`, 1)
		want := []string{before, before, `{"type":"object","properties":{"in":` + inner + `,"list":{"type":"array","items":` + before + `}},"required":["in","list"]}`}
		for i, tool := range tools {
			if diff := cmp.Diff(want[i], string(tool.InputSchema)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tool.Name, diff)
			}
		}
	})
	t.Run("A9 encoded by others", func(t *testing.T) {
		text, err := json.Marshal(map[string]mcp.Schema{"s": base, "empty": mcp.Object(), "typed": mcp.SchemaFor[place]()})
		if err != nil || !strings.Contains(string(text), `"s":`+before) || !strings.Contains(string(text), `"empty":{"type":"object","properties":{}}`) || !strings.Contains(string(text), `"city"`) {
			t.Errorf("%v: %s", err, text)
		}
		if _, err := json.Marshal(base.Min("x")); err == nil || base.Min("x").JSON() != "" {
			t.Errorf("a schema with a mistake was encoded: %v", err)
		}
	})
}

func TestSchemaBuilderEnforced(t *testing.T) {
	t.Parallel()
	built := mcp.Object().String("name", "").MinLength(2).Integer("count", "").Min(1).Default(10).
		Object("at", "", mcp.SchemaFor[place]()).Optional().
		Array("tags", "", mcp.Type("string").Enum("a", "b")).Keyword("uniqueItems", true).Optional()
	for _, tt := range []struct {
		name, args string
		opts       *mcp.ServerOptions
		want       string // arguments that the handler got, or the refusal
	}{
		{"A41 absent ones have their default", `{"name":"ab"}`, nil, `{"name":"ab","count":10}`},
		{"A41 null for an optional one is absent", `{"name":"ab","count":null,"tags":null}`, nil, `{"name":"ab","count":10}`},
		{"A39 every rule", `{"name":"a","count":0,"tags":["a","a","c"]}`, nil,
			"Invalid arguments:\n- name must have at least 2 characters, got 1\n- count must be at least 1, got 0\n" +
				"- tags[2] must be one of \"a\", \"b\", got \"c\"\n- tags[1] repeats item 0, the string \"a\": items must differ"},
		{"A10 a Go type's rules that are advertised as words", `{"name":"ab","at":{"city":"oslo"}}`, nil,
			"Invalid arguments:\n- at.city must match the pattern ^[A-Z], got \"oslo\""},
		{"A42 unknown names pass", `{"name":"ab","nam":"x"}`, nil, `{"name":"ab","nam":"x","count":10}`},
		{"A42 StrictArgs refuses them", `{"name":"ab","nam":"x"}`, &mcp.ServerOptions{StrictArgs: true},
			"Invalid arguments:\n- unknown argument \"nam\": did you mean \"name\"? It takes \"name\", \"count\", \"at\", \"tags\""},
		{"A42 and in parts", `{"name":"ab","at":{"city":"Oslo","x":1}}`, &mcp.ServerOptions{StrictArgs: true},
			"Invalid arguments:\n- unknown argument \"x\" of at: it takes \"city\", \"zip\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := textOf(mustCall(t, dialMemory(t, rawServer(tt.opts, built), nil), "t", json.RawMessage(tt.args))); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	t.Run("TOOL-06 A42 a tool without parameters ignores arguments unless strict", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddRawTool(s, "open", "", mcp.Object(), echoRaw)
		mcp.AddRawTool(s, "strict", "", mcp.Object(), echoRaw).Strict()
		c := dialMemory(t, s, nil)
		if r := mustCall(t, c, "open", map[string]int{"x": 1}); r.IsError {
			t.Error(textOf(r))
		}
		if r := mustCall(t, c, "strict", map[string]int{"x": 1}); !r.IsError {
			t.Error("an unknown argument passed")
		}
	})
	t.Run("A42 strict built schemas say so, open ones stay open", func(t *testing.T) {
		t.Parallel()
		schema := mcp.Object().Object("o", "", mcp.Object().String("x", "")).
			Object("free", "", mcp.Object()).
			Object("named", "", mcp.Object().String("x", "")).Keyword("additionalProperties", mcp.Type("integer"))
		const closed = `"additionalProperties":false`
		want := `{"type":"object","properties":{"o":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],` + closed + `},` +
			`"free":{"type":"object","properties":{}},` +
			`"named":{"type":"object","additionalProperties":{"type":"integer"},"properties":{"x":{"type":"string"}},"required":["x"]}},"required":["o","free","named"],` + closed + `}`
		if diff := cmp.Diff(want, inputSchemaOf(t, rawServer(&mcp.ServerOptions{StrictArgs: true}, schema))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestSchemaPartsRefused shows what a part of a built schema may not have.
func TestSchemaPartsRefused(t *testing.T) {
	t.Parallel()
	type ruled struct {
		Host string `json:"host" validate:"fqdn"`
	}
	for name, schema := range map[string]mcp.Schema{
		"a property": mcp.Object().Object("at", "", mcp.SchemaFor[ruled]()),
		"items":      mcp.Object().Array("at", "", mcp.SchemaFor[ruled]()),
		"deeper":     mcp.Object().Object("in", "", mcp.Object().Array("at", "", mcp.SchemaFor[ruled]())),
	} {
		t.Run("A10 validate tags that no schema can say: "+name, func(t *testing.T) {
			t.Parallel()
			problems := registrationErrors(rawServer(nil, schema).Check())
			if len(problems) != 1 || problems[0].Feature != `tool "t"` || problems[0].Type != "mcp_test.ruled" ||
				!strings.Contains(problems[0].Error(), "has validate tags that no schema can say and that would not be enforced in a part of a built schema") {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

// TestFullSchemas shows what is advertised to hosts that take every keyword.
func TestFullSchemas(t *testing.T) {
	t.Parallel()
	type args struct {
		N int    `json:"n" jsonschema:"enum=1,enum=2"`
		P string `json:"p" jsonschema:"pattern=^a,title=Pee"`
	}
	const (
		plain = `{"type":"object","properties":{"n":{"type":"integer","description":"one of 1, 2"},"p":{"type":"string","description":"matching ^a"}},"required":["n","p"]}`
		full  = `{"type":"object","properties":{"n":{"type":"integer","enum":[1,2]},"p":{"type":"string","pattern":"^a","title":"Pee"}},"required":["n","p"]}`
	)
	for _, on := range []bool{false, true} {
		want := map[bool]string{false: plain, true: full}[on]
		opts := &mcp.ServerOptions{FullSchemas: on}
		for name, define := range map[string]func(*mcp.Server){
			"AddTool": func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[args](args{})) },
			"AddFunc": func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(a args) args { return a }) },
			"SchemaFor": func(s *mcp.Server) {
				mcp.AddRawTool(s, "t", "", mcp.SchemaFor[args](), echoRaw).OutputSchema(mcp.SchemaFor[args]())
			},
			"a part of a built one": func(s *mcp.Server) {
				mcp.AddRawTool(s, "t", "", mcp.Object().Object("in", "", mcp.SchemaFor[args]()), echoRaw)
			},
			"replaced": func(s *mcp.Server) {
				mcp.AddTool(s, "t", "", returning[any](args{})).InputSchema(mcp.SchemaFor[args]())
			},
			"application-validated":  func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[args](args{})).ApplicationValidated() },
			"SchemaFor, unvalidated": func(s *mcp.Server) { mcp.AddRawTool(s, "t", "", mcp.SchemaFor[args](), echoRaw).ApplicationValidated() },
		} {
			t.Run("I4 full "+map[bool]string{false: "off: ", true: "on: "}[on]+name, func(t *testing.T) {
				t.Parallel()
				s := mcp.NewServer("s", "1", opts)
				define(s)
				tool := mustList(t, dialMemory(t, s, nil))[0]
				if !strings.Contains(string(tool.InputSchema), want) {
					t.Errorf("input schema %s", tool.InputSchema)
				}
				if out := string(tool.OutputSchema); out != "" && out != want {
					t.Errorf("output schema %s", out)
				}
			})
		}
	}
	t.Run("I4 what is not advertised is enforced", func(t *testing.T) {
		t.Parallel()
		s := rawServer(nil, mcp.Object().Object("in", "", mcp.SchemaFor[args]()))
		if r := mustCall(t, dialMemory(t, s, nil), "t", json.RawMessage(`{"in":{"n":3,"p":"b"}}`)); textOf(r) !=
			"Invalid arguments:\n- in.n must be one of 1, 2, got 3\n- in.p must match the pattern ^a, got \"b\"" {
			t.Error(textOf(r))
		}
	})
}
