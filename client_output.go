package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/typedmcp/mcp/internal/schema"
)

// OutputError says that the structured content of a result breaks the output
// schema that the server gave for the tool (MCP 2026-07-28, Tools › Output
// Schema): the server is at fault. With no Violations there was none.
type OutputError struct {
	Tool       string
	Structured json.RawMessage
	Violations []Violation
}

// Error implements error.
func (e *OutputError) Error() string {
	if len(e.Violations) == 0 {
		return fmt.Sprintf("mcp: the result of tool %q has no structured content, which its output schema promises", e.Tool)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mcp: the result of tool %q breaks the tool's own output schema:", e.Tool)
	for _, v := range e.Violations {
		fmt.Fprintf(&b, "\n- %s", v.Message)
	}
	return b.String()
}

// outputSchema is that of a tool as its server gave it, compiled at the first
// result. Schemas are held to the limits that hold for a server's own; what
// breaks them cannot be checked. No reference is ever fetched.
type outputSchema struct {
	json []byte
	once sync.Once
	plan *schema.Plan // nil: nothing is checked
}

func (s *outputSchema) compile(c *Client, tool string) *schema.Plan {
	s.once.Do(func() {
		plan, problems := schema.Raw(s.json, schema.RawOptions{})
		for _, p := range problems {
			if !p.Warning {
				c.log.Warn("mcp: the results of a tool are not checked: its output schema is invalid", "tool", tool, "reason", p.Field+" "+p.Reason)
				return
			}
		}
		s.plan = plan
	})
	return s.plan
}

// conforms checks the structured content of a result against the tool's
// output schema, if that is known. Failures are not held to it.
func (c *Client) conforms(tool string, structured json.RawMessage, failed bool) error {
	t := c.known(tool)
	if t == nil || t.output == nil || failed {
		return nil
	}
	plan := t.output.compile(c, tool)
	if plan == nil {
		return nil
	}
	if structured == nil {
		return &OutputError{Tool: tool}
	}
	if found := plan.Validate(structured); found != nil {
		return &OutputError{Tool: tool, Structured: structured, Violations: argsError(found).Violations}
	}
	return nil
}
