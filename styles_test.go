package mcp_test

import (
	"context"
	"encoding/json"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// bookingSchema is what AddTool derives from a booking.
const bookingSchema = `{"type":"object","properties":{"room":{"type":"string"},"guests":{"type":"integer","minimum":1,"maximum":8,"default":2},"kind":{"type":"string","enum":["single","double"]}},"required":["room"]}`

// hotelService has markers for its methods.
type hotelService struct {
	_ mcp.ToolTag `method:"Add" name:"service"`
	hotel
}

func (h *hotelService) Add(ctx context.Context, b booking) (booking, error) { return h.book(ctx, b) }

// stylesServer has the same tool in every style of registration.
func stylesServer() *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	h := new(hotel)
	raw := func(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{Structured: args}, nil
	}
	mcp.AddTool(s, "typed", "", h.book)
	mcp.AddTool(s, "replaced", "", h.book).InputSchema(mcp.RawSchema(bookingSchema))
	mcp.AddRawTool(s, "raw", "", mcp.RawSchema(bookingSchema), raw)
	mcp.AddRawTool(s, "derived", "", mcp.SchemaFor[booking](), raw)
	mcp.AddRawTool(s, "built", "", mcp.Object().String("room", "").
		Integer("guests", "").Min(1).Max(8).Default(2).
		String("kind", "").Enum("single", "double").Optional(), raw)
	mcp.AddToolDef(s, mcp.ToolDef{Name: "data", InputSchema: json.RawMessage(bookingSchema)}, raw)
	mcp.AddFunc(s, "function", "", h.book)
	mcp.AddMethod(s, &hotelService{}, "Add", "method", "")
	mcp.AddService(s, &hotelService{})
	return s
}

func TestStyles(t *testing.T) {
	t.Parallel()
	s := stylesServer()
	c := dialMemory(t, s, nil)
	tools := mustList(t, c)
	if len(tools) != 9 {
		t.Fatalf("%d tools", len(tools))
	}
	for _, tool := range tools {
		t.Run("A8 the same schema: "+tool.Name, func(t *testing.T) {
			if diff := cmp.Diff(bookingSchema, string(tool.InputSchema)); diff != "" {
				t.Errorf("input schema (-want +got):\n%s", diff)
			}
		})
	}
	for _, args := range []string{
		`{}`, `{"room":7}`, `{"room":"a","guests":9}`, `{"room":"a","guests":0.5}`, `{"room":"a","guests":"2"}`, `{"room":"a","kind":"suite"}`,
		`{"room":null}`, `{"room":"a","room":"b"}`, `{"rom":"a","guests":-1,"kind":[]}`, `{"room":{"a":1},"guests":1e400}`, `{"guests":2,"roam":"x"}`,
	} {
		t.Run("A8 A39 TOOL-14 bad arguments have the same answer in every style: "+args, func(t *testing.T) {
			want := ""
			for _, tool := range tools {
				answer := strings.ReplaceAll(ask(t, s, modernCall("1", tool.Name, args)), tool.Name, "")
				failureIn(t, answer)
				if want == "" {
					want = answer
				}
				if answer != want {
					t.Errorf("%s: %s\ninstead of %s", tool.Name, answer, want)
				}
			}
		})
	}
	for args, want := range map[string]string{
		`{"room":"a"}`:                                                `{"room":"a","guests":2}`,
		`{"room":"a","guests":null,"kind":null}`:                      `{"room":"a","guests":2}`,
		`{"room":"a","guests":3.0,"kind":"double"}`:                   `{"room":"a","guests":3,"kind":"double"}`,
		`{"room":"\u00e4","guests":1e0}`:                              `{"room":"ä","guests":1}`,
		`{"room":"a","guests":8,"kind":"single"}`:                     `{"room":"a","guests":8,"kind":"single"}`,
		"{ \"room\" : \"a\",\n \"guests\":\t4 , \"kind\":\"single\"}": `{"room":"a","guests":4,"kind":"single"}`,
	} {
		t.Run("A8 A18 A19 A41 good arguments reach the handler alike in every style: "+args, func(t *testing.T) {
			for _, tool := range tools {
				r := mustCall(t, c, tool.Name, json.RawMessage(args))
				got, err := mcp.Call[booking](t.Context(), c, tool.Name, json.RawMessage(args))
				if err != nil {
					t.Fatal(err)
				}
				compact, err := json.Marshal(got)
				if err != nil || string(compact) != want {
					t.Errorf("%s: %v, %s from %s", tool.Name, err, compact, textOf(r))
				}
			}
		})
	}
	t.Run("A42 A18 an unknown argument reaches a raw handler, and no typed one", func(t *testing.T) {
		for _, tool := range tools {
			_, raw := map[string]bool{"raw": true, "derived": true, "built": true, "data": true}[tool.Name]
			r := mustCall(t, c, tool.Name, json.RawMessage(`{"room":"a","extra":1}`))
			if strings.Contains(textOf(r), "extra") != raw || r.IsError {
				t.Errorf("%s: %s", tool.Name, textOf(r))
			}
		}
	})
	t.Run("A6 handlers need no import but context", func(t *testing.T) {
		file, err := parser.ParseFile(token.NewFileSet(), "domain_test.go", nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if len(file.Imports) != 1 || file.Imports[0].Path.Value != `"context"` {
			t.Errorf("imports %v", file.Imports)
		}
	})
	t.Run("B15 TOOL-15 raw handlers that return nothing, or fail", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddRawTool(s, "nil", "", mcp.Schema{}, func(context.Context, json.RawMessage) (*mcp.Result, error) { return nil, nil })
		mcp.AddRawTool(s, "panic", "", mcp.Schema{}, func(context.Context, json.RawMessage) (*mcp.Result, error) { panic(secret) })
		mcp.AddFunc(s, "func", "", func() *mcp.Result { return nil })
		for _, tool := range []string{"nil", "panic", "func"} {
			undisclosed(t, failureIn(t, ask(t, s, modernCall("1", tool, "{}"))))
		}
	})
}

func TestFunctionParameters(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	h := new(hotel)
	params := []mcp.Param{mcp.Arg("room", ""), mcp.Arg("guests", "").Default(2), mcp.Arg("kind", "").Optional()}
	mcp.AddFunc(s.Scope("sc"), "function", "", h.Book, params...)
	mcp.AddMethod(s.Scope("sc"), h, "Book", "method", "", params...)
	c := dialMemory(t, s, nil)
	for _, tool := range []string{"sc_function", "sc_method"} {
		t.Run("B15 A8 positional parameters have names, defaults and a scope: "+tool, func(t *testing.T) {
			got, err := mcp.Call[booking](t.Context(), c, tool, map[string]any{"room": "a"})
			if err != nil || got != (booking{Room: "a", Guests: 2}) {
				t.Errorf("%+v, %v", got, err)
			}
			r := mustCall(t, c, tool, map[string]any{"guests": "x"})
			if want := "Invalid arguments:\n- guests must be an integer, got the string \"x\"\n- room is required, but missing: it must be a string"; textOf(r) != want {
				t.Errorf("refusal %q", textOf(r))
			}
		})
	}
}
