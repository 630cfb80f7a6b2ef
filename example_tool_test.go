package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"log"
	"strings"

	"github.com/typedmcp/mcp"
)

// The struct is the schema: it is advertised, checked and decoded, and its
// defaults are filled in.
func ExampleAddTool() {
	type Args struct {
		Text  string `json:"text" jsonschema:"minLength=1" jsonschema_description:"What to repeat"`
		Times int    `json:"times" jsonschema:"minimum=1,maximum=10,default=2"`
	}
	type Result struct {
		Text   string `json:"text"`
		Length int    `json:"length"`
	}
	s := mcp.NewServer("echo", "1.0.0", nil)
	mcp.AddTool(s, "repeat", "Repeat a text", func(_ context.Context, a Args) (Result, error) {
		text := strings.Repeat(a.Text, a.Times)
		return Result{text, len(text)}, nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		fmt.Printf("%s\n%s\n", tool.InputSchema, tool.OutputSchema)
	}
	good, err := mcp.Call[Result](ctx, c, "repeat", map[string]any{"text": "ab"})
	fmt.Println(good, err)
	_, err = mcp.Call[Result](ctx, c, "repeat", map[string]any{"times": "three"})
	fmt.Println(err)
	// Output:
	// {"type":"object","properties":{"text":{"type":"string","minLength":1,"description":"What to repeat"},"times":{"type":"integer","minimum":1,"maximum":10,"default":2}},"required":["text"]}
	// {"type":"object","properties":{"text":{"type":"string"},"length":{"type":"integer"}},"required":["text","length"]}
	// {abab 4} <nil>
	// Invalid arguments:
	// - times must be an integer, got the string "three"
	// - text is required, but missing: it must be a string
}

// Structured sends a typed value together with blocks of its own: the value
// for programs, the blocks for the model.
func ExampleStructured() {
	type Total struct {
		Cents int `json:"cents"`
	}
	s := mcp.NewServer("shop", "1.0.0", nil)
	mcp.AddTool(s, "total", "Total of the cart", func(context.Context, struct{}) (mcp.Structured[Total], error) {
		return mcp.Structured[Total]{Value: Total{1250}, Content: []mcp.Content{mcp.Text("The cart costs 12.50")}}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "total", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", result.Structured)
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// {"cents":1250}
	// The cart costs 12.50
}

// A *Result is sent exactly as it is, with blocks of every kind.
func ExampleResult() {
	s := mcp.NewServer("media", "1.0.0", nil)
	mcp.AddTool(s, "show", "Show all there is", func(context.Context, struct{}) (*mcp.Result, error) {
		return &mcp.Result{Content: []mcp.Content{
			mcp.Text("a text"),
			mcp.Image([]byte{0x89, 'P', 'N', 'G'}, "image/png"),
			mcp.Audio([]byte("RIFF"), "audio/wav"),
			mcp.Link("https://example.com/report.pdf", "report"),
			mcp.Embed(mcp.ResourceContents{URI: "note:///1", MIMEType: "text/plain", Text: "a note"}),
		}}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "show", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, block := range result.Content {
		switch b := block.(type) {
		case *mcp.TextContent:
			fmt.Println("text:", b.Text)
		case *mcp.ImageContent:
			fmt.Println("image:", b.MIMEType, len(b.Data), "bytes")
		case *mcp.AudioContent:
			fmt.Println("audio:", b.MIMEType, len(b.Data), "bytes")
		case *mcp.ResourceLink:
			fmt.Println("link:", b.Name, b.URI)
		case *mcp.EmbeddedResource:
			fmt.Println("resource:", b.Resource.URI, b.Resource.Text)
		}
	}
	// Output:
	// text: a text
	// image: image/png 4 bytes
	// audio: audio/wav 4 bytes
	// link: report https://example.com/report.pdf
	// resource: note:///1 a note
}

// An image.Image that a tool returns is sent as a PNG; Image takes the bytes
// of any format.
func ExampleImage() {
	s := mcp.NewServer("painter", "1.0.0", nil)
	mcp.AddTool(s, "paint", "Paint", func(context.Context, struct{}) (image.Image, error) {
		return image.NewGray(image.Rect(0, 0, 8, 8)), nil
	})
	mcp.AddTool(s, "photo", "Take a photo", func(context.Context, struct{}) ([]mcp.Content, error) {
		photo := mcp.Image([]byte("…"), "image/jpeg")
		photo.Annotations = &mcp.Annotations{Audience: []string{"user"}}
		return []mcp.Content{photo, mcp.Text("A photo of the garden")}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, tool := range []string{"paint", "photo"} {
		result, err := c.CallTool(ctx, tool, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool, result.Content[0].(*mcp.ImageContent).MIMEType)
	}
	// Output:
	// paint image/png
	// photo image/jpeg
}

// Hints tell hosts what to expect of a tool. Unset ones are not sent; false is
// not the same as unset.
func ExampleTool_ReadOnly() {
	nothing := func(context.Context, struct{}) (string, error) { return "", nil }
	s := mcp.NewServer("disk", "1.0.0", nil)
	mcp.AddTool(s, "list", "List files", nothing).ReadOnly().OpenWorld(false)
	mcp.AddTool(s, "append", "Append to a file", nothing).Destructive(false).Idempotent(false)
	mcp.AddTool(s, "format", "Format the disk", nothing)
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		hints, err := json.Marshal(tool.Annotations)
		fmt.Printf("%s %s %v\n", tool.Name, hints, err)
	}
	// Output:
	// list {"readOnlyHint":true,"openWorldHint":false} <nil>
	// append {"destructiveHint":false,"idempotentHint":false} <nil>
	// format null <nil>
}

// Title, icons and _meta are for hosts to show and use.
func ExampleTool_Title() {
	s := mcp.NewServer("shop", "1.0.0", nil)
	mcp.AddTool(s, "buy", "Buy the cart", func(context.Context, struct{}) (string, error) { return "", nil }).
		Title("Check out").
		Icon("https://example.com/cart.png", "48x48").
		Meta("com.example/team", "payments")
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		fmt.Printf("%s: %s, %s, %s\n", tool.Name, tool.DisplayName(), tool.Icons[0].Src, tool.Meta["com.example/team"])
	}
	// Output: buy: Check out, https://example.com/cart.png, "payments"
}

// Unknown argument names are ignored unless a tool is strict.
func ExampleTool_Strict() {
	type Args struct {
		Limit int `json:"limit" jsonschema:"default=10"`
	}
	s := mcp.NewServer("search", "1.0.0", nil)
	mcp.AddTool(s, "find", "Find", func(_ context.Context, a Args) (int, error) { return a.Limit, nil }).Strict()
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = mcp.Call[int](ctx, c, "find", map[string]int{"limits": 5})
	fmt.Println(err)
	// Output:
	// Invalid arguments:
	// - unknown argument "limits": did you mean "limit"? It takes "limit"
}

// A hidden tool is not listed, but callable by those who know its name; a
// disabled one is neither.
func ExampleTool_Hidden() {
	s := mcp.NewServer("beta", "1.0.0", nil)
	add := func(name string) *mcp.Tool {
		return mcp.AddTool(s, name, "", func(context.Context, struct{}) (string, error) { return "ran", nil })
	}
	add("open")
	add("secret").Hidden()
	add("broken").Disabled()
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		fmt.Println("listed:", tool.Name)
	}
	for _, name := range []string{"secret", "broken"} {
		fmt.Print(name, ": ")
		fmt.Println(mcp.Call[string](ctx, c, name, nil))
	}
	// Output:
	// listed: open
	// secret: ran <nil>
	// broken:  Unknown tool: "broken" (code -32602)
}
