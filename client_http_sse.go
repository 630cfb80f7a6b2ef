package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/typedmcp/mcp/internal/sse"
)

// eventConn is a Conn over the HTTP transport of revision 2024-11-05: what the
// server sends comes as events of one stream, the first of which says where to
// post what is for the server.
type eventConn struct {
	httpSite
	body   io.ReadCloser
	events *sse.Reader
	to     *url.URL
}

// postTime bounds how long a server of that revision may take to accept a
// message. Its answer comes on the stream.
const postTime = 30 * time.Second

// openEvents opens the stream, and learns where to post.
func openEvents(ctx context.Context, c *Client, s httpSite) (link, error) {
	opening, opened := context.WithTimeout(ctx, c.opts.Timeout)
	defer opened()
	stop := context.AfterFunc(opening, func() { s.end(context.Cause(opening)) })
	conn, err := s.events()
	if !stop() && err == nil {
		err = errors.Join(context.Cause(opening), conn.Close())
	}
	if err != nil {
		s.end(err)
		return nil, fmt.Errorf("the HTTP transport of revision 2024-11-05: %w", err)
	}
	return newConnLink(ctx, conn, c), nil
}

func (s *httpSite) events() (*eventConn, error) {
	req, err := s.request(s.ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.do(req)
	if err != nil {
		return nil, err
	}
	if !isEventStream(resp) {
		return nil, statusError(resp)
	}
	conn := &eventConn{httpSite: *s, body: resp.Body, events: sse.NewReader(resp.Body, s.opts.MaxMessage)}
	if conn.to, err = conn.endpoint(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// endpoint reads where to post: at no other server than that of the stream.
func (c *eventConn) endpoint() (*url.URL, error) {
	e, err := c.events.Next()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the stream has no first event: %w", err)
	case e.Name != "endpoint":
		return nil, fmt.Errorf("the first event is %.40q, not endpoint", e.Name)
	}
	to, err := c.url.Parse(string(e.Data))
	if err != nil {
		return nil, errors.New("the event endpoint has no URL")
	}
	if to.Scheme != c.url.Scheme || to.Host != c.url.Host || to.User != nil {
		return nil, fmt.Errorf("the event endpoint names another server, %s://%s", to.Scheme, to.Host)
	}
	return to, nil
}

// Read implements Conn.
func (c *eventConn) Read(context.Context) ([]byte, error) {
	for {
		e, err := c.events.Next()
		switch {
		case errors.Is(err, sse.ErrTooLarge):
			return nil, ErrTooLarge
		case err != nil:
			return nil, err
		case e.Name == sse.Message && len(e.Data) > 0:
			return e.Data, nil
		}
	}
}

// Write implements Conn.
func (c *eventConn) Write(ctx context.Context, msg []byte) error {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	req, err := c.request(ctx, http.MethodPost, c.to, bytes.Clone(msg))
	if err != nil {
		return err
	}
	resp, err := c.do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return statusError(resp)
	}
	_ = resp.Body.Close() // the answer comes on the stream
	return nil
}

// Close implements Conn.
func (c *eventConn) Close() error {
	c.end(ErrClosed)
	return c.body.Close()
}
