package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// era is how a server is spoken to.
type era int32

const (
	eraUnknown era = iota
	eraModern      // MCP 2026-07-28: every request for itself
	eraLegacy      // MCP 2025-11-25 and before: a session that initialize opens
	eraOldest      // the same, with the HTTP transport of MCP 2024-11-05
)

// traits is what the client has to know of a transport, and what it found out
// about the server at its other end.
type traits struct {
	renews bool // a connection that was lost can be opened anew
	pipe   bool // to be silent, or to end, is how an old server can answer
	http   bool

	seen atomic.Int32 // era
}

func (t *traits) about() *traits { return t }

// olderError says that a server answers as those before 2026-07-28 do.
type olderError struct {
	reason error
	best   *wire.Revision // the newest that it says it speaks; nil: it does not say
}

func (e *olderError) Error() string { return e.reason.Error() }

func (e *olderError) Unwrap() error { return e.reason }

// connect opens a link to the server and finds out what it speaks.
func (c *Client) connect(ctx context.Context) (*peer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.opened = time.Now()
	t := c.transport.about()
	seen := era(t.seen.Load())
	if len(c.modern) == 0 {
		return c.openLegacy(ctx, nil, max(seen, eraLegacy), nil)
	}
	if len(c.legacy) > 0 && seen > eraModern {
		p, err := c.openLegacy(ctx, nil, seen, nil)
		if err == nil || ctx.Err() != nil || noVerdict(err) {
			return p, err
		}
		t.seen.Store(int32(eraUnknown)) // the server may have been replaced
	}
	l, err := c.transport.open(ctx, c, eraModern)
	if err != nil {
		return nil, err
	}
	p, err := c.probe(ctx, l)
	var older *olderError
	switch {
	case err == nil:
		t.seen.Store(int32(eraModern))
		return p, nil
	case errors.As(err, &older) && len(c.legacy) > 0:
		return c.openLegacy(ctx, l, eraLegacy, older)
	case older != nil:
		err = fmt.Errorf("the server seems to speak only revisions before %s, which the option Versions leaves out: %w", names(c.modern), err)
	}
	return nil, errors.Join(err, l.close())
}

// probe asks the server at the other end of l what it speaks (MCP 2026-07-28,
// Discovery). The error is an *olderError if it answers as an older one.
func (c *Client) probe(ctx context.Context, l link) (*peer, error) {
	rev := c.modern[0]
	p := &peer{link: l, rev: rev, stamp: c.encodeStamp(rev)}
	t := c.transport.about()
	o := &callOptions{timeout: c.opts.Timeout}
	if t.pipe && len(c.legacy) > 0 {
		o.timeout = min(o.timeout, c.opts.ProbeTimeout)
	}
	for again := false; ; again = true {
		raw, err := c.exchangeWith(ctx, p, &call{method: jsonrpc.MethodDiscover, silent: true}, o)
		if err != nil {
			if err = c.verdict(ctx, err, l); !again && errors.Is(err, errAskAgain) {
				continue
			}
			return nil, err
		}
		var versions []string
		p.server, versions, err = c.discovered(raw, rev)
		switch {
		case err != nil:
			return nil, &olderError{reason: err}
		case versions == nil:
			return nil, &olderError{reason: errors.New("the server's answer to server/discover names no versions")}
		case slices.Contains(versions, rev.Version):
			return p, nil
		}
		return nil, c.disjoint(versions)
	}
}

var errAskAgain = errors.New("the server refused a revision that it says it speaks")

// verdict says what it means that the server answered the probe with err.
func (c *Client) verdict(ctx context.Context, err error, l link) error {
	var remote *Error
	var lost *lostError
	switch t := c.transport.about(); {
	case ctx.Err() != nil || noVerdict(err):
		return err
	case errors.As(err, &remote):
		return c.refusal(remote)
	case t.pipe && (errors.Is(err, context.DeadlineExceeded) || errors.As(err, &lost) || l.state().down() != nil):
		return &olderError{reason: err}
	case t.http && isStatus(err):
		return &olderError{reason: err}
	}
	return err
}

// refusal says what the error means that answered the probe.
func (c *Client) refusal(e *Error) error {
	switch e.Code {
	case CodeHeaderMismatch, CodeMissingCapability: // of revision 2026-07-28 alone
		return e
	case CodeUnsupportedVersion:
		supported := supportedVersions(e)
		switch {
		case supported == nil:
		case slices.Contains(supported, c.modern[0].Version):
			return fmt.Errorf("%w: %w", errAskAgain, e)
		default:
			return c.disjoint(supported)
		}
	}
	return &olderError{reason: e}
}

// disjoint is the verdict on a server that does not speak 2026-07-28 but says
// what else it does.
func (c *Client) disjoint(versions []string) error {
	err := fmt.Errorf("the server speaks %.200q; this client speaks %s", versions, names(slices.Concat(c.modern, c.legacy)))
	for _, r := range c.legacy {
		if slices.Contains(versions, r.Version) {
			return &olderError{reason: err, best: r}
		}
	}
	return err
}

// supportedVersions reads the data of a -32022 error.
func supportedVersions(e *Error) []string {
	var data struct {
		Supported []string `json:"supported"`
	}
	if raw, ok := e.Data.(json.RawMessage); !ok || jsonx.Unmarshal(raw, &data) != nil {
		return nil
	}
	return data.Supported
}

// openLegacy opens a session with a server of an earlier revision. l, unless
// nil, is the link on which the server has answered the probe so, for the
// given reason.
func (c *Client) openLegacy(ctx context.Context, l link, e era, reason *olderError) (*peer, error) {
	t := c.transport.about()
	var fresh error
	if l != nil && (t.http || l.state().down() != nil) {
		_ = l.close() // an old server may end at the probe
		l = nil
	}
	if l == nil {
		if l, fresh = c.transport.open(ctx, c, e); fresh != nil {
			return nil, withReason(fresh, reason)
		}
	}
	offered := c.legacy[0]
	if reason != nil && reason.best != nil {
		offered = reason.best
	}
	p, err := c.initialize(ctx, l, offered)
	if t.http && e == eraLegacy && isStatus(err) && !noVerdict(err) {
		_ = l.close()
		first := err
		if l, err = c.transport.open(ctx, c, eraOldest); err != nil {
			return nil, withReason(errors.Join(first, err), reason)
		}
		e = eraOldest
		p, err = c.initialize(ctx, l, offered)
	}
	if err == nil {
		t.seen.Store(int32(e))
		return p, nil
	}
	var remote *Error
	if reason != nil && !t.http && errors.As(err, &remote) && slices.Contains(supportedVersions(remote), c.modern[0].Version) {
		l.state().legacy.Store(false) // it was merely slow to answer the probe
		if p, again := c.probe(ctx, l); again == nil {
			t.seen.Store(int32(eraModern))
			return p, nil
		}
	}
	return nil, errors.Join(withReason(err, reason), l.close())
}

// withReason adds why the server was taken for an older one.
func withReason(err error, reason *olderError) error {
	if reason == nil {
		return err
	}
	return fmt.Errorf("%w; it was taken for a server of an earlier revision because of: %w", err, reason.reason)
}

// noVerdict reports whether err says nothing about revisions: what stands
// before the server, or ails it, has answered.
func noVerdict(err error) bool {
	var e *HTTPError
	return errors.As(err, &e) && e.Status >= 400 && !hasStatus(err, 400, 404, 405, 406, 410, 415, 422)
}

// hasStatus reports whether err is an answer in HTTP with one of the statuses.
func hasStatus(err error, statuses ...int) bool {
	var e *HTTPError
	return errors.As(err, &e) && slices.Contains(statuses, e.Status)
}

// isStatus reports whether err is an answer in HTTP that holds no message.
func isStatus(err error) bool {
	var e *HTTPError
	return errors.As(err, &e)
}

// names lists revisions for texts.
func names(revs []*wire.Revision) string {
	var all []string
	for _, r := range revs {
		all = append(all, r.Version)
	}
	return strings.Join(all, ", ")
}
