package schema

import (
	"reflect"
)

// hasSchemaMethod reports whether t says itself what its JSON is.
func hasSchemaMethod(t reflect.Type) bool {
	m, ok := method(t, "JSONSchema")
	return ok && t.Kind() != reflect.Interface && m.Type.NumIn() == 1 && m.Type.NumOut() == 1
}

func (d *deriver) schemaMethod(t reflect.Type) *node {
	return &node{types: anyType, opaque: true}
}

func (w *writer) source(n *node) {
	w.out = append(w.out, n.source...)
}
