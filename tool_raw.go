package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/typedmcp/mcp/internal/schema"
)

// RawToolFunc is the handler of a tool whose arguments have no Go type: it
// gets them as checked JSON, with the schema's defaults filled in, valid for
// as long as it likes.
type RawToolFunc = func(ctx context.Context, args json.RawMessage) (*Result, error)

// AddRawTool registers a tool whose arguments are described by a Schema and
// handed over as JSON. They are checked as those of a typed tool are.
func AddRawTool(r Registrar, name, desc string, input Schema, fn RawToolFunc) *Tool {
	t := newTool(r, name, desc)
	t.given.input = &input
	t.raw(fn)
	return t.register()
}

// AddToolDef registers a tool whose definition is data, read from a file or
// from another server. Its schemas are advertised and enforced as they are,
// and members this package does not know are kept.
func AddToolDef(r Registrar, def ToolDef, fn RawToolFunc) *Tool {
	t := newTool(r, def.Name, def.Description)
	t.title, t.icons, t.extra = def.Title, slices.Clone(def.Icons), maps.Clone(def.Extra)
	if def.Annotations != nil {
		t.hints = *def.Annotations
	}
	t.meta = maps.Clone(def.Meta) // of a definition made elsewhere: reserved keys may be right
	if def.InputSchema == nil {
		t.problem("", errors.New("the definition has no inputSchema"))
	} else {
		t.InputSchema(RawSchema(string(def.InputSchema)))
	}
	if def.OutputSchema != nil {
		t.OutputSchema(RawSchema(string(def.OutputSchema)))
	}
	t.raw(fn)
	return t.register()
}

// raw makes fn the tool's handler.
func (t *Tool) raw(fn RawToolFunc) {
	if fn == nil {
		t.problem("", errors.New("the handler is nil"))
	}
	t.call = func(ctx context.Context, t *Tool, args []byte) (*Result, error) {
		if typ := t.given.ruled; typ != nil {
			if err := t.decode(ctx, args, reflect.New(typ).Interface()); err != nil {
				return nil, err
			}
		}
		if err := t.confirmed(ctx, args); err != nil {
			return nil, err
		}
		result, err := fn(ctx, args)
		if err == nil && result == nil {
			err = t.srv.unsendable("result of "+t.feature(), errNilResult)
		}
		return result, err
	}
}

// InputSchema replaces the schema of the arguments. It is advertised and
// enforced in the place of the one derived from the Go type, into which
// arguments that pass are decoded.
func (t *Tool) InputSchema(s Schema) *Tool { return t.change(func() { t.given.input = &s }) }

// OutputSchema replaces the schema of the result, and gives one to tools whose
// Go type has none. Results are held to it.
func (t *Tool) OutputSchema(s Schema) *Tool { return t.change(func() { t.given.output = &s }) }

// ApplicationValidated leaves arguments to the handler: the input schema is
// advertised as it is, but nothing is checked and no default is filled in; of
// validate tags, too, none is run. A Validate method is: it is the
// application's own. Arguments that do not decode into the Go type are still
// refused.
func (t *Tool) ApplicationValidated() *Tool { return t.change(func() { t.given.verbatim = true }) }

// given is what was said about a tool's schemas besides its Go types. It is
// compiled when the definition is finished, as its parts depend on each other.
type given struct {
	input, output *Schema // nil: derived, or none
	verbatim      bool    // arguments are not checked

	compiled           bool // what follows is up to date
	inPlan, outPlan    *schema.Plan
	ruled              reflect.Type                 // of a raw tool: the Go type whose rules arguments must obey; nil: none
	write              func(v any) (*Result, error) // not nil: the result is a writer's matter
	confirm            []confirmPart                // of the message of Confirm; nil: nobody is asked
	problems, warnings []*RegistrationError
}

// compile brings what is given up to date and returns what is wrong with it.
func (t *Tool) compile() (problems, warnings []*RegistrationError) {
	g := &t.given
	if g.compiled {
		return g.problems, g.warnings
	}
	*g = given{input: g.input, output: g.output, verbatim: g.verbatim, compiled: true}
	t.compileInput()
	t.compileResult()
	t.compileConfirm()
	g.problems = append(g.problems, t.resolveIcons()...)
	return g.problems, g.warnings
}

// compileInput decides what arguments are checked against.
func (t *Tool) compileInput() {
	g := &t.given
	strict := t.strict || t.srv.opts.StrictArgs
	g.inPlan = t.input
	if g.inPlan != nil && strict {
		g.inPlan = g.inPlan.Strict()
	}
	in := g.input
	if g.verbatim && in == nil && g.inPlan != nil { // the derived one, but not enforced
		in = new(RawSchema(string(g.inPlan.JSON())))
	}
	if in == nil {
		return
	}
	g.inPlan = t.planFrom(in, "input schema", schemaForm{root: true, strict: strict})
	if in.source == derivedSchema && t.argsType == nil && hasRules(in.goType, g.inPlan) {
		g.ruled = in.goType
	}
	if in.source == writtenSchema && t.strict && !g.verbatim && g.inPlan != nil && !g.inPlan.Closed() {
		g.problems = append(g.problems, t.finding(`it is Strict, but its schema, which is enforced as it is written, takes names that it does not declare; write "additionalProperties": false into it`))
	}
}

// hasRules reports whether values of t have rules that their schema does not
// say.
func hasRules(t reflect.Type, p *schema.Plan) bool {
	validator := reflect.TypeFor[Validator]()
	return p != nil && p.HasRules() || t.Implements(validator) || reflect.PointerTo(t).Implements(validator)
}

// compileResult decides what results become.
func (t *Tool) compileResult() {
	g := &t.given
	g.outPlan = t.output
	if g.write = t.writer(); g.write != nil {
		g.outPlan = nil
	} else if t.valueType != nil {
		for _, p := range t.outputProblems {
			g.add(t.schemaProblem(t.valueType.Elem(), p), p.Warning)
		}
	}
	if t.structured != nil && !*t.structured {
		if g.outPlan = nil; g.output != nil {
			g.problems = append(g.problems, t.finding("it is tagged as not structured, but has an OutputSchema"))
		}
		if g.write == nil && (t.shape == shapeValue || t.shape == shapeStructured) {
			g.write = t.plain
		}
		return
	}
	switch {
	case g.output != nil && t.resultType != nil && (g.write != nil || t.shape.content()):
		g.problems = append(g.problems, t.finding("it has an OutputSchema, but its result %v is content alone; return a value, or a *Result with one", t.resultType))
	case g.output != nil:
		g.outPlan = t.planFrom(g.output, "output schema", schemaForm{out: true})
	case t.structured != nil && g.outPlan == nil && t.resultType == nil:
		g.problems = append(g.problems, t.finding("it is tagged as structured, but has no OutputSchema"))
	case t.structured != nil && g.outPlan == nil:
		g.problems = append(g.problems, t.finding("it is tagged as structured, but its result %v has no schema; return a struct or give an OutputSchema", t.resultType))
	}
}

// plain makes a result without structured content, of a value that could have
// one.
func (t *Tool) plain(v any) (*Result, error) {
	if t.shape == shapeValue {
		return resultOf(shapeJSON, v)
	}
	result, err := resultOf(t.shape, v)
	if err != nil {
		return nil, err
	}
	if result.Content == nil {
		text, err := resultOf(shapeJSON, result.Structured)
		if err != nil {
			return nil, err
		}
		result.Content = text.Content
	}
	result.Structured = nil
	return result, nil
}

// planFrom compiles one schema and records what is wrong with it.
func (t *Tool) planFrom(s *Schema, what string, f schemaForm) *schema.Plan {
	f.full = t.srv.opts.FullSchemas
	plan, found := s.plan(f, t.given.verbatim && !f.out)
	for _, p := range found {
		var e *RegistrationError
		if p.goType != nil {
			e = t.schemaProblem(p.goType, p.Problem)
		} else { // the reason says where
			e = t.finding("%s: %s", what, p.Reason)
		}
		t.given.add(e, p.Warning)
	}
	if plan != nil && s.source != derivedSchema && !f.full && (t.given.input == s || f.out) {
		if refused := plan.HostRefusals(); len(refused) > 0 {
			t.given.add(t.finding("%s: some hosts refuse a tool for %s; write it without, or set ServerOptions.FullSchemas if yours take all of JSON Schema", what, strings.Join(refused, ", ")), true)
		}
	}
	return plan
}

func (g *given) add(e *RegistrationError, warning bool) {
	if warning {
		g.warnings = append(g.warnings, e)
	} else {
		g.problems = append(g.problems, e)
	}
}
