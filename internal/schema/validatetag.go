package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// level is what a validate tag says of one level of a field: the field, its
// elements after dive, theirs after the next one.
type level struct {
	rules []string // one entry for each comma
	keys  []string // of the names of a map, between keys and endkeys
}

// parseRules splits a validate tag. problem says what is wrong with its shape.
func parseRules(tag string) (levels []level, problem string) {
	levels = []level{{}}
	inKeys := false
	for entry := range strings.SplitSeq(tag, ",") {
		last := &levels[len(levels)-1]
		switch {
		case entry == "":
			return nil, "has an empty entry"
		case entry == "dive" && !inKeys:
			levels = append(levels, level{})
		case entry == "keys" && !inKeys && len(levels) > 1 && len(last.rules) == 0:
			inKeys = true
		case entry == "endkeys" && inKeys:
			inKeys = false
		case entry == "dive", entry == "keys", entry == "endkeys":
			return nil, fmt.Sprintf("has %q in the wrong place", entry)
		case inKeys:
			last.keys = append(last.keys, entry)
		default:
			last.rules = append(last.rules, entry)
		}
	}
	if inKeys {
		return nil, `has "keys" without "endkeys"`
	}
	return levels, ""
}

// validate reads the validate tag of a field. What a schema can say becomes
// schema; the rest is kept for the library, checked so far that it cannot
// panic later.
func (d *deriver) validate(p *property, f *field) {
	tag := f.Tag.Get("validate")
	if tag == "" || tag == "-" {
		return
	}
	problem := func(reason string) { d.problem(`validate:"`+tag+`"`, reason) }
	levels, reason := parseRules(tag)
	if reason != "" {
		problem(reason)
		return
	}
	d.checked, d.ruled = true, true
	t, n := f.Type, p.node
	kept := make([]level, len(levels))
	for i, l := range levels {
		t = pointee(t)
		if i > 0 {
			if t, n = elementOf(t, n); t == nil {
				problem("dives into what is no list and no map")
				return
			}
			if reason := checkKeys(l.keys, pointee(f.Type)); len(l.keys) > 0 && reason != "" {
				problem(reason)
			}
			kept[i].keys = l.keys
		}
		r := ruleReader{d: d, p: p, t: pointee(t), n: n, top: i == 0}
		for _, entry := range l.rules {
			if reason := r.read(entry); reason != "" {
				problem(fmt.Sprintf("has the rule %q, which %s", entry, reason))
			}
		}
		kept[i].rules = r.kept
	}
	if slices.ContainsFunc(kept, level.isRuled) {
		p.tagRules().levels = kept
	}
}

// tagRules makes room for rules.
func (p *property) tagRules() *tagRules {
	if p.rules == nil {
		p.rules = new(tagRules)
	}
	return p.rules
}

// isRuled reports whether the library has something to do at a level.
func (l level) isRuled() bool { return len(l.rules)+len(l.keys) > 0 }

func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// elementOf steps into a collection.
func elementOf(t reflect.Type, n *node) (reflect.Type, *node) {
	n = n.resolved()
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if n.array != nil {
			return t.Elem(), n.array.items
		}
		return t.Elem(), &node{types: anyType}
	case reflect.Map:
		if n.object != nil && n.object.extra != nil {
			return t.Elem(), n.object.extra
		}
		return t.Elem(), &node{types: anyType}
	}
	return nil, nil
}

// checkKeys checks the rules for the names of a map.
func checkKeys(entries []string, t reflect.Type) string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Map {
		return `has "keys" for what is no map`
	}
	for _, entry := range entries {
		if reason := fitsLibrary(entry, t.Key()); reason != "" {
			return fmt.Sprintf("has the rule %q, which %s", entry, reason)
		}
	}
	return ""
}

// ruleReader reads the rules of one level.
type ruleReader struct {
	d    *deriver
	p    *property
	t    reflect.Type // without pointers
	n    *node
	top  bool
	kept []string // for the library
}

// read applies one entry or keeps it; it returns what is wrong with it.
func (r *ruleReader) read(entry string) string {
	name, param, hasParam := strings.Cut(entry, "=")
	switch name {
	case "required":
		r.p.demanded = r.p.demanded || r.top
		return ""
	case "omitempty", "omitnil", "omitzero", "structonly", "nostructlevel":
		return "" // absent fields are skipped anyhow, and what is sent counts
	}
	if strings.Contains(entry, "|") {
		return r.keep(entry)
	}
	known := ruleTable[name]
	if known.kind != unknownRule && r.t.Kind() == reflect.Interface && known.kind != presenceRule {
		return "needs a field of a concrete type"
	}
	switch known.kind {
	case limitRule:
		if k, ok := r.limit(name, param, hasParam); ok {
			return r.constrain(k)
		}
	case formatRule:
		return r.format(name)
	case siblingRule, presenceRule:
		if !r.top {
			return "is not possible for elements"
		}
		rules := r.p.tagRules()
		rules.siblings = append(rules.siblings, siblingEntry{name, param})
		return ""
	}
	return r.keep(entry)
}

// keep checks and notes a rule for the library.
func (r *ruleReader) keep(entry string) string {
	if reason := fitsLibrary(entry, r.t); reason != "" {
		return reason
	}
	r.kept = append(r.kept, entry)
	r.n.hint(ruleText(entry, ""))
	return ""
}

func (r *ruleReader) constrain(list []keyword) string {
	if len(list) > 0 && list[0].name == "enum" {
		return r.narrow(list)
	}
	for _, k := range list {
		if reason := r.n.constrain(k); reason != "" {
			return reason
		}
	}
	return ""
}

// narrow keeps of the allowed values those of a rule.
func (r *ruleReader) narrow(list []keyword) string {
	n := r.n
	if n.str != nil && n.str.quoted != nil {
		n = n.str.quoted
	}
	before := n.enum
	n.enum = nil
	for _, k := range list {
		if reason := n.addEnum(k.value); reason != "" {
			return reason
		}
	}
	if before == nil {
		return ""
	}
	both := new(enumRules)
	for _, text := range n.enum.values {
		if slices.Contains(before.values, text) {
			both.add(text)
		}
	}
	if n.enum = both; len(both.values) == 0 {
		return "leaves no value beside the enum keyword"
	}
	return ""
}

// format makes a rule the format of a string.
func (r *ruleReader) format(name string) string {
	if r.n.types != stringType || r.t.Kind() != reflect.String {
		return "fits strings only"
	}
	f := formats[name]
	switch name {
	case "url":
		f = formats["uri"]
	case "ip":
		f = ipFormat
	}
	if r.n.str == nil {
		r.n.str = &stringRules{max: noLimit}
	}
	if r.n.str.format != nil && r.n.str.format != f {
		return "contradicts another format"
	}
	r.n.str.format = f
	return ""
}

// limit turns a rule into keywords if they say the same. It reports false if
// they do not: what the library counts or compares is then not what JSON has.
func (r *ruleReader) limit(name, param string, hasParam bool) ([]keyword, bool) {
	n := r.n
	if n.str != nil && n.str.quoted != nil {
		n = n.str.quoted
	}
	switch {
	case name == "unique":
		scalar := n.array != nil && n.array.items.isScalar()
		return []keyword{{"uniqueItems", ""}}, scalar && param == "" && r.t.Elem().Kind() != reflect.Pointer
	case !hasParam || param == "" || n.opaque || n.source != nil || n.ref != nil:
		return nil, false
	case name == "oneof":
		return enumKeywords(param), n.types == stringType && r.t.Kind() == reflect.String && r.t != numberGo || n.types == integerType && r.t.Kind() != reflect.Struct
	case n.types == integerType && r.t.Kind() != reflect.Struct, n.types == numberType && r.t.Kind() != reflect.String:
		text, ok := numberParam(param, r.t.Kind())
		return numberKeywords(name, text), ok
	case n.types == stringType && r.t.Kind() == reflect.String && name == "eq":
		return []keyword{{"enum", param}}, true
	case n.types == stringType && r.t.Kind() == reflect.String:
		return sizeKeywords(name, param, "Length")
	case n.array != nil:
		return sizeKeywords(name, param, "Items")
	case n.object != nil && n.object.extra != nil:
		return sizeKeywords(name, param, "Properties")
	case n.types == booleanType && name == "eq" && (param == "true" || param == "false"):
		return []keyword{{"enum", param}}, true
	}
	return nil, false
}

func (n *node) isScalar() bool {
	return n.ref == nil && !n.opaque && n.types != anyType && n.types&(objectType|arrayType) == 0
}

// enumKeywords reads the words of oneof, of which quotes may group some.
func enumKeywords(param string) []keyword {
	var list []keyword
	for _, word := range splitWords(param) {
		list = append(list, keyword{"enum", word})
	}
	return list
}

// splitWords cuts at spaces outside of single quotes.
func splitWords(text string) []string {
	var words []string
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		if end := strings.IndexByte(text[1:], '\''); text[0] == '\'' && end >= 0 {
			words = append(words, text[1:end+1])
			text = text[end+2:]
			continue
		}
		word, rest, _ := strings.Cut(text, " ")
		words = append(words, word)
		text = rest
	}
	return words
}

func numberKeywords(name, text string) []keyword {
	switch name {
	case "min", "gte":
		return []keyword{{"minimum", text}}
	case "max", "lte":
		return []keyword{{"maximum", text}}
	case "gt":
		return []keyword{{"exclusiveMinimum", text}}
	case "lt":
		return []keyword{{"exclusiveMaximum", text}}
	}
	return []keyword{{"minimum", text}, {"maximum", text}} // len, eq
}

// sizeKeywords make a rule on a size. Bounds that no size can meet, or that
// are no counts, are left to the library.
func sizeKeywords(name, param, what string) ([]keyword, bool) {
	n, ok := sizeParam(param)
	if !ok {
		return nil, false
	}
	least, most := keyword{"min" + what, fmt.Sprint(n)}, keyword{"max" + what, fmt.Sprint(n)}
	switch name {
	case "min", "gte":
		return []keyword{least}, true
	case "max", "lte":
		return []keyword{most}, true
	case "gt":
		least.value = fmt.Sprint(n + 1)
		return []keyword{least}, true
	case "lt":
		most.value = fmt.Sprint(n - 1)
		return []keyword{most}, n > 0
	}
	return []keyword{least, most}, true
}

// ruleText says what a rule of the library demands; "" if that is not known.
func ruleText(entry, sibling string) string {
	var parts []string
	for alternative := range strings.SplitSeq(entry, "|") {
		name, param, _ := strings.Cut(alternative, "=")
		text := ruleTable[name].text
		switch {
		case strings.Contains(text, "%s") && sibling != "":
			text = fmt.Sprintf(text, sibling)
		case strings.Contains(text, "%s"):
			text = fmt.Sprintf(text, quote(unescapeParam(param)))
		case text == "":
			text = limitText(name, unescapeParam(param))
		}
		if text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " or ")
}

// limitText is for limits that the schema cannot have, of durations and times
// above all.
func limitText(name, param string) string {
	words := map[string]string{
		"min": "at least", "gte": "at least", "max": "at most", "lte": "at most", "gt": "more than", "lt": "less than", "len": "of length", "eq": "equal to",
	}[name]
	switch {
	case name == "oneof":
		return "one of " + param
	case name == "unique":
		return "without repetition"
	case name == "email" || name == "uuid" || name == "ipv4" || name == "ipv6":
		return formats[name].what
	case name == "url":
		return formats["uri"].what
	case name == "ip":
		return ipFormat.what
	case words == "":
		return ""
	case param == "" && strings.HasPrefix(name, "g"):
		return "in the future"
	case param == "" && strings.HasPrefix(name, "l"):
		return "in the past"
	}
	return words + " " + param
}

// unescapeParam undoes the escapes that tags need for commas and bars.
func unescapeParam(param string) string { return paramEscapes.Replace(param) }

var paramEscapes = strings.NewReplacer("0x2C", ",", "0x7C", "|")
