package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// listing is the result that lists tools with the given input schemas.
func listing(schemas map[string]string) string {
	var tools []string
	for name, schema := range schemas {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema))
	}
	return `"tools":[` + strings.Join(tools, ",") + `]`
}

func TestArgumentsInHeaders(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{
		"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},"b":{"type":"boolean","x-mcp-header":"B"},
		"plain":{"type":"string"},
		"deep":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"Deep"},"plain":{"type":"string"}}}}}`
	encoded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	type params map[string]string
	for _, tt := range []struct {
		rule, args string
		want       params
	}{
		{"XMH-01 XMH-11 a string", `{"s":"us west 1"}`, params{"S": "us west 1"}},
		{"XMH-11 an integer", `{"i":42}`, params{"I": "42"}},
		{"XMH-11 a negative integer", `{"i":-7}`, params{"I": "-7"}},
		{"XMH-11 an integer with an exponent", `{"i":1e3}`, params{"I": "1000"}},
		{"XMH-11 an integer with a fraction of zero", `{"i":42.0}`, params{"I": "42"}},
		{"XMH-11 the largest integer", `{"i":9007199254740991}`, params{"I": "9007199254740991"}},
		{"XMH-11 true", `{"b":true}`, params{"B": "true"}},
		{"XMH-11 false", `{"b":false}`, params{"B": "false"}},
		{"XMH-10 a nested argument", `{"deep":{"s":"x"}}`, params{"Deep": "x"}},
		{"XMH-10 the path is exact", `{"deep":{"S":"x","i":7},"S":"y"}`, params{}},
		{"XMH-10 null", `{"s":null,"i":null,"b":null,"deep":{"s":null}}`, params{}},
		{"XMH-10 no parent", `{"deep":null}`, params{}},
		{"XMH-10 a parent that is no object", `{"deep":"s"}`, params{}},
		{"XMH-10 absent", `{}`, params{}},
		{"XMH-13 beyond ASCII", `{"s":"日本"}`, params{"S": encoded("日本")}},
		{"XMH-13 written with escapes", `{"s":"\u65e5"}`, params{"S": encoded("日")}},
		{"XMH-13 control characters", `{"s":"a\nb"}`, params{"S": encoded("a\nb")}},
		{"XMH-13 a tab", `{"s":"a\tb"}`, params{"S": encoded("a\tb")}},
		{"XMH-13 a space in front", `{"s":" a"}`, params{"S": encoded(" a")}},
		{"XMH-13 a space behind", `{"s":"a "}`, params{"S": encoded("a ")}},
		{"XMH-13 what looks encoded", `{"s":"=?base64?x?="}`, params{"S": encoded("=?base64?x?=")}},
		{"XMH-14 an empty string", `{"s":""}`, params{"S": ""}},
		{"XMH-15 arguments without an annotation", `{"plain":"x","other":1,"deep":{"plain":"y"}}`, params{}},
		{"XMH-11 what the schema refuses is repeated as it is: the server will tell", `{"i":1.5,"s":7,"b":"true"}`, params{"I": "1.5", "S": "7", "B": "true"}},
		{"XMH-01 XMH-15 several", `{"s":"x","i":0,"b":true,"plain":"p","deep":{"s":"y"}}`, params{"S": "x", "I": "0", "B": "true", "Deep": "y"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			got := make(params)
			c := webClient(t, func(m clientMessage, h http.Header) string {
				if m.Method == "tools/list" {
					return listing(map[string]string{"t": schema})
				}
				for key, values := range h {
					if name, ok := strings.CutPrefix(key, "Mcp-Param-"); ok {
						got[name] = strings.Join(values, " and ")
					}
				}
				if string(m.Params.Arguments) != tt.args {
					t.Errorf("the arguments are %s", m.Params.Arguments)
				}
				return `"content":[]`
			})
			mustList(t, c)
			mustCall(t, c, "t", json.RawMessage(tt.args))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
	for _, args := range []string{`{"i":9007199254740992}`, `{"i":-9007199254740992}`} {
		t.Run("XMH-12 AMB-21 what no header can say is refused before it is sent: "+args, func(t *testing.T) {
			t.Parallel()
			c := webClient(t, func(m clientMessage, _ http.Header) string {
				if m.Method != "tools/list" {
					t.Errorf("sent %s", m.Params.Arguments)
				}
				return listing(map[string]string{"t": schema})
			})
			mustList(t, c)
			if _, err := c.CallTool(t.Context(), "t", json.RawMessage(args)); err == nil || !strings.Contains(err.Error(), `tool "t"`) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestToolsWithBadAnnotations(t *testing.T) {
	t.Parallel()
	const good = `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`
	for rule, bad := range map[string]string{
		"XMH-02 empty":               `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}`,
		"XMH-02 no token":            `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"My Region"}}}`,
		"XMH-02 no text":             `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":7}}}`,
		"XMH-03 twice":               `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":{"c":{"type":"string","x-mcp-header":"a"}}}}}`,
		"XMH-04 on a number":         `{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`,
		"XMH-04 on an object":        `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`,
		"XMH-04 without a type":      `{"type":"object","properties":{"a":{"x-mcp-header":"A"}}}`,
		"XMH-05 under items":         `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`,
		"XMH-05 under anyOf":         `{"type":"object","anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`,
		"XMH-05 AMB-23 under $defs":  `{"type":"object","$defs":{"x":{"type":"string","x-mcp-header":"A"}}}`,
		"XMH-02 written with escape": `{"type":"object","properties":{"a":{"type":"string","x-mcp\u002dheader":"a b"}}}`,
	} {
		for carrier, kept := range map[string]int{"over HTTP it is left out": 1, "on a pipe it stays": 2} {
			rules := "XMH-07 " + rule
			if kept == 2 {
				rules = "XMH-09 " + rule
			}
			t.Run(rules+": "+carrier, func(t *testing.T) {
				t.Parallel()
				list := listing(map[string]string{"good": good, "bad": bad})
				var c *mcp.Client
				if kept == 1 {
					c = webClient(t, func(clientMessage, http.Header) string { return list })
				} else {
					c = dialAnswering(t, nil, func(clientMessage) string { return list })
				}
				var names []string
				for _, tool := range mustList(t, c) {
					names = append(names, tool.Name)
				}
				if len(names) != kept || kept == 1 && names[0] != "good" {
					t.Errorf("tools %q", names)
				}
			})
		}
	}
}
