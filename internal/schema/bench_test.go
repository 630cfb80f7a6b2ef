package schema_test

import (
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/typedmcp/mcp/internal/schema"
)

type addArgs struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type searchArgs struct {
	Query   string         `json:"query" jsonschema_description:"What to look for" jsonschema:"minLength=1,maxLength=200"`
	Limit   int            `json:"limit" jsonschema:"minimum=1,maximum=100"`
	Filters []searchFilter `json:"filters" jsonschema:"maxItems=10"`
	Sort    *searchSort    `json:"sort,omitempty"`
}

type searchFilter struct {
	Field string `json:"field"`
	Op    string `json:"op" jsonschema:"enum=eq,enum=ne,enum=lt,enum=gt,enum=in"`
	Value string `json:"value"`
}

type searchSort struct {
	Field string `json:"field"`
	Desc  bool   `json:"desc,omitempty"`
}

const (
	addCall    = `{"a":1,"b":2}`
	searchCall = `{"query":"quarterly revenue by region, excluding returns","limit":20,"filters":[` +
		`{"field":"region","op":"in","value":"emea,apac,latam"},{"field":"quarter","op":"eq","value":"2026-Q1"},` +
		`{"field":"amount","op":"gt","value":"100000"},{"field":"channel","op":"ne","value":"internal"},` +
		`{"field":"currency","op":"eq","value":"EUR"},{"field":"customer.segment","op":"in","value":"enterprise,mid-market"}],` +
		`"sort":{"field":"amount","desc":true}}`
)

func BenchmarkCheck(b *testing.B) {
	for _, bm := range []struct {
		name, args string
		plan       *schema.Plan
	}{
		{"add", addCall, input[addArgs](b)},
		{"search", searchCall, input[searchArgs](b)},
		{"refused", `{"a":"1"}`, input[addArgs](b)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			args := []byte(bm.args)
			b.ReportAllocs()
			b.SetBytes(int64(len(args)))
			for b.Loop() {
				bm.plan.Check(args)
			}
		})
	}
}

// BenchmarkDerive compares deriving a plan with invopop's reflecting over the
// same type, which is the floor of registration.
func BenchmarkDerive(b *testing.B) {
	for _, bm := range []struct {
		name string
		typ  reflect.Type
	}{
		{"add", reflect.TypeFor[addArgs]()}, {"search", reflect.TypeFor[searchArgs]()},
	} {
		b.Run(bm.name+"/plan", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				schema.Fresh(bm.typ, false, false)
			}
		})
		b.Run(bm.name+"/reflect", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				(&jsonschema.Reflector{Anonymous: true}).ReflectFromType(bm.typ)
			}
		})
	}
}
