package mcp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/typedmcp/mcp"
)

// Stay is an arguments type with a rule across its fields.
type Stay struct {
	From int `json:"from" jsonschema:"minimum=1"`
	To   int `json:"to" jsonschema:"minimum=1"`
}

// Validate runs after the schema, before the handler.
func (s Stay) Validate(context.Context) error {
	if s.To < s.From {
		return &mcp.ArgsError{Violations: []mcp.Violation{{
			Path: "/to", Rule: "order", Message: fmt.Sprintf("to must not be before from, which is %d", s.From),
		}}}
	}
	return nil
}

// Rules that a schema cannot say are methods of the arguments type.
func ExampleValidator() {
	s := mcp.NewServer("hotel", "1.0.0", nil)
	mcp.AddTool(s, "book", "Book nights", func(_ context.Context, a Stay) (string, error) {
		return fmt.Sprintf("%d nights", a.To-a.From), nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "book", Stay{From: 3, To: 5}))
	_, err = mcp.Call[string](ctx, c, "book", Stay{From: 5, To: 3})
	fmt.Println(err)
	// Output:
	// 2 nights <nil>
	// Invalid arguments:
	// - to must not be before from, which is 5
}
