//go:build !race

package schema_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

const hostileSize = 8 << 20

// attack is arguments of 8 MiB that are made to be costly, and a plan that
// refuses them.
type attack struct {
	name string
	keep int // bytes that may be allocated for each byte
	plan *schema.Plan
	args []byte
}

const (
	few  = 4
	many = 24 // what has to be kept, to be compared with what comes after
)

func hostile(tb testing.TB) []attack {
	type lists struct {
		N []int             `json:"n"`
		S []string          `json:"s,omitempty" jsonschema:"pattern=^(a|aa)+$"`
		M map[int]bool      `json:"m,omitempty"`
		T []folder          `json:"t,omitempty"`
		P string            `json:"p,omitempty" jsonschema:"pattern=^(a|aa)+$,maxLength=1000"`
		U []string          `json:"u,omitempty" validate:"unique"`
		E []string          `json:"e,omitempty" jsonschema:"enum=a,enum=b"`
		D map[string]string `json:"d,omitempty" jsonschema:"maxProperties=3"`
	}
	add, all := input[addArgs](tb), input[lists](tb)
	random := rand.New(rand.NewPCG(1, 2))
	serial := 0
	// members makes members, each with a name of its own.
	members := func(format string) func() string {
		return func() string { serial++; return fmt.Sprintf(format, serial) }
	}
	always := func(part string) func() string { return func() string { return part } }
	return []attack{
		{"unknown names", many, add, repeat(`{"a":1`, members(`,"n%d":0`), `}`)},
		{"unknown names, strict", few, add.Strict(), repeat(`{"a":1`, members(`,"n%d":0`), `}`)},
		{"one name again and again", few, add, repeat(`{"a":1,"b":2`, always(`,"a":1`), `}`)},
		{"names like a missing one", few, add, repeat(`{"a":1`, func() string { serial++; return fmt.Sprintf(`,"b%d":0`, serial%100) }, `}`)},
		{"long names", few, add, repeat(`{"a":1`, func() string { serial++; return fmt.Sprintf(`,"%d%s":0`, serial, strings.Repeat("b", 5000)) }, `}`)},
		{"a long string", few, add, []byte(`{"a":"` + strings.Repeat("x", hostileSize) + `"}`)},
		{"a string of escapes", few, add, []byte(`{"a":"` + strings.Repeat(`\u00e4`, hostileSize/6) + `"}`)},
		{"a long number", few, add, []byte(`{"a":1,"b":1` + strings.Repeat("0", hostileSize) + `}`)},
		{"digits after the point", few, all, []byte(`{"n":[1.` + strings.Repeat("0", hostileSize) + `1]}`)},
		{"an exponent", few, all, []byte(`{"n":[1e` + strings.Repeat("9", hostileSize) + `]}`)},
		{"items of another type", few, all, repeat(`{"n":[""`, always(`,""`), `]}`)},
		{"fractions", few, all, repeat(`{"n":[1.5`, always(`,1.5`), `]}`)},
		{"items that need an edit, then a fault", few, all, repeat(`{"n":[1`, always(`,1.0`), `],"s":1}`)},
		{"many texts against a pattern", few, all, repeat(`{"n":[],"s":["b"`, always(`,"aaaaaaaaaaaaaaaab"`), `]}`)},
		{"a text too long to be held against its pattern", few, all, []byte(`{"n":[],"p":"` + strings.Repeat("a", hostileSize) + `"}`)},
		{"keys that are no integers", few, all, repeat(`{"n":[],"m":{"x":true`, members(`,"x%d":true`), `}}`)},
		{"too many members", many, all, repeat(`{"n":[],"d":{"x":""`, members(`,"x%d":""`), `}}`)},
		{"a tree that ends badly", few, all, []byte(`{"n":[],"t":[` + strings.Repeat(`{"label":"x","subs":[`, 100) + strings.Repeat(`{"label":"x"},`, hostileSize/14) + `1` + strings.Repeat(`]}`, 100) + `]}`)},
		{"distinct items, then the first again", many, all, repeat(`{"n":[],"u":["x"`, func() string { return fmt.Sprintf(`,"%x"`, random.Uint64()) }, `,"x"]}`)},
		{"distinct items, and a fault elsewhere", many, all, repeat(`{"n":[],"u":["x"`, func() string { return fmt.Sprintf(`,"%x"`, random.Uint64()) }, `],"s":1}`)},
		{"items that all come twice", many, all, repeat(`{"n":[],"u":["x"`, func() string { serial++; return fmt.Sprintf(`,"%x"`, serial*2654435761%500_000>>1) }, `]}`)},
		{"a long value for an enumeration", few, all, []byte(`{"n":[],"e":["` + strings.Repeat("a", hostileSize) + `"]}`)},
		{"brackets", few, add, []byte(`{"a":` + strings.Repeat("[", hostileSize))},
		{"cut off", few, add, repeat(`{"a":[1`, always(`,1`), ``)},
	}
}

// repeat is text of about the hostile size.
func repeat(begin string, part func() string, end string) []byte {
	var b strings.Builder
	b.Grow(hostileSize + 10_000)
	b.WriteString(begin)
	for b.Len() < hostileSize {
		b.WriteString(part())
	}
	b.WriteString(end)
	return []byte(b.String())
}

// TestHostileArguments shows that refusing takes memory in proportion to what
// is refused, and tells no more than a model can read.
func TestHostileArguments(t *testing.T) {
	for _, tt := range hostile(t) {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, violations := tt.plan.Check(tt.args)
			runtime.ReadMemStats(&after)
			if len(violations) == 0 || len(violations) > 20 {
				t.Fatalf("%d violations", len(violations))
			}
			size := 0
			for _, v := range violations {
				size += len(v.Path) + len(v.Message)
			}
			if size > 20_000 {
				t.Errorf("violations of %d bytes", size)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > uint64(tt.keep*hostileSize) {
				t.Errorf("%d MiB allocated", got>>20)
			}
		})
	}
}

// BenchmarkHostile compares refusing hostile arguments with parsing them: it
// should take less than 10 times as long, but for the name that comes again,
// where both give up after a few bytes and what is compared are microseconds.
func BenchmarkHostile(b *testing.B) {
	for _, bm := range hostile(b) {
		b.Run(bm.name, func(b *testing.B) {
			var check, parse time.Duration
			for b.Loop() {
				start := time.Now()
				bm.plan.Check(bm.args)
				check += time.Since(start)
				start = time.Now()
				jsonx.Valid(bm.args)
				parse += time.Since(start)
			}
			b.ReportMetric(float64(check)/float64(parse), "x-parse")
		})
	}
}
