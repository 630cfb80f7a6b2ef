package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// headerStyles are the ways to a tool "t" without a typed handler, or with another schema than that of its type. Each
// takes the schema of the property "a", as JSON and as it is built.
var headerStyles = map[string]func(s *mcp.Server, property string, built mcp.Schema) *mcp.Tool{
	"AddRawTool": func(s *mcp.Server, property string, _ mcp.Schema) *mcp.Tool {
		return mcp.AddRawTool(s, "t", "", mcp.RawSchema(objectSchema(`"a":`+property)), echoRaw)
	},
	"AddToolDef": func(s *mcp.Server, property string, _ mcp.Schema) *mcp.Tool {
		return mcp.AddToolDef(s, mcp.ToolDef{Name: "t", InputSchema: json.RawMessage(objectSchema(`"a":` + property))}, echoRaw)
	},
	"InputSchema": func(s *mcp.Server, property string, _ mcp.Schema) *mcp.Tool {
		return mcp.AddTool(s, "t", "", returning[map[string]any]("")).InputSchema(mcp.RawSchema(objectSchema(`"a":` + property)))
	},
	"a part of a built schema": func(s *mcp.Server, property string, _ mcp.Schema) *mcp.Tool {
		return mcp.AddRawTool(s, "t", "", mcp.Object().Object("a", "", mcp.RawSchema(property)).Optional(), echoRaw)
	},
	"a built schema": func(s *mcp.Server, _ string, built mcp.Schema) *mcp.Tool {
		return mcp.AddRawTool(s, "t", "", built, echoRaw)
	},
	"a built schema in the place of another": func(s *mcp.Server, _ string, built mcp.Schema) *mcp.Tool {
		return mcp.AddTool(s, "t", "", returning[map[string]any]("")).InputSchema(built)
	},
}

// TestHTTPParamsOfEveryStyle shows that headers are held to the arguments of tools of every style.
func TestHTTPParamsOfEveryStyle(t *testing.T) {
	t.Parallel()
	for style, define := range headerStyles {
		for _, verbatim := range []bool{false, true} {
			t.Run(fmt.Sprintf("XMH-16 A44 %s, application-validated %v", style, verbatim), func(t *testing.T) {
				t.Parallel()
				s := mcp.NewServer("s", "1", nil)
				tool := define(s, `{"type":"string","x-mcp-header":"Region"}`, mcp.Object().String("a", "").Optional().Header("Region"))
				if verbatim {
					tool.ApplicationValidated()
				}
				h := newHandler(t, s, modernOnly)
				call := modernCall("1", "t", `{"a":"eu"}`)
				if a := exchange(t, h, modernPost(call, "Mcp-Param-Region: eu")); a.status != 200 || strings.Contains(a.body, "isError") {
					t.Errorf("equal: %d %s", a.status, a.body)
				}
				for what, r := range map[string]*http.Request{
					"different": modernPost(call, "Mcp-Param-Region: us"), "missing": modernPost(call),
					"too many": modernPost(modernCall("1", "t", `{}`), "Mcp-Param-Region: eu"),
				} {
					if err := exchange(t, h, r).expectError(t, 400, mcp.CodeHeaderMismatch, "1"); !strings.Contains(err.Message, "Mcp-Param-Region") {
						t.Errorf("%s: %s", what, err.Message)
					}
				}
			})
		}
	}
}

// TestHTTPParamsRefused shows which annotations tools of every style may not have.
func TestHTTPParamsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, property string
		built          mcp.Schema
		want           string
	}{
		{"XMH-02 a space", `{"type":"string","x-mcp-header":"My Region"}`, mcp.Object().String("a", "").Header("My Region"), "My Region"},
		{"XMH-02 empty", `{"type":"string","x-mcp-header":""}`, mcp.Object().String("a", "").Header(""), "empty"},
		{"XMH-04 a number", `{"type":"number","x-mcp-header":"A"}`, mcp.Object().Number("a", "").Header("A"), "number"},
		{"XMH-04 an array", `{"type":"array","x-mcp-header":"A"}`, mcp.Object().Array("a", "", mcp.Type("string")).Header("A"), "array"},
		{"XMH-04 no type", `{"x-mcp-header":"A"}`, mcp.Object().Any("a", "").Header("A"), "type"},
		{"XMH-05 items", `{"items":{"type":"string","x-mcp-header":"A"}}`, mcp.Object().Array("a", "", mcp.Type("string").Keyword("x-mcp-header", "A")), "properties alone"},
		{"XMH-05 anyOf", `{"anyOf":[{"type":"string","x-mcp-header":"A"}]}`, mcp.Object().Any("a", "").Keyword("anyOf", []mcp.Schema{mcp.Type("string").Keyword("x-mcp-header", "A")}), "properties alone"},
	} {
		for style, define := range headerStyles {
			for _, verbatim := range []bool{false, true} {
				t.Run(fmt.Sprintf("XMH-22 %s, %s, application-validated %v", tt.name, style, verbatim), func(t *testing.T) {
					t.Parallel()
					s := mcp.NewServer("s", "1", nil)
					tool := define(s, tt.property, tt.built)
					if verbatim {
						tool.ApplicationValidated()
					}
					problems := registrationErrors(s.Check())
					if len(problems) != 1 || problems[0].Feature != `tool "t"` || !strings.Contains(problems[0].Error(), "x-mcp-header") || !strings.Contains(problems[0].Error(), tt.want) {
						t.Errorf("problems: %v", problems)
					}
				})
			}
		}
	}
}

// TestClientLeavesOut lists tools whose annotations are invalid in schemas that have other faults, or are of another
// version of JSON Schema.
func TestClientLeavesOut(t *testing.T) {
	t.Parallel()
	const ann, escaped = `{"type":"string","x-mcp-header":"A"}`, `{"type":"string","\u0078-mcp\u002dheader":"A"}`
	tools := []string{
		`{"name":"plain","inputSchema":` + objectSchema(`"a":`+ann) + `}`,
		`{"name":"spelled","inputSchema":` + objectSchema(`"a":`+escaped) + `}`,
		`{"name":"odd","inputSchema":{"type":"string","pattern":"\\d"}}`,
		`{"name":"old","inputSchema":` + objectSchema(`"a":`+ann, `"$schema":"http://json-schema.org/draft-07/schema#"`, `"dependencies":{"a":["b"]}`) + `}`,
	}
	for i, property := range []string{
		`{"items":[` + ann + `]}`, `{"then":` + ann + `}`, `{"allOf":` + ann + `}`, `{"dependencies":{"x":` + ann + `}}`, `{"additionalItems":` + ann + `}`,
		`{"items":[` + escaped + `]}`,
	} {
		for _, dialect := range []string{"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"} {
			tools = append(tools, fmt.Sprintf(`{"name":"bad%d","inputSchema":%s}`, i, objectSchema(`"a":`+property, `"$schema":"`+dialect+`"`)))
		}
	}
	mirrored := make(map[string]string) // what the header of a call said, by tool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var m clientMessage
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil {
			t.Errorf("%v: %s", err, body)
		}
		result := discovered
		switch m.Method {
		case "tools/call":
			mirrored[m.Params.Name] = r.Header.Get("Mcp-Param-A")
			result = `"resultType":"complete","content":[]`
		case "tools/list":
			result = `"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + strings.Join(tools, ",") + `]`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, result)
	}))
	t.Cleanup(server.Close)
	c, err := mcp.Dial(context.Background(), mcp.HTTP(server.URL, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	t.Run("XMH-07 XMH-05 in whatever version of JSON Schema, while the others stay", func(t *testing.T) {
		var names []string
		for _, tool := range mustList(t, c) {
			names = append(names, tool.Name)
		}
		if diff := cmp.Diff([]string{"plain", "spelled", "odd", "old"}, names); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("XMH-01 the keyword counts however it is spelled", func(t *testing.T) {
		for _, name := range []string{"plain", "spelled", "odd"} {
			mustCall(t, c, name, map[string]string{"a": "x"})
		}
		if diff := cmp.Diff(map[string]string{"plain": "x", "spelled": "x", "odd": ""}, mirrored); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
