package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Schema is a JSON Schema for a tool that does not take it from a Go type: one
// built step by step, one written as JSON, or one derived from a type. It is
// an immutable value: every step returns a new one, so that a schema can be
// shared and extended. The zero Schema is the empty object, as is Object().
//
// Mistakes do not panic: Server.Check reports them for the tool that uses the
// schema. Print a schema with its JSON method.
type Schema struct {
	source   schemaSource
	text     string       // of a written schema
	goType   reflect.Type // of a derived schema
	form     *form        // of a written schema: what it is the schema of; nil for the others
	kind     string       // of a built schema; "" is object
	keywords []keyword    // of the schema itself
	items    *Schema      // of an array, nil for items of any kind
	props    []property
	mistakes []error
}

// schemaSource is how a Schema came about.
type schemaSource uint8

const (
	builtSchema schemaSource = iota
	writtenSchema
	derivedSchema
)

type keyword struct {
	name  string
	value json.RawMessage
}

type property struct {
	name     string
	desc     string // beside a schema that was not built
	optional bool
	of       Schema
}

// RawSchema returns the schema that is written in JSON: JSON Schema 2020-12,
// or draft-07 if its $schema says so. It is advertised and enforced as
// written; a keyword that would not be enforced is a problem.
func RawSchema(json string) Schema { return Schema{source: writtenSchema, text: json} }

// SchemaFor returns the schema that AddTool derives from the Go type T.
// Arguments are also held to the validate tags of T and to its Validate
// method. As a part of a built schema it is only what JSON Schema can say: a
// T with further rules, or one that holds itself, is a problem there.
func SchemaFor[T any]() Schema {
	return Schema{source: derivedSchema, goType: reflect.TypeFor[T]()}
}

// Object returns the schema of an object without properties, to be extended.
func Object() Schema { return Schema{kind: "object"} }

// Type returns the schema of a JSON type by its name, for items of arrays:
// "string", "number", "integer", "boolean", "object", "array" or "null".
func Type(name string) Schema {
	s := Schema{kind: name}
	if !slices.Contains(typeNames, name) {
		return s.mistake(fmt.Errorf("the schema type %q is none of %q", name, typeNames))
	}
	return s
}

var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// anyKind is the kind of a schema without a type.
const anyKind = "any"

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
	of := Schema{kind: "array", mistakes: items.mistakes}
	items.mistakes = nil
	of.items = &items
	return s.add(name, desc, of)
}

// Object adds a required property with the schema of an object. A schema from
// JSON or from a Go type may be of any kind.
func (s Schema) Object(name, desc string, of Schema) Schema {
	if of.source == builtSchema && !of.isObject() {
		return s.mistake(fmt.Errorf("property %q: a schema of type %s is no object's", name, of.kind))
	}
	return s.add(name, desc, of)
}

// isObject reports whether s may have properties.
func (s Schema) isObject() bool {
	return s.source == builtSchema && (s.kind == "" || s.kind == "object")
}

func (s Schema) add(name, desc string, of Schema) Schema {
	switch {
	case s.source != builtSchema:
		return s.mistake(fmt.Errorf("property %q: %w", name, errForeignSchema))
	case !s.isObject():
		return s.mistake(fmt.Errorf("property %q: a schema of type %s has no properties", name, s.kind))
	case slices.ContainsFunc(s.props, func(p property) bool { return p.name == name }):
		return s.mistake(fmt.Errorf("property %q is there twice", name))
	}
	for _, err := range of.mistakes {
		s = s.mistake(fmt.Errorf("property %q: %w", name, err))
	}
	of.mistakes = nil
	p := property{name: name, of: of}
	if desc != "" && of.source == builtSchema {
		s = s.note(name, p.of.set("description", desc))
	} else {
		p.desc = desc
	}
	s.props = append(slices.Clip(s.props), p)
	return s
}

var errForeignSchema = errors.New("a schema from JSON or from a Go type cannot be changed")

// mistake records what is wrong with a step.
func (s Schema) mistake(err error) Schema {
	s.mistakes = append(slices.Clip(s.mistakes), err)
	return s
}

// note records what is wrong with a property, if anything is.
func (s Schema) note(name string, err error) Schema {
	if err != nil {
		return s.mistake(fmt.Errorf("property %q: %w", name, err))
	}
	return s
}

// modify applies a step to the last property, or to s itself before the
// first.
func (s Schema) modify(step func(of *Schema) error) Schema {
	if s.source != builtSchema {
		return s.mistake(errForeignSchema)
	}
	if len(s.props) == 0 {
		if err := step(&s); err != nil {
			return s.mistake(err)
		}
		return s
	}
	s.props = slices.Clone(s.props)
	last := &s.props[len(s.props)-1]
	if last.of.source != builtSchema {
		return s.note(last.name, errForeignSchema)
	}
	return s.note(last.name, step(&last.of))
}

// set gives a keyword of s itself a value; a later one wins.
func (s *Schema) set(name string, v any) error {
	switch name {
	case "properties", "required":
		return fmt.Errorf("the keyword %q follows from the properties that are added; RawSchema takes it as it is", name)
	case "items":
		s.items = nil
	}
	value, err := encodeValue(v)
	if err != nil {
		return fmt.Errorf("the value of the schema keyword %q has no JSON: %w", name, err)
	}
	s.keywords = slices.DeleteFunc(slices.Clone(s.keywords), func(k keyword) bool { return k.name == name })
	s.keywords = append(s.keywords, keyword{name, value})
	return nil
}

// encodeValue returns the JSON of a value that is given at registration.
// Encoding may run a method of a user's type, which may panic.
func encodeValue(v any) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return jsonx.Marshal(v)
}

func (s Schema) has(name string) bool {
	return slices.ContainsFunc(s.keywords, func(k keyword) bool { return k.name == name })
}

// Optional makes the last property one that may be absent.
func (s Schema) Optional() Schema {
	if len(s.props) == 0 {
		return s.mistake(errors.New("Optional stands before the first property; it is about the last one added"))
	}
	s.props = slices.Clone(s.props)
	s.props[len(s.props)-1].optional = true
	return s
}

// Default gives the last property the value it has when it is absent, which
// makes it optional.
func (s Schema) Default(v any) Schema {
	if len(s.props) > 0 {
		s = s.Optional()
	}
	return s.Keyword("default", v)
}

// Enum restricts the last property, or a Type, to the given values.
func (s Schema) Enum(v ...any) Schema {
	return s.modify(func(of *Schema) error {
		if len(v) == 0 || len(v) == 1 && reflect.ValueOf(v[0]).Kind() == reflect.Slice {
			return errors.New("Enum takes the values one by one, and at least one: Enum(list...) for a list of type []any")
		}
		return of.set("enum", v)
	})
}

// Min is the least number, of any Go number type, that is allowed.
func (s Schema) Min(n any) Schema { return s.number("minimum", n) }

// Max is the greatest number, of any Go number type, that is allowed.
func (s Schema) Max(n any) Schema { return s.number("maximum", n) }

func (s Schema) number(name string, n any) Schema {
	return s.modify(func(of *Schema) error {
		switch v := reflect.ValueOf(n); {
		case v.CanInt(), v.CanUint(), v.CanFloat():
			return of.set(name, n)
		}
		return fmt.Errorf("the schema keyword %q needs a number, not %v", name, n)
	})
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

// Keyword gives any keyword of JSON Schema 2020-12 a value. type and items
// take the place of what the property was made with.
func (s Schema) Keyword(name string, v any) Schema {
	return s.modify(func(of *Schema) error { return of.set(name, v) })
}
