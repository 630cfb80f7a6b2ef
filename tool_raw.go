package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	if a := def.Annotations; a != nil {
		t.hints = toolHints{a.ReadOnly, a.Destructive, a.Idempotent, a.OpenWorld}
		if t.title == "" {
			t.title = a.Title
		}
	}
	t.meta = maps.Clone(def.Meta) // of a definition made elsewhere: reserved keys may be right
	if def.InputSchema == nil {
		t.problem("", errors.New("the definition has no inputSchema"))
	} else {
		t.given.input = &Schema{raw: string(def.InputSchema)}
	}
	if def.OutputSchema != nil {
		t.given.output = &Schema{raw: string(def.OutputSchema)}
	}
	t.raw(fn)
	return t.register()
}

// raw makes fn the tool's handler.
func (t *Tool) raw(fn RawToolFunc) {
	if fn == nil {
		t.problem("", errors.New("the handler is nil"))
	}
	t.call = func(ctx context.Context, args []byte) (*Result, error) {
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
// advertised as it is, but nothing is checked and no default is filled in.
// Arguments that do not decode into the Go type are still refused.
func (t *Tool) ApplicationValidated() *Tool { return t.change(func() { t.given.verbatim = true }) }

// given is what was said about a tool's schemas besides its Go types. It is
// compiled when the definition is finished, as its parts depend on each other.
type given struct {
	input, output *Schema // nil: derived, or none
	verbatim      bool    // arguments are not checked

	compiled           bool // what follows is up to date
	inPlan, outPlan    *schema.Plan
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
	g.inPlan, g.outPlan = t.input, t.output
	in := g.input
	if g.verbatim && in == nil && t.input != nil { // the derived one, but not enforced
		in = &Schema{raw: string(t.input.JSON())}
	}
	if in != nil {
		g.inPlan = t.planFrom(in, "input schema", schema.RawOptions{Object: true, Verbatim: g.verbatim})
	}
	t.compileResult()
	t.compileConfirm()
	g.problems = append(g.problems, t.resolveIcons()...)
	return g.problems, g.warnings
}

// compileResult decides what results become.
func (t *Tool) compileResult() {
	g := &t.given
	if g.write = t.writer(); g.write != nil {
		g.outPlan = nil
	}
	if t.structured != nil && *t.structured && g.outPlan == nil && g.output == nil {
		g.problems = append(g.problems, t.finding("it is tagged as structured, but its result %v has no schema; return a struct or give an OutputSchema", t.resultType))
	}
	if t.structured != nil && !*t.structured {
		g.outPlan = nil
		if t.shape == shapeValue && g.write == nil {
			g.write = func(v any) (*Result, error) { return resultOf(shapeJSON, v) }
		}
	} else if g.output != nil {
		g.outPlan = t.planFrom(g.output, "output schema", schema.RawOptions{})
	}
}

// planFrom compiles one schema and records what is wrong with it.
func (t *Tool) planFrom(s *Schema, what string, o schema.RawOptions) *schema.Plan {
	plan, problems := s.plan(o)
	for _, p := range problems {
		var e *RegistrationError
		if s.goType != nil {
			e = t.schemaProblem(s.goType, p)
		} else {
			e = t.schemaProblem(nil, p)
			e.Err = fmt.Errorf("%s: %s", what, p.Reason)
		}
		if p.Warning {
			t.given.warnings = append(t.given.warnings, e)
		} else {
			t.given.problems = append(t.given.problems, e)
		}
	}
	return plan
}
