package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// formCase is a type of form with its schema, an answer, and what becomes of it.
type formCase struct {
	name, schema string
	answer, want string   // want is the value as JSON
	refused      []string // contents that are asked for again
	run          func(ctx context.Context) (any, error)
	ask          mcp.Ask
}

func formCaseOf[T any](name, schema, answer, want string, refused ...string) formCase {
	return formCase{name, schema, answer, want, refused,
		func(ctx context.Context) (any, error) { return mcp.Elicit[T](ctx, "q", "Please") }, mcp.AskForm[T]("q", "Please")}
}

type (
	shade     string
	someTimes struct {
		At  time.Time `json:"at"`
		Day string    `json:"day" jsonschema:"format=date"`
	}
	embeddedForm struct {
		nameForm
		Age *int `json:"age"`
	}
	evenForm struct {
		N int `json:"n"`
	}
)

func (f evenForm) Validate(context.Context) error {
	if f.N%2 != 0 {
		return errors.New("n must be even")
	}
	return nil
}

// TestForms holds what a struct asks for to the schema of forms, and answers to it.
func TestForms(t *testing.T) {
	for _, c := range []formCase{
		formCaseOf[struct {
			Name string `json:"name" jsonschema:"title=Your name,minLength=2,maxLength=5" jsonschema_description:"As in your passport"`
		}]("ELI-08 A58 a string with a title, a description and bounds",
			`{"name":{"type":"string","minLength":2,"maxLength":5,"title":"Your name","description":"As in your passport"}},"required":["name"]`,
			`{"name":"Adä"}`, `{"name":"Adä"}`, `{"name":"A"}`, `{"name":"Adalov"}`, `{"name":5}`, `{"name":null}`, `{}`),
		formCaseOf[struct {
			Mail string `json:"mail" jsonschema:"format=email"`
			Page string `json:"page" jsonschema:"format=uri"`
		}]("ELI-08 C101 formats of strings",
			`{"mail":{"type":"string","format":"email"},"page":{"type":"string","format":"uri"}},"required":["mail","page"]`,
			`{"mail":"ada@example.com","page":"https://example.com"}`, `{"mail":"ada@example.com","page":"https://example.com"}`,
			`{"mail":"ada","page":"https://example.com"}`, `{"mail":"ada@example.com","page":"example"}`),
		formCaseOf[someTimes]("ELI-08 moments and dates",
			`{"at":{"type":"string","format":"date-time"},"day":{"type":"string","format":"date"}},"required":["at","day"]`,
			`{"at":"2026-07-28T10:00:00Z","day":"2026-07-28"}`, `{"at":"2026-07-28T10:00:00Z","day":"2026-07-28"}`,
			`{"at":"2026-07-28","day":"2026-07-28"}`, `{"at":"2026-07-28T10:00:00Z","day":"28.7.2026"}`),
		formCaseOf[struct {
			Score float64 `json:"score" jsonschema:"minimum=0.5,maximum=99.5,default=95.5"`
		}]("ELI-09 ELI-14 a number with fractional bounds and default",
			`{"score":{"type":"number","minimum":0.5,"maximum":99.5,"default":95.5}}`,
			`{"score":3.5}`, `{"score":3.5}`, `{"score":0.4}`, `{"score":99.6}`, `{"score":"3.5"}`),
		formCaseOf[struct {
			Score float64 `json:"score" jsonschema:"default=95.5"`
		}]("ELI-09 a default of 95.5 survives", `{"score":{"type":"number","default":95.5}}`, `{}`, `{"score":95.5}`),
		formCaseOf[struct {
			N int   `json:"n" jsonschema:"minimum=1,maximum=30"`
			U uint8 `json:"u"`
		}]("C101 ELI-09 bounded integers, by tag and by type",
			`{"n":{"type":"integer","minimum":1,"maximum":30},"u":{"type":"integer","minimum":0,"maximum":255}},"required":["n","u"]`,
			`{"n":1e1,"u":255}`, `{"n":10,"u":255}`, `{"n":1.5,"u":1}`, `{"n":31,"u":1}`, `{"n":1,"u":256}`, `{"n":1,"u":-1}`),
		formCaseOf[struct {
			OK bool `json:"ok" jsonschema:"default=false"`
		}]("ELI-10 a boolean whose default is false", `{"ok":{"type":"boolean","default":false}}`, `{}`, `{"ok":false}`, `{"ok":"yes"}`, `{"ok":0}`),
		formCaseOf[struct {
			Color string `json:"color" jsonschema:"title=Color,enum=red,enum=green,default=red"`
		}]("ELI-11 C101 single choice", `{"color":{"type":"string","enum":["red","green"],"title":"Color","default":"red"}}`,
			`{"color":"green"}`, `{"color":"green"}`, `{"color":"blue"}`, `{"color":["red"]}`),
		formCaseOf[struct {
			Color shade `json:"color" jsonschema:"enum=#f00,enum=#0f0" mcp:"titles=Red|Green \\| Lime"`
		}]("ELI-11 C101 single choice with titles",
			`{"color":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green | Lime"}]}},"required":["color"]`,
			`{"color":"#0f0"}`, `{"color":"#0f0"}`, `{"color":"Red"}`),
		formCaseOf[struct {
			Colors []string `json:"colors" jsonschema:"enum=red,enum=green,enum=blue,minItems=1,maxItems=2,default=red,default=blue"`
		}]("ELI-12 C101 multiple choice",
			`{"colors":{"type":"array","items":{"type":"string","enum":["red","green","blue"]},"minItems":1,"maxItems":2,"default":["red","blue"]}}`,
			`{"colors":["green"]}`, `{"colors":["green"]}`, `{"colors":[]}`, `{"colors":["red","green","blue"]}`, `{"colors":["black"]}`, `{"colors":"red"}`),
		formCaseOf[struct {
			Colors []shade `json:"colors" jsonschema:"enum=#f00,enum=#0f0" mcp:"titles=Red|Green"`
		}]("ELI-12 C101 multiple choice with titles",
			`{"colors":{"type":"array","items":{"anyOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]}}},"required":["colors"]`,
			`{"colors":["#0f0","#f00"]}`, `{"colors":["#0f0","#f00"]}`, `{"colors":["Green"]}`),
		formCaseOf[embeddedForm]("promoted fields, and a pointer for what may be absent",
			`{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]`, `{"name":"Ada"}`, `{"name":"Ada","age":null}`, `{"age":3}`),
		formCaseOf[*nameForm]("a pointer to a struct", `{"name":{"type":"string"}},"required":["name"]`, `{"name":"Ada"}`, `{"name":"Ada"}`, `{}`),
		formCaseOf[struct{}]("no fields", `{}`, `{}`, `{}`),
		formCaseOf[evenForm]("a rule in Go", `{"n":{"type":"integer"}},"required":["n"]`, `{"n":4}`, `{"n":4}`, `{"n":3}`),
		formCaseOf[struct {
			Code string `json:"code" validate:"alphanum"`
		}]("a rule in a tag that no schema has", `{"code":{"type":"string","description":"letters and digits only"}},"required":["code"]`, `{"code":"a1"}`, `{"code":"a1"}`, `{"code":"a-1"}`),
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mcp.NewServer("forms", "1.0.0", nil)
			mcp.AddTool(s, "one", "", func(ctx context.Context, _ noArgs) (any, error) { return c.run(ctx) })
			mcp.AddTool(s, "gather", "", func(ctx context.Context, _ noArgs) (any, error) {
				if err := mcp.Gather(ctx, c.ask); err != nil {
					return nil, err
				}
				return c.run(ctx)
			})
			for _, tool := range []string{"one", "gather"} {
				call := round{name: tool}
				first := play(t, s, call)
				first.asks(t, "q")
				if diff := cmp.Diff(`{"type":"object","properties":`+c.schema+`}`, string(first.Requests["q"].Params.RequestedSchema)); diff != "" {
					t.Errorf("schema (-want +got):\n%s", diff)
				}
				for _, content := range c.refused {
					if res := play(t, s, call.again(first, accepted("q", content))); res.Type != "input_required" {
						t.Errorf("%s: ELI-17 not asked again: %s", content, res)
					}
				}
				play(t, s, call.again(first, accepted("q", c.answer))).says(t, c.want)
			}
		})
	}
}

// TestFormProblems holds types that are no forms to being found when they are first met, before anything is sent.
func TestFormProblems(t *testing.T) {
	type inner struct {
		A int `json:"a"`
	}
	type loop struct {
		Next *loop `json:"next"`
	}
	for _, c := range []struct {
		name string
		run  func(ctx context.Context) error
		want []string
	}{
		{"C101 A58 ELI-07 a struct within", asking[struct {
			In inner `json:"in"`
		}], []string{"field in", "forms are flat"}},
		{"ELI-07 a list of structs", asking[struct {
			In []inner `json:"in"`
		}], []string{"field in", "options of a field"}},
		{"ELI-07 a list without options", asking[struct {
			In []string `json:"in"`
		}], []string{"field in", "a choice"}},
		{"ELI-07 a list of numbers", asking[struct {
			In []int `json:"in" jsonschema:"enum=1"`
		}], []string{"field in"}},
		{"ELI-07 a map", asking[struct {
			In map[string]string `json:"in"`
		}], []string{"field in"}},
		{"ELI-07 anything", asking[struct {
			In any `json:"in"`
		}], []string{"field in"}},
		{"ELI-07 a type that holds itself", asking[loop], []string{"field next"}},
		{"ELI-08 a pattern", asking[struct {
			In string `json:"in" jsonschema:"pattern=^a"`
		}], []string{"field in", "pattern"}},
		{"ELI-09 an exclusive bound", asking[struct {
			In float64 `json:"in" jsonschema:"exclusiveMinimum=0"`
		}], []string{"field in", "exclusiveMinimum"}},
		{"ELI-08 a format that forms do not have", asking[struct {
			In string `json:"in" jsonschema:"format=uuid"`
		}], []string{"field in", "uuid"}},
		{"options that are numbers", asking[struct {
			In int `json:"in" jsonschema:"enum=1,enum=2"`
		}], []string{"field in", "enum"}},
		{"bytes", asking[struct {
			In []byte `json:"in"`
		}], []string{"field in"}},
		{"ELI-11 fewer titles than options", asking[struct {
			In string `json:"in" jsonschema:"enum=a,enum=b" mcp:"titles=A"`
		}], []string{"field in", "1 titles for 2 options"}},
		{"titles without options", asking[struct {
			In string `json:"in" mcp:"titles=A"`
		}], []string{"field in", "1 titles for 0 options"}},
		{"a header", asking[struct {
			In string `json:"in" mcp:"header=Region"`
		}], []string{"field in", "x-mcp-header"}},
		{"a channel", asking[struct {
			In chan int `json:"in"`
		}], []string{"In"}},
		{"a string", asking[string], []string{"type string", "a form is a struct"}},
		{"a list", asking[[]nameForm], []string{"a form is a struct"}},
		{"a map as a whole", asking[map[string]string], []string{"a form is a struct"}},
		{"by Gather", func(ctx context.Context) error { return mcp.Gather(ctx, mcp.AskForm[[]int]("q", "Please")) }, []string{"a form is a struct"}},
		{"by InputRequired", func(context.Context) error { return mcp.InputRequired(1, mcp.AskForm[[]int]("q", "Please")) }, []string{"a form is a struct"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := new(logBook)
			var got error
			s := mcp.NewServer("forms", "1.0.0", &mcp.ServerOptions{Logger: log.logger()})
			mcp.AddTool(s, "x", "", func(ctx context.Context, _ noArgs) (string, error) {
				got = c.run(ctx)
				return "", got
			})
			res := play(t, s, round{name: "x"})
			res.fails(t, "internal error; the server's log has the details")
			if strings.Contains(res.text(), "struct") {
				t.Errorf("the client is told of the program: %s", res.text())
			}
			for _, part := range append(c.want, "mrtr_form_test.go:", `tool \"x\"`) {
				if !strings.Contains(log.String(), part) {
					t.Errorf("logged %s, want %q", log, part)
				}
			}
			var problem *mcp.RegistrationError
			if !errors.Is(got, mcp.ErrInputRequired) && (!errors.As(got, &problem) || problem.Feature != "form") {
				t.Errorf("the handler got %v", got)
			}
		})
	}
}

func asking[T any](ctx context.Context) error {
	_, err := mcp.Elicit[T](ctx, "q", "Please")
	return err
}

// TestFormSchemas is about forms whose schema is given.
func TestFormSchemas(t *testing.T) {
	object := func(properties string) string { return `{"type":"object","properties":` + properties + `}` }
	for _, c := range []struct {
		name    string
		form    mcp.Schema
		content string // "": the schema is no form
		refused string
	}{
		{"a builder", mcp.Object().String("a", "A").MaxLength(3).Integer("b", "B").Min(1).Optional().Boolean("c", "").Default(true), `{"a":"x"}`, `{"a":"xxxx"}`},
		{"a builder's choice", mcp.Object().Array("a", "", mcp.Type("string").Enum("x", "y")), `{"a":["y"]}`, `{"a":["z"]}`},
		{"of a type", mcp.SchemaFor[nameForm](), `{"name":"x"}`, `{"name":1}`},
		{"ELI-13 options with names beside", mcp.RawSchema(object(`{"a":{"type":"string","enum":["1","2"],"enumNames":["one","two"]}}`)), `{"a":"2"}`, `{"a":"two"}`},
		{"ELI-11 titled options", mcp.RawSchema(object(`{"a":{"type":"string","oneOf":[{"const":"1","title":"one"}]}}`)), `{"a":"1"}`, `{"a":"one"}`},
		{"ELI-12 titled options, several", mcp.RawSchema(object(`{"a":{"type":"array","items":{"anyOf":[{"const":"1","title":"one"}]}}}`)), `{"a":["1"]}`, `{"a":["one"]}`},
		{"ELI-07 the dialect and a description of the whole", mcp.RawSchema(`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"T","description":"D","type":"object","properties":{},"additionalProperties":false}`), `{}`, ``},

		{"ELI-07 a nested object", mcp.Object().Object("a", "", mcp.Object().String("b", "")), ``, ``},
		{"ELI-07 an array of anything", mcp.Object().Array("a", "", mcp.Type("string")), ``, ``},
		{"ELI-07 a reference", mcp.RawSchema(object(`{"a":{"$ref":"#/$defs/a"}}`)), ``, ``},
		{"ELI-07 a combination at the root", mcp.RawSchema(`{"type":"object","properties":{},"oneOf":[{}]}`), ``, ``},
		{"ELI-07 no type", mcp.RawSchema(`{"properties":{}}`), ``, ``},
		{"ELI-07 another type", mcp.RawSchema(`{"type":"string"}`), ``, ``},
		{"ELI-07 several types of a field", mcp.RawSchema(object(`{"a":{"type":["string","null"]}}`)), ``, ``},
		{"ELI-07 further properties", mcp.RawSchema(`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`), ``, ``},
		{"a field that is no schema", mcp.RawSchema(object(`{"a":true}`)), ``, ``},
		{"a field twice", mcp.RawSchema(object(`{"a":{"type":"string"},"a":{"type":"string"}}`)), ``, ``},
		{"properties that are none", mcp.RawSchema(object(`5`)), ``, ``},
		{"required that is none", mcp.RawSchema(`{"type":"object","properties":{},"required":"a"}`), ``, ``},
		{"names for fewer options", mcp.RawSchema(object(`{"a":{"type":"string","enum":["1","2"],"enumNames":["one"]}}`)), ``, ``},
		{"ELI-11 an option without a title", mcp.RawSchema(object(`{"a":{"type":"string","oneOf":[{"const":"1"}]}}`)), ``, ``},
		{"ELI-11 an option with more than that", mcp.RawSchema(object(`{"a":{"type":"string","oneOf":[{"const":"1","title":"one","x":1}]}}`)), ``, ``},
		{"ELI-12 titled options of a list in the way of a string", mcp.RawSchema(object(`{"a":{"type":"array","items":{"oneOf":[{"const":"1","title":"one"}]}}}`)), ``, ``},
		{"options that are numbers", mcp.RawSchema(object(`{"a":{"type":"string","enum":[1]}}`)), ``, ``},
		{"options of a list that are numbers", mcp.RawSchema(object(`{"a":{"type":"array","items":{"type":"integer","enum":["1"]}}}`)), ``, ``},
		{"items with bounds", mcp.RawSchema(object(`{"a":{"type":"array","items":{"type":"string","enum":["1"],"maxLength":2}}}`)), ``, ``},
		{"a bound that is none", mcp.RawSchema(object(`{"a":{"type":"string","maxLength":"x"}}`)), ``, ``},
		{"a default that breaks the form", mcp.RawSchema(object(`{"a":{"type":"string","maxLength":1,"default":"xx"}}`)), ``, ``},
		{"no JSON", mcp.RawSchema(`{`), ``, ``},
		{"a builder with a mistake", mcp.Object().Min("x"), ``, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := new(logBook)
			s := mcp.NewServer("forms", "1.0.0", &mcp.ServerOptions{Logger: log.logger()})
			var got json.RawMessage
			mcp.AddTool(s, "linear", "", func(ctx context.Context, _ noArgs) (string, error) {
				if err := mcp.Gather(ctx, mcp.AskSchema("q", "Please", c.form)); err != nil {
					return "", err
				}
				var err error
				got, _, err = mcp.Answer[json.RawMessage](ctx, "q")
				return "", err
			})
			mcp.AddTool(s, "reenter", "", func(ctx context.Context, _ noArgs) (string, error) {
				content, ok, err := mcp.Answer[json.RawMessage](ctx, "q")
				if !ok {
					return "", mcp.InputRequired(nil, mcp.AskSchema("q", "Please", c.form))
				}
				got = content
				return "", err
			})
			for _, tool := range []string{"linear", "reenter"} {
				call := round{name: tool}
				first := play(t, s, call)
				if c.content == "" {
					if !first.IsError || first.Type != "complete" {
						t.Errorf("got %s", first)
					}
					continue
				}
				first.asks(t, "q")
				if c.refused != "" {
					again := play(t, s, call.again(first, accepted("q", c.refused)))
					if again.asks(t, "q"); !strings.Contains(again.Requests["q"].Params.Message, "The last answer cannot be used") {
						t.Errorf("got %s", again)
					}
				}
				if res := play(t, s, call.again(first, accepted("q", c.content))); res.IsError || res.Type != "complete" || string(got) != c.content {
					t.Errorf("got %s and %s", got, res)
				}
			}
		})
	}
}

// TestFormIsStable shows that one type always asks with the same bytes.
func TestFormIsStable(t *testing.T) {
	for range 3 {
		ask := mcp.AskForm[someTimes]("q", "Please")
		if got := fmt.Sprint(ask.Kind, ask.Schema.JSON()); got != fmt.Sprint(ask.Kind, mcp.AskForm[someTimes]("q", "Please").Schema.JSON()) || !strings.HasPrefix(got, "elicitation.form{") {
			t.Errorf("got %s", got)
		}
	}
}
