package jsonx_test

import (
	"testing"

	"github.com/typedmcp/mcp/internal/jsonx"
)

func TestFind(t *testing.T) {
	data := []byte(`{"a":{"b":[1],"\u0063":{"d":"x"}},"e":1}`)
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"a", "b"}, `[1]`},
		{[]string{"a", "c", "d"}, `"x"`},
		{[]string{"e"}, `1`},
		{[]string{"e", "f"}, ``},
		{[]string{"z"}, ``},
	} {
		got, err := jsonx.Find(data, c.path...)
		if err != nil || string(got) != c.want {
			t.Errorf("Find(%v) = %s, %v; want %s", c.path, got, err, c.want)
		}
	}
	if _, err := jsonx.Find([]byte(`{"a":`), "a"); err == nil {
		t.Error("broken JSON is no error")
	}
}

func TestFindEach(t *testing.T) {
	names := []string{"a", "b"}
	for _, c := range []struct{ in, a, b string }{
		{`{"b":[{"a":1}],"x":{"a":2},"a":"y"}`, `"y"`, `[{"a":1}]`},
		{`{"\u0061":null}`, `null`, ``},
		{`{"x":1,"x":2}`, ``, ``},
		{`{}`, ``, ``},
	} {
		var spans [2][]byte
		err := jsonx.FindEach([]byte(c.in), names, spans[:])
		if err != nil || string(spans[0]) != c.a || string(spans[1]) != c.b {
			t.Errorf("FindEach(%s) = %s, %v; want %s and %s", c.in, spans, err, c.a, c.b)
		}
	}
	for _, in := range []string{`{"a":`, `[]`, `"a"`, ``, `{"a":1,"b":2,"\u0061":3}`, `{"a":1`, `{"a":1 x`} {
		if err := jsonx.FindEach([]byte(in), names, make([][]byte, 2)); err == nil {
			t.Errorf("FindEach(%s) is no error", in)
		}
	}
}

func TestView(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{`"plain"`, "plain", true},
		{`"\u0041\n"`, "A\n", true},
		{`""`, "", true},
		{`1`, "", false},
		{``, "", false},
	} {
		if got, ok := jsonx.View([]byte(c.in)); got != c.want || ok != c.ok {
			t.Errorf("View(%s) = %q, %v", c.in, got, ok)
		}
	}
}
