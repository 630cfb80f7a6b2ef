package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
	"github.com/typedmcp/mcp/internal/wire"
)

// toolPlan is a tool ready to be called.
type toolPlan struct {
	*Tool
	input   *schema.Plan    // what calls are checked against
	output  *schema.Plan    // what results are checked against; nil: no output schema
	headers header.Bindings // arguments that HTTP headers mirror
	run     Handler         // scope and tool middleware around invoke
}

func (p *toolPlan) order() uint64 { return p.seq }

// compileTools makes the plans of r's tools.
func (snap *snapshot) compileTools(r *registry, l *listing) {
	l.method, l.member, l.event = jsonrpc.MethodToolsList, "tools", toolsChanged
	snap.tools = make(map[string]*toolPlan, len(r.tools))
	for _, t := range r.tools {
		if t.disabled {
			continue
		}
		p := &toolPlan{Tool: t, input: t.given.inPlan, output: t.given.outPlan}
		p.headers = p.input.Headers()
		p.run = chain(p.invoke, append(t.scope.all(), t.middlewares...)...)
		snap.tools[t.name] = p
		if !t.hidden {
			l.items = append(l.items, p)
		}
	}
}

// callTool answers tools/call.
func (snap *snapshot) callTool(ctx context.Context, req *Request) (any, error) {
	p, err := snap.lookup(ctx, req.msg.Name())
	if err != nil {
		return nil, err
	}
	req.tool.Store(p)
	req.feature.Store(&p.definition)
	if err := req.permit(&p.definition); err != nil {
		return nil, err
	}
	if fault := p.checkParams(req); fault != nil {
		return nil, fault
	}
	return p.run(ctx, req)
}

// lookup finds the tool named by the JSON string quoted.
func (snap *snapshot) lookup(ctx context.Context, quoted []byte) (*toolPlan, error) {
	if len(quoted) == 0 || quoted[0] != '"' {
		return nil, Errorf(CodeInvalidParams, "Invalid params: name must be a string, the name of a tool")
	}
	name, _ := jsonx.View(quoted)
	if p := snap.tools[name]; p != nil && snap.visible(ctx, p.info) {
		return p, nil
	}
	return nil, Errorf(CodeInvalidParams, "Unknown tool: %.200q", name)
}

// invoke checks the arguments and runs the handler: the innermost Handler of
// a tool call.
func (p *toolPlan) invoke(ctx context.Context, req *Request) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = p.srv.panicked(p.feature(), v)
		}
	}()
	args := req.msg.Arguments()
	if len(args) == 0 || args[0] == 'n' {
		args = emptyObject
	}
	if args[0] != '{' {
		return nil, Errorf(CodeInvalidParams, "Invalid params: arguments must be a JSON object")
	}
	if err = req.openRound(); err != nil {
		return nil, err
	}
	if limit := p.srv.opts.Limits.RawArgs; len(args) > limit && p.input.Costly() {
		return nil, argsTooLong(len(args), limit)
	}
	if args, err = checkArgs(p.input, args); err != nil {
		return nil, err
	}
	result, err := p.call(ctx, p.Tool, args)
	return req.closeRound(result, err)
}

var emptyObject = []byte("{}")

// encode returns the tool's entry in tools/list as rev has it.
func (p *toolPlan) encode(rev *wire.Revision) json.RawMessage {
	def := ToolDef{Name: p.name, Description: p.desc, InputSchema: p.input.JSON(), Extra: p.extra}
	if p.output != nil && rev.Structured && (rev.AnyStructured || p.output.Object()) {
		def.OutputSchema = p.output.JSON()
	}
	if rev.Titles {
		def.Title, def.Meta = p.title, p.meta
	}
	if rev.Icons {
		def.Icons = p.listedIcons
	} else if _, there := p.extra["execution"]; there {
		def.Extra = maps.Clone(p.extra)
		delete(def.Extra, "execution")
	}
	if rev.Hints && p.hints != (ToolAnnotations{}) {
		def.Annotations = &p.hints
	}
	raw, err := def.MarshalJSON()
	if err != nil { // every part was encoded before
		panic(fmt.Sprintf("mcp: %s: %v", p.feature(), err))
	}
	return raw
}
