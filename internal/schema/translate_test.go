package schema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/schema"
)

// TestTranslation shows what a model is told of faults that only the full validator finds.
func TestTranslation(t *testing.T) {
	t.Parallel()
	payment := `"a":{"oneOf":[{"properties":{"kind":{"const":"card"},"n":{"type":"integer"}},"required":["kind","n"]},` +
		`{"properties":{"kind":{"const":"iban"},"i":{"type":"string"}},"required":["kind","i"]}]}`
	either := `"a":{"anyOf":[{"type":"string","maxLength":2},{"type":"object","required":["x"],"properties":{"x":{"type":"integer"}}}]}`
	for _, tt := range []struct {
		name, schema, args string
		want               []string
	}{
		{"A40 no branch has the type: all types", props(`"a":{"anyOf":[{"type":"string"},{"type":"null"},{"$ref":"#/$defs/n"}]}`, `"$defs":{"n":{"type":"integer"}}`), `{"a":[]}`,
			[]string{"a must be a string or an integer or null, got an array"}},
		{"A40 one branch has the type: its fault", props(either), `{"a":"abc"}`, []string{"a must have at most 2 characters, got 3"}},
		{"A40 and the other", props(either), `{"a":{"x":"y"}}`, []string{`a.x must be an integer, got the string "y"`}},
		{"A40 one branch has the constant: its fault", props(payment), `{"a":{"kind":"card"}}`, []string{"a.n is required, but missing"}},
		{"A40 and the other", props(payment), `{"a":{"kind":"iban","i":7}}`, []string{"a.i must be a string, got 7"}},
		{"A40 none has: all constants", props(payment), `{"a":{"kind":"x"}}`,
			[]string{`a must have one of the allowed forms: a.kind must be "card", got "x"; or a.kind must be "iban", got "x"`}},
		{"A40 several of one type", props(`"a":{"anyOf":[{"type":"string","minLength":3},{"type":"string","pattern":"^x"}]}`), `{"a":"a"}`,
			[]string{`a must have one of the allowed forms: a must have at least 3 characters, got 1; or a must match the pattern ^x, got "a"`}},
		{"A40 too many of one", props(`"a":{"oneOf":[{"minimum":3},{"type":"string"},{"maximum":5}]}`), `{"a":4}`,
			[]string{`a must have exactly one of the forms in "oneOf" of its schema, but has those numbered 1 and 3`}},
		{"not", props(`"a":{"not":{"type":"string"}}`), `{"a":"abc"}`, []string{`a must not have the form that its schema excludes with "not", got the string "abc"`}},
		{"const of an object", props(`"a":{"const":{"x":1}}`), `{"a":"abc"}`, []string{`a must be {"x":1}, got "abc"`}},
		{"enum with objects", props(`"a":{"enum":[{"x":1},[1,2],3]}`), `{"a":{}}`, []string{`a must be one of {"x":1}, [1,2], 3, got {}`}},
		{"names", props(``, `"propertyNames":{"pattern":"^[a-z]+$"}`), `{"B":1,"A":1}`, []string{
			`A is no name that is allowed here: the name must match the pattern ^[a-z]+$, got "A"`,
			`B is no name that is allowed here: the name must match the pattern ^[a-z]+$, got "B"`}},
		{"names beside patterns", props(``, `"patternProperties":{"^x":{"type":"integer"}}`, `"additionalProperties":false`), `{"A":"abc","x1":"q"}`,
			[]string{"A is no name that is allowed here", `x1 must be an integer, got the string "q"`}},
		{"tuples", props(`"a":{"prefixItems":[{"type":"string"}],"items":false}`), `{"a":[1,2]}`, []string{"a[0] must be a string, got 1", "a[1] must be left out"}},
		{"tuples of draft-07", props(`"a":{"items":[{"type":"string"}],"additionalItems":false}`, `"$schema":"http://json-schema.org/draft-07/schema#"`), `{"a":["x",1,2]}`,
			[]string{"a has 2 items too many"}},
		{"contains", props(`"a":{"contains":{"type":"string"}}`), `{"a":[1]}`, []string{`a must have an item of the form that its schema demands with "contains" (a[0] must be a string, got 1)`}},
		{"contains, counted", props(`"a":{"contains":{"type":"string"},"minContains":2}`), `{"a":[""]}`, []string{`a must have at least 2 items of the form that its schema demands with "contains", got 1`}},
		{"contains, too often", props(`"a":{"contains":{"type":"string"},"maxContains":1}`), `{"a":["",""]}`, []string{`a must have at most 1 item of the form that its schema has in "contains", got 2`}},
		{"C37 fractions are decimals", props(`"a":{"if":{"minimum":5},"then":{"multipleOf":0.5},"else":{"maximum":0.1}}`), `{"a":7.25}`, []string{"a must be a multiple of 0.5, got 7.25"}},
		{"C37 and bounds", props(`"a":{"allOf":[{"maximum":-0.1},{"minimum":4}]}`), `{"a":3}`, []string{"a must be at most -0.1, got 3", "a must be at least 4, got 3"}},
		{"JSON in a string", props(`"a":{"type":"string","contentMediaType":"application/json","contentSchema":{"type":"object"}}`), `{"a":"7"}`,
			[]string{"a must hold JSON of the form that its schema demands: the JSON must be an object, got 7"}},
		{"no JSON in a string", props(`"a":{"type":"string","contentMediaType":"application/json"}`), `{"a":"{"}`, []string{"a must hold JSON"}},
		{"dependencies", props(``, `"dependentRequired":{"a":["b","c"]}`), `{"a":1}`, []string{`arguments must have "b", "c", since it has "a"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for range 10 { // the validator walks maps in no order
				got = messages(raw(t, tt.schema), tt.args)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatalf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// messages are those of the violations of args.
func messages(p *schema.Plan, args string) []string {
	var all []string
	_, violations := p.Check([]byte(args))
	for _, v := range violations {
		all = append(all, v.Message)
	}
	return all
}

// TestTranslationCost shows that faults in many places are not kept in memory, all told in full.
func TestTranslationCost(t *testing.T) {
	var members strings.Builder
	const n = 20_000
	for i := range n {
		fmt.Fprintf(&members, `"k%d":0,`, i)
	}
	list, object := `{"a":[0`+strings.Repeat(",0", n)+`]}`, `{`+members.String()+`"z":0}`
	for name, tt := range map[string]struct{ schema, args string }{
		"items":                 {props(`"a":{"prefixItems":[{}],"items":{"type":"string"}}`), list},
		"alternatives":          {props(`"a":{"items":{"anyOf":[{"type":"string"},{"type":"boolean"}]}}`), list},
		"contains":              {props(`"a":{"contains":{"type":"string"}}`), list},
		"unevaluatedProperties": {props(``, `"unevaluatedProperties":false`), object},
		"additionalProperties":  {props(``, `"patternProperties":{"^x":{}}`, `"additionalProperties":false`), object},
		"propertyNames":         {props(``, `"propertyNames":{"maxLength":1}`), object},
	} {
		t.Run("JSC-09 A40 "+name, func(t *testing.T) {
			p := raw(t, tt.schema)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := messages(p, tt.args)
			runtime.ReadMemStats(&after)
			if len(got) == 0 || len(got) > 20 {
				t.Errorf("%d violations", len(got))
			}
			if perPlace := (after.TotalAlloc - before.TotalAlloc) / n; perPlace > 2500 {
				t.Errorf("%d bytes were allocated for each place", perPlace)
			}
			if diff := cmp.Diff(got, messages(p, tt.args)); diff != "" {
				t.Errorf("another answer the second time:\n%s", diff)
			}
		})
	}
}
