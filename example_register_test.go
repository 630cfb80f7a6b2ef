package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/typedmcp/mcp"
)

// A raw tool gets its arguments as JSON, checked against a schema that need
// not come from a Go type.
func ExampleAddRawTool() {
	s := mcp.NewServer("raw", "1.0.0", nil)
	input := mcp.Object().
		String("unit", "Of the temperature").Enum("C", "F").Default("C").
		Number("value", "").Min(-273.15)
	mcp.AddRawTool(s, "store", "Store a temperature", input, func(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{Content: []mcp.Content{mcp.Text("stored " + string(args))}}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "store", json.RawMessage(`{"value":21,"unit":"F"}`)))
	_, err = mcp.Call[string](ctx, c, "store", json.RawMessage(`{"value":-300}`))
	fmt.Println(err)
	// Output:
	// stored {"value":21,"unit":"F"} <nil>
	// Invalid arguments:
	// - value must be at least -273.15, got -300
}

// A definition may be data: read from a file, or from another server.
func ExampleAddToolDef() {
	var def mcp.ToolDef
	if err := json.Unmarshal([]byte(`{
		"name": "add", "title": "Adder", "description": "Add two numbers",
		"inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
		"annotations": {"readOnlyHint": true}
	}`), &def); err != nil {
		log.Fatal(err)
	}
	s := mcp.NewServer("data", "1.0.0", nil)
	mcp.AddToolDef(s, def, func(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
		var a struct{ A, B float64 }
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, err
		}
		return &mcp.Result{Structured: a.A + a.B}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[float64](ctx, c, "add", map[string]float64{"a": 1, "b": 0.5}))
	// Output: 1.5 <nil>
}

// Plain functions are tools when their parameters are given names.
func ExampleAddFunc() {
	s := mcp.NewServer("text", "1.0.0", nil)
	mcp.AddFunc(s, "repeat", "Repeat a text", strings.Repeat,
		mcp.Arg("text", "What to repeat"), mcp.Arg("times", "How often").Default(2))
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "repeat", map[string]any{"text": "ab"}))
	// Output: abab <nil>
}

// RegisterWriter says how results of a type become content.
func ExampleRegisterWriter() {
	type Table struct{ Rows [][]string }
	s := mcp.NewServer("sheets", "1.0.0", nil)
	mcp.RegisterWriter(s, func(t Table) ([]mcp.Content, error) {
		var lines []string
		for _, row := range t.Rows {
			lines = append(lines, "| "+strings.Join(row, " | ")+" |")
		}
		return []mcp.Content{mcp.Text(strings.Join(lines, "\n"))}, nil
	})
	mcp.AddTool(s, "sheet", "The sheet", func(context.Context, struct{}) (Table, error) {
		return Table{[][]string{{"city", "°C"}, {"Kyoto", "21"}}}, nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	text, err := mcp.Call[string](ctx, c, "sheet", nil)
	fmt.Println(text, err)
	// Output:
	// | city | °C |
	// | Kyoto | 21 | <nil>
}

// A schema is built step by step; every step returns a new value.
func ExampleObject() {
	address := mcp.Object().String("street", "").String("city", "")
	order := mcp.Object().
		Array("items", "What to buy", mcp.Type("string")).
		Object("to", "", address).
		Integer("copies", "").Min(1).Default(1).
		Boolean("gift", "Wrapped").Optional()
	fmt.Println(order.JSON())
	// Output: {"type":"object","properties":{"items":{"type":"array","description":"What to buy","items":{"type":"string"}},"to":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}},"required":["street","city"]},"copies":{"type":"integer","minimum":1,"default":1},"gift":{"type":"boolean","description":"Wrapped"}},"required":["items","to"]}
}

// SchemaFor is the schema that AddTool derives from a type.
func ExampleSchemaFor() {
	type Args struct {
		Order string `json:"order,omitempty" jsonschema:"enum=asc,enum=desc,default=asc"`
	}
	fmt.Println(mcp.SchemaFor[Args]().JSON())
	// Output: {"type":"object","properties":{"order":{"type":"string","enum":["asc","desc"],"default":"asc"}}}
}

// Tags says in a string what the other methods say one by one.
func ExampleTool_Tags() {
	s := mcp.NewServer("tagged", "1.0.0", nil)
	mcp.AddTool(s, "list", "List", func(context.Context, struct{}) (string, error) { return "", nil }).
		Tags("title=List all, category=files, readonly, destructive=false")
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool := range c.Tools(ctx) {
		fmt.Println(tool.Title, *tool.Annotations.ReadOnly, *tool.Annotations.Destructive)
	}
	// Output: List all true false
}
