package mcp

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// bind learns which arguments of a tool headers mirror. It reports false for a
// tool that must not be used because its annotations are invalid (MCP
// 2026-07-28, Streamable HTTP › Schema Extension). Other transports have no
// headers and keep such tools.
func (c *Client) bind(info *ToolInfo) bool {
	if info.Name == "" {
		c.log.Warn("mcp: the server listed a tool without a name; it was left out")
		return false
	}
	if _, overHTTP := c.link.(*httpLink); !overHTTP {
		return true
	}
	var found header.Bindings
	if bytes.Contains(info.InputSchema, []byte(`x-mcp-header`)) {
		plan, problems := schema.Raw(info.InputSchema, schema.RawOptions{Object: true, Verbatim: true})
		for _, p := range problems {
			if !p.Warning {
				c.log.Warn("mcp: a tool was left out of the list: its input schema is invalid", "tool", info.Name, "reason", p.Field+" "+p.Reason)
				return false
			}
		}
		found = plan.Headers()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mirrors == nil {
		c.mirrors = make(map[string]header.Bindings)
	}
	if found == nil {
		delete(c.mirrors, info.Name)
	} else {
		c.mirrors[info.Name] = found
	}
	return true
}

// bindings returns what is known of a tool's mirrored arguments.
func (c *Client) bindings(tool string) header.Bindings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mirrors[tool]
}

// mirror returns the headers that repeat arguments of a call.
func mirror(tool string, bindings header.Bindings, args []byte) (http.Header, error) {
	if args == nil {
		return nil, nil
	}
	h := make(http.Header)
	for i := range bindings {
		b := &bindings[i]
		raw, err := jsonx.Find(args, b.Path...)
		if err != nil {
			return nil, fmt.Errorf("mcp: arguments for tool %q: %w", tool, err)
		}
		value, send, err := b.Value(raw, jsonx.Unquote)
		if err != nil {
			return nil, fmt.Errorf("mcp: arguments for tool %q: %w", tool, err)
		}
		if send {
			h[b.Key] = []string{value}
		}
	}
	return h, nil
}
