package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestHTTPHeaders shows how the headers that every request repeats are held to its body (MCP 2026-07-28, Streamable HTTP
// › Standard Request Headers, › Server Validation). The handler runs only for requests that pass.
func TestHTTPHeaders(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	s := mcp.NewServer("headers", "1", nil)
	for _, name := range []string{"num", "Größe", "other", "two words", "=?base64?bnVt?="} {
		mcp.AddTool(s, name, "", func(ctx context.Context, _ noArgs) (string, error) {
			ran.Add(1)
			return "ran " + mcp.RequestFrom(ctx).Info().Name, nil
		})
	}
	h := newHandler(t, s, modernOnly)
	call := modernCall("1", "num", "{}")

	tests := []struct {
		name, body string
		edits      []string
		missing    string // the header that the fault names; "": none
	}{
		{"all there", call, nil, ""},
		{"HDR-05 no version", call, []string{"-MCP-Protocol-Version"}, "MCP-Protocol-Version"},
		{"HDR-05 empty version", call, []string{"MCP-Protocol-Version: "}, "MCP-Protocol-Version"},
		{"HDR-05 ERD-04 version of the other era", call, []string{"MCP-Protocol-Version: 2025-11-25"}, "MCP-Protocol-Version"},
		{"HDR-05 version twice", call, []string{"+MCP-Protocol-Version: 2026-07-28"}, "MCP-Protocol-Version"},
		{"HDR-05 C79 no method", call, []string{"-Mcp-Method"}, "Mcp-Method"},
		{"HDR-05 method of another request", call, []string{"Mcp-Method: tools/list"}, "Mcp-Method"},
		{"HDR-05 method twice", call, []string{"+Mcp-Method: tools/call"}, "Mcp-Method"},
		{"HDR-05 no name", call, []string{"-Mcp-Name"}, "Mcp-Name"},
		{"HDR-05 C79 name of another tool", call, []string{"Mcp-Name: other"}, "Mcp-Name"},
		{"HDR-05 name twice", call, []string{"+Mcp-Name: num"}, "Mcp-Name"},
		{"HDR-05 empty name", call, []string{"Mcp-Name: "}, "Mcp-Name"},
		{"HDR-06 C79 names of headers in any case", call, []string{
			"-Mcp-Method", "-Mcp-Name", "-Mcp-Protocol-Version", "mcp-method: tools/call", "MCP-NAME: num", "mcp-PROTOCOL-version: 2026-07-28"}, ""},
		{"HDR-07 C79 method in another case", call, []string{"Mcp-Method: TOOLS/CALL"}, "Mcp-Method"},
		{"HDR-07 name in another case", call, []string{"Mcp-Name: Num"}, "Mcp-Name"},
		{"HDR-08 C79 white space around", call, []string{"Mcp-Name: \t num  ", "Mcp-Method:  tools/call ", "Mcp-Protocol-Version: \t2026-07-28 "}, ""},
		{"HDR-08 white space within", modernCall("1", "two words", "{}"), []string{"Mcp-Name: two words"}, ""},
		{"HDR-11 C74 encoded name", call, []string{"Mcp-Name: =?base64?bnVt?="}, ""},
		{"HDR-11 C74 encoded name beyond ASCII", modernCall("1", "Größe", "{}"), []string{"Mcp-Name: =?base64?R3LDtsOfZQ==?="}, ""},
		{"HDR-11 encoded name of another tool", call, []string{"Mcp-Name: =?base64?b3RoZXI=?="}, "Mcp-Name"},
		{"HDR-11 a name that looks encoded, encoded", modernCall("1", "=?base64?bnVt?=", "{}"),
			[]string{"Mcp-Name: =?base64?PT9iYXNlNjQ/Ym5WdD89?="}, ""},
		{"HDR-11 a name that looks encoded, plain", modernCall("1", "=?base64?bnVt?=", "{}"),
			[]string{"Mcp-Name: =?base64?bnVt?="}, "Mcp-Name"},
		{"HDR-12 marker in upper case", call, []string{"Mcp-Name: =?BASE64?bnVt?="}, "Mcp-Name"},
		{"HDR-12 without the end marker", call, []string{"Mcp-Name: =?base64?bnVt"}, "Mcp-Name"},
		{"HDR-12 without the start marker", call, []string{"Mcp-Name: bnVt?="}, "Mcp-Name"},
		{"HDR-13 C74 empty form", call, []string{"Mcp-Name: =?base64??="}, "Mcp-Name"},
		{"HDR-13 no padding", call, []string{"Mcp-Name: =?base64?bnVtMQ?="}, "Mcp-Name"},
		{"HDR-13 C74 not Base64", call, []string{"Mcp-Name: =?base64?SGVs!!!bG8=?="}, "Mcp-Name"},
		{"HDR-13 not UTF-8", call, []string{"Mcp-Name: =?base64?/w==?="}, "Mcp-Name"},
		{"HDR-14 raw byte in the name", call, []string{"Mcp-Name: num\x80"}, "Mcp-Name"},
		{"HDR-14 raw name beyond ASCII", modernCall("1", "Größe", "{}"), []string{"Mcp-Name: Größe"}, "Mcp-Name"},
		{"HDR-14 raw byte in the method", call, []string{"Mcp-Method: tools/call\x80"}, "Mcp-Method"},
		{"HDR-05 a name is not compared where none is due", modernRequest("1", "tools/list"), []string{"Mcp-Name: anything"}, ""},
		{"HTTP-25 HTTP-26 headers of older revisions", call, []string{"Mcp-Session-Id: a", "+Mcp-Session-Id: b", "Last-Event-ID: 1"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := ran.Load()
			a := exchange(t, h, modernPost(tt.body, tt.edits...))
			if tt.missing != "" {
				err := a.expectError(t, 400, mcp.CodeHeaderMismatch, "1")
				if !strings.Contains(err.Message, tt.missing) {
					t.Errorf("the message does not name %s: %s", tt.missing, err.Message)
				}
				if ran.Load() != before {
					t.Error("the handler ran")
				}
				return
			}
			if m := a.message(t); a.status != 200 || m.Result == nil {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}

	t.Run("HDR-15 the body is the truth", func(t *testing.T) {
		// The name that is looked up is the body's: an encoded header would name no tool.
		a := exchange(t, h, modernPost(call, "Mcp-Name: =?base64?bnVt?="))
		if !strings.Contains(a.body, `"ran num"`) {
			t.Error(a.body)
		}
	})
	t.Run("HDR-05 a version in escapes is the same version", func(t *testing.T) {
		body := strings.Replace(call, `"2026-07-28"`, `"2026\u002d07-28"`, 1)
		if a := exchange(t, h, modernPost(body)); a.status != 200 {
			t.Error(a.body)
		}
	})
	t.Run("HDR-14 texts of faults hold no value of a header", func(t *testing.T) {
		a := exchange(t, h, modernPost(call, "Mcp-Name: secret"))
		if strings.Contains(a.body, "secret") {
			t.Error(a.body)
		}
	})
}

// TestHTTPHeadersOnTheWire sends what only a real connection can change: names and spaces as the client wrote them.
func TestHTTPHeadersOnTheWire(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newFixture(nil).Server, modernOnly)
	body := modernCall("1", "add", `{"a":1,"b":2}`)
	for _, tt := range []struct{ name, lines string }{
		{"HDR-06 C79 lower case", "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: add\r\n"},
		{"HDR-06 upper case", "MCP-PROTOCOL-VERSION: 2026-07-28\r\nMCP-METHOD: tools/call\r\nMCP-NAME: add\r\n"},
		{"HDR-08 C79 white space", "Mcp-Protocol-Version:2026-07-28\r\nMcp-Method: \t tools/call\r\nMcp-Name: add  \t\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := rawExchange(t, h, fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s"+
				"Content-Length: %d\r\nConnection: close\r\n\r\n%s", tt.lines, len(body), body))
			if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.HasSuffix(got, modernSum("1", 3)) {
				t.Error(got)
			}
		})
	}
}

// TestHTTPParams shows how the headers that mirror arguments are held to them (MCP 2026-07-28, Streamable HTTP › Server
// Behavior for Custom Headers).
func TestHTTPParams(t *testing.T) {
	t.Parallel()
	type where struct {
		Zone *string `json:"zone,omitempty" mcp:"header=Zone"`
	}
	type args struct {
		Region string `json:"region,omitempty" mcp:"header=Region"`
		Count  int64  `json:"count,omitempty" mcp:"header=Count"`
		Dry    bool   `json:"dry,omitempty" mcp:"header=Dry-Run"`
		Where  where  `json:"where,omitempty"`
		Note   string `json:"note,omitempty"`
	}
	var ran atomic.Int64
	s := mcp.NewServer("params", "1", nil)
	mcp.AddTool(s, "place", "", func(_ context.Context, a args) (string, error) {
		ran.Add(1)
		return fmt.Sprint(a.Region, a.Count, a.Dry), nil
	})
	h := newHandler(t, s, modernOnly)

	tests := []struct {
		name, args string
		edits      []string
		fault      string // the header that is named; "": none
	}{
		{"XMH-16 C80 M33 equal", `{"region":"eu"}`, []string{"Mcp-Param-Region: eu"}, ""},
		{"XMH-16 C80 M33 different", `{"region":"eu"}`, []string{"Mcp-Param-Region: us"}, "Mcp-Param-Region"},
		{"XMH-16 in another case", `{"region":"eu"}`, []string{"Mcp-Param-Region: EU"}, "Mcp-Param-Region"},
		{"XMH-16 C80 missing", `{"region":"eu"}`, nil, "Mcp-Param-Region"},
		{"XMH-16 twice", `{"region":"eu"}`, []string{"Mcp-Param-Region: eu", "+Mcp-Param-Region: eu"}, "Mcp-Param-Region"},
		{"XMH-16 encoded", `{"region":"Köln"}`, []string{"Mcp-Param-Region: =?base64?S8O2bG4=?="}, ""},
		{"XMH-16 escaped in the body", `{"region":"K\u00f6ln"}`, []string{"Mcp-Param-Region: =?base64?S8O2bG4=?="}, ""},
		{"XMH-16 HDR-13 malformed", `{"region":"eu"}`, []string{"Mcp-Param-Region: =?base64?e!?="}, "Mcp-Param-Region"},
		{"XMH-16 HDR-14 raw bytes", `{"region":"Köln"}`, []string{"Mcp-Param-Region: Köln"}, "Mcp-Param-Region"},
		{"XMH-16 nested, equal", `{"where":{"zone":"a"}}`, []string{"Mcp-Param-Zone: a"}, ""},
		{"XMH-16 nested, different", `{"where":{"zone":"a"}}`, []string{"Mcp-Param-Zone: b"}, "Mcp-Param-Zone"},
		{"XMH-16 boolean", `{"dry":true}`, []string{"Mcp-Param-Dry-Run: true"}, ""},
		{"XMH-16 boolean spelt otherwise", `{"dry":true}`, []string{"Mcp-Param-Dry-Run: True"}, "Mcp-Param-Dry-Run"},
		{"XMH-16 number as text", `{"region":"eu","count":5}`, []string{"Mcp-Param-Region: eu", "Mcp-Param-Count: five"}, "Mcp-Param-Count"},
		{"XMH-14 empty string with an empty header", `{"region":""}`, []string{"Mcp-Param-Region: "}, ""},
		{"XMH-14 empty string without a header", `{"region":""}`, nil, "Mcp-Param-Region"},
		{"XMH-14 AMB-20 absent argument with an empty header", `{}`, []string{"Mcp-Param-Region: "}, "Mcp-Param-Region"},
		{"XMH-17 absent argument", `{}`, nil, ""},
		{"XMH-17 C80 null argument", `{"region":null}`, nil, ""},
		{"XMH-17 absent parent", `{"where":null}`, nil, ""},
		{"AMB-20 C80 absent argument with a header", `{}`, []string{"Mcp-Param-Region: eu"}, "Mcp-Param-Region"},
		{"AMB-20 null argument with a header", `{"region":null}`, []string{"Mcp-Param-Region: null"}, "Mcp-Param-Region"},
		{"AMB-20 arguments null with a header", `null`, []string{"Mcp-Param-Region: eu"}, "Mcp-Param-Region"},
		{"XMH-18 C80 integers compare as numbers", `{"count":42}`, []string{"Mcp-Param-Count: 42.0"}, ""},
		{"XMH-18 exponent in the body", `{"count":1e3}`, []string{"Mcp-Param-Count: 1000"}, ""},
		{"XMH-18 other number", `{"count":42}`, []string{"Mcp-Param-Count: 43"}, "Mcp-Param-Count"},
		{"XMH-12 largest", `{"count":9007199254740991}`, []string{"Mcp-Param-Count: 9007199254740991"}, ""},
		{"XMH-12 smallest", `{"count":-9007199254740991}`, []string{"Mcp-Param-Count: -9007199254740991"}, ""},
		{"XMH-12 AMB-21 beyond", `{"count":9007199254740992}`, []string{"Mcp-Param-Count: 9007199254740992"}, "Mcp-Param-Count"},
		{"XMH-12 AMB-21 beyond, below zero", `{"count":-9007199254740992}`, []string{"Mcp-Param-Count: -9007199254740992"}, "Mcp-Param-Count"},
		{"XMH-19 C80 unknown header", `{}`, []string{"Mcp-Param-Elsewhere: x"}, ""},
		{"XMH-15 XMH-19 argument that is not mirrored", `{"note":"x"}`, []string{"Mcp-Param-Note: y"}, ""},
		{"XMH-19 unknown and malformed header", `{}`, []string{"Mcp-Param-Elsewhere: =?base64?!?="}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := ran.Load()
			a := exchange(t, h, modernPost(modernCall("1", "place", tt.args), tt.edits...))
			switch {
			case tt.fault == "":
				if ran.Load() != before+1 || a.status != 200 || strings.Contains(a.body, "isError") {
					t.Errorf("%d %s", a.status, a.body)
				}
			case ran.Load() != before:
				t.Error("the handler ran")
			default:
				if err := a.expectError(t, 400, mcp.CodeHeaderMismatch, "1"); !strings.Contains(err.Message, tt.fault) {
					t.Errorf("the message does not name %s: %s", tt.fault, err.Message)
				}
			}
		})
	}

	t.Run("M33 no header is due off HTTP", func(t *testing.T) {
		c := serveLines(t, s)
		c.send(modernCall("1", "place", `{"region":"eu"}`))
		if line := c.next(); !strings.Contains(line, "eu0 false") {
			t.Error(line)
		}
	})
	t.Run("M33 annotations are listed", func(t *testing.T) {
		body := exchange(t, h, modernPost(modernRequest("1", "tools/list"))).body
		for _, want := range []string{`"x-mcp-header":"Region"`, `"x-mcp-header":"Count"`, `"x-mcp-header":"Dry-Run"`, `"x-mcp-header":"Zone"`} {
			if strings.Count(body, want) != 1 {
				t.Errorf("%s is not listed once: %s", want, body)
			}
		}
	})
}

// TestHTTPParamsDefinition shows which annotations a typed tool may have (MCP 2026-07-28, Streamable HTTP › Schema
// Extension).
func TestHTTPParamsDefinition(t *testing.T) {
	t.Parallel()
	type inner struct {
		Region string `json:"region" mcp:"header=Region"`
	}
	type loop struct {
		Region string  `json:"region" mcp:"header=Region"`
		Next   []*loop `json:"next,omitempty"`
	}
	type color string
	check := func(add func(*mcp.Server)) error {
		s := mcp.NewServer("definition", "1", nil)
		add(s)
		return s.Check()
	}

	bad := []struct {
		name, in string // in: what the problem has to name
		err      error
	}{
		{"XMH-02 M33 empty", `Region`, check(define[struct {
			Region string `json:"region" mcp:"header="`
		}])},
		{"XMH-02 space", `My Region`, check(define[struct {
			Region string `json:"region" mcp:"header=My Region"`
		}])},
		{"XMH-02 colon", `Region:P`, check(define[struct {
			Region string `json:"region" mcp:"header=Region:P"`
		}])},
		{"XMH-02 beyond ASCII", `Région`, check(define[struct {
			Region string `json:"region" mcp:"header=Région"`
		}])},
		{"XMH-02 control character", `a\tb`, check(define[struct {
			Region string `json:"region" mcp:"header=a	b"`
		}])},
		{"XMH-03 C80 M33 twice, by case", `REGION`, check(define[struct {
			Region string `json:"region" mcp:"header=Region"`
			Again  string `json:"again" mcp:"header=REGION"`
		}])},
		{"XMH-03 twice, at two depths", `"inner.region"`, check(define[struct {
			Region string `json:"region" mcp:"header=REGION"`
			Inner  inner  `json:"inner"`
		}])},
		{"XMH-04 C80 AMB-04 M33 number", `number`, check(define[struct {
			Share float64 `json:"share" mcp:"header=Share"`
		}])},
		{"XMH-04 array", `struct.Tags`, check(define[struct {
			Tags []string `json:"tags" mcp:"header=Tags"`
		}])},
		{"XMH-04 object", `struct.Inner`, check(define[struct {
			Inner struct{ A int } `json:"inner" mcp:"header=Inner"`
		}])},
		{"XMH-04 AMB-22 no type", `no single type`, check(define[struct {
			Any any `json:"any" mcp:"header=Any"`
		}])},
		{"XMH-05 C80 in items", `struct.List[].Region`, check(define[struct {
			List []inner `json:"list"`
		}])},
		{"XMH-05 in values of a map", `struct.Map[].Region`, check(define[struct {
			Map map[string]inner `json:"map"`
		}])},
		{"XMH-05 AMB-23 in a definition", `loop.Region`, check(define[struct {
			Loop []*loop `json:"loop"`
		}])},
	}
	for _, tt := range bad {
		t.Run("XMH-22 "+tt.name, func(t *testing.T) {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.in) || !strings.Contains(tt.err.Error(), `tool "t"`) {
				t.Errorf("Check: %v; want a problem of the tool that names %s", tt.err, tt.in)
			}
		})
	}

	good := []struct {
		name string
		err  error
	}{
		{"XMH-04 string, integer and boolean", check(define[struct {
			S string `json:"s" mcp:"header=S"`
			C color  `json:"c" mcp:"header=C"`
			I uint8  `json:"i" mcp:"header=I"`
			B bool   `json:"b" mcp:"header=B"`
		}])},
		{"XMH-04 optional", check(define[struct {
			S *string `json:"s,omitempty" mcp:"header=S"`
			I int     `json:"i,omitempty" mcp:"header=I" jsonschema:"default=3"`
		}])},
		{"XMH-02 all of a token's characters", check(define[struct {
			S string "json:\"s\" mcp:\"header=!#$%&'*+-.^_`|~09azAZ\""
		}])},
		{"XMH-05 AMB-05 nested in objects", check(define[struct {
			A struct {
				B struct {
					C string `json:"c" mcp:"header=C"`
				} `json:"b"`
			} `json:"a"`
		}])},
		{"XMH-05 embedded", check(define[struct{ inner }])},
	}
	for _, tt := range good {
		t.Run(tt.name, func(t *testing.T) {
			if tt.err != nil {
				t.Error(tt.err)
			}
		})
	}

	t.Run("XMH-06 the keyword as a name or a value is data", func(t *testing.T) {
		type args struct {
			Header string `json:"x-mcp-header" jsonschema:"default=Region"`
			Mode   string `json:"mode,omitempty" jsonschema:"enum=x-mcp-header"`
		}
		s := mcp.NewServer("data", "1", nil)
		define[args](s)
		a := exchange(t, newHandler(t, s, nil), modernPost(modernCall("1", "t", `{"x-mcp-header":"Region","mode":"x-mcp-header"}`),
			"Mcp-Param-Region: anything"))
		if a.status != http.StatusOK || strings.Contains(a.body, "isError") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("XMH-17 a default is no argument that was sent", func(t *testing.T) {
		s := mcp.NewServer("default", "1", nil)
		define[struct {
			Region string `json:"region,omitempty" mcp:"header=Region" jsonschema:"default=eu"`
		}](s)
		a := exchange(t, newHandler(t, s, nil), modernPost(modernCall("1", "t", `{}`)))
		if a.status != http.StatusOK || strings.Contains(a.body, "isError") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

// define adds the tool "t" with arguments of type A.
func define[A any](s *mcp.Server) {
	mcp.AddTool(s, "t", "", func(context.Context, A) (string, error) { return "", nil })
}
