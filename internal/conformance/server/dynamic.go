package main

import (
	"context"

	"github.com/typedmcp/mcp"
)

// addChanges adds tools that change the lists while the server serves. Each
// change is undone at once, so that other scenarios find the lists as they
// were.
func addChanges(s *mcp.Server) {
	mcp.AddTool(s, "test_trigger_tool_change", "Changes the list of tools", func(context.Context, none) (string, error) {
		err := s.Update(func(u *mcp.Update) error {
			mcp.AddTool(u, "test_temporary_tool", "Is gone again soon", func(context.Context, none) (string, error) { return "", nil })
			return nil
		})
		if err == nil {
			err = s.Update(func(u *mcp.Update) error { return u.RemoveTool("test_temporary_tool") })
		}
		return "The list of tools has changed.", err
	})
	mcp.AddTool(s, "test_trigger_prompt_change", "Changes the list of prompts", func(context.Context, none) (string, error) {
		err := s.Update(func(u *mcp.Update) error {
			mcp.AddPrompt(u, "test_temporary_prompt", "Is gone again soon", func(context.Context, none) (string, error) { return "-", nil })
			return nil
		})
		if err == nil {
			err = s.Update(func(u *mcp.Update) error { return u.RemovePrompt("test_temporary_prompt") })
		}
		return "The list of prompts has changed.", err
	})
}
