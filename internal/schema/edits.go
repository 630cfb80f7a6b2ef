package schema

import "bytes"

// edit replaces data[from:to] by text[start:end] of the run.
type edit struct{ from, to, start, end int }

func (r *run) replace(from, to int, text []byte) {
	start := len(r.text)
	r.text = append(r.text, text...)
	r.edits = append(r.edits, edit{from, to, start, len(r.text)})
}

// edited returns the data with all edits applied, which is data itself if
// there are none.
func (r *run) edited() []byte {
	if len(r.edits) == 0 {
		return r.data
	}
	size := len(r.data)
	for _, e := range r.edits {
		size += e.end - e.start - (e.to - e.from)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range r.edits {
		out = append(out, r.data[at:e.from]...)
		out = append(out, r.text[e.start:e.end]...)
		at = e.to
	}
	return append(out, r.data[at:]...)
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
