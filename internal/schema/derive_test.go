package schema_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/typedmcp/mcp/internal/schema"
)

// output derives the plan of results of type T, which must be without fault.
func output[T any](t testing.TB) *schema.Plan {
	t.Helper()
	p, problems := schema.Output(reflect.TypeFor[T](), schema.Options{})
	for _, problem := range problems {
		if !problem.Warning {
			t.Fatalf("problem: %+v", problem)
		}
	}
	return p
}

// sameJSON compares two JSON texts by value.
func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("got %s (-want +got):\n%s", got, diff)
	}
}

// ofField is the advertised schema of the field v of wrap[T].
func ofField[T any](t *testing.T) string {
	t.Helper()
	var s struct {
		Properties struct {
			V json.RawMessage `json:"v"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(input[wrap[T]](t).JSON(), &s); err != nil {
		t.Fatal(err)
	}
	return string(s.Properties.V)
}

func TestFieldSchemas(t *testing.T) {
	object := `{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string"}},"required":["city"]}`
	tests := []struct{ name, got, want string }{
		{"C02 row 6 []byte", ofField[[]byte](t), `{"type":"string","description":"base64"}`},
		{"row 6 [4]byte", ofField[[4]byte](t), `{"type":"array","items":{"type":"integer","minimum":0,"maximum":255},"minItems":4,"maxItems":4}`},
		{"row 7 RawMessage", ofField[json.RawMessage](t), `{}`},
		{"C19 row 8 any", ofField[any](t), `{}`},
		{"C19 map of any", ofField[map[string]any](t), `{"type":"object"}`},
		{"C08 row 10 time", ofField[time.Time](t), `{"type":"string","format":"date-time"}`},
		{"C08 pointer to time", ofField[*time.Time](t), `{"type":"string","format":"date-time"}`},
		{"C07 row 11 embedded time", ofField[stamp](t), `{"type":"string","format":"date-time"}`},
		{"row 11 date type", ofField[myDate](t), `{"type":"string","format":"date-time"}`},
		{"row 12 duration", ofField[time.Duration](t), `{"type":"string","description":"a duration such as \"1m30s\""}`},
		{"row 13 text struct", ofField[netip.Addr](t), `{"type":"string","description":"an IP address"}`},
		{"row 14 integer with text", ofField[level](t), `{"type":"string"}`},
		{"row 14 integer with text and values", ofField[grade](t), `{"type":"string","enum":["low","mid","high"]}`},
		{"row 15 net.IP", ofField[net.IP](t), `{"type":"string","description":"an IP address"}`},
		{"C13 row 16 *big.Int", ofField[*big.Int](t), `{"type":"integer"}`},
		{"C13 row 16 big.Int", ofField[big.Int](t), `{"type":"integer"}`},
		{"row 17 json.Number", ofField[json.Number](t), `{"type":"number"}`},
		{"C10 row 19 own JSON", ofField[money](t), `{}`},
		{"C10 row 19 own JSON with a schema", ofField[price](t), `{"type":"string","pattern":"^-?[0-9]+$","description":"cents"}`},
		{"row 21 uint", ofField[uint](t), `{"type":"integer","minimum":0}`},
		{"row 21 uint64", ofField[uint64](t), `{"type":"integer","minimum":0}`},
		{"row 21 int64", ofField[int64](t), `{"type":"integer"}`},
		{"row 21 int8", ofField[int8](t), `{"type":"integer","minimum":-128,"maximum":127}`},
		{"row 21 uint32", ofField[uint32](t), `{"type":"integer","minimum":0,"maximum":4294967295}`},
		{"row 23 slice", ofField[[]string](t), `{"type":"array","items":{"type":"string"}}`},
		{"row 24 pointer", ofField[*address](t), object},
		{"row 25 array", ofField[[3]int](t), `{"type":"array","items":{"type":"integer"},"minItems":3,"maxItems":3}`},
		{"row 26 map", ofField[map[string]address](t), `{"type":"object","additionalProperties":` + object + `}`},
		{"C16 row 27 integer keys", ofField[map[int]string](t), `{"type":"object","additionalProperties":{"type":"string"}}`},
		{"row 28 text keys", ofField[map[netip.Addr]bool](t), `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{"row 28 integer keys with text", ofField[map[level]int](t), `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{"row 4 generic", ofField[page[address]](t), `{"type":"object","properties":{"items":{"type":"array","items":` + object + `},"next":{"type":"string"}},"required":["items"]}`},
		{"string that only seems to list its values", ofField[parts](t), `{"type":"string"}`},
		{"string that lists its values", ofField[color](t), `{"type":"string","enum":["red","green","dark blue"]}`},
		{"integer that lists its values", ofField[port](t), `{"type":"integer","minimum":0,"maximum":65535,"description":"one of 80, 443"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { sameJSON(t, tt.got, tt.want) })
	}
}

func TestStructSchemas(t *testing.T) {
	tests := []struct {
		name string
		plan *schema.Plan
		want string
	}{
		{"A11 two required numbers in field order, row 1 inline root", input[addArgs](t),
			`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`},
		{"C01 row 2 self-reference", input[folder](t),
			`{"type":"object","properties":{"label":{"type":"string"},"subs":{"type":"array","items":{"$ref":"#/$defs/folder"}}},"required":["label"],
			"$defs":{"folder":{"type":"object","properties":{"label":{"type":"string"},"subs":{"type":"array","items":{"$ref":"#/$defs/folder"}}},"required":["label"]}}}`},
		{"row 3 mutual reference", input[ping](t),
			`{"type":"object","properties":{"pong":{"$ref":"#/$defs/pong"}},
			"$defs":{"ping":{"type":"object","properties":{"pong":{"$ref":"#/$defs/pong"}}},
			"pong":{"type":"object","properties":{"ping":{"$ref":"#/$defs/ping"},"n":{"type":"integer"}},"required":["n"]}}}`},
		{"row 2 map of itself", input[tree](t),
			`{"type":"object","properties":{},"additionalProperties":{"$ref":"#/$defs/tree"},"$defs":{"tree":{"type":"object","additionalProperties":{"$ref":"#/$defs/tree"}}}}`},
		{"row 2 list of itself", output[nest](t),
			`{"type":"array","items":{"$ref":"#/$defs/nest"},"$defs":{"nest":{"type":"array","items":{"$ref":"#/$defs/nest"}}}}`},
		{"row 19 map of a type with a schema of its own", output[map[string]either](t),
			`{"type":"object","properties":{},"additionalProperties":{"anyOf":[{"type":"number"},{"type":"array","items":{"type":"number"}}]}}`},
		{"C04 row 31 tagged embedded struct", input[person](t),
			`{"type":"object","properties":{"home":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]},"name":{"type":"string"}},"required":["home","name"]}`},
		{"row 30 embedded struct", input[promotes](t),
			`{"type":"object","properties":{"by":{"type":"string"},"shown":{"type":"integer"},"own":{"type":"integer"}},"required":["by","shown","own"]}`},
		{"C05 row 32 embedded pointer", input[event](t),
			`{"type":"object","properties":{"by":{"type":"string"},"kind":{"type":"string"}},"required":["kind"]}`},
		{"C05 row 32 embedded pointer in a result", output[event](t),
			`{"type":"object","properties":{"by":{"type":"string"},"kind":{"type":"string"}},"required":["kind"]}`},
		{"row 34 same name twice", input[clash](t),
			`{"type":"object","properties":{"OnlyLeft":{"type":"integer"},"OnlyRight":{"type":"string"}},"required":["OnlyLeft","OnlyRight"]}`},
		{"row 35 outer field shadows", input[shadows](t),
			`{"type":"object","properties":{"by":{"type":"integer"}},"required":["by"]}`},
		{"C28 row 24 row 38 row 39 optional and required", input[optional](t),
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"},"d":{"type":"integer"},"e":{"type":"integer"},
			"f":{},"g":{"type":"string","format":"date-time"},"h":{"type":"array","items":{"type":"integer"}},"i":{"type":"integer"}},"required":["a"]}`},
		{"I2 what is always written is required in a result", output[optional](t),
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"},"d":{},"e":{"type":"integer"},
			"f":{},"g":{"type":"string","format":"date-time"},"h":{"type":"array","items":{"type":"integer"}},"i":{}},"required":["a","d"]}`},
		{"C20 row 42 TOOL-06 no parameters", input[struct{}](t), `{"type":"object","properties":{},"additionalProperties":false}`},
		{"C26 row 43 map root", input[map[string]int](t), `{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}`},
		{"row 44 map result", output[map[string][]int](t), `{"type":"object","properties":{},"additionalProperties":{"type":"array","items":{"type":"integer"}}}`},
		{"row 44 slice result of named type", output[listed](t), `{"type":"array","items":{"type":"integer"}}`},
		{"C26 any root", input[any](t), `{"type":"object","properties":{}}`},
		{"C26 pointer root", input[*addArgs](t), string(input[addArgs](t).JSON())},
		{"row 43 array result", output[[]int](t), `{"type":"array","items":{"type":"integer"}}`},
		{"C49 nil slices and maps are written empty", output[struct {
			Items []string       `json:"items"`
			ByID  map[string]int `json:"byId"`
		}](t), `{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}},"byId":{"type":"object","additionalProperties":{"type":"integer"}}},"required":["items","byId"]}`},
		{"row 45 names that are keywords", input[keywords](t),
			`{"type":"object","properties":{"properties":{"type":"string"},"$ref":{"type":"string"},"required":{"type":"array","items":{"type":"integer"}},"type":{},"$defs":{"type":"string"},"items":{"type":"boolean"}},
			"required":["properties","$ref","required","type","$defs","items"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { sameJSON(t, string(tt.plan.JSON()), tt.want) })
	}
}

type Limits struct{ Max int }

func TestNamesOfTypes(t *testing.T) {
	t.Run("C14 row 5 one name in two scopes", func(t *testing.T) {
		outer := ofField[Limits](t)
		type Limits struct{ Label string }
		sameJSON(t, outer, `{"type":"object","properties":{"Max":{"type":"integer"}},"required":["Max"]}`)
		sameJSON(t, ofField[Limits](t), `{"type":"object","properties":{"Label":{"type":"string"}},"required":["Label"]}`)
	})
	t.Run("C14 recursive types of one name", func(t *testing.T) {
		type link struct {
			N    int   `json:"n"`
			Next *link `json:"next,omitempty"`
		}
		type first = link
		{
			type link struct {
				S    string `json:"s"`
				Next *link  `json:"next,omitempty"`
			}
			sameJSON(t, string(input[struct {
				A first `json:"a"`
				B link  `json:"b"`
			}](t).JSON()), `{"type":"object","properties":{"a":{"$ref":"#/$defs/link"},"b":{"$ref":"#/$defs/link_2"}},"required":["a","b"],"$defs":{
			"link":{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#/$defs/link"}},"required":["n"]},
			"link_2":{"type":"object","properties":{"s":{"type":"string"},"next":{"$ref":"#/$defs/link_2"}},"required":["s"]}}}`)
		}
	})
	t.Run("C14 recursive types of one generic type", func(t *testing.T) {
		type args struct {
			A chain[int]    `json:"a"`
			B chain[string] `json:"b"`
		}
		got := string(input[args](t).JSON())
		for _, want := range []string{
			`"a":{"$ref":"#/$defs/chain_int"}`, `"b":{"$ref":"#/$defs/chain_string"}`,
			`"chain_int":{"type":"object","properties":{"value":{"type":"integer"}`, `"chain_string":{"type":"object","properties":{"value":{"type":"string"}`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
	})
	t.Run("row 4 no package path in a name", func(t *testing.T) {
		if got := string(input[wrap[chain[address]]](t).JSON()); !strings.Contains(got, `"$ref":"#/$defs/chain_schema_test_address"`) {
			t.Errorf("got %s", got)
		}
	})
}

func TestDescriptions(t *testing.T) {
	type line struct {
		Qty int `json:"qty" jsonschema:"minimum=1,maximum=9" jsonschema_description:"how many"`
	}
	type args struct {
		A []line          `json:"a" jsonschema_description:"in a list"`
		B map[string]line `json:"b" jsonschema_description:"in a map"`
		C *line           `json:"c" jsonschema_description:"by pointer"`
		D line            `json:"d" jsonschema_description:"first"`
		E line            `json:"e" jsonschema_description:"second"`
		F string          `json:"f" jsonschema_description:"it's \"$1\",\nor <more> & so on"`
		G folder          `json:"g" jsonschema_description:"recursive"`
		H string          `json:"h"`
	}
	got := input[args](t).JSON()
	t.Run("C23 tags below collections, descriptions of their own", func(t *testing.T) {
		qty := `{"type":"integer","description":"how many","minimum":1,"maximum":9}`
		if n := bytes.Count(got, []byte(qty)); n != 5 {
			t.Errorf("the bounds are in %d places, want 5: %s", n, got)
		}
		for _, d := range []string{"in a list", "in a map", "by pointer", "first", "second"} {
			if n := bytes.Count(got, []byte(`"description":"`+d+`"`)); n != 1 {
				t.Errorf("%q occurs %d times in %s", d, n, got)
			}
		}
	})
	t.Run("row 46 any text survives, B3", func(t *testing.T) {
		if want := `"f":{"type":"string","description":"it's \"$1\",\nor <more> & so on"}`; !bytes.Contains(got, []byte(want)) {
			t.Errorf("%s lacks %s", got, want)
		}
	})
	t.Run("description beside a reference", func(t *testing.T) {
		if want := `"g":{"$ref":"#/$defs/folder","description":"recursive"}`; !bytes.Contains(got, []byte(want)) {
			t.Errorf("%s lacks %s", got, want)
		}
	})
	t.Run("B4 no empty description", func(t *testing.T) {
		if bytes.Contains(got, []byte(`"description":""`)) || !bytes.Contains(got, []byte(`"h":{"type":"string"}`)) {
			t.Errorf("got %s", got)
		}
	})
}

func TestPlansAreShared(t *testing.T) {
	t.Run("C29 one plan for each type", func(t *testing.T) {
		done := make(chan *schema.Plan, 16)
		for range cap(done) {
			go func() { done <- input[wide](t) }()
		}
		first := <-done
		for range cap(done) - 1 {
			if p := <-done; p != first {
				t.Error("two plans for one type")
			}
		}
		for i, name := range []string{`"A01"`, `"A09"`, `"A17"`} {
			if at := bytes.Index(first.JSON(), []byte(name)); at < 0 || i > 0 && at < bytes.Index(first.JSON(), []byte(`"A01"`)) {
				t.Errorf("%s is out of order in %s", name, first.JSON())
			}
		}
	})
}

func TestFullForm(t *testing.T) {
	type args struct {
		A float64  `json:"a" jsonschema:"exclusiveMinimum=0,multipleOf=0.5,title=The A,example=1.5"`
		B []string `json:"b" jsonschema:"uniqueItems,pattern=^x,readOnly"`
		C int      `json:"c,omitempty" jsonschema:"enum=1,enum=2,default=2"`
		D []byte   `json:"d"`
		E string   `json:"e" jsonschema:"format=email"`
	}
	full, problems := schema.Input(reflect.TypeFor[args](), schema.Options{Full: true})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	sameJSON(t, string(full.JSON()), `{"type":"object","properties":{
		"a":{"type":"number","title":"The A","examples":[1.5],"exclusiveMinimum":0,"multipleOf":0.5},
		"b":{"type":"array","readOnly":true,"items":{"type":"string","pattern":"^x"},"uniqueItems":true},
		"c":{"type":"integer","enum":[1,2],"default":2},
		"d":{"type":"string","contentEncoding":"base64"},
		"e":{"type":"string","format":"email"}},"required":["a","b","d","e"]}`)
	sameJSON(t, string(input[args](t).JSON()), `{"type":"object","properties":{
		"a":{"type":"number","description":"greater than 0, a multiple of 0.5"},
		"b":{"type":"array","description":"no item twice","items":{"type":"string","description":"matching ^x"}},
		"c":{"type":"integer","description":"one of 1, 2","default":2},
		"d":{"type":"string","description":"base64"},
		"e":{"type":"string","description":"an email address"}},"required":["a","b","d","e"]}`)
}

func TestNeedsOutputCheck(t *testing.T) {
	type limited struct {
		N int `json:"n" jsonschema:"maximum=3"`
	}
	type ruled struct {
		N string `json:"n" validate:"email"`
	}
	for _, tt := range []struct {
		name string
		plan *schema.Plan
		want bool
	}{
		{"plain struct", output[optional](t), false},
		{"recursive through values", output[chain[int]](t), false},
		{"keyword", output[limited](t), true},
		{"validate tag", output[ruled](t), true},
		{"collection of pointers", output[[]*int](t), true},
		{"type with a schema of its own", output[price](t), true},
		{"type that lists its values", output[color](t), true},
		{"type that encodes itself", output[money](t), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.plan.NeedsOutputCheck(); got != tt.want {
				t.Errorf("NeedsOutputCheck() = %v", got)
			}
		})
	}
	t.Run("C56 a result that breaks its schema", func(t *testing.T) {
		v := output[limited](t).Validate([]byte(`{"n":7}`))
		if len(v) != 1 || v[0] != (schema.Violation{Path: "/n", Rule: "maximum", Message: "n must be at most 3, got 7"}) {
			t.Errorf("got %+v", v)
		}
	})
	t.Run("nil in a collection of pointers", func(t *testing.T) {
		if v := output[[]*int](t).Validate([]byte(`[1,null]`)); len(v) != 1 || v[0].Path != "/1" {
			t.Errorf("got %+v", v)
		}
	})
	t.Run("legacy revisions take objects only", func(t *testing.T) {
		if output[[]int](t).Object() || !output[limited](t).Object() || !output[folder](t).Object() {
			t.Error("Object() is wrong")
		}
	})
}
