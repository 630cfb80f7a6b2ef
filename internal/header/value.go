package header

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// The markers around a value in Base64, exact and lowercase (MCP 2026-07-28,
// Streamable HTTP › Value Encoding).
const (
	prefix = "=?base64?"
	suffix = "?="
)

var base64Strict = base64.StdEncoding.Strict()

// Encode returns value as a header carries it: unchanged if it is printable
// ASCII without space at either end, otherwise as the Base64 of its UTF-8
// bytes between markers. A value that could be taken for the marked form is
// marked too. Bytes that are not UTF-8 become U+FFFD, as they do in the body.
func Encode(value string) string {
	marked := strings.HasPrefix(value, prefix) && strings.HasSuffix(value, suffix)
	if !marked && printable(value) && trimSpace(value) == value {
		return value
	}
	if !utf8.ValidString(value) {
		value = string([]rune(value))
	}
	return prefix + base64Strict.EncodeToString([]byte(value)) + suffix
}

// Decode returns the value that a received header stands for. One that lacks
// either marker stands for itself. It is an error if value has bytes outside
// printable ASCII, or markers around anything but padded standard Base64 of
// UTF-8 text. The error reads as a predicate: "holds …".
func Decode(value string) (string, error) {
	if !printable(value) {
		return "", errIllegalByte
	}
	// Both are cut, so that the markers cannot share the question mark of
	// "=?base64?=".
	text, ok := strings.CutPrefix(value, prefix)
	if !ok {
		return value, nil
	}
	if text, ok = strings.CutSuffix(text, suffix); !ok {
		return value, nil
	}
	decoded, err := base64Strict.DecodeString(text)
	if err != nil {
		return "", errNotBase64
	}
	if !utf8.Valid(decoded) {
		return "", errNotUTF8
	}
	return string(decoded), nil
}

// printable tells whether s consists of the bytes 0x20 to 0x7E.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
