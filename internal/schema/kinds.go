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

// integerRange returns the least and the greatest value of an integer kind.
func integerRange(k reflect.Kind) (lo, hi string, ok bool) {
	bits := 0
	switch k {
	case reflect.Int8, reflect.Uint8:
		bits = 8
	case reflect.Int16, reflect.Uint16:
		bits = 16
	case reflect.Int32, reflect.Uint32:
		bits = 32
	case reflect.Int64, reflect.Uint64:
		bits = 64
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		bits = strconv.IntSize
	default:
		return "", "", false
	}
	if k >= reflect.Uint && k <= reflect.Uintptr {
		return "0", strconv.FormatUint(1<<bits-1, 10), true
	}
	most := int64(1)<<(bits-1) - 1
	return strconv.FormatInt(-most-1, 10), strconv.FormatInt(most, 10), true
}

// textHints tell what well-known types read from a string.
var textHints = map[reflect.Type]string{
	reflect.TypeFor[netip.Addr]():     "an IP address",
	reflect.TypeFor[netip.Prefix]():   "an IP prefix such as 10.0.0.0/8",
	reflect.TypeFor[netip.AddrPort](): "an IP address and port such as 10.0.0.1:80",
	reflect.TypeFor[net.IP]():         "an IP address",
	reflect.TypeFor[big.Float]():      "a number as text",
	reflect.TypeFor[big.Rat]():        "a fraction such as 3/4",
}
