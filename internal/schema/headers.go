package schema

import (
	"strings"

	"github.com/typedmcp/mcp/internal/header"
)

// headerTag reads mcp:"header=Region".
func (d *deriver) headerTag(p *property, f *field) {
	tag, ok := f.Tag.Lookup("mcp")
	if !ok {
		return
	}
	name, ok := strings.CutPrefix(tag, "header=")
	switch {
	case strings.HasPrefix(tag, "titles="): // of the options of a form
	case !ok:
		d.problem(`mcp:"`+tag+`"`, "is not known: write header=Name")
	case name == "":
		d.problem(`mcp:"`+tag+`"`, "names no header")
	case !d.out:
		p.node.header = name
	}
}

// headers collects the annotations of all properties. One that is not reached
// through properties alone has no value of its own and is a problem (MCP
// 2026-07-28, Streamable HTTP › Schema Extension).
func (d *deriver) headers(root *node) header.Bindings {
	var found header.Bindings
	var path []string // of property names, while d.path has those of fields
	var walk func(n *node, reached bool)
	below := func(n *node, mark string) {
		if n == nil {
			return
		}
		last := len(d.path) - 1
		name := d.path[last]
		d.path[last] = name + mark
		walk(n, false)
		d.path[last] = name
	}
	walk = func(n *node, reached bool) {
		if n.header != "" {
			tag := `mcp:"header=` + n.header + `"`
			if !reached {
				d.problem(tag, "is not reached through properties alone: move it out of the array, map or recursive type")
			} else if err := found.Add(n.header, n.headerKind(), path...); err != nil {
				d.problem(tag, err.Error())
			}
		}
		if n.array != nil {
			below(n.array.items, "[]")
		}
		if n.object == nil {
			return
		}
		below(n.object.extra, "[]")
		for i := range n.object.props {
			p := &n.object.props[i]
			path, d.path = append(path, p.name), append(d.path, strings.Join(p.goPath, "."))
			walk(p.node, reached)
			path, d.path = path[:len(path)-1], d.path[:len(d.path)-1]
		}
	}
	walk(root, true)
	for _, def := range d.order {
		d.path = []string{def.name}
		walk(def, false)
	}
	return found
}

// headerKind is the type that decides whether a header may mirror a value.
func (n *node) headerKind() header.Kind {
	switch n.types {
	case stringType, integerType, booleanType, numberType, arrayType, objectType, nullType:
		return header.Kind(strings.Trim(typeJSON(n.types), `"`))
	}
	return ""
}
