package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func gosdkServer(n int) *gosdk.Server {
	s := gosdk.NewServer(&gosdk.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	gosdkTool(s, "add", addDesc, addSchema, add)
	gosdkTool(s, "search", searchDesc, searchSchema, search)
	for _, t := range records[:n] {
		t.gosdk(s, t.name)
	}
	if n == 0 {
		gosdkTool(s, "echo", echoDesc, echoSchema, echo)
		gosdkTool(s, "sleep", sleepDesc, sleepSchema, sleep)
	}
	return s
}

func gosdkStdio(n int) error {
	return gosdkServer(n).Run(context.Background(), &gosdk.StdioTransport{})
}

func gosdkTool[A, R any](s *gosdk.Server, name, desc, input string, fn func(context.Context, A) (R, error)) {
	tool := &gosdk.Tool{Name: name, Description: desc, InputSchema: json.RawMessage(input)}
	gosdk.AddTool(s, tool, func(ctx context.Context, _ *gosdk.CallToolRequest, args A) (*gosdk.CallToolResult, R, error) {
		r, err := fn(ctx, args)
		return nil, r, err
	})
}

func gosdkHandler(records int, sessions bool) (http.Handler, error) {
	s := gosdkServer(records)
	return gosdk.NewStreamableHTTPHandler(func(*http.Request) *gosdk.Server { return s },
		&gosdk.StreamableHTTPOptions{Stateless: !sessions, JSONResponse: true}), nil
}

func gosdkSession(ctx context.Context) (*session, error) {
	near, far := gosdk.NewInMemoryTransports()
	server, err := gosdkServer(0).Connect(ctx, far, nil)
	if err != nil {
		return nil, err
	}
	c, err := gosdk.NewClient(&gosdk.Implementation{Name: "bench", Version: "1.0.0"}, nil).Connect(ctx, near, nil)
	if err != nil {
		return nil, err
	}
	caller := func(tool string, args any) call {
		var got any
		return call{
			do: func(ctx context.Context) error {
				r, err := c.CallTool(ctx, &gosdk.CallToolParams{Name: tool, Arguments: args})
				if err != nil {
					return err
				}
				got = r.StructuredContent
				return nil
			},
			got: func() any { return got },
		}
	}
	return &session{
		add: caller("add", &addInput), search: caller("search", &searchInput),
		close: func() error { return errors.Join(c.Close(), server.Close()) },
	}, nil
}
