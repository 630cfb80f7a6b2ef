package schema_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// The types of the law table: one for each way that a Go type comes to its
// JSON form, alone and within others.

type (
	named      string
	namedInt   int32
	namedUint  uint16
	namedFloat float32
	namedBool  bool
	namedByte  byte
	namedBytes []byte
	namedTime  time.Duration // no duration to JSON: an integer
	mapped     map[string]int
	listed     []int
	rawLike    json.RawMessage // without its methods: bytes
	numberLike json.Number     // a string
	hundred    [100]byte
)

// level is an integer that writes and reads itself as text.
type level int

func (l level) MarshalText() ([]byte, error) {
	if l < 0 || l > 2 {
		return nil, errors.New("no such level")
	}
	return []byte([]string{"low", "mid", "high"}[l]), nil
}

func (l *level) UnmarshalText(text []byte) error {
	for i, name := range []string{"low", "mid", "high"} {
		if name == string(text) {
			*l = level(i)
			return nil
		}
	}
	return errors.New("no such level")
}

// grade is a level that lists its values.
type grade level

func (g grade) MarshalText() ([]byte, error)     { return level(g).MarshalText() }
func (g *grade) UnmarshalText(text []byte) error { return (*level)(g).UnmarshalText(text) }
func (grade) Values() []grade                    { return []grade{0, 1, 2} }

// color is a string that lists its values, as strings.
type color string

func (color) Values() []string { return []string{"red", "green", "dark blue"} }

// parts is a string with a method of the same name that lists no values.
type parts string

func (p parts) Values() []string { return strings.Split(string(p), ",") }

// port is an integer that lists its values.
type port uint16

func (port) Values() []port { return []port{80, 443} }

// writesText can only be written as text, readsText only be read so.
type writesText int

func (w writesText) MarshalText() ([]byte, error) {
	return strconv.AppendInt([]byte("n"), int64(w), 10), nil
}

type readsText int

func (r *readsText) UnmarshalText(text []byte) (err error) {
	n, err := strconv.Atoi(strings.TrimPrefix(string(text), "n"))
	*r = readsText(n)
	return err
}

// panicsOnText is a type whose method no text agrees with.
type panicsOnText struct{}

func (*panicsOnText) UnmarshalText([]byte) error { panic("no text") }

// money writes its own JSON, price says in which form.
type money struct{ cents int64 }

func (m money) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatInt(m.cents, 10) + `"`), nil
}

func (m *money) UnmarshalJSON(data []byte) (err error) {
	m.cents, err = strconv.ParseInt(strings.Trim(string(data), `"`), 10, 64)
	return err
}

type price struct{ money }

func (price) JSONSchema() string {
	return `{"type":"string","pattern":"^-?[0-9]+$","description":"cents"}`
}

// either is a number or a list of them, by a schema that needs more than our
// own checker.
type either struct{ list []float64 }

func (either) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"anyOf":[{"type":"number"},{"type":"array","items":{"type":"number"}}]}`)
}

func (e either) MarshalJSON() ([]byte, error) {
	if len(e.list) == 1 {
		return json.Marshal(e.list[0])
	}
	return json.Marshal(append([]float64{}, e.list...))
}

func (e *either) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, &e.list)
	}
	e.list = make([]float64, 1)
	return json.Unmarshal(data, &e.list[0])
}

type (
	stamp struct {
		time.Time
		Zone string `json:"zone"`
	}
	myDate  struct{ time.Time }
	myBig   struct{ *big.Int }
	address struct {
		City string `json:"city"`
		Zip  string `json:"zip,omitempty"`
	}
	// Base is exported, so that a pointer to it can be embedded.
	Base struct {
		By string `json:"by"`
	}
	hidden struct {
		Shown int `json:"shown"`
	}
	nestsTagged struct {
		address `json:"-"`
		Home    address `json:"home"`
	}
	Address struct {
		City string `json:"city"`
	}
	person struct {
		Address `json:"home"`
		Name    string `json:"name"`
	}
	event struct {
		*Base
		Kind string `json:"kind"`
	}
	promotes struct {
		Base
		hidden
		Own int `json:"own"`
	}
	shadows struct {
		By int `json:"by"` // before the embedded one of another type
		Base
	}
	Left  struct{ Same, OnlyLeft int }
	Right struct{ Same, OnlyRight string }
	clash struct {
		Left
		Right
	}
	folder struct {
		Label string    `json:"label"`
		Subs  []*folder `json:"subs,omitempty"`
	}
	tree map[string]tree
	nest []nest
	ping struct {
		Pong *pong `json:"pong,omitempty"`
	}
	pong struct {
		Ping *ping `json:"ping,omitempty"`
		N    int   `json:"n"`
	}
	page[T any] struct {
		Items []T    `json:"items"`
		Next  string `json:"next,omitempty"`
	}
	chain[T any] struct {
		Value T         `json:"value"`
		Next  *chain[T] `json:"next,omitempty"`
	}
	quotes struct {
		I int64    `json:"i,string"`
		U uint8    `json:"u,string,omitempty"`
		F float64  `json:"f,string"`
		B bool     `json:"b,string"`
		S string   `json:"s,string"`
		P *int     `json:"p,string,omitempty"`
		N struct{} `json:"n"`
	}
	keywords struct {
		Properties string `json:"properties"`
		Ref        string `json:"$ref"`
		Required   []int  `json:"required"`
		Type       any    `json:"type"`
		Defs       string `json:"$defs"`
		Items      bool   `json:"items"`
	}
	odd struct {
		Space  int `json:"a b"`
		Slash  int `json:"a/b"`
		Tilde  int `json:"a~b"`
		Uni    int `json:"größe"`
		Dollar int `json:"$x"`
		Dash   int `json:"x-y"`
		Dot    int `json:"x.y"`
	}
	optional struct {
		A int       `json:"a"`
		B int       `json:"b,omitempty"`
		C int       `json:"c,omitzero"`
		D *int      `json:"d"`
		E *int      `json:"e,omitempty"`
		F any       `json:"f,omitempty"`
		G time.Time `json:"g,omitzero"`
		H []int     `json:"h,omitempty"`
		I **int     `json:"i,omitempty"`
	}
	wide struct {
		A01, A02, A03, A04, A05, A06, A07, A08, A09, A10, A11, A12, A13, A14, A15, A16, A17 int
	}
	wider struct {
		A00, A01, A02, A03, A04, A05, A06, A07, A08, A09, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19, A20, A21 int8
		B00, B01, B02, B03, B04, B05, B06, B07, B08, B09, B10, B11, B12, B13, B14, B15, B16, B17, B18, B19, B20, B21 string
		C00, C01, C02, C03, C04, C05, C06, C07, C08, C09, C10, C11, C12, C13, C14, C15, C16, C17, C18, C19, C20, C21 bool
	}
)

// wrap makes any type an argument type.
type wrap[T any] struct {
	V T `json:"v"`
}

// law is one type of the table.
type law struct {
	name   string
	in     reflect.Type // the type as a field of arguments
	out    reflect.Type // the type itself, as a result
	values []reflect.Value
}

func lawOf[T any](values ...T) law {
	l := law{
		name: strings.ReplaceAll(reflect.TypeFor[T]().String(), "schema_test.", ""),
		in:   reflect.TypeFor[wrap[T]](),
		out:  reflect.TypeFor[T](),
	}
	for _, v := range values {
		l.values = append(l.values, reflect.ValueOf(&v).Elem())
	}
	return l
}

func ptr[T any](v T) *T { return &v }

var (
	someAddr = netip.MustParseAddr("192.0.2.7")
	someTime = time.Date(2026, 5, 1, 10, 0, 0, 123, time.UTC)
)

// laws are the types that the five laws are checked with. Types whose values
// cannot be made up list some.
var laws = []law{
	lawOf[bool](), lawOf[int](), lawOf[int8](), lawOf[int16](), lawOf[int32](), lawOf[int64](),
	lawOf[uint](), lawOf[uint8](), lawOf[uint16](), lawOf[uint32](), lawOf[uint64](), lawOf[uintptr](),
	lawOf[float32](), lawOf[float64](), lawOf[string](), lawOf[rune](),
	lawOf[named](), lawOf[namedInt](), lawOf[namedUint](), lawOf[namedFloat](), lawOf[namedBool](), lawOf[namedByte](),
	lawOf[namedBytes](), lawOf[namedTime](), lawOf[mapped](), lawOf[listed](), lawOf[rawLike](), lawOf[numberLike](), lawOf[hundred](),

	lawOf[*bool](), lawOf[*int](), lawOf[*uint64](), lawOf[*float64](), lawOf[*string](), lawOf[**int](), lawOf[*[]int](),
	lawOf[*map[string]int](), lawOf[*address](), lawOf[*time.Time](ptr(someTime)), lawOf[*any](),

	lawOf[[]bool](), lawOf[[]int](), lawOf[[]int8](), lawOf[[]uint64](), lawOf[[]float32](), lawOf[[]string](), lawOf[[]named](),
	lawOf[[]byte](), lawOf[[]namedByte](), lawOf[[][]byte](), lawOf[[][]int](), lawOf[[][][]string](), lawOf[[]any](), lawOf[[]address](),
	lawOf[[]*address]([]*address{{City: "a"}}), lawOf[[]*int]([]*int{ptr(1)}), lawOf[[]map[string]int](), lawOf[[]level]([]level{0, 2}),
	lawOf[[0]int](), lawOf[[1]string](), lawOf[[3]int](), lawOf[[4]byte](), lawOf[[2][]int](), lawOf[[2][2]bool](), lawOf[[2]address](), lawOf[[16]uint8](),

	lawOf[map[string]bool](), lawOf[map[string]int](), lawOf[map[string]uint8](), lawOf[map[string]string](), lawOf[map[string]any](),
	lawOf[map[string][]int](), lawOf[map[string]map[string]bool](), lawOf[map[string]address](), lawOf[map[named]int](), lawOf[map[string][]byte](),
	lawOf[map[int]string](), lawOf[map[int8]bool](), lawOf[map[uint16]int](), lawOf[map[uint64]int](), lawOf[map[int64][]string](), lawOf[map[namedInt]int](),
	lawOf[map[time.Duration]int](map[time.Duration]int{time.Minute: 1}), lawOf[map[netip.Addr]string](map[netip.Addr]string{someAddr: "x"}),
	lawOf[map[level]int](map[level]int{2: 1}), lawOf[map[json.Number]int](map[json.Number]int{"5": 1}), lawOf[map[string]*int](map[string]*int{"a": ptr(2)}),

	lawOf[any](), lawOf[json.RawMessage](json.RawMessage(`{"a":[1,null]}`), json.RawMessage(`7`)), lawOf[json.Number]("1", "-1.5e10"),
	lawOf[time.Time](someTime), lawOf[time.Duration](time.Hour, -time.Millisecond), lawOf[[]time.Time]([]time.Time{someTime}),
	lawOf[[]time.Duration]([]time.Duration{1, 0}), lawOf[map[string]time.Time](map[string]time.Time{"x": someTime}), lawOf[*time.Duration](ptr(time.Second)),
	lawOf[big.Int](*big.NewInt(-5)), lawOf[*big.Int](big.NewInt(7), new(big.Int).Lsh(big.NewInt(3), 200)), lawOf[[]*big.Int]([]*big.Int{big.NewInt(1)}),
	lawOf[big.Float](*big.NewFloat(1.5)), lawOf[*big.Rat](big.NewRat(3, 4)),
	lawOf[netip.Addr](someAddr), lawOf[netip.Prefix](netip.PrefixFrom(someAddr, 8)), lawOf[netip.AddrPort](netip.AddrPortFrom(someAddr, 80)),
	lawOf[net.IP](net.IPv4(192, 0, 2, 1), net.ParseIP("2001:db8::1")), lawOf[net.IPMask](), lawOf[[]net.IP]([]net.IP{net.IPv4(1, 2, 3, 4)}),

	lawOf[level](0, 2), lawOf[grade](0, 2), lawOf[color]("red", "dark blue"), lawOf[port](80), lawOf[[]color]([]color{"green"}), lawOf[map[string]grade](map[string]grade{"a": 1}),
	lawOf[*grade](ptr(grade(1))), lawOf[writesText](3), lawOf[readsText](3), lawOf[money](money{5}), lawOf[*money](&money{5}), lawOf[[]money]([]money{{5}}),
	lawOf[price](price{money{7}}), lawOf[[]price]([]price{{money{7}}}), lawOf[either](either{[]float64{1}}, either{[]float64{1, 2}}), lawOf[map[string]either](map[string]either{"a": {}}),
	lawOf[stamp](stamp{Time: someTime}), lawOf[myDate](myDate{someTime}), lawOf[[]myDate]([]myDate{{someTime}}),

	lawOf[struct{}](), lawOf[address](), lawOf[Base](), lawOf[nestsTagged](), lawOf[person](), lawOf[event](event{Kind: "x"}, event{Base: &Base{"y"}}),
	lawOf[promotes](), lawOf[shadows](), lawOf[clash](), lawOf[quotes](quotes{I: 1<<63 - 1, S: `a"b`}, quotes{P: ptr(3)}), lawOf[keywords](), lawOf[odd](), lawOf[optional](),
	lawOf[wide](), lawOf[wider](), lawOf[page[int]](), lawOf[page[address]](), lawOf[page[json.RawMessage]](), lawOf[page[page[string]]](),
	lawOf[struct {
		A struct {
			B []struct{ C map[string]struct{ D *bool } }
		}
	}](),

	lawOf[folder](folder{"a", []*folder{{"b", nil}}}), lawOf[*folder](&folder{Label: "x"}), lawOf[[]folder](), lawOf[map[string]folder](), lawOf[tree](tree{"a": {"b": nil}}),
	lawOf[nest](nest{{}, {{}}}), lawOf[ping](ping{&pong{N: 1, Ping: &ping{}}}), lawOf[pong](), lawOf[chain[int]](), lawOf[chain[address]](chain[address]{Next: &chain[address]{}}),
	lawOf[page[folder]](), lawOf[chain[chain[string]]](), lawOf[struct{ A, B folder }](), lawOf[chain[tree]](),
}

type (
	bigInt  = *big.Int
	jsonRaw = json.RawMessage
)
