package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	enum              []string
}

// textParams reads from a derived schema which parameters there are, in order.
// Those that text cannot stand for are reported to bad.
func textParams(plan *schema.Plan, bad func(error)) []textParam {
	properties, err := jsonx.Find(plan.JSON(), "properties")
	if err != nil || properties == nil {
		bad(errors.New("the arguments must be a struct, with one field each"))
		return nil
	}
	var required []string
	if raw, _ := jsonx.Find(plan.JSON(), "required"); raw != nil {
		_ = jsonx.Unmarshal(raw, &required) // of our own making
	}
	w := jsonx.Walk(properties)
	defer w.Release()
	_ = w.Open()
	var params []textParam
	for w.Kind() == '"' {
		quoted, _, _ := w.Name()
		name := string(quoted)
		raw, _ := w.Value()
		var p struct {
			Type        string `json:"type"`
			Title       string `json:"title"`
			Description string `json:"description"`
			Enum        []any  `json:"enum"`
		}
		_ = jsonx.Unmarshal(raw, &p)
		param := textParam{name: name, title: p.Title, desc: p.Description, required: slices.Contains(required, name)}
		switch p.Type {
		case "object", "array":
			bad(fmt.Errorf("%q is an %s, which text cannot stand for; use a string, number, boolean or a type with UnmarshalText", name, p.Type))
		case "number", "integer", "boolean":
			param.literal = true
		}
		for _, v := range p.Enum {
			param.enum = append(param.enum, fmt.Sprint(v))
		}
		params = append(params, param)
	}
	return params
}

// textJSON makes the arguments object of values for params. Text that is no
// literal where one is due stays text, which the schema then refuses.
func textJSON(params []textParam, values map[string]string) []byte {
	dst := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text := values[name]
		dst = append(jsonx.AppendString(comma(dst), name), ':')
		i := slices.IndexFunc(params, func(p textParam) bool { return p.name == name })
		if i >= 0 && params[i].literal && isLiteral(text) {
			dst = append(dst, text...)
		} else {
			dst = jsonx.AppendString(dst, text)
		}
	}
	return append(dst, '}')
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
	var values map[string]string
	if raw[0] != '{' || jsonx.Unmarshal(raw, &values) != nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s must be an object whose values are strings", what)
	}
	return values, nil
}
