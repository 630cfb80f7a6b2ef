package schema

import (
	"unicode/utf8"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// string checks the string that comes next.
func (r *run) string(n *node) bool {
	if n.str == nil && n.enum == nil {
		if _, err := r.w.Value(); err != nil {
			return r.broken(err)
		}
		return true
	}
	text, _, err := r.w.Name() // a string reads like a name
	if err != nil {
		return r.broken(err)
	}
	ok := true
	if n.str != nil {
		ok = r.stringRules(n.str, text)
	}
	if ok && n.enum != nil && !n.enum.has(text) {
		ok = r.notAllowed(n.enum, quote(text))
	}
	return ok
}

func (e *enumRules) has(text []byte) bool {
	for i := range e.texts {
		if e.texts[i] == string(text) {
			return true
		}
	}
	return false
}

func (r *run) stringRules(rules *stringRules, text []byte) bool {
	ok := true
	if rules.min > 0 || rules.max >= 0 {
		ok = r.length(rules, text)
	}
	if !ok && (!r.collecting || len(text) > maxMatched) {
		return false
	}
	if rules.pattern != nil && !rules.pattern.Match(text) {
		ok = r.noMatch(rules, text)
	}
	switch {
	case rules.format != nil && !rules.format.ok(text):
		return r.badText(rules, text)
	case rules.base64 && !isBase64(text):
		return r.badFormat(base64Format, text)
	case rules.quoted != nil:
		return r.quoted(rules.quoted, text) && ok
	}
	return ok
}

// maxMatched is how long a text of the wrong length may be for more to be said
// of it.
const maxMatched = 1000

// length counts characters. Bytes are at least as many, so that they often
// decide without counting.
func (r *run) length(rules *stringRules, text []byte) bool {
	if len(text) >= rules.min*utf8.UTFMax && (rules.max < 0 || len(text) <= rules.max) {
		return true
	}
	return r.size("character", "Length", rules.min, rules.max, utf8.RuneCount(text))
}

// quoted checks a JSON scalar held by a string.
func (r *run) quoted(n *node, text []byte) bool {
	var ok bool
	switch n.types {
	case booleanType:
		ok = string(text) == "true" || string(text) == "false"
	case stringType:
		ok = len(text) > 0 && text[0] == '"' && jsonx.Valid(text)
	case integerType:
		ok = isPlainInteger(text)
	default:
		ok = len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && jsonx.Valid(text)
	}
	if !ok {
		return r.badFormat(quotedFormats[n.types], text)
	}
	if n.num == nil {
		return true
	}
	d := parseDecimal(text)
	return r.bigNumber(n.num, text, &d)
}

// isPlainInteger reports whether text is digits without a leading zero.
func isPlainInteger(text []byte) bool {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// inEnum checks a number or literal against the allowed values.
func (r *run) inEnum(n *node, text []byte) bool {
	switch text[0] {
	case 'n':
		if n.enum.null {
			return true
		}
	case 't', 'f':
		if n.enum.bools[boolInt(text[0] == 't')] {
			return true
		}
	default:
		d := parseDecimal(text)
		for i := range n.enum.numbers {
			if d.compare(&n.enum.numbers[i].value) == 0 {
				return true
			}
		}
	}
	return r.notAllowed(n.enum, string(text))
}
