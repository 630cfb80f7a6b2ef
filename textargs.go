package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// textParam is a parameter whose values are text on the wire: an argument of
// a prompt or a variable of a URI template.
type textParam struct {
	name, title, desc string
	required          bool
	literal           bool // numbers and booleans are written as such
	list              bool // of what the other fields say
	enum              []string
}

// paramSchema is what a derived schema says of one parameter.
type paramSchema struct {
	Type        string            `json:"type"`
	Ref         string            `json:"$ref"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	Items       *paramSchema      `json:"items"`
}

// deriveText takes the text parameters of d from a Go type. The plan is nil
// when the type is no struct of such.
func (d *definition) deriveText(typ reflect.Type, lists bool) (*schema.Plan, []textParam) {
	fields := typ
	if typ.Kind() == reflect.Pointer {
		fields = typ.Elem()
	}
	if fields.Kind() != reflect.Struct {
		d.problem("", fmt.Errorf("%v is no struct with one field for each argument", typ))
		return nil, nil
	}
	plan, problems := schema.Input(typ, schema.Options{Full: true}) // nobody but us reads it
	d.schemaProblems(typ, problems)
	if plan == nil {
		return nil, nil
	}
	params, err := textParams(plan, lists)
	if err != nil {
		d.problem("", err)
		return nil, nil
	}
	return plan, params
}

// textParams reads from a derived schema which parameters there are, in order.
// It is an error if text cannot stand for them.
func textParams(plan *schema.Plan, lists bool) (params []textParam, err error) {
	properties, err := jsonx.Find(plan.JSON(), "properties")
	if err != nil || properties == nil {
		return nil, errors.New("the schema has no properties")
	}
	var required []string
	if raw, _ := jsonx.Find(plan.JSON(), "required"); raw != nil {
		if err := jsonx.Unmarshal(raw, &required); err != nil {
			return nil, err
		}
	}
	w := jsonx.Walk(properties)
	defer w.Release()
	if err := w.Open(); err != nil {
		return nil, err
	}
	var unfit []error
	for w.Kind() == '"' {
		quoted, _, err := w.Name()
		if err != nil {
			return nil, err
		}
		p := textParam{name: string(quoted)}
		raw, err := w.Value()
		if err != nil {
			return nil, err
		}
		p.required = slices.Contains(required, p.name)
		if err := p.describe(raw, lists); err != nil {
			unfit = append(unfit, err)
		}
		params = append(params, p)
	}
	return params, errors.Join(unfit...)
}

// describe takes what the schema of a property says.
func (p *textParam) describe(raw []byte, lists bool) error {
	var s paramSchema
	if err := jsonx.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("%q: %w", p.name, err)
	}
	p.title, p.desc = s.Title, s.Description
	if lists && s.Type == "array" && s.Items != nil {
		p.list = true
		s = *s.Items
	}
	switch {
	case s.Type == "object", s.Type == "array", s.Ref != "":
		return fmt.Errorf("text cannot stand for %q; use a string, number, boolean or a type with UnmarshalText", p.name)
	case s.Type == "number", s.Type == "integer", s.Type == "boolean":
		p.literal = true
	}
	for _, raw := range s.Enum {
		text, ok := unquoted(raw)
		if !ok {
			text = string(raw)
		}
		p.enum = append(p.enum, text)
	}
	return nil
}

// textJSON makes the arguments object of values for params: one text each,
// but for lists. Text that is no literal where one is due stays text, which
// the schema then refuses; an empty one means that there is no value.
func textJSON(params []textParam, values map[string][]string) []byte {
	dst := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		texts := values[name]
		p := textParam{name: name}
		if i := slices.IndexFunc(params, func(p textParam) bool { return p.name == name }); i >= 0 {
			p = params[i]
		}
		if p.literal && !p.list && texts[0] == "" {
			continue
		}
		dst = append(jsonx.AppendString(comma(dst), name), ':')
		if !p.list {
			dst = p.appendText(dst, texts[0])
			continue
		}
		dst = append(dst, '[')
		for i, text := range texts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = p.appendText(dst, text)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func (p *textParam) appendText(dst []byte, text string) []byte {
	if p.literal && isLiteral(text) {
		return append(dst, text...)
	}
	return jsonx.AppendString(dst, text)
}

// isLiteral reports whether text is a JSON number, true or false.
func isLiteral(text string) bool {
	if text == "" || text[0] == '"' || text[0] == '{' || text[0] == '[' || text == "null" {
		return false
	}
	return jsonx.Valid([]byte(text))
}

// stringMap decodes an object whose values are all strings; absent and null
// are empty.
func stringMap(raw json.RawMessage, what string) (map[string]string, error) {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil, nil
	}
	var texts map[string]*string
	bad := raw[0] != '{' || jsonx.Unmarshal(raw, &texts) != nil
	values := make(map[string]string, len(texts))
	for name, text := range texts {
		if text == nil {
			bad = true
			break
		}
		values[name] = *text
	}
	if bad {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s must be an object whose values are strings", what)
	}
	return values, nil
}
