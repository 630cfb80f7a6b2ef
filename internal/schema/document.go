package schema

import (
	"fmt"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// document is a JSON value of a hand-written schema, members in their order.
type document struct {
	text    []byte
	kind    byte // as jsonx.Kind
	names   []string
	values  []*document // of members or elements
	members map[string]*document
}

// maxNesting bounds the brackets of a schema: each level of subschemas may
// take a few.
const maxNesting = 4 * maxDepth

// readDocument parses text; problem says what is wrong with it.
func readDocument(text []byte) (doc *document, problem string) {
	if jsonx.DeeperThan(text, maxNesting) {
		return nil, fmt.Sprintf("nests deeper than %d subschemas", maxDepth)
	}
	w := jsonx.Walk(text)
	defer w.Release()
	doc, problem = readValue(w)
	if problem == "" {
		if err := w.End(); err != nil {
			problem = notJSON(w)
		}
	}
	return doc, problem
}

func notJSON(w *jsonx.Walker) string {
	return fmt.Sprintf("is not valid JSON: broken at offset %d", w.Offset())
}

func readValue(w *jsonx.Walker) (*document, string) {
	switch w.Kind() {
	case '{', '[':
		return readContainer(w)
	}
	text, err := w.Value()
	if err != nil {
		return nil, notJSON(w)
	}
	kind := text[0]
	if kind == '-' || kind >= '0' && kind <= '9' {
		kind = '0'
		if d := parseDecimal(text); !d.isDivisible(text) {
			return nil, fmt.Sprintf("has a number out of range at offset %d", w.Offset())
		}
	}
	return &document{text: text, kind: kind}, ""
}

func readContainer(w *jsonx.Walker) (*document, string) {
	d := &document{kind: byte(w.Kind())}
	end := jsonx.Kind(d.kind + 2) // the closing bracket
	mark := w.Mark()
	if err := w.Open(); err != nil {
		return nil, notJSON(w)
	}
	if d.kind == '{' {
		d.members = map[string]*document{}
	}
	for w.Kind() != end {
		name := ""
		if d.kind == '{' {
			n, _, err := w.Name()
			if err != nil {
				return nil, notJSON(w)
			}
			name = string(n)
			if d.members[name] != nil {
				return nil, fmt.Sprintf("has the name %s twice in one object, at offset %d", quote(name), w.Offset())
			}
		}
		v, problem := readValue(w)
		if problem != "" {
			return nil, problem
		}
		if d.kind == '{' {
			d.names = append(d.names, name)
			d.members[name] = v
		}
		d.values = append(d.values, v)
	}
	if err := w.Close(); err != nil {
		return nil, notJSON(w)
	}
	d.text = w.Since(mark)
	return d, ""
}

// string returns the text of a JSON string.
func (d *document) string() string { return unquote(d.text) }

// strings returns the texts of an array of strings.
func (d *document) strings() ([]string, bool) {
	if d.kind != '[' {
		return nil, false
	}
	list := make([]string, len(d.values))
	for i, v := range d.values {
		if v.kind != '"' {
			return nil, false
		}
		list[i] = v.string()
	}
	return list, true
}

func (d *document) isTrue() bool { return string(d.text) == "true" }
