package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// lineTimeout is when a line that does not come is given up. Nothing is measured by it.
const lineTimeout = 30 * time.Second

// lineClient is the raw client of a server that is being served line by line. What the server writes is read at once and
// kept until the test asks for it.
type lineClient struct {
	t      testing.TB
	in     io.WriteCloser
	lines  chan string // closed when the server's output ended
	ctx    context.Context
	stop   context.CancelFunc // ends the context of Serve
	served chan error         // what Serve returned, once
}

// serveLines serves s over a pair of in-memory pipes, until the test ends at the latest.
func serveLines(t testing.TB, s *mcp.Server) *lineClient {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	return serveConn(t, s, mcp.NewConn(serverIn, serverOut), clientIn, clientOut)
}

// serveConn serves s on c, whose other end is r and w.
func serveConn(t testing.TB, s *mcp.Server, c mcp.Conn, r io.Reader, w io.WriteCloser) *lineClient {
	t.Helper()
	if err := s.Check(); err != nil { // it would not serve, and the test wait for nothing
		t.Fatal(err)
	}
	lc := &lineClient{t: t, in: w, lines: make(chan string, 1<<14), served: make(chan error, 1)}
	lc.ctx, lc.stop = context.WithCancel(context.Background())
	go func() { lc.served <- s.Serve(lc.ctx, c) }()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(lc.lines)
		for in := bufio.NewReader(r); ; {
			line, err := in.ReadString('\n')
			if line != "" {
				lc.lines <- line // with its newline, if it has one
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		lc.stop()
		select {
		case <-lc.served:
		case <-time.After(lineTimeout):
			t.Error("Serve did not return after its context ended")
			return
		}
		_ = w.Close()
		<-read
	})
	return lc
}

// send writes each line and a newline.
func (c *lineClient) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		c.raw(line + "\n")
	}
}

// raw writes bytes as they are.
func (c *lineClient) raw(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, s); err != nil {
		c.t.Fatalf("writing %.200q: %v", s, err)
	}
}

// next returns the next line of the server, without its newline.
func (c *lineClient) next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server's output ended")
		}
		whole, ended := strings.CutSuffix(line, "\n")
		if !ended {
			c.t.Fatalf("the server's output ended within a line: %.200q", line)
		}
		return whole
	case <-time.After(lineTimeout):
		c.t.Fatal("the server wrote no further line")
	}
	panic("unreachable")
}

// expect holds the next lines to want, byte for byte and in order.
func (c *lineClient) expect(want ...string) {
	c.t.Helper()
	for i, w := range want {
		if got := c.next(); got != w {
			c.t.Fatalf("line %d of %d:\n got %s\nwant %s", i+1, len(want), got, w)
		}
	}
}

// expectAnyOrder holds the next lines to want, byte for byte and in whatever order.
func (c *lineClient) expectAnyOrder(want ...string) {
	c.t.Helper()
	got := make([]string, len(want))
	for i := range want {
		got[i] = c.next()
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Fatalf("lines in any order (-want +got):\n%s", diff)
	}
}

// expectError holds the next line to an error response with that id, "" meaning none, and code. It returns its text.
func (c *lineClient) expectError(id string, code mcp.Code) string {
	c.t.Helper()
	line := c.next()
	m := parseWire(c.t, line)
	if m.Error == nil || string(m.ID) != id || m.Error.Code != code {
		c.t.Fatalf("got %s\nwant an error with id %q and code %d", line, id, code)
	}
	return m.Error.Message
}

// quiet holds the server to having written nothing more once it has nothing left to do. It works in a synctest bubble
// only.
func (c *lineClient) quiet() {
	c.t.Helper()
	synctest.Wait()
	select {
	case line, ok := <-c.lines:
		if ok {
			c.t.Fatalf("unexpected line: %s", line)
		}
	default:
	}
}

// hangUp ends the input and returns what Serve returns. Lines written till then can still be asked for.
func (c *lineClient) hangUp() error {
	c.t.Helper()
	if err := c.in.Close(); err != nil {
		c.t.Fatalf("closing the input: %v", err)
	}
	return c.wait()
}

// wait returns what Serve returns.
func (c *lineClient) wait() error {
	c.t.Helper()
	select {
	case err := <-c.served:
		c.served <- err // for the cleanup
		return err
	case <-time.After(lineTimeout):
		c.t.Fatal("Serve did not return")
	}
	panic("unreachable")
}

// rest returns the lines that are left when the server's output has ended.
func (c *lineClient) rest() []string {
	var all []string
	for line := range c.lines {
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}

// openLegacy opens a legacy session.
func (c *lineClient) openLegacy(version string) {
	c.t.Helper()
	c.send(initializeRequest(`"init"`, version))
	if m := parseWire(c.t, c.next()); m.Error != nil {
		c.t.Fatalf("initialize failed: %s", m.Error.Message)
	}
	c.send(initializedNotice)
}

// wireMessage is a message as a server sends it.
type wireMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *wireError      `json:"error"`
}

type wireError struct {
	Code    mcp.Code        `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// parseWire parses a line and holds it to being exactly one message.
func parseWire(t testing.TB, line string) wireMessage {
	t.Helper()
	var m wireMessage
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || d.More() {
		t.Fatalf("not one message: %v: %.300q", err, line)
	}
	answers := m.ID != nil && m.Method == "" && (m.Result == nil) != (m.Error == nil)
	faults := m.ID == nil && m.Method == "" && m.Error != nil && m.Result == nil
	asks := m.ID != nil && m.Result == nil && m.Error == nil && slices.Contains([]string{"elicitation/create", "sampling/createMessage", "roots/list"}, m.Method)
	notices := m.ID == nil && m.Method != "" && m.Result == nil && m.Error == nil
	if m.Version != "2.0" || !answers && !faults && !notices && !asks {
		t.Fatalf("no message that a server may send: %.300q", line)
	}
	return m
}
