package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/header"
)

// RawOptions say what a hand-written schema is for.
type RawOptions struct {
	// Object demands a root of type object: the schema is for arguments (MCP
	// 2026-07-28, Tools › Tool). Only such schemas have x-mcp-header.
	Object bool
	// Verbatim advertises the schema and never checks anything with it: the
	// application does. Only what the protocol demands of it has to hold.
	Verbatim bool
	// Advertised is what hosts see in the place of the schema; nil for the
	// schema itself.
	Advertised []byte
}

// Raw makes the plan of a hand-written schema, JSON Schema 2020-12 or, if its
// $schema says so, draft-07 (MCP 2026-07-28, Overview › JSON Schema Usage). It
// is enforced as written: a keyword that would not be is a problem. The bytes
// are advertised as they are, and must not be changed.
func Raw(json []byte, o RawOptions) (*Plan, []Problem) {
	doc, problem := readDocument(json)
	if problem != "" {
		return nil, []Problem{{Reason: "the schema " + problem}}
	}
	r := &reader{object: o.Object, verbatim: o.Verbatim, dialect: draft2020, schemas: map[*document]*vertex{}}
	r.root(doc)
	if o.Verbatim {
		r.dialect = anyDialect
		return r.verbatimPlan(doc)
	}
	v := r.read(doc, place{base: rootBase, reached: true})
	r.resolve()
	r.bounds(v)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	p := &Plan{root: v.node, json: doc.text, subject: "the result", headers: r.headers, checked: true, costly: r.partial}
	p.strictly = func() *Plan { return p }
	if o.Object {
		p.subject = "arguments"
	}
	if o.Advertised != nil {
		p.json = o.Advertised
	}
	for _, name := range []string{"additionalProperties", "unevaluatedProperties"} {
		extra := doc.members[name]
		p.closed = p.closed || extra != nil && extra.kind == 'f'
	}
	if r.partial {
		p.rest = r.compile(doc)
	}
	r.settle(p.rest)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return p, nil
}

// reader turns a document into nodes for the checker of this package, and
// notes what that checker leaves to the full validator.
type reader struct {
	object, verbatim bool
	dialect          *dialect
	schemas          map[*document]*vertex
	order            []*vertex
	resources        map[string]*vertex // by URI without fragment
	anchors          map[string]*vertex // by URI with fragment
	dynamic          map[string][]*vertex
	headers          header.Bindings
	partial          bool // some keywords are not ours
	problems         []Problem
}

// vertex is one subschema.
type vertex struct {
	doc     *document
	node    *node
	pointer string // from the root of the document
	base    *url.URL
	edges   []link
	narrows bool // keywords beside $ref restrict the value
	partial bool // keywords that look at the value itself are not ours
	number  int  // in order, from 1
	low     int
	circle  int // which strongly connected component
	size    int // subschemas with references expanded
	depth   int

	repeated *repetition
}

// link leads from a subschema to one that it applies.
type link struct {
	reach reach
	to    *vertex
	key   string // keyword, for problems
}

// place is where the reader stands.
type place struct {
	pointer string
	base    *url.URL
	reached bool // through properties alone
	path    []string
}

var rootBase = &url.URL{Scheme: "schema", Host: "local", Path: "/root"}

func (r *reader) problem(pointer, keyword, format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if keyword != "" {
		reason = fmt.Sprintf("the keyword %s at #%s %s", quote(keyword), pointer, reason)
	}
	r.problems = append(r.problems, Problem{Field: pointer, Tag: keyword, Reason: reason})
}

// root checks what the protocol demands of the whole.
func (r *reader) root(doc *document) {
	if !isSchema(doc) {
		r.problem("", "", "the schema is no JSON object")
		return
	}
	if r.object {
		if !doc.isObjectType() {
			r.problem("", "", `the root of the schema must have "type": "object"`)
		}
	}
	s := doc.members["$schema"]
	if s == nil || r.verbatim {
		return
	}
	if d := dialects[s.string()]; s.kind == '"' && d != nil {
		r.dialect = d
		return
	}
	r.problem("", "$schema", "names %s, which is not supported: 2020-12 and draft-07 are", cut(string(s.text)))
}

// verbatimPlan checks annotations alone: clients drop tools with invalid ones.
func (r *reader) verbatimPlan(doc *document) (*Plan, []Problem) {
	if len(r.problems) == 0 {
		r.read(doc, place{base: rootBase, reached: true})
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	root := &node{types: anyType}
	if doc.isObjectType() {
		root.types = objectType
	}
	p := &Plan{root: root, json: doc.text, verbatim: true, headers: r.headers}
	p.strictly = func() *Plan { return p }
	return p, nil
}

// read visits a subschema and those below it.
func (r *reader) read(doc *document, at place) *vertex {
	v := &vertex{doc: doc, pointer: at.pointer, base: at.base, node: &node{types: anyType}}
	r.schemas[doc] = v
	r.order = append(r.order, v)
	if doc.kind != '{' {
		if !doc.isTrue() {
			v.node.types = 0
		}
		return v
	}
	if !r.verbatim {
		r.identify(v, &at)
	}
	for i, name := range doc.names {
		r.keyword(v, name, doc.values[i], at)
	}
	if len(r.problems) == 0 && !r.verbatim {
		r.fill(v)
	}
	return v
}

// keyword checks one keyword and visits its subschemas.
func (r *reader) keyword(v *vertex, name string, value *document, at place) {
	rule, known := r.dialect.keywords[name]
	switch {
	case name == headerKeyword:
		r.header(v, value, at)
		return
	case r.verbatim: // whatever else is wrong with it
		r.children(v, name, rule, value, at)
		return
	case strings.HasPrefix(name, "x-"):
		return
	case !known:
		r.problem(v.pointer, name, "is unknown in JSON Schema %s and would not be enforced%s", r.dialect.name,
			meant(name, slices.Sorted(maps.Keys(r.dialect.keywords))))
		return
	case !rule.form.accepts(value):
		r.problem(v.pointer, name, "must be %s", rule.form)
		return
	case needed[name] != "" && v.doc.members[needed[name]] == nil:
		r.problem(v.pointer, name, "does nothing without %s", quote(needed[name]))
		return
	}
	if v.doc.members["$ref"] != nil && name != "$ref" && !isAnnotation(name) {
		if r.dialect.refAlone {
			r.problem(v.pointer, name, "is ignored beside $ref in JSON Schema draft-07")
		}
		v.narrows = true
	}
	if !rule.own {
		v.partial = true
		r.partial = true
	}
	r.children(v, name, rule, value, at)
}

// isAnnotation reports whether a keyword restricts no value.
func isAnnotation(name string) bool {
	switch name {
	case "title", "description", "default", "examples", "readOnly", "writeOnly", "deprecated",
		"$comment", "$defs", "definitions", "$schema", "$id", "$anchor", "$dynamicAnchor":
		return true
	}
	return strings.HasPrefix(name, "x-")
}

// children visits the subschemas in the value of a keyword. A schema that is
// not enforced may have a list of them where one is due, or one for a list.
func (r *reader) children(v *vertex, name string, rule keywordRule, value *document, at place) {
	at.pointer += "/" + name
	at.reached = at.reached && name == "properties" && value.kind == '{'
	child := func(doc *document, step string, reach reach, below place) {
		if !isSchema(doc) { // a list of names, or what cannot be annotated
			return
		}
		if step != "" {
			below.pointer += "/" + pointerEscapes.Replace(step)
		}
		v.edges = append(v.edges, link{reach, r.read(doc, below), name})
	}
	if rule.form == itemsForm && value.kind == '[' {
		v.partial, r.partial = true, true
	}
	switch form := rule.form; {
	case form < schemaForm: // it has none
	case value.kind == '[':
		for i, doc := range value.values {
			child(doc, strconv.Itoa(i), rule.reach, at)
		}
	case form == schemaMapForm || form == dependForm:
		for i, doc := range value.values {
			below := at
			below.path = append(slices.Clone(at.path), value.names[i])
			child(doc, value.names[i], rule.reach, below)
		}
	case form == itemsForm:
		child(value, "", otherElement, at)
	default:
		child(value, "", rule.reach, at)
	}
}

const headerKeyword = "x-mcp-header"

// header records an annotation, which has to stand on a property that is
// reached through properties alone (MCP 2026-07-28, Streamable HTTP › Schema
// Extension).
func (r *reader) header(v *vertex, value *document, at place) {
	if !r.object {
		return
	}
	if value.kind != '"' {
		r.problem(v.pointer, headerKeyword, "must be a string")
		return
	}
	if !at.reached || len(at.path) == 0 {
		r.problem(v.pointer, headerKeyword, "must stand on a property that is reached through properties alone")
		return
	}
	kind := header.Kind("")
	if t := v.doc.members["type"]; t != nil && t.kind == '"' {
		kind = header.Kind(t.string())
	}
	if err := r.headers.Add(value.string(), kind, at.path...); err != nil {
		r.problem(v.pointer, headerKeyword, "is refused: %v", err)
	}
}
