// Server is what the official conformance suite tests: a server with the
// tools that the scenarios of the suite call, by the names that they call.
//
//	go run ./internal/conformance/server -http 127.0.0.1:8080
//
// It then answers at http://127.0.0.1:8080/mcp until it is interrupted.
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/typedmcp/mcp"
)

func main() {
	addr := flag.String("http", "127.0.0.1:8080", "the `address` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newServer(slog.Default()).ListenAndServe(ctx, *addr, &mcp.HTTPOptions{MaxStream: maxStream}); err != nil {
		log.Fatal(err)
	}
}

// newServer returns a server with all fixtures. Those of one feature are in
// one file.
func newServer(logger *slog.Logger) *mcp.Server {
	s := mcp.NewServer("conformance-server", "1.0.0", &mcp.ServerOptions{Logger: logger, Dynamic: true, Logging: true, FullSchemas: true})
	addContent(s) // first: a scenario calls the first tool listed with no arguments
	addFailures(s)
	addProgress(s)
	addHeaders(s)
	addSchemas(s)
	addRounds(s)
	addForms(s)
	addPolling(s)
	addLogging(s)
	addPrompts(s)
	addResources(s)
	addChanges(s)
	return s
}

// none are the arguments of a tool that takes none.
type none struct{}
