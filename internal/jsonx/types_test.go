package jsonx_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// The types that the tables share: one for each way a Go type can come to its
// JSON form.

type (
	named     string
	namedInt  int32
	namedBool bool
	namedByte byte
	mapped    map[string]int
	listed    []int
	ptrs      []*int
	hundred   [100]byte
	timeout   time.Duration // only the name of its own: an integer, as ever
)

// level is an integer that writes and reads itself as text.
type level int

func (l level) MarshalText() ([]byte, error) {
	if l < 0 {
		return nil, errors.New("negative level")
	}
	return []byte("level-" + strconv.Itoa(int(l))), nil
}

func (l *level) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "level-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return errors.New("want level- and a number")
	}
	*l = level(n)
	return nil
}

// tone is a string that writes and reads itself as text.
type tone string

func (t tone) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(t))), nil }

func (t *tone) UnmarshalText(text []byte) error {
	*t = tone(strings.ToLower(string(text)))
	return nil
}

// verbatim writes itself as the text it is.
type verbatim string

func (v verbatim) MarshalText() ([]byte, error) { return []byte(v), nil }

// money has JSON methods of its own, on the value.
type money struct{ cents int64 }

func (m money) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `"%d.%02d"`, m.cents/100, m.cents%100), nil
}

func (m *money) UnmarshalJSON(data []byte) error {
	var whole, cents int64
	if _, err := fmt.Sscanf(string(data), `"%d.%d"`, &whole, &cents); err != nil {
		return errors.New("want an amount such as 12.50")
	}
	m.cents = whole*100 + cents
	return nil
}

// onPointer has its methods on the pointer.
type onPointer struct{ N int }

func (p *onPointer) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(p.N), 10), nil }

func (p *onPointer) UnmarshalText(text []byte) (err error) {
	p.N, err = strconv.Atoi(string(text))
	return err
}

// never is omitted by omitzero whatever it holds.
type never struct{ N int }

func (never) IsZero() bool { return true }

type (
	Base struct {
		By string `json:"by"`
		At int    `json:"at"`
	}
	Mid struct {
		Base
		Level int `json:"level"`
	}
	unexported struct {
		Seen bool `json:"seen"`
	}
	Clash1 struct {
		Same string
		One  int
	}
	Clash2 struct {
		Same string
		Two  int
	}
	Stamp struct {
		time.Time
		Zone string `json:"zone"`
	}
	folder struct {
		Label string    `json:"label"`
		Subs  []*folder `json:"subs,omitempty"`
	}
	ping struct {
		N int   `json:"n"`
		P *pong `json:"p,omitempty"`
	}
	pong struct {
		Pings []ping `json:"pings,omitempty"`
	}
	page[T any] struct {
		Items []T `json:"items"`
		Next  *T  `json:"next,omitempty"`
	}
	address struct {
		City string `json:"city"`
	}
)

func ptr[T any](v T) *T { return &v }

func mustBig(digits string) *big.Int {
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		panic(digits)
	}
	return n
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.FixedZone("", 3600))

// samples are values whose bytes are those of encoding/json, each by pointer.
var samples = []struct {
	name  string
	value any
}{
	{"bool", ptr(true)},
	{"named bool", ptr(namedBool(true))},
	{"int8 least", ptr(int8(-128))},
	{"int64 most", ptr(int64(9223372036854775807))},
	{"C31 int64 beyond 2^53", ptr(int64(9007199254740993))},
	{"uint64 most", ptr(uint64(18446744073709551615))},
	{"uintptr", ptr(uintptr(7))},
	{"named int", ptr(namedInt(-5))},
	{"named duration", ptr(timeout(1500))},
	{"float64", ptr(3.25)},
	{"float64 large", ptr(1e21)},
	{"float64 in an interface", ptr([]any{1e21, 9007199254740992.0, -9007199254740991.0, 0.1, 1e20 / 3 * 1e-5, 0.0})},
	{"float64 below large", ptr(1e20)},
	{"float64 small", ptr(1e-7)},
	{"float64 above small", ptr(0.000001)},
	{"float64 negative zero", ptr(1 / negativeInf())},
	{"float64 shortest", ptr(0.1 + 0.2)},
	{"float32", ptr(float32(0.1))},
	{"float32 large", ptr(float32(3.4e38))},
	{"string", ptr("plain")},
	{"string empty", ptr("")},
	{"string escapes", ptr("\"\\/\b\f\n\r\t\x00\x1f\x7f")},
	{"string beyond ASCII", ptr("Grüße 世界 😀")},
	{"string line separators", ptr("a\u2028b\u2029c")},
	{"string U+FFFD", ptr("\uFFFD")},
	{"named string", ptr(named("x"))},
	{"C02 bytes", ptr([]byte("hello"))},
	{"bytes empty", ptr([]byte{})},
	{"named bytes", ptr([]namedByte{1, 2, 3})},
	{"byte array", ptr([3]byte{1, 2, 255})},
	{"named byte array", ptr([3]namedByte{1, 2, 255})},
	{"large byte array", ptr(hundred{5})},
	{"array", ptr([2]string{"a", "b"})},
	{"array empty", ptr([0]int{})},
	{"slice", ptr([]int{1, 2, 3})},
	{"slice empty", ptr([]int{})},
	{"slice of slices", ptr([][]string{{"a"}, {}})},
	{"slice of pointers", ptr(ptrs{nil, ptr(1)})},
	{"named slice", ptr(listed{1})},
	{"map", ptr(map[string]int{"b": 2, "a": 1, "": 0})},
	{"map empty", ptr(map[string]int{})},
	{"named map", ptr(mapped{"x": 1})},
	{"C16 map by integer", ptr(map[int]string{-3: "a", 10: "b", 9: "c"})},
	{"map by uint8", ptr(map[uint8]bool{200: true, 3: false})},
	{"map by named integer", ptr(map[namedInt]int{1: 2})},
	{"map by text", ptr(map[netip.Addr]int{netip.MustParseAddr("::1"): 1, netip.MustParseAddr("10.0.0.1"): 2})},
	{"map by integer with text", ptr(map[level]int{2: 1, 10: 2})},
	{"map by time", ptr(map[time.Time]int{noon.UTC(): 1})},
	{"map by number", ptr(map[json.Number]int{"1e3": 1, "2": 2})},
	{"map of maps", ptr(map[string]map[string]int{"x": {"y": 1}})},
	{"map of structs", ptr(map[string]Base{"k": {"b", 1}})},
	{"map order is of bytes", ptr(map[string]int{"ü": 1, "z": 2, "Z": 3, "10": 4, "9": 5})},
	{"pointer nil", ptr((*int)(nil))},
	{"pointer", ptr(ptr(5))},
	{"pointer to pointer", ptr(ptr(ptr("x")))},
	{"interface nil", ptr(any(nil))},
	{"interface values", ptr([]any{nil, true, "x", 1.5, []any{}, map[string]any{"b": 1.0, "a": "x"}})},
	{"interface integers", ptr([]any{1, int64(-2), uint8(3), namedInt(4)})},
	{"interface structs", ptr([]any{Base{"b", 1}, &Base{"c", 2}, (*Base)(nil)})},
	{"interface texts", ptr([]any{level(1), ptr(level(2)), noon, netip.MustParseAddr("::1")})},
	{"interface raw", ptr([]any{json.RawMessage(`{"a":1}`), json.Number("12")})},
	{"interface with methods", ptr(fmt.Stringer(net.IPv4(1, 2, 3, 4)))},
	{"empty struct", ptr(struct{}{})},
	{"struct without tags", ptr(struct {
		A int
		b int
		C string
	}{1, 2, "x"})},
	{"C25 names and dashes", ptr(struct {
		B int `json:"-"`
		C int `json:",omitempty"`
		D int
		E int `json:"odd name.$%&()*+-./:;<=>?@[]^_{|}~"`
		F int `json:"größe"`
		e int
	}{1, 0, 3, 4, 5, 6})},
	{"omitempty zero", ptr(struct {
		B  bool            `json:"b,omitempty"`
		I  int             `json:"i,omitempty"`
		U  uint8           `json:"u,omitempty"`
		F  float64         `json:"f,omitempty"`
		S  string          `json:"s,omitempty"`
		P  *int            `json:"p,omitempty"`
		A  any             `json:"a,omitempty"`
		L  []int           `json:"l,omitempty"`
		M  map[string]int  `json:"m,omitempty"`
		Z  [0]int          `json:"z,omitempty"`
		D  time.Duration   `json:"d,omitempty"`
		N  json.Number     `json:"n,omitempty"`
		R  []byte          `json:"r,omitempty"`
		RM json.RawMessage `json:"rm,omitempty"`
	}{})},
	{"omitempty keeps what encoding/json keeps", ptr(struct {
		T time.Time `json:"t,omitempty"`
		S struct{}  `json:"s,omitempty"`
		A [2]int    `json:"a,omitempty"`
		P *string   `json:"p,omitempty"`
		E any       `json:"e,omitempty"`
		L []string  `json:"l,omitempty"`
	}{P: ptr(""), E: []int{}, L: []string{""}})},
	{"omitzero", ptr(struct {
		I int       `json:"i,omitzero"`
		T time.Time `json:"t,omitzero"`
		S Base      `json:"s,omitzero"`
		N never     `json:"n,omitzero"`
		L []int     `json:"l,omitzero"`
		P *int      `json:"p,omitzero"`
		K Base      `json:"k,omitzero"`
	}{N: never{5}, L: []int{}, K: Base{By: "x"}})},
	{"C11 string option", ptr(struct {
		ID   int64       `json:"id,string"`
		U    uint64      `json:"u,string"`
		F    float64     `json:"f,string"`
		Live bool        `json:"live,string,omitempty"`
		S    string      `json:"s,string"`
		P    *int        `json:"p,string"`
		Q    *int        `json:"q,string"`
		N    json.Number `json:"n,string"`
		L    level       `json:"l,string"`
	}{9223372036854775807, 18446744073709551615, 1.5, true, "x\"y", ptr(3), nil, "12", 4})},
	{"C04 embedded with name", ptr(struct {
		address `json:"home"`
		Name    string `json:"name"`
	}{address{"Graz"}, "x"})},
	{"C05 embedded nil pointer", ptr(struct {
		*Base
		Kind string `json:"kind"`
	}{nil, "x"})},
	{"embedded pointer", ptr(struct {
		*Base
		Kind string `json:"kind"`
	}{&Base{"b", 1}, "x"})},
	{"row 30 embedded order", ptr(struct {
		First int
		Mid
		Last int
	}{1, Mid{Base{"b", 2}, 3}, 4})},
	{"embedded unexported", ptr(struct {
		unexported
		X int
	}{unexported{true}, 1})},
	{"row 34 embedded clash", ptr(struct {
		Clash1
		Clash2
	}{Clash1{"a", 1}, Clash2{"b", 2}})},
	{"row 35 embedded shadowed", ptr(struct {
		Base
		By int `json:"by"`
	}{Base{"b", 1}, 2})},
	{"row 36 embedded value with name", ptr(struct {
		Named named `json:"named"`
		Map   mapped
	}{"x", mapped{"a": 1}})},
	{"C07 embedded time", ptr(struct {
		At Stamp `json:"at"`
	}{Stamp{noon, "CET"}})},
	{"C08 time", ptr(struct {
		From time.Time  `json:"from"`
		To   *time.Time `json:"to,omitempty"`
	}{noon, ptr(noon.UTC())})},
	{"time zero", ptr(time.Time{})},
	{"C10 own JSON", ptr([]money{{1250}, {7}})},
	{"own JSON by pointer", ptr(&money{99})},
	{"own text", ptr([]level{1, 2})},
	{"own text on pointer", ptr(struct {
		V onPointer
		P *onPointer
		N *onPointer
		L []onPointer
	}{onPointer{1}, &onPointer{2}, nil, []onPointer{{3}}})},
	{"IP addresses", ptr(struct {
		Old  net.IP
		New  netip.Addr
		Net  netip.Prefix
		Port netip.AddrPort
	}{net.IPv4(1, 2, 3, 4), netip.MustParseAddr("::1"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParseAddrPort("1.2.3.4:80")})},
	{"C13 big integer", ptr(struct {
		P *big.Int
		V big.Int
		N *big.Int
	}{mustBig("123456789012345678901234567890"), *mustBig("-9007199254740993"), nil})},
	{"big float and fraction", ptr(struct {
		F *big.Float
		R *big.Rat
	}{big.NewFloat(1.5), big.NewRat(2, 3)})},
	{"number", ptr([]json.Number{"12", "-1.50", "1e400", ""})},
	{"raw", ptr(struct {
		R json.RawMessage
		P *json.RawMessage
		N json.RawMessage
		Q *json.RawMessage
	}{json.RawMessage(`{"b":1,"a":[1.0,1e2,9007199254740993],"s":"\u00e9\/\u0041"}`), ptr(json.RawMessage(`"x"`)), nil, nil})},
	{"raw with white space", ptr([]json.RawMessage{json.RawMessage(" { \"a\" : [ 1 ,\n2 ] } ")})},
	{"C01 recursive", ptr(folder{"a", []*folder{{"b", nil}, nil, {"c", []*folder{{"d", nil}}}}})},
	{"mutually recursive", ptr(ping{1, &pong{[]ping{{2, nil}}}})},
	{"generic", ptr(page[Base]{[]Base{{"b", 1}}, &Base{"c", 2}})},
	{"C28 optional and required", ptr(struct {
		A int  `json:"a"`
		B int  `json:"b,omitempty"`
		C int  `json:"c,omitzero"`
		D *int `json:"d"`
		E *int `json:"e,omitempty"`
	}{})},
	{"C53 zero blocks", ptr(struct {
		Text    string   `json:"text"`
		Data    []byte   `json:"data"`
		Content []string `json:"content"`
	}{"", []byte{}, []string{}})},
	{"row 45 names like keywords", ptr(struct {
		Properties map[string]int `json:"properties"`
		Ref        string         `json:"$ref"`
		Required   bool           `json:"required"`
	}{map[string]int{}, "#", true})},
	{"many fields", ptr(struct {
		A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z int
	}{Z: 1})},
}

func negativeInf() float64 {
	inf, err := strconv.ParseFloat("-Inf", 64)
	if err != nil {
		panic(err)
	}
	return inf
}
