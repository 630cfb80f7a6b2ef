package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// survey looks at a type before anything is derived from it. It finds the
// types that contain themselves, since only those need definitions, and what
// the derivation would not survive.
type survey struct {
	out      bool
	types    map[reflect.Type]*surveyed
	visited  []reflect.Type // each after what it is made of
	stack    []*surveyed
	cyclic   bool // any type is
	problems []Problem
}

// surveyed is what is known of a type: where it was met, and what it is.
type surveyed struct {
	order, low int // as in Tarjan's algorithm, from 1
	onStack    bool
	cyclic     bool // it contains itself
	members    members
}

// surveys are types that were surveyed without a problem and that no cycle can
// be reached from: what is known of them does not depend on where they are met.
var surveys sync.Map // surveyKey to *surveyed

type surveyKey struct {
	t   reflect.Type
	out bool
}

func newSurvey(t reflect.Type, out bool) *survey {
	s := &survey{out: out, types: map[reflect.Type]*surveyed{}}
	s.visit(s.pointee(t))
	if len(s.problems) == 0 && !s.cyclic {
		for _, t := range s.visited { // who finds one finds its parts
			surveys.LoadOrStore(surveyKey{t, out}, s.types[t])
		}
	}
	return s
}

// of returns what is known of a type that was visited, nil if it was not.
func (s *survey) of(t reflect.Type) *surveyed {
	if v := s.types[t]; v != nil {
		return v
	}
	v, _ := surveys.Load(surveyKey{t, s.out})
	known, _ := v.(*surveyed)
	return known
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

// visit is Tarjan's algorithm for strongly connected components. It returns
// nil for types that cannot be part of any.
func (s *survey) visit(t reflect.Type) *surveyed {
	if t == nil || isBuiltIn(t) {
		return nil
	}
	if seen := s.of(t); seen != nil {
		return seen
	}
	v := &surveyed{order: len(s.types) + 1, low: len(s.types) + 1}
	s.types[t] = v
	defer func() { s.visited = append(s.visited, t) }()
	if s.hooks(t) || isLeaf(t, s.out) {
		return v
	}
	v.onStack = true
	s.stack = append(s.stack, v)
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		s.part(v, t.Elem())
	case reflect.Struct:
		s.structure(v, t)
	}
	if v.low == v.order {
		s.component(v)
	}
	return v
}

// part visits a type that v is written with.
func (s *survey) part(v *surveyed, t reflect.Type) {
	next := s.visit(s.pointee(t))
	if next == nil || !next.onStack {
		return
	}
	v.low = min(v.low, next.low)
	v.cyclic = v.cyclic || next == v
}

func (s *survey) structure(v *surveyed, t reflect.Type) {
	if embeds(t, nil) {
		s.problem(t, "", "", "embeds itself: give the embedded field a JSON name")
		return
	}
	v.members = membersOf(t)
	for i := range v.members.fields {
		s.part(v, v.members.fields[i].Type)
	}
}

// component takes the types of one component from the stack.
func (s *survey) component(first *surveyed) {
	n := len(s.stack) - 1
	for ; s.stack[n] != first; n-- {
		s.stack[n].onStack, s.stack[n].cyclic = false, true
	}
	first.onStack = false
	first.cyclic = first.cyclic || n < len(s.stack)-1
	s.cyclic = s.cyclic || first.cyclic
	s.stack = s.stack[:n]
}

// embeds reports whether promoting the fields of t would never end.
func embeds(t reflect.Type, outer []reflect.Type) bool {
	if slices.Contains(outer, t) {
		return true
	}
	for i := range t.NumField() {
		f := t.Field(i)
		inner := indirect(f.Type)
		if inner.Kind() != reflect.Struct {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && embeds(inner, append(outer, t)) {
			return true
		}
	}
	return false
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

// isBuiltIn reports whether t is a basic type of the language: it has neither
// methods nor parts.
func isBuiltIn(t reflect.Type) bool {
	return t.PkgPath() == "" && (t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String)
}

// isLeaf reports whether the JSON of t is not made of the JSON of parts.
func isLeaf(t reflect.Type, out bool) bool {
	if t.Name() == "" && t.Kind() != reflect.Struct || isBuiltIn(t) {
		return false // no methods
	}
	return knownKind(t) != nil || hasSchemaMethod(t) || codesJSON(t, out) || codesText(t, out)
}
