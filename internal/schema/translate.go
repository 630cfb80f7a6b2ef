package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// translation turns what the full validator found into violations like our
// own: paths, rules and plain sentences. The validator names every fault there
// is, which may be one for each value: only the first violations are kept, in
// the order of their paths, since the validator walks maps.
type translation struct {
	plan  *Plan
	data  any // what was checked
	found []Violation
	from  int // of found: those before were there already
}

// maxBranches is how many alternatives a violation tells of.
const maxBranches = 4

// add records the faults at the leaves of e, each once.
func (t *translation) add(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			t.alternatives(e)
			return
		}
	case *kind.Not, *kind.ContentSchema, *kind.Contains, *kind.MinContains:
		// what causes them is no fault of a value by itself
	case *kind.PropertyNames:
		t.violation(at(e, k.Property), "propertyNames", func() string { return t.predicate(e) })
		return
	case *kind.Required:
		for _, name := range k.Missing {
			t.violation(at(e, name), "required", func() string { return "is required, but missing" })
		}
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			t.violation(at(e, name), "additionalProperties", func() string { return "is no name that is allowed here" })
		}
		return
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				t.add(cause)
			}
			return
		}
	}
	t.violation(e.InstanceLocation, ruleOf(e), func() string { return t.predicate(e) })
}

// at is the location of a member of what e is about.
func at(e *jsonschema.ValidationError, name string) []string {
	return append(slices.Clip(e.InstanceLocation), name)
}

func ruleOf(e *jsonschema.ValidationError) string {
	switch e.ErrorKind.(type) {
	case *kind.FalseSchema:
		return "false"
	case *kind.Not:
		return "not"
	}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return ""
}

// violation records one fault, unless it is known or comes after enough
// others.
func (t *translation) violation(location []string, rule string, text func() string) {
	path := steps(location)
	v := Violation{Path: pointer(path), Rule: rule}
	same := func(o Violation) bool { return o.Path == v.Path && o.Rule == v.Rule }
	i, _ := slices.BinarySearchFunc(t.found[t.from:], v, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule))
	})
	i += t.from
	if i >= maxViolations || slices.ContainsFunc(t.found, same) {
		return
	}
	v.Message = (&run{plan: t.plan, path: path}).subject() + " " + text()
	t.found = slices.Insert(t.found, i, v)
	t.found = t.found[:min(len(t.found), maxViolations)]
}

// alternatives tells of the branches that come closest: those for the type of
// the value before others, and of these the ones whose constants it has.
func (t *translation) alternatives(e *jsonschema.ValidationError) {
	var closest []*jsonschema.ValidationError
	best := mismatch(numMismatches)
	for _, branch := range e.Causes {
		m := mismatchOf(branch, len(e.InstanceLocation))
		if m < best {
			best, closest = m, nil
		}
		if m == best {
			closest = append(closest, branch)
		}
	}
	switch {
	case best == wrongType:
		var types typeSet
		for _, branch := range closest {
			types |= typesOf(leaf(branch).ErrorKind.(*kind.Type).Want)
		}
		t.violation(e.InstanceLocation, ruleOf(e), func() string {
			return "must be " + types.String() + ", got " + t.got(e)
		})
	case len(closest) == 1:
		t.add(closest[0])
	default:
		t.violation(e.InstanceLocation, ruleOf(e), func() string {
			return "must have one of the allowed forms: " + strings.Join(t.reasons(closest), "; or ")
		})
	}
}

// reasons says for each branch why it does not fit.
func (t *translation) reasons(branches []*jsonschema.ValidationError) []string {
	var all []string
	for _, b := range branches {
		if len(all) == maxBranches {
			return append(all, "…")
		}
		branch := &translation{plan: t.plan, data: t.data}
		if branch.add(b); len(branch.found) == 0 {
			continue
		}
		tells := slices.IndexFunc(branch.found, func(v Violation) bool { return v.Rule == "const" || v.Rule == "enum" })
		if text := branch.found[max(tells, 0)].Message; !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// mismatch is how far a value is from a branch.
type mismatch int

const (
	wrongForm mismatch = iota
	wrongConstant
	wrongType
	numMismatches
)

// mismatchOf judges a branch for a value at the given depth. Constants count
// in the value and in its members: they tell one kind of object from another.
func mismatchOf(branch *jsonschema.ValidationError, depth int) mismatch {
	switch l := leaf(branch); {
	case len(l.InstanceLocation) == depth && isKind[*kind.Type](l):
		return wrongType
	case hasConstant(branch, depth+1):
		return wrongConstant
	}
	return wrongForm
}

func hasConstant(e *jsonschema.ValidationError, depth int) bool {
	if len(e.InstanceLocation) <= depth && (isKind[*kind.Const](e) || isKind[*kind.Enum](e)) {
		return true
	}
	return slices.ContainsFunc(e.Causes, func(cause *jsonschema.ValidationError) bool { return hasConstant(cause, depth) })
}

// leaf is the only fault below e, or one that is made up of several.
func leaf(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	return e
}

func isKind[K jsonschema.ErrorKind](e *jsonschema.ValidationError) bool {
	_, ok := e.ErrorKind.(K)
	return ok
}

// steps makes the path of a violation from the validator's.
func steps(location []string) []step {
	path := make([]step, len(location), len(location)+1)
	for i, name := range location {
		path[i] = step{name, -1}
		if n, err := strconv.Atoi(name); err == nil && n >= 0 && strconv.Itoa(n) == name {
			path[i] = step{name, n}
		}
	}
	return path
}
