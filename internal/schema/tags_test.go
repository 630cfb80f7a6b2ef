package schema_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp/internal/schema"
)

// tagged is a struct with one field V of type t and the given tags.
func tagged(t reflect.Type, tags string) reflect.Type {
	return reflect.StructOf([]reflect.StructField{{Name: "V", Type: t, Tag: reflect.StructTag(tags)}})
}

// keywordTag is a jsonschema tag as it stands in Go source.
func keywordTag(text string) string { return fmt.Sprintf(`json:"v" jsonschema:%q`, text) }

func TestKeywordTags(t *testing.T) {
	tests := []struct {
		name string
		typ  reflect.Type
		tag  string
		want string // the schema of V in the full form
	}{
		{"C22 row 40 commas, quotes and equals signs in a description", reflect.TypeFor[string](),
			`enum=fast,enum=safe,enum=dry run,description=how to run, e.g. "x=1"`,
			`{"type":"string","enum":["fast","safe","dry run"],"description":"how to run, e.g. \"x=1\""}`},
		{"row 40 description first", reflect.TypeFor[int](), `description=one, two or 3,minimum=1`,
			`{"type":"integer","description":"one, two or 3","minimum":1}`},
		{"escaped comma before a word and a sign", reflect.TypeFor[string](), `description=set a\,b=c please`,
			`{"type":"string","description":"set a,b=c please"}`},
		{"pattern with a comma", reflect.TypeFor[string](), `pattern=^a{1\,3}$`, `{"type":"string","pattern":"^a{1,3}$"}`},
		{"C44 keywords of elements and of the list", reflect.TypeFor[[]string](), `enum=a,enum=b,maxItems=3,minItems=1,uniqueItems`,
			`{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":3,"uniqueItems":true}`},
		{"keywords of nested elements", reflect.TypeFor[[][]int](), `minimum=1,maxItems=3`,
			`{"type":"array","items":{"type":"array","items":{"type":"integer","minimum":1}},"maxItems":3}`},
		{"keywords of map values and of the map", reflect.TypeFor[map[string]uint8](), `maximum=9,maxProperties=2,minProperties=1`,
			`{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":9},"minProperties":1,"maxProperties":2}`},
		{"bounds beyond the type change nothing", reflect.TypeFor[int8](), `minimum=-1000,maximum=5`,
			`{"type":"integer","minimum":-128,"maximum":5}`},
		{"exclusive bounds of integers", reflect.TypeFor[int](), `exclusiveMinimum=0,exclusiveMaximum=10.5`,
			`{"type":"integer","minimum":1,"maximum":10}`},
		{"fractional bounds of integers", reflect.TypeFor[int](), `minimum=-2.5,maximum=1e3`,
			`{"type":"integer","minimum":-2,"maximum":1000}`},
		{"enum of integers", reflect.TypeFor[int](), `enum=1,enum=2`, `{"type":"integer","enum":[1,2]}`},
		{"enum of booleans", reflect.TypeFor[bool](), `enum=true`, `{"type":"boolean","enum":[true]}`},
		{"quoted integer", reflect.TypeFor[int](), `maximum=9`, `{"type":"integer","maximum":9}`},
		{"lengths", reflect.TypeFor[*string](), `minLength=2,maxLength=4`, `{"type":"string","minLength":2,"maxLength":4}`},
		{"default of a string", reflect.TypeFor[string](), `default=a, b`, `{"type":"string","default":"a, b"}`},
		{"default of a list", reflect.TypeFor[[]string](), `default=a,default=b`, `{"type":"array","items":{"type":"string"},"default":["a","b"]}`},
		{"default of a list as JSON", reflect.TypeFor[[]int](), `default=[1,2]`, `{"type":"array","items":{"type":"integer"},"default":[1,2]}`},
		{"default of an object as JSON", reflect.TypeFor[address](), `default={"city":"x"}`,
			`{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string"}},"required":["city"],"default":{"city":"x"}}`},
		{"default of an any", reflect.TypeFor[any](), `default=x`, `{"default":"x"}`},
		{"default of a time", reflect.TypeFor[time.Time](), `default=2026-05-01T10:00:00Z`, `{"type":"string","format":"date-time","default":"2026-05-01T10:00:00Z"}`},
		{"default of a duration", reflect.TypeFor[time.Duration](), `default=30s`,
			`{"type":"string","description":"a duration such as \"1m30s\"","default":"30s"}`},
		{"flags", reflect.TypeFor[string](), `readOnly,deprecated=true,title=T`, `{"type":"string","title":"T","readOnly":true,"deprecated":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := schema.Input(tagged(tt.typ, keywordTag(tt.tag)), schema.Options{Full: true})
			if p == nil {
				t.Fatalf("problems: %+v", problems)
			}
			required := `,"required":["v"]`
			if strings.Contains(tt.tag, "default") || tt.typ.Kind() == reflect.Pointer {
				required = ""
			}
			sameJSON(t, string(p.JSON()), `{"type":"object","properties":{"v":`+tt.want+`}`+required+`}`)
			compiled(t, p)
		})
	}
}

func TestKeywordTagProblems(t *testing.T) {
	tests := []struct {
		name, tag, reason string
		typ               reflect.Type
	}{
		{"unknown keyword", `foo=3`, `"foo" is no keyword; if`, reflect.TypeFor[int]()},
		{"unknown keyword near one", `minimun=3`, `"minimun" is no keyword (did you mean "minimum"?); if`, reflect.TypeFor[int]()},
		{"unknown keyword near one in another case", `maxlength=3`, `did you mean "maxLength"?`, reflect.TypeFor[string]()},
		{"unknown keyword without a value", `uniqueItem`, `"uniqueItem" is no keyword (did you mean "uniqueItems"?); a text`, reflect.TypeFor[[]string]()},
		{"unknown keyword after a description", `description=a,minimun=3`, `\\,`, reflect.TypeFor[int]()},
		{"prose without a keyword", `The city to look up`, "description=", reflect.TypeFor[string]()},
		{"go type decides the type", `type=array,minItems=1`, "follows from the Go type", reflect.TypeFor[string]()},
		{"nullable", `nullable`, "use a pointer", reflect.TypeFor[string]()},
		{"min is none of ours", `min=3`, "use minimum", reflect.TypeFor[int]()},
		{"branches", `oneof_required=a`, "validate", reflect.TypeFor[int]()},
		{"length of a number", `minLength=3`, "strings only", reflect.TypeFor[int]()},
		{"bound of a string", `minimum=3`, "numbers only", reflect.TypeFor[string]()},
		{"size of a string", `maxItems=3`, "arrays only", reflect.TypeFor[string]()},
		{"size of a struct", `maxProperties=3`, "maps only", reflect.TypeFor[address]()},
		{"bound of a time", `minimum=3`, "numbers only", reflect.TypeFor[time.Time]()},
		{"bound that is no number", `minimum=abc`, "is no number", reflect.TypeFor[int]()},
		{"length that is no count", `maxLength=-1`, "is no count", reflect.TypeFor[string]()},
		{"bounds that leave nothing", `minimum=3,maximum=2`, "leaves no value", reflect.TypeFor[int]()},
		{"lengths that leave nothing", `minLength=3,maxLength=2`, "leaves no value", reflect.TypeFor[string]()},
		{"divisor of zero", `multipleOf=0`, "greater than 0", reflect.TypeFor[int]()},
		{"bad pattern", `pattern=(`, "no regular expression", reflect.TypeFor[string]()},
		{"pattern beyond RE2", `pattern=(?=x)`, "no regular expression", reflect.TypeFor[string]()},
		{"unknown format", `format=zip`, "unknown format", reflect.TypeFor[string]()},
		{"format against the type", `format=email`, "contradicts", reflect.TypeFor[time.Time]()},
		{"enum of another type", `enum=x`, "no JSON", reflect.TypeFor[int]()},
		{"enum out of range", `enum=300`, "at most 255", reflect.TypeFor[uint8]()},
		{"enum twice", `enum=1,enum=1`, "twice", reflect.TypeFor[int]()},
		{"A41 default of another type", `default=x`, "valid JSON", reflect.TypeFor[int]()},
		{"A41 default out of bounds", `default=7,maximum=3`, "at most 3", reflect.TypeFor[int]()},
		{"default not in the enum", `default=x,enum=a`, `one of "a"`, reflect.TypeFor[string]()},
		{"default twice", `default=1,default=2`, "twice", reflect.TypeFor[int]()},
		{"default of a required field", `default=1,required`, "keep one", reflect.TypeFor[int]()},
		{"default that lacks a member", `default={}`, "city is required", reflect.TypeFor[address]()},
		{"flag with a value", `readOnly=false`, "no value but true", reflect.TypeFor[int]()},
		{"keyword on a type with its own schema", `maxLength=3`, "schema of its own", reflect.TypeFor[price]()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := schema.Input(tagged(tt.typ, keywordTag(tt.tag)), schema.Options{})
			if p != nil || len(problems) == 0 {
				t.Fatalf("no problem: %s", p.JSON())
			}
			got := problems[0]
			if i := slices.IndexFunc(problems, func(p schema.Problem) bool { return !p.Warning }); i > 0 {
				got = problems[i]
			}
			if !strings.HasSuffix(got.Field, ".V") || got.Tag == "" || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("got %+v, want a reason with %q", got, tt.reason)
			}
		})
	}
}

func TestHeaderTags(t *testing.T) {
	type inner struct {
		Tenant string `json:"tenant" mcp:"header=Tenant"`
	}
	type args struct {
		Region string `json:"region" mcp:"header=Region"`
		Limit  *int   `json:"limit" mcp:"header=Limit"`
		Dry    bool   `json:"dry,omitempty" mcp:"header=Dry"`
		In     inner  `json:"in"`
	}
	t.Run("XMH-05 annotations at any depth of properties", func(t *testing.T) {
		p := input[args](t)
		var got []string
		for _, b := range p.Headers() {
			got = append(got, fmt.Sprint(b.Name, b.Path, b.Kind))
		}
		want := "Mcp-Param-Region[region]string Mcp-Param-Limit[limit]integer Mcp-Param-Dry[dry]boolean Mcp-Param-Tenant[in tenant]string"
		if strings.Join(got, " ") != want {
			t.Errorf("got %v", got)
		}
		if !strings.Contains(string(p.JSON()), `"region":{"type":"string","x-mcp-header":"Region"}`) {
			t.Errorf("got %s", p.JSON())
		}
	})
	bad := []struct {
		name string
		typ  reflect.Type
	}{
		{"XMH-02 empty", tagged(reflect.TypeFor[string](), `mcp:"header="`)},
		{"XMH-02 space", tagged(reflect.TypeFor[string](), `mcp:"header=My Region"`)},
		{"XMH-02 colon", tagged(reflect.TypeFor[string](), `mcp:"header=Region:P"`)},
		{"XMH-02 not ASCII", tagged(reflect.TypeFor[string](), `mcp:"header=Région"`)},
		{"unknown mcp tag", tagged(reflect.TypeFor[string](), `mcp:"Region"`)},
		{"XMH-04 number", tagged(reflect.TypeFor[float64](), `mcp:"header=A"`)},
		{"XMH-04 object", tagged(reflect.TypeFor[address](), `mcp:"header=A"`)},
		{"XMH-04 array", tagged(reflect.TypeFor[[]string](), `mcp:"header=A"`)},
		{"XMH-04 untyped", tagged(reflect.TypeFor[any](), `mcp:"header=A"`)},
		{"XMH-05 within a list", tagged(reflect.TypeFor[[]inner](), "")},
		{"XMH-05 within a map", tagged(reflect.TypeFor[map[string]inner](), "")},
		{"XMH-05 within a recursive type", reflect.TypeFor[struct{ F ruledTree }]()},
		{"XMH-03 twice by case", reflect.TypeFor[struct {
			A string `mcp:"header=Region"`
			B struct {
				C string `mcp:"header=REGION"`
			}
		}]()},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			if p, problems := schema.Input(tt.typ, schema.Options{}); p != nil || len(problems) != 1 {
				t.Errorf("got %v, %+v", p, problems)
			}
		})
	}
}

type ruledTree struct {
	Name string      `json:"name" mcp:"header=Name"`
	Subs []ruledTree `json:"subs"`
}
