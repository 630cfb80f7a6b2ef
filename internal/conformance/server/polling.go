package main

import (
	"context"
	"time"

	"github.com/typedmcp/mcp"
)

// maxStream is when streams are closed early, for clients to come back.
const maxStream = time.Second

// addPolling adds a tool that is not ready when its stream is closed.
func addPolling(s *mcp.Server) {
	mcp.AddTool(s, "test_reconnection", "Answers after its stream has been closed", func(ctx context.Context, _ none) (string, error) {
		select {
		case <-time.After(maxStream + maxStream/2):
			return "Reconnected.", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
}
