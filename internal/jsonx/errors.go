package jsonx

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fault is the kind of a DecodeError.
type Fault uint8

const (
	FaultSyntax    Fault = iota + 1 // the text is not JSON, or more than one value
	FaultUTF8                       // bad UTF-8 or an unpaired surrogate
	FaultDuplicate                  // a member name twice in one object
	FaultUnknown                    // UnmarshalStrict: a member without a field
	FaultType                       // a value of another type or form than wanted
	FaultRange                      // a number that does not fit
	FaultRefused                    // refused by a method of the Go type
	FaultTarget                     // the Go type cannot be decoded: see CheckType
)

// DecodeError says what is wrong with a JSON text, in words that may be shown
// to whoever sent it: they name neither Go types nor libraries.
type DecodeError struct {
	Fault   Fault
	Pointer string // JSON Pointer (RFC 6901) of the value at fault; "" is the whole text
	Reason  string // for example "expected an integer, got a string"

	err error
}

func (e *DecodeError) Error() string { return located(e.Pointer, e.Reason) }

// Unwrap returns the cause, whose text may name Go types: log it, do not send it.
func (e *DecodeError) Unwrap() error { return e.err }

// EncodeError says which part of a Go value has no JSON form, for the log of
// whoever wrote the type: it may name Go types.
type EncodeError struct {
	Pointer string // JSON Pointer of where the part would have been written
	Reason  string // for example "NaN is no JSON number"

	err error
}

func (e *EncodeError) Error() string { return located(e.Pointer, e.Reason) }

// Unwrap returns the cause: what the method of a type returned, among others.
func (e *EncodeError) Unwrap() error { return e.err }

func located(pointer, reason string) string {
	if pointer == "" {
		return reason
	}
	return pointer + ": " + reason
}

func newEncodeError(err error) *EncodeError {
	out := &EncodeError{Reason: err.Error(), err: err}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		out.Pointer = string(semantic.JSONPointer)
		out.Reason = encodeReason(semantic)
		out.err = cmp.Or(semantic.Err, err)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) { // in what a method wrote, and no nearer to the root
		out.Pointer = cmp.Or(string(syntactic.JSONPointer), out.Pointer)
		out.Reason = fmt.Sprintf("invalid JSON: %v", syntactic.Err)
		if syntactic.Err == jsontext.ErrDuplicateName {
			out.Reason = fmt.Sprintf("duplicate name %q", syntactic.JSONPointer.LastToken())
		}
	}
	return out
}

func encodeReason(e *json.SemanticError) string {
	switch {
	case e.Err == nil:
		return fmt.Sprintf("%v has no JSON form", e.GoType)
	case e.GoType != nil && isFloat(e.GoType.Kind()):
		return "NaN and infinities are no JSON numbers"
	default:
		return fmt.Sprintf("%v: %v", e.GoType, e.Err)
	}
}

// explain turns an error of the decoder into a DecodeError. data is the text
// that was decoded.
func explain(data []byte, err error) *DecodeError {
	if e, ok := err.(*json.SemanticError); ok {
		return explainSemantic(data, e)
	}
	var e *jsontext.SyntacticError
	if !errors.As(err, &e) {
		e = &jsontext.SyntacticError{Err: err}
	}
	return explainSyntactic(data, e)
}

func explainSyntactic(data []byte, e *jsontext.SyntacticError) *DecodeError {
	out := &DecodeError{Fault: FaultSyntax, Pointer: string(e.JSONPointer), err: e}
	lenient := []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}
	switch {
	case e.Err == jsontext.ErrDuplicateName:
		out.Fault = FaultDuplicate
		out.Reason = fmt.Sprintf("duplicate name %q", shown(e.JSONPointer.LastToken()))
	case jsontext.Value(data).IsValid(lenient...):
		out.Fault = FaultUTF8
		out.Reason = fmt.Sprintf("text that is not valid UTF-8, or half of a surrogate pair, at byte %d", e.ByteOffset)
	case len(bytes.TrimSpace(data)) == 0:
		out.Reason = "expected a JSON value, got nothing"
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		out.Reason = "the JSON text ends too early"
	default:
		out.Reason = fmt.Sprintf("not valid JSON at byte %d", e.ByteOffset)
	}
	return out
}

func explainSemantic(data []byte, e *json.SemanticError) *DecodeError {
	out := &DecodeError{Pointer: string(e.JSONPointer), err: e}
	t := e.GoType
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem() // codec functions are registered for pointers
	}
	if e.Err == json.ErrUnknownName {
		out.Fault = FaultUnknown
		out.Reason = fmt.Sprintf("unknown name %q", shown(e.JSONPointer.LastToken()))
		return out
	}
	f := finding{t: t, kind: plainKind(e.JSONKind), err: e.Err}
	f.text, f.isName = valueAt(data, e.ByteOffset)
	out.Fault, out.Reason = f.judge()
	if f.isName {
		out.Pointer = string(e.JSONPointer.Parent())
	}
	return out
}

// plainKind maps the kinds an error may have to one for each JSON type.
func plainKind(k jsontext.Kind) byte {
	switch k {
	case 'f':
		return 't'
	case ']': // known only at the end: the array has the wrong length
		return '['
	}
	return byte(k)
}

// valueAt returns the value of data at offset, if it is a string or number,
// and whether it is the name of a member.
func valueAt(data []byte, offset int64) (text string, isName bool) {
	if offset < 0 || offset >= int64(len(data)) {
		return "", false
	}
	rest := data[offset:]
	n := scalarLen(rest)
	if n == 0 {
		return "", false
	}
	for _, c := range rest[n:] {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			isName = c == ':'
			break
		}
	}
	return string(rest[:n]), isName
}

// scalarLen is the length of the string or number that data starts with.
func scalarLen(data []byte) int {
	if data[0] != '"' {
		n := 0
		for n < len(data) && (isDigit(data[n]) || data[n] == '-' || data[n] == '+' || data[n] == '.' || data[n]|0x20 == 'e') {
			n++
		}
		return n
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

func isInt(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Int64 }

func isUint(k reflect.Kind) bool { return k >= reflect.Uint && k <= reflect.Uintptr }

// bounds spells the range of an integer type.
func bounds(t reflect.Type) string {
	if isUint(t.Kind()) {
		return "0 to " + strconv.FormatUint(math.MaxUint64>>(64-t.Bits()), 10)
	}
	most := int64(math.MaxInt64) >> (64 - t.Bits())
	return fmt.Sprintf("%d to %d", -most-1, most)
}
