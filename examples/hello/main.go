// Hello is the smallest useful server: one typed tool over stdio.
package main

import (
	"context"
	"log"

	"github.com/typedmcp/mcp"
)

// Args are the arguments of greet.
type Args struct {
	Name string `json:"name" jsonschema_description:"Who to greet"`
}

func main() {
	s := mcp.NewServer("greeter", "1.0.0", nil)
	mcp.AddTool(s, "greet", "Say hello", func(ctx context.Context, a Args) (string, error) {
		return "Hello, " + a.Name, nil
	}).ReadOnly()
	if err := s.ServeStdio(context.Background()); err != nil {
		log.Fatal(err)
	}
}
