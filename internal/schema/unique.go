package schema

import (
	"bytes"
	"strconv"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// uniqueItems checks that no two items of array are equal as JSON values.
func (r *run) uniqueItems(array []byte) bool {
	w := jsonx.Walk(array)
	defer w.Release()
	if err := w.Open(); err != nil {
		return r.broken(err)
	}
	var seen jsonx.NameSet
	var places []int // in array, of what was seen
	var forms []byte // of items that are not as they are sent
	ok := true
	for i := 0; w.Kind() != ']'; i++ {
		item, err := w.Value()
		if err != nil {
			return r.broken(err)
		}
		form := item
		if item[0] != '"' || bytes.IndexByte(item, '\\') >= 0 {
			start := len(forms)
			if forms, err = appendEqualForm(forms, item); err != nil {
				return r.broken(err)
			}
			form = forms[start:]
		}
		j, added := seen.Place(form)
		if added {
			places = append(places, i)
			continue
		}
		ok = r.repeats(i, places[j], item)
		if !r.collecting || r.stopped {
			return false
		}
	}
	return ok
}

func (r *run) repeats(i, first int, item []byte) bool {
	if !r.collecting {
		return false
	}
	r.enterIndex(i)
	r.report("uniqueItems", "repeats item %d, %s: items must differ", first, show(item))
	r.leave()
	return false
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
