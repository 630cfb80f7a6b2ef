package schema_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// oursAlone are the rules that derived schemas are checked for beyond what
// even their full form says: names given twice, the ranges of Go types, texts
// that only the type can judge.
var oursAlone = map[string]bool{"uniqueNames": true, "propertyNames": true, "json": true}

// fuzzTypes are argument types with all that the checker knows.
func fuzzTypes() []reflect.Type {
	list := []reflect.Type{
		reflect.TypeFor[addArgs](), reflect.TypeFor[searchArgs](), reflect.TypeFor[paging](), reflect.TypeFor[optional](), reflect.TypeFor[map[string]searchArgs](),
	}
	for _, l := range laws {
		list = append(list, l.in)
	}
	return list
}

// FuzzArguments holds our checker to the full validator: what it accepts the
// other accepts, and it decodes; what it refuses for a reason of the schema
// the other refuses as well.
func FuzzArguments(f *testing.F) {
	types := fuzzTypes()
	plans := make([]*schema.Plan, len(types))
	full := make([]*jsonschema.Schema, len(types))
	for i, t := range types {
		plans[i], _ = schema.Input(t, schema.Options{})
		wide, _ := schema.Input(t, schema.Options{Full: true})
		full[i] = compiled(f, wide)
		if i%20 == 0 {
			f.Add(i, []byte(`{"v":null}`))
			f.Add(i, []byte(`{"v":null`))
			f.Add(i, []byte(`{"v":[{"a":1.0,"city":"x"},"2026-05-01T10:00:00Z"]}`))
		}
	}
	for i, l := range laws {
		for _, v := range samples(l)[:1] {
			if data, err := jsonx.Marshal(v.Addr().Interface()); err == nil {
				f.Add(i+len(types)-len(laws), bytes.Join([][]byte{[]byte(`{"v":`), data, []byte(`}`)}, nil))
			}
		}
	}
	f.Add(0, []byte(addCall))
	f.Add(1, []byte(searchCall))
	f.Add(2, []byte(`{"page":{"size":null},"sort":null}`))
	f.Fuzz(func(t *testing.T, i int, args []byte) {
		i = int(uint(i) % uint(len(types)))
		if jsonx.DeeperThan(args, 128) {
			return // refused before
		}
		out, violations := plans[i].Check(args)
		if violations != nil {
			refused(t, full[i], args, violations)
			return
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%s is accepted as %s, which is no JSON: %v", args, out, err)
		}
		if err := full[i].Validate(v); err != nil {
			t.Errorf("%s: %s is accepted, but %v", types[i], out, err)
		}
		decoded := reflect.New(types[i])
		if err := jsonx.Unmarshal(out, decoded.Interface()); err != nil && !decodesItself(types[i]) {
			t.Errorf("%s: %s is accepted but does not decode: %v", types[i], out, err)
		}
		if again, v := plans[i].Check(out); v != nil || !bytes.Equal(again, out) {
			t.Errorf("%s: %s is accepted as %s, and that as %s %v", types[i], args, out, again, v)
		}
		plans[i].Strict().Check(args)
		if plans[i].HasRules() {
			plans[i].Rules(context.Background(), decoded.Interface(), out)
		}
	})
}

// decodesItself reports whether part of t reads its own JSON, so that the
// schema, none or one of its own, does not tell all that it takes.
func decodesItself(t reflect.Type) bool {
	for _, name := range []string{"money", "price", "either"} {
		if strings.Contains(t.String(), name) {
			return true
		}
	}
	return false
}

// refused checks what is said about refused arguments.
func refused(t *testing.T, full *jsonschema.Schema, args []byte, violations []schema.Violation) {
	if len(violations) > 20 {
		t.Errorf("%d violations", len(violations))
	}
	ours := false
	for _, v := range violations {
		if v.Message == "" || strings.Contains(v.Message, "%!") || strings.Contains(v.Message, "schema_test") {
			t.Errorf("%s: %+v", args, v)
		}
		ours = ours || oursAlone[v.Rule] || ranged(v)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err == nil && !ours && full.Validate(doc) == nil {
		t.Errorf("%s is refused, but the full validator takes it: %+v", args, violations)
	}
}

// ranged reports whether a violation is about what the Go type can hold.
func ranged(v schema.Violation) bool {
	for _, text := range []string{"out of range", "kept exactly", "922337203685477580", "18446744073709551615", "of another form", "is refused: ", "an IP", "a number as text", "a fraction",
		"a duration", "a string holding", `"true" or "false"`, "must be at most", "must be at least"} {
		if strings.Contains(v.Message, text) {
			return true
		}
	}
	return false
}

// FuzzRawArguments holds hand-written schemas to the full validator.
func FuzzRawArguments(f *testing.F) {
	texts := []string{
		props(`"a":{"type":"integer","minimum":1,"maximum":5,"multipleOf":2},"b":{"type":"string","minLength":2,"maxLength":3,"pattern":"^a"},"c":{"enum":[1,"x",null,true]}`, `"required":["a"]`, `"additionalProperties":false`),
		props(`"a":{"type":"array","items":{"type":["string","null"]},"uniqueItems":true,"minItems":1},"b":{"type":"object","additionalProperties":{"type":"number","exclusiveMinimum":0.5}}`, `"minProperties":1`, `"maxProperties":2`),
		props(`"a":{"$ref":"#/$defs/n"}`, `"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"boolean"}},"required":["v"]}}`),
		props(`"a":{"oneOf":[{"type":"string"},{"type":"integer","maximum":3},{"type":"array","prefixItems":[{"const":1}]}]},"b":{"not":{"type":"null"}}`, `"unevaluatedProperties":false`),
		props(`"a":{"format":"date-time"},"b":{"format":"email"},"c":{"format":"uri"},"d":{"format":"uuid"},"e":{"format":"ipv4"},"f":{"format":"ipv6"},"g":{"format":"date"},"h":{"contentEncoding":"base64"}`),
		props(`"a":{"const":1.5},"b":{"enum":[[1],{"a":1}]}`, `"patternProperties":{"^x":{"type":"integer"}}`, `"dependentRequired":{"a":["b"]}`),
	}
	var plans []*schema.Plan
	var full []*jsonschema.Schema
	for i, text := range texts {
		plans = append(plans, raw(f, text))
		full = append(full, compiled(f, plans[i]))
		for _, args := range []string{`{}`, `{"a":2,"b":"ab","c":"x"}`, `{"a":["x",null],"b":{"z":1}}`, `{"a":{"v":true,"next":{"v":false}}}`, `{"a":[1],"b":"x"}`, `{"a":1.50,"b":[1.0],"x1":2e0}`} {
			f.Add(i, []byte(args))
		}
	}
	f.Fuzz(func(t *testing.T, i int, args []byte) {
		i = int(uint(i) % uint(len(texts)))
		if jsonx.DeeperThan(args, 128) {
			return
		}
		out, violations := plans[i].Check(args)
		if violations != nil {
			refused(t, full[i], args, violations)
			return
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%s is accepted as %s: %v", args, out, err)
		}
		if err := full[i].Validate(v); err != nil {
			t.Errorf("%s: %s is accepted, but %v", texts[i], out, err)
		}
	})
}

// FuzzRawSchema reads any text as a schema and checks with what comes of it.
func FuzzRawSchema(f *testing.F) {
	for _, l := range laws {
		p, _ := schema.Input(l.in, schema.Options{Full: true})
		f.Add(p.JSON())
	}
	f.Add([]byte(props(`"a":{"oneOf":[{"$ref":"#/$defs/x"},{"not":{}}]}`, `"$defs":{"x":{"$anchor":"y","items":{"$ref":"#y"}}}`, `"unevaluatedProperties":false`)))
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"a":["b"],"c":{}},"items":[{}]}`))
	f.Add([]byte(props(`"a":{"type":"string","x-mcp-header":"A","allOf":{"x-mcp-header":1},"properties":[{"x-mcp-header":"B"},1]},"b":7`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range []schema.RawOptions{{Object: true}, {}, {Verbatim: true}, {Object: true, Verbatim: true}} {
			p, problems := schema.Raw(text, o)
			if (p == nil) != (len(problems) > 0) {
				t.Fatalf("plan %v with %+v", p, problems)
			}
			if p == nil {
				continue
			}
			for _, args := range []string{`{}`, `{"a":1,"b":[1.0,null,{"a":"x"}],"v":{"v":{"v":1}}}`, `null`, `"x"`, `[[]]`} {
				p.Check([]byte(args))
				p.Validate([]byte(args))
			}
		}
	})
}

// FuzzTags reads any text as the tags of a field.
func FuzzTags(f *testing.F) {
	for _, tag := range []string{`enum=a,enum=b,description=x, y`, `minimum=1e400,maximum=-0`, `default=[1,2],minItems=1`, `pattern=(`, `multipleOf=1e-400`, `,=,\,`, `type=array,maxItems=1`} {
		f.Add(0, tag, "min=3,dive,required", "a,omitempty")
	}
	for i, tag := range []string{`oneof='a b' c`, `dive,keys,alpha,endkeys,required`, `required_if=A 1`, `min=99999999999999999999`, `a|b=c`, `len=-1`, `gt=,lt=`, `unique=A`, `eq='`, `datetime=`, `ne`} {
		f.Add(i, "", tag, "b,string")
	}
	types := []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[string](), reflect.TypeFor[[]string](), reflect.TypeFor[map[string]*float64](), reflect.TypeFor[any](), reflect.TypeFor[address](), reflect.TypeFor[[]address](), reflect.TypeFor[level](),
	}
	f.Fuzz(func(t *testing.T, i int, keywords, rules, name string) {
		tag := fmt.Sprintf(`json:%q jsonschema:%q validate:%q`, "x"+name, keywords, rules)
		typ := tagged(types[int(uint(i)%uint(len(types)))], tag)
		p, _ := schema.Fresh(typ, false, true)
		if p == nil {
			return
		}
		compiled(t, p)
		for _, args := range []string{`{"x":null}`, `{"x":1}`, `{"x":"low"}`, `{"x":["a",""]}`, `{"x":{"city":"x"}}`, `{"x":[{"city":"x"}]}`} {
			out, violations := p.Check([]byte(args))
			if v := reflect.New(typ); violations == nil && jsonx.Unmarshal(out, v.Interface()) == nil {
				p.Rules(context.Background(), v.Interface(), out)
			}
		}
	})
}

// FuzzResults writes values that a fuzzer chose and checks them against the
// schema of their type.
func FuzzResults(f *testing.F) {
	type result struct {
		I  int8              `json:"i,omitempty"`
		U  uint64            `json:"u,string"`
		F  float64           `json:"f"`
		S  string            `json:"s"`
		B  []byte            `json:"b"`
		P  *string           `json:"p"`
		L  []named           `json:"l,omitempty"`
		M  map[namedInt]bool `json:"m"`
		A  any               `json:"a"`
		In *result           `json:"in,omitempty"`
	}
	plan, _ := schema.Output(reflect.TypeFor[result](), schema.Options{})
	wide, _ := schema.Output(reflect.TypeFor[result](), schema.Options{Full: true})
	full := compiled(f, wide)
	f.Add(int8(1), uint64(2), 1.5, "x", []byte("y"))
	f.Add(int8(-1), ^uint64(0), -1e300, "\xff\u2028<", []byte(nil))
	f.Add(int8(-128), uint64(1)<<53+1, 5e-324, "", []byte{})
	f.Add(int8(0), uint64(0), math.Copysign(0, -1), "\x00\U0001f600", []byte{0xff, 0})
	f.Fuzz(func(t *testing.T, i int8, u uint64, x float64, s string, b []byte) {
		v := result{I: i, U: u, F: x, S: s, B: b, A: []any{s, i}, M: map[namedInt]bool{namedInt(i): true}}
		v.In = &result{P: &s, L: []named{named(s)}, A: v.F}
		data, err := jsonx.Marshal(&v)
		if err != nil {
			return // NaN and the like have no JSON
		}
		if violations := plan.Validate(data); violations != nil {
			t.Errorf("%s: %+v", data, violations)
		}
		if err := validates(t, full, data); err != nil {
			t.Errorf("%s: %v", data, err)
		}
	})
}
