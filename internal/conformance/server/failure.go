package main

import (
	"context"

	"github.com/typedmcp/mcp"
)

// addFailures adds the tools that fail.
func addFailures(s *mcp.Server) {
	mcp.AddTool(s, "test_error_handling", "Always fails, and tells the model why", errorHandling)
	mcp.AddTool(s, "test_missing_capability", "Fails the request when the client cannot call a model", missingCapability)
}

func errorHandling(context.Context, none) (string, error) {
	return "", mcp.ToolErrorf("This tool always fails.")
}

func missingCapability(ctx context.Context, _ none) (string, error) {
	if mcp.RequestFrom(ctx).Capabilities().Sampling == nil {
		return "", &mcp.Error{
			Code:    mcp.CodeMissingCapability,
			Message: "Missing required client capability: sampling",
			Data: map[string]mcp.ClientCapabilities{
				"requiredCapabilities": {Sampling: &mcp.SamplingCapability{}},
			},
		}
	}
	return "The client can call a model.", nil
}
