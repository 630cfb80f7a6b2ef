//go:build !race

// Pools lose items on purpose under the race detector, so that counting
// allocations means nothing there.

package jsonx_test

import (
	"testing"

	"github.com/typedmcp/mcp/internal/jsonx"
)

func TestWalkerAllocates(t *testing.T) {
	data := []byte(`{"jsonrpc":"2.0","id":1,"params":{"a":[1,2,3],"b":"text"}}`)
	n := testing.AllocsPerRun(100, func() {
		w := jsonx.Walk(data)
		_ = w.Open()
		for w.Kind() == '"' {
			_, _, _ = w.Name()
			_, _ = w.Value()
		}
		_ = w.Close()
		w.Release()
	})
	if n > 0 {
		t.Errorf("a walk allocates %v times", n)
	}
}
