package schema

import (
	"strings"
)

// describe is the advertised description: what the developer wrote, and what
// the advertised keywords cannot say, so that a model need not guess.
func (n *node) describe(full bool) string {
	hints := n.hints
	if !full {
		hints = append(hints[:len(hints):len(hints)], n.unsaid()...)
	}
	switch text := strings.Join(hints, ", "); {
	case text == "":
		return n.description
	case n.description == "":
		return text
	default:
		return n.description + " (" + text + ")"
	}
}

// unsaid lists the rules whose keywords some hosts refuse.
func (n *node) unsaid() []string {
	var list []string
	if n.enum != nil && n.types != stringType {
		list = append(list, "one of "+strings.Join(n.enum.values, ", "))
	}
	if s := n.str; s != nil {
		if s.format != nil && s.format.name != "" && s.format.name != "date-time" {
			list = append(list, s.format.what)
		}
		if s.base64 {
			list = append(list, "base64")
		}
		if s.pattern != nil {
			list = append(list, "matching "+s.pattern.String())
		}
		if s.quoted != nil {
			list = append(list, quotedFormats[s.quoted.types].what)
		}
	}
	if m := n.num; m != nil {
		list = append(list, m.unsaid()...)
	}
	if n.array != nil && n.array.unique {
		list = append(list, "no item twice")
	}
	if o := n.object; o != nil {
		if o.min > 0 {
			list = append(list, "at least "+count(o.min, "member"))
		}
		if o.max >= 0 {
			list = append(list, "at most "+count(o.max, "member"))
		}
	}
	return list
}

func (m *numberRules) unsaid() []string {
	var list []string
	if b := m.lower(); b != nil && b.exclusive {
		list = append(list, "greater than "+b.text)
	}
	if b := m.upper(); b != nil && b.exclusive {
		list = append(list, "less than "+b.text)
	}
	if m.multipleOf != nil {
		list = append(list, "a multiple of "+m.multipleOf.text)
	}
	return list
}
