//go:build !race

package schema_test

import (
	"strings"
	"testing"
)

// The race detector makes pools forget, so that these tests are without it.

func TestCheckAllocates(t *testing.T) {
	nested := `{"name":"x","in":{"city":"a"}}`
	for _, tt := range []struct {
		name  string
		check func()
	}{
		{"add", func() { input[addArgs](t).Check([]byte(addCall)) }},
		{"search", func() { input[searchArgs](t).Check([]byte(searchCall)) }},
		{"unknown names", func() { input[wrap[any]](t).Check([]byte(`{"v":` + nested + `,"w":1}`)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.check()
			if n := testing.AllocsPerRun(100, tt.check); n > 2 { // of the test itself: the plan's key and the bytes
				t.Errorf("%v allocations", n)
			}
		})
	}
	t.Run("accepted arguments come back as they are", func(t *testing.T) {
		long := []byte(`{"v":"` + strings.Repeat("x", 1<<20) + `"}`)
		large := input[wrap[string]](t)
		if n := testing.AllocsPerRun(10, func() { large.Check(long) }); n != 0 {
			t.Errorf("%v allocations for 1 MiB", n)
		}
		p, args := input[searchArgs](t), []byte(searchCall)
		if n := testing.AllocsPerRun(100, func() {
			if out, v := p.Check(args); &out[0] != &args[0] || v != nil {
				t.Fatal("copied or refused")
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
