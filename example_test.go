package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/typedmcp/mcp"
)

// A server with one tool, and a client of it in the same process.
func Example() {
	type Args struct {
		Name string `json:"name" jsonschema_description:"Who to greet"`
	}
	s := mcp.NewServer("greeter", "1.0.0", nil)
	mcp.AddTool(s, "greet", "Say hello", func(ctx context.Context, a Args) (string, error) {
		return "Hello, " + a.Name, nil
	}).ReadOnly()

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	greeting, err := mcp.Call[string](ctx, c, "greet", Args{Name: "Ada"})
	fmt.Println(greeting, err)
	// Output: Hello, Ada <nil>
}

// What the server said of itself is known once the client is connected.
func ExampleDial() {
	s := mcp.NewServer("library", "1.0.0", &mcp.ServerOptions{
		Title:        "City Library",
		Instructions: "Find books before lending them.",
	})
	c, err := mcp.Dial(context.Background(), mcp.InMemory(s), &mcp.ClientOptions{
		Name: "example", Version: "1.0.0", Timeout: 5 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	info := c.Server()
	fmt.Println(info.Title, info.Version, info.Protocol)
	fmt.Println(info.Instructions)
	// Output:
	// City Library 1.0.0 2026-07-28
	// Find books before lending them.
}

// Dial fails with all that Check finds, so that a test of a server needs no
// more than an in-memory client.
func ExampleInMemory() {
	s := mcp.NewServer("clock", "1.0.0", nil)
	mcp.AddTool(s, "zone", "Name of the zone", func(context.Context, struct{}) (string, error) {
		return "UTC", nil
	})
	c, err := mcp.Dial(context.Background(), mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(context.Background(), "zone", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output: UTC
}

// Custom and NewConn carry MCP over any stream, here a pipe.
func ExampleCustom() {
	s := mcp.NewServer("piped", "1.0.0", nil)
	mcp.AddTool(s, "ping", "Answer", func(context.Context, struct{}) (string, error) { return "pong", nil })

	ctx := context.Background()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, mcp.NewConn(far, far)) }()

	c, err := mcp.Dial(ctx, mcp.Custom(func(context.Context) (mcp.Conn, error) {
		return mcp.NewConn(near, near), nil
	}), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mcp.Call[string](ctx, c, "ping", nil))
	fmt.Println(c.Close(), <-served)
	// Output:
	// pong <nil>
	// <nil> <nil>
}

// NewConn frames messages by lines: any reader and writer will do.
func ExampleNewConn() {
	s := mcp.NewServer("lines", "1.0.0", &mcp.ServerOptions{Versions: []string{mcp.LatestVersion}})
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), mcp.NewConn(far, far)) }()

	c := mcp.NewConn(near, near)
	request := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	if err := c.Write(context.Background(), []byte(request)); err != nil {
		log.Fatal(err)
	}
	answer, err := c.Read(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var response struct {
		Result struct{ SupportedVersions []string }
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Result.SupportedVersions)
	fmt.Println(c.Close(), <-served)
	// Output:
	// [2026-07-28]
	// <nil> <nil>
}

// The loop fetches page after page and stops at an error.
func ExampleClient_Tools() {
	s := mcp.NewServer("paged", "1.0.0", &mcp.ServerOptions{PageSize: 2})
	for _, name := range []string{"one", "two", "three"} {
		mcp.AddTool(s, name, "Tool "+name, func(context.Context, struct{}) (string, error) { return "", nil })
	}
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Name, tool.Description)
	}
	// Output:
	// one Tool one
	// two Tool two
	// three Tool three
}

// A failed tool is a result that the model should see, not an error.
func ExampleClient_CallTool() {
	s := mcp.NewServer("files", "1.0.0", nil)
	mcp.AddTool(s, "read", "Read a file", func(context.Context, struct{}) (string, error) {
		return "", mcp.ToolErrorf("the file is gone; list the folder again")
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "read", nil, mcp.WithTimeout(10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.IsError, result.Content[0].(*mcp.TextContent).Text)
	_, err = c.CallTool(ctx, "write", nil)
	fmt.Println(err)
	// Output:
	// true the file is gone; list the folder again
	// Unknown tool: "write" (code -32602)
}

// Call decodes what a tool returns into a Go type.
func ExampleCall() {
	type Args struct {
		City string `json:"city"`
	}
	type Weather struct {
		Celsius int    `json:"celsius"`
		Sky     string `json:"sky"`
	}
	s := mcp.NewServer("weather", "1.0.0", nil)
	mcp.AddTool(s, "now", "Weather now", func(_ context.Context, a Args) (Weather, error) {
		return Weather{21, "clear over " + a.City}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	w, err := mcp.Call[Weather](ctx, c, "now", Args{City: "Kyoto"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d °C, %s\n", w.Celsius, w.Sky)
	// Output: 21 °C, clear over Kyoto
}

// Progress is sent to clients that ask for it, as WithProgress does.
func ExampleProgress() {
	s := mcp.NewServer("counter", "1.0.0", nil)
	mcp.AddTool(s, "count", "Count the stock", func(ctx context.Context, _ struct{}) (string, error) {
		for i, shelf := range []string{"apples", "pears"} {
			mcp.Progress(ctx, float64(i+1), 2, "counted "+shelf)
		}
		return "done", nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	text, err := mcp.Call[string](ctx, c, "count", nil, mcp.WithProgress(func(e mcp.ProgressEvent) {
		fmt.Printf("%v of %v: %s\n", e.Done, e.Total, e.Message)
	}))
	fmt.Println(text, err)
	// Output:
	// 1 of 2: counted apples
	// 2 of 2: counted pears
	// done <nil>
}

// RequestFrom has the facts of the request that a context belongs to, such as
// what the client said in _meta.
func ExampleRequestFrom() {
	s := mcp.NewServer("facts", "1.0.0", nil)
	mcp.AddTool(s, "facts", "Tell the facts", func(ctx context.Context, _ struct{}) (string, error) {
		r := mcp.RequestFrom(ctx)
		return fmt.Sprintf("%s of %s under %s, trace %s", r.Method(), r.Client().Name, r.Version(), r.Meta()["traceparent"]), nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), &mcp.ClientOptions{Name: "example", Version: "1.0.0"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "facts", nil, mcp.WithMeta("traceparent", "00-4bf92f-00f067-01")))
	// Output: tools/call of example under 2026-07-28, trace "00-4bf92f-00f067-01" <nil>
}
