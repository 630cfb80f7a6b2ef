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

// contents is an entry of a read's contents, as received.
type contents struct {
	URI      string                     `json:"uri"`
	MIMEType string                     `json:"mimeType"`
	Text     *string                    `json:"text"`
	Blob     *string                    `json:"blob"`
	Meta     map[string]json.RawMessage `json:"_meta"`
}

func contentsIn(t testing.TB, answer string) []contents {
	t.Helper()
	var all []contents
	if err := json.Unmarshal(resultIn(t, answer)["contents"], &all); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return all
}

// listIn returns the entries of an answer to a list method under a member's name, as received.
func listIn(t testing.TB, answer, member string) []string {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal(resultIn(t, answer)[member], &raw); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	all := make([]string, len(raw))
	for i := range raw {
		all[i] = string(raw[i])
	}
	return all
}

// expectProblem holds s to have problems, one of which has the given text.
func expectProblem(t testing.TB, s *mcp.Server, text string) {
	t.Helper()
	err := s.Check()
	for _, p := range registrationErrors(err) {
		if strings.Contains(p.Error(), text) && p.Caller != "" {
			return
		}
	}
	t.Errorf("Check: %v\nwant a problem with %q", err, text)
}

// resourceServer has the one resource "r://x".
func resourceServer[R any](v R) *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	mcp.AddResource(s, "r://x", "x", func(context.Context) (R, error) { return v, nil })
	return s
}

func TestResourceContents(t *testing.T) {
	t.Parallel()
	type point struct {
		X int `json:"x"`
	}
	tests := []struct {
		name   string
		server *mcp.Server
		want   string // the contents as sent; "" means a fault
	}{
		{"P1 P2 P5 a string is text", resourceServer("hi"), `[{"uri":"r://x","text":"hi"}]`},
		{"RES-04 C53 an empty one stays text", resourceServer(""), `[{"uri":"r://x","text":""}]`},
		{"RES-04 RES-11 P5 bytes are a blob", resourceServer([]byte{0xff, 0xfe}), `[{"uri":"r://x","blob":"//4="}]`},
		{"RES-04 C53 no bytes stay a blob", resourceServer([]byte{}), `[{"uri":"r://x","blob":""}]`},
		{"RES-04 nor does a nil slice change that", resourceServer[[]byte](nil), `[{"uri":"r://x","blob":""}]`},
		{"P5 any other value is JSON", resourceServer(point{1}), `[{"uri":"r://x","mimeType":"application/json","text":"{\"x\":1}"}]`},
		{"P5 an empty list is JSON", resourceServer[[]point](nil), `[{"uri":"r://x","mimeType":"application/json","text":"[]"}]`},
		{"P5 raw JSON is JSON", resourceServer(json.RawMessage(`null`)), `[{"uri":"r://x","mimeType":"application/json","text":"null"}]`},
		{"RES-03 RES-05 P5 several contents, with URIs of their own", resourceServer(&mcp.ReadResult{Contents: []mcp.ResourceContents{
			{URI: "r://x/1", MIMEType: "text/plain", Text: "one", Meta: mcp.Meta{"a": json.RawMessage("1")}}, {URI: "r://x/2", Blob: []byte("2")},
		}}), `[{"uri":"r://x/1","mimeType":"text/plain","text":"one","_meta":{"a":1}},{"uri":"r://x/2","blob":"Mg=="}]`},
		{"C55 a nil result", resourceServer[*mcp.ReadResult](nil), ""},
		{"C55 a nil pointer", resourceServer[*point](nil), ""},
		{"C55 a nil interface", resourceServer[any](nil), ""},
		{"RES-05 no contents", resourceServer(&mcp.ReadResult{}), ""},
		{"RES-04 contents without a URI", resourceServer(&mcp.ReadResult{Contents: []mcp.ResourceContents{{Text: "x"}}}), ""},
		{"RES-04 text and a blob at once", resourceServer(&mcp.ReadResult{Contents: []mcp.ResourceContents{{URI: "r://x", Text: "x", Blob: []byte("x")}}}), ""},
		{"RES-07 a value that has no JSON", resourceServer(panicsInJSON{}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := serveLines(t, tt.server)
			c.send(readRequest("1", "r://x"))
			answer := c.next()
			if tt.want == "" {
				e := faultIn(t, answer)
				if e.Code != mcp.CodeInternalError || strings.Contains(answer, "nil") || strings.Contains(answer, "sesame") {
					t.Errorf("%s", answer)
				}
				undisclosed(t, e.Message)
				c.send(modernRequest("2", "resources/list")) // others go on
				resultIn(t, c.next())
				return
			}
			if got := string(resultIn(t, answer)["contents"]); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// kiosk is a domain whose methods are resources, a template and a prompt as they stand.
type kiosk struct{ name string }

func (s *kiosk) status(context.Context) (string, error) { return s.name + " is open", nil }
func (s *kiosk) item(_ context.Context, a idArgs) (string, error) {
	return s.name + " sells " + a.ID, nil
}
func (s *kiosk) advice(_ context.Context, a idArgs) (string, error) { return "Buy " + a.ID, nil }

func TestMethodValues(t *testing.T) {
	t.Parallel()
	s, corner := mcp.NewServer("s", "1", nil), &kiosk{"The corner"}
	mcp.AddResource(s, "shop://status", "status", corner.status)
	mcp.AddTemplate(s, "shop://{id}", "item", corner.item)
	mcp.AddPrompt(s, "advice", "", corner.advice)
	for name, tt := range map[string]struct{ line, want string }{
		"M1 a resource": {readRequest("1", "shop://status"), "The corner is open"},
		"M2 a template": {readRequest("1", "shop://2"), "The corner sells 2"},
		"M7 a prompt":   {getPrompt("1", "advice", `{"id":"1"}`), "Buy 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, s, tt.line); !strings.Contains(got, tt.want) {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestResourceFailures(t *testing.T) {
	t.Parallel()
	notFound := fmt.Sprintf(`{"code":-32602,"message":"Resource not found","data":{"uri":%q}}`, "r://x")
	internal := `{"code":-32603,"message":`
	tests := []struct {
		name string
		err  error
		want string // how the error starts; "" means a fault with a reference
	}{
		{"RES-05 ErrNotFound", mcp.ErrNotFound, notFound},
		{"RES-05 ErrNotFound, wrapped", fmt.Errorf("table %w", mcp.ErrNotFound), notFound},
		{"RES-07 any other error", errors.New("disk on fire"), internal + `"disk on fire"`},
		{"RES-07 an error for the model", mcp.ToolErrorf("come back later"), internal + `"come back later"`},
		{"RES-07 a protocol error", mcp.Errorf(7, "seven"), `{"code":7,"message":"seven"`},
		{"RES-07 a reserved code", mcp.Errorf(-32002, "gone"), internal + `"gone"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddResource(s, "r://x", "x", func(context.Context) (string, error) { return "", tt.err })
			if answer := ask(t, s, readRequest("1", "r://x")); !strings.Contains(answer, `"error":`+tt.want) {
				t.Errorf("got %s\nwant %s", answer, tt.want)
			}
		})
	}
	t.Run("P2 an error is hidden when redacting", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{RedactErrors: true})
		mcp.AddResource(s, "r://x", "x", func(context.Context) (string, error) { return "", errors.New(secret) })
		answer := ask(t, s, readRequest("1", "r://x"))
		if strings.Contains(answer, secret) {
			t.Errorf("%s", answer)
		}
		undisclosed(t, faultIn(t, answer).Message)
	})
	t.Run("RES-07 a panic", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddResource(s, "r://x", "x", func(context.Context) (string, error) { panic(secret) })
		answer := ask(t, s, readRequest("1", "r://x"))
		if e := faultIn(t, answer); e.Code != mcp.CodeInternalError || strings.Contains(answer, secret) {
			t.Errorf("%s", answer)
		}
	})
	t.Run("RES-05 middleware sees the handler's error, and may return ErrNotFound", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		var seen error
		mcp.AddResource(s, "r://x", "x", func(context.Context) (string, error) { return "", mcp.ErrNotFound }).Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				_, seen = next(ctx, req)
				return nil, fmt.Errorf("hidden: %w", seen)
			}
		})
		if answer := ask(t, s, readRequest("1", "r://x")); !strings.Contains(answer, notFound) || seen != mcp.ErrNotFound {
			t.Errorf("%s, %v", answer, seen)
		}
	})
	t.Run("RES-05 legacy clients get the code of their revision", func(t *testing.T) {
		t.Parallel()
		for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
			answer := askLegacy(t, resourceServer("x"), version, plainRequest("1", "resources/read", `"uri":"r://y"`))
			if e := faultIn(t, answer); e.Code != -32002 || string(e.Data) != `{"uri":"r://y"}` {
				t.Errorf("%s: %s", version, answer)
			}
		}
	})
}

func TestResourceURIs(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, uri, why string }{
		{"a relative one", "x", "is not absolute"},
		{"a path", "/etc/passwd", "is not absolute"},
		{"an empty one", "", "is not absolute"},
		{"one whose scheme begins with a digit", "3d://x", "is not absolute"},
		{"one with a space", "r://x/a b", `has ' ', which must be percent-encoded`},
		{"one with a bad escape", "r://x/%zz", `has '%', which must be percent-encoded`},
		{"one with a bad escape in the query", "r://x?%z", `has '%', which must be percent-encoded`},
		{"one with an escape cut short", "r://x/%2", `has '%', which must be percent-encoded`},
		{"one with a control character", "r://x/\u0001", `has '\x01', which must be percent-encoded`},
		{"one with quotes", `r://x/"`, `which must be percent-encoded`},
		{"one that is a template", "r://{id}", `has '{', which must be percent-encoded`},
		{"one with letters that are not of URIs", "r://x/ä", `has 'ä', which must be percent-encoded`},
	}
	for _, tt := range tests {
		t.Run("RES-09 "+tt.name+" is refused when registered and when read", func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddText(s, tt.uri, "x", "", "")
			expectProblem(t, s, tt.why)
			quoted, err := json.Marshal(tt.uri)
			if err != nil {
				t.Fatal(err)
			}
			e := faultIn(t, ask(t, resourceServer("x"), modernRequest("1", "resources/read", `"uri":`+string(quoted))))
			if e.Code != mcp.CodeInvalidParams || !strings.Contains(e.Message, tt.why) {
				t.Errorf("%+v", e)
			}
		})
	}
	for name, params := range map[string]string{"none": `"x":1`, "null": `"uri":null`, "a number": `"uri":1`, "a list": `"uri":["r://x"]`} {
		t.Run("RES-09 instead of a URI, "+name, func(t *testing.T) {
			t.Parallel()
			if e := faultIn(t, ask(t, resourceServer("x"), modernRequest("1", "resources/read", params))); e.Code != mcp.CodeInvalidParams || !strings.Contains(e.Message, "uri must be a string") {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("RES-05 sep-2164 an unknown URI", func(t *testing.T) {
		t.Parallel()
		const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Resource not found","data":{"uri":"r://y"}}}`
		if got := ask(t, resourceServer("x"), readRequest("1", "r://y")); got != want {
			t.Errorf("%s", got)
		}
	})
}

func TestResourceMatchOrder(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	type id struct {
		ID string `json:"id"`
	}
	mcp.AddTemplate(s, "r://{id}", "first", returning[id]("the first template"))
	mcp.AddTemplate(s, "r://a/{id}", "second", returning[id]("the second template"))
	mcp.AddTemplate(s, "r://{+id}", "third", returning[id]("the third template"))
	mcp.AddText(s, "r://a/b", "exact", "", "the resource")
	mcp.AddText(s, "r://off", "off", "", "").Disabled()
	for uri, want := range map[string]string{
		"r://a/b": "the resource", "r://x": "the first template", "r://a/c": "the second template", "r://b/c": "the third template",
		"r://off": "the first template",
	} {
		t.Run("P4 "+uri, func(t *testing.T) {
			t.Parallel()
			if got := contentsIn(t, ask(t, s, readRequest("1", uri))); *got[0].Text != want {
				t.Errorf("%s, want %s", *got[0].Text, want)
			}
		})
	}
}

func TestResourceDefinitions(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 7, 28, 1, 2, 3, 0, time.UTC)
	s := mcp.NewServer("s", "1", nil)
	icon := "https://example.com/i.png"
	mcp.AddText(s, "r://full", "full", "text/plain", "äbc").Title("Full").Desc("All of it").Icon(icon, "any").
		Annotate(mcp.Annotations{Audience: []string{"user"}, Priority: ptr(0.0), LastModified: moment}).Category("demo").Meta("com.example/x", 1)
	mcp.AddResource(s, "r://bare", "bare", func(context.Context) (string, error) { return "", nil })
	mcp.AddText(s, "r://tagged", "tagged", "", "").Tags("title=Tagged, category=demo, icon=" + icon + ", owner=ada").Size(9).MIME("text/csv")
	mcp.AddText(s, "r://hidden", "hidden", "", "here").Hidden()
	mcp.AddText(s, "r://off", "off", "", "").Tags("disabled")
	mcp.AddTemplate(s, "r://t/{a}", "template", returning[struct {
		A string `json:"a"`
	}]("")).Title("Template").Desc("By a").MIME("text/plain").Icon(icon).Annotate(mcp.Annotations{Priority: ptr(1.0)}).Meta("m", "x")

	full := `{"uri":"r://full","name":"full","title":"Full","description":"All of it","mimeType":"text/plain","size":4,` +
		`"annotations":{"audience":["user"],"priority":0,"lastModified":"2026-07-28T01:02:03Z"},"icons":[{"src":"https://example.com/i.png","sizes":["any"]}],` +
		`"_meta":{"com.example/x":1,"io.github.typedmcp/category":"demo"}}`
	tests := []struct{ name, version, method, member, want string }{
		{"RES-01 P1 M6 ICON-01 CNT-03 CNT-04 all members", "", "resources/list", "resources", full + "\n" + `{"uri":"r://bare","name":"bare"}` + "\n" +
			`{"uri":"r://tagged","name":"tagged","title":"Tagged","mimeType":"text/csv","size":9,"icons":[{"src":"https://example.com/i.png"}],"_meta":{"io.github.typedmcp/category":"demo"}}`},
		{"RES-08 templates are listed apart", "", "resources/templates/list", "resourceTemplates", `{"uriTemplate":"r://t/{a}","name":"template","title":"Template","description":"By a",` +
			`"mimeType":"text/plain","annotations":{"priority":1},"icons":[{"src":"https://example.com/i.png"}],"_meta":{"m":"x"}}`},
		{"C58 without icons in 2025-06-18", "2025-06-18", "resources/templates/list", "resourceTemplates", `{"uriTemplate":"r://t/{a}","name":"template","title":"Template","description":"By a",` +
			`"mimeType":"text/plain","annotations":{"priority":1},"_meta":{"m":"x"}}`},
		{"C58 without titles in 2025-03-26", "2025-03-26", "resources/list", "resources",
			`{"uri":"r://full","name":"full","description":"All of it","mimeType":"text/plain","size":4,"annotations":{"audience":["user"],"priority":0}}` + "\n" +
				`{"uri":"r://bare","name":"bare"}` + "\n" + `{"uri":"r://tagged","name":"tagged","mimeType":"text/csv","size":9}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var answer string
			if tt.version == "" {
				answer = ask(t, s, modernRequest("1", tt.method))
			} else {
				answer = askLegacy(t, s, tt.version, plainRequest("1", tt.method))
			}
			if diff := cmp.Diff(strings.Split(tt.want, "\n"), listIn(t, answer, tt.member)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("P1 the media type of a text may be set afterwards", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddText(s, "r://x", "x", "text/plain", "# x").MIME("text/markdown")
		listed := listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources")[0]
		if read := contentsIn(t, ask(t, s, readRequest("1", "r://x")))[0]; read.MIMEType != "text/markdown" || !strings.Contains(listed, `"mimeType":"text/markdown"`) {
			t.Errorf("listed as %s, read as %s", listed, read.MIMEType)
		}
	})
	t.Run("RES-03 RES-13 a folder has a type of its own, and its read is what it holds", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddResource(s, "file:///d", "d", func(context.Context) (*mcp.ReadResult, error) {
			return &mcp.ReadResult{Contents: []mcp.ResourceContents{{URI: "file:///d/a", Text: "a"}, {URI: "file:///d/e", MIMEType: "inode/directory"}}}, nil
		}).MIME("inode/directory")
		if got := listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources")[0]; !strings.Contains(got, `"mimeType":"inode/directory"`) {
			t.Errorf("%s", got)
		}
		if got := contentsIn(t, ask(t, s, readRequest("1", "file:///d"))); len(got) != 2 || got[1].MIMEType != "inode/directory" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("M6 hidden is readable, disabled is not", func(t *testing.T) {
		t.Parallel()
		if got := contentsIn(t, ask(t, s, readRequest("1", "r://hidden"))); *got[0].Text != "here" {
			t.Errorf("%+v", got)
		}
		faultIn(t, ask(t, s, readRequest("1", "r://off")))
	})
}
