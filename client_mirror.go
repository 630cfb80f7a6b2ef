package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// knownTool is what listing a tool taught about calling it.
type knownTool struct {
	bindings header.Bindings // arguments that headers mirror
	output   *outputSchema   // nil: none
}

// maxKnownTools bounds what a server can make the client remember. Tools
// beyond are called as if they had not been listed.
const maxKnownTools = 10_000

// mirrors reports whether headers repeat arguments: over HTTP since revision
// 2026-07-28.
func (c *Client) mirrors() bool {
	_, modern := c.peer.Load().link.(*httpLink)
	return modern
}

// learn takes in a tool that was listed. It reports false for one that must
// not be used because its annotations are invalid (MCP 2026-07-28, Streamable
// HTTP › Schema Extension). Other transports have no headers and keep such
// tools.
func (c *Client) learn(info *ToolInfo) bool {
	if info.Name == "" {
		c.log.Warn("mcp: the server listed a tool without a name; it was left out")
		return false
	}
	var known knownTool
	if c.mirrors() && annotated(info.InputSchema) {
		plan, problems := schema.Raw(info.InputSchema, schema.RawOptions{Object: true, Verbatim: true})
		for _, p := range problems {
			if !p.Warning {
				c.log.Warn("mcp: a tool was left out of the list: its input schema is invalid", "tool", info.Name, "reason", p.Field+" "+p.Reason)
				return false
			}
		}
		known.bindings = plan.Headers()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.tools[info.Name]
	switch {
	case info.OutputSchema == nil:
	case before != nil && before.output != nil && bytes.Equal(before.output.json, info.OutputSchema):
		known.output = before.output
	default:
		known.output = &outputSchema{json: bytes.Clone(info.OutputSchema)}
	}
	switch {
	case known.bindings == nil && known.output == nil:
		delete(c.tools, info.Name)
	case before != nil || len(c.tools) < maxKnownTools:
		if c.tools == nil {
			c.tools = make(map[string]*knownTool)
		}
		c.tools[info.Name] = &known
	}
	return true
}

// annotated reports whether a schema may have the keyword x-mcp-header, which
// can be spelled with escapes.
func annotated(schema json.RawMessage) bool {
	if bytes.IndexByte(schema, '\\') >= 0 {
		var v any
		plain, err := []byte(nil), jsonx.Unmarshal(schema, &v)
		if err == nil {
			plain, err = jsonx.Marshal(&v)
		}
		if err != nil {
			return true // to be refused with the reason
		}
		schema = plain
	}
	return bytes.Contains(schema, []byte("x-mcp-header"))
}

// known returns what was learned about a tool, nil for nothing.
func (c *Client) known(tool string) *knownTool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools[tool]
}

// bindings returns what is known of a tool's mirrored arguments.
func (c *Client) bindings(tool string) header.Bindings {
	if t := c.known(tool); t != nil {
		return t.bindings
	}
	return nil
}

// relearn lists the tools again because the server found the headers of a call
// wrong (MCP 2026-07-28, Streamable HTTP › Client Behavior).
func (c *Client) relearn(ctx context.Context) bool {
	c.cache.drop(jsonrpc.MethodToolsList)
	for _, err := range c.Tools(ctx) {
		if err != nil {
			c.log.Warn("mcp: the server found the headers of a call wrong, and its tools could not be listed anew", "error", err)
			return false
		}
	}
	return true
}

// mirror returns the headers that repeat arguments of a call.
func mirror(tool string, bindings header.Bindings, args []byte) (http.Header, error) {
	if args == nil || bindings == nil {
		return nil, nil
	}
	h := make(http.Header)
	for i := range bindings {
		b := &bindings[i]
		raw, err := jsonx.Find(args, b.Path...)
		if err != nil {
			return nil, fmt.Errorf("arguments for tool %q: %w", tool, err)
		}
		value, send, err := b.Value(raw, jsonx.Unquote)
		if err != nil {
			return nil, fmt.Errorf("arguments for tool %q: %w", tool, err)
		}
		if send {
			h[b.Key] = []string{value}
		}
	}
	return h, nil
}
