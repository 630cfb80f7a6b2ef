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

type color string

// Values implements what makes a type an enumeration.
func (color) Values() []color { return []color{"red", "green"} }

// painter has methods of all kinds.
type painter struct{ name string }

func (p painter) Paint(_ context.Context, c color, coats int) (string, error) {
	if coats > 9 {
		return "", errors.New("too much paint")
	}
	return fmt.Sprintf("%s paints %s, %d times", p.name, c, coats), nil
}

func (p *painter) Rename(name string) { p.name = name }

func (painter) secret() string { return "never" }

func TestFunctions(t *testing.T) {
	t.Parallel()
	const required = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`
	none := `{"type":"object","properties":{},"additionalProperties":false}`
	arg := mcp.Arg("a", "")
	for _, tt := range []struct {
		name   string
		define func(*mcp.Server)
		schema string
		args   string
		want   string // members of the result
	}{
		{"B7 no parameters", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() string { return "x" }) }, none, ``, holdingText("x")},
		{"B7 a context alone", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(context.Context) string { return "x" }) }, none, `{"more":1}`, holdingText("x")},
		{"B6 no result", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(int) {}, arg) }, required, `{"a":1}`, holding("")},
		{"B6 an error alone, nil", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(int) error { return nil }, arg) }, required, `{"a":1}`, holding("")},
		{"B6 an error alone", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(int) error { return errors.New("no") }, arg) }, required, `{"a":1}`, holdingText("no") + `,"isError":true`},
		{"B6 a boolean", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(a int) bool { return a > 0 }, arg) }, required, `{"a":1}`, holdingValue("true")},
		{"B6 a number and an error", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a int) (float64, error) { return float64(a) / 2, nil }, arg)
		}, required, `{"a":1}`, holdingValue("0.5")},
		{"B6 a struct", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(a int) row { return row{a, "x"} }, arg) }, required, `{"a":1}`, holdingValue(`{"id":1,"name":"x"}`)},
		{"B6 a slice", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(a int) []int { return []int{a} }, arg) }, required, `{"a":1}`, holdingValue(`[1]`)},
		{"B6 content", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a int) []mcp.Content { return []mcp.Content{mcp.Text("x")} }, arg)
		}, required, `{"a":1}`, holdingText("x")},
		{"B6 a *Result", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a int) *mcp.Result { return &mcp.Result{Content: []mcp.Content{mcp.Text("x")}} }, arg)
		}, required, `{"a":1}`, holdingText("x")},
		{"B3 B4 names and descriptions", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a int, b string) string { return fmt.Sprintf("%d %s", a, b) }, mcp.Arg("a", "The \"first\", truly; a `b` \\"), mcp.Arg("b", ""))
		}, `{"type":"object","properties":{"a":{"type":"integer","description":"The \"first\", truly; a ` + "`b`" + ` \\"},"b":{"type":"string"}},"required":["a","b"]}`, `{"a":1,"b":"x"}`, holdingText("1 x")},
		{"B16 each argument gets to its parameter", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(_ context.Context, a, b, c string) string { return a + b + c }, mcp.Arg("third", ""), mcp.Arg("first", ""), mcp.Arg("second", ""))
		}, `{"type":"object","properties":{"third":{"type":"string"},"first":{"type":"string"},"second":{"type":"string"}},"required":["third","first","second"]}`,
			`{"first":"1","second":"2","third":"3"}`, holdingText("312")},
		{"B17 an arguments struct needs no Param", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(a addArgs) int { return a.A + a.B }) },
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`, `{"a":1,"b":2}`, holdingValue("3")},
		{"B17 nor does a pointer to one", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(_ context.Context, a *addArgs) int { return a.A }) },
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`, `{"a":1,"b":2}`, holdingValue("1")},
		{"B17 with a Param it is one argument", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a addArgs) int { return a.B }, mcp.Arg("pair", "Two"))
		},
			`{"type":"object","properties":{"pair":{"type":"object","description":"Two","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}},"required":["pair"]}`,
			`{"pair":{"a":1,"b":2}}`, holdingValue("2")},
		{"A41 optional parameters are zero, pointers nil", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a int, b *int, c []string) string { return fmt.Sprint(a, b == nil, c == nil) }, mcp.Arg("a", "").Optional(), mcp.Arg("b", ""), mcp.Arg("c", "").Optional())
		}, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"array","items":{"type":"string"}}}}`, `{}`, holdingText("0 true true")},
		{"A41 pointers to what was sent", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(b *int) int { return *b }, mcp.Arg("b", ""))
		}, `{"type":"object","properties":{"b":{"type":"integer"}}}`, `{"b":7}`, holdingValue("7")},
		{"A41 defaults of every type", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a color, b time.Duration, c []string, d any, e addArgs, f string, g bool) string {
				return fmt.Sprintf("%v %v %v %v %v %v %v", a, b, c, d, e, f, g)
			},
				mcp.Arg("a", "").Default(color("green")), mcp.Arg("b", "").Default(90*time.Second), mcp.Arg("c", "").Default([]string{"p,q", "r"}), mcp.Arg("d", "").Default("7"),
				mcp.Arg("e", "").Default(addArgs{1, 2}), mcp.Arg("f", "").Default(`x, y=\z\`), mcp.Arg("g", "").Default(true))
		}, `{"type":"object","properties":{"a":{"type":"string","enum":["red","green"],"default":"green"},"b":{"type":"string","description":"a duration such as \"1m30s\"","default":"1m30s"},` +
			`"c":{"type":"array","items":{"type":"string"},"default":["p,q","r"]},"d":{"default":"7"},` +
			`"e":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"default":{"a":1,"b":2}},` +
			`"f":{"type":"string","default":"x, y=\\z\\"},"g":{"type":"boolean","default":true}}}`,
			`{}`, holdingText(`green 1m30s [p,q r] 7 {1 2} x, y=\z\ true`)},
		{"A41 empty and zero defaults", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", func(a string, b int, c *int) string { return fmt.Sprint(a, b, c == nil) }, mcp.Arg("a", "").Default(""), mcp.Arg("b", "").Default(0), mcp.Arg("c", "").Default(nil))
		}, `{"type":"object","properties":{"a":{"type":"string","default":""},"b":{"type":"integer","default":0},"c":{"type":"integer"}}}`, `{}`, holdingText("0 true")},
		{"B13 B16 a method by its name", func(s *mcp.Server) {
			mcp.AddMethod(s, painter{"Ada"}, "Paint", "t", "", mcp.Arg("color", ""), mcp.Arg("coats", "").Default(2))
		}, `{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]},"coats":{"type":"integer","default":2}},"required":["color"]}`,
			`{"color":"red"}`, holdingText("Ada paints red, 2 times")},
		{"B13 and its error", func(s *mcp.Server) {
			mcp.AddMethod(s, &painter{"Ada"}, "Paint", "t", "", mcp.Arg("color", ""), mcp.Arg("coats", ""))
		},
			`{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]},"coats":{"type":"integer"}},"required":["color","coats"]}`,
			`{"color":"red","coats":10}`, holdingText("too much paint") + `,"isError":true`},
		{"B13 a method value", func(s *mcp.Server) {
			mcp.AddFunc(s, "t", "", painter{"Bo"}.Paint, mcp.Arg("color", ""), mcp.Arg("coats", ""))
		},
			`{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]},"coats":{"type":"integer"}},"required":["color","coats"]}`,
			`{"color":"green","coats":1}`, holdingText("Bo paints green, 1 times")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("fixture", "1.0.0", nil)
			tt.define(s)
			if diff := cmp.Diff(tt.schema, inputSchemaOf(t, s)); diff != "" {
				t.Errorf("input schema (-want +got):\n%s", diff)
			}
			params := []string{`"name":"t"`, modernMeta()}
			if tt.args != "" {
				params = append(params, `"arguments":`+tt.args)
			}
			if diff := cmp.Diff(modernResult("1", tt.want), ask(t, s, plainRequest("1", "tools/call", params...))); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFunctionNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "my name", "x.y", "$ref", "größe", "x-y", "a/b", "日本", "null", "string", "P1", "properties", "0"} {
		t.Run("B16 a parameter may be called "+name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddFunc(s, "t", "", func(v string) string { return v }, mcp.Arg(name, ""))
			if got := textOf(mustCall(t, dialMemory(t, s, nil), "t", map[string]string{name: "it"})); got != "it" {
				t.Error(got)
			}
		})
	}
}

func TestFunctionsRefused(t *testing.T) {
	t.Parallel()
	a, b := mcp.Arg("a", ""), mcp.Arg("b", "")
	for _, tt := range []struct {
		name   string
		define func(*mcp.Server)
		want   string
	}{
		{"B17 too few Params", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(context.Context, string, int) {}, a) },
			`func(context.Context, string, int): parameter 2 besides the context (int) has no Param: each needs one, in order`},
		{"B17 none at all", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(string) {}) },
			`func(string): parameter 1 besides the context (string) has no Param: each needs one, in order`},
		{"B17 too many Params", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(string) {}, a, b) }, `func(string): Param 2, named "b", has no parameter: besides the context there are 1`},
		{"B17 a name twice", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(string, int) {}, a, a) },
			`func(string, int): parameter 2 (int), named "a": another parameter has that name`},
		{"B17 no name", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(string) {}, mcp.Param{}) }, `func(string): parameter 1 (string), named "": a parameter needs a name other than -`},
		{"B17 a name that is none", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(string) {}, mcp.Arg("-", "")) }, `func(string): parameter 1 (string), named "-": a parameter needs a name other than -`},
		{"B17 a name with a comma", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(string) {}, mcp.Arg("a,b", "")) }, `func(string): parameter 1 (string), named "a,b": the name has a quote, comma or backslash`},
		{"A41 a default of another type", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(int) {}, a.Default("x")) },
			`func(int): parameter 1 (int), named "a": the default "x" does not fit: expected an integer, got a string`},
		{"A41 a default for text that is none", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(string) {}, a.Default(7)) },
			`func(string): parameter 1 (string), named "a": the default 7 does not fit: expected a string, got a number`},
		{"A41 a default that the type does not allow", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(color) {}, a.Default("blue")) },
			`type func(mcp_test.color): field a: the default breaks the schema: the value must be one of "red", "green", got "blue"`},
		{"A41 a default without JSON", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(any) {}, a.Default(func() {})) },
			`func(interface {}): parameter 1 (interface {}), named "a": the default has no JSON: func() has no JSON form`},
		{"A41 a default that panics", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(any) {}, a.Default(panicsInJSON{})) },
			`func(interface {}): parameter 1 (interface {}), named "a": the default has no JSON: panic: no JSON of me, sesame`},
		{"a parameter without JSON", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(chan int) {}, a) }, "type func(chan int): field a: chan int has no JSON form; leave the field out with `json:\"-\"`"},
		{"a part of one without JSON", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(int, struct{ X []chan int }) {}, a, b) },
			"type func(int, struct{ X … }): field b.X[]: chan int has no JSON form; leave the field out with `json:\"-\"`"},
		{"a struct that is text", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(time.Time) {}) }, `func(time.Time): parameter 1 besides the context (time.Time) has no Param: each needs one, in order`},
		{"variadic", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(...int) {}, a) }, `func(...int): the last parameter is variadic; make it a slice`},
		{"a context at the end", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func(int, context.Context) {}, a, b) }, `func(int, context.Context): the context must be the first parameter`},
		{"two results", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() (int, int) { return 0, 0 }) }, `func() (int, int): the results must be none, R, error, or R and error`},
		//lint:ignore ST1008 that is what is refused
		{"an error before the end", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() (error, int) { return nil, 0 }) }, `func() (error, int): the results must be none, R, error, or R and error`},
		{"an error of a type of its own", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() (int, *mcp.Error) { return 0, nil }) }, `func() (int, *mcp.Error): the results must be none, R, error, or R and error`},
		{"no function", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", 7) }, `a function is needed, not a value of type int`},
		{"nothing", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", nil) }, `a function is needed, not nil`},
		{"a nil function", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", (func())(nil)) }, `the handler is nil`},
		{"B13 an unknown method", func(s *mcp.Server) { mcp.AddMethod(s, painter{}, "Draw", "t", "") }, `method Draw of mcp_test.painter: there is no such method; methods must be exported`},
		{"B14 an unexported method", func(s *mcp.Server) { mcp.AddMethod(s, painter{}, "secret", "t", "") }, `method secret of mcp_test.painter: there is no such method; methods must be exported`},
		{"B14 a method of the pointer", func(s *mcp.Server) { mcp.AddMethod(s, painter{}, "Rename", "t", "", a) }, `method Rename of mcp_test.painter: its receiver is a pointer; give one`},
		{"B13 no receiver", func(s *mcp.Server) { mcp.AddMethod(s, nil, "Paint", "t", "") }, `the receiver of method Paint is nil`},
		{"B13 a nil receiver", func(s *mcp.Server) { mcp.AddMethod(s, (*painter)(nil), "Paint", "t", "") }, `the receiver of method Paint is nil`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.define(s)
			if got := strings.TrimPrefix(baseNames(fmt.Sprint(s.Check())), `func_test.go: tool "t": `); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := (painter{}).secret(); got != "never" {
		t.Error(got)
	}
}

// TestFunctionArgumentsChecked shows that positional parameters are held to the same rules as the fields of a struct.
func TestFunctionArgumentsChecked(t *testing.T) {
	t.Parallel()
	ran := false
	s := mcp.NewServer("s", "1", nil)
	mcp.AddFunc(s, "t", "", func(c color, at time.Time, n int8) { ran = true }, mcp.Arg("color", ""), mcp.Arg("at", ""), mcp.Arg("n", ""))
	c := dialMemory(t, s, nil)
	t.Run("A37 A39 the function does not run on bad arguments", func(t *testing.T) {
		const want = "Invalid arguments:\n- color must be one of \"red\", \"green\", got \"blue\"\n" +
			"- at must be a date and time as in RFC 3339, such as \"2026-05-01T10:00:00Z\", got the string \"soon\"\n- n must be at most 127, got 128"
		if got := textOf(mustCall(t, c, "t", json.RawMessage(`{"color":"blue","at":"soon","n":128}`))); got != want {
			t.Errorf("got %s", got)
		}
		if ran {
			t.Error("it ran")
		}
	})
}
