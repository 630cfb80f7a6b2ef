package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// newSessions returns the handler of a server of newWaiter with sessions.
func newSessions(t testing.TB, opts *mcp.HTTPOptions) (*waiter, http.Handler) {
	t.Helper()
	w := newWaiter(nil)
	mcp.AddTool(w, "session", "Return the id of the session and the version", func(ctx context.Context, _ noArgs) (string, error) {
		r := mcp.RequestFrom(ctx)
		return r.SessionID() + " " + r.Version() + " " + r.LogLevel(), nil
	})
	return w, newHandler(t, w.Server, opts)
}

func TestHTTPSession(t *testing.T) {
	t.Parallel()
	_, h := newSessions(t, nil)
	for _, version := range earlier {
		t.Run("ERD-02 LHT-04 M14 an id that cannot be guessed: "+version, func(t *testing.T) {
			seen := map[string]bool{}
			for range 50 {
				id := beginHTTPSession(t, h, version, "").id
				if !regexp.MustCompile(`^[A-Z2-7]{26,}$`).MatchString(id) || seen[id] { // 5 bits each
					t.Fatalf("id %q", id)
				}
				seen[id] = true
			}
		})
		t.Run("LHT-13 M14 P14 the session's version holds, named or not: "+version, func(t *testing.T) {
			s := openHTTPSession(t, h, version, "")
			want := s.id + " " + version + " "
			for _, edits := range [][]string{nil, {"-MCP-Protocol-Version"}, {"MCP-Protocol-Version: 2025-06-18"}} {
				a := s.exchange(s.post(legacyCall("1", "session", "{}"), edits...))
				if got := legacyText(t, a.body); a.status != 200 || got != want {
					t.Errorf("%q: %d %q, want %q", edits, a.status, got, want)
				}
			}
		})
		t.Run("LIF-06 LIF-09 only ping before initialized: "+version, func(t *testing.T) {
			s := beginHTTPSession(t, h, version, "")
			s.exchange(s.post(legacyCall("1", "log", "{}"))).expectError(t, 200, mcp.CodeInvalidRequest, "1")
			s.exchange(s.post(plainRequest("2", "ping"))).expect(t, 200, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			s.exchange(s.post(initializedNotice)).expect(t, 202, "")
			if got := s.call("log", "{}"); got != "logged" {
				t.Error(got)
			}
		})
	}
	t.Run("M14 initialize with the id of another session begins a new one", func(t *testing.T) {
		first := openHTTPSession(t, h, "2025-11-25", "")
		second := beginHTTPSession(t, h, "2025-11-25", "", "Mcp-Session-Id: "+first.id)
		if second.id == first.id || second.id == "" {
			t.Error(second.id)
		}
		if got := first.call("log", "{}"); got != "logged" {
			t.Error(got)
		}
	})
	t.Run("LHT-03 C89 notifications and responses", func(t *testing.T) {
		s := openHTTPSession(t, h, "2025-11-25", "")
		for _, body := range []string{
			initializedNotice, cancelNotice("1", "x"), `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/x"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}`, answered("1", "{}"), answered(`"x"`, "{}"), `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`,
		} {
			s.exchange(s.post(body)).expect(t, 202, "")
		}
	})
	t.Run("LHT-09 an unknown method is no lost session", func(t *testing.T) {
		s := openHTTPSession(t, h, "2025-11-25", "")
		s.exchange(s.post(plainRequest("1", "unknown/x"))).expectError(t, 200, mcp.CodeMethodNotFound, "1")
		s.exchange(s.post(plainRequest("1", "server/discover"))).expectError(t, 200, mcp.CodeMethodNotFound, "1")
	})
	t.Run("LHT-15 headers of the modern era", func(t *testing.T) {
		s := openHTTPSession(t, h, "2025-11-25", "")
		if a := s.exchange(s.post(legacyCall("1", "log", "{}"), "Mcp-Method: x", "Mcp-Name: =?base64?!?=")); legacyText(t, a.body) != "logged" {
			t.Error(a.body)
		}
	})
	t.Run("LHT-25 origins and hosts are checked on every method", func(t *testing.T) {
		s := openHTTPSession(t, h, "2025-11-25", "")
		for _, edit := range []string{"Origin: https://evil.example", "Host: evil.example"} {
			for _, r := range []*http.Request{s.post(legacyCall("1", "log", "{}"), edit), s.get(edit), s.end(edit)} {
				if a := s.exchange(r); a.status != 403 {
					t.Errorf("%s %s: %d", r.Method, edit, a.status)
				}
			}
		}
	})
}

// TestHTTPSessionRefused goes through the ways in which a request fails to name its session.
func TestHTTPSessionRefused(t *testing.T) {
	t.Parallel()
	_, h := newSessions(t, nil)
	all := func(s *httpSession, edits ...string) map[string]*http.Request {
		return map[string]*http.Request{
			"call": s.post(legacyCall("1", "log", "{}"), edits...), "ping": s.post(plainRequest("1", "ping"), edits...),
			"notification": s.post(initializedNotice, edits...), "response": s.post(answered("1", "{}"), edits...),
			"batch": s.post(batchOf(plainRequest("1", "ping")), edits...), "GET": s.get(edits...), "DELETE": s.end(edits...),
		}
	}
	refused := func(t *testing.T, s *httpSession, status int, edits ...string) {
		t.Helper()
		for name, r := range all(s, edits...) {
			if a := s.exchange(r); a.status != status || a.message(t).Error == nil {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
	}
	for _, version := range earlier {
		t.Run("C85 LHT-06 no id: "+version, func(t *testing.T) {
			refused(t, openHTTPSession(t, h, version, ""), 400, "-Mcp-Session-Id")
		})
		t.Run("C85 LHT-06 an id without a value, or two: "+version, func(t *testing.T) {
			s := openHTTPSession(t, h, version, "")
			refused(t, s, 400, "Mcp-Session-Id: ")
			refused(t, s, 400, "+Mcp-Session-Id: "+s.id)
		})
		t.Run("C85 LHT-07 an unknown id: "+version, func(t *testing.T) {
			refused(t, openHTTPSession(t, h, version, ""), 404, "Mcp-Session-Id: UNKNOWN")
		})
		t.Run("C85 LHT-07 an ended session: "+version, func(t *testing.T) {
			s := openHTTPSession(t, h, version, "")
			other := openHTTPSession(t, h, version, "")
			s.exchange(s.end()).expect(t, 204, "")
			refused(t, s, 404)
			if got := other.call("log", "{}"); got != "logged" {
				t.Error(got)
			}
		})
	}
	t.Run("LHT-14 a version that is not served", func(t *testing.T) {
		s := openHTTPSession(t, h, "2025-11-25", "")
		refused(t, s, 400, "MCP-Protocol-Version: foo")
		refused(t, s, 400, "+MCP-Protocol-Version: 2025-11-25")
		if got := s.call("log", "{}"); got != "logged" {
			t.Error(got)
		}
	})
	t.Run("C122 LHT-11 the session of somebody else", func(t *testing.T) {
		as := func(p *mcp.Principal) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, r.WithContext(mcp.WithPrincipal(r.Context(), p)))
			})
		}
		alice := openHTTPSession(t, as(&mcp.Principal{Issuer: "i", Subject: "alice", Scopes: []string{"a"}}), "2025-11-25", "")
		for _, p := range []*mcp.Principal{nil, {Issuer: "i", Subject: "bob"}, {Issuer: "j", Subject: "alice"}, {Issuer: "i", Client: "alice"}} {
			thief := &httpSession{t: t, h: as(p), id: alice.id, version: alice.version}
			refused(t, thief, 404)
		}
		// The session is hers, whatever the token of the moment grants.
		again := &httpSession{t: t, h: as(&mcp.Principal{Issuer: "i", Subject: "alice", Expires: time.Now().Add(time.Hour)}), id: alice.id, version: alice.version}
		if got := again.call("log", "{}"); got != "logged" {
			t.Error(got)
		}
	})
	t.Run("GET for something else than a stream", func(t *testing.T) {
		s := openHTTPSession(t, h, "2025-11-25", "")
		s.exchange(s.get("Accept: application/json")).expectError(t, 406, mcp.CodeInvalidRequest, "")
	})
}

// TestHTTPSessionModes shows what an endpoint has that has no sessions.
func TestHTTPSessionModes(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*mcp.HTTPOptions{"LHT-28 stateless": dualEra, "off": modernOnly} {
		t.Run("LHT-01 "+name, func(t *testing.T) {
			_, h := newSessions(t, opts)
			s := &httpSession{t: t, h: h, id: "X", version: "2025-11-25"}
			for _, r := range []*http.Request{s.get(), s.end()} {
				if a := s.exchange(r); a.status != 405 || a.header.Get("Allow") != "POST" {
					t.Errorf("%s: %d %v", r.Method, a.status, a.header)
				}
			}
			s.exchange(s.post(answered("1", "{}"))).expectError(t, 400, mcp.CodeInvalidRequest, "")
		})
	}
	t.Run("LHT-01 with sessions GET is a stream, and others are named", func(t *testing.T) {
		_, h := newSessions(t, withSessions)
		s := openHTTPSession(t, h, "2025-11-25", "")
		if a := s.exchange(withMethod(s.get(), "PUT")); a.status != 405 || a.header.Get("Allow") != "GET, POST, DELETE" {
			t.Errorf("%d %v", a.status, a.header)
		}
	})
	t.Run("LHT-28 what needs a memory is neither declared nor there", func(t *testing.T) {
		_, h := newSessions(t, dualEra)
		a := exchange(t, h, httpPost(initializeWith("2025-11-25", allCapabilities)))
		if strings.Contains(a.body, "listChanged") || strings.Contains(a.body, "logging") || strings.Contains(a.body, "subscribe") || a.header["Mcp-Session-Id"] != nil {
			t.Error(a.body, a.header)
		}
		for _, r := range []string{
			plainRequest("1", "logging/setLevel", `"level":"info"`), plainRequest("1", "resources/subscribe", `"uri":"asking://menu"`),
			plainRequest("1", "resources/unsubscribe", `"uri":"asking://menu"`),
		} {
			exchange(t, h, httpPost(r, "MCP-Protocol-Version: 2025-11-25")).expectError(t, 200, mcp.CodeMethodNotFound, "1")
		}
	})
	t.Run("LHT-28 C103 a question fails at once", func(t *testing.T) {
		_, h := newSessions(t, dualEra)
		for _, tool := range []string{"form", "both", "sample", "page", "sure", "reenter"} {
			a := exchange(t, h, httpPost(legacyCall("1", tool, "{}"), "MCP-Protocol-Version: 2025-11-25"))
			if got := legacyText(t, a.body); a.status != 200 || !strings.HasPrefix(got, "failed: this client cannot be asked") {
				t.Errorf("%s: %d %s", tool, a.status, got)
			}
		}
	})
	t.Run("options that mean nothing", func(t *testing.T) {
		for _, opts := range []mcp.HTTPOptions{{SessionTTL: -1}, {MaxStream: -1}, {Legacy: -1}, {Legacy: 3}} {
			if _, err := newWaiter(nil).HTTPHandler(&opts); err == nil {
				t.Errorf("%+v was accepted", opts)
			}
		}
	})
}

// TestHTTPSessionState shows that what one session set is no matter of others, nor of modern requests.
func TestHTTPSessionState(t *testing.T) {
	t.Parallel()
	_, h := newSessions(t, nil)
	s, other := openHTTPSession(t, h, "2025-11-25", ""), openHTTPSession(t, h, "2025-06-18", `{"roots":{}}`)
	s.exchange(s.post(plainRequest("1", "logging/setLevel", `"level":"error"`))).expect(t, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	t.Run("BRG-05 LIF-07 levels", func(t *testing.T) {
		if got := s.call("session", "{}"); got != s.id+" 2025-11-25 error" {
			t.Error(got)
		}
		if got := other.call("session", "{}"); got != other.id+" 2025-06-18 " {
			t.Error(got)
		}
		a := s.exchange(s.post(legacyCall("2", "log", "{}")))
		if n := strings.Count(a.body, "notifications/message"); n != 1 || !strings.Contains(a.body, `"level":"error"`) {
			t.Error(a.body)
		}
		if got := other.call("log", "{}"); got != "logged" {
			t.Error(got)
		}
	})
	t.Run("LIF-07 LFE-06 what was not declared is not asked", func(t *testing.T) {
		if got := other.call("form", "{}"); got != "failed: this client cannot be asked for input (elicitation.form)" {
			t.Error(got)
		}
	})
	t.Run("ERD-05 ERD-06 P14 C113 a modern request beside, even with the session's id", func(t *testing.T) {
		for range 2 {
			a := exchange(t, h, modernPost(modernCall("1", "session", "{}"), "Mcp-Session-Id: "+s.id))
			if !strings.Contains(a.body, `"text":" 2026-07-28 "`) || !strings.Contains(a.body, `"resultType":"complete"`) || a.header["Mcp-Session-Id"] != nil {
				t.Error(a.body)
			}
			a = exchange(t, h, modernPost(modernCall("1", "log", "{}", `"io.modelcontextprotocol/logLevel":"info"`), "Mcp-Session-Id: UNKNOWN"))
			if n := strings.Count(a.body, "notifications/message"); n != 2 {
				t.Error(a.body)
			}
			if got := s.call("session", "{}"); got != s.id+" 2025-11-25 error" {
				t.Error(got)
			}
		}
	})
	t.Run("ERD-06 _meta of a legacy request does not set what the session sets", func(t *testing.T) {
		r := plainRequest("1", "tools/call", callParams("session", "{}"), `"_meta":{"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`)
		if got := legacyText(t, other.exchange(other.post(r)).body); got != other.id+" 2025-06-18 " {
			t.Error(got)
		}
	})
}

// TestHTTPSessionBatch shows the batches of 2025-03-26 in a session.
func TestHTTPSessionBatch(t *testing.T) {
	t.Parallel()
	_, h := newSessions(t, nil)
	s := beginHTTPSession(t, h, "2025-03-26", "")
	t.Run("LHT-26 M22 notifications count, and each request is answered", func(t *testing.T) {
		s.exchange(s.post(batchOf(initializedNotice, answered("1", "{}")))).expect(t, 202, "")
		a := s.exchange(s.post(batchOf(plainRequest("1", "ping"), legacyCall("2", "log", "{}"), "7"), "-MCP-Protocol-Version"))
		want := batchOf(`{"jsonrpc":"2.0","id":1,"result":{}}`, legacyResult("2", "logged"))
		if a.status != 200 || !strings.HasPrefix(a.body, strings.TrimSuffix(want, "]")) || !strings.Contains(a.body, "-32600") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("LHT-26 M22 an empty one, and the same id twice", func(t *testing.T) {
		s.exchange(s.post("[]")).expectError(t, 400, mcp.CodeInvalidRequest, "")
		var parts []json.RawMessage
		a := s.exchange(s.post(batchOf(legacyCall("1", "log", "{}"), initializeWith("2025-03-26", ""))))
		if err := json.Unmarshal([]byte(a.body), &parts); err != nil || len(parts) != 2 || parseWire(t, string(parts[1])).Error == nil {
			t.Error(a.body)
		}
	})
	for _, version := range earlier[:2] {
		t.Run("LHT-27 M22 C89 in no other revision: "+version, func(t *testing.T) {
			s := openHTTPSession(t, h, version, "")
			s.exchange(s.post(batchOf(plainRequest("1", "ping")))).expectError(t, 400, mcp.CodeInvalidRequest, "")
			s.exchange(s.post(batchOf(plainRequest("1", "ping")), "-MCP-Protocol-Version")).expectError(t, 400, mcp.CodeInvalidRequest, "")
		})
	}
}

// TestHTTPSessionExpiry shows how sessions end that nobody ends.
func TestHTTPSessionExpiry(t *testing.T) {
	t.Parallel()
	bubble(t, "M14 after SessionTTL without a request", func(t *testing.T) {
		_, h := newSessions(t, &mcp.HTTPOptions{SessionTTL: time.Minute})
		s := openHTTPSession(t, h, "2025-11-25", "")
		for range 3 {
			time.Sleep(time.Minute - time.Second)
			if got := s.call("log", "{}"); got != "logged" {
				t.Fatal(got)
			}
		}
		time.Sleep(time.Minute + time.Second)
		s.exchange(s.post(legacyCall("1", "log", "{}"))).expectError(t, 404, mcp.CodeInvalidRequest, "")
		if n := mcp.SessionCount(h); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
	bubble(t, "M14 half an hour is the default", func(t *testing.T) {
		_, h := newSessions(t, nil)
		s := openHTTPSession(t, h, "2025-11-25", "")
		time.Sleep(30*time.Minute - time.Second)
		if got := s.call("log", "{}"); got != "logged" {
			t.Fatal(got)
		}
		time.Sleep(30*time.Minute + time.Second)
		s.exchange(s.get()).expectError(t, 404, mcp.CodeInvalidRequest, "")
	})
	bubble(t, "M14 not while something goes on", func(t *testing.T) {
		w, h := newSessions(t, &mcp.HTTPOptions{SessionTTL: time.Minute, KeepAlive: time.Hour})
		n := servePipes(t, h)
		calling, listening := openHTTPSession(t, h, "2025-11-25", ""), openHTTPSession(t, h, "2025-06-18", "")
		call := n.events(t, calling.post(plainRequest("1", "tools/call", callParams("steps", "{}"), `"_meta":{"progressToken":1}`)))
		stream := n.events(t, listening.get())
		call.primed()
		call.expect(progressNotice("1", 1, 2))
		time.Sleep(10 * time.Minute)
		if count := mcp.SessionCount(h); count != 2 {
			t.Errorf("%d sessions", count)
		}
		close(w.quit)
		call.expect(progressNotice("1", 2, 2), legacyResult("1", "stepped"))
		call.ended()
		time.Sleep(2 * time.Minute)
		if count := mcp.SessionCount(h); count != 1 {
			t.Errorf("%d sessions", count)
		}
		_ = stream.resp.Body.Close()
		time.Sleep(2 * time.Minute)
		if count := mcp.SessionCount(h); count != 0 {
			t.Errorf("%d sessions", count)
		}
	})
	bubble(t, "M14 over the limit the one goes that is idle the longest", func(t *testing.T) {
		w := newWaiter(&mcp.ServerOptions{Limits: mcp.Limits{Sessions: 2}})
		h := newHandler(t, w.Server, nil)
		n := servePipes(t, h)
		first, second := openHTTPSession(t, h, "2025-11-25", ""), openHTTPSession(t, h, "2025-11-25", "")
		first.call("log", "{}")
		third := openHTTPSession(t, h, "2025-11-25", "")
		second.exchange(second.post(plainRequest("1", "ping"))).expectError(t, 404, mcp.CodeInvalidRequest, "")
		n.events(t, first.get())
		n.events(t, third.get())
		a := exchange(t, h, httpPost(initializeWith("2025-11-25", "")))
		if a.expectError(t, 503, mcp.CodeInternalError, `"init"`); a.header.Get("Retry-After") == "" || a.header["Mcp-Session-Id"] != nil {
			t.Error(a.header)
		}
		for _, s := range []*httpSession{first, third} {
			if got := s.call("log", "{}"); got != "logged" {
				t.Error(got)
			}
		}
		if count := mcp.SessionCount(h); count != 2 {
			t.Errorf("%d sessions", count)
		}
	})
	bubble(t, "M14 none is left after Shutdown", func(t *testing.T) {
		w, h := newSessions(t, nil)
		n := servePipes(t, h)
		s := openHTTPSession(t, h, "2025-11-25", "")
		stream := n.events(t, s.get())
		stream.primed()
		shutDown(t, w.Server)
		stream.ended()
		s.exchange(s.post(plainRequest("1", "ping"))).expectError(t, 503, mcp.CodeInternalError, "")
		if count := mcp.SessionCount(h); count != 0 {
			t.Errorf("%d sessions", count)
		}
	})
}

// TestHTTPSessionsIdle is not parallel: it counts goroutines.
func TestHTTPSessionsIdle(t *testing.T) {
	t.Run("C115 M14 1000 that vanish, and nothing waits for them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, h := newSessions(t, &mcp.HTTPOptions{SessionTTL: time.Second})
			before := runtime.NumGoroutine()
			for range 1000 {
				openHTTPSession(t, h, "2025-11-25", "")
			}
			if n := runtime.NumGoroutine(); n > before+1 {
				t.Errorf("%d goroutines for idle sessions", n-before)
			}
			if n := mcp.SessionCount(h); n != 1000 {
				t.Errorf("%d sessions", n)
			}
			time.Sleep(3 * time.Second)
			if n := mcp.SessionCount(h); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
	})
}

// TestHTTPSessionIDs holds the requests of the server to ids that are not used twice.
func TestHTTPSessionIDs(t *testing.T) {
	t.Parallel()
	_, h := newSessions(t, nil)
	bubble(t, "LIF-10 ids of requests to the client", func(t *testing.T) {
		n := servePipes(t, h)
		s := openHTTPSession(t, h, "2025-11-25", allCapabilities)
		for i := range 100 {
			call := n.events(t, s.post(legacyCall("1", "reenter", "{}")))
			call.primed()
			id := fmt.Sprint(i + 1)
			call.expect(askedName(id, "Name?"))
			s.exchange(s.post(answered(id, namedAnswer("Ada")))).expect(t, 202, "")
			call.expect(legacyResult("1", "7Ada"))
		}
	})
}
