//go:build !race

// Pools lose items on purpose under the race detector, so that counting
// allocations means nothing there.

package jsonrpc_test

import (
	"testing"

	"github.com/typedmcp/mcp/internal/jsonrpc"
)

func TestDecodeAllocates(t *testing.T) {
	in := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	var m jsonrpc.Message
	decode := func() {
		m = jsonrpc.Message{}
		if err := jsonrpc.Decode(in, depth, &m); err != nil {
			t.Error(err)
		}
	}
	if n := testing.AllocsPerRun(100, decode); n > 0 {
		t.Errorf("decoding allocates %v times", n)
	}
}
