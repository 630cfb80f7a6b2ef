package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// CallOption changes one call of a Client.
type CallOption interface{ apply(*callOptions) }

type callOptions struct {
	progress func(ProgressEvent)
	timeout  time.Duration
	meta     Meta
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
	method    string
	name      string                           // of the tool
	params    func(dst []byte) ([]byte, error) // appends the members of params before _meta, each followed by a comma; nil: none
	arguments []byte                           // what params appended for the tool, while it is being sent
	retry     []byte                           // members of params that answer what the round before asked
	headers   func() (http.Header, error)      // mirrored arguments; nil: none
	options   []CallOption
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
	return c.rounds(ctx, r, &o)
}

// exchange sends one request and waits for its result.
func (c *Client) exchange(ctx context.Context, r *call, o *callOptions) ([]byte, error) {
	p := c.link.expect(o.progress != nil)
	defer c.link.forget(p)
	if err := c.send(ctx, p, r, o); err != nil {
		return nil, err
	}
	return c.await(ctx, p, r.method, o)
}

// send encodes and sends r.
func (c *Client) send(ctx context.Context, p *pending, r *call, o *callOptions) error {
	buf := responses.Get().(*[]byte)
	defer responses.Put(buf)
	msg, err := c.encode((*buf)[:0], p.id, r, o)
	if err != nil {
		return err
	}
	if cap(msg) <= keepBuffer {
		*buf = msg
	}
	out := &outgoing{method: r.method, name: r.name, msg: msg}
	if r.headers != nil {
		if out.params, err = r.headers(); err != nil {
			return err
		}
	}
	return c.link.send(ctx, p, out)
}

func (c *Client) encode(dst []byte, id int64, r *call, o *callOptions) ([]byte, error) {
	dst = strconv.AppendInt(append(dst, `{"jsonrpc":"2.0","id":`...), id, 10)
	dst = append(append(append(dst, `,"method":"`...), r.method...), `","params":{`...)
	if r.params != nil {
		var err error
		if dst, err = r.params(dst); err != nil {
			return nil, err
		}
	}
	dst = append(dst, r.retry...)
	dst = append(append(dst, `"_meta":{`...), c.stamp...)
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
	return append(dst, "}}}"...), nil
}

// await waits for the answer to p. Progress restarts the timeout, up to the
// maximum. A request that is given up is cancelled at the server.
func (c *Client) await(ctx context.Context, p *pending, method string, o *callOptions) ([]byte, error) {
	limit := min(o.timeout, c.opts.MaxTimeout)
	start := time.Now()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case answer := <-p.done:
			p.deliver(o.progress)
			return answer.result, answer.err
		case <-p.woken:
			p.deliver(o.progress)
			timer.Reset(min(o.timeout, c.opts.MaxTimeout-time.Since(start)))
		case <-ctx.Done():
			c.link.cancel(p, context.Cause(ctx).Error())
			return nil, fmt.Errorf("mcp: %s: %w", method, context.Cause(ctx))
		case <-timer.C:
			if more := min(p.extension(o.timeout), c.opts.MaxTimeout-time.Since(start)); more > 0 {
				timer.Reset(more)
				continue
			}
			c.link.cancel(p, "timeout")
			return nil, fmt.Errorf("mcp: %s: no answer after %v: %w", method, time.Since(start).Round(time.Millisecond), context.DeadlineExceeded)
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
