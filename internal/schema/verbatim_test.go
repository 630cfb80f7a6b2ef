package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/typedmcp/mcp/internal/schema"
)

func TestVerbatim(t *testing.T) {
	text := props(`"a":{"foo":1,"$ref":"https://example.com/x","type":"integer"}`, `"required":["b"]`)
	p, problems := schema.Raw([]byte(text), schema.RawOptions{Object: true, Verbatim: true})
	if p == nil {
		t.Fatalf("A44: %+v", problems)
	}
	t.Run("A44 advertised as it is, nothing checked or filled in", func(t *testing.T) {
		if string(p.JSON()) != text || p.Strict() != p || !p.Object() {
			t.Errorf("got %s", p.JSON())
		}
		accepts(t, p, `{"a":"x","a":null}`, `{"a":"x","a":null}`)
		if v := p.Validate([]byte(`7`)); v != nil {
			t.Errorf("got %+v", v)
		}
	})
	t.Run("A44 a type in escapes", func(t *testing.T) {
		p, problems := schema.Raw([]byte(`{"type":"obj\u0065ct"}`), schema.RawOptions{Object: true, Verbatim: true})
		if p == nil || !p.Object() {
			t.Errorf("got %+v", problems)
		}
	})
	for name, bad := range map[string]string{"no JSON": `{"type":`, "no object": `{"type":"array"}`} {
		t.Run("A44 TOOL-05 what the protocol demands holds all the same: "+name, func(t *testing.T) {
			if p, problems := schema.Raw([]byte(bad), schema.RawOptions{Object: true, Verbatim: true}); p != nil || len(problems) == 0 {
				t.Errorf("%s is accepted", bad)
			}
		})
	}
}

// TestVerbatimHeaders shows annotations in schemas that have other faults, or
// are of another version of JSON Schema: who does not enforce a schema finds
// them all the same.
func TestVerbatimHeaders(t *testing.T) {
	const ann = `{"type":"string","x-mcp-header":"A"}`
	for name, text := range map[string]string{
		"items as a list":               props(`"a":{"items":[` + ann + `]}`),
		"then without if":               props(`"a":{"then":` + ann + `}`),
		"else without if":               props(`"a":{"else":` + ann + `}`),
		"allOf with an object":          props(`"a":{"allOf":` + ann + `}`),
		"not with a list":               props(`"a":{"not":[` + ann + `]}`),
		"properties as a list":          props(`"a":{"properties":[` + ann + `]}`),
		"dependencies in 2020-12":       props(`"a":{"dependencies":{"x":["y"],"z":` + ann + `}}`),
		"additionalItems without items": props(`"a":{"additionalItems":` + ann + `}`),
		"contentSchema alone":           props(`"a":{"contentSchema":` + ann + `}`),
		"a schema beside what is none":  props(`"a":{"anyOf":[1,` + ann + `]}`),
		"beside unknown keywords":       props(`"a":{"foo":{},"items":` + ann + `}`),
		"prefixItems in draft-07":       props(`"a":{"prefixItems":[`+ann+`]}`, `"$schema":"http://json-schema.org/draft-07/schema#"`),
		"an unknown dialect":            props(`"a":{"items":[`+ann+`]}`, `"$schema":"https://json-schema.org/draft/2019-09/schema"`),
		"beside a repeated anchor":      props(`"a":{"$anchor":"x"},"b":{"$anchor":"x"},"c":{"items":` + ann + `}`),
	} {
		t.Run("XMH-05 XMH-22 "+name, func(t *testing.T) {
			p, problems := schema.Raw([]byte(text), schema.RawOptions{Object: true, Verbatim: true})
			if p != nil || len(problems) != 1 || problems[0].Tag != "x-mcp-header" || !strings.Contains(problems[0].Reason, "properties alone") {
				t.Errorf("%s: got %+v", text, problems)
			}
		})
	}
	for name, text := range map[string]string{
		"draft-07":                props(`"a":`+ann, `"$schema":"http://json-schema.org/draft-07/schema#"`, `"dependencies":{"a":["b"]}`),
		"an unknown dialect":      props(`"a":`+ann, `"$schema":"https://example.com/x"`),
		"faults elsewhere":        props(`"a":`+ann+`,"b":1,"c":{"$ref":"https://example.com/x","minimum":"x"}`, `"allOf":[]`),
		"beside a faulty keyword": props(`"a":{"type":"string","minLength":-1,"x-mcp-header":"A"}`),
	} {
		t.Run("XMH-16 A44 valid, "+name, func(t *testing.T) {
			p, problems := schema.Raw([]byte(text), schema.RawOptions{Object: true, Verbatim: true})
			if p == nil || len(p.Headers()) != 1 || fmt.Sprint(p.Headers()[0].Path) != "[a]" {
				t.Errorf("%s: got %+v", text, problems)
			}
		})
	}
}
