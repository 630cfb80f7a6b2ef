package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// apply puts the keywords of a tag into the schema of a property.
func (d *deriver) apply(p *property, list []keyword) {
	for _, k := range list {
		if reason := d.keyword(p, k); reason != "" {
			d.problem("jsonschema:"+k.String(), reason)
		}
	}
}

// keyword applies one entry; it returns what is wrong with it.
func (d *deriver) keyword(p *property, k keyword) string {
	n := p.node
	switch k.name {
	case "required":
		p.demanded = true
		return ""
	case "title":
		n.title = k.value
		return ""
	case "description":
		if n.description == "" {
			n.description = k.value
		}
		return ""
	case "default":
		return d.setDefault(p, k.value)
	case "example":
		text, reason := n.literal(k.value)
		n.examples = append(n.examples, text)
		return reason
	case "readOnly", "writeOnly", "deprecated":
		n.flags = append(n.flags, k.name)
		return ""
	}
	d.checked = true
	if n.ref != nil || n.source != nil {
		return "does not fit a type with a schema of its own"
	}
	return n.constrain(k)
}

// constrain narrows n by a keyword of the kind of its values. Of a collection
// only its size is its own; all else is said of what it holds.
func (n *node) constrain(k keyword) string {
	switch k.name {
	case "minItems", "maxItems", "uniqueItems":
		if n.array == nil {
			return "fits arrays only"
		}
		return n.array.constrain(k)
	case "minProperties", "maxProperties":
		if n.object == nil || n.object.extra == nil {
			return "fits maps only"
		}
		return setCount(&n.object.min, &n.object.max, k)
	}
	switch {
	case n.array != nil:
		return n.array.items.constrain(k)
	case n.object != nil && n.object.extra != nil:
		return n.object.extra.constrain(k)
	case n.str != nil && n.str.quoted != nil && k.name != "pattern":
		return n.str.quoted.constrain(k)
	}
	switch k.name {
	case "enum":
		return n.addEnum(k.value)
	case "minLength", "maxLength", "pattern", "format":
		if n.types != stringType {
			return "fits strings only"
		}
		if n.str == nil {
			n.str = &stringRules{max: noLimit}
		}
		return n.str.constrain(k)
	}
	if n.types != integerType && n.types != numberType {
		return "fits numbers only"
	}
	if n.num == nil {
		n.num = new(numberRules)
	}
	return n.num.constrain(k, n.types == integerType)
}

func (a *arrayRules) constrain(k keyword) string {
	if k.name == "uniqueItems" {
		a.unique = true
		return ""
	}
	return setCount(&a.min, &a.max, k)
}

// setCount sets one end of a range of sizes; it never widens it.
func setCount(least, most *int, k keyword) string {
	v, err := strconv.ParseUint(k.value, 10, 31)
	if err != nil {
		return "is no count"
	}
	n := int(v)
	if strings.HasPrefix(k.name, "min") {
		*least = max(*least, n)
	} else if *most < 0 || n < *most {
		*most = n
	}
	if *most >= 0 && *least > *most {
		return fmt.Sprintf("leaves no value: at least %d and at most %d", *least, *most)
	}
	return ""
}

func (s *stringRules) constrain(k keyword) string {
	switch k.name {
	case "pattern":
		if s.pattern != nil {
			return "repeats pattern"
		}
		re, err := regexp.Compile(k.value)
		if err != nil {
			return "is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		}
		s.pattern = re
		return ""
	case "format":
		f := formats[k.value]
		switch {
		case f == nil:
			return "names an unknown format: there are " + strings.Join(formatNames(), ", ")
		case s.format != nil && s.format != f:
			return "contradicts the type, which is " + s.format.what
		}
		s.format = f
		return ""
	}
	return setCount(&s.min, &s.max, k)
}

func formatNames() []string {
	var names []string
	for name := range formats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (n *numberRules) constrain(k keyword, whole bool) string {
	if !isNumber(k.value) {
		return "is no number"
	}
	b := newBound(k.value)
	if !b.value.isDivisible([]byte(k.value)) {
		return "is a number out of range"
	}
	defer n.settle()
	switch k.name {
	case "multipleOf":
		if b.value.digits == 0 || b.value.negative {
			return "must be greater than 0"
		}
		n.multipleOf = b
		return ""
	case "minimum", "exclusiveMinimum":
		b.exclusive = k.name == "exclusiveMinimum"
		if whole {
			b = b.wholeAbove()
		}
		if n.min == nil || b.value.compare(&n.min.value) >= 0 {
			n.min = b
		}
	case "maximum", "exclusiveMaximum":
		b.exclusive = k.name == "exclusiveMaximum"
		if whole {
			b = b.wholeBelow()
		}
		if n.max == nil || b.value.compare(&n.max.value) <= 0 {
			n.max = b
		}
	}
	return n.contradiction()
}

// contradiction tells whether the bounds leave no value.
func (n *numberRules) contradiction() string {
	low, high := n.lower(), n.upper()
	if low == nil || high == nil {
		return ""
	}
	c := low.value.compare(&high.value)
	if c > 0 || c == 0 && (low.exclusive || high.exclusive) {
		return fmt.Sprintf("leaves no value: from %s to %s", low.text, high.text)
	}
	return ""
}

// lower is the bound that counts, of that of the tags and that of the Go type.
func (n *numberRules) lower() *bound {
	if n.min != nil && (n.lowest == nil || n.min.value.compare(&n.lowest.value) >= 0) {
		return n.min
	}
	return n.lowest
}

func (n *numberRules) upper() *bound {
	if n.max != nil && (n.highest == nil || n.max.value.compare(&n.highest.value) <= 0) {
		return n.max
	}
	return n.highest
}

// wholeAbove is the least integer that satisfies the lower bound b.
func (b *bound) wholeAbove() *bound {
	if b.isWhole && !b.exclusive {
		return b
	}
	r := b.rat()
	n := new(big.Int).Div(r.Num(), r.Denom()) // rounds down: denominators are positive
	if !r.IsInt() || b.exclusive {
		n.Add(n, big.NewInt(1))
	}
	return newBound(n.String())
}

// wholeBelow is the greatest integer that satisfies the upper bound b.
func (b *bound) wholeBelow() *bound {
	if b.isWhole && !b.exclusive {
		return b
	}
	r := b.rat()
	n := new(big.Int).Div(r.Num(), r.Denom())
	if r.IsInt() && b.exclusive {
		n.Sub(n, big.NewInt(1))
	}
	return newBound(n.String())
}

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && jsonx.Valid([]byte(text))
}

// addEnum allows one more value.
func (n *node) addEnum(value string) string {
	enum := n.enum
	n.enum = nil // or it would refuse what is to be added
	text, reason := n.literal(value)
	if n.enum = enum; reason != "" {
		return reason
	}
	if n.enum == nil {
		n.enum = new(enumRules)
	}
	if slices.Contains(n.enum.values, text) {
		return "is given twice"
	}
	n.enum.add(text)
	return ""
}

// add allows the JSON scalar text.
func (e *enumRules) add(text string) {
	e.values = append(e.values, text)
	switch text[0] {
	case '"':
		e.texts = append(e.texts, unquote([]byte(text)))
	case 'n':
		e.null = true
	case 't', 'f':
		e.bools[boolInt(text[0] == 't')] = true
	default:
		e.numbers = append(e.numbers, newBound(text))
	}
}

// literal makes the JSON of a value that a tag spells, and tells what keeps it
// from being one of n. Strings stand in tags without quotes.
func (n *node) literal(value string) (text, reason string) {
	text = value
	if n.types == stringType || n.types == anyType && !jsonx.Valid([]byte(value)) {
		text = string(jsonx.AppendString(nil, value))
	}
	if v := n.refuses([]byte(text)); v != "" {
		return "", v
	}
	return text, ""
}

// refuses checks a value of a tag: it returns why n does not take it.
func (n *node) refuses(text []byte) string {
	if n.types == stringType && n.str == nil && n.enum == nil {
		return ""
	}
	if !jsonx.Valid(text) {
		return fmt.Sprintf("has a value that is no JSON: %s", cut(string(text)))
	}
	p := &Plan{root: n, subject: "the value"}
	if v := p.Validate(text); v != nil {
		return "has a value that breaks the schema: " + v[0].Message
	}
	return ""
}
