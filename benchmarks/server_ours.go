package main

import (
	"context"
	"net/http"

	"github.com/typedmcp/mcp"
)

func ourServer(n int) *mcp.Server {
	s := mcp.NewServer("bench", "1.0.0", nil)
	mcp.AddTool(s, "add", addDesc, add)
	mcp.AddTool(s, "search", searchDesc, search)
	for _, t := range records[:n] {
		t.ours(s, t.name)
	}
	if n == 0 {
		mcp.AddTool(s, "echo", echoDesc, echo)
		mcp.AddTool(s, "sleep", sleepDesc, sleep)
	}
	return s
}

func ourStdio(n int) error { return ourServer(n).ServeStdio(context.Background()) }

func ourHandler(records int, _ bool) (http.Handler, error) {
	return ourServer(records).HTTPHandler(nil)
}

func ourSession(ctx context.Context) (*session, error) {
	c, err := mcp.Dial(ctx, mcp.InMemory(ourServer(0)), &mcp.ClientOptions{Name: "bench", Version: "1.0.0"})
	if err != nil {
		return nil, err
	}
	var gotSum addResult
	var gotFound searchResult
	return &session{
		add: call{
			do: func(ctx context.Context) (err error) {
				gotSum, err = mcp.Call[addResult](ctx, c, "add", &addInput)
				return err
			},
			got: func() any { return gotSum },
		},
		search: call{
			do: func(ctx context.Context) (err error) {
				gotFound, err = mcp.Call[searchResult](ctx, c, "search", &searchInput)
				return err
			},
			got: func() any { return gotFound },
		},
		close: c.Close,
	}, nil
}
