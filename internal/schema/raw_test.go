package schema_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/typedmcp/mcp/internal/schema"
)

// raw makes the plan of a hand-written schema, which must be without fault.
func raw(t testing.TB, text string) *schema.Plan {
	t.Helper()
	p, problems := schema.Raw([]byte(text), schema.RawOptions{Object: true})
	if p == nil {
		t.Fatalf("%s: %+v", text, problems)
	}
	return p
}

// props is a schema with the given properties and keywords beside them.
func props(properties string, more ...string) string {
	return `{"type":"object","properties":{` + properties + `}` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func TestRawSchemas(t *testing.T) {
	tests := []struct {
		name, schema string
		good, bad    []string
	}{
		{"JSC-01 prefixItems", props(`"a":{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`),
			[]string{`{"a":["x",1]}`, `{"a":["x"]}`}, []string{`{"a":[1]}`, `{"a":["x",1,2]}`}},
		{"JSC-01 dependentRequired", props(``, `"dependentRequired":{"a":["b"]}`), []string{`{"b":1}`, `{"a":1,"b":1}`}, []string{`{"a":1}`}},
		{"JSC-01 unevaluatedProperties", props(`"a":{}`, `"allOf":[{"properties":{"b":{}}}]`, `"unevaluatedProperties":false`), []string{`{"a":1,"b":1}`}, []string{`{"c":1}`}},
		{"JSC-01 dependentSchemas", props(``, `"dependentSchemas":{"a":{"required":["b"]}}`), []string{`{"b":1}`}, []string{`{"a":1}`}},
		{"JSC-01 contains with a count", props(`"a":{"contains":{"const":1},"minContains":2,"maxContains":3}`), []string{`{"a":[1,1,2]}`}, []string{`{"a":[1]}`, `{"a":[1,1,1,1]}`}},
		{"JSC-02 draft-07 by $schema", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}},"dependencies":{"a":["b"]}}`,
			[]string{`{"a":["x"],"b":1}`}, []string{`{"a":["x"]}`, `{"a":[1],"b":1}`, `{"a":["x","y"],"b":1}`}},
		{"JSC-02 $id beside $ref in draft-07 names nothing", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$id":"other","$ref":"#/definitions/x"}},"definitions":{"x":{"type":"integer"}}}`,
			[]string{`{"a":3}`}, []string{`{"a":"x"}`}},
		{"A13 TOOL-05 a type in escapes", `{"type":"obj\u0065ct","properties":{"a":{"type":"integ\u0065r"}}}`, []string{`{"a":3}`}, []string{`{"a":"x"}`}},
		{"JSC-08 pointer", props(`"a":{"$ref":"#/$defs/x"}`, `"$defs":{"x":{"type":"integer","maximum":3}}`), []string{`{"a":3}`}, []string{`{"a":4}`, `{"a":"x"}`}},
		{"JSC-08 pointer with escapes", props(`"a":{"$ref":"#/$defs/x~1y%20z"}`, `"$defs":{"x/y z":{"type":"integer"}}`), []string{`{"a":3}`}, []string{`{"a":"x"}`}},
		{"JSC-08 anchor", props(`"a":{"$ref":"#x"}`, `"$defs":{"y":{"$anchor":"x","type":"integer"}}`), []string{`{"a":3}`}, []string{`{"a":"x"}`}},
		{"JSC-08 embedded resource", props(`"a":{"$ref":"other"}`, `"$defs":{"y":{"$id":"other","type":"integer"}}`), []string{`{"a":3}`}, []string{`{"a":"x"}`}},
		{"JSC-08 recursive", props(`"a":{"$ref":"#"}`, `"required":["n"]`), []string{`{"n":1,"a":{"n":1}}`}, []string{`{"n":1,"a":{}}`}},
		{"JSC-08 $dynamicRef", props(`"a":{"$dynamicRef":"#x"}`, `"$defs":{"y":{"$dynamicAnchor":"x","type":"integer"}}`), []string{`{"a":3}`}, []string{`{"a":"x"}`}},
		{"JSC-10 C47 combinators at the root", props(`"id":{},"url":{}`, `"oneOf":[{"required":["id"]},{"required":["url"]}]`), []string{`{"id":1}`}, []string{`{}`, `{"id":1,"url":1}`}},
		{"conditions", props(`"a":{},"b":{}`, `"if":{"properties":{"a":{"const":1}},"required":["a"]}`, `"then":{"required":["b"]}`, `"else":{"required":["c"]}`), []string{`{"a":1,"b":1}`, `{"c":1}`}, []string{`{"a":1}`, `{"a":2}`}},
		{"not", props(`"a":{"not":{"type":"string"}}`), []string{`{"a":1}`}, []string{`{"a":"x"}`}},
		{"siblings of $ref", props(`"a":{"$ref":"#/$defs/x","maximum":3}`, `"$defs":{"x":{"type":"integer"}}`), []string{`{"a":3}`}, []string{`{"a":4}`, `{"a":"x"}`}},
		{"closed as written", props(`"a":{"type":"integer"}`, `"additionalProperties":false`), []string{`{"a":1}`, `{}`}, []string{`{"b":1}`}},
		{"schema of other names", props(`"a":{"type":"integer"}`, `"additionalProperties":{"type":"string"}`), []string{`{"a":1,"b":"x"}`}, []string{`{"b":1}`}},
		{"patterns of names", props(`"a":{}`, `"patternProperties":{"^x":{"type":"integer"}}`, `"additionalProperties":false`), []string{`{"a":1,"x1":2}`}, []string{`{"x1":"y"}`, `{"b":1}`}},
		{"names", props(``, `"propertyNames":{"maxLength":2}`), []string{`{"ab":1}`}, []string{`{"abc":1}`}},
		{"a required name that is not declared", props(`"a":{}`, `"required":["b"]`), []string{`{"b":null}`}, []string{`{"a":1}`}},
		{"boolean schemas", props(`"a":true,"b":false`), []string{`{"a":1}`}, []string{`{"b":1}`}},
		{"lists of types", props(`"a":{"type":["string","null","integer"],"maximum":3,"maxLength":2}`), []string{`{"a":null}`, `{"a":"xy"}`, `{"a":3}`}, []string{`{"a":4}`, `{"a":"xyz"}`, `{"a":1.5}`}},
		{"untyped keywords", props(`"a":{"minimum":3,"minLength":2,"minItems":1}`), []string{`{"a":3}`, `{"a":"xy"}`, `{"a":[1]}`, `{"a":true}`}, []string{`{"a":2}`, `{"a":"x"}`, `{"a":[]}`}},
		{"enum of anything", props(`"a":{"enum":[1,"x",null,true,[1],{"b":2}]}`), []string{`{"a":1.0}`, `{"a":null}`, `{"a":[1]}`, `{"a":{"b":2}}`}, []string{`{"a":2}`, `{"a":false}`, `{"a":[2]}`, `{"a":{}}`}},
		{"const", props(`"a":{"const":"x"}`), []string{`{"a":"x"}`}, []string{`{"a":"y"}`, `{"a":1}`, `{"a":[]}`, `{"a":{}}`}},
		{"enum beside const", props(`"a":{"const":"x","enum":["y","x"]}`), []string{`{"a":"x"}`}, []string{`{"a":"y"}`}},
		{"formats of ours", props(`"a":{"format":"date-time"},"b":{"format":"uuid"}`), []string{`{"a":"2026-05-01T10:00:00Z"}`, `{"a":5}`}, []string{`{"a":"x"}`, `{"b":"x"}`}},
		{"formats of the full validator", props(`"a":{"format":"hostname"},"b":{"format":"regex"}`), []string{`{"a":"x.de","b":"^a"}`}, []string{`{"a":"-"}`, `{"b":"("}`}},
		{"encoded content", props(`"a":{"contentEncoding":"base64"},"b":{"contentMediaType":"application/json"}`), []string{`{"a":"AA==","b":"{}"}`}, []string{`{"a":"?"}`, `{"b":"{"}`}},
		{"sizes", props(`"a":{"minItems":1,"maxItems":2,"uniqueItems":true},"b":{"minProperties":1,"maxProperties":2}`), []string{`{"a":[1,2],"b":{"x":1}}`}, []string{`{"a":[]}`, `{"a":[1,1.0]}`, `{"b":{}}`}},
		{"numbers", props(`"a":{"exclusiveMinimum":0,"exclusiveMaximum":1,"multipleOf":0.1}`), []string{`{"a":0.3}`}, []string{`{"a":0}`, `{"a":1}`, `{"a":0.25}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := raw(t, tt.schema)
			if string(p.JSON()) != tt.schema {
				t.Errorf("advertised as %s", p.JSON())
			}
			for _, args := range tt.good {
				if _, v := p.Check([]byte(args)); v != nil {
					t.Errorf("%s: %+v", args, v)
				}
			}
			for _, args := range tt.bad {
				out, v := p.Check([]byte(args))
				if len(v) == 0 || out != nil {
					t.Errorf("%s is accepted", args)
				}
				for _, v := range v {
					if v.Message == "" || v.Rule == "" || strings.Contains(v.Message, "obey the rule") {
						t.Errorf("%s: %+v", args, v)
					}
				}
			}
		})
	}
}

func TestRawProblems(t *testing.T) {
	deep, wide := `{}`, ``
	for range 70 {
		deep = `{"items":` + deep + `}`
	}
	for i := range 2000 {
		wide += fmt.Sprintf(`"p%d":{},`, i)
	}
	doubling := `"x0":{"type":"string"}`
	for i := range 12 {
		doubling += fmt.Sprintf(`,"x%d":{"properties":{"a":{"$ref":"#/$defs/x%d"},"b":{"$ref":"#/$defs/x%d"}}}`, i+1, i, i)
	}
	tests := []struct{ name, schema, keyword, pointer, text string }{
		{"A13 not JSON", `{"type":`, "", "", "offset"},
		{"A13 twice the same name", `{"type":"object","type":"object"}`, "", "", "twice"},
		{"A13 text behind the schema", `{"type":"object"} {}`, "", "", "offset 19"},
		{"A13 a bracket behind the schema", `{"type":"object"}}`, "", "", "offset 17"},
		{"JSC-09 number that cannot be divided", props(`"a":{"enum":[{"b":1e999999}]}`), "", "", "number out of range"},
		{"A13 no object", `[]`, "", "", "no JSON object"},
		{"A13 TOOL-05 root of another type", `{"type":"string"}`, "", "", `"type": "object"`},
		{"A14 TOOL-05 root without a type", `{}`, "", "", `"type": "object"`},
		{"TOOL-05 null", `null`, "", "", "no JSON object"},
		{"A43 unknown keyword", props(`"a":{"foo":1}`), "foo", "/properties/a", "unknown"},
		{"A43 unknown keyword near one", props(`"a":{"minimun":1}`), "minimun", "/properties/a", `enforced (did you mean "minimum"?)`},
		{"A43 keyword of another vocabulary", props(`"a":{"nullable":true}`), "nullable", "/properties/a", "unknown"},
		{"A43 keyword of another dialect", props(``, `"dependencies":{}`), "dependencies", "", "unknown"},
		{"A43 unknown format", props(`"a":{"format":"zip"}`), "format", "/properties/a", "zip"},
		{"A43 JSC-05 remote $ref", props(`"a":{"$ref":"https://example.com/x"}`), "$ref", "/properties/a", "never fetched"},
		{"A43 $dynamicRef to nowhere", props(`"a":{"$dynamicRef":"#x"}`), "$dynamicRef", "/properties/a", "no schema in this document"},
		{"JSC-06 dangling pointer", props(`"a":{"$ref":"#/$defs/x"}`), "$ref", "/properties/a", "#/$defs/x"},
		{"JSC-06 pointer to no schema", props(`"a":{"$ref":"#/required/0"}`, `"required":["a"]`), "$ref", "/properties/a", "no schema"},
		{"JSC-06 local file", props(`"a":{"$ref":"file:///etc/passwd"}`), "$ref", "/properties/a", "never fetched"},
		{"JSC-03 unknown dialect", `{"$schema":"https://example.com/x","type":"object"}`, "$schema", "", "not supported"},
		{"JSC-03 older dialect", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`, "$schema", "", "not supported"},
		{"JSC-03 another dialect within", props(`"a":{"$schema":"http://json-schema.org/draft-07/schema#"}`), "$schema", "/properties/a", "another dialect"},
		{"JSC-02 type that is none", props(`"a":{"type":"strng"}`), "type", "/properties/a", "name of a type"},
		{"JSC-02 bound that is no number", props(`"a":{"minimum":"1"}`), "minimum", "/properties/a", "a number"},
		{"JSC-02 size below zero", props(`"a":{"minLength":-1}`), "minLength", "/properties/a", "not below 0"},
		{"JSC-02 empty list of schemas", props(``, `"allOf":[]`), "allOf", "", "not empty"},
		{"JSC-02 schema that is none", props(`"a":1`), "properties", "", "object of schemas"},
		{"A43 pattern beyond RE2", props(`"a":{"pattern":"(?<=x)"}`), "pattern", "/properties/a", "RE2"},
		{"A43 pattern of names beyond RE2", props(``, `"patternProperties":{"(?!x)":{}}`), "patternProperties", "", "RE2"},
		{"JSC-02 keyword that does nothing", props(``, `"then":{}`), "then", "", `"if"`},
		{"JSC-02 keyword beside $ref in draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/x","maximum":3}},"definitions":{"x":{}}}`, "maximum", "/properties/a", "ignored beside $ref"},
		{"A43 content that is not decoded", props(`"a":{"contentEncoding":"quoted-printable"}`), "contentEncoding", "/properties/a", "base64"},
		{"A43 schema of content that is no JSON", props(`"a":{"contentMediaType":"text/plain","contentSchema":{}}`), "contentSchema", "/properties/a", "application/json"},
		{"A41 default of another type", props(`"a":{"type":"integer","default":"x"}`), "default", "/properties/a", "must be an integer"},
		{"JSC-08 repeated $id", props(`"a":{"$id":"x"},"b":{"$id":"x"}`), "$id", "/properties/b", "repeats that at #/properties/a"},
		{"JSC-08 repeated anchor", props(`"a":{"$anchor":"x"},"b":{"$anchor":"x"}`), "$anchor", "/properties/b", "repeats"},
		{"JSC-09 deep", props(`"a":` + deep), "", "", "deeper than 64"},
		{"JSC-09 deep default", props(`"a":{"default":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`), "", "", "deeper than 64"},
		{"JSC-09 back through $dynamicRef", props(``, `"$dynamicAnchor":"x"`, `"allOf":[{"$ref":"inner"}]`,
			`"$defs":{"inner":{"$id":"inner","allOf":[{"$dynamicRef":"#x"}],"$defs":{"leaf":{"$dynamicAnchor":"x"}}}}`), "allOf", "", "without end"},
		{"JSC-09 wide", props(wide + `"x":{}`), "", "", "2000"},
		{"JSC-09 expanded", props(`"a":{"$ref":"#/$defs/x12"}`, `"$defs":{`+doubling+`}`), "", "", "2000"},
		{"JSC-09 two branches back", props(``, `"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]`), "anyOf", "", "two branches"},
		{"JSC-09 two branches back through items", props(`"t":{"$ref":"#/$defs/t"}`, `"$defs":{"t":{"allOf":[{"items":{"$ref":"#/$defs/t"}}],"items":{"$ref":"#/$defs/t"}}}`), "allOf", "/$defs/t", "two branches"},
		{"JSC-09 back without end", props(``, `"allOf":[{"$ref":"#"}]`), "allOf", "", "without end"},
		{"JSC-09 reference to itself", props(`"a":{"$ref":"#/$defs/x"}`, `"$defs":{"x":{"$ref":"#/$defs/x"}}`), "$ref", "/$defs/x", "without end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := schema.Raw([]byte(tt.schema), schema.RawOptions{Object: true})
			if p != nil || len(problems) == 0 {
				t.Fatalf("accepted: %+v", problems)
			}
			got := problems[0]
			if got.Tag != tt.keyword || got.Field != tt.pointer || !strings.Contains(got.Reason, tt.text) {
				t.Errorf("got %+v, want %q at %q saying %q", got, tt.keyword, tt.pointer, tt.text)
			}
			if tt.keyword != "" && (!strings.Contains(got.Reason, `"`+tt.keyword+`"`) || !strings.Contains(got.Reason, "#"+tt.pointer)) {
				t.Errorf("the reason names not both keyword and pointer: %s", got.Reason)
			}
		})
	}
}

func TestRawRecursionWithinBounds(t *testing.T) {
	for name, text := range map[string]string{
		"tree with two subtrees": props(`"l":{"$ref":"#"},"r":{"$ref":"#"}`),
		"one branch of a union":  props(`"n":{"anyOf":[{"type":"null"},{"$ref":"#"}]}`),
		"any JSON": props(`"v":{"$ref":"#/$defs/v"}`,
			`"$defs":{"v":{"anyOf":[{"type":["string","number","boolean","null"]},{"type":"array","items":{"$ref":"#/$defs/v"}},{"type":"object","additionalProperties":{"$ref":"#/$defs/v"}}]}}`),
	} {
		t.Run("JSC-09 "+name, func(t *testing.T) {
			p := raw(t, text)
			deep := strings.Repeat(`{"l":{"n":`, 50) + `{}` + strings.Repeat(`}}`, 50)
			if _, v := p.Check([]byte(deep)); v != nil {
				t.Errorf("got %+v", v)
			}
		})
	}
}

func TestRawEdits(t *testing.T) {
	p := raw(t, props(`"n":{"type":"integer","default":10},"s":{"type":"string"},"any":{},"or":{"anyOf":[{"type":"string"},{"type":"null"}]},"two":{"anyOf":[{"type":"string"},{"type":"integer"}]},`+
		`"in":{"type":"object","properties":{"d":{"type":"boolean","default":false}}},"list":{"items":{"type":"integer"}}`, `"required":["s"]`))
	t.Run("A36 A41 defaults, absent and null", func(t *testing.T) {
		accepts(t, p, `{"s":"x"}`, `{"s":"x","n":10}`)
		accepts(t, p, `{"s":"x","n":null,"in":{}}`, `{"s":"x","n":10,"in":{"d":false}}`)
		accepts(t, p, `{"s":"x","n":0}`, `{"s":"x","n":0}`)
	})
	t.Run("null where the schema admits it stays", func(t *testing.T) {
		accepts(t, p, `{"s":"x","n":1,"any":null,"or":null,"two":null}`, `{"s":"x","n":1,"any":null,"or":null}`)
	})
	t.Run("C38 integers in plain digits", func(t *testing.T) {
		accepts(t, p, `{"s":"x","n":1.0,"list":[1e2,-0]}`, `{"s":"x","n":1,"list":[100,0]}`)
	})
	t.Run("unknown names stay, A42", func(t *testing.T) { accepts(t, p, `{"s":"x","n":1,"z":null}`, `{"s":"x","n":1,"z":null}`) })
	t.Run("a default meets a requirement", func(t *testing.T) {
		accepts(t, raw(t, props(`"a":{"default":1}`, `"required":["a"]`)), `{}`, `{"a":1}`)
	})
	t.Run("JSC-09 numbers in JSON within a string", func(t *testing.T) {
		p := raw(t, props(`"a":{"contentMediaType":"application/json","contentSchema":{"type":"array","items":{"multipleOf":3}}}`))
		accepts(t, p, `{"a":"[3,6]"}`, `{"a":"[3,6]"}`)
		for _, bad := range []string{`[4]`, `[1e999999]`, `[`} {
			if _, v := p.Check([]byte(`{"a":"` + bad + `"}`)); len(v) != 1 || v[0].Path != "/a" {
				t.Errorf("%s: %+v", bad, v)
			}
		}
	})
	t.Run("JSC-09 JSON within a string nests no deeper than a schema", func(t *testing.T) {
		p := raw(t, props(`"a":{"contentMediaType":"application/json"}`))
		nested := func(n int) string { return `{"a":"` + strings.Repeat("[", n) + strings.Repeat("]", n) + `"}` }
		accepts(t, p, nested(200), nested(200))
		for _, n := range []int{300, 9000} {
			if _, v := p.Check([]byte(nested(n))); len(v) != 1 || v[0].Path != "/a" {
				t.Errorf("%d deep: %+v", n, v)
			}
		}
	})
	t.Run("JSC-09 numbers that are too large to divide", func(t *testing.T) {
		refuses(t, p, `{"s":"x","z":1e999999}`, `/z type: z is a number out of range: 1e999999`)
	})
}

// TestSameAnswer shows that one bad call has one answer, whether the schema
// was derived or written.
func TestSameAnswer(t *testing.T) {
	typed := input[searchArgs](t)
	written := raw(t, string(typed.JSON()))
	partial := raw(t, strings.Replace(string(typed.JSON()), `{"type":"object"`, `{"allOf":[{"type":"object"}],"type":"object"`, 1))
	if written.Partial() || !partial.Partial() {
		t.Fatal("the schemas are not what this test is for")
	}
	for _, args := range []string{`{}`, `[]`, `{"query":1,"limit":0,"filters":[{"op":"x"}]}`, `{"query":"","limit":1.5,"filters":{},"sort":{"field":null}}`, `{"limit":1e9,"Query":"x"}`} {
		t.Run("A8 A39 "+args, func(t *testing.T) {
			_, want := typed.Check([]byte(args))
			for _, p := range []*schema.Plan{written, partial} {
				if _, got := p.Check([]byte(args)); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			}
		})
	}
}

func TestRawHeaders(t *testing.T) {
	ann := `{"type":"string","x-mcp-header":"A"}`
	older := func(properties string) string {
		return props(properties, `"$schema":"http://json-schema.org/draft-07/schema#"`)
	}
	for name, text := range map[string]string{
		"XMH-02 empty":                props(`"a":{"type":"string","x-mcp-header":""}`),
		"XMH-02 space":                props(`"a":{"type":"string","x-mcp-header":"My Region"}`),
		"XMH-02 tab":                  props(`"a":{"type":"string","x-mcp-header":"a\tb"}`),
		"XMH-02 no string":            props(`"a":{"type":"string","x-mcp-header":1}`),
		"XMH-03 twice by case":        props(`"a":{"type":"string","x-mcp-header":"Region"},"b":` + props(`"c":{"type":"string","x-mcp-header":"REGION"}`)),
		"XMH-04 number":               props(`"a":{"type":"number","x-mcp-header":"A"}`),
		"XMH-04 object":               props(`"a":{"type":"object","x-mcp-header":"A"}`),
		"XMH-04 array":                props(`"a":{"type":"array","x-mcp-header":"A"}`),
		"XMH-04 null":                 props(`"a":{"type":"null","x-mcp-header":"A"}`),
		"XMH-04 AMB-22 untyped":       props(`"a":{"x-mcp-header":"A"}`),
		"XMH-04 AMB-22 list of types": props(`"a":{"type":["string","null"],"x-mcp-header":"A"}`),
		"XMH-05 AMB-23 under $defs":   props(``, `"$defs":{"x":`+ann+`}`),
		"XMH-05 root":                 props(``, `"x-mcp-header":"A"`),
		"XMH-05 items":                props(`"a":{"items":` + ann + `}`),
		"XMH-05 prefixItems":          props(`"a":{"prefixItems":[` + ann + `]}`),
		"XMH-05 oneOf":                props(`"a":{"oneOf":[` + ann + `]}`),
		"XMH-05 anyOf at the root":    props(``, `"anyOf":[`+props(`"a":`+ann)+`]`),
		"XMH-05 allOf":                props(`"a":{"allOf":[` + ann + `]}`),
		"XMH-05 not":                  props(`"a":{"not":` + ann + `}`),
		"XMH-05 $ref":                 props(`"a":{"$ref":"#/$defs/x"}`, `"$defs":{"x":`+props(`"b":`+ann)+`}`),
		"XMH-05 if":                   props(``, `"if":`+props(`"a":`+ann), `"then":true`),
		"XMH-05 else":                 props(``, `"if":true`, `"else":`+props(`"a":`+ann)),
		"XMH-05 then":                 props(``, `"if":true`, `"then":`+props(`"a":`+ann)),
		"XMH-05 additionalProperties": props(``, `"additionalProperties":`+ann),
		"XMH-05 patternProperties":    props(``, `"patternProperties":{"x":`+ann+`}`),
		"XMH-05 below a property: additionalProperties":  props(`"a":{"additionalProperties":` + ann + `}`),
		"XMH-05 below a property: patternProperties":     props(`"a":{"patternProperties":{"x":` + ann + `}}`),
		"XMH-05 below a property: dependentSchemas":      props(`"a":{"dependentSchemas":{"x":` + ann + `}}`),
		"XMH-05 below a property: contains":              props(`"a":{"contains":` + ann + `}`),
		"XMH-05 below a property: propertyNames":         props(`"a":{"propertyNames":` + ann + `}`),
		"XMH-05 below a property: unevaluatedProperties": props(`"a":{"unevaluatedProperties":` + ann + `}`),
		"XMH-05 below a property: unevaluatedItems":      props(`"a":{"unevaluatedItems":` + ann + `}`),
		"XMH-05 below a property: definitions":           props(`"a":{"definitions":{"x":` + ann + `}}`),
		"XMH-05 below a property: contentSchema":         props(`"a":{"contentMediaType":"application/json","contentSchema":` + ann + `}`),
		"XMH-05 below a property: if":                    props(`"a":{"if":` + ann + `,"then":true}`),
		"XMH-05 below a property: then":                  props(`"a":{"if":true,"then":` + ann + `}`),
		"XMH-05 below a property: else":                  props(`"a":{"if":true,"else":` + ann + `}`),
		"XMH-05 below a property: dependencies":          older(`"a":{"dependencies":{"x":` + ann + `}}`),
		"XMH-05 below a property: items of draft-07":     older(`"a":{"items":` + ann + `}`),
		"XMH-05 below a property: a list of items":       older(`"a":{"items":[` + ann + `]}`),
		"XMH-05 below a property: additionalItems":       older(`"a":{"items":[true],"additionalItems":` + ann + `}`),
	} {
		t.Run(name, func(t *testing.T) {
			p, problems := schema.Raw([]byte(text), schema.RawOptions{Object: true})
			if p != nil || len(problems) != 1 || problems[0].Tag != "x-mcp-header" || !strings.Contains(problems[0].Reason, "#/") && name != "XMH-05 root" {
				t.Errorf("XMH-22: %s: got %+v", text, problems)
			}
			if p, problems := schema.Raw([]byte(text), schema.RawOptions{Object: true, Verbatim: true}); p != nil || len(problems) != 1 || problems[0].Tag != "x-mcp-header" {
				t.Errorf("XMH-22: %s, not enforced: got %+v", text, problems)
			}
			if p, _ := schema.Raw([]byte(text), schema.RawOptions{}); p == nil {
				t.Errorf("%s is refused as an output schema too", text)
			}
		})
	}
	t.Run("XMH-05 XMH-04 valid annotations", func(t *testing.T) {
		for _, verbatim := range []bool{false, true} {
			p, problems := schema.Raw([]byte(props(`"a":{"type":"string","x-mcp-header":"A"},"b":`+props(`"c":{"type":"integer","x-mcp-header":"B"},"d":{"type":"boolean","x-mcp-header":"C"}`))),
				schema.RawOptions{Object: true, Verbatim: verbatim})
			if p == nil || len(p.Headers()) != 3 {
				t.Fatalf("verbatim %v: %+v", verbatim, problems)
			}
			if got := fmt.Sprint(p.Headers()[0].Path, p.Headers()[1].Path, p.Headers()[2].Path); got != "[a] [b c] [b d]" {
				t.Errorf("verbatim %v: got %s", verbatim, got)
			}
		}
	})
	t.Run("XMH-06 only schema positions count", func(t *testing.T) {
		text := props(`"x-mcp-header":{"type":"array"},"a":{"default":{"x-mcp-header":""},"examples":[{"x-mcp-header":1}],"enum":[{"x-mcp-header":""}],"const":{"x-mcp-header":""}}`,
			`"x-vendor":{"x-mcp-header":""}`)
		for _, verbatim := range []bool{false, true} {
			p, problems := schema.Raw([]byte(text), schema.RawOptions{Object: true, Verbatim: verbatim})
			if p == nil || len(p.Headers()) != 0 {
				t.Errorf("verbatim %v: got %+v, %+v", verbatim, p, problems)
			}
		}
	})
}

// TestNothingIsFetched gives every way to a reference a place to fetch from.
func TestNothingIsFetched(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		fmt.Fprint(w, `{"type":"string"}`)
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{srv.URL + "/x", "file://" + file} {
		for name, text := range map[string]string{
			"$ref":        props(`"a":{"$ref":"` + address + `"}`),
			"$dynamicRef": props(`"a":{"$dynamicRef":"` + address + `"}`),
			"$schema":     `{"$schema":"` + address + `","type":"object"}`,
			"$id":         props(`"a":{"$id":"`+address+`","$ref":"y"}`, `"allOf":[{}]`),
		} {
			t.Run("JSC-05 "+name, func(t *testing.T) {
				if p, _ := schema.Raw([]byte(text), schema.RawOptions{Object: true}); p != nil {
					p.Check([]byte(`{"a":1}`))
					t.Errorf("JSC-06: %s is accepted", text)
				}
			})
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests were made", hits.Load())
	}
}
