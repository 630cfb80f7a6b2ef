package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// What faults of servers come over.
const (
	fromLines    = "client on a pipe"
	fromHTTP     = "client over streamable HTTP"
	fromSessions = "client of a session"
)

// badServer is a server that answers calls of the tool bad in bad ways, and two clients of it, which share a transport.
type badServer struct {
	t         testing.TB
	carrier   string
	loopback  bool
	transport mcp.Transport
	bad       func(conn net.Conn, id string) // answers one call of bad, on the connection as it is
	count     int
	other     *mcp.Client
	watched   chan string // what came of the call that it has under way
	began     chan struct{}
	free      chan struct{} // closed: it is answered
	stop      func()
}

func newBadServer(t testing.TB, carrier string, row faultRow[*badServer]) *badServer {
	b := &badServer{t: t, carrier: carrier, loopback: row.loopback, watched: make(chan string, 1), began: make(chan struct{}), free: make(chan struct{})}
	dial := b.serve()
	if carrier == fromLines {
		b.transport = mcp.Custom(func(context.Context) (mcp.Conn, error) {
			conn, err := dial()
			return mcp.NewConn(conn, conn), err
		})
	} else {
		b.transport = mcp.HTTP("http://localhost/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext:       func(context.Context, string, string) (net.Conn, error) { return dial() },
		}}})
	}
	b.other = b.client()
	go func() {
		r, err := b.other.CallTool(context.Background(), "watch", nil, mcp.WithTimeout(time.Hour))
		if err != nil {
			b.watched <- err.Error()
		} else {
			b.watched <- textOf(r)
		}
	}()
	<-b.began
	return b
}

// client connects another client, which gives up calls after a minute of a bubble.
func (b *badServer) client() *mcp.Client {
	opts := &mcp.ClientOptions{MaxTimeout: time.Hour}
	if b.loopback {
		opts.Timeout = 10 * time.Minute // of a busy machine
	}
	if b.carrier == fromSessions {
		opts.Versions = []string{"2025-11-25"}
	}
	c, err := mcp.Dial(context.Background(), b.transport, opts)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// serve serves until the test ends or stop is called, and returns what makes a connection.
func (b *badServer) serve() (dial func() (net.Conn, error)) {
	ctx, cancel := context.WithCancel(context.Background())
	network := newPipeNetwork()
	var l net.Listener = network
	dial = func() (net.Conn, error) { return network.dial(ctx) }
	if b.loopback {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			b.t.Fatal(err)
		}
		dial = func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				if b.carrier == fromLines {
					b.lines(conn)
				} else {
					b.post(conn)
				}
			})
		}
	})
	b.stop = sync.OnceFunc(func() {
		cancel()
		_ = l.Close()
		all.Wait()
	})
	b.t.Cleanup(b.stop)
	return dial
}

// lines answers a client's messages.
func (b *badServer) lines(conn net.Conn) {
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		m := (&fakeServer{t: b.t}).parse(line)
		switch {
		case m.ID == nil:
		case m.Params.Name == "bad":
			b.bad(conn, string(m.ID))
		case m.Params.Name == "watch":
			waiting.Go(func() { b.good(conn, m, "%s\n") })
		default:
			b.good(conn, m, "%s\n")
		}
	}
}

// post answers one request.
func (b *badServer) post(conn net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m clientMessage
	if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil || m.ID == nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 "+map[string]string{"POST": "202 Accepted", "GET": "405 Method Not Allowed", "DELETE": "204 No Content"}[r.Method]+"\r\nContent-Length: 0\r\n\r\n")
		return
	}
	if m.Params.Name == "bad" {
		b.bad(conn, string(m.ID))
		return
	}
	b.good(conn, m, webHead("application/json", "Mcp-Session-Id: X")+"%s")
}

// webHead begins an answer that ends with the connection.
func webHead(kind string, lines ...string) string {
	return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + kind + "\r\n" + strings.Join(append(lines, "\r\n"), "\r\n")
}

// good answers as a good server does.
func (b *badServer) good(conn net.Conn, m clientMessage, form string) {
	result := discovered
	switch m.Method {
	case "initialize":
		result = initialized
	case "tools/call":
		if m.Params.Name == "watch" {
			close(b.began)
			<-b.free
		}
		result = fmt.Sprintf(`"content":[{"type":"text","text":%q}]`, m.Params.Name+string(m.Params.Arguments))
	}
	_, _ = fmt.Fprintf(conn, form, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, result))
}

// unharmed has the other client make a call.
func (b *badServer) unharmed() {
	b.t.Helper()
	b.count++
	r, err := b.other.CallTool(context.Background(), "echo", addArgs{b.count, 1})
	if want := fmt.Sprintf(`echo{"a":%d,"b":1}`, b.count); err != nil || textOf(r) != want {
		b.t.Errorf("the other client got %v, %v", r, err)
	}
}

func (b *badServer) looks() int { return b.count }

func (b *badServer) end(t testing.TB) {
	t.Helper()
	close(b.free)
	if got := <-b.watched; got != "watch" {
		t.Errorf("the call of the other client: %s", got)
	}
	if err := b.other.Close(); err != nil {
		t.Error(err)
	}
	b.stop()
}

// calls has a client call bad, which is answered by answer, and returns what comes of it. The other client calls as soon
// as something was written, or nothing is going to be. write reports whether the connection is still there.
func calls(answer func(carrier, id string, write func(string) bool)) func(*badServer) string {
	return func(b *badServer) string {
		done := make(chan struct{})
		b.bad = func(conn net.Conn, id string) {
			defer close(done)
			others := sync.OnceFunc(b.unharmed)
			answer(b.carrier, id, func(text string) bool {
				_, err := io.WriteString(conn, text)
				others()
				return err == nil
			})
			others()
			_ = conn.Close()
		}
		c := b.client()
		start := time.Now()
		r, err := c.CallTool(context.Background(), "bad", nil)
		took := time.Since(start)
		if err := c.Close(); err != nil {
			b.t.Error(err)
		}
		<-done
		var remote *mcp.Error
		switch {
		case err == nil:
			return "result " + textOf(r)
		case errors.As(err, &remote):
			return "the server's " + err.Error()
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Sprintf("no answer within %v", took)
		}
		return err.Error()
	}
}

// childStage is where children of the test die.
type childStage struct {
	t         testing.TB
	transport mcp.Transport
	other     *mcp.Client // has a child of its own
	pid       int
	count     int
	cancel    context.CancelCauseFunc
	watched   chan error
}

var errEnough = errors.New("enough")

func newChildStage(t testing.TB, _ string, _ faultRow[*childStage]) *childStage {
	var words syncBuffer
	cmd := child(t, "client server")
	cmd.Stderr = &words
	s := &childStage{t: t, transport: mcp.Command(cmd), watched: make(chan error, 1)}
	var err error
	if s.other, err = mcp.Dial(context.Background(), s.transport, nil); err != nil {
		t.Fatal(err)
	}
	s.pid = pidOf(t, s.other)
	ctx, cancel := context.WithCancelCause(context.Background())
	s.cancel = cancel
	go func() { _, err := s.other.CallTool(ctx, "wait", nil); s.watched <- err }()
	eventually(t, func() bool { return strings.Contains(words.String(), "waiting") })
	return s
}

// unharmed asks the other child who it is.
func (s *childStage) unharmed() {
	s.count++
	if pid := pidOf(s.t, s.other); pid != s.pid {
		s.t.Errorf("the other child is %d, and was %d", pid, s.pid)
	}
}

func (s *childStage) looks() int { return s.count }

func (s *childStage) end(t testing.TB) {
	s.cancel(errEnough)
	if err := <-s.watched; !errors.Is(err, errEnough) {
		t.Errorf("the call of the other client: %v", err)
	}
	if err := s.other.Close(); err != nil {
		t.Error(err)
	}
}

// TestFaultsOfChildren is about servers that are processes, and die.
func TestFaultsOfChildren(t *testing.T) {
	runFaults(t, newChildStage, []faultRow[*childStage]{{
		name: "C130 children that die mid-call, in the middle of a line", loopback: true,
		want: map[string]string{"client of a process": "10 × exit status 3, out of luck true"},
		inject: func(s *childStage) string {
			c, err := mcp.Dial(context.Background(), s.transport, nil)
			if err != nil {
				s.t.Fatal(err)
			}
			defer c.Close()
			var saw []string
			for range 10 { // each is followed by another
				_, err := c.CallTool(context.Background(), "die", nil)
				var status *exec.ExitError
				if !errors.As(err, &status) {
					s.t.Fatal(err)
				}
				saw = append(saw, fmt.Sprintf("exit status %d, out of luck %v", status.ExitCode(), strings.Contains(err.Error(), "out of luck")))
				s.unharmed()
			}
			return times(saw)
		},
	}})
}
