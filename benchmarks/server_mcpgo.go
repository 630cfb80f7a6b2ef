package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/mark3labs/mcp-go/client"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func mcpgoServer(n int) *server.MCPServer {
	s := server.NewMCPServer("bench", "1.0.0", server.WithInputSchemaValidation(), server.WithOutputSchemaValidation())
	mcpgoTool(s, "add", addDesc, addSchema, add)
	mcpgoTool(s, "search", searchDesc, searchSchema, search)
	for _, t := range records[:n] {
		t.mcpgo(s, t.name)
	}
	if n == 0 {
		mcpgoTool(s, "echo", echoDesc, echoSchema, echo)
		mcpgoTool(s, "sleep", sleepDesc, sleepSchema, sleep)
	}
	return s
}

func mcpgoStdio(n int) error { return server.ServeStdio(mcpgoServer(n)) }

func mcpgoTool[A, R any](s *server.MCPServer, name, desc, input string, fn func(context.Context, A) (R, error)) {
	tool := mcpgo.NewToolWithRawSchema(name, desc, json.RawMessage(input))
	mcpgo.WithOutputSchema[R]()(&tool)
	s.AddTool(tool, mcpgo.NewStructuredToolHandler(func(ctx context.Context, _ mcpgo.CallToolRequest, args A) (R, error) {
		return fn(ctx, args)
	}))
}

func mcpgoHandler(records int, sessions bool) (http.Handler, error) {
	return server.NewStreamableHTTPServer(mcpgoServer(records), server.WithStateLess(!sessions)), nil
}

func mcpgoSession(ctx context.Context) (*session, error) {
	c, err := client.NewInProcessClient(mcpgoServer(0))
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	hello := mcpgo.InitializeRequest{}
	hello.Params.ProtocolVersion = mcpgo.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcpgo.Implementation{Name: "bench", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, err
	}
	caller := func(tool string, args any) call {
		var got any
		return call{
			do: func(ctx context.Context) error {
				var req mcpgo.CallToolRequest
				req.Params.Name, req.Params.Arguments = tool, args
				r, err := c.CallTool(ctx, req)
				if err != nil {
					return err
				}
				got = r.StructuredContent
				return nil
			},
			got: func() any { return got },
		}
	}
	return &session{add: caller("add", &addInput), search: caller("search", &searchInput), close: c.Close}, nil
}
