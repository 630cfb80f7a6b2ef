package jsonx_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/jsonx"
)

type (
	anything     interface{}
	itself       *itself
	around1      *around2
	around2      *around1
	jsonKey      int // writes itself as a JSON number, so no key
	quotedKey    int // writes itself as a JSON string
	panickingKey struct{ m *int }
	writeOnly    struct{ C chan int }
	readOnly     struct{ C chan int }
	filter       struct {
		By  string
		Fns []func() `json:"fns"`
	}
	args struct {
		Filter filter
		Again  []filter
	}
	tree struct {
		Kids map[string][]*tree
		Bad  chan int
	}
	Embedded struct {
		C chan int
	}
	nonStruct string
	NonStruct string
)

func (jsonKey) MarshalJSON() ([]byte, error)   { return []byte("1"), nil }
func (quotedKey) MarshalJSON() ([]byte, error) { return []byte(`"1"`), nil }
func (k panickingKey) MarshalText() ([]byte, error) {
	*k.m = 1
	return nil, nil
}
func (k panickingKey) MarshalJSON() ([]byte, error) {
	*k.m = 1
	return nil, nil
}
func (writeOnly) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (*readOnly) UnmarshalJSON([]byte) error   { return nil }

// structOf and field make struct types with mistakes that vet would not let
// stand in the source.
func structOf(fields ...reflect.StructField) reflect.Type { return reflect.StructOf(fields) }

func field[T any](name, tag string) reflect.StructField {
	f := reflect.StructField{Name: name, Type: reflect.TypeFor[T](), Tag: reflect.StructTag(fmt.Sprintf("json:%q", tag))}
	if name[0] >= 'a' {
		f.PkgPath = "example.com/p"
	}
	return f
}

// brief is a problem in one line: the directions, path, and reason.
func brief(p jsonx.TypeProblem) string {
	use := ""
	if p.Encode {
		use += "e"
	}
	if p.Decode {
		use += "d"
	}
	return use + " " + p.Path + ": " + p.Reason
}

const (
	noChannel = "chan int has no JSON form; leave the field out with `json:\"-\"`"
	noKey     = " cannot be the key of a map: a key is a string, an integer or a type with MarshalText and UnmarshalText"
)

var typeCases = []struct {
	name string
	typ  reflect.Type
	want []string
}{
	{"C17 channel", reflect.TypeFor[struct {
		C chan int `json:"c,omitempty"`
	}](), []string{"ed struct.C: " + noChannel}},
	{"C17 map by boolean", reflect.TypeFor[struct {
		M map[bool]int `json:"m"`
	}](), []string{"ed struct.M: bool" + noKey}},
	{"C17 ignored function", reflect.TypeFor[struct {
		F func() `json:"-"`
	}](), nil},
	{"row 41 all kinds", reflect.TypeFor[struct {
		A func()
		B complex64
		C complex128
		D unsafe.Pointer
		E *[]map[string][2]chan int
	}](), []string{
		"ed struct.A: func() has no JSON form; leave the field out with `json:\"-\"`",
		"ed struct.B: complex64 has no JSON form; leave the field out with `json:\"-\"`",
		"ed struct.C: complex128 has no JSON form; leave the field out with `json:\"-\"`",
		"ed struct.D: unsafe.Pointer has no JSON form; leave the field out with `json:\"-\"`",
		"ed struct.E[][][]: " + noChannel,
	}},
	{"nested, each type once", reflect.TypeFor[args](), []string{
		"ed args.Filter.Fns[]: func() has no JSON form; leave the field out with `json:\"-\"`"}},
	{"generic", reflect.TypeFor[*page[chan int]](), []string{"ed page.Items[]: " + noChannel}},
	{"root", reflect.TypeFor[[]chan int](), []string{"ed []chan int[]: " + noChannel}},
	{"C01 recursive", reflect.TypeFor[folder](), nil},
	{"recursive with a problem", reflect.TypeFor[tree](), []string{"ed tree.Bad: " + noChannel}},
	{"mutually recursive", reflect.TypeFor[ping](), nil},
	{"pointer to itself", reflect.TypeFor[itself](), []string{"ed itself: the type jsonx_test.itself is a pointer to itself"}},
	{"pointers in a circle", reflect.TypeFor[struct{ A around1 }](), []string{"ed struct.A: the type jsonx_test.around1 is a pointer to itself"}},

	{"row 9 interface with methods", reflect.TypeFor[struct{ R io.Reader }](), []string{
		"d struct.R: nothing tells which type to decode into the interface io.Reader; use a concrete type"}},
	{"interface with JSON methods", reflect.TypeFor[struct{ R json.Marshaler }](), []string{
		"d struct.R: nothing tells which type to decode into the interface json.Marshaler; use a concrete type"}},
	{"interface root", reflect.TypeFor[error](), []string{
		"d error: nothing tells which type to decode into the interface error; use a concrete type"}},
	{"empty interface of a name", reflect.TypeFor[struct{ A anything }](), []string{
		"d struct.A: numbers are not kept exact in the type jsonx_test.anything; use any"}},
	{"C19 any", reflect.TypeFor[struct {
		A any
		B map[string]any
		C []any
	}](), nil},

	{"row 29 keys", reflect.TypeFor[struct {
		A map[float64]int
		B map[[2]int]int
		C map[Base]int
		D map[any]int
		E map[*netip.Addr]int
		F map[complex64]int
	}](), []string{
		"ed struct.A: float64" + noKey,
		"ed struct.B: [2]int" + noKey,
		"ed struct.C: jsonx_test.Base" + noKey,
		"ed struct.D: interface {}" + noKey,
		"ed struct.E: *netip.Addr" + noKey,
		"ed struct.F: complex64" + noKey,
	}},
	{"row 28 keys", reflect.TypeFor[struct {
		A map[string]int
		B map[namedInt]int
		C map[uint8]int
		D map[netip.Addr]int
		E map[level]int
		F map[time.Time]int
		G map[time.Duration]int
		H map[json.Number]int
		I map[onPointer]int
		J map[quotedKey]int
		L map[tone]int
	}](), nil},
	{"key written as a number", reflect.TypeFor[map[jsonKey]int](), []string{
		"e map[jsonx_test.jsonKey]int: jsonx_test.jsonKey cannot be the key of a map: its MarshalJSON does not write a string"}},
	{"map value", reflect.TypeFor[map[string]chan int](), []string{"ed map[string]chan int[]: " + noChannel}},

	{"row 37 dash", structOf(field[int]("A", "-,"), field[Base]("B", "-")), []string{
		"ed struct.A: `json:\"-,\"` names the member \"-\"; leave the field out with `json:\"-\"`, or choose another name",
	}},
	{"row 37 dash with options", structOf(field[int]("B", "-,omitempty")), []string{
		"ed struct.B: `json:\"-,\"` names the member \"-\"; leave the field out with `json:\"-\"`, or choose another name",
	}},
	{"options of json v2", reflect.TypeFor[struct {
		A map[string]int `json:",embed"`
		B time.Time      `json:"b,format:RFC1123"`
		C int            `json:"c,case:ignore"`
		D int            `json:"d,case:strict,omitempty"`
	}](), []string{
		`ed struct.A: the option "embed" of the json tag is not supported`,
		`ed struct.B: the option "format" of the json tag is not supported`,
		`ed struct.C: the option "case" of the json tag is not supported`,
		`ed struct.D: the option "case" of the json tag is not supported`,
	}},
	{"misspelt options", reflect.TypeFor[struct {
		A int `json:"a,omitEmpty"`
		B int `json:"b"`
		C int `json:"c,omit_zero"`
		D int `json:"d,omitempty,omitempty"`
		E int `json:"e,"`
		F int `json:"'f"`
	}](), []string{
		"ed struct.A: has invalid appearance of `omitEmpty` tag option; specify `omitempty` instead",
		"ed struct.C: has invalid appearance of `omit_zero` tag option; specify `omitzero` instead",
		"ed struct.D: has duplicate appearance of `omitempty` tag option",
		"ed struct.E: has malformed `json` tag: invalid trailing ',' character",
		"ed struct.F: has malformed `json` tag: invalid character '\\'' at start of option (expecting Unicode letter)",
	}},
	{"options of others are no problem", reflect.TypeFor[struct {
		A int `json:"a,inline,required"`
	}](), nil},
	{"string option", reflect.TypeFor[struct {
		A int         `json:"a,string"`
		B *bool       `json:"b,string"`
		C json.Number `json:"c,string"`
		D []int       `json:"d,string"`
		E Base        `json:"e,string"`
		F **int       `json:"f,string"`
		G time.Time   `json:"g,string"`
		H any         `json:"h,string"`
		I level       `json:"i,string"`
		J *Base       `json:"j,string"`
	}](), []string{
		"ed struct.D: the string option applies to strings, numbers and booleans only",
		"ed struct.E: the string option applies to strings, numbers and booleans only",
		"ed struct.F: the string option applies to strings, numbers and booleans only",
		"ed struct.G: the string option applies to strings, numbers and booleans only",
		"ed struct.H: the string option applies to strings, numbers and booleans only",
		"ed struct.J: the string option applies to strings, numbers and booleans only",
	}},
	{"tag without export", structOf(field[int]("a", "a"), field[int]("b", "-"), field[int]("D", "d")), []string{
		"ed struct.a: the field is not exported, so its json tag has no effect",
	}},
	{"one name twice", structOf(field[int]("A", "x"), field[int]("B", "x"), field[int]("C", ""), field[int]("D", "C")), []string{
		`ed struct.B: the JSON name "x" is that of field A already`,
		`ed struct.D: the JSON name "C" is that of field C already`,
	}},
	{"nothing exported", reflect.TypeFor[struct{ Mu sync.Mutex }](), []string{
		"ed struct.Mu: Go struct has no exported fields"}},
	{"nothing exported and another problem", reflect.TypeFor[struct {
		Mu sync.Mutex
		C  chan int
	}](), []string{"ed struct.Mu: Go struct has no exported fields", "ed struct.C: " + noChannel}},
	{"row 42 empty struct", reflect.TypeFor[struct{}](), nil},

	{"row 36 embedded value", reflect.TypeFor[struct {
		NonStruct
		nonStruct
		M mapped
	}](), []string{
		"ed struct.NonStruct: an embedded jsonx_test.NonStruct is no struct; give it a JSON name",
		"ed struct.nonStruct: an embedded jsonx_test.nonStruct that is not exported has no JSON form; leave it out with `json:\"-\"`",
	}},
	{"row 36 embedded value with name", reflect.TypeFor[struct {
		NonStruct `json:"n"`
		nonStruct `json:"-"`
	}](), nil},
	{"row 33 embedded pointer to unexported", reflect.TypeFor[struct{ *unexported }](), []string{
		"d struct.unexported: an embedded pointer to the unexported jsonx_test.unexported cannot be set; embed the struct, or export it"}},
	{"row 32 embedded pointer", reflect.TypeFor[struct{ *Base }](), nil},
	{"C07 embedded time", reflect.TypeFor[Stamp](), nil},
	{"embedded that writes itself", reflect.TypeFor[struct {
		netip.Addr
		netip.Prefix
		X int
	}](), []string{
		"ed struct.Addr: the embedded netip.Addr reads or writes itself, so its fields do not join those around it; give it a JSON name",
		"ed struct.Prefix: the embedded netip.Prefix reads or writes itself, so its fields do not join those around it; give it a JSON name",
	}},
	{"embedded with options", reflect.TypeFor[struct {
		Base `json:",omitempty"`
	}](), []string{"ed struct.Base: an embedded struct takes options of the json tag only with a JSON name"}},
	{"embedded with a problem", reflect.TypeFor[struct {
		Embedded
		X int
	}](), []string{"ed struct.Embedded.C: " + noChannel}},
	{"embedded itself", reflect.TypeFor[recursive](), nil},
	{"row 34 embedded clash is left to others", reflect.TypeFor[struct {
		Clash1
		Clash2
	}](), nil},

	{"methods for one direction", reflect.TypeFor[struct {
		W writeOnly
		R readOnly
	}](), []string{"d struct.W.C: " + noChannel, "e struct.R.C: " + noChannel}},
	{"methods hide what is inside", reflect.TypeFor[struct {
		T time.Time
		B big.Int
		P *big.Float
		M money
	}](), nil},
}

func TestCheckType(t *testing.T) {
	for _, c := range typeCases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range jsonx.CheckType(c.typ) {
				got = append(got, brief(p))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type recursive struct {
	*Recursive2
	X int
}

type Recursive2 struct {
	*recursive `json:"r"`
	Y          int
}

func TestCheckTypeNamesFieldAndTag(t *testing.T) {
	type a struct {
		Filter struct {
			By chan int `json:"by,omitempty" jsonschema:"x"`
		}
	}
	got := jsonx.CheckType(reflect.TypeFor[a]())
	want := []jsonx.TypeProblem{{
		Path: "a.Filter.By", Field: "By", Tag: `json:"by,omitempty" jsonschema:"x"`, Encode: true, Decode: true,
		Reason: "chan int has no JSON form; leave the field out with `json:\"-\"`",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := jsonx.CheckType(nil); got != nil {
		t.Errorf("nil gives %v", got)
	}
	if got := jsonx.CheckType(reflect.TypeFor[chan int]()); len(got) != 1 || got[0].Field != "" || got[0].Path != "chan int" {
		t.Errorf("a root gives %+v", got)
	}
}

// Whatever CheckType lets pass can be encoded and decoded; what it refuses
// fails in the direction it says, given a value that reaches the place.
func TestCheckTypeAgreesWithTheCodec(t *testing.T) {
	for _, s := range samples {
		typ := reflect.TypeOf(s.value).Elem()
		for _, p := range jsonx.CheckType(typ) {
			if p.Encode {
				t.Errorf("%s: %s, but it was encoded", s.name, brief(p))
			}
		}
	}
	for name, v := range map[string]struct {
		value any
		text  string
	}{
		"string option":    {reflect.New(structOf(field[[]int]("A", "a,string"))).Interface(), `{"a":[]}`},
		"format":           {reflect.New(structOf(field[time.Time]("A", "a,format:RFC1123"))).Interface(), `{"a":"x"}`},
		"dash":             {reflect.New(structOf(field[int]("A", "-,"))).Interface(), `{"-":1}`},
		"misspelt option":  {reflect.New(structOf(field[int]("A", "a,omitEmpty"))).Interface(), `{"a":1}`},
		"embedded value":   {&struct{ NonStruct }{}, `{"NonStruct":"x"}`},
		"embedded pointer": {&struct{ *unexported }{}, `{"seen":true}`},
		"key":              {&map[jsonKey]int{1: 1}, `{"1":1}`},
		"channel":          {&struct{ C chan int }{}, `{"C":1}`},
		"interface":        {&struct{ R io.Reader }{}, `{"R":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			problems := jsonx.CheckType(reflect.TypeOf(v.value))
			if len(problems) != 1 {
				t.Fatalf("problems: %+v", problems)
			}
			if out, err := jsonx.Append(nil, v.value); (err != nil) != problems[0].Encode {
				t.Errorf("%s, but Append gives %s, %v", brief(problems[0]), out, err)
			}
			if err := jsonx.Unmarshal([]byte(v.text), v.value); (err != nil) != problems[0].Decode {
				t.Errorf("%s, but Unmarshal gives %v", brief(problems[0]), err)
			}
		})
	}
}

// Types from all over the standard library, most of them not made for JSON.
func TestCheckTypeNeverPanics(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[reflect.Type](), reflect.TypeFor[reflect.Value](), reflect.TypeFor[sync.Map](),
		reflect.TypeFor[testing.T](), reflect.TypeFor[strings.Builder](), reflect.TypeFor[io.PipeReader](),
		reflect.TypeFor[error](), reflect.TypeFor[json.Decoder](), reflect.TypeFor[map[panickingKey]int](),
		reflect.TypeFor[struct{ P panickingKey }](), reflect.TypeFor[func(...any) chan<- struct{}](), reflect.TypeFor[[0]func()](),
		reflect.TypeFor[struct {
			A, B *struct {
				C []map[string]**struct{ D fmt.State }
			}
		}](),
	} {
		_ = jsonx.CheckType(typ)
	}
}
