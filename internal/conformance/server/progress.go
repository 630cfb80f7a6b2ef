package main

import (
	"context"
	"time"

	"github.com/typedmcp/mcp"
)

// addProgress adds the tool that reports how far it is.
func addProgress(s *mcp.Server) {
	mcp.AddTool(s, "test_tool_with_progress", "Reports progress in three steps", toolWithProgress)
}

func toolWithProgress(ctx context.Context, _ none) (string, error) {
	mcp.Progress(ctx, 0, 100, "Begun")
	if err := pause(ctx); err != nil {
		return "", err
	}
	mcp.Progress(ctx, 50, 100, "Half done")
	if err := pause(ctx); err != nil {
		return "", err
	}
	mcp.Progress(ctx, 100, 100, "Done")
	return "Reported progress three times.", nil
}

// pause takes the 50 milliseconds that scenarios expect between two
// notifications.
func pause(ctx context.Context) error {
	select {
	case <-time.After(50 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
