package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// Do calls any method, such as one of an extension, and decodes its result
// into R. params is encoded as a JSON object, without _meta, for which there is
// WithMeta; nil sends none. R may be json.RawMessage for the result as it came,
// or struct{} to ignore it.
func Do[R any](ctx context.Context, c *Client, method string, params any, opts ...CallOption) (R, error) {
	var value R
	r, err := c.methodCall(method, params, opts)
	if err != nil {
		return value, fmt.Errorf("mcp: %s: %w", method, err)
	}
	raw, err := c.request(ctx, r)
	if err != nil {
		return value, err
	}
	if err := jsonx.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("mcp: the result of %s does not fit a %T: %w", method, value, err)
	}
	return value, nil
}

// methodCall makes the call of any method.
func (c *Client) methodCall(method string, params any, opts []CallOption) (*call, error) {
	switch method {
	case "":
		return nil, errors.New("the method has no name")
	case jsonrpc.MethodListen:
		return nil, errors.New("use Listen, which passes on what comes before the result")
	}
	r := &call{method: method, options: opts}
	if params == nil {
		return r, nil
	}
	raw, err := jsonx.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("the params: %w", err)
	}
	var members map[string]json.RawMessage
	if err := jsonx.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, errors.New("the params are not a JSON object")
	}
	if _, there := members["_meta"]; there {
		return nil, errors.New("the params have a member _meta; use WithMeta")
	}
	if named := headerMember(method); named != "" {
		r.name, _ = jsonx.View(members[named])
	}
	r.params = func(dst []byte) ([]byte, error) {
		if len(members) == 0 {
			return dst, nil
		}
		return append(append(dst, raw[1:len(raw)-1]...), ','), nil
	}
	if method == jsonrpc.MethodToolsCall && c.mirrors() {
		r.headers = func() (http.Header, error) { return mirror(r.name, c.bindings(r.name), members["arguments"]) }
	}
	return r, nil
}

// headerMember is the member of params that the header Mcp-Name repeats, "" for
// none (MCP 2026-07-28, Streamable HTTP › Standard Request Headers; Tasks ›
// Routing Headers).
func headerMember(method string) string {
	switch method {
	case jsonrpc.MethodToolsCall, jsonrpc.MethodPromptsGet:
		return "name"
	case jsonrpc.MethodResourcesRead:
		return "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		return "taskId"
	}
	return ""
}
