package schema_test

import (
	"reflect"
	"testing"

	"github.com/typedmcp/mcp/internal/schema"
)

func TestPartsOfSchemas(t *testing.T) {
	for _, tt := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[string](), `{"type":"string"}`},
		{reflect.TypeFor[[]int](), `{"type":"array","items":{"type":"integer"}}`},
		{reflect.TypeFor[any](), `{}`},
	} {
		p, problems := schema.Input(tt.typ, schema.Options{Part: true})
		if p == nil {
			t.Fatalf("%s: %+v", tt.typ, problems)
		}
		sameJSON(t, string(p.JSON()), tt.want)
		if p, _ := schema.Input(tt.typ, schema.Options{}); p != nil && tt.typ.Kind() != reflect.Interface {
			t.Errorf("%s makes arguments", tt.typ)
		}
	}
}

func TestAdvertisedForm(t *testing.T) {
	p, _ := schema.Raw([]byte(props(`"a":{"pattern":"^x"}`)), schema.RawOptions{Object: true, Advertised: []byte(`{"type":"object"}`)})
	if string(p.JSON()) != `{"type":"object"}` {
		t.Errorf("advertised as %s", p.JSON())
	}
	if _, v := p.Check([]byte(`{"a":"y"}`)); len(v) != 1 {
		t.Errorf("the schema is not enforced: %+v", v)
	}
}

func TestWhatPlansTell(t *testing.T) {
	for _, tt := range []struct {
		name           string
		plan           *schema.Plan
		costly, closed bool
	}{
		{"derived", input[searchArgs](t), false, false},
		{"derived, with a type that needs the full validator", input[wrap[either]](t), true, false},
		{"written", raw(t, props(`"a":{"type":"string"}`)), false, false},
		{"written, closed", raw(t, props(``, `"additionalProperties":false`)), false, true},
		{"written, closed for all that is left", raw(t, props(``, `"unevaluatedProperties":false`)), true, true},
		{"written, with a combinator", raw(t, props(``, `"allOf":[{}]`)), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.plan.Costly() != tt.costly || tt.plan.Closed() != tt.closed {
				t.Errorf("Costly() = %v, Closed() = %v", tt.plan.Costly(), tt.plan.Closed())
			}
		})
	}
}
