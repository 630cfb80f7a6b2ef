package mcp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/sse"
)

// How a stream that broke is resumed.
const (
	resumePause   = time.Second // unless the server says how long to wait
	longestPause  = 30 * time.Second
	resumeRetries = 8 // in a row that bring nothing
)

// position is how far a stream has been read.
type position struct {
	id    string // of the last event; "": events have none
	retry time.Duration
	fails int // attempts in a row that brought nothing
}

// pause waits before the stream is opened again, as long as the server wants,
// and longer when that does not help.
func (at *position) pause(ctx context.Context) error {
	d := at.retry
	if at.fails > 0 {
		d = max(d, min(resumePause<<min(at.fails, 10), longestPause))
	}
	at.fails++
	return sleep(ctx, d)
}

// follow reads the stream that answers p. If it ends before its answer it is
// resumed (MCP 2025-11-25, Transports › Resumability and Redelivery).
func (l *legacyLink) follow(resp *http.Response, p *pending) error {
	at := position{retry: resumePause}
	ctx := resp.Request.Context()
	err := l.pump(resp, p, &at)
	for err != nil {
		if at.id == "" || at.fails > resumeRetries {
			return &lostError{err: err}
		}
		if err := at.pause(ctx); err != nil {
			return err
		}
		var again *http.Response
		if again, err = l.get(ctx, at.id); err != nil {
			if isStatus(err) {
				return &lostError{err: err}
			}
			continue
		}
		err = l.pump(again, p, &at)
		_ = again.Body.Close()
	}
	return nil
}

// pump takes in what a stream brings until p, unless nil, has its answer. The
// error is why the stream ended without.
func (l *legacyLink) pump(resp *http.Response, p *pending, at *position) error {
	events := sse.NewReader(resp.Body, l.opts.MaxMessage)
	for p == nil || l.waiting(p) {
		err := l.next(l, events)
		if id := events.LastEventID(); id != "" && id != at.id {
			at.id, at.fails = id, 0
		}
		if d, ok := events.Retry(); ok {
			at.retry = d
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// get opens a stream of the session: one to go on with after the event id, or
// with "" that which belongs to no request. An answer that is no stream is an
// *HTTPError.
func (l *legacyLink) get(ctx context.Context, id string) (*http.Response, error) {
	req, err := l.prepare(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	if id != "" {
		req.Header[header.LastEventID] = []string{id}
	}
	resp, err := l.do(req)
	if err != nil {
		return nil, err
	}
	if !isEventStream(resp) {
		return nil, statusError(resp)
	}
	return resp, nil
}

// listen keeps the stream open that belongs to no request, as long as the
// server offers it (MCP 2025-11-25, Transports › Listening for Messages).
func (l *legacyLink) listen() {
	at := position{retry: resumePause}
	settled := sync.OnceFunc(func() { close(l.settled) })
	for opened := false; ; {
		resp, err := l.get(l.ctx, at.id)
		settled()
		switch {
		case err == nil:
			if opened && at.id == "" {
				for _, s := range l.client.watched.all() {
					s.missed()
				}
			}
			opened = true
			err = l.pump(resp, nil, &at)
			_ = resp.Body.Close()
		case !isStatus(err) || hasStatus(err, 429, 500, 502, 503, 504): // it may come back
		case opened && hasStatus(err, http.StatusNotFound):
			if l.fail(&lostError{err: errSessionLost}) {
				l.end(errSessionLost)
			}
			return
		default: // many servers have no such stream, and say so in many ways
			l.log.Debug("mcp: the server offers no stream of its own", "error", err)
			return
		}
		if l.ctx.Err() != nil || at.pause(l.ctx) != nil {
			return
		}
		l.log.Debug("mcp: the server's own stream ended; it is opened anew", "error", err)
	}
}
