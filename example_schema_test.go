package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/typedmcp/mcp"
)

// A schema may be written as JSON, with all of JSON Schema 2020-12. It is
// enforced as it is written.
func ExampleRawSchema() {
	s := mcp.NewServer("raw", "1.0.0", nil)
	input := mcp.RawSchema(`{
		"type": "object",
		"properties": {"id": {"type": "integer"}, "url": {"type": "string", "format": "uri"}},
		"minProperties": 1, "maxProperties": 1
	}`)
	mcp.AddRawTool(s, "fetch", "Fetch one page", input, func(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{Content: []mcp.Content{mcp.Text("got " + string(args))}}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "fetch", map[string]any{"id": 7}))
	_, err = mcp.Call[string](ctx, c, "fetch", map[string]any{"id": 7, "url": "here"})
	fmt.Println(err)
	// Output:
	// got {"id":7} <nil>
	// Invalid arguments:
	// - url must be a URL such as "https://example.com/path", got the string "here"
	// - arguments must have exactly 1 member, got 2
}

// The schema of a Go type can be that of a tool that gets its arguments as
// JSON: they are checked, and completed, as if they were decoded.
func ExampleAddRawTool_schemaFor() {
	type Args struct {
		Page int `json:"page" jsonschema:"minimum=1,default=1"`
	}
	s := mcp.NewServer("proxy", "1.0.0", nil)
	mcp.AddRawTool(s, "list", "List", mcp.SchemaFor[Args](), func(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{Content: []mcp.Content{mcp.Text(string(args))}}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "list", nil))
	// Output: {"page":1} <nil>
}

// Clock has a method that is a tool under another name.
type Clock struct{ zone string }

// In tells the time somewhere.
func (c *Clock) In(hours int) string { return fmt.Sprintf("%02d:00 %s", hours, c.zone) }

// A method is a tool by its name; its parameters are named in their order.
func ExampleAddMethod() {
	s := mcp.NewServer("clock", "1.0.0", nil)
	mcp.AddMethod(s, &Clock{zone: "UTC"}, "In", "time", "What time it is", mcp.Arg("hours", "From midnight"))
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "time", map[string]int{"hours": 9}))
	// Output: 09:00 UTC <nil>
}

// The schemas of a typed tool can be replaced, here by what a Go type cannot
// say.
func ExampleTool_InputSchema() {
	s := mcp.NewServer("mail", "1.0.0", nil)
	mcp.AddTool(s, "send", "Send a message", func(_ context.Context, to map[string]string) (string, error) {
		return "sent to " + to["name"] + to["address"], nil
	}).InputSchema(mcp.RawSchema(`{"type": "object", "properties": {"name": {"type": "string"}, "address": {"type": "string"}},
		"oneOf": [{"required": ["name"]}, {"required": ["address"]}]}`))
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "send", map[string]string{"name": "Ada"}))
	_, err = mcp.Call[string](ctx, c, "send", map[string]string{"name": "Ada", "address": "ada@example.com"})
	fmt.Println(err)
	// Output:
	// sent to Ada <nil>
	// Invalid arguments:
	// - arguments must have exactly one of the forms in "oneOf" of its schema, but has those numbered 1 and 2
}

// An output schema makes data of a result whose Go type says nothing. Results
// are held to it.
func ExampleTool_OutputSchema() {
	s := mcp.NewServer("scores", "1.0.0", nil)
	mcp.AddTool(s, "score", "The score", func(context.Context, struct{}) (any, error) {
		return map[string]float64{"score": 0.5}, nil
	}).OutputSchema(mcp.Object().Number("score", "").Min(0).Max(1))
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "score", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", result.Structured)
	// Output: {"score":0.5}
}

// The application may check arguments itself: the schema is for the model
// alone then.
func ExampleTool_ApplicationValidated() {
	s := mcp.NewServer("legacy", "1.0.0", nil)
	input := mcp.Object().Integer("count", "").Default(1)
	mcp.AddRawTool(s, "order", "Order", input, func(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{Content: []mcp.Content{mcp.Text("as sent: " + string(args))}}, nil
	}).ApplicationValidated()
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "order", map[string]string{"count": "a dozen"}))
	// Output: as sent: {"count":"a dozen"} <nil>
}

// An icon may be a file of the server; hosts get it within the list.
func ExampleTool_Icon() {
	files := fstest.MapFS{"cart.svg": {Data: []byte("<svg/>")}} // an embed.FS, in most programs
	s := mcp.NewServer("shop", "1.0.0", &mcp.ServerOptions{Files: files})
	mcp.AddTool(s, "buy", "Buy", func(context.Context, struct{}) (string, error) { return "", nil }).
		Icon("cart.svg", "any").Category("shopping")
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		fmt.Println(tool.Icons[0].Src, tool.Icons[0].Sizes, tool.Icons[0].MIMEType)
	}
	// Output: data:image/svg+xml;base64,PHN2Zy8+ [any] image/svg+xml
}

// App links a tool to the page that shows its results.
func ExampleTool_App() {
	s := mcp.NewServer("weather", "1.0.0", nil)
	mcp.AddApp(s, "ui://forecast", "forecast", mcp.AppPage{
		HTML: func(context.Context) (string, error) { return "<html></html>", nil },
	})
	mcp.AddTool(s, "forecast", "The forecast", func(context.Context, struct{}) (string, error) { return "sunny", nil }).
		App("ui://forecast")
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		fmt.Printf("%s\n", tool.Meta["ui"])
	}
	// Output: {"resourceUri":"ui://forecast"}
}
