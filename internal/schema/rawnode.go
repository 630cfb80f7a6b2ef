package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// fill puts what the keywords of v say into its node, as far as the checker
// of this package enforces it.
func (r *reader) fill(v *vertex) {
	m, n := v.doc.members, v.node
	if t := m["type"]; t != nil {
		n.types, _ = readTypes(t)
	}
	if d := m["description"]; d != nil {
		n.description = d.string()
	}
	if e := m["enum"]; e != nil {
		r.fillEnum(v, e.values)
	}
	if c := m["const"]; c != nil {
		r.fillEnum(v, []*document{c})
	}
	r.fillNumber(v)
	r.fillString(v)
	r.fillArray(v)
	r.fillObject(v)
}

func (r *reader) fillEnum(v *vertex, values []*document) {
	e := new(enumRules)
	for _, value := range values {
		if value.kind == '{' || value.kind == '[' {
			v.partial, r.partial = true, true
			return
		}
		e.add(string(value.text))
	}
	if v.node.enum != nil { // beside const
		v.partial, r.partial = true, true
	}
	v.node.enum = e
}

func (r *reader) fillNumber(v *vertex) {
	n := new(numberRules)
	found := false
	for _, name := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"} {
		value := v.doc.members[name]
		if value == nil {
			continue
		}
		found = true
		if reason := n.constrain(keyword{name, string(value.text)}, false); reason != "" {
			r.problem(v.pointer, name, "%s", reason)
		}
	}
	if found {
		v.node.num = n
	}
}

func (r *reader) fillString(v *vertex) {
	m := v.doc.members
	s := &stringRules{max: noLimit}
	found := r.count(v, "minLength", &s.min)
	found = r.count(v, "maxLength", &s.max) || found
	if p := m["pattern"]; p != nil {
		s.pattern = r.pattern(v, "pattern", p.string())
		found = true
	}
	if p := m["patternProperties"]; p != nil {
		for _, name := range p.names {
			r.pattern(v, "patternProperties", name)
		}
	}
	if f := m["format"]; f != nil {
		found = r.format(v, s, f.string()) || found
	}
	if e := m["contentEncoding"]; e != nil {
		if e.string() != "base64" {
			r.problem(v.pointer, "contentEncoding", "names %s, which would not be enforced: base64 is", quote(e.string()))
		}
		s.base64, found = true, true
	}
	if t := m["contentMediaType"]; t != nil && t.string() == "application/json" {
		v.partial, r.partial = true, true
	} else if s := m["contentSchema"]; s != nil {
		r.problem(v.pointer, "contentSchema", "would not be enforced: contentMediaType must be application/json")
	}
	if found {
		v.node.str = s
	}
}

func (r *reader) pattern(v *vertex, keyword, text string) *regexp.Regexp {
	re, err := regexp.Compile(text)
	if err != nil {
		r.problem(v.pointer, keyword, "has the pattern %s, which cannot be compiled (RE2 syntax, without look-around and back-references): %s",
			quote(text), strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re
}

// format leaves formats that are not ours to the full validator.
func (r *reader) format(v *vertex, s *stringRules, name string) bool {
	if f := formats[name]; f != nil {
		s.format = f
		return true
	}
	if !slices.Contains(otherFormats, name) {
		r.problem(v.pointer, "format", "names %s, which is unknown and would not be enforced; there are %s",
			quote(name), strings.Join(append(formatNames(), otherFormats...), ", "))
	}
	v.partial, r.partial = true, true
	return false
}

// count reads the value of a keyword for sizes.
func (r *reader) count(v *vertex, name string, to *int) bool {
	value := v.doc.members[name]
	if value == nil {
		return false
	}
	digits, ok := jsonx.AppendInteger(nil, value.text)
	n, err := strconv.ParseInt(string(digits), 10, 32)
	if !ok || err != nil {
		r.problem(v.pointer, name, "is out of range")
		return true
	}
	*to = int(n)
	return true
}

func (r *reader) fillArray(v *vertex) {
	m := v.doc.members
	a := &arrayRules{max: noLimit}
	found := r.count(v, "minItems", &a.min)
	found = r.count(v, "maxItems", &a.max) || found
	if u := m["uniqueItems"]; u != nil && u.isTrue() {
		a.unique, found = true, true
	}
	if items := m["items"]; items != nil && items.kind != '[' && m["prefixItems"] == nil {
		a.items, found = r.schemas[items].node, true
	}
	if found {
		v.node.array = a
	}
}

func (r *reader) fillObject(v *vertex) {
	m := v.doc.members
	o := newObject()
	found := r.count(v, "minProperties", &o.min)
	found = r.count(v, "maxProperties", &o.max) || found
	if props := m["properties"]; props != nil {
		found = true
		for i, name := range props.names {
			p := property{name: name, node: r.schemas[props.values[i]].node}
			if def := props.values[i].members["default"]; def != nil {
				p.fallback = def.text
			}
			o.props = append(o.props, p)
		}
	}
	if extra := m["additionalProperties"]; extra != nil && m["patternProperties"] == nil {
		found = true
		if o.closed = extra.kind == 'f'; !o.closed {
			o.extra = r.schemas[extra].node
		}
	}
	if required := m["required"]; required != nil {
		found = true
		names, _ := required.strings()
		o.require(names)
	}
	if found {
		v.node.object = o
	}
}

// require marks properties. One that is not declared becomes a property with
// the schema of such members.
func (o *objectRules) require(names []string) {
	for _, name := range names {
		i := slices.IndexFunc(o.props, func(p property) bool { return p.name == name })
		if i >= 0 {
			o.props[i].required = true
			continue
		}
		n := &node{types: anyType}
		switch {
		case o.closed:
			n.types = 0
		case o.extra != nil:
			n = o.extra
		}
		o.props = append(o.props, property{name: name, node: n, required: true})
	}
}

// settle computes what checks need once all references are known, and checks
// the defaults.
func (r *reader) settle(rest *rest) {
	for _, v := range r.order {
		o := v.node.object
		if o == nil {
			continue
		}
		props := v.doc.members["properties"]
		for i := range o.props {
			p := &o.props[i]
			if props == nil || props.members[p.name] == nil {
				continue
			}
			below := r.schemas[props.members[p.name]]
			p.dropNull = !p.required && !r.admitsNull(below, rest)
			if p.fallback == nil {
				continue
			}
			if reason := p.node.refuses(p.fallback); reason != "" {
				r.problem(below.pointer, "default", "%s", reason)
			}
		}
		o.settle()
	}
}

// admitsNull reports whether v takes null. What our checker cannot tell, the
// full validator does.
func (r *reader) admitsNull(v *vertex, rest *rest) bool {
	n := v.node.resolved()
	if !n.admitsNull() {
		return false
	}
	return rest == nil || rest.accepts(v.pointer, nil)
}
