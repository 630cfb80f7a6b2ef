// Tour shows what a server is made of: a small lending library with typed
// tools, some of which ask their user, resources, one of which is watched, a
// template and a prompt.
//
//	go run ./examples/tour          serves over HTTP and says how to call it
//	go run ./examples/tour -stdio   serves on standard input and output
//	go run ./examples/tour -demo    uses all of it in memory and prints what happens
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/typedmcp/mcp"
)

func main() {
	addr := flag.String("http", "127.0.0.1:8080", "address to serve HTTP on, at /mcp")
	stdio := flag.Bool("stdio", false, "serve on standard input and output instead")
	demo := flag.Bool("demo", false, "use all of it through the in-memory client instead and print it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr // where ListenAndServe listens
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

// NewServer registers the library's methods.
func NewServer(l *Library) *mcp.Server {
	s := mcp.NewServer("library", "1.0.0", &mcp.ServerOptions{
		Title:        "City Library",
		Instructions: "Find books with search_books before lending them.",
		Logger:       slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	mcp.AddTool(s, "search_books", "Find books by words and years", l.Search).
		Title("Search books").ReadOnly().OpenWorld(false)
	mcp.AddTool(s, "lend_book", "Lend a book to a reader", l.Lend).
		Title("Lend a book").Destructive(false).Idempotent(false).OpenWorld(false)
	mcp.AddTool(s, "book_cover", "Draw the cover of a book", l.Cover).ReadOnly()
	mcp.AddTool(s, "stocktake", "Count books and loans", l.Stocktake).ReadOnly().Idempotent()
	addDesk(s, l)
	addCounter(s, l)
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
