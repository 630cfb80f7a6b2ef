package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// siblingEntry is a rule of a field that looks at other fields of its struct.
type siblingEntry struct{ name, param string }

// comparison is a rule that the library runs if both fields are present:
// what is absent has no value that could be compared.
type comparison struct {
	entry string
	with  int // index of the other property
	text  string
}

// condition demands or forbids a property, depending on which others are
// present and on their values. The JSON decides what is present: a zero that
// was sent is, so that the library, which sees Go values, cannot tell.
type condition struct {
	forbid bool
	when   string // if, unless, with, with_all, without, without_all
	fields []int
	values []string // for if and unless
	text   string
}

// settleSiblings resolves the names in the rules of all properties of a
// struct, once they are all known.
func (d *deriver) settleSiblings(o *objectRules, fields []*field) {
	ruled := func(p property) bool { return p.rules != nil && len(p.rules.siblings) > 0 }
	if !slices.ContainsFunc(o.props, ruled) {
		return
	}
	byName := map[string]int{}
	for i := range o.props {
		byName[fields[i].Name] = i
	}
	for i := range o.props {
		p := &o.props[i]
		if p.rules == nil {
			continue
		}
		depth := len(d.path)
		d.path = append(d.path, strings.Join(p.goPath, "."))
		for _, e := range p.rules.siblings {
			reason := ""
			if ruleTable[e.name].kind == siblingRule {
				reason = o.addComparison(p, e, fields, byName, i)
			} else if !d.out { // a result is what it is
				reason = o.addCondition(p, e, byName)
			}
			if reason != "" {
				d.problem("validate:"+e.name+"="+e.param, reason)
			}
		}
		d.path = d.path[:depth]
	}
}

func (o *objectRules) addComparison(p *property, e siblingEntry, fields []*field, byName map[string]int, self int) string {
	i, ok := byName[e.param]
	if !ok {
		return fmt.Sprintf("names %q, which is no field of the same struct", e.param)
	}
	a, b := pointee(fields[self].Type), pointee(fields[i].Type)
	comparable := a.Kind() == b.Kind() && (a.Kind() != reflect.Struct || a == b)
	if !comparable || !(a == timeGo || a.Kind() <= reflect.Float64 || a.Kind() == reflect.String) {
		return fmt.Sprintf("cannot compare %s with %s", a, b)
	}
	text := comparisonText(e.name, a, o.props[i].name)
	p.rules.comparisons = append(p.rules.comparisons, comparison{e.name + "=" + e.param, i, text})
	p.node.hint(text)
	return ""
}

// comparisonText says in the words of a type what a comparison demands. The
// library compares the order of texts by their length.
func comparisonText(rule string, t reflect.Type, other string) string {
	words := map[string][3]string{ // for times, texts, numbers
		"gtfield":  {"after", "longer than", "greater than"},
		"gtefield": {"not before", "not shorter than", "at least"},
		"ltfield":  {"before", "shorter than", "less than"},
		"ltefield": {"not after", "not longer than", "at most"},
	}[rule]
	switch {
	case words[0] == "":
		return ruleText(rule, other)
	case t == timeGo:
		return words[0] + " " + other
	case t.Kind() == reflect.String:
		return words[1] + " " + other
	}
	return words[2] + " " + other
}

func (o *objectRules) addCondition(p *property, e siblingEntry, byName map[string]int) string {
	verb, when, _ := strings.Cut(e.name, "_")
	c := condition{forbid: verb == "excluded", when: when}
	words := splitWords(e.param)
	step := 1
	if when == "if" || when == "unless" {
		step = 2
	}
	if len(words) == 0 || len(words)%step != 0 {
		return "needs the names of other fields" + map[int]string{2: ", each with a value"}[step]
	}
	for w := 0; w < len(words); w += step {
		i, ok := byName[words[w]]
		if !ok {
			return fmt.Sprintf("names %q, which is no field of the same struct", words[w])
		}
		c.fields = append(c.fields, i)
		if step == 2 {
			if n := o.props[i].node; words[w+1] != "nil" && !n.isScalar() {
				return fmt.Sprintf("compares %q, which is no string, number or boolean", words[w])
			}
			c.values = append(c.values, words[w+1])
		}
	}
	c.text = o.conditionText(&c)
	p.rules.conditions = append(p.rules.conditions, c)
	p.required = false
	p.node.hint(c.text)
	return ""
}

// conditionText completes "is".
func (o *objectRules) conditionText(c *condition) string {
	parts := make([]string, len(c.fields))
	for i, f := range c.fields {
		parts[i] = o.props[f].name
		if c.values != nil {
			parts[i] += " is " + quoteWord(c.values[i])
		}
	}
	all := strings.Join(parts, " and ")
	some := strings.Join(parts, " or ")
	verb := "required "
	if c.forbid {
		verb = "not allowed "
	}
	switch c.when {
	case "if":
		return verb + "if " + all
	case "unless":
		return verb + "unless " + some
	case "with":
		return verb + "with " + some
	case "with_all":
		return verb + "with " + all
	case "without":
		return verb + "without " + some
	}
	return verb + "without any of " + strings.Join(parts, ", ")
}

func quoteWord(word string) string {
	switch {
	case word == "nil":
		return "absent"
	case word == "true", word == "false", isNumber(word):
		return word
	}
	return quote(word)
}

// applies reports whether the other fields are as the condition has it.
func (c *condition) applies(m *seenMembers) bool {
	present, equal := 0, 0
	for i, f := range c.fields {
		present += boolInt(m.spans[f] != nil)
		if c.values != nil {
			equal += boolInt(m.equals(f, c.values[i]))
		}
	}
	switch c.when {
	case "if":
		return equal == len(c.fields)
	case "unless":
		return equal == 0
	case "with":
		return present > 0
	case "with_all":
		return present == len(c.fields)
	case "without":
		return present < len(c.fields)
	}
	return present == 0
}

// seenMembers are the members of one object, by property.
type seenMembers struct {
	rules *objectRules
	spans [][]byte // nil: absent
}

// equals compares the scalar of a property with a word of a tag.
func (m *seenMembers) equals(f int, word string) bool {
	text := m.spans[f]
	switch {
	case text == nil:
		return word == "nil"
	case text[0] == '"':
		return unquote(text) == word
	case isNumber(word) && (text[0] == '-' || text[0] >= '0' && text[0] <= '9'):
		a, b := parseDecimal(text), parseDecimal([]byte(word))
		return a.compare(&b) == 0
	}
	return string(text) == word
}

// hint adds what the description has to say.
func (n *node) hint(text string) {
	if text != "" {
		n.hints = append(n.hints[:len(n.hints):len(n.hints)], text)
	}
}
