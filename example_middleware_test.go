package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/typedmcp/mcp"
)

// A server's middleware sees every request. It may look at what goes in and
// what comes out, and answer in the place of the handler.
func ExampleServer_Use() {
	s := mcp.NewServer("guarded", "1.0.0", nil)
	s.Use(func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, r *mcp.Request) (any, error) {
			v, err := next(ctx, r)
			if r.Method() == "tools/call" {
				fmt.Printf("%s: %T %v\n", r.Info().Name, v, err)
			}
			return v, err
		}
	}, func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, r *mcp.Request) (any, error) {
			if r.Info().Name == "drop" {
				return nil, mcp.ToolErrorf("the database is read-only today")
			}
			return next(ctx, r)
		}
	})
	for _, name := range []string{"drop", "read"} {
		mcp.AddTool(s, name, "", func(context.Context, struct{}) (string, error) { return "did it", nil })
	}
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, name := range []string{"drop", "read"} {
		if _, err := c.CallTool(ctx, name, nil); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// drop: <nil> the database is read-only today
	// read: *mcp.Result <nil>
}

// A tool's middleware is around that tool alone. It finds refused arguments
// as an *ArgsError.
func ExampleTool_Use() {
	type Args struct {
		Amount int `json:"amount" jsonschema:"minimum=1"`
	}
	s := mcp.NewServer("bank", "1.0.0", nil)
	mcp.AddTool(s, "pay", "Pay", func(context.Context, Args) (string, error) { return "paid", nil }).
		Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				v, err := next(ctx, r)
				var refused *mcp.ArgsError
				if errors.As(err, &refused) {
					fmt.Println("refused:", refused.Violations[0].Path, refused.Violations[0].Rule)
				}
				return v, err
			}
		})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = mcp.Call[string](ctx, c, "pay", Args{Amount: -5})
	fmt.Println(err)
	// Output:
	// refused: /amount minimum
	// Invalid arguments:
	// - amount must be at least 1, got -5
}

// A scope gives its tools a common prefix and common middleware.
func ExampleServer_Scope() {
	s := mcp.NewServer("office", "1.0.0", nil)
	mail := s.Scope("mail")
	mail.Use(func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, r *mcp.Request) (any, error) {
			fmt.Println("mail:", r.Info().Name)
			return next(ctx, r)
		}
	})
	done := func(context.Context, struct{}) (string, error) { return "done", nil }
	mcp.AddTool(mail, "send", "Send", done)
	mcp.AddTool(mail.Scope("draft"), "save", "Save", done)
	mcp.AddTool(s, "print", "Print", done)
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		if _, err := c.CallTool(ctx, tool.Name, nil); err != nil {
			log.Fatal(err)
		}
		fmt.Println("called", tool.Name)
	}
	// Output:
	// mail: mail_send
	// called mail_send
	// mail: mail_draft_save
	// called mail_draft_save
	// called print
}
