package sse

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AppendEvent appends e in its wire form to dst and returns the result.
// Data may hold anything: each of its lines becomes a line of the event, and
// line breaks of any kind reach the reader as "\n". Empty data is sent as an
// empty line of data, which gives the event's ID to a reader and nothing else.
// An ID or Name cannot carry carriage return, line feed or NUL, which are
// left out.
func AppendEvent(dst []byte, e Event) []byte {
	const fields = len("id: \nevent: \ndata: \n\n")
	dst = slices.Grow(dst, fields+len(e.ID)+len(e.Name)+len(e.Data))
	if e.ID != "" {
		dst = appendField(dst, "id: ", e.ID)
	}
	if e.Name != "" {
		dst = appendField(dst, "event: ", e.Name)
	}
	dst = appendData(dst, e.Data)
	return append(dst, '\n')
}

// AppendRetry appends the request to wait for d, cut to whole milliseconds,
// before reconnecting. A negative d counts as zero.
func AppendRetry(dst []byte, d time.Duration) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, max(0, d.Milliseconds()), 10)
	return append(dst, "\n\n"...)
}

// AppendComment appends text, which may be empty, as a comment. Readers ignore
// it; it keeps the connection and the proxies on its way from idling. Carriage
// return, line feed and NUL are left out, as in an ID.
func AppendComment(dst []byte, text string) []byte {
	dst = appendField(dst, ": ", text)
	return append(dst, '\n')
}

// appendField appends a line of what value has that a line can carry.
func appendField(dst []byte, prefix, value string) []byte {
	dst = append(dst, prefix...)
	for value != "" {
		i := strings.IndexAny(value, "\r\n\x00")
		if i < 0 {
			i = len(value)
		}
		dst = append(dst, value[:i]...)
		value = value[min(i+1, len(value)):]
	}
	return append(dst, '\n')
}

// appendData appends each line of text as a line of data. Text without a line
// break, or empty, is one line.
func appendData(dst, text []byte) []byte {
	for {
		dst = append(dst, "data: "...)
		i := lineEnd(text)
		if i < 0 {
			dst = append(dst, text...)
			return append(dst, '\n')
		}
		dst = append(dst, text[:i]...)
		dst = append(dst, '\n')
		if bytes.HasPrefix(text[i:], crlf) {
			i++
		}
		text = text[i+1:]
	}
}

var crlf = []byte("\r\n")

// lineEnd returns the index of the first carriage return or line feed in b, or
// -1 if there is none.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}
