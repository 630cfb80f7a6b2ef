package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// translation turns what the full validator found into violations like our
// own: paths, rules and plain sentences.
type translation struct {
	plan   *Plan
	found  []Violation
	branch bool // one of several alternatives is told of
}

// maxBranches is how many alternatives a violation tells of.
const maxBranches = 4

// add records the faults at the leaves of e, each once.
func (t *translation) add(e *jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) == 0 {
			break
		}
		t.alternatives(e)
		return
	case *kind.Not:
	case *kind.ContentSchema: // the causes are placed within the text
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				t.add(cause)
			}
			return
		}
	}
	rule, text := predicate(e.ErrorKind)
	path := steps(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			t.violation(append(path, step{name, -1}), "required", "is required, but missing")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			t.violation(append(path, step{name, -1}), "additionalProperties", "is not allowed here")
		}
	default:
		t.violation(path, rule, text)
	}
}

// alternatives says for each branch why it does not fit.
func (t *translation) alternatives(e *jsonschema.ValidationError) {
	var reasons []string
	for _, cause := range e.Causes {
		branch := &translation{plan: t.plan, branch: true}
		branch.add(cause)
		branch.sort(0)
		if len(branch.found) > 0 && !slices.Contains(reasons, branch.found[0].Message) {
			reasons = append(reasons, branch.found[0].Message)
		}
	}
	if len(reasons) > maxBranches {
		reasons = append(reasons[:maxBranches], "…")
	}
	rule := "anyOf"
	if _, ok := e.ErrorKind.(*kind.OneOf); ok {
		rule = "oneOf"
	}
	text := "must have one of the allowed forms"
	if !t.branch {
		text += ": " + strings.Join(reasons, "; or ")
	}
	t.violation(steps(e.InstanceLocation), rule, text)
}

// sort orders the violations from the given one on: the validator walks maps.
func (t *translation) sort(from int) {
	slices.SortStableFunc(t.found[from:], func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule))
	})
}

func (t *translation) violation(path []step, rule, text string) {
	at := pointer(path)
	for _, v := range t.found {
		if v.Path == at && v.Rule == rule {
			return
		}
	}
	subject := (&run{plan: t.plan, path: path}).subject()
	t.found = append(t.found, Violation{at, rule, subject + " " + text})
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

// predicate names the rule of a fault and says what is wrong.
func predicate(fault jsonschema.ErrorKind) (rule, text string) {
	if path := fault.KeywordPath(); len(path) > 0 {
		rule = path[0]
	}
	switch k := fault.(type) {
	case *kind.FalseSchema:
		return "false", "must be left out"
	case *kind.Type:
		return rule, "must be " + typesOf(k.Want).String() + ", got " + got(k.Got)
	case *kind.Enum:
		return rule, "must be one of " + values(k.Want) + ", got " + value(k.Got)
	case *kind.Const:
		return rule, "must be " + value(k.Want) + ", got " + value(k.Got)
	case *kind.Format:
		return rule, "must be of the format " + k.Want + ", got " + value(k.Got)
	case *kind.Not:
		return "not", "must not have this form"
	case *kind.OneOf:
		return rule, "must have exactly one of the allowed forms, but has several"
	case *kind.UniqueItems:
		return rule, fmt.Sprintf("must not have equal items, as at %d and %d", k.Duplicates[0], k.Duplicates[1])
	case *kind.Pattern:
		return rule, "must match the pattern " + k.Want + ", got " + quote(k.Got)
	case *kind.PropertyNames:
		return rule, "must not have the name " + quote(k.Property)
	case *kind.Dependency:
		return rule, dependency(k.Prop, k.Missing)
	case *kind.DependentRequired:
		return rule, dependency(k.Prop, k.Missing)
	}
	return rule, sizes(fault, rule)
}

// sizes describes the faults that count.
func sizes(fault jsonschema.ErrorKind, rule string) string {
	switch k := fault.(type) {
	case *kind.MinProperties:
		return atLeast(k.Want, "member", k.Got)
	case *kind.MaxProperties:
		return atMost(k.Want, "member", k.Got)
	case *kind.MinItems:
		return atLeast(k.Want, "item", k.Got)
	case *kind.MaxItems:
		return atMost(k.Want, "item", k.Got)
	case *kind.MinLength:
		return atLeast(k.Want, "character", k.Got)
	case *kind.MaxLength:
		return atMost(k.Want, "character", k.Got)
	case *kind.AdditionalItems:
		return "must have " + count(k.Count, "item") + " less"
	case *kind.Contains:
		return "must have an item of the demanded form"
	case *kind.MinContains:
		return fmt.Sprintf("must have at least %s of the demanded form, got %d", count(k.Want, "item"), len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must have at most %s of the given form, got %d", count(k.Want, "item"), len(k.Got))
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString() + ", got " + cut(k.Got.RatString())
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString() + ", got " + cut(k.Got.RatString())
	case *kind.ExclusiveMinimum:
		return "must be greater than " + k.Want.RatString() + ", got " + cut(k.Got.RatString())
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString() + ", got " + cut(k.Got.RatString())
	case *kind.MultipleOf:
		return "must be a multiple of " + k.Want.RatString() + ", got " + cut(k.Got.RatString())
	case *kind.ContentEncoding:
		return "must be " + k.Want + " text"
	case *kind.ContentMediaType, *kind.ContentSchema:
		return "must hold JSON of the demanded form"
	}
	return "must obey the rule " + rule
}

func atLeast(want int, what string, got int) string {
	return fmt.Sprintf("must have at least %s, got %d", count(want, what), got)
}

func atMost(want int, what string, got int) string {
	return fmt.Sprintf("must have at most %s, got %d", count(want, what), got)
}

func dependency(name string, missing []string) string {
	quoted := make([]string, len(missing))
	for i, m := range missing {
		quoted[i] = quote(m)
	}
	return "must have " + strings.Join(quoted, ", ") + ", since it has " + quote(name)
}

// got names the type of a value as the validator does.
func got(name string) string {
	if name == "boolean" {
		return "a boolean"
	}
	return typeNames[name].String()
}

func typesOf(names []string) typeSet {
	var t typeSet
	for _, name := range names {
		t |= typeNames[name]
	}
	return t
}

// value shows a decoded JSON value.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case json.Number:
		return cut(string(v))
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	}
	return fmt.Sprint(v)
}

func values(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = value(v)
	}
	return strings.Join(texts, ", ")
}
