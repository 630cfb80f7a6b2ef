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
	name     string
	tagged   bool  // the name comes from a tag
	index    []int // from the root struct, through embedded ones
	path     []string
	owner    reflect.Type // the struct it is declared in
	omits    bool         // by omitempty or omitzero
	quoted   bool         // the option "string"
	optional bool         // promoted through an embedded pointer
}

// members are those of one struct type, in the order they are written.
type members struct {
	fields   []field
	problems []Problem
}

// membersOf collects the members of a struct type by the rules of
// encoding/json: embedded structs without a name of their own are promoted,
// and of equal names the shallowest wins, then the one with a tag, then none.
// What is wrong with tags jsonx.CheckType tells.
func membersOf(t reflect.Type) members {
	s := members{fields: make([]field, 0, t.NumField())}
	s.collect(t)
	if s.repeated() {
		s.resolve()
	}
	if !slices.IsSortedFunc(s.fields, byIndex) {
		slices.SortFunc(s.fields, byIndex)
	}
	return s
}

// repeated reports whether two fields have one name.
func (s *members) repeated() bool {
	if len(s.fields) <= indexAfter {
		for i := range s.fields {
			for j := range i {
				if s.fields[i].name == s.fields[j].name {
					return true
				}
			}
		}
		return false
	}
	names := make(map[string]bool, len(s.fields))
	for i := range s.fields {
		names[s.fields[i].name] = true
	}
	return len(names) < len(s.fields)
}

func byIndex(a, b field) int { return slices.Compare(a.index, b.index) }

// resolve keeps one field at most of each name.
func (s *members) resolve() {
	slices.SortStableFunc(s.fields, func(a, b field) int {
		return cmp.Or(
			strings.Compare(a.name, b.name),
			cmp.Compare(len(a.index), len(b.index)),
			cmp.Compare(boolInt(b.tagged), boolInt(a.tagged)),
		)
	})
	var kept []field
	for rest := s.fields; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].name == rest[0].name {
			n++
		}
		kept = append(kept, s.dominant(rest[:n])...)
		rest = rest[n:]
	}
	s.fields = kept
}

// dominant picks from fields of one name, best first, the one that counts.
func (s *members) dominant(same []field) []field {
	best := same[0]
	if len(same) == 1 {
		return same
	}
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
func (s *members) collect(root reflect.Type) {
	queue := []embedded{{t: root}}
	seen := []reflect.Type{root}
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
				s.fields = append(s.fields, f)
				continue
			}
			if inner.Kind() != reflect.Struct || slices.Contains(seen, inner) {
				continue
			}
			seen = append(seen, inner)
			s.idleTags(&f)
			queue = append(queue, embedded{inner, f.index, f.path, e.optional || f.Type.Kind() == reflect.Pointer})
		}
	}
}

// idleTags warns of tags that have no effect: an embedded struct is no member.
func (s *members) idleTags(f *field) {
	for _, key := range []string{"jsonschema", "jsonschema_description", "validate", "mcp"} {
		if tag := f.Tag.Get(key); tag != "" {
			s.problems = append(s.problems, Problem{
				Field: strings.Join(f.path, "."), Tag: key + `:"` + tag + `"`, Warning: true,
				Reason: "has no effect on an embedded struct, the members of which count as those around it",
			})
		}
	}
}

// read makes the field at i, unless it is no member.
func (s *members) read(e embedded, i int) (field, bool) {
	sf := e.t.Field(i)
	tag, _ := sf.Tag.Lookup("json")
	if tag == "-" || !sf.IsExported() && !sf.Anonymous {
		return field{}, false
	}
	f := field{
		StructField: sf,
		name:        sf.Name,
		index:       slices.Concat(e.index, sf.Index),
		path:        slices.Concat(e.path, []string{sf.Name}),
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

func (s *members) options(f *field, options string) {
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
