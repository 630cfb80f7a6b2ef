package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// echoServer has the tool "t", which returns the Go syntax of the arguments that its handler got.
func echoServer[A any](opts *mcp.ServerOptions) *mcp.Server {
	s := mcp.NewServer("echo", "1", opts)
	mcp.AddTool(s, "t", "", func(_ context.Context, a A) (string, error) { return fmt.Sprintf("%+v", a), nil })
	return s
}

// goNames matches what has no place in a text for a model: names of Go and of its libraries.
var goNames = regexp.MustCompile(`(?i)\b(go|golang|struct|int64|uint8?|float64|slice|reflect|json\.|jsontext|unmarshal|mcp_test|invopop|validator)\b`)

func TestArguments(t *testing.T) {
	t.Parallel()
	type big64 struct {
		ID int64 `json:"id"`
	}
	type number struct {
		N int `json:"n"`
	}
	type shaped struct {
		Small int8           `json:"small,omitempty"`
		When  time.Time      `json:"when,omitzero"`
		Wait  time.Duration  `json:"wait,omitempty"`
		Huge  *big.Int       `json:"huge,omitempty"`
		Bytes []byte         `json:"bytes,omitempty"`
		Map   map[string]int `json:"map,omitempty"`
	}
	type defaults struct {
		Page *struct {
			Size int `json:"size,omitempty" jsonschema:"default=20,maximum=50"`
		} `json:"page,omitempty"`
		Sort string `json:"sort,omitempty" jsonschema:"default=asc"`
	}
	type flat struct {
		Page struct {
			Size int `json:"size,omitempty" jsonschema:"default=20"`
		} `json:"page,omitempty"`
		Sort string `json:"sort,omitempty" jsonschema:"default=asc"`
	}
	type sent struct {
		Day  int    `json:"day" jsonschema:"minimum=0,maximum=6"`
		On   bool   `json:"on"`
		Note string `json:"note"`
	}
	type account struct {
		Account string `json:"account"`
	}
	type roles struct {
		Name  string `json:"name"`
		Age   uint   `json:"age"`
		Roles []struct {
			ID int `json:"id"`
		} `json:"roles"`
	}
	loose, strict := (*mcp.ServerOptions)(nil), &mcp.ServerOptions{StrictArgs: true}

	for _, tt := range []struct {
		name   string
		server *mcp.Server
		args   string
		want   string // what the handler got; "!" and lines: the refusal, in full
	}{
		{"C31 integers beyond 2^53 are exact", echoServer[big64](loose), `{"id":9007199254740993}`, "{ID:9007199254740993}"},
		{"C31 the largest", echoServer[big64](loose), `{"id":-9223372036854775808}`, "{ID:-9223372036854775808}"},
		{"C31 one more is refused", echoServer[big64](loose), `{"id":9223372036854775808}`, "!id must be at most 9223372036854775807, got 9223372036854775808"},

		{"C35 zero values that were sent count", echoServer[sent](loose), `{"day":0,"on":false,"note":""}`, "{Day:0 On:false Note:}"},
		{"C35 A34 all that is missing is named", echoServer[sent](loose), `{}`, "!day is required, but missing: it must be an integer\non is required, but missing: it must be true or false\nnote is required, but missing: it must be a string"},

		{"C37 A40 all errors in one reply, readable", echoServer[roles](loose), `{"age":-1,"roles":[{"id":1},{"id":"x"}]}`,
			"!age must be at least 0, got -1\nroles[1].id must be an integer, got the string \"x\"\nname is required, but missing: it must be a string"},

		{"C38 1.0 is an integer", echoServer[number](loose), `{"n":1.0}`, "{N:1}"},
		{"C38 1e3 is an integer", echoServer[number](loose), `{"n":1e3}`, "{N:1000}"},
		{"C38 -0 is 0", echoServer[number](loose), `{"n":-0}`, "{N:0}"},
		{"C38 1.5 is none", echoServer[number](loose), `{"n":1.5}`, "!n must be an integer, got 1.5"},
		{"C38 A32 a string is none", echoServer[number](loose), `{"n":"1"}`, "!n must be an integer, got the string \"1\""},
		{"C38 1e400 is out of range", echoServer[number](loose), `{"n":1e400}`, "!n must be at most 9223372036854775807, got 1e400"},
		{"C38 1e999999999 is out of range at once", echoServer[number](loose), `{"n":1e999999999}`, "!n must be at most 9223372036854775807, got 1e999999999"},

		{"C41 a duplicate name is refused", echoServer[account](loose), `{"account":"own","account":"other"}`, "!account is given more than once: send each name once"},
		{"C41 in whatever spelling", echoServer[account](loose), `{"account":"own","\u0061ccount":"other"}`, "!account is given more than once: send each name once"},
		{"C41 of an unknown name too", echoServer[account](loose), `{"account":"own","x":1,"x":2}`, "!x is given more than once: send each name once"},

		{"C43 A41 nested defaults under a present parent", echoServer[flat](loose), `{"page":{}}`, "{Page:{Size:20} Sort:asc}"},
		{"C43 A41 absent top-level defaults", echoServer[flat](loose), `{}`, "{Page:{Size:20} Sort:asc}"},
		{"C43 values that were sent stay", echoServer[flat](loose), `{"page":{"size":0},"sort":""}`, "{Page:{Size:0} Sort:}"},
		{"C43 defaults replace null", echoServer[flat](loose), `{"page":null,"sort":null}`, "{Page:{Size:20} Sort:asc}"},
		{"C43 values that were sent are checked", echoServer[defaults](loose), `{"page":{"size":51}}`, "!page.size must be at most 50, got 51"},

		{"registered types: good", echoServer[shaped](loose), `{"when":"2026-01-02T03:04:05Z","wait":"1m30s","huge":123456789012345678901234567890,"bytes":"AAE=","map":{"a":1}}`,
			"{Small:0 When:2026-01-02 03:04:05 +0000 UTC Wait:1m30s Huge:+123456789012345678901234567890 Bytes:[0 1] Map:map[a:1]}"},
		{"registered types: bad", echoServer[shaped](loose), `{"small":128,"when":"yesterday","wait":"soon","huge":1.5,"bytes":"?","map":{"a":"b"}}`,
			"!small must be at most 127, got 128\n" +
				"when must be a date and time as in RFC 3339, such as \"2026-05-01T10:00:00Z\", got the string \"yesterday\"\n" +
				"wait must be a duration such as \"1m30s\", got the string \"soon\"\n" +
				"huge must be an integer, got 1.5\n" +
				"bytes must be base64 text, got the string \"?\"\n" +
				"map.a must be an integer, got the string \"b\""},

		{"A42 unknown names are ignored", echoServer[account](loose), `{"account":"a","acount":"b"}`, "{Account:a}"},
		{"A42 a near-miss is named when the name is missing", echoServer[account](loose), `{"acount":"b"}`, "!account is required, but missing: it must be a string; unknown argument \"acount\": did you mean \"account\"?"},
		{"A42 unknown names are refused under StrictArgs, with the nearest", echoServer[account](strict), `{"account":"a","acount":"b"}`, "!unknown argument \"acount\": did you mean \"account\"? It takes \"account\""},
		{"A42 without one, what there is", echoServer[account](strict), `{"account":"a","zzz":"b"}`, "!unknown argument \"zzz\": it takes \"account\""},
		{"A42 no parameters under StrictArgs", echoServer[struct{}](strict), `{"zzz":"b"}`, "!unknown argument \"zzz\": it has no names"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := ask(t, tt.server, modernCall("1", "t", tt.args))
			refusal, refused := strings.CutPrefix(tt.want, "!")
			if !refused {
				var content []struct{ Text string }
				if err := json.Unmarshal(resultIn(t, answer)["content"], &content); err != nil || len(content) != 1 || content[0].Text != tt.want {
					t.Errorf("%v, got %v", err, content)
				}
				return
			}
			got := failureIn(t, answer)
			if diff := cmp.Diff("Invalid arguments:\n- "+strings.ReplaceAll(refusal, "\n", "\n- "), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if goNames.MatchString(got) {
				t.Errorf("the text speaks of Go: %s", got)
			}
		})
	}
}

func TestArgumentsOfStrictTool(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "strict", "", returning[addArgs]("ran")).Strict()
	mcp.AddTool(s, "loose", "", returning[addArgs]("ran"))
	c := dialMemory(t, s, nil)
	args := json.RawMessage(`{"a":1,"b":2,"A":3}`)
	t.Run("A42 Strict holds for the one tool", func(t *testing.T) {
		if r := mustCall(t, c, "strict", args); !r.IsError || !strings.Contains(textOf(r), `unknown argument "A": did you mean "a"?`) {
			t.Errorf("strict: %s", textOf(r))
		}
		if r := mustCall(t, c, "loose", args); r.IsError {
			t.Errorf("loose: %s", textOf(r))
		}
	})
}

func TestArgumentShapes(t *testing.T) {
	t.Parallel()
	type optional struct {
		N int `json:"n,omitempty" jsonschema:"default=7"`
	}
	s := echoServer[optional](nil)
	call := func(arguments string) string {
		return plainRequest("1", "tools/call", append([]string{`"name":"t"`}, append(strings.Fields(arguments), modernMeta())...)...)
	}
	for _, arguments := range []string{"", `"arguments":null`, `"arguments":{}`} {
		t.Run("C32 TOOL-20 "+arguments+" runs with defaults", func(t *testing.T) {
			t.Parallel()
			if got := string(resultIn(t, ask(t, s, call(arguments)))["content"]); got != `[{"type":"text","text":"{N:7}"}]` {
				t.Errorf("content %s", got)
			}
		})
	}
	for _, arguments := range []string{`[]`, `"{}"`, `7`, `true`, `[{}]`, `"x"`} {
		t.Run("C32 TOOL-13 arguments "+arguments+" are refused", func(t *testing.T) {
			t.Parallel()
			e := faultIn(t, ask(t, s, call(`"arguments":`+arguments)))
			if e.Code != mcp.CodeInvalidParams || e.Message != "Invalid params: arguments must be a JSON object" {
				t.Errorf("%+v", e)
			}
		})
	}
	for _, name := range []string{``, `"name":null`, `"name":7`, `"name":["t"]`, `"name":{}`} {
		t.Run("TOOL-13 "+name+" is refused", func(t *testing.T) {
			t.Parallel()
			params := append(strings.Fields(name), modernMeta())
			e := faultIn(t, ask(t, s, plainRequest("1", "tools/call", params...)))
			if e.Code != mcp.CodeInvalidParams || !strings.Contains(e.Message, "name must be a string") {
				t.Errorf("%+v", e)
			}
		})
	}
	for _, name := range []string{"u", "T", "", "t ", `\u0000`, strings.Repeat("n", 5000)} {
		t.Run(fmt.Sprintf("TOOL-12 unknown tool %.10q", name), func(t *testing.T) {
			t.Parallel()
			e := faultIn(t, ask(t, s, plainRequest("1", "tools/call", `"name":"`+name+`"`, modernMeta())))
			if e.Code != mcp.CodeInvalidParams || !strings.HasPrefix(e.Message, "Unknown tool: ") || len(e.Message) > 300 {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("TOOL-12 a name may be spelled with escapes", func(t *testing.T) {
		t.Parallel()
		resultIn(t, ask(t, s, plainRequest("1", "tools/call", `"name":"\u0074"`, modernMeta())))
	})
}

func TestArgumentsChecked(t *testing.T) {
	t.Parallel()
	t.Run("A3 A37 A38 TOOL-14 TOOL-24 the handler does not run on bad arguments, and the answer is a result", func(t *testing.T) {
		t.Parallel()
		runs := 0
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(context.Context, addArgs) (string, error) { runs++; return "", nil })
		for _, args := range []string{`{}`, `{"a":1}`, `{"a":1,"b":"2"}`, `{"a":1,"b":2.5}`, `{"a":null,"b":2}`, `{"a":1,"b":2,"b":2}`} {
			if text := failureIn(t, ask(t, s, modernCall("1", "t", args))); !strings.HasPrefix(text, "Invalid arguments:\n- ") || runs != 0 {
				t.Errorf("%s: %d runs, %q", args, runs, text)
			}
		}
		resultIn(t, ask(t, s, modernCall("1", "t", `{"a":1,"b":2}`)))
		if runs != 1 {
			t.Errorf("%d runs", runs)
		}
	})
	t.Run("A12 the handler gets the struct itself", func(t *testing.T) {
		t.Parallel()
		got := make(chan addArgs, 1)
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(_ context.Context, a addArgs) (string, error) { got <- a; return "", nil })
		ask(t, s, modernCall("1", "t", `{"a":1,"b":2}`))
		if a := <-got; a != (addArgs{1, 2}) {
			t.Errorf("%+v", a)
		}
	})
	t.Run("A39 legacy sessions get the same text", func(t *testing.T) {
		t.Parallel()
		f := newFixture(nil)
		modern := failureIn(t, ask(t, f.Server, modernCall("1", "add", `{"a":"x"}`)))
		for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
			if legacy := failureIn(t, askLegacy(t, f.Server, version, legacyCall("1", "add", `{"a":"x"}`))); legacy != modern {
				t.Errorf("%s: %q instead of %q", version, legacy, modern)
			}
		}
	})
	t.Run("A40 at most 20 violations, in a bounded text", func(t *testing.T) {
		t.Parallel()
		s := echoServer[map[string]int](nil)
		var members []string
		for i := range 200 {
			members = append(members, fmt.Sprintf(`"%s%d":"x"`, strings.Repeat("k", 500), i))
		}
		text := failureIn(t, ask(t, s, modernCall("1", "t", "{"+strings.Join(members, ",")+"}")))
		if n := strings.Count(text, "\n- "); n > 20 || len(text) > 5000 {
			t.Errorf("%d violations in %d bytes", n, len(text))
		}
	})
	for _, first := range []string{"", "x"} { // one of them puts the cut inside a rune
		t.Run("A40 a long refusal is cut between runes, not left out: "+first, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			long := first + strings.Repeat("ä", 5000)
			mcp.AddTool(s, "t", "", func(context.Context, selfChecked) (string, error) { return "", nil })
			text := failureIn(t, ask(t, s, modernCall("1", "t", `{"say":"`+long+`"}`)))
			if !strings.HasPrefix(text, "Invalid arguments:\n- said "+first+"ää") || !strings.HasSuffix(text, "ä…") || len(text) > 5000 {
				t.Errorf("%d bytes: %.60q … %q", len(text), text, text[len(text)-20:])
			}
		})
	}
}

// selfChecked refuses itself, saying what it was told to say.
type selfChecked struct {
	Say string `json:"say"`
}

func (c selfChecked) Validate(ctx context.Context) error {
	switch c.Say {
	case "":
		return nil
	case "args":
		return &mcp.ArgsError{Violations: []mcp.Violation{{Path: "/say", Rule: "own", Message: "say must not be args"}, {Message: "nor this"}}}
	case "wrapped":
		return fmt.Errorf("around: %w", &mcp.ArgsError{Violations: []mcp.Violation{{Message: "inner"}}})
	case "protocol":
		return mcp.Errorf(4711, "protocol fault")
	case "tool":
		return mcp.ToolErrorf("tool fault")
	case "method":
		return errors.New("in " + mcp.RequestFrom(ctx).Method())
	}
	return errors.New("said " + c.Say)
}

// pointerChecked is selfChecked by a pointer receiver.
type pointerChecked struct {
	Say string `json:"say"`
}

func (c *pointerChecked) Validate(ctx context.Context) error { return selfChecked{c.Say}.Validate(ctx) }

// mapChecked has its rule on a map.
type mapChecked map[string]string

func (c mapChecked) Validate(ctx context.Context) error { return selfChecked{c["say"]}.Validate(ctx) }

func TestValidator(t *testing.T) {
	t.Parallel()
	servers := map[string]*mcp.Server{
		"value":            echoServer[selfChecked](nil),
		"pointer to value": echoServer[*selfChecked](nil),
		"receiver":         echoServer[pointerChecked](nil),
		"pointer":          echoServer[*pointerChecked](nil),
		"map":              echoServer[mapChecked](nil),
		"redacted":         echoServer[selfChecked](&mcp.ServerOptions{RedactErrors: true}),
	}
	for kind, s := range servers {
		for say, want := range map[string]string{
			"args":    "Invalid arguments:\n- say must not be args\n- nor this",
			"wrapped": "Invalid arguments:\n- inner",
			"tool":    "tool fault",
			"method":  "Invalid arguments:\n- in tools/call",
			"so":      "Invalid arguments:\n- said so",
		} {
			t.Run("A45 C47 "+kind+" says "+say, func(t *testing.T) {
				t.Parallel()
				if got := failureIn(t, ask(t, s, modernCall("1", "t", `{"say":"`+say+`"}`))); got != want {
					t.Errorf("%q", got)
				}
			})
		}
		t.Run("A45 "+kind+" passes", func(t *testing.T) {
			t.Parallel()
			resultIn(t, ask(t, s, modernCall("1", "t", `{"say":""}`)))
		})
		t.Run("A45 "+kind+" fails the request", func(t *testing.T) {
			t.Parallel()
			if e := faultIn(t, ask(t, s, modernCall("1", "t", `{"say":"protocol"}`))); e.Code != 4711 || e.Message != "protocol fault" {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("A37 it does not see what breaks the schema", func(t *testing.T) {
		t.Parallel()
		if got := failureIn(t, ask(t, servers["value"], modernCall("1", "t", `{"say":7}`))); strings.Contains(got, "said") {
			t.Error(got)
		}
	})
}
