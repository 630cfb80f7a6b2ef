package jsonx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/typedmcp/mcp/internal/jsonx"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ 1 , { "d" : null, "c" : true } ] } `: `{"a":[1,{"c":true,"d":null}],"b":1}`,
		`{"b":{"z":1,"y":{"x":2,"w":3}},"a":{}}`:                   `{"a":{},"b":{"y":{"w":3,"x":2},"z":1}}`,
		`[9007199254740992,9007199254740993]`:                      `[9007199254740992,9007199254740993]`,
		`[1.0,1,1e0,-0,1E+2]`:                                      `[1.0,1,1e0,-0,1E+2]`,
		`"\u0061\/\u00e9\u001f\n"`:                                 "\"a/é\\u001f\\n\"",
		"\"\u2028\"":                                               "\"\u2028\"",
		`{"\u0062":1,"a":2}`:                                       `{"a":2,"b":1}`,
		`{"é":1,"z":2,"😀":3,"":4,"` + "\uFFFD" + `":5}`:            `{"":4,"z":2,"é":1,"😀":3,"` + "\uFFFD" + `":5}`,
		"null":  "null",
		"\t5\n": "5",
	} {
		got, err := jsonx.Canonical([]byte("kept"), []byte(in))
		if err != nil || string(got) != "kept"+want {
			t.Errorf("%s\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for in, want := range map[string]jsonx.DecodeError{
		``:                          {Fault: jsonx.FaultSyntax, Reason: "expected a JSON value, got nothing"},
		`{} {}`:                     {Fault: jsonx.FaultSyntax, Reason: "not valid JSON at byte 3"},
		`  {"a":[1,}`:               {Fault: jsonx.FaultSyntax, Pointer: "/a/1", Reason: "not valid JSON at byte 10"},
		`{"a":1,"\u0061":2}`:        {Fault: jsonx.FaultDuplicate, Pointer: "/a", Reason: `duplicate name "a"`},
		"[\"\xff\"]":                {Fault: jsonx.FaultUTF8, Pointer: "/0", Reason: "text that is not valid UTF-8, or half of a surrogate pair, at byte 2"},
		strings.Repeat("[", 20_000): {Fault: jsonx.FaultSyntax},
	} {
		got, err := jsonx.Canonical([]byte("kept"), []byte(in))
		if string(got) != "kept" {
			t.Errorf("%.40q leaves %.40q", in, got)
		}
		var e *jsonx.DecodeError
		if !errors.As(err, &e) || e.Fault != want.Fault || want.Reason != "" && (e.Pointer != want.Pointer || e.Reason != want.Reason) {
			t.Errorf("%.40q: %#v", in, e)
		}
	}
}

// numbersOf decodes with the numbers as they are spelled.
func numbersOf(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
	return v
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1.0,{"d":1e5,"c":"\u00e9"}],"a":-0}`, `[]`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, "\"\xff\"", `{"":{"":{}}}`, `9007199254740993`, `{"a`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := jsonx.Canonical(nil, data)
		if (err == nil) != jsonx.Valid(data) {
			t.Fatalf("%q: %v, Valid says %v", data, err, jsonx.Valid(data))
		}
		if err != nil {
			return
		}
		twice, err := jsonx.Canonical(nil, once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q is not stable: %q, %v", once, twice, err)
		}
		if !reflect.DeepEqual(numbersOf(t, data), numbersOf(t, once)) {
			t.Fatalf("%q became %q", data, once)
		}
	})
}

// What Unmarshal takes Append writes, and that is read back without change;
// what it refuses is explained.
func FuzzUnmarshal(f *testing.F) {
	for _, c := range refusals {
		if len(c.in) < 100 { // long seeds are slow to minimize
			f.Add([]byte(c.in))
		}
	}
	f.Add([]byte(`{"int8":1,"text":"x","wait":"1m","any":{"a":[1]},"map":{"1":"x"},"big":12,"raw":[1],"level":"level-1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v everything
		if err := jsonx.Unmarshal(data, &v); err != nil {
			var e *jsonx.DecodeError
			if !errors.As(err, &e) || e.Fault == 0 || e.Fault == jsonx.FaultTarget || e.Reason == "" {
				t.Fatalf("%q: %#v", data, err)
			}
			return
		}
		if !jsonx.Valid(data) {
			t.Fatalf("%q is not valid but was decoded", data)
		}
		first, err := jsonx.Append(nil, &v)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		var again everything
		if err := jsonx.UnmarshalStrict(first, &again); err != nil {
			t.Fatalf("%q: %v", first, err)
		}
		second, err := jsonx.Append(nil, &again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s\nbecame %s, %v", first, second, err)
		}
	})
}
