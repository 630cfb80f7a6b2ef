// Package jsonx is the one door to JSON: every other package encodes, decodes
// and walks JSON through it, and it alone calls a JSON library.
//
// It joins the strictness of encoding/json/v2 with the shapes of encoding/json.
// Member names match exactly; repeated names, bad UTF-8 and unpaired surrogates
// are refused; 64-bit integers are exact. What is written has the bytes that
// encoding/json writes, except that
//
//   - nil slices and maps are [] and {} (a nil []byte is ""),
//   - < > & are not escaped (U+2028 and U+2029 still are, in raw values too:
//     line readers split at them),
//   - bad UTF-8 is the character U+FFFD, not its escape,
//   - a time.Duration is a string such as "1m30s", a map key too,
//   - the methods of a type, those of its pointer too, are called wherever a
//     value of it stands, map keys included: a type has one form everywhere,
//     so that a by-value big.Int is an integer and never {},
//   - a json.RawMessage with a repeated name is an error.
//
// What is read differs from encoding/json beyond strictness in this: arrays
// must have the length of the Go array, Base64 has no line breaks, times are
// strict RFC 3339, a json.Number is not read from a string, a big.Int has at
// most 10,000 digits, null zeroes its target, and an integer in an any that
// float64 cannot hold exactly is an error.
//
// [CheckType] finds what is wrong with a type before any value of it is met.
// The functions of this package are safe for concurrent use.
package jsonx

import (
	"bytes"
	"cmp"
	"errors"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	legacy "github.com/go-json-experiment/json/v1"
)

// Valid reports whether data is one JSON value that Unmarshal would accept for
// a value of any form: right grammar, good UTF-8, no repeated names.
func Valid(data []byte) bool { return jsontext.Value(data).IsValid() }

// Unmarshal decodes the one JSON value in data into v, a non-nil pointer.
// Members that v has no field for are ignored. The error is a *DecodeError,
// after which v may be filled in part. Nothing in v aliases data.
func Unmarshal(data []byte, v any) error { return unmarshal(data, v, 0) }

// UnmarshalStrict is Unmarshal that also refuses members v has no field for.
func UnmarshalStrict(data []byte, v any) error { return unmarshal(data, v, rejectUnknown) }

func unmarshal(data []byte, v any, mode decodeMode) error {
	plan := planFor(reflect.TypeOf(v))
	mode |= plan.decode
	if plan.hasAny && hasLongNumber(data) {
		mode |= withCodecs
	}
	if err := json.Unmarshal(data, v, decodeOptions[mode]); err != nil {
		return explain(data, err)
	}
	return nil
}

// Append appends the JSON form of v to dst. Give a pointer: the value it
// points to is then encoded without a copy. A nil v is null. On error, an
// *EncodeError, dst comes back at its original length.
func Append(dst []byte, v any) ([]byte, error) {
	mode := planFor(reflect.TypeOf(v)).encode
	out, err := appendWith(dst, v, encodeOptions[mode])
	if err != nil && isSyntactic(err) {
		out, err = appendWith(dst, v, encodeOptions[mode|replaceBadUTF8])
	}
	if err != nil {
		return dst, newEncodeError(err)
	}
	return out, nil
}

// Marshal is Append to a new slice.
func Marshal(v any) ([]byte, error) {
	mode := planFor(reflect.TypeOf(v)).encode
	out, err := json.Marshal(v, encodeOptions[mode])
	if err != nil && isSyntactic(err) {
		out, err = json.Marshal(v, encodeOptions[mode|replaceBadUTF8])
	}
	if err != nil {
		return nil, newEncodeError(err)
	}
	return out, nil
}

// buffers holds the writers that lend a dst to the encoder, which appends to a
// bytes.Buffer in place.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func appendWith(dst []byte, v any, opts json.Options) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	*buf = *bytes.NewBuffer(dst)
	err := json.MarshalWrite(buf, v, opts)
	out := buf.Bytes()
	*buf = bytes.Buffer{} // or the pool would keep dst alive
	buffers.Put(buf)
	return out, err
}

// isSyntactic reports whether an encoder error may come from bad UTF-8: that
// is worth a second try, which normal values never pay for.
func isSyntactic(err error) bool {
	var syntactic *jsontext.SyntacticError
	return errors.As(err, &syntactic)
}

// Canonical appends data in one fixed form, fit for digests: members sorted
// (by UTF-16 code units, as RFC 8785 does), no white space, strings with the
// fewest escapes, numbers as they are spelled, so that 2^53 and 2^53+1 differ.
// On error, a *DecodeError, dst comes back at its original length.
func Canonical(dst, data []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(dst, data, jsontext.ReorderRawObjects(true))
	if err != nil {
		var value jsontext.Value // the formatter counts bytes of its output, the decoder of the input
		return dst, explain(data, cmp.Or(json.Unmarshal(data, &value), err))
	}
	return out, nil
}

// decodeMode and encodeMode index the option sets, which are joined once:
// joining them for each call would allocate.
type (
	decodeMode uint8
	encodeMode uint8
)

const (
	rejectUnknown   decodeMode = 1 << iota
	withCodecs                 // the type reaches one with a codec of ours
	namedByteSlices            // the type reaches a slice of a named byte type
	decodeModes     = 1 << iota
)

const (
	withEncoders   encodeMode = 1 << iota // as withCodecs
	replaceBadUTF8                        // write U+FFFD, at the price of rewriting escapes in raw values
	encodeModes    = 1 << iota
)

var decodeOptions = func() (sets [decodeModes]json.Options) {
	for mode := range decodeMode(decodeModes) {
		set := json.JoinOptions(
			legacy.FormatByteArrayAsArray(true),
			legacy.StringifyWithLegacySemantics(true),
			legacy.FormatBytesWithLegacySemantics(mode&namedByteSlices != 0),
			json.RejectUnknownMembers(mode&rejectUnknown != 0),
		)
		if mode&withCodecs != 0 {
			set = json.JoinOptions(set, json.WithUnmarshalers(decoders))
		}
		sets[mode] = set
	}
	return sets
}()

var encodeOptions = func() (sets [encodeModes]json.Options) {
	for mode := range encodeMode(encodeModes) {
		lenient := mode&replaceBadUTF8 != 0
		set := json.JoinOptions(
			legacy.FormatByteArrayAsArray(true),
			legacy.FormatBytesWithLegacySemantics(true),
			legacy.OmitEmptyWithLegacySemantics(true),
			legacy.StringifyWithLegacySemantics(true),
			json.Deterministic(true),
			jsontext.EscapeForJS(true),
			jsontext.AllowInvalidUTF8(lenient),
			jsontext.PreserveRawStrings(!lenient),
		)
		if mode&withEncoders != 0 {
			set = json.JoinOptions(set, json.WithMarshalers(encoders))
		}
		sets[mode] = set
	}
	return sets
}()
