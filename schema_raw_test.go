package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// objectSchema is a raw schema of an object with the given properties and further keywords.
func objectSchema(properties string, keywords ...string) string {
	return `{` + strings.Join(append([]string{`"type":"object","properties":{` + properties + `}`}, keywords...), ",") + `}`
}

// TestRawSchemas calls raw tools whose schemas go beyond what is derived from Go types.
func TestRawSchemas(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, schema string
		good         []string
		bad          map[string]string // with a part of the refusal
	}{
		{"JSC-01 prefixItems", objectSchema(`"a":{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`),
			[]string{`{"a":["x",1]}`, `{"a":[]}`}, map[string]string{`{"a":[1]}`: "a[0] must be a string, got", `{"a":["x",1,2]}`: "a"}},
		{"JSC-01 dependentRequired", objectSchema(``, `"dependentRequired":{"card":["address"]}`),
			[]string{`{}`, `{"card":1,"address":2}`}, map[string]string{`{"card":1}`: `must have "address", since it has "card"`}},
		{"JSC-01 unevaluatedProperties", objectSchema(`"a":{}`, `"allOf":[{"properties":{"b":{}}}]`, `"unevaluatedProperties":false`),
			[]string{`{"a":1,"b":2}`}, map[string]string{`{"a":1,"c":2}`: "c must be left out"}},
		{"JSC-02 draft-07, as $schema says", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"a":["b"]},` +
			`"properties":{"t":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`,
			[]string{`{"a":1,"b":1}`, `{"t":["x"]}`}, map[string]string{`{"a":1}`: `must have "b"`, `{"t":["x",1]}`: "t has 1 item too many"}},
		{"JSC-08 a pointer", objectSchema(`"a":{"$ref":"#/$defs/x"}`, `"$defs":{"x":{"type":"integer","maximum":3}}`),
			[]string{`{"a":3}`}, map[string]string{`{"a":4}`: "a must be at most 3, got 4"}},
		{"JSC-08 an anchor", objectSchema(`"a":{"$ref":"#x"}`, `"$defs":{"y":{"$anchor":"x","type":"boolean"}}`),
			[]string{`{"a":true}`}, map[string]string{`{"a":1}`: "a must be true or false, got 1"}},
		{"JSC-08 recursion", objectSchema(`"tree":{"$ref":"#/$defs/node"}`, `"$defs":{"node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}},"additionalProperties":false}}`),
			[]string{`{"tree":{"kids":[{"kids":[]},{}]}}`}, map[string]string{`{"tree":{"kids":[{"kids":[7]}]}}`: "tree.kids[0].kids[0] must be an object, got 7"}},
		{"JSC-10 oneOf beside the type of the root", `{"type":"object","properties":{"id":{"type":"string"},"url":{"type":"string"}},"oneOf":[{"required":["id"]},{"required":["url"]}]}`,
			[]string{`{"id":"x"}`, `{"url":"x"}`}, map[string]string{`{}`: "must have one of the allowed forms", `{"id":"x","url":"y"}`: "exactly one of the forms in"}},
		{"JSC-10 if, then and else beside it", `{"type":"object","if":{"properties":{"kind":{"const":"card"}},"required":["kind"]},"then":{"required":["number"]},"else":{"required":["iban"]}}`,
			[]string{`{"kind":"card","number":1}`, `{"iban":1}`}, map[string]string{`{"kind":"card"}`: "number is required", `{}`: "iban is required"}},
		{"C56 formats", objectSchema(`"a":{"type":"string","format":"email"},"b":{"type":"string","format":"hostname"}`),
			[]string{`{"a":"x@example.com","b":"example.com"}`}, map[string]string{`{"a":"x"}`: "a must be an email address", `{"b":"-"}`: "b must be"}},
	} {
		styles := map[string]func(*mcp.Server){
			"AddRawTool": func(s *mcp.Server) { mcp.AddRawTool(s, "t", "", mcp.RawSchema(tt.schema), echoRaw) },
			"AddToolDef": func(s *mcp.Server) {
				mcp.AddToolDef(s, mcp.ToolDef{Name: "t", InputSchema: json.RawMessage(tt.schema)}, echoRaw)
			},
			"InputSchema": func(s *mcp.Server) {
				mcp.AddTool(s, "t", "", returning[any](struct{}{})).InputSchema(mcp.RawSchema(tt.schema))
			},
		}
		for style, define := range styles {
			t.Run(tt.name+", "+style, func(t *testing.T) {
				t.Parallel()
				s := mcp.NewServer("s", "1", nil)
				define(s)
				c := dialMemory(t, s, nil)
				if got := string(mustList(t, c)[0].InputSchema); got != tt.schema {
					t.Errorf("listed as %s", got)
				}
				for _, args := range tt.good {
					if r := mustCall(t, c, "t", json.RawMessage(args)); r.IsError {
						t.Errorf("%s: %s", args, textOf(r))
					}
				}
				for args, want := range tt.bad {
					r := mustCall(t, c, "t", json.RawMessage(args))
					if !r.IsError || !strings.HasPrefix(textOf(r), "Invalid arguments:\n- ") || !strings.Contains(textOf(r), want) || goNames.MatchString(textOf(r)) {
						t.Errorf("%s: %q, want %q in it", args, textOf(r), want)
					}
				}
			})
		}
	}
}

func TestRawSchemasRefused(t *testing.T) {
	t.Parallel()
	twice := func(n int, leaf string) string { // each definition refers to the next two times
		defs := make([]string, n)
		for i := range defs {
			next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
			defs[i] = fmt.Sprintf(`"d%d":{"allOf":[%s,%s]}`, i, next, next)
		}
		return `"$defs":{` + strings.Join(append(defs, fmt.Sprintf(`"d%d":%s`, n, leaf)), ",") + `}`
	}
	deep := strings.Repeat(`{"not":`, 70) + "{}" + strings.Repeat("}", 70)
	wide := make([]string, 2100)
	for i := range wide {
		wide[i] = fmt.Sprintf(`"p%d":{}`, i)
	}
	for _, tt := range []struct {
		name, schema string
		want         []string
	}{
		{"A13 broken JSON", `{"type":`, []string{"not valid JSON", "offset 7"}},
		{"A13 no schema at all", ``, []string{"not valid JSON", "offset 0"}},
		{"A13 TOOL-05 a root of another type", `{"type":"array"}`, []string{`"type": "object"`}},
		{"A13 TOOL-05 a root without a type", `{}`, []string{`"type": "object"`}},
		{"A13 TOOL-05 null", `null`, []string{"no JSON object"}},
		{"A43 a keyword that nobody knows", objectSchema(`"a":{"minimun":1}`), []string{`"minimun"`, "#/properties/a", "would not be enforced"}},
		{"A43 a format that nobody knows", objectSchema(`"a":{"format":"zip"}`), []string{`"format"`, "#/properties/a", `"zip"`}},
		{"A43 a pattern that cannot be run", objectSchema(`"a":{"pattern":"(?=x)"}`), []string{`"pattern"`, "#/properties/a", "look-around"}},
		{"A43 JSC-06 a $ref to nowhere", objectSchema(`"a":{"$ref":"#/$defs/none"}`), []string{`"$ref"`, "#/properties/a", `"#/$defs/none"`}},
		{"JSC-02 no schema of its dialect", objectSchema(`"a":{"type":"int"}`), []string{`"type"`, "#/properties/a"}},
		{"JSC-02 a keyword of another dialect", objectSchema(``, `"$schema":"http://json-schema.org/draft-07/schema#"`, `"prefixItems":[{}]`), []string{`"prefixItems"`, "draft-07"}},
		{"JSC-03 an unknown dialect", `{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object"}`, []string{`"$schema"`, "2019-09", "not supported"}},
		{"JSC-09 deep", objectSchema(`"a":` + deep), []string{"deeper than 64"}},
		{"JSC-09 wide", objectSchema(strings.Join(wide, ",")), []string{"more than 2000 subschemas"}},
		{"JSC-09 doubling references", objectSchema(`"a":{"$ref":"#/$defs/d0"}`, twice(40, `{}`)), []string{"more than 2000 subschemas"}},
		{"JSC-09 recursion through two branches", objectSchema(`"a":{"$ref":"#/$defs/n"}`, `"$defs":{"n":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"array","items":{"$ref":"#/$defs/n"}}]}}`),
			[]string{`"anyOf"`, "#/$defs/n", "double"}},
		{"JSC-09 recursion without an end", objectSchema(`"a":{"$ref":"#/$defs/n"}`, `"$defs":{"n":{"allOf":[{"$ref":"#/$defs/n"}]}}`), []string{"#/$defs/n", "without end"}},
	} {
		for style, define := range map[string]func(*mcp.Server){
			"AddRawTool": func(s *mcp.Server) { mcp.AddRawTool(s, "t", "", mcp.RawSchema(tt.schema), echoRaw) },
			"AddToolDef": func(s *mcp.Server) {
				mcp.AddToolDef(s, mcp.ToolDef{Name: "t", InputSchema: json.RawMessage(tt.schema)}, echoRaw)
			},
			"InputSchema": func(s *mcp.Server) {
				mcp.AddTool(s, "t", "", returning[any](struct{}{})).InputSchema(mcp.RawSchema(tt.schema))
			},
			"OutputSchema": func(s *mcp.Server) {
				mcp.AddTool(s, "t", "", returning[any](row{})).OutputSchema(mcp.RawSchema(tt.schema))
			},
			"a part of one": func(s *mcp.Server) {
				mcp.AddRawTool(s, "t", "", mcp.Object().Object("o", "", mcp.RawSchema(tt.schema)), echoRaw)
			},
		} {
			elsewhere := style == "a part of one" && (strings.Contains(tt.schema, "#/") || strings.Contains(tt.name, "dialect") || !strings.HasPrefix(tt.name, "A43"))
			if elsewhere || style == "OutputSchema" && strings.Contains(tt.name, "TOOL-05") {
				continue // results may be of any type, and parts are at another place
			}
			t.Run(tt.name+", "+style, func(t *testing.T) {
				t.Parallel()
				s := mcp.NewServer("s", "1", nil)
				define(s)
				problems := registrationErrors(s.Check())
				if len(problems) != 1 || problems[0].Feature != `tool "t"` || !callSite.MatchString(problems[0].Caller) {
					t.Fatalf("problems: %v", problems)
				}
				for _, want := range tt.want {
					if style == "a part of one" {
						want = strings.Replace(want, "#/", "#/properties/o/", 1)
					}
					if !strings.Contains(problems[0].Error(), want) {
						t.Errorf("no %s in: %v", want, problems[0])
					}
				}
			})
		}
	}
}

// TestApplicationValidated shows the way out: a schema that cannot be enforced is advertised, and nothing else.
func TestApplicationValidated(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"a":{"type":"integer","default":3,"frob":1},"b":{"$ref":"https://example.com/b"}},"required":["a"]}`
	type args struct {
		A int  `json:"a" jsonschema:"minimum=5,default=7" validate:"ne=1"`
		B *any `json:"b,omitempty"`
	}
	show := func(a args) string { return fmt.Sprintf("%d", a.A) }
	s := mcp.NewServer("s", "1", nil)
	mcp.AddRawTool(s, "raw", "", mcp.RawSchema(schema), echoRaw).ApplicationValidated()
	mcp.AddToolDef(s, mcp.ToolDef{Name: "data", InputSchema: json.RawMessage(schema)}, echoRaw).ApplicationValidated()
	mcp.AddRawTool(s, "built", "", mcp.Object().Integer("a", "").Min(5).Default(7), echoRaw).ApplicationValidated()
	mcp.AddRawTool(s, "derived", "", mcp.SchemaFor[args](), echoRaw).ApplicationValidated()
	mcp.AddTool(s, "typed", "", func(_ context.Context, a args) (string, error) { return show(a), nil }).ApplicationValidated()
	mcp.AddTool(s, "replaced", "", func(_ context.Context, a args) (string, error) { return show(a), nil }).InputSchema(mcp.RawSchema(schema)).ApplicationValidated()
	mcp.AddFunc(s, "function", "", show).ApplicationValidated()
	mcp.AddMethod(s, &validated{}, "Show", "method", "", mcp.Arg("a", "").Default(7)).ApplicationValidated()
	for _, tool := range mcp.AddService(s, &validated{}) {
		tool.ApplicationValidated()
	}
	c := dialMemory(t, s, nil)
	listed := make(map[string]string)
	for _, tool := range mustList(t, c) {
		listed[tool.Name] = string(tool.InputSchema)
	}
	const typed = `{"type":"object","properties":{"a":{"type":"integer","description":"other than \"1\"","minimum":5,"default":7},"b":{}}}`
	for tool, want := range map[string]string{
		"raw": schema, "data": schema, "replaced": schema,
		"typed": typed, "function": typed, "derived": typed,
		"built":   `{"type":"object","properties":{"a":{"type":"integer","minimum":5,"default":7}}}`,
		"method":  `{"type":"object","properties":{"a":{"type":"integer","default":7}}}`,
		"service": `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`,
	} {
		t.Run("A44 advertised as it is: "+tool, func(t *testing.T) {
			if diff := cmp.Diff(want, listed[tool]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for tool := range listed {
		t.Run("A44 bad arguments reach the handler, defaults do not: "+tool, func(t *testing.T) {
			typed := !strings.Contains("raw data built derived", tool)
			for args, want := range map[string]string{`{"a":1}`: "1", `{}`: "0"} {
				if !typed {
					want = args
				}
				if r := mustCall(t, c, tool, json.RawMessage(args)); r.IsError || textOf(r) != want {
					t.Errorf("%s: %s", args, textOf(r))
				}
			}
			r := mustCall(t, c, tool, json.RawMessage(`{"a":"x"}`))
			if r.IsError != typed || typed && !strings.Contains(textOf(r), "a: expected an integer, got a string") {
				t.Errorf("what does not decode: %s", textOf(r))
			}
		})
	}
}

// validated has a tool as a method.
type validated struct {
	_ mcp.ToolTag `method:"Show" name:"service" params:"a"`
}

func (*validated) Show(a int) string { return fmt.Sprint(a) }

// TestSchemasFetchNothing gives every reference in a schema a place that it could be fetched from.
func TestSchemasFetchNothing(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	canary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		fmt.Fprint(w, `{"type":"string"}`)
	}))
	defer canary.Close()
	address := canary.URL + "/schema.json"
	for name, schema := range map[string]string{
		"$ref":           objectSchema(`"a":{"$ref":"` + address + `"}`),
		"$dynamicRef":    objectSchema(`"a":{"$dynamicRef":"` + address + `#x"}`),
		"$schema":        `{"$schema":"` + address + `","type":"object"}`,
		"relative":       objectSchema(`"a":{"$ref":"schema.json"}`, `"$id":"`+canary.URL+`/root.json"`),
		"in definitions": objectSchema(`"a":{"$ref":"#/$defs/x"}`, `"$defs":{"x":{"items":{"$ref":"`+address+`"}}}`),
		"beside others":  objectSchema(`"a":{"anyOf":[{"$ref":"`+address+`"},{"type":"integer"}]}`, `"unevaluatedProperties":false`),
	} {
		t.Run("JSC-05 JSC-06 refused, not fetched: "+name, func(t *testing.T) {
			s := mcp.NewServer("s", "1", nil)
			mcp.AddRawTool(s, "in", "", mcp.RawSchema(schema), echoRaw)
			mcp.AddRawTool(s, "out", "", mcp.Object(), echoRaw).OutputSchema(mcp.RawSchema(schema))
			mcp.AddToolDef(s, mcp.ToolDef{Name: "data", InputSchema: json.RawMessage(schema)}, echoRaw)
			problems := registrationErrors(s.Check())
			if len(problems) != 3 {
				t.Fatalf("problems: %v", problems)
			}
			for _, p := range problems {
				if !strings.Contains(p.Error(), `schema.json`) {
					t.Errorf("the reference is not named: %v", p)
				}
			}
		})
		t.Run("JSC-05 list, call and check of an application-validated tool: "+name, func(t *testing.T) {
			s := mcp.NewServer("s", "1", nil)
			mcp.AddRawTool(s, "t", "", mcp.RawSchema(schema), echoRaw).ApplicationValidated()
			c := dialMemory(t, s, nil)
			if got := string(mustList(t, c)[0].InputSchema); got != schema {
				t.Errorf("listed as %s", got)
			}
			if r := mustCall(t, c, "t", map[string]any{"a": 1}); r.IsError {
				t.Error(textOf(r))
			}
		})
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("JSC-05: %d requests were made", n)
	}
}

// TestRawArgsLimit shows which arguments are too long to be checked, and whose.
func TestRawArgsLimit(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", &mcp.ServerOptions{Limits: mcp.Limits{RawArgs: 1000}})
	mcp.AddRawTool(s, "full", "", mcp.RawSchema(objectSchema(``, `"not":{"required":["x"]}`)), echoRaw)
	mcp.AddRawTool(s, "simple", "", mcp.RawSchema(objectSchema(`"text":{"type":"string"}`)), echoRaw)
	mcp.AddTool(s, "typed", "", returning[textArgs](""))
	c := dialMemory(t, s, nil)
	sized := func(n int) json.RawMessage { return json.RawMessage(`{"text":"` + strings.Repeat("x", n-11) + `"}`) }
	t.Run("JSC-09 TOOL-24 the full validator gets no more than Limits.RawArgs", func(t *testing.T) {
		if r := mustCall(t, c, "full", sized(1000)); r.IsError {
			t.Errorf("at the limit: %s", textOf(r))
		}
		const want = "Invalid arguments:\n- arguments have 1001 bytes, more than the 1000 that this tool takes: send less at once"
		if r := mustCall(t, c, "full", sized(1001)); !r.IsError || textOf(r) != want {
			t.Errorf("beyond the limit: %s", textOf(r))
		}
	})
	t.Run("other tools have the limit of messages", func(t *testing.T) {
		for _, tool := range []string{"simple", "typed"} {
			if r := mustCall(t, c, tool, sized(5000)); r.IsError {
				t.Errorf("%s: %s", tool, textOf(r))
			}
		}
	})
	t.Run("the default is 1 MiB", func(t *testing.T) {
		c := dialMemory(t, rawServer(nil, mcp.RawSchema(objectSchema(``, `"not":{"required":["x"]}`))), nil)
		if r := mustCall(t, c, "t", sized(1<<20)); r.IsError {
			t.Errorf("at the limit: %s", textOf(r))
		}
		if r := mustCall(t, c, "t", sized(1<<20+1)); !r.IsError {
			t.Error("more than 1 MiB was checked")
		}
	})
}

// TestRawHandlers shows what is asked of raw handlers, and what is left to
// those of application-validated tools.
func TestRawHandlers(t *testing.T) {
	t.Parallel()
	t.Run("A1 A14 a nil handler is a problem", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddRawTool(s, "raw", "", mcp.Object(), nil)
		mcp.AddToolDef(s, mcp.ToolDef{Name: "def", InputSchema: json.RawMessage(objectSchema(``))}, nil)
		err := s.Check()
		if err == nil || strings.Count(err.Error(), "the handler is nil") != 2 {
			t.Errorf("Check: %v", err)
		}
	})
	t.Run("A42 Strict is a problem of a schema that is written and open", func(t *testing.T) {
		open, closed := mcp.RawSchema(objectSchema(`"a":{}`)), mcp.RawSchema(objectSchema(`"a":{}`, `"additionalProperties":false`))
		s := mcp.NewServer("s", "1", nil)
		mcp.AddRawTool(s, "raw", "", open, echoRaw).Strict()
		mcp.AddToolDef(s, mcp.ToolDef{Name: "data", InputSchema: json.RawMessage(objectSchema(`"a":{}`))}, echoRaw).Strict()
		mcp.AddTool(s, "typed", "", returning[map[string]any]("")).InputSchema(open).Strict()
		mcp.AddRawTool(s, "closed", "", closed, echoRaw).Strict()
		mcp.AddRawTool(s, "lax", "", open, echoRaw).Strict().ApplicationValidated()
		mcp.AddRawTool(s, "built", "", mcp.Object().Any("a", ""), echoRaw).Strict()
		const text = `it is Strict, but its schema, which is enforced as it is written, takes names that it does not declare; write "additionalProperties": false into it`
		problems := registrationErrors(s.Check())
		if len(problems) != 3 {
			t.Fatalf("problems: %v", problems)
		}
		for i, tool := range []string{"raw", "data", "typed"} {
			if problems[i].Feature != `tool "`+tool+`"` || problems[i].Err.Error() != text {
				t.Errorf("%s: %v", tool, problems[i])
			}
		}
	})
	for name, define := range map[string]func(*mcp.Server) *mcp.Tool{
		"typed":        func(s *mcp.Server) *mcp.Tool { return mcp.AddTool(s, "t", "", returning[selfChecked]("ran")) },
		"by a pointer": func(s *mcp.Server) *mcp.Tool { return mcp.AddTool(s, "t", "", returning[*pointerChecked]("ran")) },
		"raw": func(s *mcp.Server) *mcp.Tool {
			return mcp.AddRawTool(s, "t", "", mcp.SchemaFor[selfChecked](), echoRaw)
		},
	} {
		t.Run("A44 A45 a Validate method is run when the application validates, too: "+name, func(t *testing.T) {
			s := mcp.NewServer("s", "1", nil)
			define(s).ApplicationValidated()
			c := dialMemory(t, s, nil)
			if r := mustCall(t, c, "t", map[string]string{"say": "no"}); !r.IsError || textOf(r) != "Invalid arguments:\n- said no" {
				t.Errorf("refused: %s", textOf(r))
			}
			if r := mustCall(t, c, "t", map[string]string{"say": ""}); r.IsError {
				t.Errorf("passed: %s", textOf(r))
			}
		})
	}
	type args struct {
		Host string `json:"host" validate:"fqdn"`
	}
	call := func(t *testing.T, define func(*mcp.Server) *mcp.Tool, verbatim bool) *mcp.Result {
		s := mcp.NewServer("s", "1", nil)
		if tool := define(s); verbatim {
			tool.ApplicationValidated()
		}
		return mustCall(t, dialMemory(t, s, nil), "t", map[string]string{"host": "?"})
	}
	for name, define := range map[string]func(*mcp.Server) *mcp.Tool{
		"typed": func(s *mcp.Server) *mcp.Tool {
			return mcp.AddTool(s, "t", "", func(_ context.Context, a args) (string, error) { return a.Host, nil })
		},
		"raw": func(s *mcp.Server) *mcp.Tool { return mcp.AddRawTool(s, "t", "", mcp.SchemaFor[args](), echoRaw) },
	} {
		t.Run("A44 validate tags are run unless the application validates: "+name, func(t *testing.T) {
			if r := call(t, define, false); !r.IsError || !strings.Contains(textOf(r), "host must be a full domain name") {
				t.Errorf("checked: %s", textOf(r))
			}
			if r := call(t, define, true); r.IsError {
				t.Errorf("application-validated: %s", textOf(r))
			}
		})
	}
}
