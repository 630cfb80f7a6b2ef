package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// survey looks at a type before anything is derived from it. It finds the
// types that contain themselves, since only those need definitions, and what
// the derivation would not survive.
type survey struct {
	out      bool
	order    map[reflect.Type]int // when a type was first met, from 1
	low      map[reflect.Type]int
	stack    []reflect.Type
	onStack  map[reflect.Type]bool
	cyclic   map[reflect.Type]bool
	problems []Problem
}

func newSurvey(t reflect.Type, out bool) *survey {
	s := &survey{
		out:     out,
		order:   map[reflect.Type]int{},
		low:     map[reflect.Type]int{},
		onStack: map[reflect.Type]bool{},
		cyclic:  map[reflect.Type]bool{},
	}
	s.visit(s.pointee(t))
	return s
}

// pointee follows pointers. It returns nil for one that never ends.
func (s *survey) pointee(t reflect.Type) reflect.Type {
	first := t
	for steps := 0; t.Kind() == reflect.Pointer; steps++ {
		if steps > maxDepth {
			s.problem(first, "", "", "is a pointer to itself, which holds no value")
			return nil
		}
		t = t.Elem()
	}
	return t
}

// visit is Tarjan's algorithm for strongly connected components.
func (s *survey) visit(t reflect.Type) {
	if t == nil || s.order[t] != 0 {
		return
	}
	s.order[t] = len(s.order) + 1
	if s.hooks(t) || isLeaf(t, s.out) {
		return
	}
	s.low[t] = s.order[t]
	s.stack = append(s.stack, t)
	s.onStack[t] = true
	self := false
	for _, next := range s.parts(t) {
		if next = s.pointee(next); next == nil {
			continue
		}
		self = self || next == t
		s.visit(next)
		if s.onStack[next] {
			s.low[t] = min(s.low[t], s.low[next])
		}
	}
	if s.low[t] == s.order[t] {
		s.component(t, self)
	}
}

// component takes the types of one component from the stack.
func (s *survey) component(first reflect.Type, self bool) {
	for n := len(s.stack) - 1; ; n-- {
		t := s.stack[n]
		s.onStack[t] = false
		if t == first {
			s.cyclic[t] = self || n < len(s.stack)-1
			s.stack = s.stack[:n]
			return
		}
		s.cyclic[t] = true
	}
}

// parts are the types that t is written with.
func (s *survey) parts(t reflect.Type) []reflect.Type {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return []reflect.Type{t.Elem()}
	case reflect.Struct:
		if embeds(t, map[reflect.Type]bool{}) {
			s.problem(t, "", "", "embeds itself: give the embedded field a JSON name")
			return nil
		}
		fields, _ := fieldsOf(t)
		parts := make([]reflect.Type, len(fields))
		for i, f := range fields {
			parts[i] = f.Type
			s.tag(t, f)
		}
		return parts
	}
	return nil
}

// embeds reports whether promoting the fields of t would never end. That goes
// for fields with the option inline as well, which invopop promotes.
func embeds(t reflect.Type, outer map[reflect.Type]bool) bool {
	if outer[t] {
		return true
	}
	outer[t] = true
	defer delete(outer, t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := indirect(f.Type)
		promoted := f.Anonymous && name == "" || slices.Contains(strings.Split(options, ","), "inline")
		if promoted && inner.Kind() == reflect.Struct && embeds(inner, outer) {
			return true
		}
	}
	return false
}

// tag refuses the one keyword of invopop's grammar that contradicts the Go
// type, and that its reflector may panic on.
func (s *survey) tag(t reflect.Type, f field) {
	tag := f.Tag.Get("jsonschema")
	if tag == "" {
		return
	}
	for part := range strings.SplitSeq(tag, ",") {
		if strings.HasPrefix(part, "type=") {
			s.problem(t, "."+strings.Join(f.path, "."), part, "type follows from the Go type: leave the keyword out")
		}
	}
}

// hooks refuses the methods by which a type changes what invopop derives. They
// say nothing of how the type is decoded, and an alias may never end.
func (s *survey) hooks(t reflect.Type) bool {
	for _, name := range []string{"JSONSchemaAlias", "JSONSchemaProperty", "JSONSchemaExtend"} {
		if _, ok := method(t, name); ok && t.Kind() != reflect.Interface {
			s.problem(t, "", "", fmt.Sprintf("has the method %s, which is not supported: give it a method JSONSchema", name))
			return true
		}
	}
	return false
}

func (s *survey) problem(t reflect.Type, field, tag, reason string) {
	s.problems = append(s.problems, Problem{Field: rootName(t) + field, Tag: tag, Reason: reason})
}

// isLeaf reports whether the JSON of t is not made of the JSON of parts.
func isLeaf(t reflect.Type, out bool) bool {
	return knownKind(t) != nil || hasSchemaMethod(t) || codesJSON(t, out) || codesText(t, out)
}
