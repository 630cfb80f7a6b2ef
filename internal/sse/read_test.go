package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/sse"
)

func wantEvent(t *testing.T, r *sse.Reader, want sse.Event) {
	t.Helper()
	got, err := r.Next()
	if err != nil {
		t.Fatalf("%v, want event %+v", err, want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func wantEOF(t *testing.T, r *sse.Reader) {
	t.Helper()
	for range 2 {
		if got, err := r.Next(); err != io.EOF {
			t.Fatalf("%+v, %v, want the end", got, err)
		}
	}
}

// read returns what r gives until its end, each event as "name id data", and a
// too large one as "too large".
func read(t *testing.T, r *sse.Reader) []string {
	t.Helper()
	var all []string
	for {
		event, err := r.Next()
		switch {
		case err == nil:
			all = append(all, fmt.Sprintf("%s %s %s", event.Name, event.ID, event.Data))
		case errors.Is(err, sse.ErrTooLarge):
			all = append(all, "too large")
		case err == io.EOF:
			return all
		default:
			t.Fatal(err)
		}
	}
}

// carriers bring the same stream in different pieces.
var carriers = map[string]func(io.Reader) io.Reader{
	"whole":         func(r io.Reader) io.Reader { return r },
	"byte by byte":  iotest.OneByteReader,
	"in halves":     iotest.HalfReader,
	"end with data": iotest.DataErrReader,
}

func TestNext(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"empty stream", "", nil},
		{"one event", "data: x\n\n", []string{"message  x"}},
		{"C131 event without name", "data: {}\n\n", []string{"message  {}"}},
		{"C131 HTTP-17 comments around and inside", ": hi\n\n:\n:\n\ndata: a\n: in between\ndata: b\n\n: bye\n\n", []string{"message  a\nb"}},
		{"HTTP-17 comment of the specification", ":\r\ndata: a\r\n\r\n:\r\n", []string{"message  a"}},
		{"C131 ping with data that is not JSON", "event: ping\ndata: 2026-07-28 12:00\n\ndata: {}\n\n", []string{"ping  2026-07-28 12:00", "message  {}"}},
		{"C131 HTTP-17 empty data with id", "id: 1\ndata:\n\ndata: x\n\n", []string{"message 1 x"}},
		{"id without data", "id: 1\n\ndata: x\n\n", []string{"message 1 x"}},
		{"C131 HTTP-17 data over three lines", "data: {\ndata: \"a\":1\ndata: }\n\n", []string{"message  {\n\"a\":1\n}"}},
		{"HTTP-17 LF", "data: a\n\ndata: b\n\n", []string{"message  a", "message  b"}},
		{"C131 HTTP-17 CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"message  a", "message  b"}},
		{"C131 HTTP-17 CR only", "data: a\r\rdata: b\r\r", []string{"message  a", "message  b"}},
		{"line ends mixed", "data: a\r\n\rdata: b\n\r\n\ndata: c\r\r\n", []string{"message  a", "message  b", "message  c"}},
		{"C131 BOM", "\uFEFFdata: a\n\n", []string{"message  a"}},
		{"BOM alone on its line", "\uFEFF\ndata: a\n\n", []string{"message  a"}},
		{"BOM once only", "\uFEFF\uFEFFdata: a\n\ndata: b\n\n", []string{"message  b"}},
		{"BOM at the start only", "data: a\n\n\uFEFFdata: b\n\n", []string{"message  a"}},
		{"half a BOM", "\xEF\xBBdata: a\n\ndata: b\n\n", []string{"message  b"}},
		{"HTTP-17 unknown fields", "foo: bar\ndata: a\nDATA: b\ndata : c\n\n", []string{"message  a"}},
		{"C131 unfinished last event", "data: a\n\nid: 7\ndata: b\n", []string{"message  a"}},
		{"C131 unfinished last line", "data: a\n\ndata: b", []string{"message  a"}},
		{"ended by CR", "data: a\n\r", []string{"message  a"}},
		{"no space after the colon", "data:a\nid:1\nevent:x\n\n", []string{"x 1 a"}},
		{"only one space is cut", "data:  a \n\n", []string{"message   a "}},
		{"tab is not cut", "data:\ta\n\n", []string{"message  \ta"}},
		{"colons in the value", "data: a:b: c\n\n", []string{"message  a:b: c"}},
		{"field without colon", "data: a\ndata\ndata: b\n\n", []string{"message  a\n\nb"}},
		{"only line breaks in the data", "data\ndata\n\n", []string{"message  \n"}},
		{"data empty before text", "data:\ndata: a\n\n", []string{"message  \na"}},
		{"name does not outlive its event", "event: ping\n\ndata: a\n\n", []string{"message  a"}},
		{"last name counts", "event: a\nevent: b\ndata: x\n\n", []string{"b  x"}},
		{"empty name is none", "event: a\nevent:\ndata: x\n\n", []string{"message  x"}},
		{"id stays", "id: 1\ndata: a\n\ndata: b\n\n", []string{"message 1 a", "message 1 b"}},
		{"id is reset", "id: 1\ndata: a\n\nid\ndata: b\n\n", []string{"message 1 a", "message  b"}},
		{"id with NUL is ignored", "id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\n", []string{"message 1 a", "message 1 b"}},
		{"bytes that are not UTF-8", "data: \xff\n\n", []string{"message  \xff"}},
		{"NUL in the data", "data: \x00\n\n", []string{"message  \x00"}},
		{"blank lines", "\n\r\n\r\n\n", nil},
	}
	for _, tt := range tests {
		for how, carry := range carriers {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				got := read(t, sse.NewReader(carry(strings.NewReader(tt.stream)), 1<<10))
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%q: %s", tt.stream, diff)
				}
			})
		}
	}
}

func TestLastEventID(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"none", "data: a\n\n", ""},
		{"of an event", "id: 1\ndata: a\n\n", "1"},
		{"of an event without data", "id: 1\n\n", "1"},
		{"unfinished event was not received", "id: 1\ndata: a\n\nid: 2\ndata: b\n", "1"},
		{"of a large event", "id: 1\ndata: a\n\nid: 2\ndata: 0123456789abcdef\n\n", "2"},
		{"behind the data of a large event", "id: 1\ndata: a\n\ndata: 0123456789abcdef\nid: 2\n\n", "2"},
		{"too large itself", "id: 1\ndata: a\n\nid: 0123456789abcdef\ndata: a\n\n", "1"},
		{"reset", "id: 1\ndata: a\n\nid:\n\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sse.NewReader(strings.NewReader(tt.stream), 10)
			read(t, r)
			if got := r.LastEventID(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRetry(t *testing.T) {
	tests := []struct {
		name, stream string
		want         time.Duration
		ok           bool
	}{
		{"none", "data: a\n\n", 0, false},
		{"milliseconds", "retry: 500\n\n", 500 * time.Millisecond, true},
		{"zero is a wish", "retry: 0\n\n", 0, true},
		{"at once, in an unfinished event", "retry: 500\n", 500 * time.Millisecond, true},
		{"the last one counts", "retry: 500\n\nretry: 700\n\n", 700 * time.Millisecond, true},
		{"of a large event", "data: 0123456789abcdefghijkl\nretry: 500\n\n", 500 * time.Millisecond, true},
		{"not a number", "retry: soon\n\n", 0, false},
		{"sign", "retry: +5\n\n", 0, false},
		{"negative", "retry: -5\n\n", 0, false},
		{"fraction", "retry: 0.5\n\n", 0, false},
		{"empty", "retry\n\n", 0, false},
		{"bad one keeps the good one", "retry: 500\nretry: x\n\n", 500 * time.Millisecond, true},
		{"longer than a Duration", "retry: 9223372036854775807\n\n", math.MaxInt64 / time.Millisecond * time.Millisecond, true},
		{"longer than 64 bits", "retry: 99999999999999999999\n\n", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sse.NewReader(strings.NewReader(tt.stream), 20)
			read(t, r)
			if d, ok := r.Retry(); d != tt.want || ok != tt.ok {
				t.Errorf("got %v, %t, want %v, %t", d, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	const limit = 10
	ten, eleven := strings.Repeat("x", limit), strings.Repeat("x", limit+1)
	endless := strings.Repeat("x", 10_000)
	const tooLarge, after = "too large", "message  y"
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"at the limit", "data: " + ten + "\n\n", []string{"message  " + ten}},
		{"at the limit behind a BOM", "\uFEFFdata: " + ten + "\n\n", []string{"message  " + ten}},
		{"one more", "data: " + eleven + "\n\ndata: y\n\n", []string{tooLarge, after}},
		{"one more without space", "data:" + eleven + "\n\ndata: y\n\n", []string{tooLarge, after}},
		{"at the limit in lines", "data: xxxx\ndata: yyyyy\n\n", []string{"message  xxxx\nyyyyy"}},
		{"one more in lines", "data: xxxx\ndata: yyyyyy\n\ndata: y\n\n", []string{tooLarge, after}},
		{"empty lines count", strings.Repeat("data\n", limit+2) + "\ndata: y\n\n", []string{tooLarge, after}},
		{"long line", "data: " + endless + "\n\ndata: y\n\n", []string{tooLarge, after}},
		{"long line ended by CR", "data: " + endless + "\r\rdata: y\r\r", []string{tooLarge, after}},
		{"long line ended by CRLF", "data: " + endless + "\r\n\r\ndata: y\r\n\r\n", []string{tooLarge, after}},
		{"one error for many long lines", strings.Repeat("data: "+endless+"\n", 3) + "\ndata: y\n\n", []string{tooLarge, after}},
		{"more data after it", "data: " + eleven + "\ndata: z\nevent: e\n\ndata: y\n\n", []string{tooLarge, after}},
		{"two large events", strings.Repeat("data: "+endless+"\n\n", 2) + "data: y\n\n", []string{tooLarge, tooLarge, after}},
		{"id", "id: " + eleven + "\ndata: x\n\ndata: y\n\n", []string{tooLarge, after}},
		{"id behind the data", "data: x\nid: " + eleven + "\n\ndata: y\n\n", []string{tooLarge, after}},
		{"name", "event: " + eleven + "\ndata: x\n\ndata: y\n\n", []string{tooLarge, after}},
		{"HTTP-17 comment has no limit", ":" + endless + "\ndata: y\n\n", []string{after}},
		{"HTTP-17 unknown field has no limit", "note: " + endless + "\ndata: y\n\n", []string{after}},
		{"unknown field without colon", endless + "\ndata: y\n\n", []string{after}},
		{"large and unfinished", "data: " + endless, []string{tooLarge}},
	}
	for _, tt := range tests {
		for how, carry := range carriers {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				got := read(t, sse.NewReader(carry(strings.NewReader(tt.stream)), limit))
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	for _, limit := range []int{0, -1} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			got := read(t, sse.NewReader(strings.NewReader(": c\n\ndata: x\n\ndata:\n\n"), limit))
			if diff := cmp.Diff([]string{tooLarge}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("greatest limit", func(t *testing.T) {
		got := read(t, sse.NewReader(strings.NewReader("data: "+endless+"\n\n"), math.MaxInt))
		if len(got) != 1 || len(got[0]) != len("message  ")+len(endless) {
			t.Errorf("%d events", len(got))
		}
	})
}

// start writes stream to the Reader it returns, and leaves the stream open: in
// a synctest bubble a Reader that waits for more fails the test.
func start(t *testing.T, stream string) *sse.Reader {
	pr, pw := io.Pipe()
	t.Cleanup(func() { pr.Close() })
	go pw.Write([]byte(stream))
	return sse.NewReader(pr, 10)
}

// A client may be waiting for what is too large: it has to learn of it while
// the rest is still on its way, or never comes.
func TestTooLargeIsReportedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, "data: 0123456789abcdefghijklmnopqrstuvwxyz")
		if _, err := r.Next(); err != sse.ErrTooLarge {
			t.Errorf("got %v, want ErrTooLarge", err)
		}
	})
}

// An event is complete with its blank line, whichever way that ends: a Reader
// that looked further would hold back the message of a quiet stream.
func TestEventIsReturnedAtOnce(t *testing.T) {
	for name, stream := range map[string]string{"LF": "data: x\n\n", "CR": "data: x\r\r", "CRLF": "data: x\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wantEvent(t, start(t, stream), sse.Event{Name: sse.Message, Data: []byte("x")})
			})
		})
	}
}

func TestManySkippedEvents(t *testing.T) {
	for name, skipped := range map[string]string{
		"comments":   ": keep-alive\n\n",
		"empty data": "id: 1\ndata:\n\n",
		"no data":    "event: ping\n\n",
	} {
		t.Run("C131 10 000 skipped events: "+name, func(t *testing.T) {
			stream := strings.Repeat(skipped, 10_000) + "data: x\n\n"
			r := sse.NewReader(strings.NewReader(stream), 10)
			got, err := r.Next()
			if err != nil || string(got.Data) != "x" {
				t.Fatalf("%+v, %v, want x", got, err)
			}
			wantEOF(t, r)
		})
	}
}

// Appending to an event's data must not overwrite what was received behind it.
func TestDataIsTheCallers(t *testing.T) {
	r := sse.NewReader(strings.NewReader("data: first\n\ndata: second\n\n"), 10)
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if grown := append(first.Data, "!!!!!!!!!!!!!!!!"...); string(grown[:5]) != "first" {
		t.Errorf("data is %q", first.Data)
	}
	wantEvent(t, r, sse.Event{Name: sse.Message, Data: []byte("second")})
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("connection reset")
	t.Run("after complete events", func(t *testing.T) {
		r := sse.NewReader(io.MultiReader(strings.NewReader("data: x\n\ndata: y\n"), iotest.ErrReader(broken)), 10)
		wantEvent(t, r, sse.Event{Name: sse.Message, Data: []byte("x")})
		for range 2 {
			if got, err := r.Next(); err != broken {
				t.Errorf("%+v, %v, want %v", got, err, broken)
			}
		}
	})
	t.Run("reader without progress", func(t *testing.T) {
		r := sse.NewReader(idle{}, 10)
		for range 2 {
			if _, err := r.Next(); err != io.ErrNoProgress {
				t.Errorf("got %v, want io.ErrNoProgress", err)
			}
		}
	})
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// Events of many sizes make the buffer grow, move and shrink.
func TestLargeEvents(t *testing.T) {
	var stream []byte
	var want []sse.Event
	for i, size := range []int{1, 4000, 100_000, 2 << 20, 5, 4096, 400_000, 50, 700, 1} {
		line := bytes.Repeat([]byte{byte('a' + i)}, size)
		for range i%3 + 1 {
			event := sse.Event{ID: fmt.Sprint(i), Name: sse.Message, Data: bytes.Join([][]byte{line, line[:size/2], line}, []byte("\n"))}
			stream = sse.AppendEvent(stream, event)
			stream = sse.AppendComment(stream, "between")
			want = append(want, event)
		}
	}
	for how, carry := range carriers {
		if how == "byte by byte" {
			carry = func(r io.Reader) io.Reader { return &pieces{r, 1000} }
		}
		t.Run(how, func(t *testing.T) {
			r := sse.NewReader(carry(bytes.NewReader(stream)), 16<<20)
			for i, event := range want {
				got, err := r.Next()
				if err != nil || got.ID != event.ID || got.Name != event.Name || !bytes.Equal(got.Data, event.Data) {
					t.Fatalf("event %d: id %q, name %q, %d bytes, %v, want %d bytes", i, got.ID, got.Name, len(got.Data), err, len(event.Data))
				}
			}
			wantEOF(t, r)
		})
	}
}

// pieces returns at most size bytes at once.
type pieces struct {
	io.Reader
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	return p.Reader.Read(b[:min(len(b), p.size)])
}

// heapGrowth returns how many more bytes of memory are in use after f than
// before, and how many were allocated on the way.
func heapGrowth(f func()) (kept, allocated int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), int64(after.TotalAlloc - before.TotalAlloc)
}

func TestMemory(t *testing.T) {
	t.Run("of a line without end is bounded", func(t *testing.T) {
		const limit = 1 << 20
		for _, start := range []string{"data: ", ":", "note: ", "id: "} {
			src := io.MultiReader(strings.NewReader(start), io.LimitReader(&circle{data: bytes.Repeat([]byte("x"), 1<<12)}, 16*limit))
			r := sse.NewReader(src, limit)
			if _, allocated := heapGrowth(func() { read(t, r) }); allocated > 7*limit/2 {
				t.Errorf("%q: %d bytes allocated, limit %d", start, allocated, limit)
			}
		}
	})
	t.Run("of a large event is given back", func(t *testing.T) {
		const limit = 8 << 20
		stream := sse.AppendEvent(nil, sse.Event{Data: bytes.Repeat([]byte("x"), limit)})
		stream = append(stream, "data: y\n\ndata: z\n\n"...)
		r := sse.NewReader(bytes.NewReader(stream), limit)
		kept, _ := heapGrowth(func() {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			wantEvent(t, r, sse.Event{Name: sse.Message, Data: []byte("y")})
		})
		if kept > limit/2 {
			t.Errorf("%d bytes kept", kept)
		}
		wantEvent(t, r, sse.Event{Name: sse.Message, Data: []byte("z")})
	})
}

func TestReadingAllocatesNothing(t *testing.T) {
	event := sse.AppendEvent(nil, sse.Event{ID: "1", Name: "message", Data: bytes.Repeat([]byte("x"), 200)})
	r := sse.NewReader(&circle{data: event}, 1<<10)
	allocs := testing.AllocsPerRun(1000, func() {
		if got, err := r.Next(); err != nil || len(got.Data) != 200 {
			t.Fatal(got, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations an event, want 0", allocs)
	}
}

// circle repeats data for ever.
type circle struct {
	data []byte
	pos  int
}

func (c *circle) Read(b []byte) (int, error) {
	for n := 0; n < len(b); {
		m := copy(b[n:], c.data[c.pos:])
		c.pos = (c.pos + m) % len(c.data)
		n += m
	}
	return len(b), nil
}

func BenchmarkReader(b *testing.B) {
	for name, size := range map[string]int{"100B": 100, "14KB": 14 << 10, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			event := sse.AppendEvent(nil, sse.Event{Data: bytes.Repeat([]byte("x"), size)})
			r := sse.NewReader(&circle{data: event}, 4<<20)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
