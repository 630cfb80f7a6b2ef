package main

import (
	"context"
	"fmt"

	"github.com/typedmcp/mcp"
)

// scenarios are those of the suite without authorization: what each has a
// client do, once it is connected.
var scenarios = map[string]func(context.Context, *mcp.Client, given) error{
	"initialize":                          listTools,
	"request-metadata":                    listTools,
	"json-schema-ref-no-deref":            listTools,
	"tools_call":                          calling("add_numbers", map[string]any{"a": 5, "b": 3}),
	"elicitation-sep1034-client-defaults": calling("test_client_elicitation_defaults", nil),
	"sse-retry":                           calling("test_reconnection", nil),
	"http-standard-headers":               visitAll,
	"http-custom-headers":                 mirrorArguments,
	"http-invalid-tool-headers":           callAll,
	"sep-2322-client-request-state":       goRounds,
	"json-schema-2020-12-preservation":    echoSchema,
}

// tools lists the tools by name.
func tools(ctx context.Context, c *mcp.Client) (map[string]*mcp.ToolInfo, error) {
	found := make(map[string]*mcp.ToolInfo)
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			return nil, err
		}
		found[tool.Name] = tool
	}
	return found, nil
}

func listTools(ctx context.Context, c *mcp.Client, _ given) error {
	_, err := tools(ctx, c)
	return err
}

// call calls a tool, which must succeed.
func call(ctx context.Context, c *mcp.Client, name string, args any) error {
	result, err := c.CallTool(ctx, name, args)
	switch {
	case err != nil:
		return fmt.Errorf("tool %q: %w", name, err)
	case result.IsError:
		return fmt.Errorf("tool %q failed", name)
	}
	return nil
}

// calling lists the tools and calls one of them.
func calling(name string, args any) func(context.Context, *mcp.Client, given) error {
	return func(ctx context.Context, c *mcp.Client, with given) error {
		if err := listTools(ctx, c, with); err != nil {
			return err
		}
		return call(ctx, c, name, args)
	}
}

// callAll calls every tool that the client offers.
func callAll(ctx context.Context, c *mcp.Client, _ given) error {
	found, err := tools(ctx, c)
	if err != nil {
		return err
	}
	for name := range found {
		if err := call(ctx, c, name, map[string]any{"region": "us-west1"}); err != nil {
			return err
		}
	}
	return nil
}

// visitAll makes one request of every kind.
func visitAll(ctx context.Context, c *mcp.Client, _ given) error {
	found, err := tools(ctx, c)
	if err != nil {
		return err
	}
	for name := range found {
		if err := call(ctx, c, name, struct{}{}); err != nil {
			return err
		}
		break
	}
	for resource, err := range c.Resources(ctx) {
		if err != nil {
			return err
		}
		if _, err := c.ReadResource(ctx, resource.URI); err != nil {
			return err
		}
	}
	for prompt, err := range c.Prompts(ctx) {
		if err != nil {
			return err
		}
		if _, err := c.GetPrompt(ctx, prompt.Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// mirrorArguments makes the calls that the suite wants, whose arguments
// headers repeat.
func mirrorArguments(ctx context.Context, c *mcp.Client, with given) error {
	if err := listTools(ctx, c, with); err != nil {
		return err
	}
	for _, w := range with.Calls {
		if err := call(ctx, c, w.Name, w.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// goRounds calls tools that ask back, and one that must not notice.
func goRounds(ctx context.Context, c *mcp.Client, with given) error {
	if err := listTools(ctx, c, with); err != nil {
		return err
	}
	for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"} {
		if err := call(ctx, c, name, struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// echoSchema sends the schema of a tool back as it came.
func echoSchema(ctx context.Context, c *mcp.Client, _ given) error {
	found, err := tools(ctx, c)
	if err != nil {
		return err
	}
	tool := found["json_schema_2020_12_tool"]
	if tool == nil {
		return fmt.Errorf("the server does not list json_schema_2020_12_tool")
	}
	return call(ctx, c, "json_schema_echo", map[string]any{"schema": tool.InputSchema})
}
