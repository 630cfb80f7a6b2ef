package schema

import (
	"encoding/json"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"time"
)

var (
	anyInterface = reflect.TypeFor[any]()
	bigIntGo     = reflect.TypeFor[big.Int]()
	durationGo   = reflect.TypeFor[time.Duration]()
	numberGo     = reflect.TypeFor[json.Number]()
	rawGo        = reflect.TypeFor[json.RawMessage]()
	timeGo       = reflect.TypeFor[time.Time]()
	urlGo        = reflect.TypeFor[url.URL]()
)

// maxBigDigits bounds integers of any size: parsing takes time quadratic in
// their digits.
const maxBigDigits = 10_000

// knownKind returns the node of a type whose JSON its Go kind does not tell.
func knownKind(t reflect.Type) *node {
	switch t {
	case rawGo:
		return &node{types: anyType}
	case numberGo:
		return &node{types: numberType}
	case bigIntGo:
		return &node{types: integerType, num: &numberRules{maxDigits: maxBigDigits}}
	case timeGo:
		return &node{types: stringType, str: &stringRules{max: noLimit, format: formats["date-time"]}}
	case durationGo:
		return &node{types: stringType, hints: []string{`a duration such as "1m30s"`},
			str: &stringRules{max: noLimit, format: durationFormat}}
	}
	return nil
}

// integerRange is what an integer kind can hold.
type integerRange struct{ low, high *bound }

// integerRanges are those of all integer kinds.
var integerRanges = func() map[reflect.Kind]integerRange {
	ranges := map[reflect.Kind]integerRange{}
	for _, v := range []any{
		int(0), int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0), uintptr(0),
	} {
		t := reflect.TypeOf(v)
		bits := t.Bits()
		if v := reflect.ValueOf(v); v.CanUint() {
			ranges[t.Kind()] = integerRange{newBound("0"), newBound(strconv.FormatUint(1<<bits-1, 10))}
			continue
		}
		most := int64(1)<<(bits-1) - 1
		ranges[t.Kind()] = integerRange{newBound(strconv.FormatInt(-most-1, 10)), newBound(strconv.FormatInt(most, 10))}
	}
	return ranges
}()

// textHints tell what well-known types read from a string.
var textHints = map[reflect.Type]string{
	reflect.TypeFor[netip.Addr]():     "an IP address",
	reflect.TypeFor[netip.Prefix]():   "an IP prefix such as 10.0.0.0/8",
	reflect.TypeFor[netip.AddrPort](): "an IP address and port such as 10.0.0.1:80",
	reflect.TypeFor[net.IP]():         "an IP address",
	reflect.TypeFor[big.Float]():      "a number as text",
	reflect.TypeFor[big.Rat]():        "a fraction such as 3/4",
}
