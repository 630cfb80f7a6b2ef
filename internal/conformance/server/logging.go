package main

import (
	"context"
	"time"

	"github.com/typedmcp/mcp"
)

// addLogging adds tools that log to the client.
func addLogging(s *mcp.Server) {
	mcp.AddTool(s, "test_logging_tool", "Logs, if the client wants logs", func(ctx context.Context, _ none) (string, error) {
		mcp.Logger(ctx).Info("A log message.")
		return "Logged.", nil
	})
	mcp.AddTool(s, "test_tool_with_logging", "Logs three times while it runs", func(ctx context.Context, _ none) (string, error) {
		for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if i > 0 {
				time.Sleep(50 * time.Millisecond)
			}
			mcp.Logger(ctx).Info(text)
		}
		return "Logged three times.", nil
	})
}
