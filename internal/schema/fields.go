package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// field is one JSON member of a struct type.
type field struct {
	reflect.StructField
	name      string
	tagged    bool  // the name comes from a tag
	index     []int // from the root struct, through embedded ones
	path      []string
	owner     reflect.Type // the struct it is declared in
	omits     bool         // by omitempty or omitzero
	quoted    bool         // the option "string"
	optional  bool         // promoted through an embedded pointer
	contested bool         // another field has the same name
}

// What is wrong with a tag jsonx.CheckType tells. fieldSet collects the members of a struct type by the rules of
// encoding/json: embedded structs without a name of their own are promoted,
// and of equal names the shallowest wins, then the one with a tag, then none.
type fieldSet struct {
	all      []field
	problems []Problem
}

// fieldsOf returns the members of t in the order they are written.
func fieldsOf(t reflect.Type) ([]field, []Problem) {
	var s fieldSet
	s.collect(t)
	slices.SortStableFunc(s.all, func(a, b field) int {
		return cmp.Or(
			strings.Compare(a.name, b.name),
			cmp.Compare(len(a.index), len(b.index)),
			cmp.Compare(boolInt(b.tagged), boolInt(a.tagged)),
		)
	})
	var kept []field
	for rest := s.all; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].name == rest[0].name {
			n++
		}
		kept = append(kept, s.dominant(rest[:n])...)
		rest = rest[n:]
	}
	slices.SortFunc(kept, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return kept, s.problems
}

// dominant picks from fields of one name, best first, the one that counts.
func (s *fieldSet) dominant(same []field) []field {
	best := same[0]
	if len(same) == 1 {
		return same
	}
	best.contested = true
	next := same[1]
	if len(best.index) != len(next.index) || best.tagged != next.tagged {
		return []field{best}
	}
	s.problems = append(s.problems, Problem{
		Field:   strings.Join(best.path, "."),
		Reason:  fmt.Sprintf("has the same JSON name %q as %s, so that neither is used: rename one", best.name, strings.Join(next.path, ".")),
		Warning: true,
	})
	return nil
}

type embedded struct {
	t        reflect.Type
	index    []int
	path     []string
	optional bool
}

// collect walks t and the structs it embeds, breadth first.
func (s *fieldSet) collect(root reflect.Type) {
	queue := []embedded{{t: root}}
	seen := map[reflect.Type]bool{root: true}
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		for i := range e.t.NumField() {
			f, ok := s.read(e, i)
			if !ok {
				continue
			}
			inner := indirect(f.Type)
			if !f.Anonymous || f.tagged {
				s.all = append(s.all, f)
				continue
			}
			if inner.Kind() != reflect.Struct || seen[inner] {
				continue
			}
			seen[inner] = true
			queue = append(queue, embedded{inner, f.index, f.path, e.optional || f.Type.Kind() == reflect.Pointer})
		}
	}
}

// read makes the field at i, unless it is no member.
func (s *fieldSet) read(e embedded, i int) (field, bool) {
	sf := e.t.Field(i)
	tag, _ := sf.Tag.Lookup("json")
	if tag == "-" || !sf.IsExported() && !sf.Anonymous {
		return field{}, false
	}
	f := field{
		StructField: sf,
		name:        sf.Name,
		index:       append(slices.Clone(e.index), i),
		path:        append(slices.Clone(e.path), sf.Name),
		optional:    e.optional,
		owner:       e.t,
	}
	name, options, _ := strings.Cut(tag, ",")
	if name != "" {
		f.name, f.tagged = name, true
	}
	s.options(&f, options)
	return f, true
}

func (s *fieldSet) options(f *field, options string) {
	if options == "" {
		return
	}
	for option := range strings.SplitSeq(options, ",") {
		switch name, _, _ := strings.Cut(option, ":"); name {
		case "omitempty", "omitzero":
			f.omits = true
		case "string":
			f.quoted = quotable(f.Type)
		default:
			s.problems = append(s.problems, Problem{
				Field: strings.Join(f.path, "."), Tag: `json:"` + f.Tag.Get("json") + `"`, Warning: true,
				Reason: fmt.Sprintf("the json tag has the option %q, which has no effect: there are omitempty, omitzero and string", name),
			})
		}
	}
}

// quotable reports whether the option "string" has an effect on t.
func quotable(t reflect.Type) bool {
	switch indirect(t).Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return false
}

// indirect returns what t points to if t is an unnamed pointer.
func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem()
	}
	return t
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
