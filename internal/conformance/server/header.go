package main

import (
	"context"

	"github.com/typedmcp/mcp"
)

// addHeaders adds a tool with an argument that an HTTP header mirrors:
// Mcp-Param-Region.
func addHeaders(s *mcp.Server) {
	mcp.AddTool(s, "test_custom_header", "Returns the region that a header routes by", customHeader)
}

type regionArgs struct {
	Region string `json:"region" jsonschema_description:"Where to run" mcp:"header=Region"`
}

func customHeader(_ context.Context, a regionArgs) (string, error) {
	return "Region: " + a.Region, nil
}
