// Package schema makes one declaration, a Go type or a hand-written JSON
// Schema, into a plan that advertises, checks and completes JSON.
//
// A derived schema keeps five laws. I1: what decodes into the type without
// loss, within its tags, passes. I2: what encoding a value writes passes. I3:
// what passes decodes without error or change. I4: hosts accept the advertised
// form: the root is a plain object, types are single, only common keywords
// occur. I5: the same type has the same bytes.
//
//	schema.go      Plan, Input, Output
//	node.go        what a schema is in memory
//	survey.go      a look at a Go type; then derive.go makes it into nodes:
//	               structs.go, fields.go, leaf.go, kinds.go, methods.go, custom.go
//	tags.go        the jsonschema tag, and keywords.go what it does to a node
//	validatetag.go the validate tag, and ruletable.go the rules there are
//	document.go    a hand-written schema; then raw.go makes it into nodes:
//	               dialect.go, rawnode.go, refs.go, bounds.go, full.go
//	write.go       nodes to the advertised bytes; hints.go
//	check.go       bytes against nodes: object.go, scalars.go, number.go, unique.go
//	edits.go       defaults, nulls and integers, put right in the bytes
//	violation.go   what the model is told; nearest.go, translate.go
//	rules.go       the rules that no schema can express: ruleset.go those of the
//	               library, siblings.go and presence.go those on other fields
package schema

import (
	"reflect"
	"sync"

	"github.com/typedmcp/mcp/internal/header"
)

// Options choose the form of a derived schema.
type Options struct {
	// Full advertises every keyword that is enforced. The zero value leaves
	// out those that some hosts refuse and puts them into descriptions.
	Full bool
	// Part says that the schema is to be a part of another: the type need not
	// be an object's.
	Part bool
}

// Problem is something wrong with a type, tag or schema, found at registration.
type Problem struct {
	Field   string // Go field path such as Args.Filter.By, or a JSON Pointer into a hand-written schema
	Tag     string // the tag or keyword at fault; "" if none is
	Reason  string // what is wrong and what to do
	Warning bool   // the plan is usable nonetheless
}

// Plan is a compiled schema. It is immutable and safe for concurrent use.
type Plan struct {
	root     *node
	defs     []*node
	json     []byte
	subject  string   // what the root is called in messages
	strict   bool     // refuse names that derived objects do not declare
	full     bool     // advertise the full form
	verbatim bool     // advertised, never checked
	checked  bool     // results can break the schema
	costly   bool     // checks need the full validator
	closed   bool     // a hand-written schema that refuses names it does not declare
	rest     *rest    // of a hand-written schema
	rules    *ruleSet // of a Go type
	headers  header.Bindings
	strictly func() *Plan
}

type planKey struct {
	t    reflect.Type
	out  bool
	full bool
	part bool
}

type planEntry struct {
	plan     *Plan
	problems []Problem
}

// plans caches what is derived: a server may register one type many times,
// and a process may make many servers.
var plans sync.Map // planKey to planEntry

// Input derives the plan for the arguments of a typed tool: a struct, a
// pointer to one, a map with string keys, or any, which stands for an object
// of any shape. The plan is nil if a problem is no mere warning.
func Input(t reflect.Type, o Options) (*Plan, []Problem) {
	return derived(planKey{t: t, full: o.Full, part: o.Part})
}

// Output derives the plan for results, which may be any JSON.
func Output(t reflect.Type, o Options) (*Plan, []Problem) {
	return derived(planKey{t: t, out: true, full: o.Full})
}

func derived(key planKey) (*Plan, []Problem) {
	if e, ok := plans.Load(key); ok {
		return e.(planEntry).plan, e.(planEntry).problems
	}
	plan, problems := derive(key)
	e, _ := plans.LoadOrStore(key, planEntry{plan, problems})
	return e.(planEntry).plan, e.(planEntry).problems
}

// JSON returns the advertised schema. It must not be changed.
func (p *Plan) JSON() []byte { return p.json }

// Strict returns a plan that refuses names its schema does not declare. A
// hand-written schema says itself what it refuses: its plan is returned as is.
func (p *Plan) Strict() *Plan { return p.strictly() }

// Object reports whether the root is of type object.
func (p *Plan) Object() bool { return p.root.resolved().types == objectType }

// Headers are the x-mcp-header annotations (MCP 2026-07-28, Streamable HTTP ›
// Schema Extension).
func (p *Plan) Headers() header.Bindings { return p.headers }

// Costly reports whether a check runs the full validator, which is slower and
// takes more memory than the checker of this package.
func (p *Plan) Costly() bool { return p.costly }

// Closed reports whether a hand-written schema refuses names that it does not
// declare.
func (p *Plan) Closed() bool { return p.closed }

// NeedsOutputCheck reports whether an encoded result can break the schema, so
// that Validate has to look at it.
func (p *Plan) NeedsOutputCheck() bool { return p.checked }

// newPlan is the plan of derived nodes.
func newPlan(root *node, defs []*node, full bool) *Plan {
	p := &Plan{root: root, defs: defs, full: full, subject: "arguments"}
	p.json = write(p)
	p.strictly = sync.OnceValue(func() *Plan {
		s := *p
		s.strict = true
		s.json = write(&s)
		s.strictly = func() *Plan { return &s }
		return &s
	})
	return p
}
