package schema

import (
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
	first := map[string]int{}
	ok := true
	for i := 0; w.Kind() != ']'; i++ {
		item, err := w.Value()
		if err != nil {
			return r.broken(err)
		}
		key, err := equalForm(item)
		if err != nil {
			return r.broken(err)
		}
		j, repeated := first[key]
		if !repeated {
			first[key] = i
			continue
		}
		ok = r.repeats(i, j, item)
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

// equalForm writes a value such that equal values are equal texts: members
// sorted, strings unescaped, numbers by their digits.
func equalForm(value []byte) (string, error) {
	text, err := jsonx.Canonical(nil, value)
	if err != nil {
		return "", err
	}
	out := make([]byte, 0, len(text))
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
	return string(out), nil
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
