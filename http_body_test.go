package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// countingBody is a body without end that counts what is read of it.
type countingBody struct{ read int }

func (b *countingBody) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	b.read += len(p)
	return len(p), nil
}

// TestHTTPBody shows what becomes of bodies that are too long or too short.
func TestHTTPBody(t *testing.T) {
	t.Parallel()
	const limit = 1000
	h := newHandler(t, newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: limit}}).Server, nil)
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	padded := func(n int) string { return call + strings.Repeat(" ", n-len(call)) }

	t.Run("C92 announced over the limit", func(t *testing.T) {
		body := new(countingBody)
		r := modernPost(call)
		r.Body, r.ContentLength = io.NopCloser(body), limit+1
		if err := exchange(t, h, r).expectError(t, 413, mcp.CodeInvalidRequest, ""); !strings.Contains(err.Message, fmt.Sprint(limit)) {
			t.Errorf("the limit is not named: %s", err.Message)
		}
		if body.read > 0 {
			t.Errorf("%d bytes were read", body.read)
		}
	})
	t.Run("C92 over the limit, not announced", func(t *testing.T) {
		body := new(countingBody)
		r := modernPost(call)
		r.Body, r.ContentLength = io.NopCloser(body), -1
		exchange(t, h, r).expectError(t, 413, mcp.CodeInvalidRequest, "")
		if body.read > limit+1 {
			t.Errorf("%d bytes were read", body.read)
		}
	})
	for name, length := range map[string]int64{"announced": limit, "not announced": -1} {
		t.Run("C92 just within the limit, "+name, func(t *testing.T) {
			exchange(t, h, withBody(modernPost(padded(limit)), length)).expect(t, 200, modernSum("1", 3))
		})
	}
	t.Run("C92 one byte over the limit, not announced", func(t *testing.T) {
		exchange(t, h, withBody(modernPost(padded(limit+1)), -1)).expectError(t, 413, mcp.CodeInvalidRequest, "")
	})
	t.Run("C92 no limit to speak of", func(t *testing.T) {
		h := newHandler(t, newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: math.MaxInt}}).Server, nil)
		exchange(t, h, withBody(modernPost(call), -1)).expect(t, 200, modernSum("1", 3))
	})
	t.Run("C92 a limit of the middleware's", func(t *testing.T) {
		err := exchange(t, http.MaxBytesHandler(h, 50), modernPost(call)).expectError(t, 413, mcp.CodeInvalidRequest, "")
		if !strings.Contains(err.Message, "50") {
			t.Errorf("the limit is not named: %s", err.Message)
		}
	})
	for _, length := range []int64{limit, 2 << 20} {
		t.Run(fmt.Sprintf("C92 a body that ends before its %d bytes", length), func(t *testing.T) {
			h := newHandler(t, newFixture(nil).Server, nil)
			r := withBody(modernPost(call), length)
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(call), failingReader{io.ErrUnexpectedEOF}))
			exchange(t, h, r).expectError(t, 400, mcp.CodeInvalidRequest, "")
		})
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestHTTPTimeouts shows that ListenAndServe waits for clients that are quiet and for calls that are long. Those that are
// slow are among the TestFaultsOfSlowWriters.
func TestHTTPTimeouts(t *testing.T) {
	t.Parallel()
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	head := func(length int) string {
		lines := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n"
		for name, value := range mirrored(call) {
			lines += name + ": " + value + "\r\n"
		}
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n", lines, length)
	}
	// bubble serves a fixture and has a client send what it does, over one connection.
	bubble := func(name string, run func(t *testing.T, f *fixture, conn net.Conn)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, n := newFixture(nil), newPipeNetwork()
				mcp.AddTool(f, "either", "Wait to be released or cut off", func(ctx context.Context, _ noArgs) (string, error) {
					select {
					case <-f.release:
						return "released", nil
					case <-ctx.Done():
						return "cut off", nil
					}
				})
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- f.ServeListener(ctx, n, nil) }()
				conn, err := n.dial(ctx)
				if err != nil {
					t.Fatal(err)
				}
				run(t, f, conn)
				stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
				_ = conn.Close()
			})
		})
	}
	send := func(t *testing.T, conn net.Conn, text string) {
		t.Helper()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}

	bubble("C92 a quiet connection", func(t *testing.T, _ *fixture, conn net.Conn) {
		send(t, conn, head(len(call))+call)
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		readAnswer(t, resp).expect(t, 200, modernSum("1", 3))
		start := time.Now()
		if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 || time.Since(start) != 2*time.Minute {
			t.Errorf("after %v: %q %v", time.Since(start), rest, err)
		}
	})
	bubble("HTTP-16 C106 none of them ends a long call, nor what follows on its connection", func(t *testing.T, f *fixture, conn net.Conn) {
		call := modernCall("1", "either", "{}")
		lines := strings.ReplaceAll(head(len(call)), "Mcp-Name: add", "Mcp-Name: either")
		time.AfterFunc(30*time.Minute, func() { close(f.release) })
		in := bufio.NewReader(conn)
		for range 2 {
			send(t, conn, lines+call)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := readAnswer(t, resp)
			if text := modernText("1", "released"); a.status != 200 || !strings.Contains(a.body, text) {
				t.Errorf("%d %.300q", a.status, a.body)
			}
			time.Sleep(time.Minute) // over the deadline of the last write
		}
	})
}
