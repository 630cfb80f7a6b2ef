package jsonx_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// everything has a field for each kind of target.
type everything struct {
	Int8   int8                  `json:"int8"`
	Int64  int64                 `json:"int64"`
	Uint8  uint8                 `json:"uint8"`
	Uint64 uint64                `json:"uint64"`
	Float  float64               `json:"float"`
	Small  float32               `json:"small"`
	Bool   bool                  `json:"bool"`
	Text   string                `json:"text"`
	QInt   int64                 `json:"qint,string"`
	QUint  *uint8                `json:"quint,string"`
	QBool  bool                  `json:"qbool,string"`
	QText  string                `json:"qtext,string"`
	QNum   json.Number           `json:"qnum,string"`
	Bytes  []byte                `json:"bytes"`
	Array  [2]byte               `json:"array"`
	List   []int                 `json:"list"`
	Map    map[int]string        `json:"map"`
	Small8 map[int8]string       `json:"small8"`
	Addrs  map[netip.Addr]string `json:"addrs"`
	Levels map[level]string      `json:"levels"`
	Waits  map[time.Duration]int `json:"waits"`
	Nums   map[json.Number]int   `json:"nums"`
	Wait   time.Duration         `json:"wait"`
	Time   time.Time             `json:"time"`
	Number json.Number           `json:"number"`
	Big    big.Int               `json:"big"`
	PBig   *big.Int              `json:"pbig"`
	Raw    json.RawMessage       `json:"raw"`
	Any    any                   `json:"any"`
	Bag    map[string]any        `json:"bag"`
	Addr   netip.Addr            `json:"addr"`
	Level  level                 `json:"level"`
	Money  money                 `json:"money"`
	Float2 *big.Float            `json:"bigfloat"`
	Nested *Base                 `json:"nested"`
}

var readable = []struct {
	name, in string
	get      func(v *everything) any
	want     any
}{
	{"C31 int64 beyond 2^53", `{"int64":9007199254740993}`, func(v *everything) any { return v.Int64 }, int64(9007199254740993)},
	{"uint64 most", `{"uint64":18446744073709551615}`, func(v *everything) any { return v.Uint64 }, uint64(18446744073709551615)},
	{"C11 string option", `{"qint":"9223372036854775807"}`, func(v *everything) any { return v.QInt }, int64(9223372036854775807)},
	{"C11 string option of a boolean", `{"qbool":"true"}`, func(v *everything) any { return v.QBool }, true},
	{"string option of a string", `{"qtext":"\"a\\\"b\""}`, func(v *everything) any { return v.QText }, `a"b`},
	{"string option of a number", `{"qnum":"1.50"}`, func(v *everything) any { return v.QNum }, json.Number("1.50")},
	{"C02 bytes", `{"bytes":"aGVsbG8="}`, func(v *everything) any { return v.Bytes }, []byte("hello")},
	{"byte array", `{"array":[1,255]}`, func(v *everything) any { return v.Array }, [2]byte{1, 255}},
	{"C16 integer keys", `{"map":{"-3":"a","10":"b"}}`, func(v *everything) any { return v.Map }, map[int]string{-3: "a", 10: "b"}},
	{"text keys", `{"levels":{"level-7":"x"}}`, func(v *everything) any { return v.Levels }, map[level]string{7: "x"}},
	{"duration keys", `{"waits":{"1m30s":1}}`, func(v *everything) any { return v.Waits }, map[time.Duration]int{90 * time.Second: 1}},
	{"number keys", `{"nums":{"1":1}}`, func(v *everything) any { return v.Nums }, map[json.Number]int{"1": 1}},
	{"duration", `{"wait":"1m30s"}`, func(v *everything) any { return v.Wait }, 90 * time.Second},
	{"duration in parts", `{"wait":"-1.5h"}`, func(v *everything) any { return v.Wait }, -90 * time.Minute},
	{"duration null", `{"wait":null}`, func(v *everything) any { return v.Wait }, time.Duration(0)},
	{"C08 time", `{"time":"2026-05-01T12:00:00.123456+01:00"}`, func(v *everything) any { return v.Time.Equal(noon) }, true},
	{"number as spelled", `{"number":-1.50e+400}`, func(v *everything) any { return v.Number }, json.Number("-1.50e+400")},
	{"number null", `{"number":null}`, func(v *everything) any { return v.Number }, json.Number("")},
	{"C13 big integer", `{"big":123456789012345678901234567890}`, func(v *everything) any { return v.Big.String() }, "123456789012345678901234567890"},
	{"C13 big integer by pointer", `{"pbig":-9007199254740993}`, func(v *everything) any { return v.PBig.String() }, "-9007199254740993"},
	{"big integer null", `{"pbig":null,"big":null}`, func(v *everything) any { return v.PBig == nil && v.Big.Sign() == 0 }, true},
	{"raw as it came", `{"raw":{ "b" : [1.0 , 1e2],"\u0061":"\/" }}`, func(v *everything) any { return string(v.Raw) }, `{ "b" : [1.0 , 1e2],"\u0061":"\/" }`},
	{"raw null", `{"raw":null}`, func(v *everything) any { return string(v.Raw) }, "null"},
	{"any", `{"any":{"a":[1,1.5,"x",true,null,{}]}}`, func(v *everything) any { return v.Any },
		map[string]any{"a": []any{1.0, 1.5, "x", true, nil, map[string]any{}}}},
	{"any beside a long number", `{"any":{"a":[1,1.5,"x",true,null,{},[],1152921504606846976]}}`, func(v *everything) any { return v.Any },
		map[string]any{"a": []any{1.0, 1.5, "x", true, nil, map[string]any{}, []any{}, 1152921504606846976.0}}},
	{"any with a long fraction", `{"any":0.12345678901234567890}`, func(v *everything) any { return v.Any }, 0.12345678901234567890},
	{"any with an exponent", `{"any":6.02214076e23}`, func(v *everything) any { return v.Any }, 6.02214076e23},
	{"any at the edge", `{"bag":{"x":9007199254740992,"y":-9007199254740992}}`, func(v *everything) any { return v.Bag },
		map[string]any{"x": 9007199254740992.0, "y": -9007199254740992.0}},
	{"any with digits in a string", `{"any":"9007199254740993"}`, func(v *everything) any { return v.Any }, "9007199254740993"},
	{"own text", `{"level":"level-3"}`, func(v *everything) any { return v.Level }, level(3)},
	{"C10 own JSON", `{"money":"12.50"}`, func(v *everything) any { return v.Money.cents }, int64(1250)},
	{"null zeroes", `{"text":null,"int8":null,"nested":null}`, func(v *everything) any { return v.Text == "" && v.Int8 == 0 && v.Nested == nil }, true},
	{"names match exactly", `{"Int8":5,"INT8":6,"int8\u0000":7}`, func(v *everything) any { return v.Int8 }, int8(0)},
	{"unknown names are ignored", `{"other":[{"a":1}],"int8":1}`, func(v *everything) any { return v.Int8 }, int8(1)},
	{"white space", " \r\n\t{ \"int8\" : 1 } ", func(v *everything) any { return v.Int8 }, int8(1)},
}

func TestUnmarshalCodecs(t *testing.T) {
	for _, c := range readable {
		t.Run(c.name, func(t *testing.T) {
			var v everything
			if err := jsonx.Unmarshal([]byte(c.in), &v); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.get(&v)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnmarshalNamedBytes(t *testing.T) {
	var v struct{ B []namedByte }
	if err := jsonx.Unmarshal([]byte(`{"B":"AQID"}`), &v); err != nil || !reflect.DeepEqual(v.B, []namedByte{1, 2, 3}) {
		t.Errorf("%v, %v", v.B, err)
	}
}

// What an interface holds is decoded into, as encoding/json does.
func TestUnmarshalIntoFilledInterface(t *testing.T) {
	for _, in := range []string{`{"by":"x","at":1}`, `{"by":"x","at":1,"other":9007199254740993}`} {
		target := any(&Base{})
		if err := jsonx.Unmarshal([]byte(in), &target); err != nil {
			t.Fatal(err)
		}
		if b, ok := target.(*Base); !ok || b.By != "x" {
			t.Errorf("%s gives %#v", in, target)
		}
	}
}

func TestUnmarshalKeepsNothingOfTheInput(t *testing.T) {
	data := []byte(`{"text":"abcdefghijklmnopqrstuvwxyz","raw":[1,2,3],"bytes":"aGVsbG8=","number":123,"any":{"k":"v"}}`)
	var v everything
	if err := jsonx.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	before := appended(t, &v)
	for i := range data {
		data[i] = 'x'
	}
	if after := appended(t, &v); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

var long = strings.Repeat("x", 1000)

// refusals are texts that no part of may be decoded, with fault, pointer and
// reason.
var refusals = []struct {
	name, in string
	fault    jsonx.Fault
	pointer  string
	reason   string
}{
	{"empty", ``, jsonx.FaultSyntax, "", "expected a JSON value, got nothing"},
	{"cut", `{"int8":1`, jsonx.FaultSyntax, "", "the JSON text ends too early"},
	{"cut in a string", `{"text":"a`, jsonx.FaultSyntax, "/text", "the JSON text ends too early"},
	{"cut before a duration", `{"wait":`, jsonx.FaultSyntax, "/wait", "the JSON text ends too early"},
	{"cut before a number", `{"number":`, jsonx.FaultSyntax, "/number", "the JSON text ends too early"},
	{"cut before a big integer", `{"big":`, jsonx.FaultSyntax, "/big", "the JSON text ends too early"},
	{"cut in any after a long number", `{"any":[1152921504606846976,`, jsonx.FaultSyntax, "/any", "the JSON text ends too early"},
	{"trailing comma", `{"int8":1,}`, jsonx.FaultSyntax, "", "not valid JSON at byte 9"},
	{"two values", `{} {}`, jsonx.FaultSyntax, "", "not valid JSON at byte 3"},
	{"leading zero", `{"int8":01}`, jsonx.FaultSyntax, "", "not valid JSON at byte 9"},
	{"plus sign", `{"int8":+1}`, jsonx.FaultSyntax, "/int8", "not valid JSON at byte 8"},
	{"NaN", `{"float":NaN}`, jsonx.FaultSyntax, "/float", "not valid JSON at byte 9"},
	{"control character", "{\"text\":\"a\nb\"}", jsonx.FaultSyntax, "/text", "not valid JSON at byte 10"},
	{"single quotes", `{'text':"a"}`, jsonx.FaultSyntax, "", "not valid JSON at byte 1"},
	{"byte order mark", "\ufeff{}", jsonx.FaultSyntax, "", "not valid JSON at byte 0"},
	{"bad UTF-8", "{\"text\":\"a\xff\"}", jsonx.FaultUTF8, "/text", "text that is not valid UTF-8, or half of a surrogate pair, at byte 10"},
	{"bad UTF-8 in a name", "{\"a\xff\":1}", jsonx.FaultUTF8, "", "text that is not valid UTF-8, or half of a surrogate pair, at byte 3"},
	{"bad UTF-8 where ignored", "{\"other\":{\"a\":\"\xc3\x28\"}}", jsonx.FaultUTF8, "/other/a", "text that is not valid UTF-8, or half of a surrogate pair, at byte 15"},
	{"half a surrogate pair", `{"text":"\ud800"}`, jsonx.FaultUTF8, "/text", "text that is not valid UTF-8, or half of a surrogate pair, at byte 9"},
	{"C41 duplicate", `{"text":"own","text":"other"}`, jsonx.FaultDuplicate, "/text", `duplicate name "text"`},
	{"C41 duplicate by escape", `{"text":"own","te\u0078t":"other"}`, jsonx.FaultDuplicate, "/text", `duplicate name "text"`},
	{"C41 duplicate where ignored", `{"other":[{"a":1,"a":2}]}`, jsonx.FaultDuplicate, "/other/0/a", `duplicate name "a"`},
	{"C41 duplicate in any", `{"any":{"a":1,"a":2}}`, jsonx.FaultDuplicate, "/any/a", `duplicate name "a"`},
	{"C41 duplicate in any beside a long number", `{"any":{"n":1152921504606846976,"a":1,"a":2}}`, jsonx.FaultDuplicate, "/any/a", `duplicate name "a"`},
	{"C41 duplicate in raw", `{"raw":{"a":1,"a":2}}`, jsonx.FaultDuplicate, "/raw/a", `duplicate name "a"`},
	{"C41 duplicate in a map", `{"addrs":{"::1":"a","::1":"b"}}`, jsonx.FaultDuplicate, "/addrs/::1", `duplicate name "::1"`},
	{"C41 duplicate of a long name", `{"` + long + `":1,"` + long + `":1}`, jsonx.FaultDuplicate, "/" + long, `duplicate name "` + long[:80] + `…"`},
	{"C41 duplicate by another spelling", `{"map":{"0":"a","-0":"b"}}`, jsonx.FaultDuplicate, "/map/-0", `duplicate name "-0"`},

	{"root of another kind", `[]`, jsonx.FaultType, "", "expected an object, got an array"},
	{"root string", `"{}"`, jsonx.FaultType, "", "expected an object, got a string"},
	{"C38 string for an integer", `{"int8":"1"}`, jsonx.FaultType, "/int8", "expected an integer, got a string"},
	{"C38 fraction", `{"int8":1.5}`, jsonx.FaultType, "/int8", "expected an integer, got 1.5"},
	{"C38 range", `{"int8":300}`, jsonx.FaultRange, "/int8", "expected an integer from -128 to 127, got 300"},
	{"row 21 int64", `{"int64":9223372036854775808}`, jsonx.FaultRange, "/int64", "expected an integer from -9223372036854775808 to 9223372036854775807, got 9223372036854775808"},
	{"row 21 unsigned", `{"uint8":-1}`, jsonx.FaultRange, "/uint8", "expected an integer from 0 to 255, got -1"},
	{"row 21 uint64", `{"uint64":18446744073709551616}`, jsonx.FaultRange, "/uint64", "expected an integer from 0 to 18446744073709551615, got 18446744073709551616"},
	{"C38 exponent for an integer", `{"int64":1e400}`, jsonx.FaultType, "/int64", "expected an integer, got 1e400"},
	{"row 22 float", `{"float":1e400}`, jsonx.FaultRange, "/float", "expected a number of a smaller size, got 1e400"},
	{"row 22 float32", `{"small":1e39}`, jsonx.FaultRange, "/small", "expected a number of a smaller size, got 1e39"},
	{"row 22 any", `{"any":[1e400]}`, jsonx.FaultRange, "/any/0", "expected a number of a smaller size, got 1e400"},
	{"long number", `{"int8":` + strings.Repeat("9", 100) + `}`, jsonx.FaultRange, "/int8", "expected an integer from -128 to 127, got a number"},
	{"number", `{"float":"1.5"}`, jsonx.FaultType, "/float", "expected a number, got a string"},
	{"integer from false", `{"int8":false}`, jsonx.FaultType, "/int8", "expected an integer, got a boolean"},
	{"string option from false", `{"qint":false}`, jsonx.FaultType, "/qint", "expected an integer, got a boolean"},
	{"boolean", `{"bool":1}`, jsonx.FaultType, "/bool", "expected a boolean, got a number"},
	{"string", `{"text":{}}`, jsonx.FaultType, "/text", "expected a string, got an object"},
	{"string from a number", `{"text":1}`, jsonx.FaultType, "/text", "expected a string, got a number"},
	{"list", `{"list":{"0":1}}`, jsonx.FaultType, "/list", "expected an array, got an object"},
	{"list item", `{"list":[1,true]}`, jsonx.FaultType, "/list/1", "expected an integer, got a boolean"},
	{"row 25 short array", `{"array":[1]}`, jsonx.FaultType, "/array", "expected an array of 2 items"},
	{"row 25 long array", `{"array":[1,2,3]}`, jsonx.FaultType, "/array", "expected an array of 2 items"},
	{"array from a string", `{"array":"AQI="}`, jsonx.FaultType, "/array", "expected an array of 2 items, got a string"},
	{"C02 not Base64", `{"bytes":"*"}`, jsonx.FaultType, "/bytes", "expected a Base64 string"},
	{"Base64 with a line break", `{"bytes":"aGVs\nbG8="}`, jsonx.FaultType, "/bytes", "expected a Base64 string"},
	{"Base64 from a list", `{"bytes":[1,2]}`, jsonx.FaultType, "/bytes", "expected a Base64 string, got an array"},
	{"nested", `{"nested":{"by":1}}`, jsonx.FaultType, "/nested/by", "expected a string, got a number"},
	{"nested of another kind", `{"nested":"{}"}`, jsonx.FaultType, "/nested", "expected an object, got a string"},

	{"C11 number for the string option", `{"qint":7}`, jsonx.FaultType, "/qint", "expected an integer in quotes, got 7"},
	{"C11 text for the string option", `{"qint":"x"}`, jsonx.FaultType, "/qint", "expected an integer in quotes"},
	{"string option range", `{"quint":"256"}`, jsonx.FaultRange, "/quint", "expected an integer from 0 to 255"},
	{"C11 boolean for the string option", `{"qbool":true}`, jsonx.FaultType, "/qbool", "expected a boolean in quotes, got a boolean"},
	{"string without inner quotes", `{"qtext":"x"}`, jsonx.FaultType, "/qtext", "expected a string in quotes"},
	{"bad escape for the string option", `{"qint":"\u0031x"}`, jsonx.FaultType, "/qint", "expected an integer in quotes"},
	{"number for the string option", `{"qnum":1}`, jsonx.FaultType, "/qnum", "expected a number in quotes, got 1"},
	{"bad number for the string option", `{"qnum":"1x"}`, jsonx.FaultType, "/qnum", "expected a number in quotes"},

	{"C16 integer key", `{"map":{"10":"b","x":"a"}}`, jsonx.FaultType, "/map", `the name "x" is not an integer`},
	{"integer key range", `{"small8":{"300":"a"}}`, jsonx.FaultRange, "/small8", `the name "300" is not an integer from -128 to 127`},
	{"text key", `{"addrs":{"x":"a"}}`, jsonx.FaultType, "/addrs", `the name "x" is not an IP address`},
	{"duration key", `{"waits":{"x":1}}`, jsonx.FaultType, "/waits", `the name "x" is not a duration such as "1m30s"`},
	{"own text key", `{"levels":{"x":"a"}}`, jsonx.FaultRefused, "/levels", "want level- and a number"},

	{"duration from a number", `{"wait":60}`, jsonx.FaultType, "/wait", `expected a duration such as "1m30s", got a number`},
	{"duration", `{"wait":"soon"}`, jsonx.FaultType, "/wait", `expected a duration such as "1m30s"`},
	{"C08 time", `{"time":"tomorrow"}`, jsonx.FaultType, "/time", `expected a date and time (RFC 3339) such as "2026-05-01T10:00:00Z"`},
	{"time of loose form", `{"time":"2026-05-01T1:00:00Z"}`, jsonx.FaultType, "/time", `expected a date and time (RFC 3339) such as "2026-05-01T10:00:00Z"`},
	{"time from a number", `{"time":5}`, jsonx.FaultType, "/time", `expected a date and time (RFC 3339) such as "2026-05-01T10:00:00Z", got a number`},
	{"row 17 number from a string", `{"number":"1"}`, jsonx.FaultType, "/number", "expected a number, got a string"},
	{"C13 big integer from a fraction", `{"big":1.5}`, jsonx.FaultType, "/big", "expected an integer, got 1.5"},
	{"C13 big integer from a string", `{"pbig":"1"}`, jsonx.FaultType, "/pbig", "expected an integer, got a string"},
	{"big integer of many digits", `{"pbig":` + strings.Repeat("9", 20_000) + `}`, jsonx.FaultRange, "/pbig", "expected an integer of at most 10000 digits, got a number"},
	{"big float", `{"bigfloat":1.5}`, jsonx.FaultType, "/bigfloat", "expected a number in a string, got a number"},
	{"inexact in any", `{"any":9007199254740993}`, jsonx.FaultRange, "/any", "the integer 9007199254740993 cannot be kept exactly; integers up to 9007199254740992 can"},
	{"inexact deep in any", `{"bag":{"a":[{},{"b":-9007199254740993}]}}`, jsonx.FaultRange, "/bag/a/1/b", "the integer -9007199254740993 cannot be kept exactly; integers up to 9007199254740992 can"},
	{"row 13 text", `{"addr":"x"}`, jsonx.FaultType, "/addr", "expected an IP address"},
	{"row 13 text from a number", `{"addr":1}`, jsonx.FaultType, "/addr", "expected an IP address, got a number"},
	{"row 14 own text", `{"level":"x"}`, jsonx.FaultRefused, "/level", "want level- and a number"},
	{"row 14 own text from a number", `{"level":1}`, jsonx.FaultType, "/level", "expected a string, got a number"},
	{"row 19 own JSON", `{"money":5}`, jsonx.FaultRefused, "/money", "want an amount such as 12.50"},
}

// speaksOfGo matches words that do not belong into a text for a model.
var speaksOfGo = regexp.MustCompile(`(?i)\bGo\b|json:|jsontext|unmarshal|strconv|struct|int8|int64|float64|jsonx|netip|big\.|time\.|interface|0x`)

func TestUnmarshalRefuses(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			var v everything
			err := jsonx.Unmarshal([]byte(c.in), &v)
			var e *jsonx.DecodeError
			if !errors.As(err, &e) {
				t.Fatalf("error is %T: %v", err, err)
			}
			got := fmt.Sprintf("%d %q %s", e.Fault, e.Pointer, e.Reason)
			if want := fmt.Sprintf("%d %q %s", c.fault, c.pointer, c.reason); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if text := strings.ReplaceAll(e.Error(), e.Pointer, ""); speaksOfGo.MatchString(text) {
				t.Errorf("the text speaks of Go: %s", text)
			}
			if errors.Unwrap(err) == nil {
				t.Error("no cause")
			}
			if jsonx.Valid([]byte(c.in)) != (e.Fault > jsonx.FaultDuplicate || strings.Contains(c.name, "spelling")) {
				t.Errorf("Valid says %v", jsonx.Valid([]byte(c.in)))
			}
		})
	}
}

func TestUnmarshalStrict(t *testing.T) {
	var v Base
	err := jsonx.UnmarshalStrict([]byte(`{"by":"x","att":1}`), &v)
	var e *jsonx.DecodeError
	if !errors.As(err, &e) || e.Fault != jsonx.FaultUnknown || e.Pointer != "/att" || e.Reason != `unknown name "att"` {
		t.Errorf("%#v", e)
	}
	var nested struct{ M map[string]*Base }
	err = jsonx.UnmarshalStrict([]byte(`{"M":{"k":{"By":"x"}}}`), &nested)
	if !errors.As(err, &e) || e.Pointer != "/M/k/By" {
		t.Errorf("%v", err)
	}
	if err := jsonx.UnmarshalStrict([]byte(`{"by":"x"}`), &v); err != nil {
		t.Error(err)
	}
}

type talkative struct{ err error }

func (v *talkative) UnmarshalText([]byte) error { return v.err }

// A type of the application speaks for itself, unless it passes on what a
// library said.
func TestRefusedReasons(t *testing.T) {
	var syntax *json.SyntaxError
	inner := json.Unmarshal([]byte(`{`), &struct{}{})
	if !errors.As(inner, &syntax) {
		t.Fatal(inner)
	}
	_, numErr := netip.ParseAddr("x")
	_, durationErr := time.ParseDuration("x")
	const generic = "the value is not valid here"
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"own words", errors.New("use red, green or blue"), "use red, green or blue"},
		{"own words wrapped", fmt.Errorf("colour: %w", errors.New("use red")), "colour: use red"},
		{"library error", inner, generic},
		{"library error wrapped", fmt.Errorf("bad: %w", numErr), generic},
		{"library errors joined", errors.Join(errors.New("bad"), numErr), generic},
		{"JSON library error", fmt.Errorf("bad: %w", jsonv2.Unmarshal([]byte("1"), new(string))), generic},
		{"library text", durationErr, generic},
		{"library text copied", errors.New(`bad: strconv.Atoi: parsing "x"`), generic},
		{"Go type", errors.New("no jsonx_test.talkative"), generic},
		{"long", errors.New(strings.Repeat("x", 1000)), generic},
		{"silent", errors.New(""), generic},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := struct{ V talkative }{talkative{c.err}}
			err := jsonx.Unmarshal([]byte(`{"V":"x"}`), &v)
			var e *jsonx.DecodeError
			if !errors.As(err, &e) || e.Fault != jsonx.FaultRefused || e.Pointer != "/V" || e.Reason != c.want {
				t.Errorf("got %#v", e)
			}
			if !errors.Is(err, c.err) {
				t.Error("the cause is lost")
			}
		})
	}
}

// nested decodes its inside with the JSON library itself, as a type made for
// encoding/json/v2 does.
type nested struct{ inner Base }

func (n *nested) UnmarshalJSON(data []byte) error { return jsonv2.Unmarshal(data, &n.inner) }

// lost places its error nowhere in the text.
type lost struct{ offset int64 }

func (l *lost) UnmarshalJSON([]byte) error {
	return &jsonv2.SemanticError{GoType: reflect.TypeFor[int](), ByteOffset: l.offset, JSONKind: '"'}
}

func TestErrorsOfNestedDecoding(t *testing.T) {
	var v struct{ N []nested }
	err := jsonx.Unmarshal([]byte(`{"N":[{"at":1},{"by":"x", "at" : 1.5}]}`), &v)
	var e *jsonx.DecodeError
	if !errors.As(err, &e) || e.Error() != "/N/1/at: expected an integer, got 1.5" {
		t.Errorf("got %v", err)
	}
	err = jsonx.Unmarshal([]byte(`{"N":[{"by":"x" "at":1}]}`), &v)
	if !errors.As(err, &e) || e.Fault != jsonx.FaultSyntax {
		t.Errorf("got %#v", err)
	}
	for _, offset := range []int64{-100, 1, 3, 1 << 40} {
		text := []byte(`{"L":"a"}`)
		err := jsonx.Unmarshal(text, &struct{ L lost }{lost{offset}})
		if !errors.As(err, &e) || e.Fault != jsonx.FaultType {
			t.Errorf("got %#v", err)
		}
	}
}

type secretive int

func (*secretive) UnmarshalText([]byte) error { return numberError }

var numberError = func() error { _, err := strconv.Atoi("x"); return err }()

func TestRefusedName(t *testing.T) {
	err := jsonx.Unmarshal([]byte(`{"M":{"x":1}}`), &struct{ M map[secretive]int }{})
	if err == nil || err.Error() != `/M: the name "x" is not valid here` {
		t.Errorf("got %v", err)
	}
}

// These targets are mistakes of the program, not of the text.
func TestUnmarshalTargets(t *testing.T) {
	var nilPointer *int
	for name, target := range map[string]any{
		"nil":                    nil,
		"no pointer":             5,
		"nil pointer":            nilPointer,
		"channel":                new(chan int),
		"interface with methods": new(fmt.Stringer),
		"bad tag": &struct {
			A int `json:"a,omitEmpty"`
		}{},
		"embedded pointer not exported": &struct{ *unexported }{},
	} {
		t.Run(name, func(t *testing.T) {
			err := jsonx.Unmarshal([]byte(`{"seen":true,"a":1}`), target)
			var e *jsonx.DecodeError
			if !errors.As(err, &e) || e.Fault != jsonx.FaultTarget {
				t.Fatalf("%#v", err)
			}
			if e.Reason != "no value can be decoded here" {
				t.Errorf("reason %q", e.Reason)
			}
		})
	}
}

func TestUnmarshalIsQuickOnLongNumbers(t *testing.T) {
	long := strings.Repeat("9", 4<<20) // quadratic parsing would take minutes
	for _, in := range []string{`{"pbig":` + long + `}`, `{"any":` + long + `}`, `{"int64":` + long + `}`, `{"float":1e` + long + `}`} {
		var v everything
		if err := jsonx.Unmarshal([]byte(in), &v); err == nil {
			t.Errorf("%.20s… was accepted", in)
		}
	}
}
