package jsonrpc

import (
	"strconv"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// AppendError appends an error response. id empty leaves the id out: the
// schema of MCP knows no null id. data empty leaves the member out.
func AppendError(dst []byte, id ID, code int, message string, data []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if len(id) > 0 {
		dst = append(append(dst, `,"id":`...), id...)
	}
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst = jsonx.AppendString(dst, message)
	if len(data) > 0 {
		dst = append(append(dst, `,"data":`...), data...)
	}
	return append(dst, "}}"...)
}

// AppendResult appends the start of a success response, up to the value of
// its result; the caller appends that value and a closing brace.
func AppendResult(dst []byte, id ID) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	return append(append(dst, id...), `,"result":`...)
}
