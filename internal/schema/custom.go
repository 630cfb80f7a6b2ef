package schema

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// hasSchemaMethod reports whether t says itself what its JSON is: it has a
// method JSONSchema that returns JSON text or something that encodes to it.
func hasSchemaMethod(t reflect.Type) bool {
	m, ok := method(t, "JSONSchema")
	return ok && t.Kind() != reflect.Interface && m.Type.NumIn() == 1 && m.Type.NumOut() == 1
}

// schemaMethod builds the node of a type that says itself what its JSON is.
// It is read like a hand-written schema, but never edits: only the type knows
// how it is decoded.
func (d *deriver) schemaMethod(t reflect.Type) *node {
	result, ok := d.call(t, "JSONSchema")
	if !ok {
		return nil
	}
	text, err := schemaText(result)
	if err != nil {
		d.problem("", fmt.Sprintf("has type %s, whose method JSONSchema returns what cannot be encoded: %v", t, err))
		return nil
	}
	doc, reason := readDocument(text)
	if reason != "" {
		d.problem("", fmt.Sprintf("has type %s, the schema of which %s", t, reason))
		return nil
	}
	r := &reader{dialect: draft2020, schemas: map[*document]*vertex{}}
	r.root(doc)
	v := r.read(doc, place{base: rootBase})
	r.resolve()
	r.bounds(v)
	for _, v := range r.order {
		if len(r.problems) == 0 && (v.doc.members["$ref"] != nil || v.doc.members["$dynamicRef"] != nil) {
			r.problem(v.pointer, "$ref", "has no place in the schema of a part: write the parts out")
		}
		v.node.opaque = true
		if o := v.node.object; o != nil {
			for i := range o.props {
				o.props[i].fallback = nil
			}
			o.settle()
		}
	}
	if r.partial && len(r.problems) == 0 {
		v.node.rest = r.compile(doc)
		d.costly = true
	}
	for _, p := range r.problems {
		d.problem(p.Tag, fmt.Sprintf("has type %s: in its method JSONSchema %s", t, p.Reason))
	}
	if refused := hostRefusals(doc, false); len(refused) > 0 && !d.full {
		d.warn(fmt.Sprintf("has type %s, whose method JSONSchema returns what some hosts refuse a tool for: %s", t, strings.Join(refused, ", ")))
	}
	d.checked = true
	v.node.source = doc
	return v.node
}

func schemaText(v reflect.Value) ([]byte, error) {
	switch {
	case v.Kind() == reflect.String:
		return []byte(v.String()), nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return v.Bytes(), nil
	}
	return jsonx.Marshal(v.Interface())
}

// source writes the members of such a schema as they are, but for what the
// field says of it.
func (w *writer) source(n *node) {
	for i, name := range n.source.names {
		if name != "description" {
			w.raw(name, string(n.source.values[i].text))
		}
	}
	w.string("description", n.description)
	w.string("x-mcp-header", n.header)
}
