// Tour shows what a server is made of: a small lending library with typed
// tools.
//
//	go run ./examples/tour          serves over HTTP and says how to call it
//	go run ./examples/tour -stdio   serves on standard input and output
//	go run ./examples/tour -demo    calls every tool in memory and prints what happens
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/typedmcp/mcp"
)

func main() {
	addr := flag.String("http", "127.0.0.1:8080", "address to serve HTTP on, at /mcp")
	stdio := flag.Bool("stdio", false, "serve on standard input and output instead")
	demo := flag.Bool("demo", false, "call every tool through the in-memory client instead and print it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *stdio, *demo); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr string, stdio, demo bool) error {
	s := NewServer(NewLibrary(time.Now))
	switch {
	case demo:
		return Demo(ctx, s, os.Stdout)
	case stdio:
		return s.ServeStdio(ctx)
	}
	fmt.Printf(usage, addr)
	return s.ListenAndServe(ctx, addr, nil)
}

const usage = `Serving the library on http://%[1]s/mcp until interrupted. Call a tool:

  curl -s http://%[1]s/mcp \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: search_books' \
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_books","arguments":{"text":"go"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'

Add it to a client:

  {"mcpServers": {"library": {"type": "http", "url": "http://%[1]s/mcp"}}}

`

// NewServer registers the library's methods as tools.
func NewServer(l *Library) *mcp.Server {
	s := mcp.NewServer("library", "1.0.0", &mcp.ServerOptions{
		Title:        "City Library",
		Instructions: "Find books with search_books before lending them.",
	})
	mcp.AddTool(s, "search_books", "Find books by words and years", l.Search).
		Title("Search books").ReadOnly().OpenWorld(false)
	mcp.AddTool(s, "lend_book", "Lend a book to a reader", l.Lend).
		Title("Lend a book").Destructive(false).Idempotent(false).OpenWorld(false)
	mcp.AddTool(s, "book_cover", "Draw the cover of a book", l.Cover).ReadOnly()
	mcp.AddTool(s, "stocktake", "Count books and loans", l.Stocktake).ReadOnly().Idempotent()
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Demo calls every tool as a host would, good calls and bad ones.
func Demo(ctx context.Context, s *mcp.Server, w io.Writer) error {
	c, err := mcp.Dial(ctx, mcp.InMemory(s), &mcp.ClientOptions{Name: "tour", Version: "1.0.0"})
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(w, "Connected to %s, speaking %s.\n\nIts tools, as a model sees them:\n", c.Server().Title, c.Server().Protocol)
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
	_, err = c.CallTool(ctx, "no_such_tool", nil)
	_, err = fmt.Fprintf(w, "\nAn unknown tool is a protocol error:\n  ← %v\n", err)
	return err
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
