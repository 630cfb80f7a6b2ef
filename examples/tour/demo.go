package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/typedmcp/mcp"
)

// Demo uses everything as a host would, in good ways and bad ones.
func Demo(ctx context.Context, s *mcp.Server, w io.Writer) error {
	c, err := mcp.Dial(ctx, mcp.InMemory(s), &mcp.ClientOptions{Name: "tour", Version: "1.0.0", ElicitForm: reader(w)})
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(w, "Connected to %s, speaking %s.\n", c.Server().Title, c.Server().Protocol)
	for _, part := range []func(context.Context, *mcp.Client, io.Writer) error{demoTools, demoResources, demoPrompt, demoCounter} {
		if err := part(ctx, c, w); err != nil {
			return err
		}
	}
	return demoWatch(ctx, s, c, w)
}

func demoTools(ctx context.Context, c *mcp.Client, w io.Writer) error {
	fmt.Fprint(w, "\nIts tools, as a model sees them:\n")
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s: %s\n    input  %s\n", tool.Name, tool.Description, tool.InputSchema)
		if tool.OutputSchema != nil {
			fmt.Fprintf(w, "    output %s\n", tool.OutputSchema)
		}
	}
	for _, call := range []struct {
		about, tool string
		args        any
	}{
		{"A typed call. The absent limit and sort have their defaults:", "search_books", map[string]any{"text": "programming"}},
		{"Nested arguments:", "search_books", SearchArgs{Years: &Years{From: 1990, To: 2000}, Sort: "year", Limit: 1}},
		{"Bad arguments come back as something a model can mend:", "search_books", json.RawMessage(`{"txt":"go","limit":"ten","sort":"size"}`)},
		{"A rule across fields, in Go:", "search_books", SearchArgs{Years: &Years{From: 2000, To: 1990}, Sort: "year", Limit: 1}},
		{"A change:", "lend_book", LendArgs{ISBN: "978-0134190440", Reader: "Ada", Weeks: 2}},
		{"A failure the model should know about:", "lend_book", LendArgs{ISBN: "978-0134190440", Reader: "Bob", Weeks: 2}},
		{"Text and an image:", "book_cover", CoverArgs{ISBN: "978-0134190440"}},
		{"Progress while it runs:", "stocktake", nil},
	} {
		if err := show(ctx, c, w, call.about, call.tool, call.args); err != nil {
			return err
		}
	}
	_, err := c.CallTool(ctx, "no_such_tool", nil)
	_, err = fmt.Fprintf(w, "\nAn unknown tool is a protocol error:\n  ← %v\n", err)
	return err
}

// demoResources lists and reads what can be read.
func demoResources(ctx context.Context, c *mcp.Client, w io.Writer) error {
	fmt.Fprint(w, "\nIts resources, and a template of more:\n")
	for r, err := range c.Resources(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s: %s\n", r.URI, r.Title)
	}
	for t, err := range c.Templates(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s: %s\n", t.URITemplate, t.Title)
	}
	for _, uri := range []string{"library://rules", loansURI, "library://books/978-0262510875", "library://books/none"} {
		r, err := c.ReadResource(ctx, uri)
		if err != nil {
			fmt.Fprintf(w, "  → %s\n  ← %v\n", uri, err)
			continue
		}
		for _, contents := range r.Contents {
			fmt.Fprintf(w, "  → %s\n  ← %s %q\n", uri, contents.MIMEType, contents.Text)
		}
	}
	return nil
}

// demoPrompt fills in a prompt, with suggestions for its arguments.
func demoPrompt(ctx context.Context, c *mcp.Client, w io.Writer) error {
	fmt.Fprint(w, "\nIts prompt, and what is suggested while its arguments are typed:\n")
	for p, err := range c.Prompts(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s: %s\n", p.Name, p.Description)
		for _, a := range p.Arguments {
			suggested, err := c.Complete(ctx, mcp.PromptRef(p.Name), a.Name, "", nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "    %s (required: %v) %q\n", a.Name, a.Required, suggested.Values)
		}
	}
	for _, args := range []map[string]string{{"topic": "design", "count": "2"}, {"topic": "design", "count": "many"}} {
		fmt.Fprintf(w, "  → recommend %v\n", args)
		r, err := c.GetPrompt(ctx, "recommend", args)
		if err != nil {
			fmt.Fprintf(w, "  ← %v\n", err)
			continue
		}
		for _, m := range r.Messages {
			if text, ok := m.Content.(*mcp.TextContent); ok {
				fmt.Fprintf(w, "  ← %s: %s\n", m.Role, text.Text)
			}
		}
	}
	return nil
}

// demoWatch shows on the wire what a client sees that watches the loans.
func demoWatch(ctx context.Context, s *mcp.Server, c *mcp.Client, w io.Writer) error {
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, mcp.NewConn(in, out)) }()
	defer func() {
		stop()
		<-served
	}()
	watcher := mcp.NewConn(clientIn, clientOut)
	request := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["` + loansURI + `"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	fmt.Fprintf(w, "\nA client that watches the loans while a book is lent, on the wire:\n  → %s\n", request)
	if err := watcher.Write(ctx, []byte(request)); err != nil {
		return err
	}
	for _, lend := range []bool{true, false} {
		msg, err := watcher.Read(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  ← %s\n", msg)
		if !lend {
			continue
		}
		if _, err := c.CallTool(ctx, "lend_book", LendArgs{ISBN: "978-0201633610", Reader: "Grace", Weeks: 4}); err != nil {
			return err
		}
	}
	return nil
}

func show(ctx context.Context, c *mcp.Client, w io.Writer, about, tool string, args any) error {
	request, err := json.Marshal(args)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n  → %s %s\n", about, tool, request)
	result, err := c.CallTool(ctx, tool, args, mcp.WithProgress(func(e mcp.ProgressEvent) {
		fmt.Fprintf(w, "  … %v of %v: %s\n", e.Done, e.Total, e.Message)
	}))
	if err != nil {
		return err
	}
	if result.IsError {
		fmt.Fprint(w, "  ← failed: ")
	} else {
		fmt.Fprint(w, "  ← ")
	}
	for i, block := range result.Content {
		if i > 0 {
			fmt.Fprint(w, "    ")
		}
		switch b := block.(type) {
		case *mcp.TextContent:
			fmt.Fprintln(w, b.Text)
		case *mcp.ImageContent:
			fmt.Fprintf(w, "%s, %d bytes\n", b.MIMEType, len(b.Data))
		}
	}
	if result.Structured != nil {
		fmt.Fprintf(w, "    structured %s\n", result.Structured)
	}
	return nil
}
