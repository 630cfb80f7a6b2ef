package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/typedmcp/mcp/internal/schema"
)

// Tool is the handle of a registered tool. Its methods refine the definition
// and return the handle, so that they can be chained; mistakes are reported
// by Server.Check. Once the server serves they panic with a *FrozenError.
type Tool struct {
	definition
	hints  ToolAnnotations
	strict bool

	argsType, resultType reflect.Type // nil for raw tools
	input                *schema.Plan
	output               *schema.Plan     // nil: no output schema
	outputProblems       []schema.Problem // of the result as data, which a writer makes none
	valueType            reflect.Type     // of Result.Structured when it is the handler's own value
	shape                resultShape
	given                given
	call                 toolFunc
	confirm              *string // the message of Confirm; nil: nobody is asked

	app        string // URI of the user interface, "" for none
	structured *bool  // whether results are data for programs too; nil: as the type has it
	extra      map[string]json.RawMessage
}

// toolFunc is a tool's function behind its generic shim: it decodes checked
// arguments, runs the handler and wraps its value.
type toolFunc func(ctx context.Context, t *Tool, args []byte) (*Result, error)

// AddTool registers a tool whose arguments and result are Go types. The input
// schema, the checks of each call and the defaults come from A, a struct or
// map; the result and its output schema from R:
//
//   - string: one text block
//   - struct{}: no content
//   - Content, []Content: those blocks
//   - *Result: exactly that
//   - Structured[T]: a value and blocks
//   - any, json.RawMessage and interfaces: JSON as text
//   - every other type: structured content, and its JSON as text. A pointer in
//     it that may be null, for want of omitempty, has no type in the schema
//
// fn runs with valid arguments only, in several goroutines at once; its
// context ends when the call does. Its error becomes a result that tells the
// model what went wrong, unless it is an *Error, which fails the request.
//
// Nothing panics on a bad definition: Server.Check reports it.
func AddTool[A, R any](r Registrar, name, desc string, fn func(ctx context.Context, args A) (R, error)) *Tool {
	t := newTool(r, name, desc)
	t.argsType, t.resultType = reflect.TypeFor[A](), reflect.TypeFor[R]()
	t.derive()
	if fn == nil {
		t.problem("", errors.New("the handler is nil"))
	}
	t.call = func(ctx context.Context, t *Tool, args []byte) (*Result, error) {
		c := new(struct { // one allocation for both
			args  A
			value R
		})
		err := t.decode(ctx, args, &c.args)
		if err != nil {
			return nil, err
		}
		if err = t.confirmed(ctx, args); err != nil {
			return nil, err
		}
		if c.value, err = fn(ctx, c.args); err != nil {
			return nil, err
		}
		return t.wrap(&c.value)
	}
	return t.register()
}

// decode decodes checked arguments into the value at a and runs its rules.
func (t *Tool) decode(ctx context.Context, args []byte, a any) error {
	rules := t.input
	if t.given.ruled != nil {
		rules = t.given.inPlan
	}
	if t.given.verbatim {
		rules = nil
	}
	return decodeArgs(ctx, rules, args, a)
}

// wrap makes a result of a handler's value, given by its address.
func (t *Tool) wrap(v any) (*Result, error) {
	result, err := t.resultOf(v)
	if err != nil {
		return nil, t.srv.unsendable("result of "+t.feature(), err)
	}
	return result, nil
}

func (t *Tool) resultOf(v any) (*Result, error) {
	switch {
	case t.given.write != nil:
		return t.given.write(v)
	case t.shape == shapeJSON && t.given.outPlan != nil:
		return &Result{Structured: v}, nil
	}
	return resultOf(t.shape, v)
}

// newTool starts a tool of r's server.
func newTool(r Registrar, name, desc string) *Tool {
	t := &Tool{definition: r.target().define(kindTool, name)}
	t.desc = desc
	return t
}

// register records t on its server. A tool with problems is recorded too, and
// its chain goes on, so that all of them are found in one run.
func (t *Tool) register() *Tool {
	return t.change(func() { t.reg.addTool(t) })
}

// derive takes the schemas from the Go types.
func (t *Tool) derive() {
	form := schema.Options{Full: t.srv.opts.FullSchemas}
	plan, problems := schema.Input(t.argsType, form)
	t.input = plan
	t.schemaProblems(t.argsType, problems)
	shape, out := shapeOf(t.resultType)
	t.shape = shape
	if out != nil {
		plan, problems = schema.Output(out, form)
		t.output, t.valueType = plan, reflect.PointerTo(out)
		t.outputProblems = problems
	}
}

// change guards every fluent method.
func (t *Tool) change(apply func()) *Tool {
	t.mutate(func() {
		apply()
		t.given.compiled = false
	})
	return t
}

// Title sets the name shown to people.
func (t *Tool) Title(s string) *Tool { return t.change(func() { t.title = s }) }

// Icon adds an icon: an https: or data: URI, or the name of a file in
// ServerOptions.Files. Sizes are such as "48x48" or "any"; that of a PNG file
// is found out.
func (t *Tool) Icon(src string, sizes ...string) *Tool {
	icon := Icon{Src: src, Sizes: slices.Clone(sizes)}
	return t.change(func() { t.icons = append(t.icons, icon) })
}

// Hidden keeps the tool out of tools/list; it can still be called.
func (t *Tool) Hidden() *Tool { return t.change(func() { t.hidden = true }) }

// Disabled makes the tool unknown: neither listed nor callable.
func (t *Tool) Disabled() *Tool { return t.change(func() { t.disabled = true }) }

// Strict refuses argument names that the tool does not have, naming the
// nearest one; by default they are ignored.
func (t *Tool) Strict() *Tool { return t.change(func() { t.strict = true }) }

// Meta adds a key to the tool's _meta. Keys with a prefix that the protocol
// reserves, and malformed ones, are reported by Server.Check, as is a value
// that has no JSON.
func (t *Tool) Meta(key string, v any) *Tool {
	set := t.metaSetter(key, v)
	return t.change(set)
}

// RequireScopes lets only those call the tool whose principal was granted
// all of these OAuth scopes; over HTTP others get 403 with what they lack. It
// is listed nonetheless. Who is on the other end of a pipe, or in the same
// process, needs a principal only if there is one: see WithPrincipal.
func (t *Tool) RequireScopes(scopes ...string) *Tool {
	return t.change(func() { t.require(scopes) })
}

// Use adds middleware around this tool alone. The first added is outermost.
func (t *Tool) Use(mw ...Middleware) *Tool {
	t.reg.use(&t.middlewares, t.feature(), mw)
	return t
}
