package mcp

import (
	"bytes"
	"context"
	"runtime"
	"sync"
)

const (
	// maxWaiting is how many bytes may wait for a slow peer before those who
	// write to it have to wait themselves.
	maxWaiting = 1 << 20
	// keepBuffer is the largest buffer that is kept for reuse.
	keepBuffer = 1 << 20
)

// connWriter is the one writer of a connection. Messages are appended to a
// buffer; who finds no write going on becomes the writer and writes what has
// gathered, so that answers which are ready together share a system call.
type connWriter struct {
	ctx    context.Context // of the connection
	io     Conn
	onFail func(error) // called once, with the first write error

	mu      sync.Mutex // protects the fields below; never held while writing
	waiting []byte     // messages, each ended by a newline
	spare   []byte
	replies int // bytes of waiting that are the reader's
	busy    bool
	err     error
	room    chan struct{} // not nil: somebody waits; closed when there is room
}

// lineWriter is a Conn that takes several messages at once, each ended by a
// newline.
type lineWriter interface {
	writeLines(ctx context.Context, lines []byte) error
}

// await returns when there is room for another message, or why there will be
// none.
func (w *connWriter) await(ctx context.Context) error {
	return w.until(ctx, func() bool { return len(w.waiting) < maxWaiting })
}

// awaitReply is await for the reader, whom only its own replies hold up.
func (w *connWriter) awaitReply(ctx context.Context) error {
	return w.until(ctx, func() bool { return w.replies < maxWaiting })
}

// until returns when room reports true, or why it never will. It is asked
// with w.mu held, at first and when something has been written.
func (w *connWriter) until(ctx context.Context, room func() bool) error {
	for {
		w.mu.Lock()
		if w.err != nil || room() {
			defer w.mu.Unlock()
			return w.err
		}
		if w.room == nil {
			w.room = make(chan struct{})
		}
		changed := w.room
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enqueue appends msg to what is waiting. It never blocks; somebody must call
// flush afterwards.
func (w *connWriter) enqueue(msg []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(msg)
}

// enqueueReply is enqueue for the reader.
func (w *connWriter) enqueueReply(msg []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(msg)
	w.replies += len(msg)
}

// add appends msg to what is waiting. w.mu is held.
func (w *connWriter) add(msg []byte) {
	if w.err != nil {
		return
	}
	start := len(w.waiting)
	w.waiting = append(append(w.waiting, msg...), '\n')
	// A line break within JSON is white space between tokens; on the wire it
	// would end the message.
	blank(w.waiting[start:len(w.waiting)-1], '\n')
	blank(w.waiting[start:len(w.waiting)-1], '\r')
}

// blank replaces every c in line by a space.
func blank(line []byte, c byte) {
	for {
		i := bytes.IndexByte(line, c)
		if i < 0 {
			return
		}
		line[i] = ' '
		line = line[i+1:]
	}
}

// flush writes what is waiting, unless another goroutine is at it.
func (w *connWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy || len(w.waiting) == 0 {
		return
	}
	w.busy = true
	w.mu.Unlock()
	runtime.Gosched() // let answers that are nearly ready join
	w.mu.Lock()
	for len(w.waiting) > 0 && w.err == nil {
		lines := w.waiting
		w.waiting, w.spare = w.spare[:0], nil
		w.replies = 0
		w.wake()
		w.mu.Unlock()
		err := w.write(lines)
		w.mu.Lock()
		if cap(lines) <= keepBuffer {
			w.spare = lines
		}
		if err != nil {
			w.fail(err)
		}
	}
	w.busy = false
	w.wake()
}

// settle returns when everything has been written, or cannot be.
func (w *connWriter) settle(ctx context.Context) {
	for {
		w.flush()
		w.mu.Lock()
		if w.err != nil || !w.busy && len(w.waiting) == 0 {
			w.mu.Unlock()
			return
		}
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return
		}
	}
}

// fail records the first write error. w.mu is held.
func (w *connWriter) fail(err error) {
	w.err = err
	w.waiting, w.spare = nil, nil
	w.wake()
	w.mu.Unlock()
	w.onFail(err)
	w.mu.Lock()
}

// wake lets those waiting in await look again. w.mu is held.
func (w *connWriter) wake() {
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

func (w *connWriter) write(lines []byte) error {
	if lw, ok := w.io.(lineWriter); ok {
		return lw.writeLines(w.ctx, lines)
	}
	for len(lines) > 0 {
		msg, rest, _ := bytes.Cut(lines, []byte{'\n'})
		if err := w.io.Write(w.ctx, msg); err != nil {
			return err
		}
		lines = rest
	}
	return nil
}
