package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/typedmcp/mcp/internal/schema"
)

// Prompt is the handle of a registered prompt; see Tool for what its methods
// have in common.
type Prompt struct {
	definition
	params     []textParam
	input      *schema.Plan
	completers map[string]CompleteFunc
	call       func(ctx context.Context, args []byte) (*PromptResult, error)
}

// PromptResult is what a prompt expands to. Description may be empty.
type PromptResult struct {
	Description string
	Messages    []Message
	Meta        Meta // nil: none
}

// Message is one turn of a conversation. Role is "user" or "assistant".
type Message struct {
	Role    string
	Content Content
}

// User returns a message of the user's.
func User(text string) Message { return Message{Role: "user", Content: Text(text)} }

// Assistant returns a message of the model's.
func Assistant(text string) Message { return Message{Role: "assistant", Content: Text(text)} }

// AddPrompt registers a prompt. Its arguments are the fields of A, a struct;
// they are text on the wire and parsed into numbers, booleans and types with
// UnmarshalText. R is a string (one message of the user's), a Message, a
// []Message or a *PromptResult. An error of fn fails the request. fn runs in
// several goroutines at once.
//
// Arguments that A does not have are refused, and an empty text for a number or
// boolean is none. What users type ends up in front of a model: do not let it
// choose what it must not reach (MCP 2026-07-28, Prompts › Security).
func AddPrompt[A, R any](r Registrar, name, desc string, fn func(ctx context.Context, args A) (R, error)) *Prompt {
	p := &Prompt{definition: r.target().define(kindPrompt, name)}
	p.desc = desc
	p.derive(reflect.TypeFor[A]())
	shape, ok := promptShapes[reflect.TypeFor[R]()]
	if !ok {
		p.problem("", fmt.Errorf("the result %v is none of string, Message, []Message and *PromptResult", reflect.TypeFor[R]()))
	}
	if fn == nil {
		p.problem("", errors.New("the handler is nil"))
	}
	input := p.input
	p.call = func(ctx context.Context, args []byte) (*PromptResult, error) {
		a := new(A)
		if err := decodeArgs(ctx, input, args, a); err != nil {
			return nil, err
		}
		v, err := fn(ctx, *a)
		if err != nil {
			return nil, err
		}
		result, err := shape(v)
		if err != nil {
			return nil, p.srv.unsendable("result of "+p.feature(), err)
		}
		return result, nil
	}
	p.mutate(func() { p.reg.addPrompt(p) })
	return p
}

// promptShapes make a result of what a prompt's handler returns, by type.
var promptShapes = map[reflect.Type]func(any) (*PromptResult, error){
	reflect.TypeFor[string](): func(v any) (*PromptResult, error) {
		return &PromptResult{Messages: []Message{User(v.(string))}}, nil
	},
	reflect.TypeFor[Message](): func(v any) (*PromptResult, error) {
		return &PromptResult{Messages: []Message{v.(Message)}}, nil
	},
	reflect.TypeFor[[]Message](): func(v any) (*PromptResult, error) {
		return &PromptResult{Messages: v.([]Message)}, nil
	},
	reflect.TypeFor[*PromptResult](): func(v any) (*PromptResult, error) {
		r := v.(*PromptResult)
		if r == nil {
			return nil, errNilResult
		}
		return r, nil
	},
}

// derive takes the arguments from the Go type.
func (p *Prompt) derive(typ reflect.Type) {
	plan, params := p.deriveText(typ, false)
	if plan == nil {
		return
	}
	p.input = plan.Strict() // a misspelt argument would silently change the prompt
	p.params = params
}

// check adds what only the finished definition shows.
func (p *Prompt) check() (problems, warnings []*RegistrationError) {
	problems = slices.Concat(p.problems, p.resolveIcons())
	warnings = slices.Clone(p.warnings)
	p.checkNamed(&problems, &warnings)
	return problems, warnings
}

// change guards every fluent method.
func (p *Prompt) change(apply func()) *Prompt {
	p.mutate(apply)
	return p
}

// Title sets the name shown to people.
func (p *Prompt) Title(s string) *Prompt { return p.change(func() { p.title = s }) }

// Icon adds an icon, as Tool.Icon does.
func (p *Prompt) Icon(src string, sizes ...string) *Prompt {
	icon := Icon{Src: src, Sizes: slices.Clone(sizes)}
	return p.change(func() { p.icons = append(p.icons, icon) })
}

// Category groups prompts, as Tool.Category does.
func (p *Prompt) Category(name string) *Prompt { return p.change(func() { p.setCategory(name) }) }

// Tags says in one string what the other methods say: the keys title, icon,
// category, disabled and hidden, and others that are kept in Info.Tags. See
// Tool.Tags.
func (p *Prompt) Tags(s string) *Prompt {
	return p.change(func() { p.applyTags(s, p.tagText, p.tagFlag) })
}

// Hidden keeps the prompt out of prompts/list; it can still be got.
func (p *Prompt) Hidden() *Prompt { return p.change(func() { p.hidden = true }) }

// Disabled makes the prompt unknown.
func (p *Prompt) Disabled() *Prompt { return p.change(func() { p.disabled = true }) }

// Complete suggests values of an argument. Those of an enumeration are
// suggested without it.
func (p *Prompt) Complete(arg string, fn CompleteFunc) *Prompt {
	return p.change(func() {
		p.addCompleter(&p.completers, p.params, arg, fn)
	})
}

// Meta adds a key to the prompt's _meta, as Tool.Meta does.
func (p *Prompt) Meta(key string, v any) *Prompt { return p.change(p.metaSetter(key, v)) }

// RequireScopes lets only those get or complete the prompt whose principal was granted
// all of these OAuth scopes; over HTTP others get 403 with what they lack. It
// is listed nonetheless. Who is on the other end of a pipe, or in the same
// process, needs a principal only if there is one: see WithPrincipal.
func (p *Prompt) RequireScopes(scopes ...string) *Prompt {
	return p.change(func() { p.require(scopes) })
}

// Use adds middleware around this prompt alone. The first added is outermost.
func (p *Prompt) Use(mw ...Middleware) *Prompt {
	p.reg.use(&p.middlewares, p.feature(), mw)
	return p
}
