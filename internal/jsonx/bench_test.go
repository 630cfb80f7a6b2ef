package jsonx_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
)

type (
	addArgs struct {
		A int64 `json:"a"`
		B int64 `json:"b"`
	}
	searchArgs struct {
		Query  string   `json:"query"`
		Limit  int      `json:"limit,omitempty"`
		Tags   []string `json:"tags"`
		Filter struct {
			By   string  `json:"by"`
			Desc bool    `json:"desc"`
			Min  float64 `json:"min"`
		} `json:"filter"`
	}
	waitArgs struct { // reaches a codec of ours
		searchArgs
		Wait time.Duration `json:"wait"`
	}
	anyArgs struct {
		searchArgs
		Extra any `json:"extra"`
	}
	row struct {
		ID    int      `json:"id"`
		Name  string   `json:"name"`
		Score float64  `json:"score"`
		Tags  []string `json:"tags"`
	}
)

const searchText = `"query":"hello world","limit":10,"tags":["a","b","c"],"filter":{"by":"name","desc":true,"min":1.5}`

func benchmarkUnmarshal[T any](text string) func(b *testing.B) {
	return func(b *testing.B) {
		data := []byte(text)
		b.ReportAllocs()
		for b.Loop() {
			var v T
			if err := jsonx.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	b.Run("add", benchmarkUnmarshal[addArgs](`{"a":1,"b":2}`))
	b.Run("search", benchmarkUnmarshal[searchArgs](`{`+searchText+`}`))
	b.Run("duration", benchmarkUnmarshal[waitArgs](`{`+searchText+`,"wait":"1m30s"}`))
	b.Run("any", benchmarkUnmarshal[anyArgs](`{`+searchText+`,"extra":{"a":[1,"x"]}}`))
	b.Run("any with a long number", benchmarkUnmarshal[anyArgs](`{`+searchText+`,"extra":{"a":[1152921504606846976,"x"]}}`))
}

func rows(n int) []row {
	list := make([]row, n)
	for i := range list {
		list[i] = row{i, fmt.Sprintf("row number %d", i), float64(i) / 7, []string{"alpha", "beta"}}
	}
	return list
}

func BenchmarkAppend(b *testing.B) {
	list := rows(80)
	for name, v := range map[string]any{
		"add":      &addArgs{1, 2},
		"search":   &searchArgs{Query: "hello", Tags: []string{"a", "b"}},
		"duration": &waitArgs{Wait: time.Minute},
		"any":      &anyArgs{Extra: map[string]any{"a": []any{1.0, "x"}}},
		"rows":     &list,
	} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 16<<10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonx.Append(dst, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendQuoted(b *testing.B) {
	list := rows(80)
	result, err := jsonx.Marshal(&list)
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"JSON":         result,
		"prose":        []byte(strings.Repeat("The quick brown fox jumps over the lazy dog, and again.\n", 130)),
		"beyond ASCII": []byte(strings.Repeat("Съешь ещё этих мягких французских булок. ", 100)),
		"1 MiB":        bytes.Repeat([]byte("plain text in lines\n"), 1<<20/20),
	} {
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, 0, 3*len(text))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				jsonx.AppendQuoted(dst, text)
			}
		})
	}
}
