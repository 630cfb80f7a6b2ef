package sse_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp/internal/sse"
)

func TestAppendEvent(t *testing.T) {
	tests := []struct {
		name  string
		event sse.Event
		want  string
	}{
		{"message", sse.Event{Data: []byte(`{"a":1}`)}, "data: {\"a\":1}\n\n"},
		{"all fields", sse.Event{ID: "s1-7", Name: "endpoint", Data: []byte("/mcp")}, "id: s1-7\nevent: endpoint\ndata: /mcp\n\n"},
		{"LHT-23 id and empty data", sse.Event{ID: "s1-0"}, "id: s1-0\ndata: \n\n"},
		{"zero", sse.Event{}, "data: \n\n"},
		{"LF", sse.Event{Data: []byte("a\nb")}, "data: a\ndata: b\n\n"},
		{"CR", sse.Event{Data: []byte("a\rb")}, "data: a\ndata: b\n\n"},
		{"CRLF", sse.Event{Data: []byte("a\r\nb")}, "data: a\ndata: b\n\n"},
		{"LF CR is two breaks", sse.Event{Data: []byte("a\n\rb")}, "data: a\ndata: \ndata: b\n\n"},
		{"break at the end", sse.Event{Data: []byte("a\n")}, "data: a\ndata: \n\n"},
		{"break alone", sse.Event{Data: []byte("\n")}, "data: \ndata: \n\n"},
		{"data that looks like a field", sse.Event{Data: []byte("x\nid: 9\n\nevent: y")}, "data: x\ndata: id: 9\ndata: \ndata: event: y\n\n"},
		{"leading space", sse.Event{Data: []byte("  a")}, "data:   a\n\n"},
		{"id and name cannot end their line", sse.Event{ID: "1\r\nevent: x\x00", Name: "a\n\ndata: b\r"}, "id: 1event: x\nevent: adata: b\ndata: \n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sse.AppendEvent([]byte("x"), tt.event); string(got) != "x"+tt.want {
				t.Errorf("got %q, want %q", got, "x"+tt.want)
			}
		})
	}
}

func TestAppendRetry(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                          "retry: 0\n\n",
		500 * time.Millisecond:     "retry: 500\n\n",
		1500*time.Microsecond + 10: "retry: 1\n\n",
		2 * time.Minute:            "retry: 120000\n\n",
		-time.Second:               "retry: 0\n\n",
	} {
		t.Run("LHT-23 "+d.String(), func(t *testing.T) {
			if got := sse.AppendRetry(nil, d); string(got) != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestAppendComment(t *testing.T) {
	for text, want := range map[string]string{
		"":                  ": \n\n",
		"keep-alive":        ": keep-alive\n\n",
		"a\nb\r\nc\x00d":    ": abcd\n\n",
		"x\n\ndata: forged": ": xdata: forged\n\n",
	} {
		if got := sse.AppendComment(nil, text); string(got) != want {
			t.Errorf("comment %q is %q, want %q", text, got, want)
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 1<<10)
	event := sse.Event{ID: "s1-7", Name: "message", Data: []byte(strings.Repeat("line\n", 20))}
	comment := strings.Repeat("long ", 20)
	allocs := testing.AllocsPerRun(100, func() {
		b := sse.AppendEvent(buf, event)
		b = sse.AppendRetry(b, time.Second)
		b = sse.AppendComment(b, comment)
		if len(b) == 0 {
			t.Fatal("nothing written")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations with room in the buffer, want 0", allocs)
	}
}

// FuzzWrite checks that what is written is read back, whatever it is.
func FuzzWrite(f *testing.F) {
	f.Add("1", "message", []byte(`{"a":1}`), "keep-alive")
	f.Add("1\r\n\r\nx", "a\nb", []byte("\r\n\n\r"), "\n\ndata: x\n\n")
	f.Add("", "", []byte{}, "")
	f.Add("\x00", ": ", []byte(": x\ndata"), "\ufeff\xff")
	f.Fuzz(func(t *testing.T, id, name string, data []byte, comment string) {
		stream := sse.AppendComment(nil, comment)
		stream = sse.AppendRetry(stream, time.Second)
		stream = sse.AppendEvent(stream, sse.Event{ID: id, Name: name, Data: data})
		stream = sse.AppendEvent(stream, sse.Event{Data: []byte("end")})

		omit := strings.NewReplacer("\r", "", "\n", "", "\x00", "")
		id, name = omit.Replace(id), omit.Replace(name)
		if name == "" {
			name = sse.Message
		}
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))

		r := sse.NewReader(bytes.NewReader(stream), 1<<20)
		if len(data) > 0 {
			wantEvent(t, r, sse.Event{ID: id, Name: name, Data: data})
		}
		wantEvent(t, r, sse.Event{ID: id, Name: sse.Message, Data: []byte("end")})
		wantEOF(t, r)
		if d, ok := r.Retry(); d != time.Second || !ok {
			t.Errorf("retry %v, %t, want 1s", d, ok)
		}
	})
}

func BenchmarkAppendEvent(b *testing.B) {
	for name, size := range map[string]int{"100B": 100, "14KB": 14 << 10, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			event := sse.Event{Data: bytes.Repeat([]byte("x"), size)}
			buf := make([]byte, 0, size+100)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				buf = sse.AppendEvent(buf[:0], event)
			}
		})
	}
}
