package header

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// Kind is the JSON Schema type of a mirrored parameter.
type Kind string

// The types that may be mirrored; number is not among them (MCP 2026-07-28,
// Streamable HTTP › Schema Extension).
const (
	String  Kind = "string"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
)

// Binding is one x-mcp-header annotation, compiled: which argument is mirrored
// into which header. Bindings are made by [Bindings.Add] and never change.
type Binding struct {
	Key  string   // canonical name of the header, for indexing an http.Header
	Name string   // its name as annotated, for people: Mcp-Param-TenantId
	Path []string // property names from the root of the arguments
	Kind Kind     // what the schema says the argument is
}

// Bindings are the annotations of one input schema. Nil is empty.
type Bindings []Binding

// Add records the annotation of the property at path. It is an error, which
// makes the whole tool definition invalid, if name is no header name token or
// differs from an earlier one by case at most, if kind may not be mirrored, or
// if path is empty. Add keeps a copy of path.
func (s *Bindings) Add(name string, kind Kind, path ...string) error {
	if err := ValidName(name); err != nil {
		return err
	}
	if len(path) == 0 {
		return fmt.Errorf("x-mcp-header %q is at the root of the schema: annotate a property", name)
	}
	switch kind {
	case String, Integer, Boolean:
	case "":
		return fmt.Errorf("x-mcp-header %q is on %s, which has no single type: give it one of string, integer, boolean",
			name, shown(path))
	default:
		return fmt.Errorf("x-mcp-header %q is on %s of type %s: only string, integer and boolean are allowed",
			name, shown(path), kind)
	}
	b := Binding{Name: ParamPrefix + name, Path: slices.Clone(path), Kind: kind}
	b.Key = textproto.CanonicalMIMEHeaderKey(b.Name)
	for _, other := range *s {
		if other.Key == b.Key {
			return fmt.Errorf("x-mcp-header %q on %s repeats %q on %s: names must differ by more than case",
				name, shown(path), strings.TrimPrefix(other.Name, ParamPrefix), shown(other.Path))
		}
	}
	*s = append(*s, b)
	return nil
}

// ValidName checks that name, the value of an x-mcp-header annotation, is a
// non-empty token (RFC 9110, 5.6.2).
func ValidName(name string) error {
	if name == "" {
		return errors.New("x-mcp-header is empty: give the header a name")
	}
	for _, c := range name {
		if !isTokenChar(c) {
			return fmt.Errorf("x-mcp-header %q contains %q: use letters, digits and !#$%%&'*+-.^_`|~ only", name, c)
		}
	}
	return nil
}

func isTokenChar(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// Unquote returns the text of a JSON string literal. It is asked only for
// literals with escapes.
type Unquote func(literal []byte) (string, error)

// Check compares the header of b with raw, the JSON value at b.Path in the
// arguments as received, without space around it; nil means that there is
// none. Strings and booleans compare exactly, integers as numbers. A value
// needs its header; for an absent or null one there must be none. The error is
// for a HeaderMismatch response (MCP 2026-07-28, Streamable HTTP › Server
// Behavior for Custom Headers).
//
// A scalar of another type than b.Kind compares by its JSON text: to refuse it
// is left to the schema, whose answer explains the mistake.
func (b *Binding) Check(h http.Header, raw []byte, unquote Unquote) error {
	got, sent, err := read(h, b.Key)
	if err != nil {
		return err
	}
	if absent(raw) {
		if sent {
			return fmt.Errorf("the %s header is sent although the argument %s is absent or null: leave it out",
				b.Name, shown(b.Path))
		}
		return nil
	}
	if !sent {
		return fmt.Errorf("the %s header is missing: it must repeat the argument %s", b.Name, shown(b.Path))
	}
	want, err := b.text(raw, unquote)
	if err != nil {
		return err
	}
	if got == string(want) || b.sameNumber(got, raw) {
		return nil
	}
	return mismatch(b.Name)
}

// sameNumber tells whether b is an integer that got and raw spell differently.
func (b *Binding) sameNumber(got string, raw []byte) bool {
	if b.Kind != Integer {
		return false
	}
	n, err := parseInteger(got)
	if err != nil {
		return false
	}
	m, err := parseInteger(string(raw))
	return err == nil && n == m
}

// Value returns what the header of b carries for raw, which is as for Check.
// An absent or null argument has no header; an empty string has one, and value
// is empty. It is an error if the argument is an array or object, or an integer
// beyond ±(2^53-1), which a server must refuse.
func (b *Binding) Value(raw []byte, unquote Unquote) (value string, send bool, err error) {
	if absent(raw) {
		return "", false, nil
	}
	text, err := b.text(raw, unquote)
	if err != nil {
		return "", false, err
	}
	return Encode(string(text)), true, nil
}

func absent(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// text returns the text that mirrors the JSON value raw, before encoding. It
// may alias raw.
func (b *Binding) text(raw []byte, unquote Unquote) ([]byte, error) {
	switch c := raw[0]; {
	case c == '{' || c == '[':
		return nil, fmt.Errorf("the argument %s is an array or object, which the %s header cannot repeat: send one %s",
			shown(b.Path), b.Name, b.Kind)
	case c == '"' && bytes.IndexByte(raw, '\\') < 0:
		return bytes.Trim(raw, `"`), nil
	case c == '"':
		text, err := unquote(raw)
		if err != nil {
			return nil, fmt.Errorf("the argument %s is not a valid JSON string", shown(b.Path))
		}
		return []byte(text), nil
	case b.Kind != Integer:
		return raw, nil
	}
	switch n, err := parseInteger(string(raw)); err {
	case nil:
		if n != 0 && !bytes.ContainsAny(raw, ".eE") {
			return raw, nil // plain decimal already
		}
		return strconv.AppendInt(nil, n, 10), nil
	case errUnsafe:
		return nil, fmt.Errorf("the argument %s, repeated by the %s header, %w", shown(b.Path), b.Name, err)
	default:
		return raw, nil
	}
}

// shown writes path as texts for people do.
func shown(path []string) string { return strconv.Quote(strings.Join(path, ".")) }
