package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// recordLog keeps records. It is a slog.Handler.
type recordLog struct {
	mu      sync.Mutex
	records []slog.Record
	came    chan struct{} // has a value when there is a new one
}

func newRecordLog() *recordLog { return &recordLog{came: make(chan struct{}, 1)} }

func (l *recordLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *recordLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *recordLog) WithGroup(string) slog.Handler            { return l }
func (l *recordLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r.Clone())
	select {
	case l.came <- struct{}{}:
	default:
	}
	return nil
}

// at returns the records of a level so far, each with its address.
func (l *recordLog) at(level slog.Level) (addresses []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.records {
		if r.Level != level {
			continue
		}
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "address" {
				addresses = append(addresses, a.Value.String())
			}
			return true
		})
	}
	return addresses
}

// listening is a server that ListenAndServe serves.
type listening struct {
	*fixture
	t       *testing.T
	log     *recordLog
	address string
	stop    context.CancelFunc
	served  chan error // what ListenAndServe returned
}

// listen serves a fixture on addr until the test ends at the latest.
func listen(t *testing.T, ctx context.Context, addr string, opts *mcp.HTTPOptions) *listening {
	t.Helper()
	log := newRecordLog()
	l := &listening{fixture: newFixture(&mcp.ServerOptions{Logger: slog.New(log)}), t: t, log: log, served: make(chan error, 1)}
	mcp.AddTool(l, "value", "", func(ctx context.Context, _ noArgs) (string, error) { return fmt.Sprint(ctx.Value(valueKey{})), nil })
	mcp.AddTool(l, "streaming", "Report, then wait for the end of the context", func(ctx context.Context, _ noArgs) (string, error) {
		mcp.Progress(ctx, 1, 1, "")
		<-ctx.Done()
		l.ended <- context.Cause(ctx)
		return "told", nil
	})
	ctx, l.stop = context.WithCancel(ctx)
	go func() { l.served <- l.ListenAndServe(ctx, addr, opts) }()
	for l.address == "" {
		select {
		case <-log.came:
			if all := log.at(slog.LevelInfo); all != nil {
				l.address = all[0]
			}
		case err := <-l.served:
			t.Fatalf("ListenAndServe(%q): %v", addr, err)
		case <-time.After(lineTimeout):
			t.Fatal("no address was logged")
		}
	}
	t.Cleanup(func() {
		l.stop()
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	return l
}

type valueKey struct{}

// wait returns what ListenAndServe returns.
func (l *listening) wait() error {
	l.t.Helper()
	err := receive(l.t, l.served)
	l.served <- err // for the cleanup
	return err
}

// oneShot makes a connection for each request.
var oneShot = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func (l *listening) url() string { return "http://" + l.address + "/mcp" }

// TestListenAndServe shows where ListenAndServe serves.
func TestListenAndServe(t *testing.T) {
	t.Parallel()
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	for _, addr := range []string{":0", "127.0.0.1:0", "localhost:0"} {
		t.Run("HTTP-04 P17 loopback, "+addr, func(t *testing.T) {
			l := listen(t, t.Context(), addr, nil)
			host, _, err := net.SplitHostPort(l.address)
			if ip := net.ParseIP(host); err != nil || !ip.IsLoopback() {
				t.Errorf("listening on %s", l.address)
			}
			fetch(t, oneShot, l.url(), modernPost(call)).expect(t, 200, modernSum("1", 3))
			if warned := l.log.at(slog.LevelWarn); warned != nil {
				t.Errorf("warned of %q", warned)
			}
		})
	}
	t.Run("HTTP-04 a warning for other addresses", func(t *testing.T) {
		l := listen(t, t.Context(), "0.0.0.0:0", nil)
		if warned := l.log.at(slog.LevelWarn); len(warned) != 1 || warned[0] != l.address {
			t.Errorf("warned of %q, listening on %s", warned, l.address)
		}
	})
	t.Run("HTTP-01 P17 one path", func(t *testing.T) {
		l := listen(t, t.Context(), ":0", nil)
		for path, status := range map[string]int{"/mcp": 200, "/": 404, "/mcp/": 404, "/mcp/x": 404, "/mcpx": 404, "/MCP": 404, "/sse": 404} {
			if a := fetch(t, oneShot, "http://"+l.address+path, modernPost(call)); a.status != status {
				t.Errorf("%s: %d", path, a.status)
			}
		}
		if a := fetch(t, oneShot, l.url(), withMethod(httpPost(""), "PUT")); a.status != 405 {
			t.Errorf("GET: %d", a.status)
		}
	})
	t.Run("HTTP-03 hosts are checked", func(t *testing.T) {
		l := listen(t, t.Context(), ":0", nil)
		r := to(t.Context(), l.url(), modernPost(call))
		r.Host = "evil.example"
		resp, err := oneShot.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		readAnswer(t, resp).expectError(t, 403, mcp.CodeInvalidRequest, "")
	})
	t.Run("C116 values of its context", func(t *testing.T) {
		l := listen(t, context.WithValue(t.Context(), valueKey{}, "there"), ":0", nil)
		if a := fetch(t, oneShot, l.url(), modernPost(modernCall("1", "value", "{}"))); !strings.Contains(a.body, `"there"`) {
			t.Error(a.body)
		}
	})
	for _, addr := range []string{"", "8080", "nonsense", "127.0.0.1:99999", "127.0.0.1:x", "192.0.2.1:1"} {
		t.Run(fmt.Sprintf("an address that is none: %q", addr), func(t *testing.T) {
			f := newFixture(nil)
			if err := f.ListenAndServe(t.Context(), addr, nil); err == nil || !strings.HasPrefix(err.Error(), "mcp: ") {
				t.Errorf("ListenAndServe: %v", err)
			}
			shutDown(t, f.Server)
		})
	}
	t.Run("an address that is taken", func(t *testing.T) {
		l := listen(t, t.Context(), ":0", nil)
		f := newFixture(nil)
		if err := f.ListenAndServe(t.Context(), l.address, nil); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Error(err)
		}
	})
	t.Run("a listener that breaks", func(t *testing.T) {
		f, n := newFixture(nil), newPipeNetwork()
		_ = n.Close()
		if err := f.ServeListener(t.Context(), n, nil); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		shutDown(t, f.Server)
	})
}

// TestHTTPShutdown shows how serving over HTTP ends.
func TestHTTPShutdown(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*listening){
		"its context ends":   func(l *listening) { l.stop() },
		"Shutdown is called": func(l *listening) { shutDown(l.t, l.Server) },
	} {
		t.Run("P17 C116 ListenAndServe when "+name, func(t *testing.T) {
			l := listen(t, t.Context(), ":0", nil)
			pending := make(chan *http.Response, 1)
			go func() {
				resp, err := oneShot.Do(to(context.Background(), l.url(), modernPost(modernCall("1", "block", "{}"))))
				if err != nil {
					t.Error(err)
				}
				pending <- resp
			}()
			receive(t, l.started)
			stream := openStream(t, oneShot, l.url(), modernPost(modernCall("2", "streaming", "{}", token1)))
			stream.expect("comment", progressNotice("1", 1, 1))
			end(l)
			for range 2 {
				if cause := receive(t, l.ended); !errors.Is(cause, mcp.ErrShutdown) || errors.Is(cause, mcp.ErrDisconnected) {
					t.Errorf("a context ended with %v", cause)
				}
			}
			stream.expect(modernText("2", "told"), "end")
			if resp := receive(t, pending); resp != nil {
				if a := readAnswer(t, resp); a.status != 200 || !strings.Contains(a.body, `"isError":true`) {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
			if err := l.wait(); err != nil {
				t.Errorf("ListenAndServe: %v", err)
			}
		})
	}

	t.Run("Shutdown waits for ListenAndServe, which waits for its connections", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, n := newFixture(nil), newPipeNetwork()
			served := make(chan error, 1)
			go func() { served <- f.ServeListener(t.Context(), n, nil) }()
			conn, err := n.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			start := time.Now()
			shutDown(t, f.Server)
			synctest.Wait()
			select {
			case err := <-served:
				if err != nil {
					t.Error(err)
				}
			default:
				t.Fatal("ListenAndServe goes on")
			}
			if time.Since(start) == 0 { // net/http gives new connections a few seconds
				t.Error("it left a connection behind")
			}
			if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("the connection is open: %v", err)
			}
			if _, err := n.dial(t.Context()); err == nil {
				t.Error("it still listens")
			}
		})
	})
	t.Run("a handler that does not look at its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f, n := newFixture(nil), newPipeNetwork()
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- f.ServeListener(ctx, n, nil) }()
			failed := make(chan error, 1)
			go func() {
				resp, err := n.client().Do(to(context.Background(), "http://localhost/mcp", modernPost(modernCall("1", "hold", "{}"), "Accept: application/json")))
				if err == nil {
					resp.Body.Close()
				}
				failed <- err
			}()
			<-f.started
			start := time.Now()
			stop()
			err := <-served
			if took := time.Since(start); err == nil || !strings.Contains(err.Error(), "still running") || took < 10*time.Second || took > 11*time.Second {
				t.Errorf("after %v: %v", took, err)
			}
			if err := <-failed; err == nil {
				t.Error("its client got an answer")
			}
			close(f.release)
		})
	})
	t.Run("Shutdown waits for calls, until its context ends", func(t *testing.T) {
		f := newFixture(nil)
		h := newHandler(t, f.Server, nil)
		answer := make(chan httpAnswer, 1)
		go func() { answer <- exchange(t, h, modernPost(modernCall("1", "hold", "{}"))) }()
		receive(t, f.started)
		errImpatient := errors.New("impatient")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errImpatient)
		if err := f.Shutdown(ctx); !errors.Is(err, errImpatient) {
			t.Errorf("Shutdown: %v", err)
		}
		close(f.release)
		shutDown(t, f.Server)
		receive(t, answer).expect(t, 200, modernText("1", "released "))
	})
	t.Run("afterwards nothing is served", func(t *testing.T) {
		f := newFixture(nil)
		h := newHandler(t, f.Server, dualEra)
		shutDown(t, f.Server)
		for name, r := range map[string]*http.Request{
			"call":         modernPost(modernCall("1", "add", `{"a":1,"b":2}`)),
			"legacy call":  httpPost(legacyCall("1", "add", `{"a":1,"b":2}`)),
			"initialize":   httpPost(initializeRequest("1", "2025-11-25")),
			"notification": modernPost(cancelNotice("1", "x")),
			"nonsense":     modernPost("{"),
			"GET":          withMethod(httpPost(""), "GET"),
		} {
			a := exchange(t, h, r)
			a.expectError(t, 503, mcp.CodeInternalError, "")
			if a.header.Get("Connection") != "close" {
				t.Errorf("%s: the connection is kept", name)
			}
		}
		exchange(t, h, modernPost("", "Host: evil.example")).expectError(t, 403, mcp.CodeInvalidRequest, "")
		if _, err := f.HTTPHandler(nil); err == nil {
			t.Error("HTTPHandler made another handler")
		}
		if err := f.ListenAndServe(t.Context(), ":0", nil); err == nil {
			t.Error("ListenAndServe served")
		}
		shutDown(t, f.Server)
	})
	t.Run("one handler's calls end, not its client's connection", func(t *testing.T) {
		f := newFixture(nil)
		srv := serveLoopback(t, newHandler(t, f.Server, nil), false)
		resp := make(chan *http.Response, 1)
		go func() {
			r, err := srv.Client().Do(to(context.Background(), srv.URL, modernPost(modernCall("1", "block", "{}"))))
			if err != nil {
				t.Error(err)
			}
			resp <- r
		}()
		receive(t, f.started)
		shutDown(t, f.Server)
		if r := receive(t, resp); r != nil {
			if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), `"isError":true`) {
				t.Errorf("%s %v", body, err)
			}
			r.Body.Close()
		}
	})
}
