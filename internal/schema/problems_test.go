package schema_test

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/typedmcp/mcp/internal/schema"
)

type (
	loop     *loop
	embedsMe struct {
		//lint:ignore U1000 reflection alone looks at it
		*embedsMe
		A int
	}
	panicky   struct{ A int }
	notJSON   struct{ A int }
	nobodys   struct{ A int }
	alias     struct{ A int }
	lister    int
	refersOut struct{ A int }
	stranger  interface{ Strange() }
	unexp     struct{ X int }
	Label     string
	diamond0  struct{ A, B, C, D, E, F, G, H, I, J diamond1 }
	diamond1  struct{ A, B, C, D, E, F, G, H, I, J diamond2 }
	diamond2  struct{ A, B, C, D, E, F, G, H, I, J diamond3 }
	diamond3  struct{ A, B, C, D, E, F, G, H, I, J int }
)

func (panicky) JSONSchema() string { panic("no schema") }
func (notJSON) JSONSchema() string { return `{"type":` }
func (nobodys) JSONSchema() string { return `{"type":"strange","foo":1}` }
func (alias) JSONSchemaAlias() any { return alias{} }
func (lister) Values() []lister    { panic("no values") }
func (refersOut) JSONSchema() string {
	return `{"type":"object","properties":{"a":{"$ref":"#/properties/b"},"b":{}}}`
}

// TestTypeProblems shows that a bad type is a problem that names the field,
// never a panic.
func TestTypeProblems(t *testing.T) {
	tests := []struct {
		name  string
		typ   reflect.Type
		field string // where the problem is said to be
		text  string // what it says, in part
	}{
		{"C17 row 41 chan", reflect.TypeFor[wrap[chan int]](), "wrap.V", "chan"},
		{"C17 row 41 func", reflect.TypeFor[struct{ F func() }](), "struct.F", "func"},
		{"row 41 complex in a list of structs", reflect.TypeFor[wrap[[]struct{ C complex128 }]](), "wrap.V[].C", "complex128"},
		{"row 41 unsafe pointer", reflect.TypeFor[wrap[unsafe.Pointer]](), "wrap.V", "unsafe"},
		{"C17 row 29 bool keys", reflect.TypeFor[wrap[map[bool]int]](), "wrap.V", "bool"},
		{"float keys", reflect.TypeFor[wrap[map[float64]int]](), "wrap.V", "float64"},
		{"struct keys", reflect.TypeFor[wrap[map[address]int]](), "wrap.V", "key"},
		{"interface keys", reflect.TypeFor[wrap[map[any]int]](), "wrap.V", "key"},
		{"row 9 interface with methods", reflect.TypeFor[wrap[stranger]](), "wrap.V", "interface"},
		{"row 18 url", reflect.TypeFor[wrap[url.URL]](), "wrap.V", "use a string"},
		{"row 18 pointer to url", reflect.TypeFor[wrap[*url.URL]](), "wrap.V", "use a string"},
		{"C13 embedded pointer that decodes the whole", reflect.TypeFor[wrap[myBig]](), "wrap.V", "embed the struct itself"},
		{"row 33 embedded pointer to unexported struct", reflect.TypeFor[struct{ *unexp }](), "struct.unexp", "unexported"},
		{"row 36 embedded non-struct", reflect.TypeFor[struct{ Label }](), "struct.Label", "JSON name"},
		{"C25 row 37 dash", reflect.TypeFor[struct {
			A int `json:"-,"`
		}](), "struct.A", `"-"`},
		{"tag option embed", reflect.TypeFor[struct {
			A address `json:",embed"`
		}](), "struct.A", "embed"},
		{"pointer to itself", reflect.TypeFor[wrap[loop]](), "", "itself"},
		{"struct that embeds itself", reflect.TypeFor[wrap[embedsMe]](), "", "itself"},
		{"C26 row 43 string root", reflect.TypeFor[string](), "string", "struct"},
		{"C26 row 43 slice root", reflect.TypeFor[[]int](), "slice", "struct"},
		{"C26 row 43 int root", reflect.TypeFor[int](), "int", "struct"},
		{"time root", reflect.TypeFor[time.Time](), "Time", "struct"},
		{"schema method that panics", reflect.TypeFor[wrap[panicky]](), "wrap.V", "panics"},
		{"schema method without JSON", reflect.TypeFor[wrap[notJSON]](), "wrap.V", "offset 7"},
		{"schema method with a bad schema", reflect.TypeFor[wrap[nobodys]](), "wrap.V", `"type"`},
		{"schema method with a reference", reflect.TypeFor[wrap[refersOut]](), "wrap.V", `"$ref"`},
		{"alias hook", reflect.TypeFor[wrap[alias]](), "alias", "JSONSchemaAlias"},
		{"Values that panics", reflect.TypeFor[wrap[lister]](), "wrap.V", "Values"},
		{"2,000 parts", reflect.TypeFor[diamond0](), "diamond0", "2000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := schema.Input(tt.typ, schema.Options{})
			if p != nil {
				t.Errorf("a plan in spite of %+v", problems)
			}
			for _, got := range problems {
				if strings.Contains(got.Field, tt.field) && strings.Contains(got.Reason, tt.text) && !got.Warning {
					return
				}
			}
			t.Errorf("no problem at %q saying %q: %+v", tt.field, tt.text, problems)
		})
	}
}

func TestNilType(t *testing.T) {
	if p, problems := schema.Input(nil, schema.Options{}); p != nil || len(problems) != 1 {
		t.Errorf("Input(nil) = %v, %+v", p, problems)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	type args struct {
		A chan int `json:"a"`
		B int      `json:"b" jsonschema:"minimum=x"`
		C string   `json:"c" validate:"nosuchrule"`
		D struct {
			E func() `json:"e"`
		} `json:"d"`
	}
	_, problems := schema.Input(reflect.TypeFor[args](), schema.Options{})
	var fields []string
	for _, p := range problems {
		fields = append(fields, p.Field)
	}
	for _, want := range []string{"args.A", "args.B", "args.C", "args.D.E"} {
		if !strings.Contains(strings.Join(fields, " "), want) {
			t.Errorf("no problem at %s: %+v", want, problems)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name, field, text string
		typ               reflect.Type
	}{
		{"C07 member that is never written", "wrap.V", "Zone", reflect.TypeFor[wrap[stamp]]()},
		{"C10 own JSON without schema", "wrap.V", "give it a method JSONSchema", reflect.TypeFor[wrap[money]]()},
		{"own schema that hosts refuse", "wrap.V", `"pattern" at #`, reflect.TypeFor[wrap[price]]()},
		{"own schema that hosts refuse below", "wrap.V", `"anyOf" at #`, reflect.TypeFor[wrap[either]]()},
		{"row 34 dropped name", "wrap.V.Left.Same", "Right.Same", reflect.TypeFor[wrap[clash]]()},
		{"tag of an embedded struct", "struct.Base", "no effect", reflect.TypeFor[struct {
			Base `validate:"required"`
		}]()},
		{"unknown option of a json tag", "struct.A", "omitmaybe", reflect.TypeFor[struct {
			A int `json:"a,omitmaybe"`
		}]()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := schema.Input(tt.typ, schema.Options{})
			if p == nil || len(problems) != 1 || !problems[0].Warning || problems[0].Field != tt.field || !strings.Contains(problems[0].Reason, tt.text) {
				t.Errorf("got %v, %+v", p, problems)
			}
		})
	}
}

// TestHostRefusals shows what is told of schemas that some hosts refuse.
func TestHostRefusals(t *testing.T) {
	for _, tt := range []struct{ name, schema, want string }{
		{"what all hosts take", props(`"a":{"type":"string","enum":["x"],"description":"d","default":"x"},"b":{"type":"array","items":{"type":"object","properties":{},"additionalProperties":false}}`), ""},
		{"combinators at the root", props(``, `"anyOf":[{}]`), `"anyOf" at #`},
		{"no properties", `{"type":"object"}`, `no "properties" at #`},
		{"a list of types", props(`"a":{"type":["string","null"]}`), "a list of types at #/properties/a"},
		{"true as a schema", props(`"a":true`), "true in the place of a schema at #/properties/a"},
		{"an array without items", props(`"a":{"type":"array"}`), `no "items" at #/properties/a`},
		{"an enumeration of numbers", props(`"a":{"enum":[1,2]}`), `an "enum" of other values than strings at #/properties/a`},
		{"below lists and maps", props(`"a":{"type":"array","items":{"const":1}},"b":{"type":"object","additionalProperties":{"uniqueItems":true}}`),
			`"const" at #/properties/a/items, "uniqueItems" at #/properties/b/additionalProperties`},
		{"references", props(`"a":{"$ref":"#/$defs/x"}`, `"$defs":{"x":{"not":{}}}`), `"$ref" at #/properties/a, "$defs" at #, "not" at #/$defs/x`},
		{"names that are keywords are data", props(`"not":{"type":"string","default":"anyOf"}`), ""},
		{"items of draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"array","items":[{"const":1}]}}}`,
			`"$schema" at #, "const" at #/properties/a/items/0`},
		{"five at most", props(`"a":{"not":{},"const":1,"multipleOf":2,"minProperties":1,"maxProperties":1,"pattern":"x"}`),
			`"not" at #/properties/a, "const" at #/properties/a, "multipleOf" at #/properties/a, "minProperties" at #/properties/a, "maxProperties" at #/properties/a`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(raw(t, tt.schema).HostRefusals(), ", "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("I4 derived schemas have none", func(t *testing.T) {
		for _, p := range []*schema.Plan{input[searchArgs](t), input[wrap[optional]](t), output[optional](t), input[paging](t)} {
			if got := p.HostRefusals(); got != nil {
				t.Errorf("%s: %s", p.JSON(), got)
			}
		}
	})
}

// TestSharedParts derives many types at once that have parts in common, each
// the first that is met of some: what is known of the parts must be whole.
func TestSharedParts(t *testing.T) {
	type leaf struct{ X int }
	type left struct {
		L leaf
		M map[string]leaf
	}
	type ring struct {
		Next *ring
		L    []left
	}
	types := []reflect.Type{
		reflect.TypeFor[left](), reflect.TypeFor[ring](), reflect.TypeFor[wrap[leaf]](), reflect.TypeFor[wrap[ring]](),
		reflect.TypeFor[wrap[[]left]](), reflect.TypeFor[wrap[map[string]ring]](), reflect.TypeFor[page[left]](), reflect.TypeFor[chain[ring]](),
	}
	got := make([][]string, 4)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for j := range types {
				p, problems := schema.Fresh(types[(i*2+j)%len(types)], false, false)
				if p == nil {
					t.Errorf("%+v", problems)
					return
				}
				got[i] = append(got[i], string(p.JSON()))
			}
			slices.Sort(got[i])
		})
	}
	wg.Wait()
	for i := range got {
		t.Run("I5 C29 the same bytes in whatever order", func(t *testing.T) {
			if diff := cmp.Diff(got[0], got[i]); diff != "" {
				t.Error(diff)
			}
		})
	}
}
