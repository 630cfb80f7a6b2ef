package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// What faults of clients come over.
const (
	onLines    = "stdio"           // a message a line, as on standard input and output
	onHTTP     = "streamable HTTP" // of 2026-07-28
	onSessions = "sessions"        // of 2025-11-25, over HTTP
)

// faultSite is a server that peers misbehave at.
type faultSite struct {
	*fixture
	t       testing.TB
	carrier string
	web     *mcp.HTTPOptions
	dial    func() net.Conn // makes a connection to the server
	count   int             // of calls by others
	watcher *peer           // somebody else, with a call under way
	free    chan struct{}   // closed: that is answered
	stop    func()
}

// newFaultSite serves a fixture, until the test ends or end is called.
func newFaultSite(t testing.TB, carrier string, row faultRow[*faultSite]) *faultSite {
	opts := &mcp.ServerOptions{Dynamic: true}
	web := &mcp.HTTPOptions{}
	if row.set != nil {
		row.set(opts, web)
	}
	s := &faultSite{fixture: newFixture(opts), t: t, carrier: carrier, web: web, free: make(chan struct{})}
	mcp.AddTool(s, "watch", "Return when the test says so", func(ctx context.Context, _ noArgs) (string, error) {
		s.started <- "watch"
		select {
		case <-s.free:
		case <-ctx.Done():
		}
		return "watched", ctx.Err()
	})
	mcp.AddTool(s, "flood", "Report until the context ends", func(ctx context.Context, _ noArgs) (string, error) {
		for i := 1; ctx.Err() == nil; i++ {
			mcp.Progress(ctx, float64(i), 0, strings.Repeat("x", 10_000))
		}
		s.ended <- context.Cause(ctx)
		return "", ctx.Err()
	})
	mcp.AddTool(s, "ask", "Ask for a name", func(ctx context.Context, _ noArgs) (string, error) {
		who, err := mcp.Elicit[nameForm](ctx, "who", "Who are you?")
		return who.Name, err
	})
	s.serve(row.loopback)
	s.watcher = s.peer()
	s.watcher.send(s.call(0, "watch", "{}"), "Accept: application/json")
	if tag := <-s.started; tag != "watch" {
		t.Fatalf("%s was called", tag)
	}
	return s
}

// serve serves lines or HTTP on every connection that dial makes.
func (s *faultSite) serve(loopback bool) {
	ctx, cancel := context.WithCancel(context.Background())
	network := newPipeNetwork()
	var l net.Listener = network
	s.dial = func() net.Conn { return s.connected(network.dial(ctx)) }
	if loopback {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			s.t.Fatal(err)
		}
		s.dial = func() net.Conn {
			conn := s.connected(net.Dial("tcp", l.Addr().String()))
			_ = conn.SetDeadline(time.Now().Add(10 * lineTimeout))
			return conn
		}
	}
	served := make(chan error, 1)
	go func() {
		if s.carrier == onLines {
			served <- serveAll(ctx, s.Server, l)
		} else {
			served <- s.ServeListener(ctx, l, s.web)
		}
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			s.t.Errorf("serving: %v", err)
		}
	})
	s.t.Cleanup(s.stop)
}

func (s *faultSite) connected(conn net.Conn, err error) net.Conn {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// serveAll serves lines on every connection of l, until ctx ends.
func serveAll(ctx context.Context, s *mcp.Server, l net.Listener) error {
	var all sync.WaitGroup
	defer all.Wait()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		all.Go(func() { _ = s.Serve(ctx, mcp.NewConn(conn, conn)) }) // the rows say how it ends
	}
}

// unharmed has another connection make a call, which is answered to the letter.
func (s *faultSite) unharmed() {
	s.t.Helper()
	s.count++
	p := s.peer()
	defer p.Close()
	p.send(s.call(s.count, "add", fmt.Sprintf(`{"a":%d,"b":1000}`, s.count)))
	if p.answer(); p.message != s.sum(s.count, s.count+1000) {
		s.t.Errorf("another connection got %s", p.message)
	}
}

func (s *faultSite) looks() int { return s.count }

// end has the call that was under way all the time answered, and closes everything.
func (s *faultSite) end(t testing.TB) {
	t.Helper()
	close(s.free)
	s.watcher.answer()
	want := modernText("0", "watched")
	if s.carrier == onSessions {
		want = legacyResult("0", "watched")
	}
	if s.watcher.message != want {
		t.Errorf("the call beside it got %q", s.watcher.message)
	}
	_ = s.watcher.Close()
	s.stop()
}

// call is a tools/call in the words of the carrier's revision.
func (s *faultSite) call(id int, tool, args string) string {
	if s.carrier == onSessions {
		return legacyCall(fmt.Sprint(id), tool, args)
	}
	return modernCall(fmt.Sprint(id), tool, args)
}

// sum is the answer to a call of add.
func (s *faultSite) sum(id, sum int) string {
	if s.carrier == onSessions {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"structuredContent":{"sum":%[2]d},"content":[{"type":"text","text":"{\"sum\":%[2]d}"}]}}`, id, sum)
	}
	return modernSum(fmt.Sprint(id), sum)
}

// peer is a client with one connection, on which it does what it likes.
type peer struct {
	net.Conn
	s       *faultSite
	in      *bufio.Reader
	session string // its id
	message string // the last that was received
}

// peer makes a connection, and opens a session where there are some.
func (s *faultSite) peer() *peer {
	s.t.Helper()
	conn := s.dial()
	p := &peer{Conn: conn, s: s, in: bufio.NewReader(conn)}
	if s.carrier != onSessions {
		return p
	}
	p.raw(p.wire(initializeWith("2025-11-25", "")))
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	p.session = resp.Header.Get("Mcp-Session-Id")
	if a := readAnswer(s.t, resp); a.status != 200 || p.session == "" {
		s.t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	p.send(initializedNotice)
	if saw := p.answer(); saw != "202" {
		s.t.Fatalf("initialized: %s", saw)
	}
	return p
}

// wire is a message in the form of the carrier; edits are those of httpPost.
func (p *peer) wire(body string, edits ...string) string {
	if p.s.carrier == onLines {
		return body + "\n"
	}
	r := modernPost(body)
	if p.s.carrier == onSessions {
		r = httpPost(body)
		if p.session != "" {
			editHeader(r, "Mcp-Session-Id: "+p.session, "MCP-Protocol-Version: 2025-11-25")
		}
	}
	r.Header.Set("Authorization", "Bearer for-ever") // means nothing where tokens do not
	return written(p.s.t, editHeader(r, edits...))
}

// written is r as it is on a connection.
func written(t testing.TB, r *http.Request) string {
	t.Helper()
	var out strings.Builder
	if err := to(context.Background(), "http://localhost/mcp", r).Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func (p *peer) send(body string, edits ...string) {
	p.s.t.Helper()
	p.raw(p.wire(body, edits...))
}

func (p *peer) raw(text string) {
	p.s.t.Helper()
	if _, err := io.WriteString(p, text); err != nil {
		p.s.t.Fatalf("writing: %v", err)
	}
}

// answer reads the next answer and says what it is: the status, if there is one, and the kind and text of the message.
func (p *peer) answer() string {
	p.message = ""
	if p.s.carrier == onLines {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return ended(line)
		}
		p.message = strings.TrimSuffix(line, "\n")
		return told(p.message)
	}
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return ended("")
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return ended(string(body))
	}
	p.message = string(body)
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		events, _ := parseStream(p.s.t, p.message)
		p.message = events[len(events)-1]
	}
	if what := told(p.message); what != "" {
		return fmt.Sprint(resp.StatusCode, " ", what)
	}
	return fmt.Sprint(resp.StatusCode)
}

// ended says how a connection ended without an answer, or with a part of one.
func ended(part string) string {
	if part == "" {
		return "the end"
	}
	return "a part, and the end"
}

// told is the kind and the text of a message, "" of what is none.
func told(message string) string {
	var m struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *wireError
	}
	if json.Unmarshal([]byte(message), &m) != nil {
		return ""
	}
	if m.Error != nil {
		return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	kind, text := "result", ""
	if m.Result.IsError {
		kind = "failure"
	}
	for _, c := range m.Result.Content {
		text += c.Text
	}
	if len(text) > 200 {
		text = fmt.Sprintf("of %d bytes", len(text))
	}
	return kind + " " + text
}

// vanish ends the connection without a word: on sockets by a reset.
func (p *peer) vanish() {
	if conn, ok := p.Conn.(*net.TCPConn); ok {
		_ = conn.SetLinger(0)
	}
	_ = p.Close()
}

// times says how often each of what was seen was seen.
func times(saw []string) string {
	counts := make(map[string]int)
	for _, one := range saw {
		counts[one]++
	}
	var all []string
	for _, one := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%d × %s", counts[one], one))
	}
	return strings.Join(all, ", ")
}
