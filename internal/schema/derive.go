package schema

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"
	"github.com/typedmcp/mcp/internal/jsonx"
)

const (
	maxDepth = 64   // of nested schemas
	maxNodes = 2000 // with every reference expanded
)

// deriver turns one Go type into nodes. The shape comes from invopop's trees,
// walked once beside the type; where those are known to be wrong, as in the
// members of structs, the Go type decides.
type deriver struct {
	out      bool
	part     bool // of another schema
	full     bool // hosts take every keyword
	found    *survey
	named    map[reflect.Type]*node // definitions of recursive types
	order    []*node
	path     []string
	nodes    int
	depth    int
	checked  bool // values can break the schema
	costly   bool // a part needs the full validator
	refused  bool // jsonx.CheckType found problems
	ruled    bool // there are validate tags
	problems []Problem
}

func derive(key planKey) (*Plan, []Problem) {
	d := &deriver{
		out:   key.out,
		part:  key.part,
		full:  key.full,
		named: map[reflect.Type]*node{},
	}
	t := key.t
	if t == nil {
		d.problem("", "has no type")
		return nil, d.problems
	}
	for i := 0; t.Kind() == reflect.Pointer && i < maxDepth; i++ {
		t = t.Elem()
	}
	d.path = []string{rootName(t)}
	d.found = newSurvey(t, d.out)
	if d.problems = d.found.problems; len(d.problems) > 0 {
		return nil, d.problems
	}
	d.checkType(t)
	root := d.root(t)
	if d.failed() {
		return nil, d.problems
	}
	p := newPlan(root, d.order, key.full)
	p.checked, p.costly = d.checked, d.costly
	p.headers = d.headers(root)
	if d.ruled {
		p.rules = collectRules(root, d.out)
	}
	if key.out {
		p.subject = "the result"
	}
	if d.failed() {
		return nil, d.problems
	}
	return p, d.problems
}

func rootName(t reflect.Type) string {
	if t.Name() == "" {
		return t.Kind().String()
	}
	name, _, _ := strings.Cut(t.Name(), "[") // type arguments are long
	return name
}

// checkType reports what encoding or decoding would fail on. A type without a
// JSON form is found again when its node is built, but need not be told twice.
func (d *deriver) checkType(t reflect.Type) {
	for _, p := range jsonx.CheckType(t) {
		if d.out && p.Encode || !d.out && p.Decode {
			d.problems = append(d.problems, Problem{Field: p.Path, Tag: p.Tag, Reason: p.Reason})
		}
	}
	d.refused = len(d.problems) > 0
}

// formless reports a type without a JSON form, unless that was done.
func (d *deriver) formless(format string, args ...any) {
	if !d.refused {
		d.problem("", fmt.Sprintf(format, args...))
	}
}

func (d *deriver) failed() bool {
	for _, p := range d.problems {
		if !p.Warning {
			return true
		}
	}
	return false
}

// root builds the node of the whole. Arguments are objects always.
func (d *deriver) root(t reflect.Type) *node {
	object := !d.out && !d.part
	if object {
		switch {
		case t == anyInterface:
			return &node{types: objectType, exact: true, object: newObject()}
		case isLeaf(t, false) && !hasSchemaMethod(t), t.Kind() != reflect.Struct && t.Kind() != reflect.Map:
			d.problem("", fmt.Sprintf("arguments are a JSON object, and %s is none: make it a field of a struct", t))
			return nil
		}
	}
	n := d.build(t, nil, true)
	if n != nil && object && n.types != objectType {
		d.problem("", "the schema of arguments must have the type object")
	}
	return n
}

// trees are what invopop made of types that are no structs: most fields are of
// few types.
var trees sync.Map // treeKey to *jsonschema.Schema

type treeKey struct {
	t   reflect.Type
	out bool
}

// tree asks invopop for the tree of t. Empty nodes stand for the structs in it
// and for types with known faults.
func (d *deriver) tree(t reflect.Type) (tree *jsonschema.Schema) {
	key := treeKey{t, d.out}
	if known, ok := trees.Load(key); ok {
		return known.(*jsonschema.Schema)
	}
	defer func() {
		if r := recover(); r != nil {
			d.problem("", fmt.Sprintf("cannot be described: %v", r))
		}
	}()
	r := jsonschema.Reflector{
		Anonymous:      true,
		ExpandedStruct: true,
		Namer: func(part reflect.Type) string { // two packages may share a name
			switch {
			case part == t:
				return "whole"
			case part.Name() == "":
				return ""
			}
			return "part"
		},
		Mapper: func(part reflect.Type) *jsonschema.Schema {
			switch part.Kind() {
			case reflect.Struct, reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer, reflect.Uintptr:
				return new(jsonschema.Schema)
			}
			if isLeaf(part, d.out) {
				return new(jsonschema.Schema)
			}
			return nil
		},
	}
	tree = r.ReflectFromType(t)
	trees.Store(key, tree)
	return tree
}

// build returns the node of t, whose tree is s. It returns nil after a problem.
func (d *deriver) build(t reflect.Type, s *jsonschema.Schema, root bool) *node {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.problem("", fmt.Sprintf("has more than %d parts with nested types written out: nest less, or use json.RawMessage below", maxNodes))
		}
		return nil
	}
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > maxDepth {
		d.problem("", fmt.Sprintf("nests deeper than %d: use json.RawMessage below", maxDepth))
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known := d.found.of(t); known == nil || !known.cyclic || t.Name() == "" {
		return d.inline(t, s)
	}
	if def, ok := d.named[t]; ok {
		if !root {
			return &node{types: def.types, ref: def}
		}
	}
	def := &node{name: d.definitionName(t), types: anyType}
	d.named[t] = def
	d.order = append(d.order, def)
	path := d.path
	d.path = []string{rootName(t)}
	if n := d.inline(t, s); n != nil {
		n.name = def.name
		*def = *n
	}
	d.path = path
	if root {
		inner := *def
		inner.name = ""
		return &inner
	}
	return &node{types: def.types, ref: def}
}

// inline builds the node of t where it stands.
func (d *deriver) inline(t reflect.Type, s *jsonschema.Schema) *node {
	if n, ok := d.leaf(t); ok {
		return n
	}
	if t.Kind() == reflect.Struct {
		return d.structNode(t)
	}
	if s == nil || s.Ref != "" {
		if s = d.tree(t); s == nil {
			return nil
		}
	}
	switch {
	case t.Kind() == reflect.Interface:
		return d.interfaceNode(t)
	case t.Kind() == reflect.Map:
		return d.mapNode(t, s)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !codedAsWhole(t.Elem()):
		return &node{types: stringType, str: &stringRules{max: noLimit, base64: true}}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return d.arrayNode(t, s)
	case s.Type != "":
		return d.scalarNode(t, s.Type)
	case t.Kind() == reflect.Uintptr: // invopop does not know it
		return d.scalarNode(t, "integer")
	}
	d.formless("has type %s, which JSON cannot hold: leave it out with the tag json:\"-\"", t)
	return nil
}

func (d *deriver) interfaceNode(t reflect.Type) *node {
	if !d.out && t.NumMethod() > 0 {
		d.formless("has type %s, an interface with methods, which cannot be decoded: use a concrete type or any", t)
		return nil
	}
	return &node{types: anyType, exact: !d.out}
}

func (d *deriver) arrayNode(t reflect.Type, s *jsonschema.Schema) *node {
	n := &node{types: arrayType, array: &arrayRules{max: noLimit}}
	if t.Kind() == reflect.Array {
		n.array.min, n.array.max = t.Len(), t.Len()
	}
	n.array.items = d.element(t.Elem(), s.Items)
	if n.array.items == nil {
		return nil
	}
	return n
}

func (d *deriver) mapNode(t reflect.Type, s *jsonschema.Schema) *node {
	values := s.AdditionalProperties
	for _, v := range s.PatternProperties { // of integer keys, with a pattern that refuses negative ones
		values = v
	}
	n := &node{types: objectType, object: newObject()}
	n.object.extra = d.element(t.Elem(), values)
	key, ok := d.mapKey(t.Key())
	if !ok || n.object.extra == nil {
		return nil
	}
	n.object.key = key
	return n
}

// element builds the node of what a collection holds. A nil pointer in a
// result would break the schema, which says nothing of null.
func (d *deriver) element(t reflect.Type, s *jsonschema.Schema) *node {
	d.checked = d.checked || d.out && t.Kind() == reflect.Pointer
	last := len(d.path) - 1
	name := d.path[last]
	d.path[last] = name + "[]"
	defer func() { d.path[last] = name }()
	return d.build(t, s, false)
}

func (d *deriver) problem(tag, reason string) {
	d.problems = append(d.problems, Problem{Field: strings.Join(d.path, "."), Tag: tag, Reason: reason})
}

func (d *deriver) warn(reason string) {
	d.problems = append(d.problems, Problem{Field: strings.Join(d.path, "."), Reason: reason, Warning: true})
}
