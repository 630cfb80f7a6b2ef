package jsonrpc

import "github.com/typedmcp/mcp/internal/jsonx"

// ID is a request id, a JSON string or integer, kept as received so that it
// is returned in the same JSON type and spelling. Empty means absent.
type ID []byte

// valid tells whether raw is a string or an integer: null, fractions,
// booleans, arrays and objects are no ids (MCP, Basic › Requests).
func validID(raw []byte) bool {
	if raw[0] == '"' {
		return true
	}
	digits := raw
	if digits[0] == '-' {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(digits) > 0
}

// Key returns a form of id by which equal ids are equal: "1" and 1 differ,
// "\u0031" and "1" do not.
func (id ID) Key() string {
	if len(id) == 0 || id[0] != '"' {
		return string(id)
	}
	text, err := jsonx.Unquote(id)
	if err != nil {
		return string(id)
	}
	return `"` + text
}

// ParseID returns raw as an id, or an empty one when it is none.
func ParseID(raw []byte) ID {
	if len(raw) == 0 || !validID(raw) {
		return nil
	}
	return raw
}
