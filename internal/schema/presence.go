package schema

import (
	"cmp"
	"fmt"
	"strings"
)

// presence knows which fields of a struct occur in its JSON, by the names that
// the library has for them.
type presence struct {
	run    *ruleRun
	places map[string]*spot
	open   []string // below these names keys are unknown: all is present
}

// spot is where a field occurs.
type spot struct {
	order int // among all that occur
	path  []step
	prop  *property // nil for embedded structs
	lone  uint64    // passes to skip: the field to compare with is absent
}

// skips reports whether the library shall pass by a field.
func (s *presence) skips(ns []byte, pass int) bool {
	if at := s.places[string(ns)]; at != nil {
		return at.lone&(1<<pass) != 0
	}
	for _, prefix := range s.open {
		if strings.HasPrefix(string(ns), prefix) {
			return false
		}
	}
	return true
}

// find returns the spot of a name. Elements that have no spot of their own
// have that of their collection, with the way from there in depth.
func (s *presence) find(ns string) (at *spot, depth int) {
	for {
		if at := s.places[ns]; at != nil && at.prop != nil {
			return at, depth
		}
		cut := strings.LastIndexAny(ns, ".[")
		if cut < 0 {
			return nil, depth
		}
		ns = ns[:cut]
		depth++
	}
}

// compare orders names by where they occur: the library takes the members of
// maps in any order.
func (s *presence) compare(a, b string) int {
	order := func(ns string) int {
		if at, _ := s.find(ns); at != nil {
			return at.order
		}
		return len(s.places)
	}
	return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a, b))
}

// object notes the members of one struct, and checks its conditions.
func (s *presence) object(n *node, raw []byte, prefix string, path []step) {
	o := n.object
	if o == nil {
		return
	}
	m := &seenMembers{rules: o, spans: make([][]byte, len(o.props))}
	walkMembers(raw, func(name string, span []byte) {
		if i := o.find([]byte(name), 0); i >= 0 {
			m.spans[i] = span
		}
	})
	for i := range o.props {
		p := &o.props[i]
		at := append(path[:len(path):len(path)], step{p.name, -1})
		s.conditions(p, m, m.spans[i] != nil, at)
		if m.spans[i] == nil {
			continue
		}
		ns := strings.TrimSuffix(prefix, ".")
		for _, name := range p.goPath {
			ns = strings.TrimPrefix(ns+"."+name, ".")
			if s.places[ns] == nil {
				s.places[ns] = &spot{}
			}
		}
		here := &spot{order: len(s.places), path: at, prop: p}
		for i, c := range p.comparisons() {
			if m.spans[c.with] == nil {
				here.lone |= 1 << (i + 1)
			}
		}
		s.places[ns] = here
		s.inner(p, p.node, m.spans[i], ns, at)
	}
}

// conditions reports a member that is missing or must not be there.
func (s *presence) conditions(p *property, m *seenMembers, present bool, at []step) {
	if p.rules == nil {
		return
	}
	for i := range p.rules.conditions {
		c := &p.rules.conditions[i]
		if c.forbid != present || !c.applies(m) {
			continue
		}
		rule := "required_" + c.when
		if c.forbid {
			rule = "excluded_" + c.when
		}
		s.run.add(at, rule, "is "+c.text)
	}
}

// inner notes what a member holds.
func (s *presence) inner(p *property, n *node, raw []byte, ns string, path []step) {
	n = n.resolved()
	switch {
	case n.opaque:
	case n.object != nil && n.object.derived:
		s.object(n, raw, ns+".", path)
	case n.array != nil:
		i := 0
		walkElements(raw, func(span []byte) {
			s.part(p, n.array.items, span, fmt.Sprintf("%s[%d]", ns, i), append(path[:len(path):len(path)], step{"", i}))
			i++
		})
	case n.object != nil && n.object.extra != nil && n.object.key == nil:
		walkMembers(raw, func(name string, span []byte) {
			s.part(p, n.object.extra, span, ns+"["+name+"]", append(path[:len(path):len(path)], step{name, -1}))
		})
	case n.object != nil && n.object.extra != nil:
		s.open = append(s.open, ns+"[")
	}
}

func (s *presence) part(p *property, n *node, raw []byte, ns string, path []step) {
	s.places[ns] = &spot{order: len(s.places), path: path, prop: p}
	s.inner(p, n, raw, ns, path)
}
