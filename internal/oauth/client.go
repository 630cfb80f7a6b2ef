package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Bounds of every request.
const (
	maxDocument = 1 << 20 // bytes
	fetchTime   = 20 * time.Second
)

// Client fetches and posts the documents of OAuth.
type Client struct{ http *http.Client }

// NewClient returns a client that sends by the transport of base, and keeps
// out of private networks if base is nil (see Guarded).
func NewClient(base *http.Client, reach Reach) *Client {
	c := &http.Client{Timeout: fetchTime, CheckRedirect: refuseRedirect}
	if base != nil {
		c.Transport = base.Transport
	} else {
		c.Transport = newTransport(reach)
	}
	c.Transport = bounded{c.Transport}
	return &Client{http: c}
}

// Close closes connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// bounded cuts what is too long: golang.org/x/oauth2 reads tokens through it,
// too.
type bounded struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{io.LimitReader(resp.Body, maxDocument+1), resp.Body, 0}
	}
	return resp, err
}

// CloseIdleConnections is for http.Client.CloseIdleConnections.
func (t bounded) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.Reader
	io.Closer
	read int64
}

var errTooLarge = fmt.Errorf("the document is larger than %d bytes", maxDocument)

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.read += int64(n); b.read > maxDocument {
		return 0, errTooLarge
	}
	return n, err
}

func (c *Client) get(ctx context.Context, address string, v any) error {
	return c.do(ctx, http.MethodGet, address, nil, nil, v)
}

// Get fetches a document as it is.
func (c *Client) Get(ctx context.Context, address string) ([]byte, error) {
	_, body, err := c.send(ctx, http.MethodGet, address, nil, nil)
	return body, err
}

// do sends body, if it is not nil, and decodes the answer into v. The error
// matches errNotFound where the server says that there is nothing.
func (c *Client) do(ctx context.Context, method, address string, head http.Header, body []byte, v any) error {
	kind, answer, err := c.send(ctx, method, address, head, body)
	if err != nil {
		return err
	}
	if method == http.MethodGet && kind == "text/html" {
		return errNotFound // web applications have a page for every address
	}
	if err := jsonx.Unmarshal(answer, v); err != nil {
		return errors.New("the answer is not the JSON that it should be")
	}
	return nil
}

// send returns the answer to a request and its media type. An answer that is
// a refusal is an error: a *Refusal if it says why.
func (c *Client) send(ctx context.Context, method, address string, head http.Header, body []byte) (kind string, answer []byte, err error) {
	if _, err := ParseURL(address); err != nil {
		return "", nil, fmt.Errorf("the address %.200q: %w", address, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return "", nil, withoutURL(err)
	}
	for name, values := range head {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", nil, withoutURL(err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		return "", nil, err
	}
	kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch status := resp.StatusCode; {
	case status == http.StatusOK || status == http.StatusCreated:
		return kind, answer, nil
	case method == http.MethodGet && absent(status):
		return "", nil, errNotFound
	case status >= 300 && status < 400:
		return "", nil, errors.New("the answer is a redirect, which is not followed")
	}
	return "", nil, refusal(resp.StatusCode, answer)
}

// absent reports whether a status says that there is no document: servers that
// demand credentials for everything refuse what they do not know.
func absent(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}

// withoutURL takes the URL out of an error of package http: it may have
// secrets.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// Refusal is an error that an authorization server answers with (RFC 6749,
// section 5.2, and RFC 7591, section 3.2.2).
type Refusal struct {
	Status            int
	Code, Description string
}

// Error implements error.
func (r *Refusal) Error() string {
	switch {
	case r.Code == "":
		return fmt.Sprintf("the server answered %d %s", r.Status, http.StatusText(r.Status))
	case r.Description == "":
		return fmt.Sprintf("the server answered %s", r.Code)
	}
	return fmt.Sprintf("the server answered %s: %.200q", r.Code, r.Description)
}

// refusal reads the answer of a refused request.
func refusal(status int, answer []byte) error {
	var said struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	if jsonx.Unmarshal(answer, &said) != nil {
		said.Code, said.Description = "", ""
	}
	return newRefusal(status, said.Code, said.Description)
}

// newRefusal keeps of an error what is fit to be shown.
func newRefusal(status int, code, description string) *Refusal {
	if !errorCode(code) {
		code, description = "", ""
	}
	return &Refusal{Status: status, Code: code, Description: description}
}

// errorCode reports whether s looks like the code of an error.
func errorCode(s string) bool {
	if s == "" || len(s) > 60 {
		return false
	}
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}
