package schema

import (
	"fmt"
	"strconv"
)

// hostKeywords are those that all known hosts take, in the form that derived
// schemas have. Others make some hosts refuse the tool, or all tools.
var hostKeywords = map[string]bool{
	"type": true, "properties": true, "required": true, "items": true, "enum": true, "additionalProperties": true,
	"title": true, "description": true, "default": true, "format": true, "minimum": true, "maximum": true,
	"minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "x-mcp-header": true,
}

// maxRefusals is how many are told of one schema.
const maxRefusals = 5

// HostRefusals lists what some hosts do not take in the advertised schema,
// each with its place.
func (p *Plan) HostRefusals() []string {
	doc, problem := readDocument(p.json)
	if problem != "" {
		return nil
	}
	return hostRefusals(doc, true)
}

func hostRefusals(doc *document, root bool) []string {
	h := &hostCheck{keywords: draft2020.keywords}
	if uri := doc.members["$schema"]; uri != nil && dialects[uri.string()] != nil {
		h.keywords = dialects[uri.string()].keywords
	}
	if typ := doc.members["type"]; root && typ != nil && typ.string() == "object" && doc.members["properties"] == nil {
		h.add(`no "properties" at #`)
	}
	h.schema(doc, "#")
	return h.found
}

type hostCheck struct {
	keywords map[string]keywordRule
	found    []string
}

func (h *hostCheck) add(format string, args ...any) {
	if len(h.found) < maxRefusals {
		h.found = append(h.found, fmt.Sprintf(format, args...))
	}
}

func (h *hostCheck) schema(doc *document, at string) {
	if doc.kind != '{' {
		h.add("%s in the place of a schema at %s", doc.text, at)
		return
	}
	for i, name := range doc.names {
		v := doc.values[i]
		switch {
		case !hostKeywords[name]:
			h.add("%s at %s", quote(name), at)
		case name == "type" && v.kind == '[':
			h.add("a list of types at %s", at)
		case name == "type" && v.string() == "array" && doc.members["items"] == nil:
			h.add(`no "items" at %s`, at)
		case name == "enum" && v.kind == '[':
			h.enum(v, at)
		}
		if name != "additionalProperties" || v.kind == '{' {
			h.parts(h.keywords[name].form, v, at+"/"+pointerEscapes.Replace(name))
		}
	}
}

// enum holds enumerations to strings.
func (h *hostCheck) enum(list *document, at string) {
	if _, ok := list.strings(); !ok {
		h.add(`an "enum" of other values than strings at %s`, at)
	}
}

// parts goes on with the subschemas of a keyword.
func (h *hostCheck) parts(f form, v *document, at string) {
	switch {
	case f == schemaForm, f == itemsForm && v.kind != '[':
		h.schema(v, at)
	case f == schemaListForm, f == itemsForm:
		for i, part := range v.values {
			h.schema(part, at+"/"+strconv.Itoa(i))
		}
	case f == schemaMapForm && v.kind == '{':
		for i, part := range v.values {
			h.schema(part, at+"/"+pointerEscapes.Replace(v.names[i]))
		}
	}
}
