package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/sse"
)

// HTTPClientOptions configure the HTTP transport of a client. The zero value,
// and a nil pointer, are good defaults.
type HTTPClientOptions struct {
	// Client sends the requests; nil means http.DefaultClient. Its Timeout
	// should be zero, as it would cut streams. One that authorizes requests by
	// itself has to do so for one user: results that a server calls private are
	// kept, and told apart by the tokens of Auth alone.
	Client *http.Client
	// Header is sent with every request, besides MCP's own headers.
	Header http.Header
	// Auth gets access tokens for the server; nil sends none. See NewOAuth.
	Auth Authorizer
	// MaxMessage is the most bytes of one message to accept; 0 means 16 MiB.
	MaxMessage int
}

// HTTP reaches a server over MCP's Streamable HTTP transport, also that of the
// revisions before 2026-07-28, with sessions and streams that are resumed when
// they break; and over the transport of 2024-11-05, if url does not answer in
// the others. opts may be nil.
func HTTP(url string, opts *HTTPClientOptions) Transport {
	t := &httpTransport{url: url}
	if opts != nil {
		t.opts = *opts
	}
	t.http, t.renews = true, true
	return t
}

type httpTransport struct {
	traits
	url  string
	opts HTTPClientOptions
}

func (t *httpTransport) open(ctx context.Context, c *Client, e era) (link, error) {
	u, err := url.Parse(t.url)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the URL %q is not one of http or https", t.url)
	}
	s := httpSite{url: u, opts: t.opts}
	if s.opts.Client == nil {
		s.opts.Client = http.DefaultClient
	}
	s.opts.Client = withinOrigin(s.opts.Client)
	if s.opts.MaxMessage <= 0 {
		s.opts.MaxMessage = defaultLimits.Message
	}
	s.ctx, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	switch e {
	case eraLegacy:
		return &legacyLink{httpCalls: httpCalls{httpSite: s, calls: c.newCalls()}, settled: make(chan struct{})}, nil
	case eraOldest:
		return openEvents(ctx, c, s)
	}
	return &httpLink{httpCalls{httpSite: s, calls: c.newCalls()}}, nil
}

// HTTPError is an answer in HTTP that is no answer of the protocol, or one that
// says more by its status: such as 401, for want of authorization, 413, or 503.
type HTTPError struct {
	// Status is such as 413; Header is that of the answer.
	Status int
	Header http.Header
	// Text is the start of the body.
	Text string

	fault error // the protocol error in the body; nil: none
}

// Error implements error.
func (e *HTTPError) Error() string {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	hint := ""
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = ": it wants authorization, or another one"
	case http.StatusRequestEntityTooLarge:
		hint = ": the request is too large for it"
	case http.StatusRequestHeaderFieldsTooLarge:
		hint = ": the headers, which repeat arguments, are too large for it"
	}
	if e.fault != nil {
		return fmt.Sprintf("the server answered %s%s: %v", status, hint, e.fault)
	}
	return fmt.Sprintf("the server answered %s without a result%s: %q", status, hint, e.Text)
}

// Unwrap returns the *Error that the body held, if any.
func (e *HTTPError) Unwrap() error { return e.fault }

// httpSite is where a server is reached.
type httpSite struct {
	url  *url.URL
	opts HTTPClientOptions
	ctx  context.Context // of all exchanges
	end  context.CancelCauseFunc
}

// httpCalls is what the links share that make an exchange of every request.
type httpCalls struct {
	httpSite
	calls
	wg sync.WaitGroup // the exchanges
}

// start runs fn in a goroutine that close waits for, unless the link is down.
func (s *httpCalls) start(fn func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.wg.Go(fn)
	return nil
}

// statusError is an answer that is none of the protocol. It closes the body.
func statusError(resp *http.Response) *HTTPError {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, textShown)) // only for the message
	_ = resp.Body.Close()
	return newHTTPError(resp, text)
}

// textShown is how much of a body errors tell, in bytes.
const textShown = 200

func newHTTPError(resp *http.Response, body []byte) *HTTPError {
	text := strings.Join(strings.Fields(string(body[:min(len(body), 2*textShown)])), " ")
	return &HTTPError{Status: resp.StatusCode, Header: resp.Header, Text: strings.ToValidUTF8(text[:min(len(text), textShown)], "")}
}

// request makes an HTTP request; body nil means that there is none.
func (s *httpSite) request(ctx context.Context, method string, to *url.URL, body []byte) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), reader)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, s.opts.Header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	} else {
		req.Header.Set("Accept", "text/event-stream")
	}
	return req, nil
}

// roundTrip sends a request as it is. An error means that there was no answer.
func (s *httpSite) roundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.opts.Client.Do(req)
	if err == nil {
		if resp.Request == nil { // not every RoundTripper says
			resp.Request = req
		}
		return resp, nil
	}
	if cause := context.Cause(req.Context()); cause != nil {
		return nil, cause
	}
	var op *net.OpError
	return nil, &lostError{err: err, unread: errors.As(err, &op) && op.Op == "dial"}
}

// httpLink sends every request as a POST of its own (MCP 2026-07-28,
// Streamable HTTP).
type httpLink struct{ httpCalls }

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
	if p.cancel != nil {
		p.cancel()
	}
}

// forget implements link.
func (l *httpLink) forget(p *pending) { l.cancel(p, "") }

// tell implements link. Nothing is told to a server of this revision.
func (l *httpLink) tell(context.Context, []byte) error {
	return errors.New("a server of revision 2026-07-28 takes nothing but requests over HTTP")
}

// send implements link. The exchange goes on in a goroutine that ends with
// it.
func (l *httpLink) send(_ context.Context, p *pending, out *outgoing) error {
	ctx, cancel := context.WithCancel(l.ctx)
	p.cancel = cancel
	req, err := l.request(ctx, http.MethodPost, l.url, bytes.Clone(out.msg))
	if err != nil {
		return err
	}
	l.headers(req.Header, out)
	return l.start(func() {
		defer cancel()
		if err := l.exchange(req, p); err != nil {
			l.settle(p, err)
		}
	})
}

// headers sets what the transport prescribes (MCP 2026-07-28, Streamable HTTP
// › Sending Messages, › Standard Request Headers).
func (l *httpLink) headers(h http.Header, out *outgoing) {
	h[header.ProtocolVersion] = []string{LatestVersion}
	h[header.Method] = []string{out.method}
	if out.name != "" {
		h[header.Name] = []string{header.Encode(out.name)}
	}
	maps.Copy(h, out.params)
}

// exchange sends one request and reads its answer, which goes to p.
func (l *httpLink) exchange(req *http.Request, p *pending) error {
	resp, token, err := l.authorize(req, &l.asking)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	p.bearer = bearerOf(token)
	if isEventStream(resp) {
		return l.stream(resp, p)
	}
	return l.single(l, resp, p)
}

// stream reads messages until the answer has come. A stream that breaks has
// lost it: it cannot be resumed.
func (l *httpLink) stream(resp *http.Response, p *pending) error {
	events := sse.NewReader(resp.Body, l.opts.MaxMessage)
	for l.waiting(p) {
		if err := l.next(l, events); err != nil {
			return &lostError{err: err}
		}
	}
	return nil
}

// isEventStream reports whether the answer is a stream of events.
func isEventStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/event-stream" && resp.StatusCode < 300
}

// next takes one event in. Those that are no messages are passed over.
func (s *httpCalls) next(l link, events *sse.Reader) error {
	e, err := events.Next()
	switch {
	case errors.Is(err, sse.ErrTooLarge):
		s.log.Warn("mcp: the server sent an event over the size limit; it was dropped")
	case errors.Is(err, io.EOF):
		return errNoAnswer
	case err != nil:
		return err
	case e.Name == sse.Message && len(e.Data) > 0:
		s.accept(l, bytes.Clone(e.Data)) // results are spans of it
	}
	return nil
}

// single reads an answer of one message. One that is none, as of a proxy, is
// reported with its status.
func (s *httpCalls) single(l link, resp *http.Response, p *pending) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(s.opts.MaxMessage)+1))
	switch {
	case err != nil:
		return &lostError{err: err}
	case len(body) > s.opts.MaxMessage:
		return ErrTooLarge
	}
	failed := newHTTPError(resp, body)
	if fault := faultFor(body, p); fault != nil {
		if !noVerdict(failed) {
			return fault
		}
		failed.fault = fault
		return failed
	}
	if firstByte(body) == '{' || firstByte(body) == '[' || isBOM(body) {
		s.accept(l, body)
	}
	if s.waiting(p) {
		return failed
	}
	return nil
}

func isBOM(body []byte) bool { return bytes.HasPrefix(body, []byte("\ufeff")) }

// faultFor returns the error that answers p in a body: with its id, or with
// none, as the status of its exchange says what it is about.
func faultFor(body []byte, p *pending) error {
	var m jsonrpc.Message
	if jsonrpc.Decode(body, defaultLimits.Depth, &m) != nil || m.Kind != jsonrpc.Response || m.Fault() == nil {
		return nil
	}
	if id, own := ownID(m.ID); len(m.ID) > 0 && !(own && id == p.id) {
		return nil
	}
	return remoteError(m.Fault())
}
