// Command client is what the official conformance suite runs to test clients: it does what the scenario named in its
// environment asks for, with the server at the URL that is its only argument.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/typedmcp/mcp"
)

// credentials are what a scenario provides.
type credentials struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: client URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	opts := &mcp.ClientOptions{Name: "conformance", Version: "1.0.0"}
	var given credentials
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if !strings.HasPrefix(scenario, "auth/") {
		return fmt.Errorf("the scenario %q is not known", scenario)
	}
	return signIn(ctx, os.Args[1], given, opts)
}
