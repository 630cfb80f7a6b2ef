package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// serveLoopback serves h on a loopback port, over HTTP/2 with TLS or HTTP/1.1 without, until the test ends.
func serveLoopback(t testing.TB, h http.Handler, http2 bool) *httptest.Server {
	srv := httptest.NewUnstartedServer(h)
	if http2 {
		srv.EnableHTTP2 = true
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	return srv
}

// rawExchange sends a request over TCP as it is and returns all that the server writes till it closes the connection.
func rawExchange(t testing.TB, h http.Handler, request string) string {
	t.Helper()
	return rawDial(t, serveLoopback(t, h, false).Listener.Addr().String(), request)
}

func rawDial(t testing.TB, addr, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(lineTimeout))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("reading the answer: %v after %.300q", err, answer)
	}
	return string(answer)
}

// pipeNetwork is a listener whose connections are pipes in memory: a web server and its clients fit into one synctest
// bubble.
type pipeNetwork struct {
	addr   net.Addr // of the server
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeNetwork() *pipeNetwork {
	return &pipeNetwork{addr: loopback, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (n *pipeNetwork) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *pipeNetwork) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr implements net.Listener.
func (n *pipeNetwork) Addr() net.Addr { return n.addr }

// dial returns the client's end of a new connection.
func (n *pipeNetwork) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.conns <- pipeEnd{server, n.addr}:
		return client, nil
	case <-n.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// pipeEnd is the server's end of a pipe, with an address like that of a socket.
type pipeEnd struct {
	net.Conn
	addr net.Addr
}

func (c pipeEnd) LocalAddr() net.Addr  { return c.addr }
func (c pipeEnd) RemoteAddr() net.Addr { return c.addr }

// client returns a client of the network that makes a connection for each request.
func (n *pipeNetwork) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return n.dial(ctx) },
	}}
}

// servePipes serves h on a new network until the bubble ends.
func servePipes(t testing.TB, h http.Handler) *pipeNetwork {
	n := newPipeNetwork()
	web := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- web.Serve(n) }()
	t.Cleanup(func() {
		if err := web.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return n
}

// to turns a request that was made for a handler into one for a client of the server at url.
func to(ctx context.Context, url string, r *http.Request) *http.Request {
	out := r.Clone(ctx)
	out.RequestURI = ""
	out.Host = ""
	at, err := http.NewRequest(r.Method, url, nil)
	if err != nil {
		panic(err)
	}
	out.URL = at.URL
	return out
}

// fetch sends r to the server at url and reads the answer to its end.
func fetch(t testing.TB, c *http.Client, url string, r *http.Request) httpAnswer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lineTimeout)
	defer cancel()
	resp, err := c.Do(to(ctx, url, r))
	if err != nil {
		t.Fatal(err)
	}
	return readAnswer(t, resp)
}

// liveStream is a response that is read piece by piece.
type liveStream struct {
	t    testing.TB
	resp *http.Response
	in   *bufio.Reader
}

// stream sends r and returns once the header of the response has come. The time of a bubble is cheap.
func (n *pipeNetwork) stream(t testing.TB, r *http.Request) *liveStream {
	t.Helper()
	return openFor(t, n.client(), "http://localhost/mcp", r, time.Hour)
}

// openStream sends r and returns once the header of the response has come. The connection is closed when the test ends.
func openStream(t testing.TB, c *http.Client, url string, r *http.Request) *liveStream {
	t.Helper()
	return openFor(t, c, url, r, lineTimeout)
}

// openFor is openStream for a stream that may last for d.
func openFor(t testing.TB, c *http.Client, url string, r *http.Request, d time.Duration) *liveStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	resp, err := c.Do(to(ctx, url, r))
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	s := &liveStream{t: t, resp: resp, in: bufio.NewReader(resp.Body)}
	t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	return s
}

// next returns the next event's data, "comment", or "end".
func (s *liveStream) next() string {
	s.t.Helper()
	line, err := s.in.ReadString('\n')
	if err == io.EOF && line == "" {
		return "end"
	}
	blank, end := s.in.ReadString('\n')
	if err != nil || end != nil || blank != "\n" {
		s.t.Fatalf("the stream broke off: %q %v, %q %v", line, err, blank, end)
	}
	if strings.HasPrefix(line, ":") {
		return "comment"
	}
	data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
	if !ok {
		s.t.Fatalf("neither an event nor a comment: %q", line)
	}
	return data
}

// expect holds what comes next to want.
func (s *liveStream) expect(want ...string) {
	s.t.Helper()
	for _, w := range want {
		if got := s.next(); got != w {
			s.t.Fatalf("got  %s\nwant %s", got, w)
		}
	}
}
