package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// CallOption changes one call of a Client.
type CallOption interface{ apply(*callOptions) }

type callOptions struct {
	progress func(ProgressEvent)
	timeout  time.Duration
	meta     Meta
	fresh    bool   // no result will do that is kept
	manual   bool   // questions are the caller's to answer
	answers  []byte // members of params that answer questions
	err      error
}

type callOption func(*callOptions)

func (f callOption) apply(o *callOptions) { f(o) }

// WithProgress asks the server for progress. fn runs in the goroutine of the
// call, never after it returned.
func WithProgress(fn func(ProgressEvent)) CallOption {
	return callOption(func(o *callOptions) { o.progress = fn })
}

// WithTimeout replaces ClientOptions.Timeout for this call.
func WithTimeout(d time.Duration) CallOption {
	return callOption(func(o *callOptions) { o.timeout = d })
}

// WithMeta adds a key to the request's _meta. A key that the protocol
// reserves, a malformed one, or a value without JSON fails the call.
func WithMeta(key string, v any) CallOption {
	return callOption(func(o *callOptions) {
		raw, err := encodeMeta(key, v)
		if err == nil && key == jsonrpc.MetaProgressToken {
			err = fmt.Errorf("_meta key %q: tokens are the client's; use WithProgress", key)
		}
		if err != nil {
			o.err = errors.Join(o.err, err)
			return
		}
		if o.meta == nil {
			o.meta = make(Meta)
		}
		o.meta[key] = raw
	})
}

// call is a request to be made.
type call struct {
	method  string
	name    string                           // what Mcp-Name repeats, for methods with that
	params  func(dst []byte) ([]byte, error) // appends the members of params before _meta, each followed by a comma; nil: none
	retry   []byte                           // members of params that answer what the round before asked
	headers func() (http.Header, error)      // mirrored arguments; nil: none
	options []CallOption
	silent  bool   // the server is not told when it is given up
	bearer  bearer // of the request that was answered last
}

// request makes a call and waits for its result.
func (c *Client) request(ctx context.Context, r *call) ([]byte, error) {
	var o callOptions
	for _, opt := range r.options {
		opt.apply(&o)
	}
	if o.err != nil {
		return nil, fmt.Errorf("mcp: %s: %w", r.method, o.err)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("mcp: %s: %w", r.method, context.Cause(ctx))
	}
	if o.timeout <= 0 {
		o.timeout = c.opts.Timeout
	}
	switch rev := c.peer.Load().rev; {
	case rev.Modern:
		return c.stored(ctx, r, &o)
	case o.answers != nil:
		return nil, fmt.Errorf("mcp: %s: WithAnswers is for servers of revision 2026-07-28; one of %s asks the options of the client", r.method, rev.Version)
	}
	return c.exchange(ctx, r, &o)
}

// exchange sends one request and waits for its result. If the request was lost
// it is sent once more, where that does no harm.
func (c *Client) exchange(ctx context.Context, r *call, o *callOptions) ([]byte, error) {
	for again := false; ; again = true {
		p, err := c.reach(ctx)
		if err != nil {
			return nil, fmt.Errorf("mcp: %s: %w", r.method, err)
		}
		raw, err := c.exchangeWith(ctx, p, r, o)
		switch {
		case err == nil:
			return raw, nil
		case again || !c.repeats(ctx, p, r, err):
			return nil, prefixed(err)
		}
	}
}

// about names the method that failed, unless the server says all there is to
// say.
func about(method string, err error) error {
	if _, remote := err.(*Error); remote || err == nil || err == ErrClosed {
		return err
	}
	return fmt.Errorf("%s: %w", method, err)
}

// prefixed names this package in front of its own errors.
func prefixed(err error) error {
	if _, remote := err.(*Error); remote || err == ErrClosed {
		return err
	}
	return fmt.Errorf("mcp: %w", err)
}

// repeats reports whether a request that failed with err may be sent again:
// one that was not read may, and one that was lost if it only asks for what
// there is (MCP 2026-07-28, Streamable HTTP › Receiving Messages). What is
// wrong with it otherwise is mended first, where it can be.
func (c *Client) repeats(ctx context.Context, p *peer, r *call, err error) bool {
	var lost *lostError
	var remote *Error
	switch {
	case ctx.Err() != nil || c.ctx.Err() != nil:
	case errors.As(err, &lost):
		return lost.unread || c.harmless(r.method)
	case errors.As(err, &remote) && remote.Code == CodeUnsupportedVersion:
		return p.rev.Modern && slices.Contains(supportedVersions(remote), p.rev.Version)
	case remote != nil && remote.Code == CodeHeaderMismatch:
		return r.headers != nil && c.relearn(ctx)
	}
	return false
}

// harmless reports whether a request of the method changes nothing.
func (c *Client) harmless(method string) bool {
	m, _ := wire.Revisions[0].Method(method)
	return m.Cached || method == jsonrpc.MethodListen
}

// exchangeWith sends one request to p and waits for its result.
func (c *Client) exchangeWith(ctx context.Context, p *peer, r *call, o *callOptions) ([]byte, error) {
	q := p.link.state().expect(o.progress != nil, r.silent, nil)
	defer p.link.forget(q)
	if err := c.send(ctx, p, q, r, o); err != nil {
		return nil, about(r.method, err)
	}
	raw, err := c.await(ctx, p.link, q, r.method, o)
	if err == nil {
		r.bearer = q.bearer
	}
	return raw, err
}

// send encodes and sends r.
func (c *Client) send(ctx context.Context, p *peer, q *pending, r *call, o *callOptions) error {
	buf := responses.Get().(*[]byte)
	defer responses.Put(buf)
	msg, err := c.encode((*buf)[:0], p, q.id, r, o)
	if err != nil {
		return err
	}
	if cap(msg) <= keepBuffer {
		*buf = msg
	}
	out := outgoing{method: r.method, name: r.name, msg: msg}
	if r.headers != nil {
		if out.params, err = r.headers(); err != nil {
			return err
		}
	}
	return p.link.send(ctx, q, &out)
}

func (c *Client) encode(dst []byte, p *peer, id int64, r *call, o *callOptions) ([]byte, error) {
	dst = strconv.AppendInt(append(dst, `{"jsonrpc":"2.0","id":`...), id, 10)
	dst = append(append(append(dst, `,"method":"`...), r.method...), `","params":{`...)
	if r.params != nil {
		var err error
		if dst, err = r.params(dst); err != nil {
			return nil, err
		}
	}
	dst = append(dst, r.retry...)
	dst = append(append(dst, `"_meta":{`...), p.stamp...)
	empty := len(dst)
	if level := c.logLevelAsked(); level != "" && p.rev.Modern {
		dst = jsonx.AppendString(append(dst, `,"`+jsonrpc.MetaLogLevel+`":`...), level)
	}
	if o.progress != nil {
		dst = strconv.AppendInt(append(dst, `,"progressToken":`...), id, 10)
	}
	if o.meta != nil {
		own, err := jsonx.Marshal(&o.meta)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, ','), own[1:len(own)-1]...)
	}
	switch {
	case len(p.stamp) > 0:
	case len(dst) > empty: // the first member has a comma in front of it
		dst = append(dst[:empty], dst[empty+1:]...)
	default: // and before 2026-07-28 there may be none at all
		dst = bytes.TrimSuffix(dst[:empty-len(`"_meta":{`)], []byte{','})
		return append(dst, "}}"...), nil
	}
	return append(dst, "}}}"...), nil
}

// await waits for the answer to p. Progress restarts the timeout, up to the
// maximum; while the user answers what the server asks it stands still. A
// request that is given up is cancelled at the server.
func (c *Client) await(ctx context.Context, l link, p *pending, method string, o *callOptions) ([]byte, error) {
	limit := min(o.timeout, c.opts.MaxTimeout)
	start := time.Now()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case answer := <-p.done:
			p.deliver(o.progress)
			return answer.result, about(method, answer.err)
		case <-p.woken:
			p.deliver(o.progress)
			timer.Reset(min(o.timeout, c.opts.MaxTimeout-time.Since(start)))
		case <-ctx.Done():
			l.cancel(p, context.Cause(ctx).Error())
			return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
		case <-timer.C:
			left := c.opts.MaxTimeout - time.Since(start)
			if more := min(left, o.timeout-l.state().quiet()); more > 0 {
				timer.Reset(more)
				continue
			}
			l.cancel(p, "timeout")
			return nil, fmt.Errorf("%s: no answer after %v: %w", method, time.Since(start).Round(time.Millisecond), context.DeadlineExceeded)
		}
	}
}

// remoteError reads the error of a response.
func remoteError(raw []byte) error {
	var w struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("mcp: the server's error is invalid: %w", err)
	}
	e := &Error{Code: Code(w.Code), Message: w.Message, remote: true}
	if w.Data != nil {
		e.Data = w.Data
	}
	return e
}

// cancelMessage tells the server that a request is no longer wanted.
func cancelMessage(id int64, reason string) []byte {
	dst := append([]byte(`{"jsonrpc":"2.0","method":"`), jsonrpc.NotifyCancelled...)
	dst = strconv.AppendInt(append(dst, `","params":{"requestId":`...), id, 10)
	return append(jsonx.AppendString(append(dst, `,"reason":`...), reason), "}}"...)
}
