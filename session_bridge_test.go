package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// TestBridge is about handlers that ask clients of earlier revisions.
func TestBridge(t *testing.T) {
	t.Parallel()
	streams(t, "BRG-01 LFE-06 LHT-16 C103 on the call's stream", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		call := s.n.events(t, c.post(legacyCall("1", "two", "{}")))
		call.primed()
		call.expect(askedName("1", "First name?"))
		c.exchange(c.post(answered("1", namedAnswer("Ada")))).expect(t, 202, "")
		call.expect(askedName("2", "Last name?"))
		c.exchange(c.post(answered("2", namedAnswer("Lovelace")))).expect(t, 202, "")
		call.expect(legacyResult("1", "Ada Lovelace, step 1, round 3"))
		call.ended()
		if runs := s.runs.Load(); runs != 3 {
			t.Errorf("the handler ran %d times", runs)
		}
	})
	bubble(t, "BRG-01 the same handler and answers, in both eras", func(t *testing.T) {
		w := newWaiter(nil)
		first := play(t, w.Server, round{name: "two"})
		first.asks(t, "first")
		second := play(t, w.Server, round{name: "two"}.again(first, accepted("first", `{"name":"Ada"}`)))
		second.asks(t, "last")
		play(t, w.Server, round{name: "two"}.again(second, accepted("last", `{"name":"Lovelace"}`))).says(t, "Ada Lovelace, step 1, round 3")

		w = newWaiter(nil)
		c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
		c.send(legacyCall("1", "two", "{}"))
		c.expect(askedName("1", "First name?"))
		c.send(answered("1", namedAnswer("Ada")))
		c.expect(askedName("2", "Last name?"))
		c.send(answered("2", namedAnswer("Lovelace")))
		c.expect(legacyResult("1", "Ada Lovelace, step 1, round 3"))
	})
	streams(t, "BRG-03 C103 LFE-06 a client that takes no stream is not asked", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		for _, tool := range []string{"form", "both", "sample", "page", "sure", "reenter"} {
			a := c.exchange(c.post(legacyCall("1", tool, "{}"), "Accept: application/json"))
			if got := legacyText(t, a.body); !strings.HasPrefix(got, "failed: this client cannot be asked for input") {
				t.Errorf("%s: %s", tool, got)
			}
		}
	})
	streams(t, "BRG-03 LIF-07 what was not declared is not asked", nil, func(t *testing.T, s *streamed) {
		for _, tt := range []struct{ caps, tool, missing string }{
			{`{"sampling":{},"roots":{}}`, "form", "elicitation.form"}, {`{"elicitation":{"form":{}},"sampling":{}}`, "page", "elicitation.url"},
			{`{"elicitation":{"url":{}}}`, "form", "elicitation.form"}, {`{"elicitation":{}}`, "sample", "sampling"}, {`{"elicitation":{}}`, "both", "roots"},
			{`{"roots":{}}`, "reenter", "elicitation.form"},
		} {
			c := s.open("2025-11-25", tt.caps)
			if got, want := c.call(tt.tool, "{}"), "failed: this client cannot be asked for input ("+tt.missing+")"; got != want {
				t.Errorf("%s with %s: %s", tt.tool, tt.caps, got)
			}
		}
	})
	streams(t, "LFE-10 LFE-15 a page has an id of its own", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		seen := map[string]bool{}
		for range 3 {
			call := s.n.events(t, c.post(legacyCall("1", "page", "{}")))
			call.primed()
			ev, _ := call.next()
			m := parseWire(t, ev.data)
			var p struct{ Mode, URL, Message, ElicitationID string }
			if err := json.Unmarshal(m.Params, &p); err != nil || p.Mode != "url" || p.URL != "https://example.com/pay" || p.Message != "Please pay" || p.ElicitationID == "" || seen[p.ElicitationID] {
				t.Fatal(ev.data)
			}
			seen[p.ElicitationID] = true
			c.exchange(c.post(answered(string(m.ID), `{"action":"accept"}`)))
			call.expect(legacyResult("1", "opened"))
		}
		old := s.open("2025-06-18", `{"elicitation":{"url":{}}}`)
		if got := old.call("page", "{}"); got != "failed: this client cannot be asked for input (elicitation.url)" {
			t.Error(got)
		}
	})
	streams(t, "M15 LHT-17 a question that a client comes back for", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		call := s.n.events(t, c.post(legacyCall("1", "reenter", "{}")))
		id := call.primed()
		_ = call.resp.Body.Close()
		time.Sleep(time.Minute)
		rest := s.n.events(t, c.get("Last-Event-ID: "+id))
		rest.expect(askedName("1", "Name?"))
		c.exchange(c.post(answered("1", namedAnswer("Ada"))))
		rest.expect(legacyResult("1", "7Ada"))
		rest.ended()
	})
	streams(t, "BRG-02 answers of unknown ids, and of another session, count for nothing", nil, func(t *testing.T, s *streamed) {
		c, other := s.open("2025-11-25", allCapabilities), s.open("2025-11-25", allCapabilities)
		call := s.n.events(t, c.post(legacyCall("1", "reenter", "{}")))
		call.primed()
		call.expect(askedName("1", "Name?"))
		other.exchange(other.post(answered("1", namedAnswer("Eve")))).expect(t, 202, "")
		for _, id := range []string{`"1"`, "2", "0", "-1", "01e0"[:1]} {
			c.exchange(c.post(answered(id, namedAnswer("Eve")))).expect(t, 202, "")
		}
		c.exchange(c.post(answered("1", namedAnswer("Ada"))))
		c.exchange(c.post(answered("1", namedAnswer("Eve")))).expect(t, 202, "")
		call.expect(legacyResult("1", "7Ada"))
	})
}

// openPipeSession opens a session on a pipe that declares caps.
func openPipeSession(t testing.TB, s *mcp.Server, version, caps string) *lineClient {
	t.Helper()
	c := serveLines(t, s)
	c.send(initializeWith(version, caps))
	if m := parseWire(t, c.next()); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	c.send(initializedNotice)
	return c
}

// TestBridgeBounds shows that no call waits for a client for ever, or asks for ever.
func TestBridgeBounds(t *testing.T) {
	t.Parallel()
	withdrawn := func(id string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"the call that asked is over"}}`, id)
	}
	bubble(t, "BRG-02 LFE-05 no answer within StateTTL", func(t *testing.T) {
		w := newWaiter(&mcp.ServerOptions{StateTTL: 20 * time.Second})
		c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
		start := time.Now()
		c.send(legacyCall("1", "reenter", "{}"))
		c.expect(askedName("1", "Name?"), withdrawn("1"))
		if got := legacyText(t, c.next()); !strings.Contains(got, "did not answer") || time.Since(start) != 20*time.Second {
			t.Errorf("%s after %v", got, time.Since(start))
		}
		c.send(answered("1", namedAnswer("late")))
		c.quiet()
	})
	bubble(t, "BRG-02 a second round has its own time", func(t *testing.T) {
		w := newWaiter(&mcp.ServerOptions{StateTTL: time.Minute})
		c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
		c.send(legacyCall("1", "two", "{}"))
		for i, q := range []string{"First name?", "Last name?"} {
			id := fmt.Sprint(i + 1)
			c.expect(askedName(id, q))
			time.Sleep(50 * time.Second)
			c.send(answered(id, namedAnswer("A")))
		}
		c.expect(legacyResult("1", "A A, step 1, round 3"))
	})
	bubble(t, "BRG-02 no more rounds than Limits.Rounds", func(t *testing.T) {
		w := newWaiter(&mcp.ServerOptions{Limits: mcp.Limits{Rounds: 3}})
		c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
		c.send(legacyCall("1", "form", "{}"))
		for id := 1; ; id++ {
			m := parseWire(t, c.next())
			if m.Method == "" {
				if id != 3 || !strings.Contains(string(m.Result), "given up") {
					t.Errorf("after %d questions: %s", id-1, m.Result)
				}
				break
			}
			c.send(answered(fmt.Sprint(id), `{"action":"accept","content":{"size":"xxl"}}`))
		}
	})
	bubble(t, "LFE-05 CAN-04 cancelled with the call", func(t *testing.T) {
		w := newWaiter(nil)
		c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
		c.send(legacyCall("1", "both", "{}"))
		c.next()
		c.next()
		c.send(cancelNotice("1", "enough"))
		c.expect(withdrawn("1"), withdrawn("2"))
		c.send(answered("1", namedAnswer("late")))
		c.quiet()
	})
	for name, refusal := range map[string]string{
		"an error":  `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no disk"}}`,
		"no answer": answered("2", `{"roots":7}`),
	} {
		bubble(t, "BRG-01 LFE-05 of two questions the second gets "+name+": the call does not wait for the first, which is withdrawn", func(t *testing.T) {
			w := newWaiter(nil)
			c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
			c.send(legacyCall("1", "both", "{}"))
			c.next()
			c.next()
			c.send(refusal)
			c.expect(withdrawn("1"))
			if got := legacyText(t, c.next()); !strings.Contains(got, `question "roots"`) {
				t.Errorf("%s", got)
			}
			c.send(answered("1", namedAnswer("late")))
			c.quiet()
		})
	}
	bubble(t, "BRG-01 answers in another order than the questions", func(t *testing.T) {
		w := newWaiter(nil)
		c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
		c.send(legacyCall("1", "both", "{}"))
		c.next()
		c.next()
		c.send(answered("2", `{"roots":[{"uri":"file:///a"}]}`), answered("1", namedAnswer("Ada")))
		if got := legacyText(t, c.next()); !strings.Contains(got, "Ada") || strings.HasPrefix(got, "failed") {
			t.Errorf("%s", got)
		}
		c.quiet()
	})
	streams(t, "LFE-05 LHT-17 cancelled with the call, over HTTP", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		call := s.n.events(t, c.post(legacyCall("1", "reenter", "{}")))
		call.primed()
		call.expect(askedName("1", "Name?"))
		c.exchange(c.post(cancelNotice("1", "enough")))
		call.expect(withdrawn("1"))
		call.ended()
	})
	streams(t, "P17 shutdown ends a call that waits", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-11-25", allCapabilities)
		call := s.n.events(t, c.post(legacyCall("1", "reenter", "{}")))
		call.primed()
		call.expect(askedName("1", "Name?"))
		go func() { _ = s.Shutdown(context.Background()) }()
		call.expect(withdrawn("1"), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"mcp: server is shutting down"}],"isError":true}}`)
		call.ended()
	})
	bubble(t, "LFE-06 middleware sees each round, as in the modern era", func(t *testing.T) {
		w := newWaiter(nil)
		var seen []string
		w.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				v, err := next(ctx, req)
				seen = append(seen, fmt.Sprintf("%s %T", req.Method(), v))
				return v, err
			}
		})
		c := openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
		c.send(legacyCall("1", "reenter", "{}"))
		c.expect(askedName("1", "Name?"))
		c.send(answered("1", namedAnswer("Ada")))
		c.expect(legacyResult("1", "7Ada"))
		if want := []string{"tools/call *mcp.InputRequiredResult", "tools/call *mcp.Result"}; !slices.Equal(seen, want) {
			t.Errorf("got %q", seen)
		}
	})
}

// TestPagesAreAsked shows that pages are put as questions in every revision that has them, and not as errors to retry after.
func TestPagesAreAsked(t *testing.T) {
	t.Parallel()
	w := newWaiter(nil)
	mcp.AddTool(w, "page_error", "", func(context.Context, noArgs) (string, error) {
		return "", &mcp.Error{Code: -32042, Message: "open this", Data: map[string]any{"elicitations": []any{}}}
	})
	for _, version := range append([]string{"2024-11-05"}, earlier...) {
		t.Run("LFE-12 the code of the protocol is not for handlers: "+version, func(t *testing.T) {
			if fault := faultIn(t, askLegacy(t, w.Server, version, legacyCall("1", "page_error", "{}"))); fault.Code != mcp.CodeInternalError {
				t.Errorf("got %+v", fault)
			}
		})
	}
}

// TestBridgePlaces shows that calls which wait for their client are in nobody's way.
func TestBridgePlaces(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, limits mcp.Limits) (*waiter, *lineClient) {
		w := newWaiter(&mcp.ServerOptions{Limits: limits})
		return w, openPipeSession(t, w.Server, "2025-11-25", allCapabilities)
	}
	bubble(t, "A48 others run meanwhile", func(t *testing.T) {
		_, c := open(t, mcp.Limits{InFlight: 1, Queue: 4})
		for i := range 4 {
			c.send(legacyCall(fmt.Sprint(i), "reenter", "{}"))
			c.expect(askedName(fmt.Sprint(i+1), "Name?"))
		}
		synctest.Wait()
		c.send(legacyCall("9", "log", "{}"))
		c.expect(legacyResult("9", "logged"))
		for i := range 4 {
			c.send(answered(fmt.Sprint(i+1), namedAnswer("A")))
			c.expect(legacyResult(fmt.Sprint(i), "7A"))
		}
	})
	bubble(t, "A48 no more of them than may wait", func(t *testing.T) {
		_, c := open(t, mcp.Limits{InFlight: 1, Queue: 2})
		for i := range 3 {
			c.send(legacyCall(fmt.Sprint(i), "reenter", "{}"))
			c.expect(askedName(fmt.Sprint(i+1), "Name?"))
		}
		synctest.Wait()
		c.send(legacyCall("9", "log", "{}"))
		c.expectError("9", mcp.CodeInternalError)
		c.send(answered("3", namedAnswer("A")))
		c.expect(legacyResult("2", "7A"))
		c.send(legacyCall("10", "log", "{}"))
		c.expect(legacyResult("10", "logged"))
	})
	bubble(t, "A48 an answer waits for a place", func(t *testing.T) {
		w, c := open(t, mcp.Limits{InFlight: 1, Queue: 4})
		c.send(legacyCall("1", "reenter", "{}"))
		c.expect(askedName("1", "Name?"))
		synctest.Wait()
		c.send(legacyCall("2", "steps", "{}"))
		c.send(answered("1", namedAnswer("A")))
		c.quiet()
		close(w.quit)
		c.expect(legacyResult("2", "stepped"), legacyResult("1", "7A"))
	})
	bubble(t, "A48 CAN-04 cancelled while it waits for a place", func(t *testing.T) {
		w, c := open(t, mcp.Limits{InFlight: 1, Queue: 4})
		c.send(legacyCall("1", "reenter", "{}"))
		c.expect(askedName("1", "Name?"))
		synctest.Wait()
		c.send(legacyCall("2", "steps", "{}"))
		c.send(answered("1", namedAnswer("A")))
		synctest.Wait()
		c.send(cancelNotice("1", "x"))
		c.quiet()
		close(w.quit)
		c.expect(legacyResult("2", "stepped"))
		c.send(legacyCall("3", "log", "{}"))
		c.expect(legacyResult("3", "logged"))
		c.quiet()
	})
	bubble(t, "P17 shutdown while one waits for a place", func(t *testing.T) {
		w, c := open(t, mcp.Limits{InFlight: 1, Queue: 4})
		c.send(legacyCall("1", "reenter", "{}"))
		c.expect(askedName("1", "Name?"))
		synctest.Wait()
		c.send(legacyCall("2", "steps", "{}"))
		c.send(answered("1", namedAnswer("A")))
		synctest.Wait()
		shutDown(t, w.Server)
		if cause := <-w.ends; !errors.Is(cause, mcp.ErrShutdown) {
			t.Error(cause)
		}
	})
}

// TestLegacyNews is about changes that a client on a pipe does not read.
func TestLegacyNews(t *testing.T) {
	t.Parallel()
	bubble(t, "LFE-01 C110 a client that reads nothing holds nobody up", func(t *testing.T) {
		w := newWaiter(nil)
		slow, fast := newScriptConn(), newScriptConn()
		slow.writeErr = func() error { <-slow.closed; return io.ErrClosedPipe }
		var served []<-chan error
		for _, c := range []*scriptConn{slow, fast} {
			served = append(served, c.serve(t.Context(), w.Server))
			c.in <- step{msg: initializeWith("2025-11-25", "")}
			c.in <- step{msg: initializedNotice}
		}
		<-fast.out
		for i := range 100 {
			addOneOfEach(t, w.Server, fmt.Sprint("n", i))
			if i == 0 {
				for range 3 {
					<-fast.out
				}
			}
		}
		synctest.Wait()
		if n := len(fast.out); n == 0 {
			t.Error("the fast client heard nothing more")
		}
		slow.close()
		fast.close()
		for _, s := range served {
			<-s
		}
	})
	bubble(t, "LFE-01 LIF-06 nothing unasked before initialized", func(t *testing.T) {
		w := newWaiter(nil)
		c := serveLines(t, w.Server)
		c.send(initializeWith("2025-11-25", ""))
		c.next()
		addOneOfEach(t, w.Server, "early")
		c.quiet()
		c.send(initializedNotice)
		synctest.Wait()
		addOneOfEach(t, w.Server, "late")
		c.expect(toolsChanged, promptsChanged, resourcesChanged)
	})
}
