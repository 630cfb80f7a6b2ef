package sse_test

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/sse"
)

// reference reads a whole stream in the plainest way: line by line, with the
// rules of the standard and of Reader's limit. What it finds is in all, in the
// form of the function read.
type reference struct {
	all               []string
	limit             int
	name, id, pending string
	data              []string
	skip              bool
	retry             time.Duration
}

// unfinished is the line that the stream breaks off.
func (r *reference) read(stream string) (unfinished string) {
	stream = strings.TrimPrefix(stream, "\uFEFF")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	lines := strings.Split(strings.ReplaceAll(stream, "\r", "\n"), "\n")
	for _, line := range lines[:len(lines)-1] { // the last one has no end
		if line != "" {
			r.field(line)
			continue
		}
		r.id = r.pending
		data := strings.Join(r.data, "\n")
		if data != "" && !r.skip {
			r.all = append(r.all, fmt.Sprintf("%s %s %s", r.name, r.id, data))
		}
		r.name, r.data, r.skip = sse.Message, nil, false
	}
	return lines[len(lines)-1]
}

func (r *reference) field(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	fits := len(value) <= r.limit
	switch name {
	case "data":
		r.data = append(r.data, value)
		fits = len(strings.Join(r.data, "\n")) <= r.limit
	case "event":
		r.name = value
		if value == "" {
			r.name = sse.Message
		}
	case "id":
		if fits && !strings.Contains(value, "\x00") {
			r.pending = value
		}
	case "retry":
		if ms, err := strconv.ParseUint(value, 10, 63); err == nil && fits {
			r.retry = time.Duration(min(ms, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
		}
		return
	default:
		return
	}
	if !fits && !r.skip {
		r.skip = true
		r.all = append(r.all, "too large")
	}
}

func FuzzReader(f *testing.F) {
	for _, stream := range []string{
		"data: a\n\n", "\uFEFF: c\r\n\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\n", "data: a\r\rdata\r\r", "event: ping\ndata: ~\n\nretry: 5\n\n",
		"data: ~~\n\ndata: x\n\n", "id: ~\ndata: x\n\n", ":~\r\ndata: y\n\n", "~\n\ndata: y\n\n", "data: ~\ndata: ~\n\ndata: z\n\n", "data: x",
	} {
		f.Add(stream, uint16(20), uint16(1), uint16(30))
		f.Add(stream, uint16(60_000), uint16(0), uint16(9000))
		f.Add(stream, uint16(0), uint16(3), uint16(1))
	}
	f.Fuzz(func(t *testing.T, stream string, limit, piece, stretch uint16) {
		if len(stream) > 1<<10 {
			return
		}
		stream = strings.ReplaceAll(stream, "~", strings.Repeat("~", int(stretch)))
		if len(stream) > 1<<18 {
			return
		}
		src := io.Reader(strings.NewReader(stream))
		if piece > 0 {
			src = &pieces{src, int(piece)}
		}
		want := reference{limit: int(limit), name: sse.Message}
		unfinished := want.read(stream)

		r := sse.NewReader(src, int(limit))
		got := read(t, r)
		// A line is too large before it ends.
		if !want.skip && len(unfinished) > int(limit) && len(got) > len(want.all) {
			want.all = append(want.all, "too large")
		}
		if diff := cmp.Diff(want.all, got); diff != "" {
			t.Fatal(diff)
		}
		if got := r.LastEventID(); got != want.id {
			t.Fatalf("last event id %q, want %q", got, want.id)
		}
		if got, _ := r.Retry(); got != want.retry {
			t.Fatalf("retry %v, want %v", got, want.retry)
		}
	})
}
