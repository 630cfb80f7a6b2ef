package sse

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"time"
)

// ErrTooLarge says that an event exceeds the limit of its [Reader]. The event
// is skipped; reading may go on.
var ErrTooLarge = errors.New("server-sent event exceeds the size limit")

const (
	minBuffer = 4 << 10
	// keepBuffer is how much memory a Reader keeps once a large event is gone.
	keepBuffer = 4 << 20
	// lineOverhead is how much longer than its value a line may be that
	// matters: a byte order mark and the longest name that goes with it.
	lineOverhead = len("\uFEFF" + "event: ")
)

var byteOrderMark = []byte("\uFEFF")

// Reader reads events from a stream. It is as liberal as the standard: lines
// end in CR, LF or CRLF; comments and unknown fields are ignored; an event
// that the stream breaks off is dropped, with its ID. Bytes are passed on as
// they are, even if they are not UTF-8. A Reader is not safe for concurrent
// use, and holds about twice the limit of memory at the worst.
type Reader struct {
	src   io.Reader
	limit int
	err   error // of src, which has no more to give

	// buf[:data] is the data of the event so far, buf[pos:end] what was
	// received and not parsed yet. Lines are shorter once parsed, so both fit.
	buf            []byte
	data, pos, end int

	started  bool // the first line is over, and a byte order mark with it
	afterCR  bool // the last line ended in CR: an LF belongs to it
	dropping bool // inside a line too long to matter
	skipping bool // inside an event that is too large
	hasData  bool // the event so far has a data field, maybe empty

	name          string // of the event so far; "" if none
	id, pendingID string // of the last complete event, of the event so far
	retry         time.Duration
	hasRetry      bool
}

// NewReader returns a Reader of the events in src. Limit is the most bytes that
// the data, the ID or the name of an event may have; with zero or less, every
// event that has one of them is too large.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: min(max(0, limit), math.MaxInt/4)} // sums of sizes stay in range
}

// LastEventID returns the ID of the last complete event that had one, or ""
// if there was none or it was reset. That includes events which Next passes
// over. It is what a client sends to resume a legacy stream (MCP 2025-11-25,
// Transports › Resumability and Redelivery).
func (r *Reader) LastEventID() string { return r.id }

// Retry returns how long the server asked to wait before reconnecting; ok is
// false if it did not ask.
func (r *Reader) Retry() (d time.Duration, ok bool) { return r.retry, r.hasRetry }

// Next returns the next event that has data. Its Data is valid until the next
// call. An event that only sets an ID or a waiting time is taken note of and
// passed over. The error is [ErrTooLarge], as soon as an event has become too
// large, after which Next may be called for the event behind it; or io.EOF at
// the end of the stream; or that of the underlying reader.
func (r *Reader) Next() (Event, error) {
	r.shrink()
	for {
		line, whole, err := r.line()
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if event, ok := r.dispatch(); ok {
				return event, nil
			}
			continue
		}
		if !r.field(line, whole) && !r.skipping {
			r.skipping = true
			return Event{}, ErrTooLarge
		}
	}
}

// dispatch ends the event at a blank line. It returns the event if it has data
// and was not too large.
func (r *Reader) dispatch() (Event, bool) {
	event := Event{Name: r.name, Data: r.buf[:r.data:r.data]}
	deliver := r.data > 0 && !r.skipping
	r.id = r.pendingID
	r.name, r.data, r.hasData, r.skipping = "", 0, false, false
	event.ID = r.id
	if event.Name == "" {
		event.Name = Message
	}
	return event, deliver
}

// field takes in a line that is not blank; whole is false if its end is
// missing because it is too long. It reports whether the event is still within
// the limit.
func (r *Reader) field(line []byte, whole bool) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	fits := whole && len(value) <= r.limit
	switch string(name) {
	case "data":
		return r.appendData(value, fits)
	case "event":
		if fits {
			r.name = keep(Message, value)
		}
		return fits
	case "id":
		// An ID counts even in an event that is skipped, or resuming would
		// bring that event again and again.
		if fits && bytes.IndexByte(value, 0) < 0 {
			r.pendingID = keep(r.pendingID, value)
		}
		return fits
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 63); err == nil && fits {
			r.retry = time.Duration(min(ms, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
			r.hasRetry = true
		}
	}
	return true // a comment begins with a colon: its name is empty
}

func (r *Reader) appendData(value []byte, fits bool) bool {
	if r.hasData && fits {
		fits = r.data+1+len(value) <= r.limit
	}
	if !fits {
		return false
	}
	if r.hasData {
		r.buf[r.data] = '\n'
		r.data++
	}
	r.hasData = true
	r.data += copy(r.buf[r.data:], value)
	return true
}

// keep returns value as a string, which is known if value is what is expected.
func keep(known string, value []byte) string {
	if known == string(value) {
		return known
	}
	return string(value)
}

// line returns the next line without its end, and consumes it. A line too long
// to be of use is cut: whole is false and the rest of it is dropped. The line
// is valid until the next call of line.
func (r *Reader) line() (line []byte, whole bool, err error) {
	for scanned := 0; ; {
		if r.afterCR && r.pos < r.end {
			r.afterCR = false
			if r.buf[r.pos] == '\n' {
				r.pos++
			}
		}
		rest := r.buf[r.pos:r.end]
		if i := lineEnd(rest[scanned:]); i >= 0 {
			i += scanned
			r.pos += i + 1
			r.afterCR = rest[i] == '\r'
			if !r.dropping {
				return r.first(rest[:i]), true, nil
			}
			r.dropping, scanned = false, 0
			continue
		}
		scanned = len(rest)
		if r.dropping || scanned-lineOverhead > r.limit {
			cut := !r.dropping
			r.dropping, scanned, r.pos = true, 0, r.end
			if cut {
				return r.first(rest), false, nil
			}
		}
		if err := r.fill(); err != nil {
			return nil, false, err
		}
	}
}

// first takes the byte order mark off the first line of the stream.
func (r *Reader) first(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, byteOrderMark)
}

// fill receives more bytes behind buf[pos:end], which may move.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.pos == r.end {
		r.pos, r.end = r.data, r.data
	}
	if r.end == len(r.buf) {
		r.makeRoom()
	}
	const patience = 100
	for range patience {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// makeRoom moves what was not parsed yet to the data of the event, into a
// larger buffer unless that alone makes enough room to be worth the copying.
func (r *Reader) makeRoom() {
	buf, size := r.buf, len(r.buf)
	if r.pos-r.data <= size/4 {
		enough := r.data + r.limit + lineOverhead + minBuffer // longer lines are dropped
		size = max(minBuffer, size, min(2*size, enough))
	}
	if size > len(buf) {
		buf = make([]byte, size)
		copy(buf, r.buf[:r.data])
	}
	r.end = r.data + copy(buf[r.data:], r.buf[r.pos:r.end])
	r.buf, r.pos = buf, r.data
}

// shrink gives back the memory that a large event has needed.
func (r *Reader) shrink() {
	if rest := r.buf[r.pos:r.end]; len(r.buf) > keepBuffer && r.data == 0 && len(rest) <= minBuffer {
		r.buf = make([]byte, 2*minBuffer)
		r.pos, r.end = 0, copy(r.buf, rest)
	}
}
