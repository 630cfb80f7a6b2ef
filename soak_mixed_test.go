//go:build soak

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

const (
	soakTime = 2 * time.Minute
	warmTime = 20 * time.Second // whatever is made once, is made within it
)

// soakKinds are the connections of TestSoakMixed, 500 in all.
var soakKinds = []struct {
	name    string
	number  int
	lines   bool   // over a pipe; else over HTTP
	version string // "": the newest
	listens bool   // and makes no calls
}{
	{"streamable HTTP", 190, false, "", false},
	{"sessions", 140, false, "2025-11-25", false},
	{"pipes", 70, true, "", false},
	{"sessions on pipes", 40, true, "2025-06-18", false},
	{"listeners over HTTP", 40, false, "", true},
	{"listeners on pipes", 20, true, "", true},
}

type (
	soakNumber struct {
		N int `json:"n"`
	}
	soakText struct {
		N string `json:"n"`
	}
)

// newMixed returns a server whose every answer has the number that was sent with the request.
func newMixed() *mcp.Server {
	s := mcp.NewServer("mixed", "1.0.0", &mcp.ServerOptions{Dynamic: true, Logging: true})
	number := func(_ context.Context, a soakNumber) (soakNumber, error) { return a, nil }
	mcp.AddTool(s, "number", "", number)
	mcp.AddTool(s, "count", "", func(ctx context.Context, a soakNumber) (soakNumber, error) {
		for i := range a.N % 7 {
			mcp.Progress(ctx, float64(i+1), 0, fmt.Sprint(a.N))
		}
		return a, nil
	})
	mcp.AddTool(s, "wait", "", func(ctx context.Context, a soakNumber) (soakNumber, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(a.N%50) * time.Millisecond):
		}
		return a, context.Cause(ctx)
	})
	mcp.AddTool(s, "ask", "", func(ctx context.Context, a soakNumber) (soakNumber, error) {
		first, err := mcp.Elicit[soakNumber](ctx, "first", fmt.Sprint(a.N))
		if err != nil {
			return a, err
		}
		second, err := mcp.Elicit[soakNumber](ctx, "second", fmt.Sprint(first.N))
		return second, err
	})
	mcp.AddTool(s, "fail", "", func(_ context.Context, a soakNumber) (string, error) { return "", errors.New(fmt.Sprint(a.N)) })
	mcp.AddTool(s, "panic", "", func(context.Context, soakNumber) (string, error) { panic("on purpose") })
	mcp.AddPrompt(s, "number", "", func(_ context.Context, a soakText) (string, error) { return a.N, nil })
	mcp.AddTemplate(s, "mixed://{n}", "number", func(_ context.Context, a soakText) (string, error) { return a.N, nil })
	return s
}

// soak is one server and what goes on around it.
type soak struct {
	t      *testing.T
	server *mcp.Server
	web    *httptest.Server
	lines  net.Listener

	until    time.Time
	answered atomic.Int64 // calls that had their own answer
	given    atomic.Int64 // calls that were given up, or whose connection was
	told     atomic.Int64 // changes that listeners learned of
	over     atomic.Bool  // no more calls are made
}

// soakConn is a client with sockets of its own.
type soakConn struct {
	*mcp.Client
	mu    sync.Mutex
	socks []*net.TCPConn
	idle  func() // closes connections that nothing uses
}

// dial makes a connection of kind k.
func (s *soak) dial(k int) (*soakConn, error) {
	kind, c := soakKinds[k], &soakConn{idle: func() {}}
	dial := func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err == nil {
			c.mu.Lock()
			c.socks = append(c.socks, conn.(*net.TCPConn))
			c.mu.Unlock()
		}
		return conn, err
	}
	opts := &mcp.ClientOptions{ElicitForm: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(fmt.Sprintf(`{"n":%s}`, r.Message))}, nil
	}}
	if kind.version != "" {
		opts.Versions = []string{kind.version}
	}
	transport := mcp.Custom(func(ctx context.Context) (mcp.Conn, error) {
		conn, err := dial(ctx, s.lines.Addr().String())
		return mcp.NewConn(conn, conn), err
	})
	if !kind.lines {
		carrier := &http.Transport{DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) { return dial(ctx, addr) }}
		c.idle = carrier.CloseIdleConnections
		transport = mcp.HTTP(s.web.URL, &mcp.HTTPClientOptions{Client: &http.Client{Transport: carrier}})
	}
	var err error
	if c.Client, err = mcp.Dial(context.Background(), transport, opts); err != nil {
		c.idle()
	}
	return c, err
}

// hangUp ends the connection, half of the time by a reset of its sockets.
func (c *soakConn) hangUp(random *rand.Rand) {
	if random.IntN(2) == 0 {
		c.mu.Lock()
		for _, sock := range c.socks {
			_ = sock.SetLinger(0)
			_ = sock.Close()
		}
		c.mu.Unlock()
	}
	_ = c.Close() // of a connection that is no more it says so
	c.idle()
}

// call makes one call of the kind that random says. wrong is what is wrong with its answer; err is set when it had none.
func (c *soakConn) call(ctx context.Context, random *rand.Rand, n int) (wrong string, err error) {
	want, text := fmt.Sprint(n), ""
	switch tool := []string{"number", "number", "count", "wait", "ask", "fail", "panic", "prompt", "resource", "unknown", "list"}[random.IntN(11)]; tool {
	case "prompt":
		var r *mcp.PromptResult
		if r, err = c.GetPrompt(ctx, "number", map[string]string{"n": want}); err == nil {
			text = r.Messages[0].Content.(*mcp.TextContent).Text
		}
	case "resource":
		var r *mcp.ReadResult
		if r, err = c.ReadResource(ctx, "mixed://"+want); err == nil {
			text = r.Contents[0].Text
		}
	case "unknown":
		_, err = c.CallTool(ctx, want, nil)
		var remote *mcp.Error
		if errors.As(err, &remote) && remote.Code == mcp.CodeInvalidParams && strings.Contains(remote.Message, want) {
			return "", nil
		}
	case "list":
		for tool, failed := range c.Tools(ctx) {
			if err = failed; failed == nil && tool.Name == "number" {
				text = want
			}
		}
	case "fail", "panic":
		var r *mcp.Result
		if r, err = c.CallTool(ctx, tool, soakNumber{n}); err == nil {
			if text = textOf(r); tool == "panic" && text == "internal error; the server gives no details" {
				text = want
			}
			if !r.IsError {
				return "a failure is a success", nil
			}
		}
	default:
		return c.numberOf(ctx, tool, n)
	}
	if err == nil && text != want {
		return fmt.Sprintf("got %q, want %s", text, want), nil
	}
	return "", err
}

// numberOf calls a tool that returns its number, after the reports of count.
func (c *soakConn) numberOf(ctx context.Context, tool string, n int) (wrong string, err error) {
	var reports []string
	got, err := mcp.Call[soakNumber](ctx, c.Client, tool, soakNumber{n}, mcp.WithProgress(func(e mcp.ProgressEvent) {
		reports = append(reports, fmt.Sprint(e.Done, " ", e.Message))
	}))
	if err != nil {
		return "", err
	}
	if got.N != n {
		return fmt.Sprintf("%s returned %d for %d", tool, got.N, n), nil
	}
	for i, report := range reports {
		if report != fmt.Sprint(i+1, " ", n) {
			return fmt.Sprintf("report %d of %d is %s", i, n, report), nil
		}
	}
	if tool == "count" && len(reports) != n%7 {
		return fmt.Sprintf("%d reports for %d", len(reports), n), nil
	}
	return "", nil
}

// work makes calls, each with a number of its own, gives some up and sometimes hangs up in the midst of one.
func (s *soak) work(kind, number int) {
	random := rand.New(rand.NewPCG(uint64(number), 9))
	var c *soakConn
	for n := number * 1_000_000; time.Now().Before(s.until); n++ {
		if c == nil {
			var err error
			if c, err = s.dial(kind); err != nil {
				s.t.Errorf("%s: %v", soakKinds[kind].name, err)
				return
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		if random.IntN(4) == 0 {
			time.AfterFunc(time.Duration(random.IntN(20))*time.Millisecond, cancel)
		}
		hangUp := random.IntN(50) == 0
		calling := make(chan struct{})
		seed := rand.New(rand.NewPCG(random.Uint64(), 1))
		go func() {
			defer close(calling)
			wrong, err := c.call(ctx, seed, n)
			switch {
			case wrong != "":
				s.t.Errorf("%s: %s", soakKinds[kind].name, wrong)
			case err == nil:
				s.answered.Add(1)
			case ctx.Err() != nil || hangUp:
				s.given.Add(1)
			default:
				s.t.Errorf("%s: call %d: %v", soakKinds[kind].name, n, err)
			}
		}()
		if hangUp {
			c.hangUp(random)
		}
		<-calling
		cancel()
		if hangUp {
			c = nil
		}
	}
	if c != nil {
		c.hangUp(random)
	}
}

// listen follows the changes of the tools until all calls are over.
func (s *soak) listen(kind, number int) {
	random := rand.New(rand.NewPCG(uint64(number), 11))
	for {
		c, err := s.dial(kind)
		if err != nil {
			s.t.Errorf("%s: %v", soakKinds[kind].name, err)
			return
		}
		sub, err := c.Listen(context.Background(), mcp.Filter{Tools: true})
		if err != nil {
			s.t.Errorf("%s: %v", soakKinds[kind].name, err)
			c.hangUp(random)
			return
		}
		for e, err := range sub.Events() {
			if err != nil || e.Kind != "tools" {
				s.t.Errorf("%s: %+v, %v", soakKinds[kind].name, e, err)
			}
			s.told.Add(1)
			if s.over.Load() || random.IntN(20) == 0 {
				break
			}
		}
		_ = sub.Close()
		c.hangUp(random)
		if s.over.Load() {
			return
		}
	}
}

// change adds and removes a tool, over and over, until done is closed: whoever begins to listen late is told, too.
func (s *soak) change(done <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			changeTools(s.t, s.server)
		case <-done:
			return
		}
	}
}

// run has all connections do what they do, for d.
func (s *soak) run(d time.Duration) {
	s.until = time.Now().Add(d)
	s.over.Store(false)
	done := make(chan struct{})
	var workers, listeners, changes sync.WaitGroup
	changes.Go(func() { s.change(done) })
	number := 0
	for k, kind := range soakKinds {
		for range kind.number {
			number++
			seed := number
			if kind.listens {
				listeners.Go(func() { s.listen(k, seed) })
			} else {
				workers.Go(func() { s.work(k, seed) })
			}
		}
	}
	workers.Wait()
	s.over.Store(true)
	listeners.Wait()
	close(done)
	changes.Wait()
}

// TestSoakMixed has 500 connections call, be asked, be told, give up and hang up, for two minutes.
func TestSoakMixed(t *testing.T) {
	before := goroutines()
	s := &soak{t: t, server: newMixed()}
	h := newHandler(t, s.server, &mcp.HTTPOptions{SessionTTL: time.Minute})
	s.web = httptest.NewServer(h)
	defer s.web.Close()
	var err error
	if s.lines, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serveAll(ctx, s.server, s.lines) }()
	for _, kind := range []int{0, 2} { // both serve
		c, err := s.dial(kind)
		if err != nil {
			t.Fatal(err)
		}
		c.hangUp(rand.New(rand.NewPCG(1, 1)))
	}
	idle := goroutines()
	growRuntime()

	s.run(warmTime)
	heap := s.rest(h, idle)
	s.run(soakTime)
	now := s.rest(h, idle)
	t.Logf("%d calls were answered and %d given up; listeners were told %d times; the heap was %d bytes and is %d",
		s.answered.Load(), s.given.Load(), s.told.Load(), heap, now)
	if now > heap+heap/10 {
		t.Errorf("the heap went from %d to %d bytes", heap, now)
	}
	if s.answered.Load() < 1000 || s.given.Load() < 100 || s.told.Load() < 100 {
		t.Error("too little of that happened for a test")
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	s.web.Close()
	heapInUse(t, before)
}

// rest waits until the sessions that nobody closed have expired, and returns the heap that the server holds then.
func (s *soak) rest(h http.Handler, idle map[string]string) uint64 {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); mcp.SessionCount(h) > 0; <-tick.C {
		if time.Now().After(end) {
			s.t.Fatalf("%d sessions are left", mcp.SessionCount(h))
		}
	}
	return heapInUse(s.t, idle)
}
