//go:build !race

package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// keptWriter is a ResponseWriter that keeps its memory from one response to the next.
type keptWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *keptWriter) Header() http.Header    { return w.header }
func (w *keptWriter) WriteHeader(status int) { w.status = status }
func (w *keptWriter) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}

// repeater has body answered over and over with as little made anew as net/http allows: the request and its context.
type repeater struct {
	h    http.Handler
	base *http.Request
	ctx  context.Context
	text strings.Reader
	read io.ReadCloser // text
	body string
	w    keptWriter
}

func newRepeater(h http.Handler, body string, edits ...string) *repeater {
	r := &repeater{h: h, base: modernPost(body, edits...), body: body}
	r.ctx = context.WithValue(context.Background(), http.LocalAddrContextKey, loopback)
	r.read = io.NopCloser(&r.text)
	r.w.header = make(http.Header)
	return r
}

func (r *repeater) once() {
	clear(r.w.header)
	r.w.status, r.w.body = 0, r.w.body[:0]
	r.text.Reset(r.body)
	req := r.base.WithContext(r.ctx) // copies the struct
	req.Body = r.read
	r.h.ServeHTTP(&r.w, req)
}

// cost returns the allocations and bytes of f in the long run.
func cost(f func()) (allocs, bytes float64) {
	const runs = 2000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range 100 {
		f()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / runs, float64(after.TotalAlloc-before.TotalAlloc) / runs
}

// The tools of TestHTTPAllocations.
type (
	numberArgs   struct{ A, B float64 }
	numberResult struct {
		Sum float64 `json:"sum"`
	}
	searchArgs struct {
		Query   string         `json:"query" jsonschema:"minLength=1,maxLength=200"`
		Limit   int            `json:"limit" jsonschema:"minimum=1,maximum=100"`
		Filters []searchFilter `json:"filters"`
		Sort    *searchOrder   `json:"sort,omitempty"`
	}
	searchFilter struct {
		Field string `json:"field"`
		Op    string `json:"op" jsonschema:"enum=eq,enum=ne,enum=lt"`
		Value string `json:"value"`
	}
	searchOrder struct {
		By   string `json:"by"`
		Desc bool   `json:"desc"`
	}
	searchResult struct {
		Total int         `json:"total"`
		Hits  []searchHit `json:"hits"`
	}
	searchHit struct {
		ID      int      `json:"id"`
		Title   string   `json:"title"`
		URL     string   `json:"url"`
		Snippet string   `json:"snippet"`
		Score   float64  `json:"score"`
		Tags    []string `json:"tags"`
		Created string   `json:"created"`
	}
)

// TestHTTPAllocations bounds what a call costs beside the handler's own work.
func TestHTTPAllocations(t *testing.T) {
	s := mcp.NewServer("allocations", "1", nil)
	mcp.AddTool(s, "add", "", func(_ context.Context, a numberArgs) (numberResult, error) { return numberResult{a.A + a.B}, nil })
	hits := make([]searchHit, 20)
	for i := range hits {
		hits[i] = searchHit{
			ID: 10_000 + i, Title: "Quarterly report on the migration of the billing system",
			URL:     "https://wiki.example.com/finance/reports/2026/q2/billing-migration",
			Snippet: `The team moved the remaining "legacy" accounts and closed the old ledger, which had been promised for the spring.`,
			Score:   float64(20-i) / 23, Tags: []string{"billing", "migration"}, Created: "2026-05-04T10:20:30Z",
		}
	}
	mcp.AddTool(s, "search", "", func(_ context.Context, a searchArgs) (searchResult, error) {
		return searchResult{1234, hits[:min(a.Limit, len(hits))]}, nil
	})
	h := newHandler(t, s, nil)
	search := `{"query":"` + strings.Repeat("billing migration ", 10) + `","limit":20,"sort":{"by":"score","desc":true},"filters":[` +
		strings.Repeat(`{"field":"team","op":"eq","value":"finance"},`, 3) + `{"field":"year","op":"lt","value":"2027"}]}`

	tests := []struct {
		name, body    string
		answer        int // bytes, at least
		allocs, bytes float64
	}{
		{"add", modernCall("1", "add", `{"A":1.5,"B":2}`), 100, 15, 1500},
		{"search", modernCall("1", "search", search), 13_000, 25, 16_000},
	}
	for _, tt := range tests {
		t.Run("W12 "+tt.name, func(t *testing.T) {
			r := newRepeater(h, tt.body)
			allocs, bytes := cost(r.once)
			if r.w.status != http.StatusOK || len(r.w.body) < tt.answer || strings.Contains(string(r.w.body), "isError") {
				t.Fatalf("%d %.300s (%d bytes)", r.w.status, r.w.body, len(r.w.body))
			}
			t.Logf("%.2f allocations, %.0f bytes", allocs, bytes)
			if allocs > tt.allocs || bytes > tt.bytes {
				t.Errorf("%.2f allocations, %.0f bytes; at most %v and %v", allocs, bytes, tt.allocs, tt.bytes)
			}
		})
	}
}

// TestHTTPBodyMemory shows that memory follows what has come, not what was announced.
func TestHTTPBodyMemory(t *testing.T) {
	h := newHandler(t, newFixture(nil).Server, nil)
	for _, announced := range []int64{16 << 20, -1} {
		t.Run(fmt.Sprintf("C92 announced %d", announced), func(t *testing.T) {
			_, bytes := cost(func() {
				r := withBody(modernPost(`{"jsonrpc"`), announced)
				h.ServeHTTP(&keptWriter{header: make(http.Header)}, r)
			})
			if bytes > 64<<10 {
				t.Errorf("a body of ten bytes cost %.0f", bytes)
			}
		})
	}
}
