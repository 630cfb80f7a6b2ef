// Package header reads and writes MCP's HTTP headers: their names, the Base64
// form of values that a header cannot carry as they are, and the tool
// parameters that are mirrored into headers (MCP 2026-07-28, Streamable HTTP ›
// Request Metadata).
//
// The body of a request is the truth. A header repeats a part of it for those
// who do not parse bodies, so a server compares the two and refuses a request
// in which they differ. The errors of this package are such refusals: they name
// the header and say what to do, and leave values out, which may be private.
package header

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Names of headers as [net/http] keys them, so that indexing an [http.Header]
// with them finds the header however its sender spelled it.
const (
	ProtocolVersion = "Mcp-Protocol-Version" // every request, and the legacy revisions from 2025-06-18
	Method          = "Mcp-Method"           // every request
	Name            = "Mcp-Name"             // requests that name a tool, prompt, resource or task
	SessionID       = "Mcp-Session-Id"       // legacy revisions
	LastEventID     = "Last-Event-Id"        // legacy revisions
)

// ParamPrefix starts the name of every header that mirrors a tool parameter.
const ParamPrefix = "Mcp-Param-"

// Display returns key as the specification spells it, for texts that people
// read. Keys other than this package's constants are returned as they are.
func Display(key string) string {
	switch key {
	case ProtocolVersion:
		return "MCP-Protocol-Version"
	case LastEventID:
		return "Last-Event-ID"
	}
	return key
}

// One returns the value of a header that is sent at most once, without the
// white space around it. The key must be canonical. When the header is
// repeated the value is empty: which one counts must not be guessed.
func One(h http.Header, key string) (value string, present, repeated bool) {
	switch values := h[key]; len(values) {
	case 0:
		return "", false, false
	case 1:
		return trimSpace(values[0]), true, false
	default:
		return "", true, true
	}
}

// trimSpace removes optional white space (RFC 9110, 5.6.3), which is no more
// than spaces and tabs.
func trimSpace(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// Match checks that the header under the canonical key repeats want, its
// source in the body. Values compare exactly; those of Name and Mcp-Param
// headers are decoded first. The error is for a HeaderMismatch response
// (MCP 2026-07-28, Streamable HTTP › Server Validation).
func Match(h http.Header, key, want string) error {
	got, present, err := read(h, key)
	switch {
	case err != nil:
		return err
	case !present:
		return fmt.Errorf("the %s header is missing: it must repeat the value in the request body", Display(key))
	case got != want:
		return mismatch(Display(key))
	}
	return nil
}

// read returns the decoded value of a header that may be sent once.
func read(h http.Header, key string) (value string, present bool, err error) {
	value, present, repeated := One(h, key)
	if repeated {
		return "", true, fmt.Errorf("the %s header is repeated: send it once", Display(key))
	}
	if key == Name || strings.HasPrefix(key, ParamPrefix) {
		if value, err = Decode(value); err != nil {
			return "", true, fmt.Errorf("the %s header %w", Display(key), err)
		}
	}
	return value, present, nil
}

func mismatch(name string) error {
	return fmt.Errorf("the %s header differs from the value in the request body", name)
}

var (
	errIllegalByte = errors.New("has a byte outside printable ASCII: send such a value as =?base64?…?=")
	errNotBase64   = errors.New("starts with =?base64? and ends with ?= but holds no padded standard Base64")
	errNotUTF8     = errors.New("holds Base64 of bytes that are not UTF-8")
)
