package jsonx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// standard is what encoding/json writes without escaping HTML.
func standard(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatalf("encoding/json: %v", err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func appended(t *testing.T, v any) string {
	t.Helper()
	out, err := jsonx.Append(nil, v)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	return string(out)
}

func TestAppendWritesTheBytesOfEncodingJSON(t *testing.T) {
	if len(samples) < 80 {
		t.Fatalf("only %d samples", len(samples))
	}
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			if got, want := appended(t, s.value), standard(t, s.value); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			marshalled, err := jsonx.Marshal(s.value)
			if got := appended(t, s.value); err != nil || string(marshalled) != got {
				t.Errorf("Marshal gives %s (%v), Append %s", marshalled, err, got)
			}
		})
	}
}

// canonical removes the order of members: an any that held a struct comes back
// as a map.
func canonical(t *testing.T, text string) string {
	t.Helper()
	out, err := jsonx.Canonical(nil, []byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return string(out)
}

func TestWhatAppendWritesUnmarshalReads(t *testing.T) {
	for _, s := range samples {
		typ := reflect.TypeOf(s.value).Elem()
		if problems := jsonx.CheckType(typ); len(problems) > 0 {
			continue // interfaces with methods, for example, cannot be read
		}
		t.Run(s.name, func(t *testing.T) {
			first := appended(t, s.value)
			back := reflect.New(typ).Interface()
			if err := jsonx.UnmarshalStrict([]byte(first), back); err != nil {
				t.Fatalf("%v in %s", err, first)
			}
			if again := appended(t, back); canonical(t, again) != canonical(t, first) {
				t.Errorf("got  %s\nwant %s", again, first)
			}
		})
	}
}

type outcome struct {
	Items []string       `json:"items"`
	ByID  map[string]int `json:"byId"`
}

// differences are all the ways in which Append differs from encoding/json.
var differences = []struct {
	name  string
	value any
	want  string
	older bool // encoding/json writes the same from Go 1.27 on
}{
	{"C49 nil slice and map", &outcome{}, `{"items":[],"byId":{}}`, false},
	{"nil bytes", ptr([]byte(nil)), `""`, false},
	{"nil inside interfaces", ptr([]any{[]any(nil), map[string]any(nil), []int(nil), map[int]int(nil)}), `[[],{},[],{}]`, false},
	{"bad UTF-8", ptr("a\xff\xfeb"), "\"a\uFFFD\uFFFDb\"", true},
	{"bad UTF-8 in a name", ptr(map[string]int{"\xff": 1}), "{\"\uFFFD\":1}", true},
	{"bad UTF-8 in text", ptr(verbatim("\xff")), "\"\uFFFD\"", true},
	{"bad UTF-8 in raw", ptr(json.RawMessage("{\"\xff\" : \"\\u00e9\"}")), "{\"\uFFFD\":\"é\"}", false},
	{"line separators in raw", ptr(json.RawMessage("\"\u2028\u2029\"")), `"\u2028\u2029"`, true},
	{"half a surrogate pair in raw", ptr(json.RawMessage(`["\ud800"]`)), "[\"\uFFFD\"]", false},
	{"duration", ptr(90 * time.Second), `"1m30s"`, false},
	{"duration zero", ptr(time.Duration(0)), `"0s"`, false},
	{"duration by pointer and in collections", ptr(struct {
		P *time.Duration
		L []time.Duration
		M map[string]time.Duration
		A any
	}{ptr(time.Hour), []time.Duration{1}, map[string]time.Duration{"x": -1}, time.Minute}),
		`{"P":"1h0m0s","L":["1ns"],"M":{"x":"-1ns"},"A":"1m0s"}`, false},
	{"duration as a map key", ptr(map[time.Duration]int{time.Second: 1}), `{"1s":1}`, false},
	{"duration with the string option", ptr(struct {
		D time.Duration `json:"d,string"`
	}{time.Second}), `{"d":"1s"}`, false},
	{"by-value big.Int in a map", ptr(map[string]big.Int{"x": *big.NewInt(5)}), `{"x":5}`, false},
	{"by-value big.Int in an interface", ptr(any(struct{ V big.Int }{*big.NewInt(5)})), `{"V":5}`, false},
	{"methods of the pointer in a map", ptr(map[string]onPointer{"x": {5}}), `{"x":"5"}`, false},
	{"methods of the pointer in an interface", ptr(any(onPointer{5})), `"5"`, false},
	{"C31 large float64 in an interface", ptr([]any{float64(1 << 60), -70000000000000176.0, map[string]float64{"x": 1 << 60}}),
		`[1152921504606846976,-70000000000000176,{"x":1152921504606846976}]`, false},
	{"C31 large float64 beside one in quotes", &struct {
		F float64 `json:"f,string"`
		A any     `json:"a"`
	}{1 << 60, float64(1 << 60)}, `{"f":"1152921504606847000","a":1152921504606846976}`, false},
	{"text of a string as a map key", ptr(map[tone]int{"low": 1}), `{"LOW":1}`, false},
}

func TestAppendDiffersFromEncodingJSONWhereDocumented(t *testing.T) {
	for _, c := range differences {
		t.Run(c.name, func(t *testing.T) {
			if got := appended(t, c.value); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if theirs := standard(t, c.value); theirs == c.want && !c.older {
				t.Errorf("encoding/json writes the same: this is no difference")
			}
		})
	}
}

func TestAppendLargeFloatAsName(t *testing.T) {
	if got := appended(t, ptr(map[float64]any{1 << 60: 1})); got != `{"1152921504606847000":1}` {
		t.Errorf("got %s", got)
	}
}

func TestAppendEscapesNoHTML(t *testing.T) {
	if got := appended(t, ptr("<a href='x'>&</a>")); got != `"<a href='x'>&</a>"` {
		t.Errorf("got %s", got)
	}
	escaped, err := json.Marshal("<a href='x'>&</a>")
	if err != nil || !strings.Contains(string(escaped), `\u003c`) {
		t.Errorf("encoding/json: %s, %v", escaped, err)
	}
}

// A value and a pointer to it have one form.
func TestAppendTakesValuesAndPointers(t *testing.T) {
	for _, s := range samples {
		v := reflect.ValueOf(s.value).Elem()
		if !v.CanInterface() || v.Kind() == reflect.Interface {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			if got, want := appended(t, v.Interface()), appended(t, s.value); got != want {
				t.Errorf("by value %s, by pointer %s", got, want)
			}
		})
	}
	if got := appended(t, nil); got != "null" {
		t.Errorf("nil gives %s", got)
	}
}

type failing struct{ err error }

func (f failing) MarshalJSON() ([]byte, error) { return nil, f.err }

type invalid string

func (v invalid) MarshalJSON() ([]byte, error) { return []byte(v), nil }

var errOwn = errors.New("out of order")

func cyclic() map[string]any {
	m := map[string]any{}
	m["self"] = m
	return m
}

var unwritable = []struct {
	name    string
	value   any
	pointer string
	reason  string // a part of it
}{
	{"row 22 NaN", ptr(struct {
		Scores []float64 `json:"scores"`
	}{[]float64{1, math.NaN()}}), "/scores/1", "NaN and infinities"},
	{"infinity in an interface", ptr(map[string]any{"x": math.Inf(1)}), "/x", "NaN and infinities"},
	{"float32 infinity", ptr(float32(math.Inf(-1))), "", "NaN and infinities"},
	{"channel", ptr(struct{ C any }{make(chan int)}), "/C", "chan int has no JSON form"},
	{"own method", ptr([]failing{{errOwn}}), "/0", "out of order"},
	{"own text", ptr([]level{-1}), "/0", "negative level"},
	{"own method with bad JSON", ptr([]invalid{"{]"}), "/0", "invalid"},
	{"bad number", ptr([]json.Number{"1x"}), "/0", "not a JSON number"},
	{"number with space", ptr(json.Number(" 1")), "", "not a JSON number"},
	{"number that is another value", ptr(json.Number("true")), "", "not a JSON number"},
	{"empty raw", ptr(json.RawMessage{}), "", "unexpected EOF"},
	{"bad raw", ptr(json.RawMessage(`{`)), "", "unexpected EOF"},
	{"duplicate in raw", ptr(struct{ R json.RawMessage }{json.RawMessage(`{"a":1,"a":2}`)}), "/R/a", `duplicate name "a"`},
	{"duplicate by bad UTF-8", ptr(map[string]int{"\xff": 1, "\xfe": 2}), "/\uFFFD", "duplicate name"},
	{"cycle", ptr(cyclic()), "", "cycle"},
}

func TestAppendErrors(t *testing.T) {
	for _, c := range unwritable {
		t.Run(c.name, func(t *testing.T) {
			dst := append(make([]byte, 0, 64), "kept"...)
			out, err := jsonx.Append(dst, c.value)
			if string(out) != "kept" {
				t.Errorf("dst comes back as %q", out)
			}
			var e *jsonx.EncodeError
			if !errors.As(err, &e) {
				t.Fatalf("error is %T: %v", err, err)
			}
			if c.name != "cycle" && e.Pointer != c.pointer {
				t.Errorf("pointer %q, want %q", e.Pointer, c.pointer)
			}
			if e.Error() != strings.TrimPrefix(e.Pointer+": "+e.Reason, ": ") {
				t.Errorf("text %q", e.Error())
			}
			if !strings.Contains(e.Reason, c.reason) {
				t.Errorf("reason %q, want %q in it", e.Reason, c.reason)
			}
			if _, err := jsonx.Marshal(c.value); err == nil {
				t.Error("Marshal succeeds")
			}
		})
	}
	if _, err := jsonx.Append(nil, failing{errOwn}); !errors.Is(err, errOwn) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	dst := []byte(`[1,`)
	dst, err := jsonx.Append(dst, ptr(strings.Repeat("x", 10_000)))
	if err != nil || string(dst) != `[1,"`+strings.Repeat("x", 10_000)+`"` {
		t.Errorf("%.20s… (%d bytes), %v", dst, len(dst), err)
	}
	spare := append(make([]byte, 0, 64), '[')
	out, err := jsonx.Append(spare, ptr(5))
	if err != nil || string(out) != "[5" || &out[0] != &spare[0] {
		t.Errorf("%s, %v: or the spare capacity was not used", out, err)
	}
}

func TestAppendAllocates(t *testing.T) {
	type row struct {
		ID   int       `json:"id"`
		Name string    `json:"name"`
		At   time.Time `json:"at"`
		Tags []string  `json:"tags"`
	}
	v := &row{1, "name", noon, []string{"a", "b"}}
	dst := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := jsonx.Append(dst, v); err != nil {
			t.Error(err)
		}
	}); n > 1 {
		t.Errorf("Append allocates %v times", n)
	}
}

// The first uses of a type may meet: what is decided about it is shared.
func TestConcurrentUse(t *testing.T) {
	type fresh struct {
		Wait time.Duration
		Any  any
		Base
	}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			var v fresh
			if err := jsonx.Unmarshal([]byte(`{"Wait":"1s","Any":[1],"by":"x"}`), &v); err != nil {
				t.Error(err)
			}
			out, err := jsonx.Append(nil, &v)
			if want := `{"Wait":"1s","Any":[1],"by":"x","at":0}`; err != nil || string(out) != want {
				t.Errorf("got %s, %v", out, err)
			}
			if problems := jsonx.CheckType(reflect.TypeOf(v)); problems != nil {
				t.Error(problems)
			}
		})
	}
	group.Wait()
}
