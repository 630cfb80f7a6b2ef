package mcp

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/sse"
)

const (
	// maxEventBytes is how much of what was streamed a session keeps, for
	// clients that lose the connection, besides Limits.Events.
	maxEventBytes = 4 << 20
	// retryTime is when a client may come back for the rest of a stream.
	retryTime = time.Second
)

// sentEvent is a message that was streamed, under the place it had.
type sentEvent struct {
	stream, seq uint64
	last        bool // of its stream
	data        []byte
}

// eventLog keeps the newest events of a session, of all of its streams.
type eventLog struct {
	mu     sync.Mutex // protects the fields below but limit
	limit  int
	events []sentEvent // oldest first
	first  int         // index of the oldest that is kept
	size   int         // bytes of data
}

// add keeps an event, and forgets the oldest if there are too many. One that
// is larger than all that may be kept is not.
func (l *eventLog) add(e sentEvent) {
	if len(e.data) > maxEventBytes {
		return
	}
	e.data = bytes.Clone(e.data)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	l.size += len(e.data)
	for len(l.events)-l.first > l.limit || l.size > maxEventBytes {
		l.size -= len(l.events[l.first].data)
		l.events[l.first] = sentEvent{}
		l.first++
	}
	if l.first > len(l.events)/2 {
		l.events = append(l.events[:0], l.events[l.first:]...)
		l.first = 0
	}
}

// after returns the kept events of a stream that came later than seq; whole is
// false if the next of them is not kept any more. It says, too, whether the
// stream ends with them, or with seq itself.
func (l *eventLog) after(stream, seq uint64) (events []sentEvent, ends, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole = true
	for _, e := range l.events[l.first:] {
		if e.stream != stream {
			continue
		}
		ends = e.last
		if e.seq > seq {
			whole = whole && e.seq == seq+1+uint64(len(events))
			events = append(events, e)
		}
	}
	return events, ends, whole
}

// eventStream is one stream of a session: the answer to a POST, or what the
// server says by itself. It outlives the connections that carry it, one after
// the other (MCP 2025-11-25, Transports › Resumability and Redelivery).
type eventStream struct {
	sess *httpSession
	id   uint64 // 0: that of the server

	mu   sync.Mutex // protects the fields below, and orders events
	seq  uint64     // of the last event
	out  *httpStream
	over bool // the last event was sent
}

// eventID names the place of an event: its session, stream and number.
func (e *eventStream) eventID(seq uint64) string {
	id := append([]byte(e.sess.tag), '-')
	id = append(strconv.AppendUint(id, e.id, 10), '-')
	return string(strconv.AppendUint(id, seq, 10))
}

// parseEventID reads what eventID made; false for anything else.
func parseEventID(id string) (tag string, stream, seq uint64, ok bool) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 {
		return "", 0, 0, false
	}
	stream, err := strconv.ParseUint(parts[1], 10, 64)
	seq, err2 := strconv.ParseUint(parts[2], 10, 64)
	return parts[0], stream, seq, err == nil && err2 == nil
}

// send sends a message on the stream, or keeps it for a client that is not
// there.
func (e *eventStream) send(msg []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.put(msg, false)
}

// put is send. e.mu is held.
func (e *eventStream) put(msg []byte, last bool) {
	e.seq++
	e.sess.log.add(sentEvent{e.id, e.seq, last, msg})
	if e.out != nil && e.out.event(e.eventID(e.seq), msg) != nil {
		e.detach()
	}
}

// detach lets the connection go that carries the stream. e.mu is held.
func (e *eventStream) detach() {
	if e.out != nil && e.out.sess.released != nil {
		close(e.out.sess.released)
	}
	e.out = nil
}

// finish ends the stream with its last message, empty for none.
func (e *eventStream) finish(msg []byte) {
	e.mu.Lock()
	if len(msg) > 0 {
		e.put(msg, true)
	}
	e.over = true
	e.detach()
	e.mu.Unlock()
	e.sess.forget(e)
}

// attach lets out, of a GET, carry the stream from now on, with the events
// after seq first. Whoever carried it before is let go, so that each message
// goes one way. It reports false when events that belong there are lost; out
// is let go at once if the stream is over.
func (e *eventStream) attach(out *httpStream, seq uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	missed, _, _ := e.sess.log.after(e.id, seq)
	if seq+uint64(len(missed)) != e.seq {
		return false
	}
	e.detach()
	e.out = out
	_ = out.event("", nil)
	for i := range missed {
		if out.event(e.eventID(missed[i].seq), missed[i].data) != nil {
			e.detach()
			return true
		}
	}
	if e.over {
		e.detach()
	}
	return true
}

// leave ends the part of out in the stream. The client may be told when to
// come back, if out was carrying the stream still.
func (e *eventStream) leave(out *httpStream, back bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	carried := e.out == out
	if carried {
		e.out = nil
	}
	if back && carried {
		out.close(sse.AppendRetry(nil, retryTime))
	} else {
		out.close(nil)
	}
}
