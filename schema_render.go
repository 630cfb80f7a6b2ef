package mcp

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// schemaForm is for what a Schema is written as JSON.
type schemaForm struct {
	root   bool // it is the whole schema of arguments
	out    bool // it describes results
	full   bool // with the keywords that some hosts refuse
	strict bool // objects refuse names that they do not declare
}

// JSON returns the schema as a server advertises it, "" if it has a mistake.
func (s Schema) JSON() string {
	text, err := s.render(schemaForm{root: true})
	if err != nil { // a Go type that is for results alone
		text, err = s.render(schemaForm{})
	}
	if err != nil {
		return ""
	}
	return string(text)
}

// MarshalJSON implements json.Marshaler.
func (s Schema) MarshalJSON() ([]byte, error) { return s.render(schemaForm{}) }

func (s Schema) render(f schemaForm) ([]byte, error) {
	if err := errors.Join(s.mistakes...); err != nil {
		return nil, err
	}
	switch s.source {
	case writtenSchema:
		return []byte(s.text), nil
	case derivedSchema:
		plan, problems := s.derive(f)
		if plan == nil {
			return nil, fmt.Errorf("%v: %s", s.goType, problems[0].Reason)
		}
		return plan.JSON(), nil
	}
	return s.build(f)
}

// derive returns the plan of a schema that comes from a Go type.
func (s Schema) derive(f schemaForm) (*schema.Plan, []schema.Problem) {
	o := schema.Options{Full: f.full, Part: !f.root && !f.out}
	from := schema.Input
	if f.out {
		from = schema.Output
	}
	plan, problems := from(s.goType, o)
	if plan != nil && f.strict {
		plan = plan.Strict()
	}
	return plan, problems
}

// build writes a built schema: type, keywords, items, properties, required.
func (s Schema) build(f schemaForm) ([]byte, error) {
	dst := []byte{'{'}
	kind := s.kind
	if s.isObject() {
		kind = "object"
	}
	if kind != anyKind && !s.has("type") {
		dst = jsonx.AppendString(append(dst, `"type":`...), kind)
	}
	for _, k := range s.keywords {
		dst = append(jsonx.AppendString(comma(dst), k.name), ':')
		dst = append(dst, k.value...)
	}
	var err error
	switch {
	case kind == "array" && s.items != nil:
		dst, err = s.items.renderPart(append(comma(dst), `"items":`...), "", f)
	case kind == "array" && !s.has("items"): // hosts refuse arrays without
		dst = append(comma(dst), `"items":{}`...)
	case kind == "object":
		dst, err = s.buildProperties(comma(dst), f)
	}
	return append(dst, '}'), err
}

func (s Schema) buildProperties(dst []byte, f schemaForm) ([]byte, error) {
	dst = append(dst, `"properties":{`...)
	var required []string
	for _, p := range s.props {
		var err error
		if dst, err = p.of.renderPart(append(jsonx.AppendString(comma(dst), p.name), ':'), p.desc, f); err != nil {
			return nil, fmt.Errorf("property %q: %w", p.name, err)
		}
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
	if f.closes(s) {
		dst = append(dst, `,"additionalProperties":false`...)
	}
	return dst, nil
}

// closes reports whether an object refuses names it does not declare. One
// without properties is free, but for the whole of a tool's arguments (MCP
// 2026-07-28, Tools › Tool).
func (f schemaForm) closes(s Schema) bool {
	for _, name := range []string{"additionalProperties", "unevaluatedProperties", "patternProperties"} {
		if s.has(name) {
			return false
		}
	}
	if len(s.props) == 0 {
		return f.root
	}
	return f.strict
}

// renderPart appends s as a part of another schema.
func (s Schema) renderPart(dst []byte, desc string, f schemaForm) ([]byte, error) {
	f.root = false
	text, err := s.render(f)
	if err == nil && s.source != builtSchema {
		text, err = s.part(text, desc)
	}
	if err != nil {
		return nil, err
	}
	return append(dst, text...), nil
}

// part makes text, a schema of its own, a part of another.
func (s Schema) part(text []byte, desc string) ([]byte, error) {
	if !jsonx.Valid(text) {
		return nil, errors.New("its schema is not valid JSON")
	}
	if s.source == derivedSchema {
		if defs, _ := jsonx.Find(text, "$defs"); defs != nil {
			return nil, fmt.Errorf("%v holds itself, so that its schema has definitions; it cannot be a part of another", s.goType)
		}
	}
	if desc == "" {
		return text, nil
	}
	return described(text, desc)
}

// described gives a schema a description of its own.
func described(text []byte, desc string) ([]byte, error) {
	w := jsonx.Walk(text)
	defer w.Release()
	if w.Kind() != '{' || w.Open() != nil {
		return nil, errors.New("true and false take no description")
	}
	dst := jsonx.AppendString([]byte(`{"description":`), desc)
	for w.Kind() == '"' {
		name, _, err := w.Name()
		if err != nil {
			return nil, err
		}
		isDescription := string(name) == "description"
		quoted := jsonx.AppendString(nil, string(name))
		value, err := w.Value()
		if err != nil {
			return nil, err
		}
		if !isDescription {
			dst = append(append(append(dst, ','), quoted...), ':')
			dst = append(dst, value...)
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

// schemaFinding is a problem of a schema, or of a Go type that it takes in.
type schemaFinding struct {
	goType reflect.Type // nil: of the schema
	schema.Problem
}

// plan compiles s: for arguments, or for a result.
func (s Schema) plan(f schemaForm, verbatim bool) (*schema.Plan, []schemaFinding) {
	if s.source == derivedSchema && !verbatim {
		plan, problems := s.derive(f)
		return plan, findings(s.goType, problems)
	}
	found := s.findings(f)
	text, err := s.render(f)
	if err != nil {
		return nil, orElse(found, err)
	}
	o := schema.RawOptions{Object: !f.out, Verbatim: verbatim}
	if s.source == builtSchema && !verbatim { // hosts see less than what is enforced
		enforced := f
		enforced.root, enforced.full = f.strict, true
		o.Advertised = text
		if text, err = s.render(enforced); err != nil {
			return nil, orElse(found, err)
		}
	}
	plan, problems := schema.Raw(text, o)
	return plan, append(found, findings(nil, problems)...)
}

// orElse adds err to what was found unless that says why there is no schema.
func orElse(found []schemaFinding, err error) []schemaFinding {
	for _, f := range found {
		if !f.Warning {
			return found
		}
	}
	return append(found, schemaFinding{Problem: schema.Problem{Reason: err.Error()}})
}

func findings(goType reflect.Type, problems []schema.Problem) []schemaFinding {
	var all []schemaFinding
	for _, p := range problems {
		all = append(all, schemaFinding{goType, p})
	}
	return all
}

// findings lists the mistakes in building s and the problems of the Go types
// in it.
func (s Schema) findings(f schemaForm) []schemaFinding {
	var all []schemaFinding
	for _, err := range s.mistakes {
		all = append(all, schemaFinding{Problem: schema.Problem{Reason: err.Error()}})
	}
	f.root = false
	parts := make([]Schema, 0, len(s.props)+1)
	if s.items != nil {
		parts = append(parts, *s.items)
	}
	for _, p := range s.props {
		parts = append(parts, p.of)
	}
	for _, part := range parts {
		if part.source != derivedSchema {
			all = append(all, part.findings(f)...)
			continue
		}
		plan, problems := part.derive(f)
		all = append(all, findings(part.goType, problems)...)
		if plan != nil && plan.HasRules() {
			all = append(all, schemaFinding{part.goType, schema.Problem{
				Reason: "has validate tags that no schema can say and that would not be enforced in a part of a built schema",
			}})
		}
	}
	return all
}
