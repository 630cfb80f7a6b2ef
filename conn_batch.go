package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// batch is several messages in one array, which revision 2025-03-26 alone
// knows (MCP 2025-03-26, Base Protocol › Batching). Their answers go out as
// one array, when the last is there.
type batch struct {
	left    int    // answers that are awaited, and one for the reader
	answers []byte // of those that came, each after a comma
}

// batched reports whether data is to be read as a batch. It is for the reader,
// which alone sets the session.
func (c *conn) batched(data []byte) bool {
	return c.session != nil && c.session.rev.Batches && isArray(data)
}

// isArray reports whether data, if it is JSON, is an array.
func isArray(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, "\ufeff \t\r\n"), []byte{'['})
}

// receiveBatch deals with the messages of a batch one by one.
func (c *conn) receiveBatch(data []byte) {
	parts, fault := splitBatch(data, c.snap.srv.opts.Limits)
	if fault != nil {
		c.refuse(nil, nil, fault)
		return
	}
	b := &batch{left: 1}
	for _, part := range parts {
		c.message(part, b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gather(b, nil)
	c.flushSoon()
}

// splitBatch returns the messages of a batch. There may be as many as requests
// can be in flight: each element, however small, may have to be answered.
func splitBatch(data []byte, limits Limits) ([]json.RawMessage, *Error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if jsonx.DeeperThan(data, limits.Depth+1) {
		return nil, Errorf(CodeInvalidRequest, "Invalid Request: nested deeper than %d levels", limits.Depth)
	}
	var parts []json.RawMessage
	if err := jsonx.Unmarshal(data, &parts); err != nil {
		return nil, Errorf(CodeParseError, "Parse error: %v", err)
	}
	if n, limit := len(parts), limits.InFlight+limits.Queue; n == 0 || n > limit {
		return nil, Errorf(CodeInvalidRequest, "Invalid Request: a batch of %d messages; 1 to %d are accepted", n, limit)
	}
	return parts, nil
}

// gather puts an answer, nil for none, into the array of b, and queues that
// when it was the last. c.mu is held; somebody must flush afterwards.
func (c *conn) gather(b *batch, answer []byte) {
	if answer != nil {
		b.answers = append(append(b.answers, ','), answer...)
	}
	if b.left--; b.left == 0 && b.answers != nil {
		b.answers[0] = '['
		c.out.enqueue(append(b.answers, ']'))
	}
}

// put queues the answer to f. c.mu is held; somebody must flush afterwards.
func (c *conn) put(f *flight, answer []byte) {
	if f.batch != nil {
		c.gather(f.batch, answer)
	} else {
		c.out.enqueue(answer)
	}
}

// unfit says why a request cannot be part of a batch; nil when it can.
func unfit(m *jsonrpc.Message) *Error {
	switch {
	case m.Method == jsonrpc.MethodInitialize:
		return Errorf(CodeInvalidRequest, "Invalid Request: initialize cannot be part of a batch")
	case m.Version() != nil:
		return Errorf(CodeInvalidRequest, "Invalid Request: requests with %s cannot be part of a batch", jsonrpc.MetaVersion)
	}
	return nil
}
