package mcp_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/typedmcp/mcp"
)

// What the handler returns says what a resource holds: a string is text.
func ExampleAddResource() {
	s := mcp.NewServer("status", "1.0.0", nil)
	mcp.AddResource(s, "status://now", "now", func(context.Context) (string, error) {
		return "all well", nil
	}).Title("Status").MIME("text/plain")
	mcp.AddText(s, "status://help", "help", "text/markdown", "# Status\n")

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for resource, err := range c.Resources(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		read, err := c.ReadResource(ctx, resource.URI)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s (%s): %q\n", resource.URI, resource.MIMEType, read.Contents[0].Text)
	}
	// Output:
	// status://now (text/plain): "all well"
	// status://help (text/markdown): "# Status\n"
}

// The variables of a template are the fields of a struct, parsed and checked.
// What is no struct field's value is not found.
func ExampleAddTemplate() {
	type Order struct {
		ID int `json:"id" jsonschema:"minimum=1"`
	}
	s := mcp.NewServer("orders", "1.0.0", nil)
	mcp.AddTemplate(s, "orders://{id}", "order", func(_ context.Context, o Order) (map[string]any, error) {
		if o.ID > 100 {
			return nil, mcp.ErrNotFound
		}
		return map[string]any{"id": o.ID, "state": "paid"}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, uri := range []string{"orders://7", "orders://seven", "orders://101"} {
		read, err := c.ReadResource(ctx, uri)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(read.Contents[0].Text)
	}
	// Output:
	// {"id":7,"state":"paid"}
	// Resource not found (code -32602)
	// Resource not found (code -32602)
}

// Files of an fs.FS, such as an embed.FS, are resources below a base URI.
func ExampleAddFS() {
	files := fstest.MapFS{"guide/start.md": {Data: []byte("# Start\n")}}
	s := mcp.NewServer("docs", "1.0.0", nil)
	mcp.AddFS(s, "docs://", files)
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	read, err := c.ReadResource(ctx, "docs://guide/start.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", read.Contents[0].Text)
	// Output: "# Start\n"
}

// The arguments of a prompt are the fields of a struct; a host asks for their
// values and completes them on the way.
func ExampleAddPrompt() {
	type Args struct {
		Language string `json:"language" jsonschema_description:"What to review"`
		Strict   bool   `json:"strict,omitempty"`
	}
	s := mcp.NewServer("review", "1.0.0", nil)
	mcp.AddPrompt(s, "review", "Review code", func(_ context.Context, a Args) ([]mcp.Message, error) {
		tone := "kindly"
		if a.Strict {
			tone = "strictly"
		}
		return []mcp.Message{mcp.User("Review this " + a.Language + " code " + tone), mcp.Assistant("Show it to me")}, nil
	}).Complete("language", func(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
		var found []string
		for _, language := range []string{"go", "gleam", "rust"} {
			if strings.HasPrefix(language, prefix) {
				found = append(found, language)
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
	completion, err := c.Complete(ctx, mcp.PromptRef("review"), "language", "g", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(completion.Values)
	prompt, err := c.GetPrompt(ctx, "review", map[string]string{"language": "go", "strict": "true"})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range prompt.Messages {
		fmt.Printf("%s: %s\n", m.Role, m.Content.(*mcp.TextContent).Text)
	}
	// Output:
	// [go gleam]
	// user: Review this go code strictly
	// assistant: Show it to me
}

// Visible decides for every request what it may see. What is not visible can
// neither be listed nor called: it is as unknown as what does not exist.
func ExampleServer_Visible() {
	s := mcp.NewServer("desk", "1.0.0", nil)
	s.Visible(func(ctx context.Context, f mcp.Info) bool {
		who := mcp.RequestFrom(ctx).Principal()
		return f.Category != "admin" || who != nil && slices.Contains(who.Scopes, "admin")
	})
	done := func(context.Context, struct{}) (string, error) { return "done", nil }
	mcp.AddTool(s, "read", "Read", done)
	mcp.AddTool(s, "purge", "Purge", done).Category("admin")
	for _, scope := range []string{"desk", "admin"} {
		ctx := mcp.WithPrincipal(context.Background(), &mcp.Principal{Subject: "ada", Scopes: []string{scope}})
		c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(mcp.Call[string](ctx, c, "purge", nil))
		if err := c.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	//  Unknown tool: "purge" (code -32602)
	// done <nil>
}
