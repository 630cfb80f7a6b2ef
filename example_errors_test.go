package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"regexp"
	"strings"

	"github.com/typedmcp/mcp"
)

// Any error becomes a failed result that the model can react to. ToolErrorf
// is for texts that are meant for it.
func ExampleToolErrorf() {
	type Args struct {
		Path string `json:"path"`
	}
	s := mcp.NewServer("files", "1.0.0", nil)
	mcp.AddTool(s, "read", "Read a file", func(_ context.Context, a Args) (string, error) {
		return "", mcp.ToolErrorf("there is no file %s; list the folder to see what there is", a.Path)
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = mcp.Call[string](ctx, c, "read", Args{Path: "a.txt"})
	var failed *mcp.ToolError
	fmt.Println(errors.As(err, &failed), err)
	// Output: true there is no file a.txt; list the folder to see what there is
}

// An *Error fails the request itself: the client gets it as an error, with its
// code and data, and models need not see it.
func ExampleErrorf() {
	const codeQuota mcp.Code = 4290 // an application's code, outside -32768…-32000
	s := mcp.NewServer("api", "1.0.0", nil)
	mcp.AddTool(s, "query", "Query", func(context.Context, struct{}) (string, error) {
		fault := mcp.Errorf(codeQuota, "quota of %d queries used up", 100)
		fault.Data = map[string]int{"retryAfter": 60}
		return "", fault
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.CallTool(ctx, "query", nil)
	var fault *mcp.Error
	if errors.As(err, &fault) {
		fmt.Printf("%d %s %s, sent by the server: %v\n", fault.Code, fault.Message, fault.Data, fault.Remote())
	}
	// Output: 4290 quota of 100 queries used up {"retryAfter":60}, sent by the server: true
}

// With RedactErrors clients see a reference id in the place of a handler's
// error; the text is logged under the same id.
func ExampleServerOptions_redactErrors() {
	var book strings.Builder
	s := mcp.NewServer("accounts", "1.0.0", &mcp.ServerOptions{
		RedactErrors: true,
		Logger:       slog.New(slog.NewTextHandler(&book, nil)),
	})
	mcp.AddTool(s, "balance", "Balance", func(context.Context, struct{}) (int, error) {
		return 0, errors.New("dial db-7.internal:5432: password refused")
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = mcp.Call[int](ctx, c, "balance", nil)
	fmt.Println(regexp.MustCompile(`[A-Z0-9]{12}`).ReplaceAllString(err.Error(), "…"))
	fmt.Println(strings.Contains(book.String(), "password refused"))
	// Output:
	// internal error; the server's log has the details under reference …
	// true
}

// Check reports every mistake at once, each with its place in the code: one
// call in a test shows them all.
func ExampleServer_Check() {
	type Args struct {
		Done chan bool `json:"done"`
	}
	s := mcp.NewServer("broken", "1.0.0", nil)
	mcp.AddTool(s, "wait", "Wait", func(context.Context, Args) (string, error) { return "", nil })
	mcp.AddTool(s, "wait", "Wait again", func(context.Context, struct{}) (string, error) { return "", nil }).
		Icon("http://example.com/i.png")

	err := s.Check()
	fmt.Println(regexp.MustCompile(`\S*/(\w+\.go):\d+`).ReplaceAllString(err.Error(), "$1:…"))
	var problem *mcp.RegistrationError
	if errors.As(err, &problem) {
		fmt.Println("first:", problem.Feature, problem.Type, problem.Field)
	}
	// Output:
	// example_errors_test.go:…: tool "wait": type mcp_test.Args: field Args.Done: tag `json:"done"`: chan bool has no JSON form; leave the field out with `json:"-"`
	// example_errors_test.go:…: tool "wait": the name is already taken by the tool registered at example_errors_test.go:…
	// example_errors_test.go:…: tool "wait": icon "http://example.com/i.png": it is neither an https: URI nor a data: URI
	// first: tool "wait" mcp_test.Args Args.Done
}

// Once a server serves, a change to it panics: nothing else could report it.
func ExampleFrozenError() {
	s := mcp.NewServer("frozen", "1.0.0", nil)
	tool := mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) { return "", nil })
	c, err := mcp.Dial(context.Background(), mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	defer func() {
		frozen := recover().(*mcp.FrozenError)
		fmt.Println("cannot be changed any more:", frozen.Feature)
	}()
	tool.Title("too late")
	// Output: cannot be changed any more: tool "t"
}
