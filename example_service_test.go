package mcp_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/typedmcp/mcp"
)

// Notes is a service: its marker fields name the methods that are tools.
type Notes struct {
	_ mcp.ScopeTag `scope:"notes"`
	_ mcp.ToolTag  `method:"Add" name:"add" desc:"Add a note" params:"text=What to remember"`
	_ mcp.ToolTag  `method:"All" name:"all" desc:"All notes" tags:"readonly"`

	texts []string
}

// Add is the tool notes_add.
func (n *Notes) Add(text string) { n.texts = append(n.texts, text) }

// All is the tool notes_all.
func (n *Notes) All() string { return strings.Join(n.texts, ", ") }

// The methods of a service are registered together, or none of them is.
func ExampleAddService() {
	s := mcp.NewServer("notebook", "1.0.0", nil)
	mcp.AddService(s, &Notes{})
	mcp.AddMethod(s, &Notes{texts: []string{"an old one"}}, "All", "archive", "All old notes")
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, text := range []string{"milk", "bread"} {
		if _, err := c.CallTool(ctx, "notes_add", map[string]string{"text": text}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(mcp.Call[string](ctx, c, "notes_all", nil))
	fmt.Println(mcp.Call[string](ctx, c, "archive", nil))
	// Output:
	// milk, bread <nil>
	// an old one <nil>
}
