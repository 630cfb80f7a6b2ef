package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// plansOf derives all forms of a type, which must have no problem.
func plansOf(t testing.TB, l law) (in, inFull, out, outFull *schema.Plan) {
	t.Helper()
	fresh := func(typ reflect.Type, isOut, full bool) *schema.Plan {
		p, problems := schema.Fresh(typ, isOut, full)
		for _, problem := range problems {
			if !problem.Warning {
				t.Fatalf("problem: %+v", problem)
			}
		}
		return p
	}
	return fresh(l.in, false, false), fresh(l.in, false, true), fresh(l.out, true, false), fresh(l.out, true, true)
}

// compiled makes the full validator check what a plan advertises.
func compiled(t testing.TB, p *schema.Plan) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(p.JSON()))
	if err != nil {
		t.Fatalf("advertised schema %s: %v", p.JSON(), err)
	}
	c := schema.NewCompiler()
	if err := c.AddResource("schema://test/x", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema://test/x")
	if err != nil {
		t.Fatalf("advertised schema %s does not compile: %v", p.JSON(), err)
	}
	return s
}

func validates(t testing.TB, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s is no JSON: %v", data, err)
	}
	return s.Validate(v)
}

func TestLawTableSize(t *testing.T) {
	if len(laws) < 150 {
		t.Errorf("the law table has %d types, want at least 150", len(laws))
	}
}

// TestLaws checks the five laws over the table, with listed values and with
// random ones.
func TestLaws(t *testing.T) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			in, inFull, out, outFull := plansOf(t, l)
			inSchema, outSchema := compiled(t, inFull), compiled(t, outFull)
			safe := compiled(t, in)
			compiled(t, out)
			t.Run("I4 host-safe form", func(t *testing.T) {
				hostSafe(t, in)
				hostSafe(t, out)
			})
			t.Run("I5 same type, same bytes", func(t *testing.T) {
				again, _, outAgain, _ := plansOf(t, l)
				if !bytes.Equal(in.JSON(), again.JSON()) || !bytes.Equal(out.JSON(), outAgain.JSON()) {
					t.Errorf("derived twice:\n%s\n%s", in.JSON(), again.JSON())
				}
			})
			for _, v := range samples(l) {
				data, err := jsonx.Marshal(v.Addr().Interface())
				if err != nil {
					t.Fatalf("marshal %v: %v", v, err)
				}
				t.Run("I2 what is written passes", func(t *testing.T) {
					if violations := out.Validate(data); violations != nil {
						t.Errorf("%s: %v breaks %s", data, violations, out.JSON())
					}
					if err := validates(t, outSchema, data); err != nil {
						t.Errorf("%s breaks %s: %v", data, outFull.JSON(), err)
					}
				})
				args := slices.Concat([]byte(`{"v":`), data, []byte(`}`))
				decoded := reflect.New(l.in)
				if jsonx.Unmarshal(args, decoded.Interface()) != nil {
					continue // it is written in a form that it cannot be read from
				}
				t.Run("I1 what decodes passes, I3 what passes decodes", func(t *testing.T) {
					checked, violations := in.Check(args)
					if violations != nil {
						t.Fatalf("%s: %v breaks %s", args, violations, in.JSON())
					}
					for _, s := range []*jsonschema.Schema{inSchema, safe} {
						if err := validates(t, s, checked); err != nil {
							t.Errorf("%s breaks %s: %v", checked, inFull.JSON(), err)
						}
					}
					again := reflect.New(l.in)
					if err := jsonx.Unmarshal(checked, again.Interface()); err != nil {
						t.Fatalf("%s passes but does not decode: %v", checked, err)
					}
					want, _ := jsonx.Marshal(decoded.Interface())
					got, _ := jsonx.Marshal(again.Interface())
					if !bytes.Equal(got, want) {
						t.Errorf("%s decodes to %s, after the check to %s", args, want, got)
					}
				})
			}
		})
	}
}

// samples are the listed values of a type, or random ones.
func samples(l law) []reflect.Value {
	if len(l.values) > 0 {
		return l.values
	}
	r := rand.New(rand.NewPCG(1, uint64(len(l.name))))
	var list []reflect.Value
	for range 8 {
		v := reflect.New(l.out).Elem()
		fill(r, v, 0)
		list = append(list, v)
	}
	return list
}

// fill sets v to a random value that has a JSON form.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<32), 0).UTC()))
		return
	case reflect.TypeFor[json.RawMessage]():
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":[1e400,null]}`)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64) << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(r.Uint64() >> r.IntN(64) & (math.MaxUint64 >> (64 - v.Type().Bits())))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20)))))
	case reflect.String:
		v.SetString([]string{"", "a", "grün", "\"\\\n\u2028", strings.Repeat("x", r.IntN(50))}[r.IntN(5)])
	case reflect.Interface:
		v.Set(reflect.ValueOf([]any{"s", 1.5, true, map[string]any{"k": 1.0}, []any{"x"}}[r.IntN(5)]))
	default:
		fillParts(r, v, depth)
	}
}

func fillParts(r *rand.Rand, v reflect.Value, depth int) {
	n := r.IntN(3)
	if depth > 4 {
		n = 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth == 0 || n > 0 {
			fillPointee(r, v, depth)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fillElement(r, v.Index(i), depth)
		}
	case reflect.Array:
		for i := range v.Len() {
			fillElement(r, v.Index(i), depth)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(r, key, depth+1)
			fillElement(r, value, depth)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i), depth+1)
			}
		}
	}
}

// fillElement makes no nil pointers: a collection must not hold any.
func fillElement(r *rand.Rand, v reflect.Value, depth int) {
	if v.Kind() == reflect.Pointer {
		fillPointee(r, v, depth)
		return
	}
	fill(r, v, depth+1)
}

func fillPointee(r *rand.Rand, v reflect.Value, depth int) {
	v.Set(reflect.New(v.Type().Elem()))
	fillElement(r, v.Elem(), depth)
}

// hostKeywords are what all known hosts take.
var hostKeywords = map[string]bool{
	"type": true, "properties": true, "required": true, "items": true, "enum": true, "description": true,
	"minimum": true, "maximum": true, "minLength": true, "maxLength": true, "minItems": true, "maxItems": true,
	"additionalProperties": true, "format": true, "default": true, "$ref": true, "$defs": true,
}

// hostSafe checks the rules of I4 on the advertised bytes.
func hostSafe(t *testing.T, p *schema.Plan) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(p.JSON(), &root); err != nil {
		t.Fatal(err)
	}
	if _, ok := root["properties"].(map[string]any); p.Object() && (!ok || root["type"] != "object" || root["$ref"] != nil) {
		t.Errorf("root is no plain object: %s", p.JSON())
	}
	defs, _ := root["$defs"].(map[string]any)
	(&hostCheck{t, defs}).schema("", root)
}

type hostCheck struct {
	t    *testing.T
	defs map[string]any
}

func (c *hostCheck) schema(at string, s any) {
	m, ok := s.(map[string]any)
	if !ok {
		c.t.Errorf("%s is %v, no object", at, s)
		return
	}
	if m["anyOf"] != nil || m["pattern"] != nil {
		return // a schema that the type gives itself
	}
	c.keywords(at, m)
	for _, name := range []string{"properties", "$defs"} {
		if props, ok := m[name].(map[string]any); ok {
			for key, v := range props {
				c.schema(fmt.Sprintf("%s/%s/%s", at, name, key), v)
			}
		}
	}
	if items, ok := m["items"]; ok {
		c.schema(at+"/items", items)
	}
	if extra, ok := m["additionalProperties"]; ok && extra != false {
		c.schema(at+"/additionalProperties", extra)
	}
}

func (c *hostCheck) keywords(at string, m map[string]any) {
	for name, v := range m {
		if !hostKeywords[name] {
			c.t.Errorf("%s has the keyword %q", at, name)
		}
		if v == nil {
			c.t.Errorf("%s has null at %q", at, name)
		}
	}
	if typ, ok := m["type"]; ok {
		if _, ok := typ.(string); !ok {
			c.t.Errorf("%s has the type %v", at, typ)
		}
	}
	if _, ok := m["items"]; m["type"] == "array" && !ok {
		c.t.Errorf("%s has no items", at)
	}
	if f, ok := m["format"]; ok && f != "date-time" {
		c.t.Errorf("%s has the format %v", at, f)
	}
	if ref, ok := m["$ref"].(string); ok {
		name, ok := strings.CutPrefix(ref, "#/$defs/")
		if !ok || c.defs[name] == nil || strings.ContainsAny(name, "/~%[]") {
			c.t.Errorf("%s has the reference %q, which does not resolve", at, ref)
		}
	}
}
