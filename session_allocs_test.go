//go:build !race

package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestSessionAllocations bounds what a session adds to the cost of a call: a look-up, and no second way through.
func TestSessionAllocations(t *testing.T) {
	s := mcp.NewServer("allocations", "1", nil)
	mcp.AddTool(s, "add", "", func(_ context.Context, a numberArgs) (numberResult, error) { return numberResult{a.A + a.B}, nil })
	h := newHandler(t, s, nil)
	session := openHTTPSession(t, h, "2025-11-25", "")
	modern := newRepeater(h, modernCall("1", "add", `{"A":1.5,"B":2}`))
	legacy := newRepeater(h, legacyCall("1", "add", `{"A":1.5,"B":2}`))
	legacy.base = session.post(legacy.body)
	modernAllocs, modernBytes := cost(modern.once)
	allocs, bytes := cost(legacy.once)
	if legacy.w.status != http.StatusOK || !strings.Contains(string(legacy.w.body), `"sum":3.5`) {
		t.Fatalf("%d %s", legacy.w.status, legacy.w.body)
	}
	t.Logf("%.2f allocations, %.0f bytes; modern %.2f, %.0f", allocs, bytes, modernAllocs, modernBytes)
	if allocs > modernAllocs+4 || bytes > modernBytes+128 {
		t.Errorf("%.2f allocations, %.0f bytes; a modern call has %.2f, %.0f", allocs, bytes, modernAllocs, modernBytes)
	}
}
