package jsonx

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

const (
	maxShown   = 80  // bytes of a name or number that a reason repeats
	maxOwnText = 200 // bytes of a type's own error text
)

// finding is a value that a type would not take, ready to be put into words.
type finding struct {
	t      reflect.Type // nil if unknown
	kind   byte         // of the JSON value, 0 if unknown
	text   string       // of the JSON value, if a string or number
	isName bool         // it is the name of a member, for the key of a map
	err    error        // nil if the type takes no value of this kind
}

// judge names the fault and says what was wanted instead.
func (f finding) judge() (Fault, string) {
	switch {
	case f.t == nil:
		return FaultTarget, "no value can be decoded here"
	case f.err == errInexact:
		return FaultRange, fmt.Sprintf("the integer %s cannot be kept exactly; integers up to 9007199254740992 can", shown(f.text))
	case errors.Is(f.err, errRange) || f.negativeForUint():
		return FaultRange, f.expected(wantRange(f.t))
	case f.isMethods():
		return f.judgeMethod()
	case f.unsupported():
		return FaultTarget, "no value can be decoded here"
	}
	want := wanted(f.t)
	if f.isQuoted() {
		want += " in quotes"
	}
	return FaultType, f.expected(want)
}

// unsupported reports whether it is the type that is at fault, not the value.
func (f finding) unsupported() bool {
	switch f.t.Kind() {
	case reflect.Struct:
		return f.err != nil && f.err != errForm && f.t != timeType && f.t != bigIntType
	case reflect.Interface, reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return true
	}
	return f.kind == 0
}

func (f finding) negativeForUint() bool {
	if f.err == nil || !isUint(f.t.Kind()) {
		return false
	}
	digits, negative := strings.CutPrefix(strings.Trim(f.text, `"`), "-")
	_, err := strconv.ParseUint(digits, 10, 64)
	return negative && err == nil
}

// isQuoted reports whether the field has the string option: the only way a
// number is refused where a number goes, or the inside of a string is read.
func (f finding) isQuoted() bool {
	k := f.t.Kind()
	switch {
	case f.isName:
		return false
	case f.t == numberType:
		return f.kind == '0' || f.err == errNoNumber
	case f.t == durationType || f.t == bigIntType:
		return false
	case k == reflect.Bool:
		return f.kind == 't' || f.kind == '"' && f.err != nil
	case isInt(k), isUint(k), isFloat(k):
		return f.kind == '0' && f.err == nil || f.kind == '"' && f.err != nil
	}
	return k == reflect.String && f.kind == '"' && f.err != nil
}

// isMethods reports whether a method of the type itself read the value.
func (f finding) isMethods() bool {
	return f.t != timeType && f.t != bigIntType && f.t != numberType && hasMethod(f.t, decodeMethods)
}

func (f finding) judgeMethod() (Fault, string) {
	text := reflect.TypeFor[encoding.TextUnmarshaler]()
	ownJSON := hasMethod(f.t, []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[json.UnmarshalerFrom]()})
	if want, ok := knownForms[typeName(f.t)]; ok {
		return FaultType, f.expected(want)
	}
	if !ownJSON && f.kind != '"' && hasMethod(f.t, []reflect.Type{text}) {
		return FaultType, f.expected("a string")
	}
	if reason, ok := OwnText(f.err, f.t); ok {
		return FaultRefused, reason
	}
	if f.isName {
		return FaultRefused, "the name " + shown(f.text) + " is not valid here"
	}
	return FaultRefused, "the value is not valid here"
}

// expected builds the sentence. What came is left out where it is the text of
// a string that is wrong, which may be long and says no more than its place.
func (f finding) expected(want string) string {
	switch {
	case f.isName:
		return fmt.Sprintf("the name %s is not %s", shown(f.text), want)
	case f.kind == 0, f.kind == '"' && f.err != nil && f.err != errForm, f.kind == '[' && f.t.Kind() == reflect.Array:
		return "expected " + want
	case f.kind == '0' && isNumeric(want) && len(f.text) <= maxShown:
		return "expected " + want + ", got " + f.text
	}
	return "expected " + want + ", got " + kindNames[f.kind]
}

// isNumeric reports whether want asks for a number, so that it matters which
// number came.
func isNumeric(want string) bool {
	number := strings.HasPrefix(want, "an integer") || strings.HasPrefix(want, "a number")
	return number && !strings.HasSuffix(want, "in a string")
}

var kindNames = map[byte]string{
	'n': "null", 't': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// knownForms names the strings that types with methods of their own read, by
// import path and name.
var knownForms = map[string]string{
	"encoding/json.Number": "a number",
	"math/big.Float":       "a number in a string",
	"math/big.Int":         "an integer",
	"math/big.Rat":         `a fraction in a string such as "2/3"`,
	"net.IP":               "an IP address",
	"net/netip.Addr":       "an IP address",
	"net/netip.AddrPort":   `an IP address and port such as "192.0.2.1:80"`,
	"net/netip.Prefix":     `an IP network such as "192.0.2.0/24"`,
	"time.Duration":        `a duration such as "1m30s"`,
	"time.Time":            `a date and time (RFC 3339) such as "2026-05-01T10:00:00Z"`,
}

func typeName(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// wanted names the JSON form of t.
func wanted(t reflect.Type) string {
	if want, ok := knownForms[typeName(t)]; ok {
		return want
	}
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return "a boolean"
	case k == reflect.String:
		return "a string"
	case isInt(k), isUint(k):
		return "an integer"
	case isFloat(k):
		return "a number"
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "a Base64 string"
	case k == reflect.Slice:
		return "an array"
	case k == reflect.Array:
		return fmt.Sprintf("an array of %d items", t.Len())
	}
	return "an object"
}

// wantRange names the numbers that fit into t.
func wantRange(t reflect.Type) string {
	switch k := t.Kind(); {
	case isInt(k), isUint(k):
		return "an integer from " + bounds(t)
	case t == bigIntType:
		return fmt.Sprintf("an integer of at most %d digits", maxBigDigits)
	}
	return "a number of a smaller size"
}

// shown is text cut to a length fit for a reason.
func shown(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// OwnText returns what t, a type of the application, says about a value it
// refuses, as err. It returns false for texts of the standard library and of
// JSON libraries, which speak of Go, and for long ones.
func OwnText(err error, t reflect.Type) (string, bool) {
	if err == nil || isLibrary(t.PkgPath()) || speaksOfGo(err) {
		return "", false
	}
	text := err.Error()
	if text == "" || len(text) > maxOwnText || strings.Contains(text, t.String()) {
		return "", false
	}
	for _, m := range packagePrefix.FindAllStringSubmatch(text, -1) {
		if isLibrary(m[1]) {
			return "", false
		}
	}
	return text, true
}

// packagePrefix is how errors of libraries begin: "strconv.Atoi: ".
var packagePrefix = regexp.MustCompile(`\b([a-z][a-z0-9]*(?:/[a-z0-9]+)*)(?:\.[A-Z]\w*)?: `)

// speaksOfGo reports whether err or an error in it is of a library's type.
func speaksOfGo(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p := t.PkgPath(); p != "errors" && p != "fmt" && isLibrary(p) {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner := e.Unwrap()
		return inner != nil && speaksOfGo(inner)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if inner != nil && speaksOfGo(inner) {
				return true
			}
		}
	}
	return false
}

// isLibrary reports whether an import path, or a package's name at the start
// of a text, is of the standard library or of the JSON library.
func isLibrary(path string) bool {
	if strings.HasPrefix(path, "github.com/go-json-experiment/json") {
		return true
	}
	root, _, _ := strings.Cut(path, "/")
	switch root {
	case "bufio", "bytes", "compress", "container", "context", "crypto", "database", "encoding", "errors", "fmt", "go",
		"hash", "html", "image", "io", "log", "math", "mime", "net", "os", "path", "reflect", "regexp", "runtime",
		"sort", "strconv", "strings", "sync", "syscall", "text", "time", "unicode",
		"base64", "big", "hex", "json", "jsontext", "netip", "url":
		return true
	}
	return false
}
