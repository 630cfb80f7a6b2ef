package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// promptPlan is a prompt ready to be got.
type promptPlan struct {
	*Prompt
	run Handler // scope and prompt middleware around expand
}

func (p *promptPlan) order() uint64 { return p.seq }

// compilePrompts makes the plans of r's prompts.
func (snap *snapshot) compilePrompts(r *registry, l *listing) {
	l.method, l.member, l.event = jsonrpc.MethodPromptsList, "prompts", promptsChanged
	snap.prompts = make(map[string]*promptPlan, len(r.prompts))
	for _, prompt := range r.prompts {
		if prompt.disabled {
			continue
		}
		p := &promptPlan{Prompt: prompt}
		p.run = chain(p.expand, append(prompt.scope.all(), prompt.middlewares...)...)
		snap.prompts[p.name] = p
		if !p.hidden {
			l.items = append(l.items, p)
		}
		if completes(p.params, p.completers) {
			snap.gates[wire.Completions] = true
		}
	}
	snap.gates[wire.Prompts] = len(snap.prompts) > 0 || snap.srv.opts.Dynamic
}

// getPrompt answers prompts/get.
func (snap *snapshot) getPrompt(ctx context.Context, req *Request) (any, error) {
	name, ok := unquoted(req.msg.Name())
	if !ok {
		return nil, Errorf(CodeInvalidParams, "Invalid params: name must be a string, the name of a prompt")
	}
	p := snap.prompts[name]
	if p == nil || !snap.visible(ctx, p.info) {
		return nil, unknownPrompt(name)
	}
	req.feature.Store(&p.definition)
	if err := req.permit(&p.definition); err != nil {
		return nil, err
	}
	return p.run(ctx, req)
}

func unknownPrompt(name string) error {
	return Errorf(CodeInvalidParams, "Unknown prompt: %.200q", name)
}

// expand checks the arguments and runs the handler: the innermost Handler of
// a prompt.
func (p *promptPlan) expand(ctx context.Context, req *Request) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = p.srv.panicked(p.feature(), v)
		}
	}()
	texts, err := stringMap(req.msg.Arguments(), "arguments")
	if err != nil {
		return nil, err
	}
	values := make(map[string][]string, len(texts))
	for name, text := range texts {
		values[name] = []string{text}
	}
	if err = req.openRound(); err != nil {
		return nil, err
	}
	args, err := checkArgs(p.input, textJSON(p.params, values))
	if err != nil {
		return nil, err
	}
	result, err := p.call(ctx, args)
	return req.closeRound(result, err)
}

// appendMembers appends the members of r, without braces and _meta.
func (r *PromptResult) appendMembers(dst []byte, rev *wire.Revision) ([]byte, error) {
	if r.Description != "" {
		dst = append(jsonx.AppendString(append(dst, `"description":`...), r.Description), ',')
	}
	dst = append(dst, `"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = m.appendJSON(dst, rev); err != nil {
			return dst, fmt.Errorf("message %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

func (m *Message) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	if m.Role != "user" && m.Role != "assistant" {
		return dst, fmt.Errorf(`the role %q is neither "user" nor "assistant"`, m.Role)
	}
	if noBlock(m.Content) {
		return dst, errors.New("the content is nil")
	}
	if r, ok := m.Content.(*EmbeddedResource); ok && r.Resource.MIMEType == "" { // MCP 2026-07-28, Prompts › Embedded Resources
		return dst, errors.New("the MIME type of the embedded resource is missing")
	}
	dst = append(append(append(dst, `{"role":"`...), m.Role...), `","content":`...)
	dst, err := m.Content.appendJSON(dst, rev)
	if err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

// PromptInfo is a prompt as a client sees it in a list.
type PromptInfo struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	Icons       []Icon           `json:"icons,omitempty"`
	Meta        Meta             `json:"_meta,omitempty"`
}

// PromptArgument is an argument of a prompt; its values are strings.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// encode returns the prompt's entry in prompts/list as rev has it.
func (p *promptPlan) encode(rev *wire.Revision) json.RawMessage {
	out := PromptInfo{Name: p.name, Description: p.desc}
	for _, a := range p.params {
		arg := PromptArgument{Name: a.name, Description: a.desc, Required: a.required}
		if rev.Titles {
			arg.Title = a.title
		}
		out.Arguments = append(out.Arguments, arg)
	}
	if rev.Titles {
		out.Title, out.Meta = p.title, p.meta
	}
	if rev.Icons {
		out.Icons = p.listedIcons
	}
	return mustEncode(&out, &p.definition)
}

// mustEncode encodes an entry of a list whose parts have been checked.
func mustEncode(v any, d *definition) json.RawMessage {
	raw, err := jsonx.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mcp: %s: %v", d.feature(), err))
	}
	return raw
}
