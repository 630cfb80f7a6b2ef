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
	var path []string
	var walk func(n *node, reached bool)
	walk = func(n *node, reached bool) {
		if n.header != "" {
			reason := "is not reached through properties alone: move it out of the array, map or recursive type"
			if reached {
				if err := found.Add(n.header, n.headerKind(), path...); err != nil {
					reason = err.Error()
				} else {
					reason = ""
				}
			}
			if reason != "" {
				d.problems = append(d.problems, Problem{Field: strings.Join(path, "."), Tag: "x-mcp-header", Reason: reason})
			}
		}
		if n.array != nil && n.array.items != nil {
			walk(n.array.items, false)
		}
		if n.object == nil {
			return
		}
		if n.object.extra != nil {
			walk(n.object.extra, false)
		}
		for i := range n.object.props {
			p := &n.object.props[i]
			path = append(path, p.name)
			walk(p.node, reached)
			path = path[:len(path)-1]
		}
	}
	walk(root, true)
	for _, def := range d.order {
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
