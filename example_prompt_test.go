package mcp_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/typedmcp/mcp"
)

// The arguments of a prompt are the fields of a struct, parsed from text and
// checked before the function runs.
func ExampleAddPrompt() {
	type args struct {
		Code  string `json:"code" jsonschema_description:"What to review"`
		Depth int    `json:"depth,omitempty" jsonschema:"minimum=1,maximum=3,default=1"`
	}
	s := mcp.NewServer("reviewer", "1.0.0", nil)
	mcp.AddPrompt(s, "review", "Review some code", func(_ context.Context, a args) ([]mcp.Message, error) {
		return []mcp.Message{
			mcp.User(fmt.Sprintf("Review this %d times over: %s", a.Depth, a.Code)),
			mcp.Assistant("I begin with the names."),
		}, nil
	}).Title("Review code")

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, args := range []map[string]string{{"code": "x := 1", "depth": "2"}, {"depth": "deep"}} {
		r, err := c.GetPrompt(ctx, "review", args)
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, m := range r.Messages {
			fmt.Printf("%s: %s\n", m.Role, m.Content.(*mcp.TextContent).Text)
		}
	}
	// Output:
	// user: Review this 2 times over: x := 1
	// assistant: I begin with the names.
	// Invalid arguments:
	// - depth must be an integer, got the string "deep"
	// - code is required, but missing: it must be a string (code -32602)
}

// Values are suggested by a function, and those of an enumeration by
// themselves.
func ExamplePrompt_Complete() {
	type args struct {
		City  string `json:"city"`
		Style string `json:"style,omitempty" jsonschema:"enum=formal,enum=friendly,enum=funny"`
	}
	cities := []string{"Lagos", "Lima", "Lisbon", "London"}
	s := mcp.NewServer("travel", "1.0.0", nil)
	mcp.AddPrompt(s, "plan", "Plan a trip", func(_ context.Context, a args) (string, error) {
		return "Plan a trip to " + a.City, nil
	}).Complete("city", func(_ context.Context, prefix string, args map[string]string) ([]string, error) {
		var found []string
		for _, city := range cities {
			if strings.HasPrefix(strings.ToLower(city), strings.ToLower(prefix)) {
				found = append(found, city)
			}
		}
		return found, nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for arg, prefix := range map[string]string{"city": "li", "style": "f"} {
		r, err := c.Complete(ctx, mcp.PromptRef("plan"), arg, prefix, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(arg, r.Values)
	}
	// Unordered output:
	// city [Lima Lisbon]
	// style [formal friendly funny]
}
