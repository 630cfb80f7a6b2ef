package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/sse"
)

// HTTPClientOptions configure the HTTP transport of a client. The zero value,
// and a nil pointer, are good defaults.
type HTTPClientOptions struct {
	// Client sends the requests; nil means http.DefaultClient. Its Timeout
	// should be zero, as it would cut streams.
	Client *http.Client
	// Header is sent with every request, besides MCP's own headers.
	Header http.Header
	// Auth gets access tokens for the server; nil sends none. See NewOAuth.
	Auth Authorizer
	// MaxMessage is the most bytes of one message to accept; 0 means 16 MiB.
	MaxMessage int
}

// HTTP reaches a server over MCP's Streamable HTTP transport. opts may be nil.
func HTTP(url string, opts *HTTPClientOptions) Transport {
	t := httpTransport{url: url}
	if opts != nil {
		t.opts = *opts
	}
	return t
}

type httpTransport struct {
	url  string
	opts HTTPClientOptions
}

func (t httpTransport) open(ctx context.Context, log *slog.Logger) (link, error) {
	u, err := url.Parse(t.url)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the URL %q is not one of http or https", t.url)
	}
	l := &httpLink{calls: calls{log: log}, url: t.url, opts: t.opts}
	if l.opts.Client == nil {
		l.opts.Client = http.DefaultClient
	}
	l.opts.Client = withinOrigin(l.opts.Client)
	if l.opts.MaxMessage <= 0 {
		l.opts.MaxMessage = Limits{}.withDefaults().Message
	}
	l.ctx, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	return l, nil
}

// httpLink sends every request as a POST of its own.
type httpLink struct {
	calls
	url  string
	opts HTTPClientOptions
	ctx  context.Context // of all exchanges
	end  context.CancelCauseFunc
	wg   sync.WaitGroup // the exchanges
}

// close implements link.
func (l *httpLink) close() error {
	if l.fail(ErrClosed) {
		l.end(ErrClosed)
	}
	l.wg.Wait()
	return nil
}

// cancel implements link: closing the response tells the server.
func (l *httpLink) cancel(p *pending, _ string) {
	l.take(p.id)
	p.cancel()
}

// forget implements link.
func (l *httpLink) forget(p *pending) {
	l.calls.forget(p)
	if p.cancel != nil {
		p.cancel()
	}
}

// send implements link. The exchange goes on in a goroutine that ends with
// it.
func (l *httpLink) send(_ context.Context, p *pending, out *outgoing) error {
	if err := l.down(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(l.ctx)
	p.cancel = cancel
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(bytes.Clone(out.msg)))
	if err != nil {
		return fmt.Errorf("mcp: %s: %w", out.method, err)
	}
	l.headers(req.Header, out)
	l.wg.Go(func() {
		defer cancel()
		if err := l.exchange(req, p); err != nil && l.take(p.id) != nil {
			p.done <- answer{err: fmt.Errorf("mcp: %s: %w", out.method, err)}
		}
	})
	return nil
}

// headers sets what the transport prescribes (MCP 2026-07-28, Streamable HTTP
// › Sending Messages, › Standard Request Headers).
func (l *httpLink) headers(h http.Header, out *outgoing) {
	maps.Copy(h, l.opts.Header)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h[header.ProtocolVersion] = []string{LatestVersion}
	h[header.Method] = []string{out.method}
	if out.name != "" {
		h[header.Name] = []string{header.Encode(out.name)}
	}
	maps.Copy(h, out.params)
}

// exchange sends one request and reads its answer, which goes to p.
func (l *httpLink) exchange(req *http.Request, p *pending) error {
	resp, err := l.do(req, p)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "application/json":
		return l.single(resp, p)
	case kind == "text/event-stream" && resp.StatusCode == http.StatusOK:
		return l.stream(resp, p)
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // only for the message
	return statusError(resp, text)
}

// single reads an answer of one message. One that is none, as of a proxy, is
// reported with its status.
func (l *httpLink) single(resp *http.Response, p *pending) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(l.opts.MaxMessage)+1))
	switch {
	case err != nil:
		return err
	case len(body) > l.opts.MaxMessage:
		return ErrTooLarge
	}
	l.receive(body)
	if l.waiting(p) {
		return statusError(resp, body)
	}
	return nil
}

// waiting reports whether p has no answer yet.
func (l *httpLink) waiting(p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[p.id] != nil
}

// stream reads messages until the answer has come.
func (l *httpLink) stream(resp *http.Response, p *pending) error {
	events := sse.NewReader(resp.Body, l.opts.MaxMessage)
	for l.waiting(p) {
		e, err := events.Next()
		switch {
		case errors.Is(err, sse.ErrTooLarge):
			l.log.Warn("mcp: the server sent an event over the size limit; it was dropped")
		case errors.Is(err, io.EOF):
			return errors.New("the server ended the stream before its answer")
		case err != nil:
			return err
		case e.Name == sse.Message && len(e.Data) > 0:
			l.receive(bytes.Clone(e.Data)) // results are spans of it
		}
	}
	return nil
}

// statusError reports an answer that holds no message of the protocol.
func statusError(resp *http.Response, body []byte) error {
	text := strings.Join(strings.Fields(string(body)), " ")
	return fmt.Errorf("the server answered %s without a result: %.200q", resp.Status, text)
}
