package schema

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
)

// names gives definitions names that a JSON Pointer needs no escapes for.
type names struct {
	byType map[reflect.Type]string
	taken  map[string]bool
}

func (n *names) of(t reflect.Type) string {
	if name, ok := n.byType[t]; ok {
		return name
	}
	base := cmp.Or(plainName(t.Name()), "Type")
	name := base
	for i := 2; n.taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	n.byType[t] = name
	n.taken[name] = true
	return name
}

// plainName keeps letters and digits, and of the package path of a type
// argument only the last element.
func plainName(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == '[' || c == ']' || c == ',' }) {
		part = part[strings.LastIndexByte(part, '/')+1:]
		for word := range strings.FieldsFuncSeq(part, func(c rune) bool { return !isNameRune(c) }) {
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			b.WriteString(word)
		}
	}
	return b.String()
}

func isNameRune(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
