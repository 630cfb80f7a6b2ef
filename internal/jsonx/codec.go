package jsonx

import (
	stdjson "encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The codecs of the types whose JSON form differs from what the library gives
// them. A value of any type pays for a look-up once they are set, so they are
// only set for types that reach one of them (see plan.go).
var (
	encoders = json.JoinMarshalers(
		json.MarshalToFunc(writeDuration),
		json.MarshalToFunc(writeNumber),
		json.MarshalToFunc(writeFloat),
	)
	decoders = json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readDuration),
		json.UnmarshalFromFunc(readNumber),
		json.UnmarshalFromFunc(readBigInt),
		json.UnmarshalFromFunc(readAny),
	)
)

// maxBigDigits bounds the digits of a big.Int that is read: parsing takes
// time quadratic in them, so that a message of 16 MiB could take minutes.
const maxBigDigits = 10_000

var (
	errForm     = errors.New("value of another form expected")
	errRange    = strconv.ErrRange
	errInexact  = errors.New("integer not exact as a floating-point number")
	errNoNumber = errors.New("text is not a JSON number")
)

func writeDuration(enc *jsontext.Encoder, d time.Duration) error {
	return enc.WriteToken(jsontext.String(d.String()))
}

func readDuration(dec *jsontext.Decoder, d *time.Duration) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case 'n':
		*d = 0
		return nil
	case '"':
		parsed, err := time.ParseDuration(tok.String())
		if err != nil {
			return wrongForm(durationType, '"', err)
		}
		*d = parsed
		return nil
	}
	return wrongForm(durationType, tok.Kind(), nil)
}

// writeNumber writes n as encoding/json does: the empty Number is 0, one with
// the string option is quoted, and as a map key it is any text.
func writeNumber(enc *jsontext.Encoder, n stdjson.Number) error {
	if atName(enc) {
		return enc.WriteToken(jsontext.String(string(n)))
	}
	if n == "" {
		n = "0"
	}
	if !isNumber([]byte(n)) {
		return &json.SemanticError{GoType: numberType, Err: errNoNumber}
	}
	if quoted, _ := json.GetOption(enc.Options(), json.StringifyNumbers); quoted {
		return enc.WriteToken(jsontext.String(string(n)))
	}
	return enc.WriteValue(jsontext.Value(n))
}

// writeFloat spells large integers with all their digits: the fewest that tell
// a float64 from its neighbours are another integer, which readAny refuses.
func writeFloat(enc *jsontext.Encoder, f float64) error {
	if abs := math.Abs(f); abs <= 1<<exactBits || abs >= 1e21 || f != math.Trunc(f) {
		return errors.ErrUnsupported // from 1e21 on there is an exponent
	}
	if quoted, _ := json.GetOption(enc.Options(), json.StringifyNumbers); quoted || atName(enc) {
		return errors.ErrUnsupported
	}
	return enc.WriteValue(strconv.AppendFloat(nil, f, 'f', 0, 64))
}

func readNumber(dec *jsontext.Decoder, n *stdjson.Number) error {
	want := byte('0')
	name := atName(dec)
	if quoted, _ := json.GetOption(dec.Options(), json.StringifyNumbers); quoted || name {
		want = '"'
	}
	val, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if val.Kind() == 'n' {
		*n = ""
		return nil
	}
	if byte(val.Kind()) != want {
		return wrongForm(numberType, val.Kind(), nil)
	}
	if want == '"' {
		val, _ = jsontext.AppendUnquote(nil, val) // the decoder has checked it
		if !name && !isNumber(val) {
			return wrongForm(numberType, '"', errNoNumber)
		}
	}
	*n = stdjson.Number(val)
	return nil
}

func readBigInt(dec *jsontext.Decoder, z *big.Int) error {
	val, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case val.Kind() == 'n':
		z.SetInt64(0)
		return nil
	case val.Kind() != '0':
		return wrongForm(bigIntType, val.Kind(), nil)
	case len(val) > maxBigDigits:
		return &json.SemanticError{GoType: bigIntType, JSONKind: '0', Err: errRange}
	}
	var parsed big.Int // z keeps its value when val is no plain integer
	if _, ok := parsed.SetString(string(val), 10); !ok {
		return wrongForm(bigIntType, '0', strconv.ErrSyntax)
	}
	z.Set(&parsed)
	return nil
}

// readAny decodes as the library does, but refuses integers that float64
// cannot hold. It is only used for texts with a number long enough for that.
func readAny(dec *jsontext.Decoder, p *any) error {
	if *p != nil {
		return errors.ErrUnsupported // the library merges into what is there
	}
	v, err := anyValue(dec)
	*p = v
	return err
}

func anyValue(dec *jsontext.Decoder) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		return anyObject(dec)
	case '[':
		return anyArray(dec)
	case '"':
		return tok.String(), nil
	case 't', 'f':
		return tok.Bool(), nil
	case '0':
		f, err := exactFloat(tok.String())
		if err != nil {
			return nil, &json.SemanticError{JSONPointer: dec.StackPointer(), JSONKind: '0', GoType: anyType, Err: err}
		}
		return f, nil
	}
	return nil, nil
}

func anyObject(dec *jsontext.Decoder) (any, error) {
	m := make(map[string]any)
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		if m[name], err = anyValue(dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return m, err
}

func anyArray(dec *jsontext.Decoder) (any, error) {
	list := []any{}
	for dec.PeekKind() != ']' {
		v, err := anyValue(dec)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.ReadToken()
	return list, err
}

// atName reports whether the coder stands where an object wants a name.
func atName(coder interface {
	StackDepth() int
	StackIndex(int) (jsontext.Kind, int64)
}) bool {
	kind, length := coder.StackIndex(coder.StackDepth())
	return kind == '{' && length%2 == 0
}

func wrongForm(t reflect.Type, kind jsontext.Kind, cause error) error {
	if cause == nil {
		cause = errForm
	}
	return &json.SemanticError{GoType: t, JSONKind: kind, Err: cause}
}
