package schema

import (
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
	base := plainName(t.Name())
	name := base
	for i := 2; n.taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	n.byType[t] = name
	n.taken[name] = true
	return name
}

// plainName keeps letters and digits, and of type arguments only the last
// element of their package path.
func plainName(name string) string {
	var b strings.Builder
	word := 0
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case c == '/':
			kept := b.String()[:word]
			b.Reset()
			b.WriteString(kept)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
			word = b.Len()
		}
	}
	return strings.TrimRight(b.String(), "_")
}
