package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// structNode builds the object that the members of t make.
func (d *deriver) structNode(t reflect.Type) *node {
	m := &d.found.of(t).members
	for _, p := range m.problems {
		p.Field = strings.Join(append(slices.Clone(d.path), p.Field), ".")
		d.problems = append(d.problems, p)
	}
	n := &node{types: objectType, object: newObject()}
	n.object.derived = true
	n.object.props = make([]property, 0, len(m.fields))
	kept := make([]*field, 0, len(m.fields))
	for i := range m.fields {
		f := &m.fields[i]
		depth := len(d.path)
		d.path = append(d.path, strings.Join(f.path, "."))
		if p, ok := d.property(f); ok {
			n.object.props = append(n.object.props, p)
			kept = append(kept, f)
		}
		d.path = d.path[:depth]
	}
	d.settleSiblings(n.object, kept)
	for i := range n.object.props {
		d.settleProperty(&n.object.props[i], kept[i])
	}
	n.object.settle()
	return n
}

// settleProperty finishes a property once all tags are read.
func (d *deriver) settleProperty(p *property, f *field) {
	if d.out {
		d.outputProperty(p, f)
		return
	}
	depth := len(d.path)
	d.path = append(d.path, strings.Join(f.path, "."))
	d.settleDefault(p, f)
	d.path = d.path[:depth]
	p.dropNull = !p.required && !p.node.admitsNull()
}

// property builds one member from its Go type and its tags.
func (d *deriver) property(f *field) (property, bool) {
	list, problems := parseTag(f.Tag.Get("jsonschema"))
	n := d.build(f.Type, nil, false)
	if n == nil {
		return property{}, false
	}
	if t := indirect(f.Type); f.quoted && (t == numberGo || !isLeaf(t, d.out)) {
		n = &node{types: stringType, str: &stringRules{max: noLimit, quoted: n}}
	}
	own := n.description // of a type with a schema of its own
	n.description = f.Tag.Get("jsonschema_description")
	p := property{name: f.name, node: n, required: d.required(f), owner: f.owner, goPath: f.path}
	for _, reason := range problems {
		d.problem(fmt.Sprintf("jsonschema:%q", f.Tag.Get("jsonschema")), reason)
	}
	d.apply(&p, list)
	n.description = cmp.Or(n.description, own)
	d.validate(&p, f)
	d.headerTag(&p, f)
	if p.demanded && !d.out {
		p.required = true
		if p.fallback != nil {
			d.problem("required", "demands a field that has a default: keep one of the two")
		}
	}
	return p, true
}

// required tells whether a member always occurs: in arguments if its type and
// tags do not say otherwise, in results if it is always written.
func (d *deriver) required(f *field) bool {
	if f.omits || f.optional {
		return false
	}
	return d.out || f.Type.Kind() != reflect.Pointer
}

// outputProperty widens what may be written as null.
func (d *deriver) outputProperty(p *property, f *field) {
	pointers := 0
	t := f.Type
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		pointers++
	}
	null := t.Kind() == reflect.Interface || pointers > boolInt(f.omits)
	if null && p.node.types&nullType == 0 {
		p.node = &node{types: anyType, description: p.node.description, title: p.node.title}
	}
	p.required = d.required(f)
	p.fallback = nil // nothing is filled in
}

// setDefault takes the text of a default as the tag has it. Elements of an
// array may be given one by one.
func (d *deriver) setDefault(p *property, value string) string {
	n := p.node.resolved()
	switch {
	case n.array != nil && !strings.HasPrefix(value, "["):
		text, reason := n.array.items.literal(value)
		if reason != "" {
			return reason
		}
		if len(p.fallback) == 0 {
			p.fallback = []byte("[" + text + "]")
		} else {
			p.fallback = []byte(strings.TrimSuffix(string(p.fallback), "]") + "," + text + "]")
		}
	case p.fallback != nil:
		return "is given twice"
	case n.types == stringType || n.types == anyType && !jsonx.Valid([]byte(value)):
		p.fallback = jsonx.AppendString(nil, value)
	default:
		p.fallback = []byte(value)
	}
	return ""
}

// settleDefault completes and checks the default of a property. A struct that
// may be absent has one if its members have, and need nothing else: the Go
// value would else start with their zeros.
func (d *deriver) settleDefault(p *property, f *field) {
	n := p.node.resolved()
	if p.fallback == nil {
		if !p.required && f.Type.Kind() == reflect.Struct && n.object != nil && n.object.derived && !n.opaque {
			p.implied = true
			p.fallback = []byte("{}")
		}
	} else {
		p.required = false
	}
	if p.fallback == nil {
		return
	}
	full, violations := (&Plan{root: n, subject: "the value"}).Check(p.fallback)
	switch {
	case p.implied && (violations != nil || string(full) == "{}"):
		p.fallback, p.implied = nil, false
	case violations != nil:
		d.problem("jsonschema:default="+string(p.fallback), "breaks the schema: "+violations[0].Message)
	default:
		p.fallback = full
	}
}

// settle computes what a check of o needs, after its last property.
func (o *objectRules) settle() {
	o.needs = make([]uint64, (len(o.props)+63)/64)
	for i := range o.props {
		p := &o.props[i]
		if p.fallback != nil {
			p.insert = append(append(jsonx.AppendString([]byte(","), p.name), ':'), p.fallback...)
		}
		if p.required || p.insert != nil {
			o.needs[i>>6] |= 1 << (i & 63)
		}
	}
	if len(o.props) > indexAfter {
		o.index = make(map[string]int, len(o.props))
		for i := range o.props {
			o.index[o.props[i].name] = i
		}
	}
}
