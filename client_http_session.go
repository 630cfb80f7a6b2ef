package mcp

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/wire"
)

// legacyLink is a link over the Streamable HTTP of the revisions before
// 2026-07-28 (MCP 2025-11-25, Transports › Streamable HTTP).
type legacyLink struct {
	httpCalls
	id      atomic.Pointer[string] // nil: the server gave none
	rev     atomic.Pointer[wire.Revision]
	standby sync.Once     // starts the stream that belongs to no request
	settled chan struct{} // closed when that is open, or known not to be
}

// goodbyeTime bounds how long the end of a session waits for its server.
const goodbyeTime = 5 * time.Second

// standbyTime bounds how long the client waits for the stream to open that
// belongs to no request. Some servers drop what they would send on it while it
// is not there; some proxies hold it back until there is something on it.
const standbyTime = time.Second

// opened implements sessionLink.
func (l *legacyLink) opened(rev *wire.Revision) { l.rev.Store(rev) }

// close implements link: it tells the server that the session is over.
func (l *legacyLink) close() error {
	lost := !l.fail(ErrClosed)
	l.end(ErrClosed)
	l.wg.Wait()
	if lost || l.id.Load() == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), goodbyeTime)
	defer cancel()
	req, err := l.prepare(ctx, http.MethodDelete, nil)
	if err != nil {
		return err
	}
	resp, err := l.do(req)
	if err != nil { // the server will find out by itself
		l.log.Info("mcp: the server was not told that the session is over", "error", err)
		return nil
	}
	return resp.Body.Close()
}

// prepare makes an HTTP request of the session.
func (l *legacyLink) prepare(ctx context.Context, method string, body []byte) (*http.Request, error) {
	req, err := l.request(ctx, method, l.url, body)
	if err != nil {
		return nil, err
	}
	if id := l.id.Load(); id != nil {
		req.Header[header.SessionID] = []string{*id}
	}
	if rev := l.rev.Load(); rev != nil && rev.VersionHeader {
		req.Header[header.ProtocolVersion] = []string{rev.Version}
	}
	return req, nil
}

// send implements link. The exchange goes on in a goroutine that ends with
// it.
func (l *legacyLink) send(_ context.Context, p *pending, out *outgoing) error {
	ctx, cancel := context.WithCancel(l.ctx)
	p.cancel = cancel
	req, err := l.prepare(ctx, http.MethodPost, bytes.Clone(out.msg))
	if err != nil {
		return err
	}
	opening := out.method == jsonrpc.MethodInitialize
	return l.start(func() {
		defer cancel()
		if err := l.exchange(req, p, opening); err != nil {
			l.settle(p, err)
		}
	})
}

// tell implements link.
func (l *legacyLink) tell(ctx context.Context, msg []byte) error {
	if err := l.down(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })()
	req, err := l.prepare(ctx, http.MethodPost, bytes.Clone(msg))
	if err != nil {
		return err
	}
	resp, err := l.do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return statusError(resp)
	}
	_ = resp.Body.Close() // servers put all kinds of things there
	l.standby.Do(func() { // the first is notifications/initialized
		if err = l.start(l.listen); err != nil {
			return
		}
		t := time.NewTimer(standbyTime)
		defer t.Stop()
		select {
		case <-l.settled:
		case <-t.C:
		case <-ctx.Done():
		}
	})
	return err
}

// cancel implements link: a notification tells the server, which takes the end
// of a stream for an accident.
func (l *legacyLink) cancel(p *pending, reason string) {
	if l.take(p.id) == nil {
		return
	}
	if !p.silent {
		_ = l.start(func() { // a link that is down has nobody to tell
			ctx, cancel := context.WithTimeout(l.ctx, goodbyeTime)
			defer cancel()
			if err := l.tell(ctx, cancelMessage(p.id, reason)); err != nil && l.ctx.Err() == nil {
				l.log.Info("mcp: the server was not told that a call was given up", "error", err)
			}
		})
	}
	if p.cancel != nil {
		p.cancel()
	}
}

// forget implements link.
func (l *legacyLink) forget(p *pending) {
	l.take(p.id)
	if p.cancel != nil {
		p.cancel()
	}
}

// exchange sends one request and reads its answer, which goes to p.
func (l *legacyLink) exchange(req *http.Request, p *pending, opening bool) error {
	resp, err := l.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if opening {
		l.keepID(resp.Header)
	}
	switch id := l.id.Load(); {
	case resp.StatusCode == http.StatusNotFound && id != nil && !opening:
		// What else is under way is lost with the session; this was not read.
		l.settle(p, &lostError{err: errSessionLost, unread: true})
		if l.fail(&lostError{err: errSessionLost}) {
			l.end(errSessionLost)
		}
		return nil
	case isEventStream(resp):
		return l.follow(resp, p)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		return nil // the answer is to come on the stream that belongs to no request
	}
	return l.single(l, resp, p)
}

var errSessionLost = errors.New("the server knows the session no more")

// keepID takes in the id of the session that begins.
func (l *legacyLink) keepID(h http.Header) {
	id := h.Get(header.SessionID)
	if id == "" {
		return
	}
	for _, c := range []byte(id) {
		if c < '!' || c > '~' {
			l.log.Warn("mcp: the server's session id has characters that no id may have; it was dropped")
			return
		}
	}
	l.id.Store(&id)
}
