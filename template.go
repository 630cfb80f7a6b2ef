package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"
)

// uriTemplate reads the values of a template's variables out of a URI: what
// RFC 6570 calls expansion, backwards. Templates of which that cannot be done
// without guessing are refused.
type uriTemplate struct {
	match *regexp.Regexp
	parts []templatePart // one for each group of match
}

// templatePart is one expression of a template.
type templatePart struct {
	text  string // with its braces
	op    string // the operator, "" for none
	first string // what starts its expansion
	sep   string // what stands between its variables
	named bool   // its variables stand as name=value
	vars  []templateVar
}

type templateVar struct {
	name    string
	explode bool
	list    bool // its field is a list
}

// templateOps are the operators of RFC 6570 (appendix A).
var templateOps = map[string]templatePart{
	"":  {sep: ","},
	"+": {sep: ","},
	"#": {first: "#", sep: ","},
	".": {first: ".", sep: "."},
	"/": {first: "/", sep: "/"},
	";": {first: ";", sep: ";", named: true},
	"?": {first: "?", sep: "&", named: true},
	"&": {first: "&", sep: "&", named: true},
}

const (
	unreservedChars = "-A-Za-z0-9._~" // in a class, the hyphen first
	reservedChars   = `:/?#\[\]@!$&'()*+,;=`
	escapedChar     = "%[0-9A-Fa-f]{2}"
)

var (
	expressions = regexp.MustCompile(`\{([+#./;?&]?)([^}]*)\}`)
	absolute    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
)

// newURITemplate parses a template. isList says which variables are lists.
func newURITemplate(text string, isList func(name string) bool) (*uriTemplate, error) {
	if _, err := uritemplate.New(text); err != nil {
		return nil, fmt.Errorf("the URI template is not valid (RFC 6570): %w", err)
	}
	if !absolute.MatchString(text) {
		return nil, errors.New("the URI template does not start with a scheme, such as docs://")
	}
	t := new(uriTemplate)
	var pattern strings.Builder
	seen := make(map[string]bool)
	end := 0
	for _, at := range expressions.FindAllStringSubmatchIndex(text, -1) {
		part, err := newTemplatePart(text[at[0]:at[1]], text[at[2]:at[3]], text[at[4]:at[5]], isList)
		if err != nil {
			return nil, err
		}
		for _, v := range part.vars {
			if seen[v.name] {
				return nil, fmt.Errorf("the variable %q of the URI template occurs twice", v.name)
			}
			seen[v.name] = true
		}
		if n := len(t.parts); n > 0 && at[0] == end && !apart(&t.parts[n-1], part) {
			return nil, fmt.Errorf("where %s of the URI template ends and %s begins cannot be told; put a character between them", t.parts[n-1].text, part.text)
		}
		pattern.WriteString(literalPattern(text[end:at[0]]) + part.pattern())
		t.parts = append(t.parts, *part)
		end = at[1]
	}
	match, err := regexp.Compile(`\A` + pattern.String() + literalPattern(text[end:]) + `\z`)
	if err != nil {
		return nil, fmt.Errorf("the URI template is too large: %w", err)
	}
	t.match = match
	return t, nil
}

// checkTemplates finds templates that are never read because an earlier one
// matches the same URIs. With Visible both may have their readers.
func (r *registry) checkTemplates() (warnings []*RegistrationError) {
	if r.srv.filter != nil {
		return nil
	}
	first := make(map[string]*Resource)
	for _, res := range r.resources {
		if res.template == nil || res.disabled {
			continue
		}
		pattern := res.template.match.String()
		if earlier := first[pattern]; earlier != nil {
			warnings = append(warnings, res.finding("it is never read: %q, registered at %s, matches the same URIs", earlier.uri, earlier.site))
			continue
		}
		first[pattern] = res
	}
	return warnings
}

func newTemplatePart(text, op, specs string, isList func(string) bool) (*templatePart, error) {
	part := templateOps[op]
	part.text, part.op = text, op
	lists := 0
	for spec := range strings.SplitSeq(specs, ",") {
		if name, _, cut := strings.Cut(spec, ":"); cut {
			return nil, fmt.Errorf("%s of the URI template keeps only the beginning of %q: its value could not be read back", text, name)
		}
		name, explode := strings.CutSuffix(spec, "*")
		list := isList(name)
		if explode && !list {
			return nil, fmt.Errorf("%s of the URI template stands for several values, but the field %q is no list: drop the * or make it a []string", text, name)
		}
		if list {
			lists++
		}
		part.vars = append(part.vars, templateVar{name, explode, list})
	}
	several, sep := len(part.vars) > 1, part.sep
	if !several {
		sep = part.listSep(part.vars[0])
	}
	lost := (several || lists > 0) && strings.Contains(part.chars(), sep)
	if !part.named && (lost || several && lists > 0) {
		return nil, fmt.Errorf("where one value of %s of the URI template ends and the next begins cannot be told; use one expression for each", text)
	}
	return &part, nil
}

// chars are the characters that values have, as the inside of a class.
func (p *templatePart) chars() string {
	if p.op == "+" || p.op == "#" {
		return unreservedChars + reservedChars
	}
	return unreservedChars
}

// inside are the characters that the expansion has after the first.
func (p *templatePart) inside() string {
	chars := p.chars()
	if len(p.vars) > 1 || p.vars[0].explode {
		chars += p.sep
	}
	if p.named {
		chars += "="
	}
	for _, v := range p.vars {
		if v.list && !v.explode {
			chars += ","
		}
	}
	return chars
}

// pattern matches the expansion, with the values in its one group. The group
// does not match when no variable is defined.
func (p *templatePart) pattern() string {
	values := "((?:[" + p.inside() + "]|" + escapedChar + ")*)"
	if p.first == "" {
		return values
	}
	return "(?:" + regexp.QuoteMeta(p.first) + values + ")?"
}

// apart reports whether what stands for a can be told from what stands for b
// right after it.
func apart(a, b *templatePart) bool {
	return b.first != "" && !strings.Contains(a.inside(), b.first)
}

// literalPattern matches what stands outside expressions. The hexadecimal
// digits of escapes have no case, and what a URI cannot have is escaped (RFC
// 6570, 3.1).
func literalPattern(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '%':
			b.WriteString("(?i:" + text[i:i+3] + ")")
			i += 2
		case c >= utf8.RuneSelf:
			fmt.Fprintf(&b, "(?i:%%%02x)", c)
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return b.String()
}

// names returns the names of the variables, in order.
func (t *uriTemplate) names() []string {
	var names []string
	for _, part := range t.parts {
		for _, v := range part.vars {
			names = append(names, v.name)
		}
	}
	return names
}

// values returns the values of the variables in uri, percent-decoded once, one
// for each variable but for lists. Variables that are not defined are absent;
// where RFC 6570 writes an empty value as nothing, it counts as not defined.
func (t *uriTemplate) values(uri string) (values map[string][]string, ok bool) {
	at := t.match.FindStringSubmatchIndex(uri)
	if at == nil {
		return nil, false
	}
	values = make(map[string][]string)
	for i := range t.parts {
		part := &t.parts[i]
		from, to := at[2*i+2], at[2*i+3]
		if from < 0 || from == to && part.first == "" {
			continue
		}
		read := part.inOrder
		if part.named {
			read = part.pairs
		}
		if !read(uri[from:to], values) {
			return nil, false
		}
	}
	return values, true
}

// inOrder reads values that stand without names.
func (p *templatePart) inOrder(text string, values map[string][]string) bool {
	texts := []string{text}
	switch v := p.vars[0]; {
	case v.list:
		return v.add(strings.Split(text, p.listSep(v)), values)
	case len(p.vars) > 1:
		texts = strings.Split(text, p.sep)
	}
	if len(texts) > len(p.vars) {
		return false
	}
	for i, text := range texts {
		if !p.vars[i].add([]string{text}, values) {
			return false
		}
	}
	return true
}

// listSep is what stands between the elements of a list.
func (p *templatePart) listSep(v templateVar) string {
	if v.explode {
		return p.sep
	}
	return ","
}

// pairs reads values that stand with their names, in whatever order.
func (p *templatePart) pairs(text string, values map[string][]string) bool {
	for pair := range strings.SplitSeq(text, p.sep) {
		name, value, _ := strings.Cut(pair, "=")
		i := slices.IndexFunc(p.vars, func(v templateVar) bool { return v.name == name })
		if i < 0 || strings.Contains(value, "=") {
			return false
		}
		v := p.vars[i]
		texts := []string{value}
		if v.list && !v.explode {
			texts = strings.Split(value, ",")
		} else if strings.Contains(value, ",") {
			return false
		}
		if _, twice := values[name]; twice && !v.explode || !v.add(texts, values) {
			return false
		}
	}
	return true
}

// add decodes values of the variable.
func (v templateVar) add(texts []string, values map[string][]string) bool {
	for _, text := range texts {
		decoded, err := url.PathUnescape(text)
		if err != nil || !utf8.ValidString(decoded) {
			return false
		}
		values[v.name] = append(values[v.name], decoded)
	}
	return true
}
