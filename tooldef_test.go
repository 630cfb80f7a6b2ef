package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestToolDefListed registers definitions that are data and compares them with what is listed.
func TestToolDefListed(t *testing.T) {
	t.Parallel()
	const schema = `"inputSchema":{"type":"object","properties":{"a":{"type":"integer","x-own":[1.0]}},"title":"Arguments"}`
	for name, def := range map[string]string{
		"no more than it needs":            `{"name":"t",` + schema + `}`,
		"description":                      `{"name":"t","description":"Does t",` + schema + `}`,
		"title":                            `{"name":"t","title":"Tee",` + schema + `}`,
		"output schema":                    `{"name":"t",` + schema + `,"outputSchema":{"type":"object","properties":{"b":{"const":1.0}},"x-own":{}}}`,
		"hints":                            `{"name":"t",` + schema + `,"annotations":{"title":"T","readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`,
		"icons":                            `{"name":"t",` + schema + `,"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["1x1"],"theme":"dark"}]}`,
		"META-05 _meta":                    `{"name":"t",` + schema + `,"_meta":{"com.example/a":{"b":[1.0,null]},"io.modelcontextprotocol/x":1,"traceparent":"x"}}`,
		"META-05 members that are unknown": `{"name":"t",` + schema + `,"execution":{"taskSupport":"optional"},"zeta":null}`,
		"all at once": `{"name":"t","title":"Tee","description":"Does t",` + schema + `,"outputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true},` +
			`"icons":[{"src":"https://example.com/i.png"}],"_meta":{"k":1},"execution":{},"zeta":[{"a":1.0}]}`,
	} {
		t.Run("A14 a definition is listed as it was read: "+name, func(t *testing.T) {
			t.Parallel()
			var d mcp.ToolDef
			if err := json.Unmarshal([]byte(def), &d); err != nil {
				t.Fatal(err)
			}
			s := mcp.NewServer("s", "1", nil)
			mcp.AddToolDef(s, d, echoRaw)
			if diff := cmp.Diff([]string{def}, entries(t, ask(t, s, modernRequest("1", "tools/list")))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("A14 known names among the unknown ones are not written twice", func(t *testing.T) {
		t.Parallel()
		d := mcp.ToolDef{Name: "t", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`), Extra: map[string]json.RawMessage{
			"name": json.RawMessage(`"u"`), "title": json.RawMessage(`"U"`), "description": json.RawMessage(`"U"`), "inputSchema": json.RawMessage(`true`),
			"outputSchema": json.RawMessage(`true`), "annotations": json.RawMessage(`{}`), "icons": json.RawMessage(`[]`), "_meta": json.RawMessage(`{}`), "zeta": json.RawMessage(`1`),
		}}
		s := mcp.NewServer("s", "1", nil)
		mcp.AddToolDef(s, d, echoRaw)
		const want = `{"name":"t","inputSchema":{"type":"object","properties":{}},"zeta":1}`
		if diff := cmp.Diff([]string{want}, entries(t, ask(t, s, modernRequest("1", "tools/list")))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("A14 what is registered stays as it was when the definition changes", func(t *testing.T) {
		t.Parallel()
		d := mcp.ToolDef{Name: "t", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`), Icons: []mcp.Icon{{Src: "https://example.com/1"}},
			Meta: mcp.Meta{"k": json.RawMessage(`1`)}, Extra: map[string]json.RawMessage{"zeta": json.RawMessage(`1`)}}
		s := mcp.NewServer("s", "1", nil)
		mcp.AddToolDef(s, d, echoRaw)
		d.Icons[0].Src, d.Meta["k"], d.Extra["zeta"] = "https://example.com/2", json.RawMessage(`2`), json.RawMessage(`2`)
		const want = `{"name":"t","inputSchema":{"type":"object","properties":{}},"icons":[{"src":"https://example.com/1"}],"_meta":{"k":1},"zeta":1}`
		if diff := cmp.Diff([]string{want}, entries(t, ask(t, s, modernRequest("1", "tools/list")))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
