package schema

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// definitionName makes a name for the definition of t, which no other type has
// and which a JSON Pointer needs no escapes for.
func (d *deriver) definitionName(t reflect.Type) string {
	base := cmp.Or(plainName(t.Name()), "Type")
	name := base
	taken := func(def *node) bool { return def.name == name }
	for i := 2; slices.ContainsFunc(d.order, taken); i++ {
		name = base + "_" + strconv.Itoa(i)
	}
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
