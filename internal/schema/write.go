package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// writer makes the advertised bytes: members in a fixed order, properties in
// that of the struct, so that one type always has the same bytes.
type writer struct {
	plan *Plan
	out  []byte
	open []bool // for each object being written, whether it has members
}

func write(p *Plan) []byte {
	w := &writer{plan: p, out: make([]byte, 0, 512)}
	w.begin()
	w.members(p.root, true)
	if len(p.defs) > 0 {
		w.name("$defs")
		w.begin()
		for _, def := range p.defs {
			w.name(def.name)
			w.node(def)
		}
		w.end()
	}
	w.end()
	return w.out
}

func (w *writer) begin() {
	w.out = append(w.out, '{')
	w.open = append(w.open, false)
}

func (w *writer) end() {
	w.out = append(w.out, '}')
	w.open = w.open[:len(w.open)-1]
}

// name starts a member.
func (w *writer) name(name string) {
	last := len(w.open) - 1
	if w.open[last] {
		w.out = append(w.out, ',')
	}
	w.open[last] = true
	w.text(name)
	w.out = append(w.out, ':')
}

func (w *writer) text(text string) { w.out = jsonx.AppendString(w.out, text) }

func (w *writer) string(name, text string) {
	if text != "" {
		w.name(name)
		w.text(text)
	}
}

func (w *writer) raw(name, json string) {
	w.name(name)
	w.out = append(w.out, json...)
}

func (w *writer) count(name string, n int) { w.raw(name, strconv.Itoa(n)) }

func (w *writer) node(n *node) {
	w.begin()
	w.members(n, false)
	w.end()
}

func (w *writer) members(n *node, root bool) {
	if n.source != nil {
		w.source(n)
		return
	}
	if n.ref != nil {
		w.raw("$ref", `"#/$defs/`+n.ref.name+`"`)
		w.string("description", n.description)
		return
	}
	if n.types != anyType {
		w.raw("type", typeJSON(n.types))
	}
	if n.str != nil {
		w.stringRules(n.str)
	}
	w.enum(n)
	if w.plan.full {
		w.string("title", n.title)
	}
	w.string("description", n.describe(w.plan.full))
	w.string("x-mcp-header", n.header)
	if w.plan.full {
		w.annotations(n)
	}
	if n.num != nil {
		w.numberRules(n.num, n.types == integerType)
	}
	if n.array != nil {
		w.arrayRules(n.array)
	}
	if n.object != nil {
		w.objectRules(n.object, root)
	}
}

var singleTypes = map[typeSet]string{
	objectType: `"object"`, arrayType: `"array"`, stringType: `"string"`, numberType: `"number"`,
	integerType: `"integer"`, booleanType: `"boolean"`, nullType: `"null"`,
}

// typeJSON is the value of the keyword type.
func typeJSON(t typeSet) string {
	if name, ok := singleTypes[t]; ok {
		return name
	}
	var names []string
	for _, name := range []string{"object", "array", "string", "number", "integer", "boolean", "null"} {
		if t&typeNames[name] != 0 {
			names = append(names, `"`+name+`"`)
		}
	}
	return "[" + strings.Join(names, ",") + "]"
}

func (w *writer) annotations(n *node) {
	if len(n.examples) > 0 {
		w.raw("examples", "["+strings.Join(n.examples, ",")+"]")
	}
	for _, name := range n.flags {
		w.raw(name, "true")
	}
}

func (w *writer) enum(n *node) {
	if n.enum != nil && (w.plan.full || n.types == stringType) {
		w.raw("enum", "["+strings.Join(n.enum.values, ",")+"]")
	}
}

func (w *writer) stringRules(s *stringRules) {
	if s.format != nil && s.format.name != "" && (w.plan.full || s.format.name == "date-time") {
		w.string("format", s.format.name)
	}
	if w.plan.full {
		if s.base64 {
			w.string("contentEncoding", "base64")
		}
		if s.pattern != nil {
			w.string("pattern", s.pattern.String())
		}
	}
	if s.min > 0 {
		w.count("minLength", s.min)
	}
	if s.max >= 0 {
		w.count("maxLength", s.max)
	}
}

func (w *writer) numberRules(n *numberRules, whole bool) {
	if b := n.lower(); b != nil && !(b == n.lowest && is64Bit(b)) {
		w.bound("minimum", "exclusiveMinimum", b)
	}
	if b := n.upper(); b != nil && !(b == n.highest && is64Bit(b)) {
		w.bound("maximum", "exclusiveMaximum", b)
	}
	if n.multipleOf != nil && w.plan.full {
		w.raw("multipleOf", n.multipleOf.text)
	}
}

// is64Bit reports whether b is an end of a 64-bit range, which goes without
// saying and is more than many readers can hold.
func is64Bit(b *bound) bool { return len(b.value.whole) > fastDigits }

func (w *writer) bound(name, exclusive string, b *bound) {
	switch {
	case !b.exclusive:
		w.raw(name, b.text)
	case w.plan.full:
		w.raw(exclusive, b.text)
	}
}

func (w *writer) arrayRules(a *arrayRules) {
	w.name("items")
	if a.items == nil {
		w.out = append(w.out, "{}"...)
	} else {
		w.node(a.items)
	}
	if a.min > 0 {
		w.count("minItems", a.min)
	}
	if a.max >= 0 {
		w.count("maxItems", a.max)
	}
	if a.unique && w.plan.full {
		w.raw("uniqueItems", "true")
	}
}

func (w *writer) objectRules(o *objectRules, root bool) {
	if o.derived || root || len(o.props) > 0 {
		w.properties(o)
	}
	switch {
	case o.extra != nil && !o.extra.isFree():
		w.name("additionalProperties")
		w.node(o.extra)
	case o.closed, o.derived && w.plan.strict, o.derived && root && len(o.props) == 0:
		w.raw("additionalProperties", "false")
	}
	if w.plan.full {
		if o.min > 0 {
			w.count("minProperties", o.min)
		}
		if o.max >= 0 {
			w.count("maxProperties", o.max)
		}
	}
}

func (w *writer) properties(o *objectRules) {
	w.name("properties")
	w.begin()
	var required []string
	for i := range o.props {
		p := &o.props[i]
		w.name(p.name)
		w.property(p)
		if p.required {
			required = append(required, p.name)
		}
	}
	w.end()
	if len(required) > 0 {
		w.name("required")
		w.out = slices.Grow(w.out, 16*len(required))
		for i, name := range required {
			w.out = append(w.out, "[,"[boolInt(i > 0)])
			w.text(name)
		}
		w.out = append(w.out, ']')
	}
}

func (w *writer) property(p *property) {
	w.begin()
	w.members(p.node, false)
	if p.fallback != nil && !p.implied {
		w.raw("default", string(p.fallback))
	}
	w.end()
}
