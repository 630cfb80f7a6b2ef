package header_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/header"
)

func unquote(literal []byte) (s string, err error) {
	err = json.Unmarshal(literal, &s)
	return s, err
}

// binding returns one of the given kind: argument filter.region, header
// Mcp-Param-Region.
func binding(t testing.TB, kind header.Kind) *header.Binding {
	t.Helper()
	var s header.Bindings
	if err := s.Add("Region", kind, "filter", "region"); err != nil {
		t.Fatal(err)
	}
	return &s[0]
}

func TestValidName(t *testing.T) {
	for _, name := range []string{"Region", "region", "TenantId", "X-1", "a", "0", "Method", "!#$%&'*+-.^_`|~09azAZ"} {
		t.Run("XMH-02 valid "+name, func(t *testing.T) {
			checkProblem(t, header.ValidName(name), "")
		})
	}
	tests := []struct{ name, value, problem string }{
		{"XMH-02 empty", "", "empty"},
		{"XMH-02 space", "My Region", `' '`},
		{"XMH-02 colon", "Region:P", `':'`},
		{"XMH-02 outside ASCII", "Région", `'é'`},
		{"XMH-02 tab", "a\tb", `'\t'`},
		{"XMH-02 line break", "Region\r\nX-Evil: 1", `'\r'`},
		{"XMH-02 not UTF-8", "a\xff", `'\ufffd'`},
		{"XMH-02 replacement character", "a\uFFFD", `'\ufffd'`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := header.ValidName(tt.value)
			if err == nil {
				t.Fatalf("%q is valid", tt.value)
			}
			got := err.Error()
			if !strings.Contains(strings.ReplaceAll(got, "'\uFFFD'", `'\ufffd'`), tt.problem) {
				t.Errorf("error %q does not name %s", got, tt.problem)
			}
		})
	}
	t.Run("XMH-02 every other byte", func(t *testing.T) {
		token := regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]$")
		for c := range 0x80 {
			name := string(rune(c))
			if err := header.ValidName(name); (err == nil) != token.MatchString(name) {
				t.Errorf("%q: error %v", name, err)
			}
		}
	})
}

func TestAdd(t *testing.T) {
	type annotation struct {
		name string
		kind header.Kind
		path []string
	}
	region := annotation{"Region", header.String, []string{"region"}}
	tests := []struct {
		name    string
		first   []annotation
		add     annotation
		problem string
	}{
		{"string", nil, region, ""},
		{"integer", nil, annotation{"Count", header.Integer, []string{"count"}}, ""},
		{"boolean", nil, annotation{"Dry", header.Boolean, []string{"dry"}}, ""},
		{"AMB-05 nested", nil, annotation{"Region", header.String, []string{"a", "b", "region"}}, ""},
		{"a second one", []annotation{region}, annotation{"Tenant", header.String, []string{"tenant"}}, ""},
		{"name of a standard header", nil, annotation{"Method", header.String, []string{"m"}}, ""},
		{"XMH-02 invalid name", nil, annotation{"My Region", header.String, []string{"region"}}, `"My Region"`},
		{"XMH-03 same name", []annotation{region}, annotation{"Region", header.String, []string{"b"}}, `repeats "Region" on "region"`},
		{"C80 XMH-03 other case at another depth", []annotation{region},
			annotation{"REGION", header.String, []string{"a", "b"}}, `"REGION" on "a.b" repeats "Region" on "region"`},
		{"C80 XMH-04 AMB-04 number", nil, annotation{"Ratio", "number", []string{"ratio"}}, `on "ratio" of type number`},
		{"XMH-04 object", nil, annotation{"O", "object", []string{"o"}}, "type object"},
		{"XMH-04 array", nil, annotation{"A", "array", []string{"a"}}, "type array"},
		{"XMH-04 null", nil, annotation{"N", "null", []string{"n"}}, "type null"},
		{"XMH-04 AMB-22 no single type", nil, annotation{"U", "", []string{"u"}}, "no single type"},
		{"XMH-05 on the root", nil, annotation{"Region", header.String, nil}, "root"},
		{"path is shown as in violations", nil, annotation{"N", "null", []string{"a", "b"}}, `on "a.b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s header.Bindings
			for _, a := range tt.first {
				checkProblem(t, s.Add(a.name, a.kind, a.path...), "")
			}
			checkProblem(t, s.Add(tt.add.name, tt.add.kind, tt.add.path...), tt.problem)
			want := len(tt.first)
			if tt.problem == "" {
				want++
			}
			if len(s) != want {
				t.Errorf("%d bindings, want %d", len(s), want)
			}
		})
	}
}

func TestAddCompiles(t *testing.T) {
	var s header.Bindings
	path := []string{"filter", "tenant"}
	checkProblem(t, s.Add("TenantId", header.String, path...), "")
	path[0] = "changed by the caller"
	want := header.Bindings{{
		Key:  "Mcp-Param-Tenantid",
		Name: "Mcp-Param-TenantId",
		Path: []string{"filter", "tenant"},
		Kind: header.String,
	}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	h := parse(t, "MCP-PARAM-TENANTID: acme")
	if err := s[0].Check(h, []byte(`"acme"`), unquote); err != nil {
		t.Errorf("the header is not found by its key: %v", err)
	}
}

func TestCheck(t *testing.T) {
	const (
		none    = "-" // no header
		missing = "Mcp-Param-Region header is missing"
		differs = "Mcp-Param-Region header differs"
		surplus = `argument "filter.region" is absent or null`
		unsafe  = `argument "filter.region", repeated by the Mcp-Param-Region header, lies beyond`
		nested  = `argument "filter.region" is an array or object`
	)
	tests := []struct {
		name, value string
		kind        header.Kind
		raw         string // "" for absent
		problem     string
	}{
		{"C80 XMH-16 equal", "us-west1", header.String, `"us-west1"`, ""},
		{"C80 XMH-16 different", "us-west1", header.String, `"us-east1"`, differs},
		{"C80 XMH-16 missing", none, header.String, `"us-west1"`, missing},
		{"XMH-16 other case", "US-WEST1", header.String, `"us-west1"`, differs},
		{"C80 AMB-20 surplus, value absent", "us-west1", header.String, "", surplus},
		{"AMB-20 surplus, value null", "us-west1", header.String, "null", surplus},
		{"AMB-20 surplus and empty", "", header.String, "null", surplus},
		{"C80 XMH-17 null needs none", none, header.String, "null", ""},
		{"XMH-17 absent needs none", none, header.String, "", ""},
		{"XMH-14 empty", "", header.String, `""`, ""},
		{"XMH-14 empty is not missing", none, header.String, `""`, missing},
		{"null as text", "null", header.String, `"null"`, ""},
		{"HDR-08 spaces around the value", "  us-west1\t", header.String, `"us-west1"`, ""},
		{"HDR-11 XMH-16 encoded", "=?base64?SGVsbG8=?=", header.String, `"Hello"`, ""},
		{"HDR-11 encoded integer", "=?base64?NDI=?=", header.Integer, "42", ""},
		{"HDR-13 XMH-16 undecodable", "=?base64?SGVsbG8?=", header.String, `"Hello"`, "Base64"},
		{"HDR-14 illegal byte", "a\x80", header.String, `"a"`, "printable ASCII"},
		{"escapes in the body", "Größe", header.String, `"Gr\u00f6\u00DFe"`, "printable ASCII"},
		{"escapes in the body, encoded header", "=?base64?R3LDtsOfZQ==?=", header.String, `"Gr\u00f6\u00DFe"`, ""},
		{"escaped quotes in the body", `say "hi"\`, header.String, `"say \"hi\"\\"`, ""},
		{"the literal is not the text", `a\u0062`, header.String, `"a\u0062"`, differs},

		{"XMH-18 integer", "42", header.Integer, "42", ""},
		{"C80 XMH-18 header 42.0", "42.0", header.Integer, "42", ""},
		{"XMH-18 body 42.0", "42", header.Integer, "42.0", ""},
		{"XMH-18 header 1e3", "1e3", header.Integer, "1000", ""},
		{"XMH-18 body 1E+3", "1000", header.Integer, "1E+3", ""},
		{"XMH-18 shifted fraction", "12.5e1", header.Integer, "125", ""},
		{"XMH-18 negative exponent", "42000e-3", header.Integer, "42", ""},
		{"XMH-18 negative", "-7.00", header.Integer, "-7", ""},
		{"XMH-18 negative zero", "-0", header.Integer, "0", ""},
		{"XMH-18 zero with a huge exponent", "0e99999999999999999999", header.Integer, "0", ""},
		{"XMH-18 different", "43", header.Integer, "42", differs},
		{"XMH-18 different sign", "-42", header.Integer, "42", differs},
		{"XMH-18 fraction in the header", "42.5", header.Integer, "42", differs},
		{"XMH-18 empty header", "", header.Integer, "0", differs},
		{"XMH-18 plus sign", "+42", header.Integer, "42", differs},
		{"XMH-18 leading zero", "042", header.Integer, "42", differs},
		{"XMH-18 hexadecimal", "0x2A", header.Integer, "42", differs},
		{"XMH-18 separator", "4_2", header.Integer, "42", differs},
		{"XMH-18 nothing after the point", "42.", header.Integer, "42", differs},
		{"XMH-18 nothing after the exponent", "42e", header.Integer, "42", differs},
		{"XMH-18 nothing before the point", ".42e2", header.Integer, "42", differs},
		{"XMH-18 text behind", "42 apples", header.Integer, "42", differs},
		{"XMH-12 largest", "9007199254740991", header.Integer, "9007199254740991", ""},
		{"XMH-12 smallest", "-9007199254740991", header.Integer, "-9007199254740991", ""},
		{"XMH-12 AMB-21 2^53", "9007199254740992", header.Integer, "9007199254740992", unsafe},
		{"XMH-12 AMB-21 -2^53", "-9007199254740992", header.Integer, "-9007199254740992", unsafe},
		{"XMH-12 AMB-21 as exponent", "1e16", header.Integer, "1e16", unsafe},
		{"XMH-12 AMB-21 huge exponent", "1e99999999999999999999", header.Integer, "1e99999999999999999999", unsafe},
		{"XMH-12 AMB-21 header alone", "9007199254740993", header.Integer, "9007199254740992", unsafe},
		{"XMH-12 header beyond, body within", "9007199254740993", header.Integer, "9007199254740991", differs},

		{"true", "true", header.Boolean, "true", ""},
		{"false", "false", header.Boolean, "false", ""},
		{"boolean different", "true", header.Boolean, "false", differs},
		{"boolean in upper case", "True", header.Boolean, "true", differs},
		{"boolean as number", "1", header.Boolean, "true", differs},

		{"wrong type left to the schema: string for integer", "many", header.Integer, `"many"`, ""},
		{"wrong type left to the schema: fraction for integer", "4.5", header.Integer, "4.5", ""},
		{"wrong type left to the schema: number for string", "42", header.String, "42", ""},
		{"wrong type left to the schema: any number for string", "1e99", header.String, "1e99", ""},
		{"wrong type still needs its header", none, header.String, "42", missing},
		{"wrong type still compares", "42.0", header.String, "42", differs},
		{"string is no integer", "42.0", header.Integer, `"42"`, differs},
		{"object", "x", header.String, `{"a":1}`, nested},
		{"array", "x", header.String, `["x"]`, nested},
		{"array needs its header", none, header.String, `["x"]`, missing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Mcp-Param-Other": {"ignored"}}
			if tt.value != none {
				h["Mcp-Param-Region"] = []string{tt.value}
			}
			err := binding(t, tt.kind).Check(h, []byte(tt.raw), unquote)
			checkProblem(t, err, tt.problem)
		})
	}
	t.Run("repeated", func(t *testing.T) {
		h := http.Header{"Mcp-Param-Region": {"a", "a"}}
		checkProblem(t, binding(t, header.String).Check(h, []byte(`"a"`), unquote), "repeated")
	})
	t.Run("bad literal", func(t *testing.T) {
		h := http.Header{"Mcp-Param-Region": {"a"}}
		fail := func([]byte) (string, error) { return "", errors.New("decoder detail") }
		err := binding(t, header.String).Check(h, []byte(`"\q"`), fail)
		checkProblem(t, err, `argument "filter.region" is not a valid JSON string`)
		if err != nil && strings.Contains(err.Error(), "decoder detail") {
			t.Errorf("error %q shows what the decoder said", err)
		}
	})
}

func TestValue(t *testing.T) {
	tests := []struct {
		name string
		kind header.Kind
		raw  string
		want string
	}{
		{"XMH-11 string", header.String, `"us-west1"`, "us-west1"},
		{"XMH-11 integer", header.Integer, "42", "42"},
		{"XMH-11 negative integer", header.Integer, "-7", "-7"},
		{"XMH-11 1e3", header.Integer, "1e3", "1000"},
		{"XMH-11 42.0", header.Integer, "42.0", "42"},
		{"XMH-11 negative zero", header.Integer, "-0", "0"},
		{"XMH-11 true", header.Boolean, "true", "true"},
		{"XMH-11 false", header.Boolean, "false", "false"},
		{"XMH-12 largest", header.Integer, "9007199254740991", "9007199254740991"},
		{"XMH-13 outside ASCII", header.String, `"Hello, 世界"`, "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{"XMH-13 escapes", header.String, `"line1\nline2"`, "=?base64?bGluZTEKbGluZTI=?="},
		{"XMH-13 looks encoded", header.String, `"=?base64?literal?="`, "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"XMH-14 empty string", header.String, `""`, ""},
		{"wrong type is mirrored for the server to explain", header.Integer, `"many"`, "many"},
		{"number for a string is not an integer", header.String, "42.0", "42.0"},
		{"fraction is mirrored for the server to explain", header.Integer, "4.5", "4.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := binding(t, tt.kind)
			got, send, err := b.Value([]byte(tt.raw), unquote)
			if err != nil || !send || got != tt.want {
				t.Fatalf("Value(%s) = %q, %t, %v, want %q", tt.raw, got, send, err, tt.want)
			}
			if err := b.Check(http.Header{b.Key: {got}}, []byte(tt.raw), unquote); err != nil {
				t.Errorf("a server refuses it: %v", err)
			}
		})
	}
	for name, raw := range map[string]string{"XMH-10 null": "null", "XMH-10 absent": ""} {
		t.Run(name, func(t *testing.T) {
			if got, send, err := binding(t, header.String).Value([]byte(raw), unquote); got != "" || send || err != nil {
				t.Errorf("got %q, %t, %v, want no header", got, send, err)
			}
		})
	}
	refused := []struct {
		name string
		kind header.Kind
		raw  string
	}{
		{"XMH-12 AMB-21 2^53", header.Integer, "9007199254740992"},
		{"XMH-12 AMB-21 -2^53", header.Integer, "-9007199254740992"},
		{"XMH-12 AMB-21 2^64", header.Integer, "18446744073709551616"},
		{"XMH-12 AMB-21 1e400", header.Integer, "1e400"},
		{"object", header.String, `{"a":1}`},
		{"array", header.Integer, "[1]"},
	}
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			got, send, err := binding(t, tt.kind).Value([]byte(tt.raw), unquote)
			if got != "" || send {
				t.Errorf("got %q, %t with the error", got, send)
			}
			checkProblem(t, err, `the argument "filter.region"`)
		})
	}
}

func TestCheckAllocatesNothing(t *testing.T) {
	text, number := binding(t, header.String), binding(t, header.Integer)
	raw, digits := []byte(`"a value that is longer than any buffer on the stack"`), []byte("42")
	h := http.Header{text.Key: {string(raw[1 : len(raw)-1])}}
	n := http.Header{number.Key: {"42.0"}}
	allocs := testing.AllocsPerRun(100, func() {
		if text.Check(h, raw, unquote) != nil || number.Check(n, digits, unquote) != nil {
			t.Fatal("no match")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want 0", allocs)
	}
}

// FuzzInteger compares the reading of numbers with exact arithmetic.
func FuzzInteger(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "42", "42.0", "1e3", "-12.5E+1", "9007199254740991", "9007199254740992", "1e-3", "0.0001e4",
		"100e-2", "01", "1.", ".5", "1e", "0e9999", "123456789012345678e-3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c := strings.TrimLeft(s, "-"); c == "" || c[0] < '0' || c[0] > '9' || !json.Valid([]byte(s)) || s != strings.TrimSpace(s) {
			return
		}
		if _, exponent, ok := strings.Cut(strings.ToLower(s), "e"); ok {
			if n, err := strconv.Atoi(exponent); err != nil || n < -2000 || n > 2000 {
				return // too much for exact arithmetic
			}
		}
		exact, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is a JSON number but no rational", s)
		}
		want, refused := s, false
		if exact.IsInt() {
			want = exact.Num().String()
			refused = exact.Num().CmpAbs(big.NewInt(1<<53-1)) > 0
		}
		got, send, err := binding(t, header.Integer).Value([]byte(s), unquote)
		if refused != (err != nil) || (err == nil && (!send || got != want)) {
			t.Fatalf("Value(%s) = %q, %t, %v, want %q, refused %t", s, got, send, err, want, refused)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for _, bb := range []struct {
		name, value string
		kind        header.Kind
		raw         string
	}{
		{"string", "us-west1", header.String, `"us-west1"`},
		{"encoded", "=?base64?R3LDtsOfZQ==?=", header.String, `"Größe"`},
		{"integer", "42", header.Integer, "42"},
		{"boolean", "true", header.Boolean, "true"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			binding := binding(b, bb.kind)
			h, raw := http.Header{binding.Key: {bb.value}}, []byte(bb.raw)
			b.ReportAllocs()
			for b.Loop() {
				if err := binding.Check(h, raw, unquote); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
