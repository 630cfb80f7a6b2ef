package mcp_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// numbers calls yield for each number in a struct of type v, those of structs and maps in it too: with its path, and a v
// that is zero but for -1 in this place.
func numbers(v reflect.Type, yield func(path string, v reflect.Value)) {
	for f := range v.Fields() {
		deeper := func(field string, v2 reflect.Value) {
			whole := reflect.New(v).Elem()
			whole.FieldByIndex(f.Index).Set(v2)
			yield(strings.TrimSuffix(f.Name+"."+field, "."), whole)
		}
		switch {
		case !f.IsExported():
		case f.Type.Kind() == reflect.Struct:
			numbers(f.Type, deeper)
		case f.Type.Kind() == reflect.Map && f.Type.Elem().Kind() == reflect.Struct:
			numbers(f.Type.Elem(), func(field string, v2 reflect.Value) {
				m := reflect.MakeMap(f.Type)
				m.SetMapIndex(reflect.ValueOf("tools/list"), v2)
				deeper(field, m)
			})
		case f.Type.Kind() == reflect.Int || f.Type.Kind() == reflect.Int64:
			number := reflect.New(f.Type).Elem()
			number.SetInt(-1)
			deeper("", number)
		}
	}
}

// TestNegativeOptions sets every number of the options, one after the other, to what means nothing.
func TestNegativeOptions(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	check := func(path string, fails func() error) {
		seen[path] = true
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			err := fails()
			for _, part := range append(strings.Split(path, "."), "option", "-1") {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Fatalf("%q is not in %v", part, err)
				}
			}
			if !strings.Contains(err.Error(), "0 means") && path != "Legacy" {
				t.Errorf("what to do is not in %v", err)
			}
		})
	}
	numbers(reflect.TypeFor[mcp.ServerOptions](), func(path string, v reflect.Value) {
		opts := v.Interface().(mcp.ServerOptions)
		check(path, mcp.NewServer("s", "1", &opts).Check)
	})
	numbers(reflect.TypeFor[mcp.HTTPOptions](), func(path string, v reflect.Value) {
		opts := v.Interface().(mcp.HTTPOptions)
		check(path, func() error {
			_, err := mcp.NewServer("s", "1", nil).HTTPHandler(&opts)
			return err
		})
	})
	for _, path := range []string{"PageSize", "StateTTL", "Cache.TTL", "ListCache.TTL", "Limits.Message", "Limits.Logs", "KeepAlive", "SessionTTL", "MaxStream", "Legacy"} {
		if !seen[path] {
			t.Errorf("%s was not tried: %v", path, seen)
		}
	}
}
