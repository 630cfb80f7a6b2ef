package jsonx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/typedmcp/mcp/internal/jsonx"
)

func TestWalkerSpans(t *testing.T) {
	data := []byte(` {"a" : [1, {"b":2}] , "\u0062c":"x\ny","n":null} `)
	w := jsonx.Walk(data)
	defer w.Release()
	if k := w.Kind(); k != '{' {
		t.Fatalf("Kind = %q", byte(k))
	}
	if err := w.Open(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for w.Kind() != '}' {
		name, escaped, err := w.Name()
		if err != nil {
			t.Fatal(err)
		}
		text := string(name)
		span, err := w.Value()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %v %s", text, escaped, span))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	want := "a false [1, {\"b\":2}]|bc true \"x\\ny\"|n false null"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestWalkerRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"empty":           ``,
		"cut":             `{"a":`,
		"two values":      `1 2`,
		"bad UTF-8":       "\"\xff\"",
		"lone surrogate":  `"\ud800"`,
		"byte order mark": "\ufeff1",
	} {
		t.Run(name, func(t *testing.T) {
			w := jsonx.Walk([]byte(in))
			defer w.Release()
			_, err := w.Value()
			if err == nil {
				err = w.End()
			}
			if err == nil {
				t.Errorf("%q was accepted", in)
			}
		})
	}
}

func TestNameSet(t *testing.T) {
	var s jsonx.NameSet
	for _, n := range []int{100, 17, 5000, 16, 100} {
		for i := range n {
			if !s.Add(fmt.Appendf(nil, "n%d", i)) {
				t.Fatalf("n%d is new", i)
			}
			if s.Add(fmt.Appendf(nil, "n%d", i/2)) {
				t.Fatalf("n%d is not new", i/2)
			}
			if s.Add(fmt.Appendf(nil, "n%d", i/3)) {
				t.Fatalf("n%d is not new", i/3)
			}
			if s.Add([]byte("n0")) {
				t.Fatalf("n0 is not new after n%d", i)
			}
		}
		s.Reset()
	}
	t.Run("keeps its memory", func(t *testing.T) {
		names := make([][]byte, 200)
		for i := range names {
			names[i] = fmt.Appendf(nil, "n%d", i)
		}
		fill := func() {
			for _, name := range names {
				s.Add(name)
			}
			s.Reset()
		}
		fill()
		if n := testing.AllocsPerRun(10, fill); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestDeeperThan(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  bool
	}{
		{`[[[]]]`, 3, false},
		{`[[[]]]`, 2, true},
		{`{"[[[[":{"a":"]]\"[["}}`, 2, false},
		{`[[],[],[],[]]`, 2, false},
		{strings.Repeat("[", 1000), 128, true},
	} {
		if got := jsonx.DeeperThan([]byte(c.in), c.limit); got != c.want {
			t.Errorf("DeeperThan(%.20s, %d) = %v", c.in, c.limit, got)
		}
	}
}
