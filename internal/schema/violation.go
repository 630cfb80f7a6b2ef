package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Violation is one broken rule, told to whoever sent the value: a model reads
// it and tries again. It names neither Go nor libraries.
type Violation struct {
	Path    string // JSON Pointer; "" is the whole
	Rule    string // keyword
	Message string // what was expected, what came, what is allowed
}

// step is one element of a path: a name, or an index if the name is not set.
type step struct {
	name  string
	index int // -1 for a name
}

func (r *run) enter(name string) {
	if r.collecting {
		r.path = append(r.path, step{name, -1})
	}
}

func (r *run) enterIndex(i int) {
	if r.collecting {
		r.path = append(r.path, step{"", i})
	}
}

func (r *run) leave() {
	if r.collecting {
		r.path = r.path[:len(r.path)-1]
	}
}

// report records a violation, where the walk stands, of a second walk; the
// first only wants to know that there is one. It always returns false.
func (r *run) report(rule, predicate string, args ...any) bool {
	if r.stopped {
		return false
	}
	r.message = append(r.appendSubject(r.message[:0]), ' ')
	r.message = fmt.Appendf(r.message, predicate, args...)
	r.violations = append(r.violations, Violation{pointer(r.path), rule, string(r.message)})
	r.stopped = len(r.violations) >= maxViolations
	return false
}

// graft records a violation that was found within the value just consumed.
func (r *run) graft(v Violation) {
	if r.stopped {
		return
	}
	r.violations = append(r.violations, Violation{pointer(r.path) + v.Path, v.Rule, r.subject() + " is refused: " + v.Message})
	r.stopped = len(r.violations) >= maxViolations
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(path []step) string {
	if len(path) == 1 && path[0].index < 0 {
		return "/" + pointerEscapes.Replace(path[0].name)
	}
	var b strings.Builder
	for _, s := range path {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(pointerEscapes.Replace(s.name))
		}
	}
	return b.String()
}

// Subject names the place of a JSON Pointer as messages do, "" for the whole.
func Subject(pointer string) string {
	names := strings.Split(pointer, "/")[1:]
	for i, name := range names {
		names[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	}
	return (&run{plan: new(Plan), path: steps(names)}).subject()
}

// subject names the place as people do: roles[1].id.
func (r *run) subject() string { return string(r.appendSubject(nil)) }

func (r *run) appendSubject(dst []byte) []byte {
	if len(r.path) == 0 {
		return append(dst, r.plan.subject...)
	}
	for i, s := range r.path {
		switch {
		case s.index >= 0:
			dst = append(strconv.AppendInt(append(dst, '['), int64(s.index), 10), ']')
		case !isPlain(s.name):
			dst = append(append(append(dst, '['), quote(s.name)...), ']')
		case i == 0:
			dst = append(dst, s.name...)
		default:
			dst = append(append(dst, '.'), s.name...)
		}
	}
	return dst
}

// isPlain reports whether a name reads well without quotes.
func isPlain(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= maxShown
}

// maxShown is how many characters of a value are shown.
const maxShown = 60

// cut shortens text to what is shown of it.
func cut[T string | []byte](text T) string {
	if len(text) <= maxShown {
		return string(text)
	}
	begin := string(text[:min(len(text), (maxShown+1)*utf8.UTFMax)])
	count := 0
	for i := range begin {
		if count++; count > maxShown {
			return begin[:i] + "…"
		}
	}
	return string(text)
}

// quote shows text as a JSON string, cut.
func quote[T string | []byte](text T) string {
	return string(jsonx.AppendString(make([]byte, 0, maxQuoted), cut(text)))
}

// maxQuoted is room for what is shown of most strings, quoted.
const maxQuoted = 256

// show describes a JSON value.
func show(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "the string " + quote(unquote(value))
	}
	return cut(value)
}

// unquote returns the text of a valid JSON string.
func unquote(value []byte) string {
	text, err := jsonx.Unquote(value)
	if err != nil {
		return ""
	}
	return text
}

// wrongType consumes a value of a type that does not fit.
func (r *run) wrongType(n *node) bool {
	if !r.collecting {
		return false
	}
	value, err := r.w.Value()
	if err != nil {
		return r.broken(err)
	}
	return r.mismatch(n, value)
}

func (r *run) mismatch(n *node, value []byte) bool {
	if !r.collecting {
		return false
	}
	if n.types == 0 {
		return r.report("false", "must be left out")
	}
	if n.enum != nil && (value[0] == '{' || value[0] == '[') {
		return r.notAllowed(n.enum, show(value))
	}
	if kind := jsonInString(n, value); kind != "" {
		return r.report("type", "must be %s, but the value is a string holding JSON: send the %s itself, not its text", kind, strings.Fields(kind)[1])
	}
	return r.report("type", "must be %s, got %s", n.expected(), show(value))
}

// jsonInString tells whether value is an object or array as text where one
// itself is due: some hosts send them so.
func jsonInString(n *node, value []byte) string {
	if value[0] != '"' || n.types&stringType != 0 || n.types&(objectType|arrayType) == 0 {
		return ""
	}
	text := strings.TrimSpace(unquote(value))
	switch {
	case n.types&objectType != 0 && strings.HasPrefix(text, "{") && jsonx.Valid([]byte(text)):
		return "an object"
	case n.types&arrayType != 0 && strings.HasPrefix(text, "[") && jsonx.Valid([]byte(text)):
		return "an array"
	}
	return ""
}

// expected describes what n takes.
func (n *node) expected() string {
	if n.str != nil && n.types == stringType {
		switch {
		case n.str.quoted != nil:
			return quotedFormats[n.str.quoted.types].what
		case n.str.format != nil:
			return n.str.format.what
		}
	}
	return n.types.String()
}

func (t typeSet) String() string {
	if t == anyType {
		return "any value"
	}
	text := ""
	for _, p := range typeTexts {
		switch {
		case t&p.bit == 0 || p.bit == integerType && t&numberType != 0:
		case text == "":
			text = p.text
		default:
			text += " or " + p.text
		}
	}
	return text
}

var typeTexts = []struct {
	bit  typeSet
	text string
}{
	{objectType, "an object"}, {arrayType, "an array"}, {stringType, "a string"}, {numberType, "a number"},
	{integerType, "an integer"}, {booleanType, "true or false"}, {nullType, "null"},
}

// broken ends the check: what is no JSON has no further violations.
func (r *run) broken(error) bool {
	if r.collecting && !r.stopped {
		text := fmt.Sprintf("%s must be valid JSON: broken at byte %d", r.plan.subject, r.w.Offset())
		r.violations = append(r.violations, Violation{"", "json", text})
	}
	r.stopped = true
	return false
}

func (r *run) duplicate(name string) bool {
	if !r.collecting {
		return false
	}
	r.enter(name)
	r.report("uniqueNames", "is given more than once: send each name once")
	r.leave()
	return r.skip()
}

// skip consumes the value of a member that was refused by its name.
func (r *run) skip() bool {
	if _, err := r.w.Value(); err != nil {
		return r.broken(err)
	}
	return false
}

func (r *run) tooLow(b *bound, text []byte) bool {
	if !r.collecting {
		return false
	}
	if b.exclusive {
		return r.report("exclusiveMinimum", "must be greater than %s, got %s", b.text, cut(text))
	}
	return r.report("minimum", "must be at least %s, got %s", b.text, cut(text))
}

func (r *run) tooHigh(b *bound, text []byte) bool {
	if !r.collecting {
		return false
	}
	if b.exclusive {
		return r.report("exclusiveMaximum", "must be less than %s, got %s", b.text, cut(text))
	}
	return r.report("maximum", "must be at most %s, got %s", b.text, cut(text))
}

func (r *run) notMultiple(b *bound, text []byte) bool {
	return r.collecting && r.report("multipleOf", "must be a multiple of %s, got %s", b.text, cut(text))
}

func (r *run) outOfRange(text []byte) bool {
	return r.collecting && r.report("type", "is a number out of range: %s", cut(text))
}

func (r *run) inexact(text []byte) bool {
	return r.collecting && r.report("type", "is an integer too large to be kept exactly, %s: send it as a string", cut(text))
}

// size checks how many there are of something; the rules are min and max with
// the given ending.
func (r *run) size(what, rule string, least, most, got int) bool {
	if got >= least && (most < 0 || got <= most) {
		return true
	}
	if !r.collecting {
		return false
	}
	end, limit, bound := "max", "at most", most
	if got < least {
		end, limit, bound = "min", "at least", least
	}
	if least == most {
		limit = "exactly"
	}
	return r.report(end+rule, "must have %s %s, got %d", limit, count(bound, what), got)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func (r *run) noMatch(rules *stringRules, text []byte) bool {
	return r.collecting && r.report("pattern", "must match the pattern %s, got %s", rules.pattern, quote(text))
}

func (r *run) badFormat(f *format, text []byte) bool {
	return r.collecting && r.report("format", "must be %s, got the string %s", f.what, quote(text))
}

// badText is badFormat, in the words of the type if it has any.
func (r *run) badText(rules *stringRules, text []byte) bool {
	if r.collecting && rules.own != nil {
		if said := rules.own(text); said != "" {
			return r.report("format", "is refused: %s; got the string %s", said, quote(text))
		}
	}
	return r.badFormat(rules.format, text)
}

func (r *run) notAllowed(e *enumRules, value string) bool {
	if !r.collecting {
		return false
	}
	return r.report("enum", "must be one of %s, got %s", strings.Join(e.values, ", "), cut(value))
}

func (r *run) wrongKey(k *keyRule, name string) bool {
	if r.collecting && k.own != nil {
		if said := k.own([]byte(name)); said != "" {
			return r.report("propertyNames", "must not have the name %s: %s", quote(name), said)
		}
	}
	return r.collecting && r.report("propertyNames", "must not have the name %s: its names must be %s", quote(name), k.what)
}

// validText reports whether a JSON text in a tag or schema is one scalar.
func isScalar(text json.RawMessage) bool {
	return len(text) > 0 && text[0] != '{' && text[0] != '[' && utf8.Valid(text) && jsonx.Valid(text)
}
