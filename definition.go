package mcp

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// The kinds of feature, as Info names them.
const (
	kindTool     = "tool"
	kindPrompt   = "prompt"
	kindResource = "resource"
	kindTemplate = "template"
)

// definition is what the definitions of tools, prompts and resources have in
// common.
type definition struct {
	srv   *Server
	reg   *registry // where it is registered
	scope *Scope
	site  callSite
	seq   uint64 // order of registration, never reused

	kind        string
	name        string // with the prefix of its scope
	uri         string // of a resource, or its template
	title       string
	desc        string
	icons       []Icon
	meta        Meta
	hidden      bool
	disabled    bool
	category    string
	tags        map[string]string // of no meaning to this package
	scopes      []string          // nil: none is required
	middlewares []Middleware

	problems, warnings []*RegistrationError
	listedIcons        []Icon               // with those from files in place; set by resolveIcons
	iconProblems       []*RegistrationError // what resolveIcons found
}

// define starts a definition at the place of the caller's caller.
func (at target) define(kind, name string) definition {
	d := definition{srv: at.srv, reg: at.reg, scope: at.scope, site: callerSite(), kind: kind}
	if name != "" { // a prefix alone is no name
		d.name = at.scope.prefixed(name)
	}
	return d
}

// mutate applies a change to the definition. Every fluent method goes through
// it.
func (d *definition) mutate(apply func()) { d.reg.mutate(d.feature(), apply) }

func (d *definition) feature() string {
	if d.uri != "" {
		return fmt.Sprintf("%s %q", d.kind, d.uri)
	}
	return fmt.Sprintf("%s %q", d.kind, d.name)
}

// problem records a mistake for Check.
func (d *definition) problem(field string, err error) {
	d.problems = append(d.problems, &RegistrationError{
		Feature: d.feature(), Field: field, Caller: d.site.String(), Err: err,
	})
}

// finding makes a problem or warning of the definition as a whole.
func (d *definition) finding(format string, args ...any) *RegistrationError {
	return &RegistrationError{Feature: d.feature(), Caller: d.site.String(), Err: fmt.Errorf(format, args...)}
}

// schemaProblem says what is wrong with a schema, or with the Go type it is
// derived from.
func (d *definition) schemaProblem(typ fmt.Stringer, p schema.Problem) *RegistrationError {
	e := &RegistrationError{
		Feature: d.feature(), Field: p.Field, Tag: p.Tag,
		Caller: d.site.String(), Err: errors.New(p.Reason),
	}
	if typ != nil {
		e.Type = typ.String()
		if !strings.ContainsRune(p.Field, '.') || p.Field == e.Type {
			e.Field = "" // it is the type as a whole
		}
	}
	return e
}

// schemaProblems records what is wrong with a type; warnings wait for Check.
func (d *definition) schemaProblems(typ fmt.Stringer, problems []schema.Problem) {
	for _, p := range problems {
		if e := d.schemaProblem(typ, p); p.Warning {
			d.warnings = append(d.warnings, e)
		} else {
			d.problems = append(d.problems, e)
		}
	}
}

// metaSetter encodes a value for the definition's _meta and returns the change
// that puts it there.
func (d *definition) metaSetter(key string, v any) func() {
	raw, err := encodeMeta(key, v)
	return func() {
		if err != nil {
			d.problem("", err)
			return
		}
		d.setMeta(key, raw)
	}
}

func (d *definition) setMeta(key string, raw []byte) {
	d.meta = maps.Clone(d.meta)
	if d.meta == nil {
		d.meta = make(Meta)
	}
	d.meta[key] = raw
}

// categoryKey is where the category of a feature stands in its _meta.
const categoryKey = "io.github.typedmcp/category"

func (d *definition) setCategory(name string) {
	d.category = name
	d.setMeta(categoryKey, jsonx.AppendString(nil, name))
}

// resolveIcons loads the icons that are files and returns what is wrong. What
// was loaded stays as it is: requests may be reading it.
func (d *definition) resolveIcons() (problems []*RegistrationError) {
	if len(d.listedIcons) == len(d.icons) {
		return d.iconProblems
	}
	d.listedIcons, d.iconProblems = nil, nil
	for _, icon := range d.icons {
		icon, err := icon.resolve(d.srv.opts.Files)
		if err != nil {
			d.iconProblems = append(d.iconProblems, d.finding("%w", err))
		}
		d.listedIcons = append(d.listedIcons, icon)
	}
	return d.iconProblems
}

func (d *definition) definitionOf() *definition { return d }

func (d *definition) info() Info {
	return Info{Kind: d.kind, Name: d.name, URI: d.uri, Category: d.category, Tags: d.tags, Scopes: d.scopes}
}
