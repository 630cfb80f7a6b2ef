package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// Schema is a JSON Schema for a tool that does not take it from a Go type: one
// built step by step, one written as JSON, or one derived from a type. It is
// an immutable value: every step returns a new one, so that a schema can be
// shared and extended. The zero Schema is the empty object, as is Object().
//
// Mistakes do not panic: Server.Check reports them for the tool that uses the
// schema. Print a schema with its JSON method.
type Schema struct {
	raw      string       // as written; "" for the others
	goType   reflect.Type // to derive from; nil for the others
	form     *form        // what raw is the schema of; nil for the others
	kind     string       // of a built schema; "" is object
	keywords []keyword    // of the schema itself
	props    []property
	err      error
}

type keyword struct {
	name  string
	value json.RawMessage
}

type property struct {
	name     string
	optional bool
	of       Schema
}

// RawSchema returns the schema that is written in JSON: JSON Schema 2020-12,
// or draft-07 if its $schema says so. It is advertised and enforced as
// written; a keyword that would not be enforced is a problem.
func RawSchema(json string) Schema { return Schema{raw: json} }

// SchemaFor returns the schema that AddTool derives from the Go type T.
func SchemaFor[T any]() Schema { return Schema{goType: reflect.TypeFor[T]()} }

// Object returns the schema of an object without properties, to be extended.
func Object() Schema { return Schema{kind: "object"} }

// Type returns the schema of a JSON type by its name, for items of arrays:
// "string", "number", "integer", "boolean", "object", "array" or "null".
func Type(name string) Schema {
	s := Schema{kind: name}
	if !slices.Contains(typeNames, name) {
		s.err = fmt.Errorf("the schema type %q is none of %q", name, typeNames)
	}
	return s
}

var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// String adds a required property that is a string. An empty desc is left out.
func (s Schema) String(name, desc string) Schema { return s.add(name, desc, Schema{kind: "string"}) }

// Number adds a required property that is a number.
func (s Schema) Number(name, desc string) Schema { return s.add(name, desc, Schema{kind: "number"}) }

// Integer adds a required property that is an integer; 1.0 counts as one.
func (s Schema) Integer(name, desc string) Schema { return s.add(name, desc, Schema{kind: "integer"}) }

// Boolean adds a required property that is true or false.
func (s Schema) Boolean(name, desc string) Schema { return s.add(name, desc, Schema{kind: "boolean"}) }

// Any adds a required property of any JSON type.
func (s Schema) Any(name, desc string) Schema { return s.add(name, desc, Schema{kind: anyKind}) }

// Array adds a required property that is an array of items.
func (s Schema) Array(name, desc string, items Schema) Schema {
	return s.add(name, desc, Schema{kind: "array", err: items.err}.set("items", items))
}

// Object adds a required property that is an object.
func (s Schema) Object(name, desc string, of Schema) Schema { return s.add(name, desc, of) }

// anyKind is the kind of a schema without a type.
const anyKind = "any"

func (s Schema) add(name, desc string, of Schema) Schema {
	switch {
	case s.raw != "" || s.goType != nil:
		return s.fail(fmt.Errorf("property %q: a schema from JSON or from a Go type cannot be extended", name))
	case s.kind != "" && s.kind != "object":
		return s.fail(fmt.Errorf("property %q: a schema of type %s has no properties", name, s.kind))
	case slices.ContainsFunc(s.props, func(p property) bool { return p.name == name }):
		return s.fail(fmt.Errorf("property %q is there twice", name))
	case of.raw != "" && !jsonx.Valid([]byte(of.raw)):
		return s.fail(fmt.Errorf("property %q: its schema is not valid JSON", name))
	}
	if desc != "" && (of.raw != "" || of.goType != nil) {
		return s.fail(fmt.Errorf("property %q: put the description into the schema itself", name))
	}
	if desc != "" {
		of = of.set("description", desc)
	}
	s.props = append(slices.Clip(s.props), property{name: name, of: of})
	return s.fail(of.err)
}

func (s Schema) fail(err error) Schema {
	s.err = errors.Join(s.err, err)
	return s
}

// modify applies a step to the last property, or to s itself before the
// first.
func (s Schema) modify(step func(Schema) Schema) Schema {
	if s.raw != "" || s.goType != nil {
		return s.fail(errors.New("a schema from JSON or from a Go type cannot be modified"))
	}
	if len(s.props) == 0 {
		return step(s)
	}
	s.props = slices.Clone(s.props)
	last := &s.props[len(s.props)-1]
	if last.of.raw != "" || last.of.goType != nil {
		return s.fail(fmt.Errorf("property %q: a schema from JSON or from a Go type cannot be modified", last.name))
	}
	last.of = step(last.of)
	return s.fail(last.of.err)
}

// set gives a keyword of s itself a value; a later one wins.
func (s Schema) set(name string, v any) Schema {
	value, err := jsonx.Marshal(v)
	if err != nil {
		return s.fail(fmt.Errorf("the value of the schema keyword %q has no JSON: %w", name, err))
	}
	s.keywords = slices.DeleteFunc(slices.Clone(s.keywords), func(k keyword) bool { return k.name == name })
	s.keywords = append(s.keywords, keyword{name, value})
	return s
}

// Optional makes the last property one that may be absent.
func (s Schema) Optional() Schema {
	if len(s.props) == 0 {
		return s.fail(errors.New("Optional stands before the first property; it is about the last one added"))
	}
	s.props = slices.Clone(s.props)
	s.props[len(s.props)-1].optional = true
	return s
}

// Default gives the last property the value it has when it is absent, which
// makes it optional.
func (s Schema) Default(v any) Schema { return s.Optional().Keyword("default", v) }

// Enum restricts the last property, or a Type, to the given values.
func (s Schema) Enum(v ...any) Schema { return s.Keyword("enum", v) }

// Min is the least number, of any Go number type, that is allowed.
func (s Schema) Min(n any) Schema { return s.number("minimum", n) }

// Max is the greatest number, of any Go number type, that is allowed.
func (s Schema) Max(n any) Schema { return s.number("maximum", n) }

func (s Schema) number(name string, n any) Schema {
	switch reflect.ValueOf(n).Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return s.Keyword(name, n)
	}
	return s.fail(fmt.Errorf("the schema keyword %q needs a number, not %v", name, n))
}

// MinLength is the least length of a string, in characters.
func (s Schema) MinLength(n int) Schema { return s.Keyword("minLength", n) }

// MaxLength is the greatest length of a string, in characters.
func (s Schema) MaxLength(n int) Schema { return s.Keyword("maxLength", n) }

// Pattern is a regular expression, of Go's RE2 syntax, that a string must
// match somewhere.
func (s Schema) Pattern(expr string) Schema { return s.Keyword("pattern", expr) }

// Header mirrors the last property, a string, integer or boolean, into the
// HTTP header Mcp-Param-name (MCP 2026-07-28, Tools › x-mcp-header). It is not
// for secrets: headers are logged on their way.
func (s Schema) Header(name string) Schema { return s.Keyword("x-mcp-header", name) }

// Keyword gives any keyword of JSON Schema 2020-12 a value.
func (s Schema) Keyword(name string, v any) Schema {
	return s.modify(func(of Schema) Schema { return of.set(name, v) })
}

// JSON returns the schema as it is advertised; "" if it has a mistake.
func (s Schema) JSON() string {
	text, err := s.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(text)
}

// MarshalJSON implements json.Marshaler.
func (s Schema) MarshalJSON() ([]byte, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case s.raw != "":
		return []byte(s.raw), nil
	case s.goType != nil:
		plan, problems := schema.Input(s.goType, schema.Options{})
		if plan == nil {
			return nil, fmt.Errorf("%v: %s", s.goType, problems[0].Reason)
		}
		return plan.JSON(), nil
	}
	return s.build()
}

// build writes a built schema: type, keywords, properties, required.
func (s Schema) build() ([]byte, error) {
	kind := s.kind
	if kind == "" {
		kind = "object"
	}
	dst := []byte{'{'}
	if kind != anyKind {
		dst = jsonx.AppendString(append(dst, `"type":`...), kind)
	}
	for _, k := range s.keywords {
		dst = append(jsonx.AppendString(comma(dst), k.name), ':')
		dst = append(dst, k.value...)
	}
	if kind != "object" {
		return append(dst, '}'), nil
	}
	dst = append(comma(dst), `"properties":{`...)
	var required []string
	for _, p := range s.props {
		of, err := p.of.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", p.name, err)
		}
		dst = append(append(jsonx.AppendString(comma(dst), p.name), ':'), of...)
		if !p.optional {
			required = append(required, p.name)
		}
	}
	dst = append(dst, '}')
	if required != nil {
		var err error
		if dst, err = jsonx.Append(append(dst, `,"required":`...), &required); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// comma separates what comes next from a member before it.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// plan compiles s: for arguments, or for a result.
func (s Schema) plan(o schema.RawOptions) (*schema.Plan, []schema.Problem) {
	if s.goType != nil && !o.Verbatim {
		if o.Object {
			return schema.Input(s.goType, schema.Options{})
		}
		return schema.Output(s.goType, schema.Options{})
	}
	text, err := s.MarshalJSON()
	if err != nil {
		return nil, []schema.Problem{{Reason: err.Error()}}
	}
	return schema.Raw(text, o)
}
