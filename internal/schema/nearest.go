package schema

import (
	"slices"
	"strings"
)

// missing reports a required property that is absent, with the unknown name
// that was probably meant for it.
func (r *run) missing(p *property, unknown []string) bool {
	if !r.collecting {
		return false
	}
	r.enter(p.name)
	defer r.leave()
	wanted := ""
	if text := p.node.resolved().wanted(); text != "" {
		wanted = ": it must be " + text
	}
	if near, ok := nearest(p.name, unknown); ok {
		return r.report("required", "is required, but missing%s; unknown argument %s: did you mean %s?", wanted, quote(near), quote(p.name))
	}
	return r.report("required", "is required, but missing%s", wanted)
}

// wanted describes a value of n to whoever left it out, "" if any will do.
func (n *node) wanted() string {
	switch {
	case n.enum != nil:
		return "one of " + strings.Join(n.enum.values, ", ")
	case n.types == anyType || n.types == 0:
		return ""
	}
	return n.expected()
}

// unknownName reports a name that is not declared where only declared ones
// are taken, and consumes its value.
func (r *run) unknownName(o *objectRules, name string) bool {
	if !r.collecting {
		return false
	}
	r.unknown = append(r.unknown, name)
	names := make([]string, len(o.props))
	shown := make([]string, len(o.props))
	for i := range o.props {
		names[i] = o.props[i].name
		shown[i] = quote(o.props[i].name)
	}
	text := "has no names"
	if len(names) > 0 {
		text = "takes " + strings.Join(shown, ", ")
	}
	if near, ok := nearest(name, names); ok {
		text = "did you mean " + quote(near) + "? It " + text
	} else {
		text = "it " + text
	}
	at := r.path
	r.enter(name)
	where := ""
	if len(at) > 0 {
		where = " of " + (&run{plan: r.plan, path: at}).subject()
	}
	r.violations = append(r.violations, Violation{pointer(r.path), "additionalProperties",
		"unknown argument " + quote(name) + where + ": " + text})
	r.stopped = len(r.violations) >= maxViolations
	r.leave()
	return r.skip()
}

// meant is how a text that calls a name unknown goes on, "" if none of names is
// near it.
func meant(name string, names []string) string {
	near, ok := nearest(name, names)
	if !ok {
		return ""
	}
	return " (did you mean " + quote(near) + "?)"
}

// nearest returns the name that is most like to one that was sent, if any is
// like enough.
func nearest(name string, names []string) (string, bool) {
	if len(names) == 0 {
		return "", false
	}
	folded := fold(name)
	best, found := len(folded)/3+1, ""
	for _, n := range names {
		if d := distance(folded, fold(n), best); d < best {
			best, found = d, n
		}
	}
	return found, found != ""
}

// fold leaves out what names of one meaning differ by.
func fold(name string) string {
	return strings.ToLower(separators.Replace(name))
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// maxCompared bounds the work that long names cause.
const maxCompared = 100

// distance is the number of edits from a to b (Damerau-Levenshtein,
// neighbours swapped at most once), or limit if it is not less.
func distance(a, b string, limit int) int {
	if len(a) > maxCompared || len(b) > maxCompared || max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+boolInt(a[i-1] != b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		if slices.Min(row) >= limit {
			return limit
		}
	}
	return row[len(b)]
}
