package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// row is a structured result.
type row struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// named types keep the JSON form of what they are made of.
type (
	namedString string
	namedBool   bool
)

// nullable writes null by its own method.
type nullable struct{}

func (nullable) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// shouting is an interface that a handler may return.
type shouting interface{ shout() string }

type loud struct {
	Word string `json:"word"`
}

func (l loud) shout() string { return l.Word }

// holding is the members of a result with blocks of content alone; structured one with a value and its JSON as text.
func holding(blocks string) string { return `"content":[` + blocks + `]` }

func holdingText(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return holding(`{"type":"text","text":` + string(quoted) + `}`)
}

func holdingValue(value string) string {
	return `"structuredContent":` + value + `,` + holdingText(value)
}

func TestResultTypes(t *testing.T) {
	t.Parallel()
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const none = "" // no output schema

	for _, tt := range []struct {
		name   string
		server *mcp.Server
		schema string // the output schema
		want   string // members of the result
	}{
		{"A28 string", withTool("plain \"text\""), none, holdingText(`plain "text"`)},
		{"A28 CNT-05 C53 empty string", withTool(""), none, holding(`{"type":"text","text":""}`)},
		{"TOOL-11 B6 struct{}", withTool(struct{}{}), none, holding("")},
		{"TOOL-10 A29 A49 struct", withTool(row{7, "x"}), `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]}`, holdingValue(`{"id":7,"name":"x"}`)},
		{"A29 pointer to struct", withTool(&row{7, "x"}), `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]}`, holdingValue(`{"id":7,"name":"x"}`)},
		{"TOOL-09 slice", withTool([]row{{7, "x"}}), `{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]}}`, holdingValue(`[{"id":7,"name":"x"}]`)},
		{"C49 nil slice", withTool([]int(nil)), `{"type":"array","items":{"type":"integer"}}`, holdingValue(`[]`)},
		{"C49 nil map", withTool(map[string]bool(nil)), `{"type":"object","properties":{},"additionalProperties":{"type":"boolean"}}`, holdingValue(`{}`)},
		{"C49 nil slice and map in a struct", withTool(struct {
			Items []string       `json:"items"`
			ByID  map[string]int `json:"byId"`
		}{}), `{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}},"byId":{"type":"object","additionalProperties":{"type":"integer"}}},"required":["items","byId"]}`, holdingValue(`{"items":[],"byId":{}}`)},
		{"TOOL-09 map", withTool(map[string]int{"b": 2, "a": 1}), `{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}`, holdingValue(`{"a":1,"b":2}`)},
		{"TOOL-09 zero", withTool(0), `{"type":"integer"}`, holdingValue(`0`)},
		{"TOOL-09 large integer", withTool(int64(math.MaxInt64)), `{"type":"integer"}`, holdingValue(`9223372036854775807`)},
		{"TOOL-09 fraction", withTool(0.5), `{"type":"number"}`, holdingValue(`0.5`)},
		{"TOOL-09 false", withTool(false), `{"type":"boolean"}`, holdingValue(`false`)},
		{"TOOL-09 named bool", withTool(namedBool(true)), `{"type":"boolean"}`, holdingValue(`true`)},
		{"TOOL-09 named string is data", withTool(namedString("x")), `{"type":"string"}`, holdingValue(`"x"`)},
		{"TOOL-09 null of a type's own", withTool(nullable{}), `{}`, holdingValue(`null`)},
		{"time", withTool(when), `{"type":"string","format":"date-time"}`, holdingValue(`"2026-01-02T03:04:05Z"`)},
		{"duration", withTool(90 * time.Second), `{"type":"string","description":"a duration such as \"1m30s\""}`, holdingValue(`"1m30s"`)},
		{"bytes", withTool([]byte{0, 1}), `{"type":"string","description":"base64"}`, holdingValue(`"AAE="`)},

		{"any is text alone", withTool(any(row{7, "x"})), none, holdingText(`{"id":7,"name":"x"}`)},
		{"json.RawMessage is text alone", withTool(json.RawMessage(`{"a": 1e2}`)), none, holdingText(`{"a":1e2}`)},
		{"json.RawMessage of null is meant", withTool(json.RawMessage(`null`)), none, holdingText(`null`)},
		{"an interface is text alone", withTool(shouting(loud{"hey"})), none, holdingText(`{"word":"hey"}`)},

		{"C52 a block", withTool(mcp.Text("x")), none, holdingText("x")},
		{"C52 a block as Content", withTool(mcp.Content(mcp.Text("x"))), none, holdingText("x")},
		{"C52 a block by value", withTool(*mcp.Text("x")), none, holdingText("x")},
		{"C52 an image and a text", withTool([]mcp.Content{mcp.Image([]byte("PNG"), "image/png"), mcp.Text("x")}), none,
			holding(`{"type":"image","data":"UE5H","mimeType":"image/png"},{"type":"text","text":"x"}`)},
		{"C52 a list of one kind", withTool([]*mcp.TextContent{mcp.Text("x"), mcp.Text("y")}), none, holding(`{"type":"text","text":"x"},{"type":"text","text":"y"}`)},
		{"C52 a list of values of one kind", withTool([]mcp.ImageContent{*mcp.Image(nil, "image/png")}), none, holding(`{"type":"image","data":"","mimeType":"image/png"}`)},
		{"TOOL-11 C53 nil list of blocks", withTool([]mcp.Content(nil)), none, holding("")},

		{"TOOL-11 *Result, empty", withTool(&mcp.Result{}), none, holding("")},
		{"*Result exactly", withTool(&mcp.Result{Content: []mcp.Content{mcp.Text("x")}, Structured: row{7, "y"}}), none, `"structuredContent":{"id":7,"name":"y"},` + holdingText("x")},
		{"*Result with a value alone has its text", withTool(&mcp.Result{Structured: []int{1}}), none, holdingValue(`[1]`)},
		{"*Result with an empty list keeps it", withTool(&mcp.Result{Structured: 1, Content: []mcp.Content{}}), none, `"structuredContent":1,` + holding("")},
		{"AMB-29 *Result with null is not one without", withTool(&mcp.Result{Structured: json.RawMessage("null")}), none, holdingValue(`null`)},
		{"*Result that failed", withTool(&mcp.Result{Content: []mcp.Content{mcp.Text("no")}, IsError: true}), none, holdingText("no") + `,"isError":true`},
		{"Result by value", withTool(mcp.Result{Content: []mcp.Content{mcp.Text("x")}}), none, holdingText("x")},

		{"A29 Structured with text of its own", withTool(mcp.Structured[row]{Value: row{7, "x"}, Content: []mcp.Content{mcp.Text("own")}}),
			`{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]}`, `"structuredContent":{"id":7,"name":"x"},` + holdingText("own")},
		{"A29 Structured without", withTool(mcp.Structured[int]{Value: 7}), `{"type":"integer"}`, holdingValue(`7`)},
		{"A29 Structured by pointer", withTool(&mcp.Structured[int]{Value: 7}), `{"type":"integer"}`, holdingValue(`7`)},
		{"A29 Structured of null", withTool(mcp.Structured[json.RawMessage]{Value: json.RawMessage("null")}), `{}`, holdingValue(`null`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := serveLines(t, tt.server)
			c.send(modernRequest("1", "tools/list"))
			var tools []struct{ OutputSchema json.RawMessage }
			if err := json.Unmarshal(resultIn(t, c.next())["tools"], &tools); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.schema, string(tools[0].OutputSchema)); diff != "" {
				t.Errorf("output schema (-want +got):\n%s", diff)
			}
			c.send(modernCall("2", "t", "{}"))
			want := strings.ReplaceAll(modernResult("2", tt.want), `"fixture","version":"1.0.0"`, `"one","version":"1"`)
			if diff := cmp.Diff(want, c.next()); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResultMeta(t *testing.T) {
	t.Parallel()
	meta := mcp.Meta{"com.example/b": json.RawMessage(`[1]`), "a": json.RawMessage(`"x"`), "io.modelcontextprotocol/serverInfo": json.RawMessage(`"forged"`)}
	const stamp = `"io.modelcontextprotocol/serverInfo":{"name":"one","version":"1"}`
	for name, s := range map[string]*mcp.Server{
		"*Result":    withTool(&mcp.Result{Meta: meta}),
		"Structured": withTool(mcp.Structured[int]{Meta: meta}),
	} {
		t.Run("META-05 META-10 CNT-04 keys of the handler stand beside the server's own: "+name, func(t *testing.T) {
			t.Parallel()
			if got := string(resultIn(t, ask(t, s, modernCall("1", "t", "{}")))["_meta"]); got != `{"a":"x","com.example/b":[1],`+stamp+`}` {
				t.Errorf("_meta %s", got)
			}
		})
		t.Run("A5 legacy results have the handler's keys alone: "+name, func(t *testing.T) {
			t.Parallel()
			if got := string(resultIn(t, askLegacy(t, s, "2025-11-25", legacyCall("1", "t", "{}")))["_meta"]); got != `{"a":"x","com.example/b":[1]}` {
				t.Errorf("_meta %s", got)
			}
		})
	}
	t.Run("META-05 the client sees them", func(t *testing.T) {
		t.Parallel()
		r := mustCall(t, dialMemory(t, withTool(&mcp.Result{Meta: meta}), nil), "t", nil)
		if string(r.Meta["a"]) != `"x"` || string(r.Meta["com.example/b"]) != `[1]` || string(r.Meta["io.modelcontextprotocol/serverInfo"]) != `{"name":"one","version":"1"}` {
			t.Errorf("%s", r.Meta)
		}
	})
}

// legacyVersions are the revisions that open with initialize, newest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

func TestResultsOfLegacySessions(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "rows", "", returning[struct{}]([]row{{7, "x"}}))
	mcp.AddTool(s, "row", "", returning[struct{}](row{7, "x"}))
	mcp.AddTool(s, "empty", "", returning[struct{}](struct{}{}))
	members := func(t *testing.T, version, tool string) string {
		raw := parseWire(t, askLegacy(t, s, version, legacyCall("1", tool, "{}"))).Result
		return string(raw)
	}
	schemas := func(t *testing.T, answer string) map[string]string {
		var tools []struct {
			Name         string
			OutputSchema json.RawMessage
		}
		if err := json.Unmarshal(resultIn(t, answer)["tools"], &tools); err != nil {
			t.Fatal(err)
		}
		all := make(map[string]string)
		for _, tool := range tools {
			all[tool.Name] = string(tool.OutputSchema)
		}
		return all
	}
	for _, version := range legacyVersions {
		structured := version >= "2025-06-18"
		t.Run("B37 C50 "+version+" an array is text alone, without an output schema", func(t *testing.T) {
			t.Parallel()
			if got := members(t, version, "rows"); got != `{`+holdingText(`[{"id":7,"name":"x"}]`)+`}` {
				t.Errorf("result %s", got)
			}
			if got := schemas(t, askLegacy(t, s, version, plainRequest("1", "tools/list"))); got["rows"] != "" || (got["row"] != "") != structured {
				t.Errorf("output schemas %v", got)
			}
		})
		t.Run("C50 "+version+" an object is structured where the revision has that", func(t *testing.T) {
			t.Parallel()
			want := `{` + holdingText(`{"id":7,"name":"x"}`) + `}`
			if structured {
				want = `{` + holdingValue(`{"id":7,"name":"x"}`) + `}`
			}
			if got := members(t, version, "row"); got != want {
				t.Errorf("result %s", got)
			}
		})
		t.Run("C58 A5 "+version+" results are not stamped", func(t *testing.T) {
			t.Parallel()
			for _, line := range []string{legacyCall("1", "empty", "{}"), plainRequest("1", "tools/list"), plainRequest("1", "ping")} {
				answer := askLegacy(t, s, version, line)
				for _, word := range []string{"resultType", "ttlMs", "cacheScope", "serverInfo"} {
					if strings.Contains(answer, word) {
						t.Errorf("%s in %s", word, answer)
					}
				}
			}
		})
	}
	t.Run("C50 the modern revision has the array and its schema", func(t *testing.T) {
		t.Parallel()
		if got := string(resultIn(t, ask(t, s, modernCall("1", "rows", "{}")))["structuredContent"]); got != `[{"id":7,"name":"x"}]` {
			t.Errorf("structured %s", got)
		}
		if got := schemas(t, ask(t, s, modernRequest("1", "tools/list"))); !strings.HasPrefix(got["rows"], `{"type":"array"`) {
			t.Errorf("output schemas %v", got)
		}
	})
	for line, cached := range map[string]bool{
		modernCall("1", "empty", "{}"):        false,
		modernRequest("1", "tools/list"):      true,
		modernRequest("1", "server/discover"): true,
	} {
		t.Run(fmt.Sprintf("C58 A5 BASE-05 META-10 CCH-01 modern results are stamped: cached %v, %.70s", cached, line), func(t *testing.T) {
			t.Parallel()
			got := resultIn(t, ask(t, s, line))
			if string(got["resultType"]) != `"complete"` || string(got["_meta"]) != `{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}` {
				t.Errorf("%s", got)
			}
			if (string(got["ttlMs"]) == "0") != cached || (string(got["cacheScope"]) == `"private"`) != cached || got["serverInfo"] != nil {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestResultsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	type score struct {
		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
	}
	type rated struct {
		Stars int `json:"stars" validate:"max=5"`
	}
	type mail struct {
		To string `json:"to" validate:"email"`
	}
	for _, tt := range []struct {
		name, log string
		server    func(*mcp.ServerOptions) *mcp.Server
	}{
		{"TOOL-07 C56 a value that breaks its schema", `maximum at \"/score\"`, failing(score{7.25})},
		{"TOOL-07 C56 a value that breaks a validate tag", `maximum at \"/stars\"`, failing(rated{6})},
		{"TOOL-07 C56 logged without the value", `format at \"/to\"`, failing(mail{"sesame"})},
		{"C56 NaN", "NaN", failing(math.NaN())},
		{"C56 Inf deep down", "infinities", failing(map[string][]float64{"a": {math.Inf(-1)}})},
		{"NaN in an any", "NaN", failing(any(math.NaN()))},
		{"nil pointer", "nil instead of a result", failing((*row)(nil))},
		{"nil *Result", "nil instead of a result", failing((*mcp.Result)(nil))},
		{"nil *Structured", "nil instead of a result", failing((*mcp.Structured[int])(nil))},
		{"nil in Structured", "nil instead of a result", failing(mcp.Structured[*row]{})},
		{"nil any", "nil instead of a result", failing(any(nil))},
		{"nil pointer in an any", "nil instead of a result", failing(any((*row)(nil)))},
		{"nil json.RawMessage", "nil instead of a result", failing(json.RawMessage(nil))},
		{"nil pointer as a *Result's value", "nil instead of a result", failing(&mcp.Result{Structured: (*row)(nil)})},
		{"nil element in a collection of pointers", `type at \"/0\"`, failing([]*row{nil})},
		{"nil Content", "content block 0 is nil", failing(mcp.Content(nil))},
		{"nil block", "content block 0 is nil", failing((*mcp.TextContent)(nil))},
		{"nil in a list of Content", "content block 1 is nil", failing([]mcp.Content{mcp.Text("x"), nil})},
		{"nil blocks of each kind in a list", "content block 0 is nil", failing([]*mcp.ResourceLink{nil})},
		{"nil image", "nil instead of a result", failing[image.Image](nil)},
		{"json.RawMessage that is no JSON", "invalid", failing(json.RawMessage(`{"a":`))},
		{"a _meta value that is no JSON", "_meta of the result", failing(&mcp.Result{Meta: mcp.Meta{"k": json.RawMessage(`{`)}})},
		{"a channel in an any", "no JSON form", failing(any(make(chan int)))},
		{"a method that fails", "sesame", failing(failsInJSON{})},
		{"a method that panics", "sesame", failing(panicsInJSON{})},
		{"a method that panics, in an any", "sesame", failing(any(panicsInJSON{}))},
		{"a method that writes no JSON", "invalid", failing(babbles{})},
	} {
		for _, redact := range []bool{false, true} {
			t.Run(fmt.Sprintf("TOOL-15 %s, redacted %v", tt.name, redact), func(t *testing.T) {
				t.Parallel()
				var book logBook
				s := tt.server(&mcp.ServerOptions{Logger: book.logger(), RedactErrors: redact})
				c := serveLines(t, s)
				c.send(modernCall("1", "t", "{}"))
				ref := reference(t, failureIn(t, c.next()))
				if log := book.String(); !strings.Contains(log, `"reference":"`+ref+`"`) || !strings.Contains(log, tt.log) {
					t.Errorf("reference %s, log %s", ref, log)
				}
				if strings.Contains(tt.name, "without the value") && strings.Contains(book.String(), "sesame") {
					t.Errorf("log %s", book.String())
				}
				c.send(modernCall("2", "fine", "{}")) // the server lives
				if got := string(resultIn(t, c.next())["content"]); got != `[{"type":"text","text":"ok"}]` {
					t.Errorf("then %s", got)
				}
			})
		}
	}
}

// failing makes servers whose tool "t" returns v, which cannot be sent, and whose tool "fine" returns "ok".
func failing[R any](v R) func(*mcp.ServerOptions) *mcp.Server {
	return func(opts *mcp.ServerOptions) *mcp.Server {
		s := mcp.NewServer("s", "1", opts)
		mcp.AddTool(s, "t", "", returning[struct{}](v))
		mcp.AddTool(s, "fine", "", returning[struct{}]("ok"))
		return s
	}
}

// reference returns the reference id in the text that stands for a fault which only the log explains.
func reference(t testing.TB, text string) string {
	t.Helper()
	ref, ok := strings.CutPrefix(text, "internal error; the server's log has the details under reference ")
	if !ok || len(ref) < 10 || strings.ContainsAny(ref, " \n") {
		t.Fatalf("no reference in %q", text)
	}
	return ref
}

// undisclosed checks that text stands for a fault which no log explains.
func undisclosed(t testing.TB, text string) {
	t.Helper()
	if text != "internal error; the server gives no details" {
		t.Fatalf("got %q", text)
	}
}

type failsInJSON struct{}

func (failsInJSON) MarshalJSON() ([]byte, error) { return nil, errors.New("sesame") }

type babbles struct{}

func (babbles) MarshalJSON() ([]byte, error) { return []byte(`{"a":}`), nil }

func TestResultsOfMiddlewareChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		result *mcp.Result
		want   string // what is sent, "" for a failure with a reference
	}{
		{"another value that conforms", &mcp.Result{Structured: row{8, "y"}}, `{"id":8,"name":"y"}`},
		{"JSON that conforms", &mcp.Result{Structured: json.RawMessage(`{"id":8,"name":"y","more":1}`)}, `{"id":8,"name":"y","more":1}`},
		{"another value that does not", &mcp.Result{Structured: map[string]int{"id": 8}}, ""},
		{"another type", &mcp.Result{Structured: "x"}, ""},
		{"C56 no value", &mcp.Result{Content: []mcp.Content{mcp.Text("x")}}, ""},
	} {
		t.Run("TOOL-07 "+tt.name, func(t *testing.T) {
			t.Parallel()
			answer := ask(t, answeredBy(tt.result), modernCall("1", "t", "{}"))
			if tt.want == "" {
				undisclosed(t, failureIn(t, answer))
			} else if got := string(resultIn(t, answer)["structuredContent"]); got != tt.want {
				t.Errorf("structured %s", got)
			}
		})
	}
	t.Run("AMB-28 failed results are not held to the schema", func(t *testing.T) {
		t.Parallel()
		answer := ask(t, answeredBy(&mcp.Result{IsError: true, Structured: 7}), modernCall("1", "t", "{}"))
		if got := string(resultIn(t, answer)["structuredContent"]); got != "7" {
			t.Errorf("answer %s", answer)
		}
	})
}

// answeredBy is a server whose tool "t" promises a row, but whose middleware answers with r.
func answeredBy(r *mcp.Result) *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "t", "", returning[struct{}](row{7, "x"})).Use(func(mcp.Handler) mcp.Handler {
		return func(context.Context, *mcp.Request) (any, error) { return r, nil }
	})
	return s
}

func TestImageResult(t *testing.T) {
	t.Parallel()
	t.Run("A30 an image.Image is sent as a PNG", func(t *testing.T) {
		t.Parallel()
		c := dialMemory(t, withTool[image.Image](image.NewGray(image.Rect(0, 0, 3, 2))), nil)
		content := mustCall(t, c, "t", nil).Content
		block, ok := content[0].(*mcp.ImageContent)
		if !ok || block.MIMEType != "image/png" {
			t.Fatalf("%#v", content)
		}
		if config, err := png.DecodeConfig(bytes.NewReader(block.Data)); err != nil || config.Width != 3 || config.Height != 2 {
			t.Errorf("%v: %+v", err, config)
		}
	})
}
