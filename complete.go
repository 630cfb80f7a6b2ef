package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// CompleteFunc suggests values for an argument whose text so far is prefix, the
// best first. args holds the arguments that are known already; like prefix,
// they are whatever somebody typed, unchecked. It runs at every key stroke, in
// several goroutines at once. Suggest nothing that the caller may not know, and
// limit who asks too often (MCP 2026-07-28, Completion › Security).
type CompleteFunc func(ctx context.Context, prefix string, args map[string]string) ([]string, error)

// Completion is the answer to completion/complete: suggested values, of which
// the first 100 are sent. Total is how many there are in all, 0 when not known;
// HasMore says that there are more than those.
type Completion struct {
	Values  []string
	Total   int
	HasMore bool
}

// maxCompletions is how many values one answer may have (MCP 2026-07-28,
// Completion › Completion Results).
const maxCompletions = 100

// addCompleter records fn for the named parameter.
func (d *definition) addCompleter(at *map[string]CompleteFunc, params []textParam, name string, fn CompleteFunc) {
	switch {
	case fn == nil:
		d.problem("", fmt.Errorf("the completion of %q is nil", name))
	case params == nil && d.problems != nil: // the arguments are not known
	case !slices.ContainsFunc(params, func(p textParam) bool { return p.name == name }):
		d.problem("", fmt.Errorf("there is no argument %q to complete", name))
	case (*at)[name] != nil:
		d.problem("", fmt.Errorf("the argument %q has two completions", name))
	default:
		if *at == nil {
			*at = make(map[string]CompleteFunc)
		}
		(*at)[name] = fn
	}
}

// completes reports whether any parameter has suggestions.
func completes(params []textParam, completers map[string]CompleteFunc) bool {
	return len(completers) > 0 || slices.ContainsFunc(params, func(p textParam) bool { return p.enum != nil })
}

// completeParams are the params of completion/complete.
type completeParams struct {
	Ref struct {
		Type string `json:"type"`
		Name string `json:"name"`
		URI  string `json:"uri"`
	} `json:"ref"`
	Argument *struct {
		Name  string  `json:"name"`
		Value *string `json:"value"`
	} `json:"argument"`
	Context struct {
		Arguments json.RawMessage `json:"arguments"`
	} `json:"context"`
}

// complete answers completion/complete.
func (snap *snapshot) complete(ctx context.Context, req *Request) (any, error) {
	var p completeParams
	if raw := req.msg.Params(); raw == nil || jsonx.Unmarshal(raw, &p) != nil || p.Argument == nil || p.Argument.Name == "" || p.Argument.Value == nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: ref (an object) and argument (an object with the strings name and value) are needed")
	}
	known, err := stringMap(p.Context.Arguments, "context.arguments")
	if err != nil {
		return nil, err
	}
	c, err := snap.completable(ctx, req, &p)
	if err != nil {
		return nil, err
	}
	req.feature.Store(c.definition)
	if err := req.permit(c.definition); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(c.params, func(t textParam) bool { return t.name == p.Argument.Name })
	if i < 0 {
		return nil, Errorf(CodeInvalidParams, "Invalid params: there is no argument %.200q to complete", p.Argument.Name)
	}
	if fn := c.completers[p.Argument.Name]; fn != nil {
		return req.suggest(ctx, fn, *p.Argument.Value, known)
	}
	return &Completion{Values: c.params[i].options(*p.Argument.Value)}, nil
}

// suggest runs a completion.
func (r *Request) suggest(ctx context.Context, fn CompleteFunc, prefix string, known map[string]string) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = r.srv.panicked("completion of "+r.what(), v)
		}
	}()
	values, err := fn(ctx, prefix, known)
	if err != nil {
		return nil, err
	}
	return &Completion{Values: values}, nil
}

// options are the values of an enumeration that begin with prefix, in whatever
// case.
func (p *textParam) options(prefix string) []string {
	var values []string
	for _, v := range p.enum {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(prefix)) {
			values = append(values, v)
		}
	}
	return values
}

// completed is what has arguments to complete.
type completed struct {
	*definition
	params     []textParam // none for a single resource and for files
	completers map[string]CompleteFunc
}

// completable finds what is to be completed.
func (snap *snapshot) completable(ctx context.Context, req *Request, p *completeParams) (completed, error) {
	switch p.Ref.Type {
	case "ref/prompt":
		if prompt := snap.prompts[p.Ref.Name]; prompt != nil && snap.visible(ctx, prompt.info) {
			return completed{&prompt.definition, prompt.params, prompt.completers}, nil
		}
		return completed{}, unknownPrompt(p.Ref.Name)
	case "ref/resource":
		i := slices.IndexFunc(snap.templates, func(r *resourcePlan) bool {
			return r.uri == p.Ref.URI && snap.visible(ctx, r.info)
		})
		r := snap.resourceAt(ctx, p.Ref.URI)
		if i >= 0 {
			r = snap.templates[i]
		}
		if r == nil {
			return completed{}, notFound(p.Ref.URI, req.rev)
		}
		return completed{&r.definition, r.params, r.completers}, nil
	}
	return completed{}, Errorf(CodeInvalidParams, `Invalid params: ref.type must be "ref/prompt" or "ref/resource"`)
}

// appendMembers appends the members of a completion's result.
func (c *Completion) appendMembers(dst []byte) ([]byte, error) {
	out := struct {
		Values  []string `json:"values"`
		Total   int      `json:"total,omitempty"`
		HasMore bool     `json:"hasMore,omitempty"`
	}{c.Values, c.Total, c.HasMore}
	if len(c.Values) > maxCompletions {
		out.Values, out.Total, out.HasMore = c.Values[:maxCompletions], max(c.Total, len(c.Values)), true
	}
	return jsonx.Append(append(dst, `"completion":`...), &out)
}
