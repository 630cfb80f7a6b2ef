// Mcpgo is a server on mcp-go: on standard input and output, or with an
// address as its argument over HTTP there.
package main

import (
	"context"
	"log"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type addArgs struct {
	A int `json:"a"`
	B int `json:"b"`
}

type addResult struct {
	Sum int `json:"sum"`
}

func newServer() *server.MCPServer {
	s := server.NewMCPServer("mcpgo", "1.0.0")
	s.AddTool(mcp.NewTool("add", mcp.WithDescription("Add two integers"), mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required()), mcp.WithOutputSchema[addResult]()),
		mcp.NewStructuredToolHandler(func(_ context.Context, _ mcp.CallToolRequest, a addArgs) (addResult, error) {
			return addResult{a.A + a.B}, nil
		}))
	s.AddTool(mcp.NewTool("fail", mcp.WithDescription("Fail")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("no luck"), nil
	})
	s.AddResource(mcp.NewResource("test://note", "note", mcp.WithMIMEType("text/plain")), func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, Text: "a note"}}, nil
	})
	s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("name", mcp.RequiredArgument())), func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text := mcp.NewTextContent("Greet " + r.Params.Arguments["name"])
		return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, text)}), nil
	})
	return s
}

func main() {
	s := newServer()
	if len(os.Args) == 1 {
		log.Fatal(server.ServeStdio(s))
	}
	log.Fatal(server.NewStreamableHTTPServer(s, server.WithEndpointPath("/")).Start(os.Args[1]))
}
