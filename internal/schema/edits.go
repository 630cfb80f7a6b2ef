package schema

import (
	"bytes"
	"slices"
)

// replace puts text in the place of data[from:to]. Edits are made in the order
// of their places. None is when nobody will read what is refused.
func (r *run) replace(from, to int, text []byte) {
	if r.collecting && r.plan.rest == nil {
		return
	}
	r.out = append(append(r.out, r.data[r.copied:from]...), text...)
	r.copied = to
}

// edited returns the data with all edits applied, which is data itself if
// there are none.
func (r *run) edited() []byte {
	if r.copied == 0 {
		return r.data
	}
	return slices.Concat(r.out, r.data[r.copied:])
}

// dropNull consumes the null of an optional property and takes the member
// out, or puts the default in its place.
func (r *run) dropNull(m *member, p *property) bool {
	if _, err := r.w.Value(); err != nil {
		return r.broken(err)
	}
	end := r.w.Offset()
	switch {
	case p.insert != nil:
		r.replace(end-len("null"), end, p.fallback)
		m.count++
	case m.count > 0:
		r.replace(r.comma(m.last), end, nil)
	default:
		from := m.last
		if next := r.comma(end); next < len(r.data) && r.data[next] == ',' {
			end = next + 1
		}
		r.replace(from, end, nil)
	}
	m.last = end
	return true
}

// comma returns the position of the next byte that is no white space.
func (r *run) comma(at int) int {
	return at + len(r.data[at:]) - len(bytes.TrimLeft(r.data[at:], " \t\r\n"))
}
