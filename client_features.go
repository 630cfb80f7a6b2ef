package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// entries yields the decoded entries of a list method over all its pages,
// leaving out malformed ones and those that keep refuses: one bad entry must
// not cost the list. An error is yielded once, with a nil entry, and ends the
// sequence.
func entries[T any](ctx context.Context, c *Client, method, member string, opts []CallOption, keep func(*T) bool) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for raw, err := range c.pages(ctx, method, member, opts) {
			if err != nil {
				yield(nil, err)
				return
			}
			entry := new(T)
			if err := jsonx.Unmarshal(raw, entry); err != nil {
				c.log.Warn("mcp: the server listed a malformed entry; it was left out", "method", method, "error", err)
				continue
			}
			dropIcons(entry)
			if keep(entry) && !yield(entry, nil) {
				return
			}
		}
	}
}

func every[T any](*T) bool { return true }

// dropIcons takes the icons of a list's entry away that no client may load.
func dropIcons(entry any) {
	switch e := entry.(type) {
	case *ToolInfo:
		e.Icons = loadable(e.Icons)
	case *PromptInfo:
		e.Icons = loadable(e.Icons)
	case *ResourceInfo:
		e.Icons = loadable(e.Icons)
	case *TemplateInfo:
		e.Icons = loadable(e.Icons)
	}
}

// Prompts lists the server's prompts, as Tools does tools.
func (c *Client) Prompts(ctx context.Context, opts ...CallOption) iter.Seq2[*PromptInfo, error] {
	return entries(ctx, c, jsonrpc.MethodPromptsList, "prompts", opts, every[PromptInfo])
}

// Resources lists the server's resources, as Tools does tools.
func (c *Client) Resources(ctx context.Context, opts ...CallOption) iter.Seq2[*ResourceInfo, error] {
	return entries(ctx, c, jsonrpc.MethodResourcesList, "resources", opts, every[ResourceInfo])
}

// Templates lists the server's resource templates, as Tools does tools.
func (c *Client) Templates(ctx context.Context, opts ...CallOption) iter.Seq2[*TemplateInfo, error] {
	return entries(ctx, c, jsonrpc.MethodTemplatesList, "resourceTemplates", opts, every[TemplateInfo])
}

// GetPrompt expands a prompt. args may be nil.
func (c *Client) GetPrompt(ctx context.Context, name string, args map[string]string, opts ...CallOption) (*PromptResult, error) {
	raw, err := c.request(ctx, &call{method: jsonrpc.MethodPromptsGet, name: name, options: opts, params: func(dst []byte) ([]byte, error) {
		dst = append(jsonx.AppendString(append(dst, `"name":`...), name), ',')
		if args == nil {
			return dst, nil
		}
		dst, err := jsonx.Append(append(dst, `"arguments":`...), &args)
		return append(dst, ','), err
	}})
	if err != nil {
		return nil, err
	}
	var w struct {
		Description string `json:"description"`
		Messages    []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Meta Meta `json:"_meta"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, invalidResponse(jsonrpc.MethodPromptsGet, err)
	}
	result := &PromptResult{Description: w.Description, Meta: w.Meta}
	for i, m := range w.Messages {
		content, err := decodeContent(m.Content)
		if err != nil {
			return nil, invalidResponse(jsonrpc.MethodPromptsGet, fmt.Errorf("message %d: %w", i, err))
		}
		result.Messages = append(result.Messages, Message{Role: m.Role, Content: content})
	}
	return result, nil
}

// ReadResource reads what uri names. If there is nothing, the error, an
// *Error of the server's, matches ErrNotFound.
func (c *Client) ReadResource(ctx context.Context, uri string, opts ...CallOption) (*ReadResult, error) {
	raw, err := c.request(ctx, &call{method: jsonrpc.MethodResourcesRead, name: uri, options: opts, params: readParams(uri)})
	if err != nil {
		return nil, missingResource(uri, err)
	}
	var w struct {
		Contents []wireContents `json:"contents"`
		Meta     Meta           `json:"_meta"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, c.unusable(jsonrpc.MethodResourcesRead, err)
	}
	result := &ReadResult{Meta: w.Meta, Contents: make([]ResourceContents, len(w.Contents))}
	for i, contents := range w.Contents {
		result.Contents[i] = ResourceContents(contents)
	}
	return result, nil
}

// readParams appends the params of a request about a resource.
func readParams(uri string) func(dst []byte) ([]byte, error) {
	return func(dst []byte) ([]byte, error) {
		return append(jsonx.AppendString(append(dst, `"uri":`...), uri), ','), nil
	}
}

// missingResource tells that there is no resource from other refusals: by the
// code of the earlier revisions, and since 2026-07-28 by the URI among the data
// (Resources › Error Handling).
func missingResource(uri string, err error) error {
	e, remote := err.(*Error)
	if !remote {
		return err
	}
	var data struct {
		URI string `json:"uri"`
	}
	if raw, ok := e.Data.(json.RawMessage); ok {
		_ = jsonx.Unmarshal(raw, &data) // data of another shape names no URI
	}
	if e.Code == jsonrpc.CodeResourceNotFound || e.Code == CodeInvalidParams && data.URI == uri {
		return &notFoundError{e}
	}
	return err
}

// notFoundError is an *Error that matches ErrNotFound.
type notFoundError struct{ fault *Error }

func (e *notFoundError) Error() string { return e.fault.Error() }

func (e *notFoundError) Unwrap() error { return e.fault }

// Is implements the method that errors.Is looks for.
func (e *notFoundError) Is(target error) bool { return target == ErrNotFound }

// Ref names what an argument belongs to: PromptRef or TemplateRef makes one.
type Ref struct {
	kind, member, value string
}

// PromptRef refers to the prompt of that name.
func PromptRef(name string) Ref { return Ref{"ref/prompt", "name", name} }

// TemplateRef refers to the resource template with that text.
func TemplateRef(uriTemplate string) Ref { return Ref{"ref/resource", "uri", uriTemplate} }

// Complete asks for values of an argument whose text so far is prefix. args
// holds the arguments that are known already and may be nil.
func (c *Client) Complete(ctx context.Context, ref Ref, arg, prefix string, args map[string]string) (*Completion, error) {
	raw, err := c.request(ctx, &call{method: jsonrpc.MethodComplete, params: func(dst []byte) ([]byte, error) {
		dst = append(jsonx.AppendString(append(dst, `"ref":{"type":`...), ref.kind), ',')
		dst = append(jsonx.AppendString(dst, ref.member), ':')
		dst = append(jsonx.AppendString(dst, ref.value), `},"argument":{"name":`...)
		dst = append(jsonx.AppendString(dst, arg), `,"value":`...)
		dst = append(jsonx.AppendString(dst, prefix), "},"...)
		if args == nil {
			return dst, nil
		}
		dst, err := jsonx.Append(append(dst, `"context":{"arguments":`...), &args)
		return append(dst, "},"...), err
	}})
	if err != nil {
		return nil, err
	}
	var w struct {
		Completion struct {
			Values  []string `json:"values"`
			Total   int      `json:"total"`
			HasMore bool     `json:"hasMore"`
		} `json:"completion"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, invalidResponse(jsonrpc.MethodComplete, err)
	}
	return &Completion{Values: w.Completion.Values, Total: w.Completion.Total, HasMore: w.Completion.HasMore}, nil
}
