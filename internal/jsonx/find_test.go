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
