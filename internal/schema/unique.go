package schema

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// uniqueItems checks that no two items of array are equal as JSON values.
func (r *run) uniqueItems(array []byte) bool {
	items := &r.items
	if !items.holds(array) { // from the first walk
		if err := items.read(array); err != nil {
			return r.broken(err)
		}
	}
	if !r.collecting {
		return items.repeats(1) == nil
	}
	repeats := items.repeats(maxViolations)
	for _, p := range repeats {
		r.enterIndex(p.again)
		r.report("uniqueItems", "repeats item %d, %s: items must differ", p.first, show(items.item(p.again)))
		r.leave()
		if r.stopped {
			break
		}
	}
	return repeats == nil
}

// itemList finds the items of an array that are equal. It holds the array that
// it read last. Sorting hashes goes through memory in order, and is some times
// as fast as a table when there are hundreds of thousands.
type itemList struct {
	array   []byte
	starts  []int    // of the items in array
	marks   []uint64 // of each, 32 bits of its hash above its number
	scratch [2][]byte
}

// itemSeed is unknown to those who choose the items.
var itemSeed = maphash.MakeSeed()

func (l *itemList) holds(array []byte) bool {
	return len(l.array) == len(array) && &l.array[0] == &array[0]
}

func (l *itemList) read(array []byte) error {
	l.forget()
	w := jsonx.Walk(array)
	defer w.Release()
	if err := w.Open(); err != nil {
		return err
	}
	for i := 0; w.Kind() != ']'; i++ {
		item, err := w.Value()
		if err != nil {
			return err
		}
		form, err := l.form(0, item)
		if err != nil {
			return err
		}
		if i == cap(l.marks) {
			l.grow(i)
		}
		l.starts = append(l.starts, w.Offset()-len(item))
		l.marks = append(l.marks, maphash.Bytes(itemSeed, form)<<32|uint64(i))
	}
	l.sort()
	l.array = array
	return nil
}

// sort orders the marks by their hashes, and equal hashes by their numbers,
// which are in order already: a radix sort, of many, takes a fifth of the time.
func (l *itemList) sort() {
	if len(l.marks) < 1000 {
		slices.Sort(l.marks)
		return
	}
	from, to := l.marks, make([]uint64, len(l.marks))
	for shift := 32; shift < 64; shift += 8 {
		var places [256]int
		for _, m := range from {
			places[m>>shift&0xff]++
		}
		next := 0
		for i, n := range places {
			places[i] = next
			next += n
		}
		for _, m := range from {
			digit := m >> shift & 0xff
			to[places[digit]] = m
			places[digit]++
		}
		from, to = to, from // after four times, the marks are where they were
	}
}

// grow makes room for n more items; append would copy more often.
func (l *itemList) grow(n int) {
	n = max(n, 32)
	l.starts, l.marks = slices.Grow(l.starts, n), slices.Grow(l.marks, n)
}

// forget empties l, and keeps its memory.
func (l *itemList) forget() {
	l.array, l.starts, l.marks = nil, l.starts[:0], l.marks[:0]
}

// equalItems are the numbers of an item and of the first one equal to it.
type equalItems struct{ first, again int }

// repeats returns the first repetitions in the order of the items, or some
// one if most is 1.
func (l *itemList) repeats(most int) []equalItems {
	var list []equalItems
	for at := 1; at < len(l.marks); at++ {
		if l.hash(at) != l.hash(at-1) || len(list) == most && l.number(at) > list[most-1].again {
			continue
		}
		p := equalItems{l.firstEqual(at), l.number(at)}
		if p.first < 0 {
			continue
		}
		if most == 1 {
			return []equalItems{p}
		}
		i, _ := slices.BinarySearchFunc(list, p.again, func(p equalItems, again int) int { return cmp.Compare(p.again, again) })
		list = slices.Insert(list, i, p)
		list = list[:min(len(list), most)]
	}
	return list
}

func (l *itemList) hash(at int) uint32 { return uint32(l.marks[at] >> 32) }
func (l *itemList) number(at int) int  { return int(uint32(l.marks[at])) }

// firstEqual returns the number of the first item that is equal to the one
// with the mark at a place, which is -1 if only their hashes are.
func (l *itemList) firstEqual(at int) int {
	begin := at
	for begin > 0 && l.hash(begin-1) == l.hash(at) {
		begin--
	}
	for ; begin < at; begin++ {
		if first := l.number(begin); l.equal(first, l.number(at)) {
			return first
		}
	}
	return -1
}

func (l *itemList) equal(i, j int) bool {
	a, errA := l.form(0, l.item(i))
	b, errB := l.form(1, l.item(j))
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func (l *itemList) item(i int) []byte {
	w := jsonx.Walk(l.array[l.starts[i]:])
	defer w.Release()
	item, _ := w.Value() // was read before
	return item
}

// form returns a text of item that is the same for all equal values: a plain
// string is its own, others are kept in one of two places.
func (l *itemList) form(place int, item []byte) ([]byte, error) {
	if item[0] == '"' && bytes.IndexByte(item, '\\') < 0 {
		return item, nil
	}
	form, err := appendEqualForm(l.scratch[place][:0], item)
	l.scratch[place] = form
	return form, err
}

// appendEqualForm writes a value such that equal values are equal texts:
// members sorted, strings unescaped, numbers by their digits.
func appendEqualForm(out, value []byte) ([]byte, error) {
	text, err := jsonx.Canonical(nil, value)
	if err != nil {
		return out, err
	}
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case c == '"':
			for text[end] != '"' {
				end += 1 + boolInt(text[end] == '\\')
			}
			end++
			out = append(out, text[i:end]...)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(text) && isNumberByte(text[end]) {
				end++
			}
			out = appendEqualNumber(out, text[i:end])
		default:
			out = append(out, c)
		}
		i = end
	}
	return out, nil
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

func appendEqualNumber(out, text []byte) []byte {
	d := parseDecimal(text)
	if d.negative && d.digits > 0 {
		out = append(out, '-')
	}
	for i := range d.digits {
		out = append(out, d.at(i))
	}
	return strconv.AppendInt(append(out, 'e'), int64(d.point), 10)
}
