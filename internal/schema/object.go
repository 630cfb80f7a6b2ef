package schema

import (
	"bytes"

	"github.com/typedmcp/mcp/internal/jsonx"
)

var noRules = newObject()

// member is the state of one object while its members pass.
type member struct {
	rules *objectRules
	words int            // where the bits of the properties that occurred start
	names *jsonx.NameSet // of members that are not declared, once there is one
	items *node          // what undeclared members are checked against
	count int            // members that stay
	last  int            // end of the last one, comma not included
	next  int            // the property that comes next in order
}

func (r *run) object(n *node) bool {
	m := member{rules: n.object}
	if m.rules == nil {
		m.rules = noRules
	}
	m.items = openNode(n)
	if m.rules.extra != nil {
		m.items = m.rules.extra
	}
	if err := r.w.Open(); err != nil {
		return r.broken(err)
	}
	m.last = r.w.Offset()
	m.words = len(r.words)
	for range (len(m.rules.props) + 63) / 64 {
		r.words = append(r.words, 0)
	}
	unknown := len(r.unknown)
	ok := true
	for r.w.Kind() != '}' {
		ok = r.member(&m) && ok
		if r.stopped || !ok && !r.collecting {
			return false
		}
	}
	if err := r.w.Close(); err != nil {
		return r.broken(err)
	}
	ok = r.closing(&m, r.unknown[unknown:]) && ok
	r.unknown = r.unknown[:unknown]
	r.words = r.words[:m.words]
	if m.names != nil {
		m.names.Reset()
		r.open--
	}
	return ok
}

// member checks one name and its value.
func (r *run) member(m *member) bool {
	name, escaped, err := r.w.Name()
	if err != nil {
		return r.broken(err)
	}
	i := m.rules.find(name, m.next)
	if i < 0 {
		return r.undeclared(m, name, escaped)
	}
	m.next = i + 1
	p := &m.rules.props[i]
	word, bit := &r.words[m.words+i>>6], uint64(1)<<(i&63)
	if *word&bit != 0 {
		return r.duplicate(p.name)
	}
	*word |= bit
	if p.dropNull && r.editing && r.w.Kind() == 'n' {
		return r.dropNull(m, p)
	}
	r.enter(p.name)
	ok := r.value(p.node)
	r.leave()
	m.count++
	m.last = r.w.Offset()
	return ok
}

// maxUnknown is how many names are looked at for one that was meant for a
// required property.
const maxUnknown = 1000

// undeclared checks a member that the schema has no property for.
func (r *run) undeclared(m *member, name []byte, escaped bool) bool {
	if escaped {
		name = bytes.Clone(name)
	}
	if m.names == nil {
		m.names = r.nameSet()
	}
	if !m.names.Add(name) {
		return r.duplicate(string(name))
	}
	if m.rules.closed || m.rules.derived && r.plan.strict {
		return r.unknownName(m.rules, string(name))
	}
	ok := m.rules.key == nil || m.rules.key.ok(name) || r.wrongKey(m.rules.key, string(name))
	if r.collecting {
		if len(r.unknown) < maxUnknown {
			r.unknown = append(r.unknown, string(name))
		}
		r.enter(string(name))
		defer r.leave()
	}
	ok = r.value(m.items) && ok
	m.count++
	m.last = r.w.Offset()
	return ok
}

// nameSet lends a set to an object.
func (r *run) nameSet() *jsonx.NameSet {
	if r.open == len(r.names) {
		r.names = append(r.names, new(jsonx.NameSet))
	}
	set := r.names[r.open]
	set.Reset()
	r.open++
	return set
}

// closing checks what only the end of an object shows.
func (r *run) closing(m *member, unknown []string) bool {
	ok := true
	for w, needed := range m.rules.needs {
		missing := needed &^ r.words[m.words+w]
		for i := w * 64; missing != 0; i, missing = i+1, missing>>1 {
			if missing&1 != 0 {
				ok = r.absent(m, &m.rules.props[i], unknown) && ok
			}
		}
	}
	return r.size("member", "Properties", m.rules.min, m.rules.max, m.count) && ok
}

// absent fills in the default of a property, or reports that it is missing.
func (r *run) absent(m *member, p *property, unknown []string) bool {
	if p.insert == nil || !r.editing {
		return !p.required || r.missing(p, unknown)
	}
	text := p.insert
	if m.count == 0 {
		text = text[1:] // without the comma
	}
	r.replace(m.last, m.last, text)
	m.count++
	return true
}

var (
	freeNode  = &node{types: anyType}
	exactNode = &node{types: anyType, exact: true}
)

// openNode is what the parts of a value are checked against that n says
// nothing about.
func openNode(n *node) *node {
	if n.exact {
		return exactNode
	}
	return freeNode
}
