// Client is what the official conformance suite tests of a client: it connects
// to the server whose URL is its only argument and does what the scenario in
// the environment asks for.
//
//	MCP_CONFORMANCE_SCENARIO=tools_call go run ./internal/conformance/client http://127.0.0.1:8080/mcp
//
// MCP_CONFORMANCE_CONTEXT holds what the suite gives to some scenarios, as
// JSON. The client is not told which revision to speak: it has to find out.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/typedmcp/mcp"
)

// patience is how long a scenario may take; the suite ends it later.
const patience = 25 * time.Second

// given is what the suite provides to a scenario.
type given struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
	Calls  []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: client URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := play(ctx, os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// play does what a scenario asks for with the server at url.
func play(ctx context.Context, scenario, url string) (err error) {
	var with given
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &with); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	opts := &mcp.ClientOptions{
		Name: "conformance-client", Version: "1.0.0",
		ElicitForm: accept,
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if strings.HasPrefix(scenario, "auth/") {
		return signIn(ctx, url, with, opts)
	}
	steps, ok := scenarios[scenario]
	if !ok {
		return fmt.Errorf("the scenario %q is none of those that this client knows", scenario)
	}
	client, err := mcp.Dial(ctx, mcp.HTTP(url, nil), opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return steps(ctx, client, with)
}

// accept sends every form as it is, with the defaults that the server gave.
func accept(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept"}, nil
}
