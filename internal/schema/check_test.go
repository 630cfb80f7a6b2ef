package schema_test

import (
	"bytes"
	"fmt"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
)

type paging struct {
	Page struct {
		Size int `json:"size" jsonschema:"default=20,maximum=100"`
	} `json:"page,omitzero"`
	Sort string `json:"sort" jsonschema:"default=asc,enum=asc,enum=desc"`
}

func TestDefaults(t *testing.T) {
	p := input[paging](t)
	t.Run("C43 nothing sent", func(t *testing.T) { accepts(t, p, `{}`, `{"page":{"size":20},"sort":"asc"}`) })
	t.Run("C43 nested", func(t *testing.T) { accepts(t, p, `{"page":{}}`, `{"page":{"size":20},"sort":"asc"}`) })
	t.Run("C43 C35 A41 zeros that were sent stay", func(t *testing.T) {
		accepts(t, p, `{"page":{"size":0},"sort":"desc"}`, `{"page":{"size":0},"sort":"desc"}`)
		refuses(t, p, `{"page":{"size":0},"sort":""}`, `/sort enum: sort must be one of "asc", "desc", got ""`)
	})
	t.Run("null is absent", func(t *testing.T) {
		accepts(t, p, `{"sort":null,"page":{"size":null}}`, `{"sort":"asc","page":{"size":20}}`)
		accepts(t, p, `{"page":null}`, `{"page":{"size":20},"sort":"asc"}`)
	})
	t.Run("C32 TOOL-20 no arguments", func(t *testing.T) {
		for _, args := range []string{"", "null", "{}"} {
			accepts(t, p, args, `{"page":{"size":20},"sort":"asc"}`)
		}
	})
	t.Run("within list items and map values", func(t *testing.T) {
		type args struct {
			L []paging          `json:"l"`
			M map[string]paging `json:"m"`
		}
		accepts(t, input[args](t), `{"l":[{"sort":"desc"},{}],"m":{"x":{"page":{"size":1}}}}`,
			`{"l":[{"sort":"desc","page":{"size":20}},{"page":{"size":20},"sort":"asc"}],"m":{"x":{"page":{"size":1},"sort":"asc"}}}`)
	})
	t.Run("a struct that needs something has no default", func(t *testing.T) {
		type args struct {
			Page struct {
				Size  int    `json:"size" jsonschema:"default=20"`
				Token string `json:"token"`
			} `json:"page,omitzero"`
			At *struct {
				Size int `json:"size" jsonschema:"default=20"`
			} `json:"at"`
		}
		accepts(t, input[args](t), `{}`, `{}`)
	})
	t.Run("implied defaults are not advertised", func(t *testing.T) {
		if got := string(p.JSON()); strings.Count(got, `"default"`) != 2 {
			t.Errorf("got %s", got)
		}
	})
}

// TestDropsNull covers every place of a null among its neighbours.
func TestDropsNull(t *testing.T) {
	type args struct {
		A *int   `json:"a"`
		B string `json:"b,omitempty"`
		C []int  `json:"c,omitempty"`
		D any    `json:"d,omitempty"`
		E int    `json:"e,omitempty" jsonschema:"default=5"`
	}
	p := input[args](t)
	tests := []struct{ args, out string }{
		{`{"a":null,"e":1}`, `{"e":1}`},
		{`{"e":1,"a":null}`, `{"e":1}`},
		{` { "a" : null , "b" : null , "e" : 1 } `, ` { "e" : 1 } `},
		{`{"b":"x","a":null,"c":null,"e":1}`, `{"b":"x","e":1}`},
		{`{"b":"x", "a":null, "c":null}`, `{"b":"x","e":5}`},
		{`{"a":null,"b":"x","c":null,"e":1}`, `{"b":"x","e":1}`},
		{`{"a":null,"b":null,"c":null}`, `{"e":5}`},
		{`{"a":null,"e":null}`, `{"e":5}`},
		{`{"e":null,"a":null}`, `{"e":5}`},
		{`{"x":null,"a":null}`, `{"x":null,"e":5}`},
		{`{"a":null,"x":1}`, `{"x":1,"e":5}`},
		{`{"d":null,"e":1}`, `{"d":null,"e":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			accepts(t, p, tt.args, tt.out)
			if !jsonx.Valid([]byte(tt.out)) {
				t.Errorf("%s is no JSON", tt.out)
			}
		})
	}
	t.Run("C28 null of a pointer", func(t *testing.T) { accepts(t, p, `{"a":null,"e":1}`, `{"e":1}`) })
	t.Run("null of a required property", func(t *testing.T) {
		refuses(t, input[addArgs](t), `{"a":null,"b":1}`, `/a type: a must be a number, got null`)
	})
	t.Run("null in a list", func(t *testing.T) {
		refuses(t, p, `{"c":[1,null]}`, `/c/1 type: c[1] must be an integer, got null`)
	})
}

func TestNumbers(t *testing.T) {
	p := input[wrap[int]](t)
	for _, tt := range []struct{ name, value, out string }{
		{"C31 C38 plain", "9007199254740993", "9007199254740993"},
		{"C38 fraction of zero", "1.0", "1"}, {"C38 exponent", "1e3", "1000"}, {"C38 minus zero", "-0", "0"},
		{"negative exponent", "1500e-2", "15"}, {"both", "-1.50E+1", "-15"}, {"zero with exponent", "0e999999999", "0"},
		{"least", "-9223372036854775808", "-9223372036854775808"}, {"most", "9223372036854775807.0", "9223372036854775807"},
	} {
		t.Run(tt.name, func(t *testing.T) { accepts(t, p, `{"v":`+tt.value+`}`, `{"v":`+tt.out+`}`) })
	}
	for _, tt := range []struct{ name, value, message string }{
		{"C38 fraction", "1.5", "v must be an integer, got 1.5"},
		{"C38 string", `"1"`, `v must be an integer, got the string "1"`},
		{"C38 C22 row 22 huge exponent", "1e400", "v must be at most 9223372036854775807, got 1e400"},
		{"C38 absurd exponent", "-1e999999999999999999", "v must be at least -9223372036854775808, got -1e999999999999999999"},
		{"tiny exponent", "1e-999999999999", "v must be an integer, got 1e-999999999999"},
		{"row 21 one too many", "9223372036854775808", "v must be at most 9223372036854775807, got 9223372036854775808"},
		{"row 21 one too few", "-9223372036854775809", "v must be at least -9223372036854775808, got -9223372036854775809"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rule := "type"
			if strings.Contains(tt.message, "at most") {
				rule = "maximum"
			} else if strings.Contains(tt.message, "at least") {
				rule = "minimum"
			}
			refuses(t, p, `{"v":`+tt.value+`}`, "/v "+rule+": "+tt.message)
		})
	}
}

func TestOtherNumbers(t *testing.T) {
	t.Run("floats", func(t *testing.T) {
		accepts(t, input[wrap[float64]](t), `{"v":1e308}`, `{"v":1e308}`)
		refuses(t, input[wrap[float64]](t), `{"v":1e309}`, "/v type: v is a number out of range: 1e309")
		refuses(t, input[wrap[float64]](t), `{"v":1.8e308}`, "/v type: v is a number out of range: 1.8e308")
		accepts(t, input[wrap[float32]](t), `{"v":3.4e38}`, `{"v":3.4e38}`)
		refuses(t, input[wrap[float32]](t), `{"v":3.5e38}`, "/v type: v is a number out of range: 3.5e38")
	})
	t.Run("an integer in an any stays exact or is refused", func(t *testing.T) {
		p := input[wrap[any]](t)
		for _, ok := range []string{"9007199254740992", "123456789012345678e1", "0.12345678901234567890", "12345678901234567168"} {
			accepts(t, p, `{"v":[`+ok+`]}`, `{"v":[`+ok+`]}`)
		}
		refuses(t, p, `{"v":{"a":9007199254740993}}`,
			"/v/a type: v.a is an integer too large to be kept exactly, 9007199254740993: send it as a string")
		refuses(t, p, `{"v":70000000000000100}`,
			"/v type: v is an integer too large to be kept exactly, 70000000000000100: send it as a string")
		refuses(t, p, `{"v":1e400}`, "/v type: v is a number out of range: 1e400")
	})
	t.Run("C13 integers of any size", func(t *testing.T) {
		p := input[wrap[bigInt]](t)
		long := strings.Repeat("9", 10_000)
		accepts(t, p, `{"v":1e30}`, `{"v":1`+strings.Repeat("0", 30)+`}`)
		accepts(t, p, `{"v":`+long+`}`, `{"v":`+long+`}`)
		refuses(t, p, `{"v":`+long+`9}`, "/v type: v is a number out of range: "+strings.Repeat("9", 60)+"…")
		refuses(t, p, `{"v":1e1000000000}`, "/v type: v is a number out of range: 1e1000000000")
	})
	t.Run("bounds beyond 64 bits", func(t *testing.T) {
		type args struct {
			U uint64   `json:"u"`
			B *big.Int `json:"b" jsonschema:"minimum=-100000000000000000000,exclusiveMaximum=100000000000000000000"`
			F float64  `json:"f,omitempty" jsonschema:"minimum=100000000000000000000"`
			M float64  `json:"m,omitempty" jsonschema:"multipleOf=10000000000000000000000"`
		}
		p := input[args](t)
		accepts(t, p, `{"u":18446744073709551615,"b":99999999999999999999}`, `{"u":18446744073709551615,"b":99999999999999999999}`)
		refuses(t, p, `{"u":18446744073709551616,"b":100000000000000000000,"f":5,"m":5}`,
			"/u maximum: u must be at most 18446744073709551615, got 18446744073709551616",
			"/b maximum: b must be at most 99999999999999999999, got 100000000000000000000",
			"/f minimum: f must be at least 100000000000000000000, got 5",
			"/m multipleOf: m must be a multiple of 10000000000000000000000, got 5")
		accepts(t, p, `{"u":0,"b":-7,"f":1e20,"m":0}`, `{"u":0,"b":-7,"f":1e20,"m":0}`)
	})
	t.Run("exact bounds", func(t *testing.T) {
		type args struct {
			A float64 `json:"a" jsonschema:"minimum=0.1,exclusiveMaximum=0.3,multipleOf=0.05"`
		}
		p := input[args](t)
		accepts(t, p, `{"a":0.10}`, `{"a":0.10}`)
		accepts(t, p, `{"a":25e-2}`, `{"a":25e-2}`)
		refuses(t, p, `{"a":0.0999999999999999999999}`, "/a minimum: a must be at least 0.1, got 0.0999999999999999999999")
		refuses(t, p, `{"a":0.3}`, "/a exclusiveMaximum: a must be less than 0.3, got 0.3")
		refuses(t, p, `{"a":0.12}`, "/a multipleOf: a must be a multiple of 0.05, got 0.12")
		refuses(t, p, `{"a":1e-999999}`, "/a minimum: a must be at least 0.1, got 1e-999999")
	})
}

func TestStrings(t *testing.T) {
	t.Run("lengths count characters", func(t *testing.T) {
		type args struct {
			S string `json:"s" jsonschema:"minLength=2,maxLength=3"`
		}
		p := input[args](t)
		accepts(t, p, `{"s":"äöü"}`, `{"s":"äöü"}`)
		accepts(t, p, `{"s":"\u00e4\ud83d\ude00"}`, `{"s":"\u00e4\ud83d\ude00"}`)
		refuses(t, p, `{"s":"ä"}`, "/s minLength: s must have at least 2 characters, got 1")
		refuses(t, p, `{"s":"abcd"}`, "/s maxLength: s must have at most 3 characters, got 4")
	})
	t.Run("C08 times", func(t *testing.T) {
		p := input[wrap[time.Time]](t)
		accepts(t, p, `{"v":"2026-05-01T10:00:00+02:00"}`, `{"v":"2026-05-01T10:00:00+02:00"}`)
		for _, bad := range []string{"tomorrow", "2026-05-01", "2026-05-01T10:00:00", "2026-02-30T10:00:00Z", "2026-05-01 10:00:00Z"} {
			refuses(t, p, `{"v":"`+bad+`"}`, `/v format: v must be a date and time as in RFC 3339, such as "2026-05-01T10:00:00Z", got the string "`+bad+`"`)
		}
	})
	t.Run("C02 base64", func(t *testing.T) {
		p := input[wrap[[]byte]](t)
		for _, ok := range []string{"", "aGVsbG8=", "AA==", "////"} {
			accepts(t, p, `{"v":"`+ok+`"}`, `{"v":"`+ok+`"}`)
		}
		for _, bad := range []string{"a", "aGVsbG8", "a===", "====", "aGVs bG8=", "aGVs-_8=", "aGVs\\nbG8="} {
			if _, v := p.Check([]byte(`{"v":"` + bad + `"}`)); len(v) != 1 {
				t.Errorf("%q: %+v", bad, v)
			}
		}
		refuses(t, p, `{"v":[1,2]}`, "/v type: v must be a string, got an array")
	})
	t.Run("C11 row 20 quoted scalars", func(t *testing.T) {
		p := input[quotes](t)
		rest := `,"f":"1.5","b":"true","s":"\"x\"","n":{}}`
		accepts(t, p, `{"i":"9223372036854775807"`+rest, `{"i":"9223372036854775807"`+rest)
		refuses(t, p, `{"i":7`+rest, `/i type: i must be a string holding an integer, such as "7", got 7`)
		refuses(t, p, `{"i":"9223372036854775808"`+rest, `/i maximum: i must be at most 9223372036854775807, got 9223372036854775808`)
		for _, bad := range []string{`""`, `"1.0"`, `"01"`, `"-0"`, `"+1"`, `" 1"`, `"1e3"`, `"null"`} {
			if _, v := p.Check([]byte(`{"i":` + bad + rest)); len(v) != 1 || v[0].Path != "/i" {
				t.Errorf("%s: %+v", bad, v)
			}
		}
		refuses(t, p, `{"i":"1","u":"256","f":"x","b":"yes","s":"x","n":{}}`,
			`/u maximum: u must be at most 255, got 256`,
			`/f format: f must be a string holding a number, such as "1.5", got the string "x"`,
			`/b format: b must be the string "true" or "false", got the string "yes"`,
			`/s format: s must be a string holding a quoted JSON string, such as "\"x\"", got the string "x"`)
	})
	t.Run("row 13 text types are read", func(t *testing.T) {
		refuses(t, input[wrap[level]](t), `{"v":"max"}`, `/v format: v is refused: no such level; got the string "max"`)
		refuses(t, input[wrap[map[level]int]](t), `{"v":{"max":1}}`, `/v propertyNames: v must not have the name "max": no such level`)
		refuses(t, input[wrap[grade]](t), `{"v":"max"}`, `/v enum: v must be one of "low", "mid", "high", got "max"`)
	})
	t.Run("row 13 what a type says is told, unless it speaks of Go or fails", func(t *testing.T) {
		refuses(t, input[wrap[readsText]](t), `{"v":"x"}`, `/v format: v must be text of another form, got the string "x"`)
		refuses(t, input[wrap[map[readsText]int]](t), `{"v":{"x":1}}`, `/v propertyNames: v must not have the name "x": its names must be text of another form`)
		refuses(t, input[wrap[netip.Addr]](t), `{"v":"x"}`, `/v format: v must be an IP address, got the string "x"`)
		refuses(t, input[wrap[panicsOnText]](t), `{"v":"x"}`, `/v format: v must be text of another form, got the string "x"`)
	})
	t.Run("long values are cut", func(t *testing.T) {
		refuses(t, input[wrap[int]](t), `{"v":"`+strings.Repeat("ä", 100)+`"}`, `/v type: v must be an integer, got the string "`+strings.Repeat("ä", 60)+`…"`)
	})
}

func TestObjectsAndLists(t *testing.T) {
	t.Run("C16 row 27 map keys", func(t *testing.T) {
		p := input[wrap[map[int]string]](t)
		accepts(t, p, `{"v":{"-3":"a","10":"b"}}`, `{"v":{"-3":"a","10":"b"}}`)
		refuses(t, p, `{"v":{"x":"a","01":"b"}}`,
			`/v propertyNames: v must not have the name "x": its names must be integers`,
			`/v propertyNames: v must not have the name "01": its names must be integers`)
		refuses(t, input[wrap[map[int8]int]](t), `{"v":{"128":1}}`, `/v propertyNames: v must not have the name "128": its names must be integers from -128 to 127`)
	})
	t.Run("row 25 arrays of fixed length", func(t *testing.T) {
		p := input[wrap[[3]int]](t)
		refuses(t, p, `{"v":[1,2]}`, `/v minItems: v must have exactly 3 items, got 2`)
		refuses(t, p, `{"v":[1,2,3,4]}`, `/v maxItems: v must have exactly 3 items, got 4`)
	})
	t.Run("C41 duplicates at every depth", func(t *testing.T) {
		type args struct {
			Account string          `json:"account"`
			Any     any             `json:"any,omitempty"`
			Map     map[string]int  `json:"map,omitempty"`
			In      *address        `json:"in,omitempty"`
			Raw     jsonRaw         `json:"raw,omitempty"`
			List    []map[int]int   `json:"list,omitempty"`
			Deep    map[string]wide `json:"deep,omitempty"`
		}
		p := input[args](t)
		refuses(t, p, `{"account":"own","account":"other"}`, `/account uniqueNames: account is given more than once: send each name once`)
		for path, text := range map[string]string{
			"/any/a": `"any":{"a":1,"a":2}`, "/map/a": `"map":{"a":1,"b":2,"a":3}`, "/in/city": `"in":{"city":"x","city":"y"}`, "/raw/x/y": `"raw":{"x":{"y":1,"y":1}}`,
			"/unknown": `"unknown":1,"unknown":2`, "/other/0/a": `"other":[{"a":1,"a":2}]`, "/in/zip": `"in":{"city":"x","zip":"1","zi\u0070":"1"}`, "/map/ä": `"map":{"ä":1,"\u00e4":2}`,
		} {
			_, v := p.Check([]byte(`{"account":"x",` + text + `}`))
			if len(v) != 1 || v[0].Path != path || v[0].Rule != "uniqueNames" {
				t.Errorf("%s: %+v", text, v)
			}
		}
	})
}

func TestManyMembers(t *testing.T) {
	t.Run("more than 64 properties", func(t *testing.T) {
		p := input[wider](t)
		_, v := p.Check([]byte(`{"C21":true,"A00":1,"C21":false}`))
		if len(v) != 20 || v[0].Rule != "uniqueNames" || v[1].Path != "/A01" {
			t.Errorf("got %d violations: %+v", len(v), v)
		}
	})
	t.Run("at most 20 violations", func(t *testing.T) {
		_, v := input[wrap[[]int]](t).Check([]byte(`{"v":[` + strings.Repeat(`"x",`, 99) + `"x"]}`))
		if len(v) != 20 || v[19].Path != "/v/19" {
			t.Errorf("got %d violations", len(v))
		}
	})
	t.Run("C44 enum and size of a list", func(t *testing.T) {
		type args struct {
			Tags []string `json:"tags" jsonschema:"enum=a,enum=b,maxItems=3"`
		}
		refuses(t, input[args](t), `{"tags":["a","zz","a","b"]}`,
			`/tags/1 enum: tags[1] must be one of "a", "b", got "zz"`, `/tags maxItems: tags must have at most 3 items, got 4`)
	})
	t.Run("unique items are compared by value", func(t *testing.T) {
		type args struct {
			A []any `json:"a" jsonschema:"uniqueItems"`
		}
		p := input[args](t)
		accepts(t, p, `{"a":[1,"1",true,null,{"a":1},{"a":2},[1],[2]]}`, `{"a":[1,"1",true,null,{"a":1},{"a":2},[1],[2]]}`)
		refuses(t, p, `{"a":[1,2,1.0]}`, `/a/2 uniqueItems: a[2] repeats item 0, 1.0: items must differ`)
		refuses(t, p, `{"a":[{"x":[10],"y":"ä"},{"y":"\u00e4","x":[1e1]}]}`, `/a/1 uniqueItems: a[1] repeats item 0, an object: items must differ`)
		accepts(t, p, `{"a":[1,-1,10,0.1,1e-9]}`, `{"a":[1,-1,10,0.1,1e-9]}`)
		refuses(t, p, `{"a":[0,-0.0]}`, `/a/1 uniqueItems: a[1] repeats item 0, -0.0: items must differ`)
		refuses(t, p, `{"a":["x",2,"x","y",20e-1,"\u0078",2]}`,
			`/a/2 uniqueItems: a[2] repeats item 0, the string "x": items must differ`, `/a/4 uniqueItems: a[4] repeats item 1, 20e-1: items must differ`,
			`/a/5 uniqueItems: a[5] repeats item 0, the string "x": items must differ`, `/a/6 uniqueItems: a[6] repeats item 1, 2: items must differ`)
	})
	t.Run("unique items of several lists", func(t *testing.T) {
		type args struct {
			A [][]int `json:"a" jsonschema:"uniqueItems"`
			B []int   `json:"b" jsonschema:"uniqueItems"`
			C []int   `json:"c,omitempty" jsonschema:"uniqueItems"`
		}
		p := input[args](t)
		accepts(t, p, `{"a":[[1],[1,1],[]],"b":[2,1]}`, `{"a":[[1],[1,1],[]],"b":[2,1]}`)
		refuses(t, p, `{"a":[[1],[1]],"b":[1,1],"c":[1,1]}`, `/a/1 uniqueItems: a[1] repeats item 0, an array: items must differ`,
			`/b/1 uniqueItems: b[1] repeats item 0, 1: items must differ`, `/c/1 uniqueItems: c[1] repeats item 0, 1: items must differ`)
		refuses(t, p, `{"a":[],"b":[1,2],"c":[1,1]}`, `/c/1 uniqueItems: c[1] repeats item 0, 1: items must differ`)
		refuses(t, p, `{"a":[[1]],"b":[1,2]}`+" ,", ` json: arguments must be valid JSON: broken at byte 21`)
	})
	t.Run("a thousand unique items", func(t *testing.T) {
		type args struct {
			A []int `json:"a" jsonschema:"uniqueItems"`
		}
		p := input[args](t)
		var list strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&list, "%d,", i*7919%1000)
		}
		accepts(t, p, `{"a":[`+list.String()+`1000]}`, `{"a":[`+list.String()+`1000]}`)
		refuses(t, p, `{"a":[`+list.String()+`7919,0]}`, `/a/1001 uniqueItems: a[1001] repeats item 0, 0: items must differ`)
		_, violations := p.Check([]byte(`{"a":[` + list.String() + list.String() + `0]}`))
		if len(violations) != 20 || violations[19].Path != "/a/1019" {
			t.Errorf("%d violations: %+v", len(violations), violations)
		}
	})
}

func TestRefusedShapes(t *testing.T) {
	p := input[searchArgs](t)
	t.Run("C32 no object", func(t *testing.T) {
		refuses(t, p, `[]`, ` type: arguments must be an object, got an array`)
		refuses(t, p, `"{}"`, ` type: arguments must be an object, but the value is a string holding JSON: send the object itself, not its text`)
	})
	t.Run("C40 JSON in a string", func(t *testing.T) {
		refuses(t, p, `{"query":"{\"a\":1}","limit":1,"filters":"[{}]","sort":"{\"field\":\"x\"}"}`,
			`/filters type: filters must be an array, but the value is a string holding JSON: send the array itself, not its text`,
			`/sort type: sort must be an object, but the value is a string holding JSON: send the object itself, not its text`)
		refuses(t, p, `{"query":"x","limit":1,"filters":[],"sort":"{"}`, `/sort type: sort must be an object, got the string "{"`)
	})
	t.Run("A32 A33 A34 A35 each rule is named", func(t *testing.T) {
		refuses(t, p, `{"limit":"x","filters":[{"op":"like","value":1}]}`,
			`/limit type: limit must be an integer, got the string "x"`,
			`/filters/0/op enum: filters[0].op must be one of "eq", "ne", "lt", "gt", "in", got "like"`,
			`/filters/0/value type: filters[0].value must be a string, got 1`,
			`/filters/0/field required: filters[0].field is required, but missing: it must be a string`,
			`/query required: query is required, but missing: it must be a string`)
	})
	t.Run("C35 presence is judged on the JSON", func(t *testing.T) {
		type args struct {
			Day  int    `json:"day" validate:"required,min=0,max=6"`
			On   bool   `json:"on" validate:"required"`
			Note string `json:"note" validate:"required"`
		}
		p := input[args](t)
		accepts(t, p, `{"day":0,"on":false,"note":""}`, `{"day":0,"on":false,"note":""}`)
		refuses(t, p, `{}`, `/day required: day is required, but missing: it must be an integer`, `/on required: on is required, but missing: it must be true or false`, `/note required: note is required, but missing: it must be a string`)
	})
	t.Run("names match exactly", func(t *testing.T) {
		refuses(t, input[addArgs](t), `{"A":1,"b":2}`, `/a required: a is required, but missing: it must be a number; unknown argument "A": did you mean "a"?`)
	})
	t.Run("names that need escapes", func(t *testing.T) {
		_, v := input[odd](t).Check([]byte(`{"a b":"x","a/b":"x","a~b":"x","größe":"x","$x":1,"x-y":1,"x.y":1}`))
		var got []string
		for _, v := range v {
			got = append(got, v.Path+" "+v.Message[:strings.Index(v.Message, " must")])
		}
		want := []string{`/a b ["a b"]`, `/a~1b ["a/b"]`, `/a~0b ["a~b"]`, `/größe ["größe"]`}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("broken JSON", func(t *testing.T) {
		for _, bad := range []string{`{`, `{"a":1,}`, `{"a" 1}`, `{"a":01,"b":1}`, "{\"a\":\"\xff\"}", `{"a":1,"b":2} x`, `{"a":"\ud800"}`, `x`, `[1,2`} {
			_, v := input[addArgs](t).Check([]byte(bad))
			if len(v) == 0 || v[len(v)-1].Rule != "json" && v[0].Rule != "type" {
				t.Errorf("%s: %+v", bad, v)
			}
		}
	})
}

func TestStrict(t *testing.T) {
	type window struct {
		Start string `json:"start_rfc_3339,omitempty"`
		End   string `json:"end_rfc_3339,omitempty"`
	}
	type args struct {
		window
		In  *window           `json:"in,omitempty"`
		Map map[string]window `json:"map,omitempty"`
	}
	open := input[args](t)
	strict := open.Strict()
	t.Run("A42 unknown names are ignored", func(t *testing.T) {
		accepts(t, open, `{"zone":1,"in":{"x":[{"y":2}]}}`, `{"zone":1,"in":{"x":[{"y":2}]}}`)
		accepts(t, input[struct{}](t), `{"x":1}`, `{"x":1}`)
	})
	t.Run("C34 A42 unknown names are refused with the nearest", func(t *testing.T) {
		refuses(t, strict, `{"start_rfc3339":"2026-01-01T00:00:00Z"}`,
			`/start_rfc3339 additionalProperties: unknown argument "start_rfc3339": did you mean "start_rfc_3339"? It takes "start_rfc_3339", "end_rfc_3339", "in", "map"`)
		refuses(t, strict, `{"in":{"until":1},"map":{"x":{"end":1}}}`,
			`/in/until additionalProperties: unknown argument "until" of in: it takes "start_rfc_3339", "end_rfc_3339"`,
			`/map/x/end additionalProperties: unknown argument "end" of map.x: it takes "start_rfc_3339", "end_rfc_3339"`)
		refuses(t, input[struct{}](t).Strict(), `{"x":1}`, `/x additionalProperties: unknown argument "x": it has no names`)
	})
	t.Run("strict plans say so", func(t *testing.T) {
		if n := bytes.Count(strict.JSON(), []byte(`"additionalProperties":false`)); n != 3 {
			t.Errorf("%d closed objects: %s", n, strict.JSON())
		}
		if bytes.Contains(open.JSON(), []byte(`"additionalProperties":false`)) || strict.Strict() != strict || open.Strict() != strict {
			t.Errorf("open plan: %s", open.JSON())
		}
	})
	t.Run("C34 swapped neighbours are one edit", func(t *testing.T) {
		plan := input[struct {
			Limit int `json:"limit"`
		}](t).Strict()
		refuses(t, plan, `{"limit":1,"limti":2}`, `/limti additionalProperties: unknown argument "limti": did you mean "limit"? It takes "limit"`)
		refuses(t, plan, `{"limit":1,"lmiti":2}`, `/lmiti additionalProperties: unknown argument "lmiti": it takes "limit"`)
	})
	t.Run("C34 a near miss of a required name", func(t *testing.T) {
		refuses(t, input[addArgs](t), `{"a":1,"B":2}`, `/b required: b is required, but missing: it must be a number; unknown argument "B": did you mean "b"?`)
	})
}

// TestMessagesAreNeutral looks for words that mean nothing to a model.
func TestMessagesAreNeutral(t *testing.T) {
	for _, args := range []string{`[]`, `{}`, `{"query":1,"limit":0,"filters":[{}],"sort":[]}`, `{"query":"","limit":1e99}`, `nope`} {
		_, v := input[searchArgs](t).Check([]byte(args))
		for _, v := range v {
			for _, word := range []string{"searchArgs", "struct", "reflect", "json:", "int64", "float64", "Go ", "jsonschema", "%!", "nil"} {
				if strings.Contains(v.Message, word) {
					t.Errorf("%s: message %q has %q", args, v.Message, word)
				}
			}
		}
	}
}
