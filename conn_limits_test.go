package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

func TestConnInFlight(t *testing.T) {
	t.Parallel()
	bubble(t, "A27 calls overlap", func(t *testing.T) {
		f := newFixture(nil)
		c := serveLines(t, f.Server)
		c.send(modernCall("1", "hold", `{"tag":"a"}`), modernCall("2", "hold", `{"tag":"b"}`))
		synctest.Wait()
		if len(f.started) != 2 {
			t.Errorf("%d of 2 calls started", len(f.started))
		}
		close(f.release)
		c.expectAnyOrder(modernText("1", "released a"), modernText("2", "released b"))
	})
	bubble(t, "A27 one in flight restores order", func(t *testing.T) {
		f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{InFlight: 1}})
		c := serveLines(t, f.Server)
		var want []string
		for i := range 200 {
			id := fmt.Sprint(i)
			c.send(modernCall(id, "hold", fmt.Sprintf(`{"tag":%q}`, id)))
			want = append(want, modernText(id, "released "+id))
		}
		synctest.Wait()
		if len(f.started) != 1 {
			t.Errorf("%d calls started, want 1", len(f.started))
		}
		close(f.release)
		c.expect(want...)
		for i := range 200 {
			if tag := <-f.started; tag != fmt.Sprint(i) {
				t.Fatalf("call %s started as number %d", tag, i)
			}
		}
	})
	bubble(t, "C109 neither panics nor ended goroutines take places", func(t *testing.T) {
		f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{InFlight: 2}})
		c := serveLines(t, f.Server)
		for i := range 50 {
			c.send(modernCall(fmt.Sprint(2*i), "panic", `{"text":"on purpose"}`), modernCall(fmt.Sprint(2*i+1), "goexit", `{}`))
		}
		for range 100 {
			if m := parseWire(t, c.next()); m.Error == nil && !strings.Contains(string(m.Result), `"isError":true`) {
				t.Errorf("an answer that is no failure: %s", m.Result)
			}
		}
		c.send(modernCall("1", "hold", `{"tag":"a"}`), modernCall("2", "hold", `{"tag":"b"}`))
		synctest.Wait()
		if len(f.started) != 2 {
			t.Errorf("%d of 2 calls started", len(f.started))
		}
		close(f.release)
		c.expectAnyOrder(modernText("1", "released a"), modernText("2", "released b"))
	})
	bubble(t, "C109 one panic and one Goexit among 100", func(t *testing.T) {
		c := serveLines(t, newFixture(nil).Server)
		for i := range 98 {
			c.send(modernCall(fmt.Sprint(i), "add", fmt.Sprintf(`{"a":%d,"b":1}`, i)))
			switch i {
			case 30:
				c.send(modernCall("98", "panic", `{"text":"secret"}`))
			case 60:
				c.send(modernCall("99", "goexit", `{}`))
			}
		}
		failed := make(map[string]bool)
		want := make(map[string]string)
		for i := range 98 {
			want[fmt.Sprint(i)] = modernSum(fmt.Sprint(i), i+1)
		}
		for range 100 {
			line := c.next()
			switch id := string(parseWire(t, line).ID); {
			case id == "98" || id == "99":
				failed[id] = !strings.Contains(line, "secret") && strings.Contains(line, "internal error")
			case want[id] != line:
				t.Errorf("got %s\nwant %s", line, want[id])
			default:
				delete(want, id)
			}
		}
		if len(want) > 0 || !failed["98"] || !failed["99"] {
			t.Errorf("%d calls without an answer; failures as they should be: %v", len(want), failed)
		}
		c.quiet()
	})
}

// TestConnQueue shows what a connection refuses, and what it does not.
func TestConnQueue(t *testing.T) {
	t.Parallel()
	full := func(t *testing.T, f *fixture) *lineClient {
		c := serveLines(t, f.Server)
		for i := range 5 { // two run, three wait
			c.send(modernCall(fmt.Sprint(i), "hold", fmt.Sprintf(`{"tag":"%d"}`, i)))
		}
		c.quiet()
		return c
	}
	limits := &mcp.ServerOptions{Limits: mcp.Limits{InFlight: 2, Queue: 3}}
	bubble(t, "too many requests in flight", func(t *testing.T) {
		f := newFixture(limits)
		c := full(t, f)
		c.send(modernCall("5", "hold", `{}`))
		if text := c.expectError("5", mcp.CodeInternalError); !strings.Contains(text, "too many requests in flight") {
			t.Errorf("got %q", text)
		}
		close(f.release)
		c.expectAnyOrder(modernText("0", "released 0"), modernText("1", "released 1"), modernText("2", "released 2"),
			modernText("3", "released 3"), modernText("4", "released 4"))
		c.send(modernCall("6", "echo", `{"text":"room again"}`))
		c.expect(modernText("6", "room again"))
	})
	bubble(t, "discovery, lists and pings are outside the count", func(t *testing.T) {
		f := newFixture(limits)
		c := full(t, f)
		c.send(modernRequest("5", "tools/list"), modernRequest("6", "server/discover"), plainRequest("7", "ping"))
		for range 3 {
			if m := parseWire(t, c.next()); m.Error != nil {
				t.Errorf("request %s was refused: %s", m.ID, m.Error.Message)
			}
		}
		close(f.release)
	})
	bubble(t, "lists that hang are bounded too", func(t *testing.T) {
		f := newFixture(limits)
		f.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				f.started <- ""
				<-f.release
				return next(ctx, req)
			}
		})
		c := serveLines(t, f.Server)
		for i := range 5 {
			c.send(modernRequest(fmt.Sprint(i), "tools/list"))
			<-f.started
			c.send(cancelNotice(fmt.Sprint(i), ""))
		}
		c.send(modernRequest("5", "tools/list"))
		c.expectError("5", mcp.CodeInternalError)
		close(f.release)
		synctest.Wait()
		c.send(modernRequest("6", "tools/list"))
		if m := parseWire(t, c.next()); m.Error != nil {
			t.Errorf("refused: %s", m.Error.Message)
		}
	})
	bubble(t, "CAN-04 a cancelled call makes room", func(t *testing.T) {
		f := newFixture(limits)
		c := full(t, f)
		c.send(cancelNotice("4", ""), modernCall("5", "hold", `{"tag":"5"}`))
		c.quiet()
		close(f.release)
		c.expectAnyOrder(modernText("0", "released 0"), modernText("1", "released 1"), modernText("2", "released 2"),
			modernText("3", "released 3"), modernText("5", "released 5"))
	})
	bubble(t, "each connection has limits of its own", func(t *testing.T) {
		f := newFixture(limits)
		full(t, f)
		c := serveLines(t, f.Server)
		c.send(modernCall("0", "echo", `{"text":"x"}`))
		c.expect(modernText("0", "x"))
		close(f.release)
	})
}

// TestConnSlowPeer serves a peer that sends and does not read.
func TestConnSlowPeer(t *testing.T) {
	t.Parallel()
	bubble(t, "CAN-04 A68 cancellations are honoured, memory is bounded, nothing is lost", func(t *testing.T) {
		const calls, size = 30, 100 << 10
		f := newFixture(nil)
		serverIn, out := io.Pipe()
		in, serverOut := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.Serve(context.Background(), mcp.NewConn(serverIn, serverOut)) }()
		send := func(line string) {
			if _, err := io.WriteString(out, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		send(plainRequest(`"ping"`, "ping"))
		synctest.Wait() // a write is under way, and all that follows has to wait
		for i := range calls {
			send(modernCall(fmt.Sprint(i), "blob", fmt.Sprintf(`{"count":%d}`, size)))
		}
		synctest.Wait()
		for i := range 100 { // answered by the reader itself
			send(plainRequest(fmt.Sprintf(`"ping%d"`, i), "ping"))
		}
		send(modernCall(`"b"`, "block", `{}`))
		<-f.started
		send(cancelNotice(`"b"`, "enough"))
		f.expectCause(t, mcp.ErrCancelled, "enough")
		synctest.Wait()

		lines := bufio.NewReader(in)
		answered := make(map[string]bool)
		for range calls + 101 {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			_, id, _ := strings.Cut(line, `"id":`)
			id, _, _ = strings.Cut(id, `,`)
			answered[id] = true
		}
		if len(answered) != calls+101 || answered[`"b"`] {
			t.Errorf("%d ids were answered", len(answered))
		}
		_ = out.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	bubble(t, "bad lines without end hold up the reader alone, and only until they are read", func(t *testing.T) {
		serverIn, out := io.Pipe()
		in, serverOut := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- newFixture(nil).Serve(context.Background(), mcp.NewConn(serverIn, serverOut)) }()
		const bad = 60_000 // 5 MB of answers, twice what may be waiting and being written
		var group sync.WaitGroup
		sent := make(chan struct{})
		group.Go(func() {
			if _, err := io.WriteString(out, strings.Repeat("bad\n", bad)); err != nil {
				t.Error(err)
			}
			close(sent)
			_ = out.Close()
		})
		synctest.Wait()
		select {
		case <-sent:
			t.Error("the server took any number of lines whose answers nobody reads")
		default:
		}
		lines := bufio.NewScanner(in)
		n := 0
		for ; lines.Scan(); n++ {
			if !strings.Contains(lines.Text(), `"code":-32700`) {
				t.Fatalf("got %s", lines.Text())
			}
		}
		group.Wait()
		if err := <-served; err != nil || n != bad {
			t.Errorf("%d of %d lines were answered; Serve: %v", n, bad, err)
		}
	})
}

// countingWriter counts the writes; the first waits for release.
type countingWriter struct {
	release chan struct{}
	mu      sync.Mutex
	writes  []string
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.writes = append(w.writes, string(p))
	first := len(w.writes) == 1
	w.mu.Unlock()
	if first {
		<-w.release
	}
	return len(p), nil
}

func TestConnJoinsAnswers(t *testing.T) {
	t.Parallel()
	bubble(t, "answers that are ready together are written together", func(t *testing.T) {
		in, out := io.Pipe()
		w := &countingWriter{release: make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- newFixture(nil).Serve(context.Background(), mcp.NewConn(in, w)) }()
		for i := range 50 {
			if _, err := io.WriteString(out, modernCall(fmt.Sprint(i), "echo", `{"text":"x"}`)+"\n"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		close(w.release)
		_ = out.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if len(w.writes) != 2 || strings.Count(w.writes[1], "\n") != 49 {
			t.Errorf("%d writes, want one for the first answer and one for the others", len(w.writes))
		}
	})
	bubble(t, "C71 large answers and progress in parallel", func(t *testing.T) {
		const calls, size = 200, 100 << 10
		f := newFixture(nil)
		mcp.AddTool(f, "large", "Report and return much text", func(ctx context.Context, a countArgs) (string, error) {
			for i := range 5 {
				mcp.Progress(ctx, float64(i), 0, strings.Repeat("p", 100))
			}
			return strings.Repeat(string(rune('a'+a.Count%26)), size), nil
		})
		c := serveLines(t, f.Server)
		for i := range calls {
			c.send(modernCall(fmt.Sprint(i), "large", fmt.Sprintf(`{"count":%d}`, i), fmt.Sprintf(`"progressToken":%d`, i)))
		}
		want := make(map[string]bool)
		for i := range calls {
			open, end, _ := strings.Cut(modernText(fmt.Sprint(i), "@"), "@")
			want[open+strings.Repeat(string(rune('a'+i%26)), size)+end] = true
		}
		for range calls * 6 {
			line := c.next()
			if strings.HasPrefix(line, `{"jsonrpc":"2.0","method":"notifications/progress"`) {
				parseWire(t, line)
			} else if !want[line] {
				t.Fatalf("not one whole answer, or twice: %.100s…", line)
			}
			delete(want, line)
		}
		c.quiet()
	})
}
