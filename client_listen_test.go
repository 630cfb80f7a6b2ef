package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// changing returns a server whose tools and one resource can change, and what changes them.
func changing() (s *mcp.Server, change func() error) {
	s = mcp.NewServer("s", "1", &mcp.ServerOptions{Dynamic: true})
	mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) { return "", nil })
	mcp.AddText(s, "x://a", "a", "text/plain", "a").Watchable()
	n := 0
	return s, func() error {
		n++
		return s.Update(func(u *mcp.Update) error {
			mcp.AddTool(u, fmt.Sprintf("t%d", n), "", func(context.Context, struct{}) (string, error) { return "", nil })
			return nil
		})
	}
}

// bounded ends a subscription that says nothing for long: waiting for it would never fail.
func bounded(sub *mcp.Subscription) (stop func() bool) {
	return time.AfterFunc(lineTimeout, func() { _ = sub.Close() }).Stop
}

// nextEvent waits for one event.
func nextEvent(t testing.TB, sub *mcp.Subscription) mcp.Event {
	t.Helper()
	defer bounded(sub)()
	for e, err := range sub.Events() {
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	t.Fatal("the subscription is over, or told of nothing")
	return mcp.Event{}
}

// lastError is how a subscription ends that has no more events.
func lastError(t testing.TB, sub *mcp.Subscription) (last error) {
	t.Helper()
	stop := bounded(sub)
	for e, err := range sub.Events() {
		if last = err; err == nil {
			t.Errorf("%+v", e)
		}
	}
	if !stop() {
		t.Error("the subscription did not end")
	}
	return last
}

func TestListen(t *testing.T) {
	t.Parallel()
	want := mcp.Filter{Tools: true, Prompts: true, URIs: []string{"x://a", "x://b"}}
	for _, versions := range [][]string{{"2026-07-28"}, {"2025-11-25"}, {"2024-11-05"}} {
		for _, carrier := range []string{"in memory", "over HTTP"} {
			t.Run("SUB-06 BRG-06 "+versions[0]+" "+carrier, func(t *testing.T) {
				t.Parallel()
				s, change := changing()
				transport := mcp.InMemory(s)
				if carrier == "over HTTP" {
					transport = mcp.HTTP(serveLoopback(t, newHandler(t, s, nil), false).URL+"/mcp", nil)
				}
				c, err := mcp.Dial(t.Context(), transport, &mcp.ClientOptions{Versions: versions})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				sub, err := c.Listen(t.Context(), want)
				if err != nil {
					t.Fatal(err)
				}
				honoured := mcp.Filter{Tools: true, Prompts: true, URIs: []string{"x://a"}}
				if diff := cmp.Diff(honoured, sub.Honoured()); diff != "" {
					t.Errorf("honoured (-want +got):\n%s", diff)
				}
				if err := change(); err != nil {
					t.Fatal(err)
				}
				if e := nextEvent(t, sub); e != (mcp.Event{Kind: "tools"}) {
					t.Errorf("%+v", e)
				}
				s.ResourceUpdated("x://a")
				if e := nextEvent(t, sub); e != (mcp.Event{Kind: "updated", URI: "x://a"}) {
					t.Errorf("%+v", e)
				}
				if err := sub.Close(); err != nil {
					t.Error(err)
				}
				if err := lastError(t, sub); err != nil { // SUB-12: over, without an error
					t.Errorf("after Close: %v", err)
				}
			})
		}
	}
	t.Run("SUB-09 STD-06 SUB-08 two subscriptions, each with what it asked for", func(t *testing.T) {
		t.Parallel()
		s, change := changing()
		c := dialMemory(t, s, nil)
		var subs []*mcp.Subscription
		for _, f := range []mcp.Filter{{Tools: true}, {URIs: []string{"x://a"}}, {Tools: true}} {
			sub, err := c.Listen(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			defer sub.Close()
			subs = append(subs, sub)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		s.ResourceUpdated("x://a")
		for i, kind := range []string{"tools", "updated", "tools"} {
			if e := nextEvent(t, subs[i]); e.Kind != kind {
				t.Errorf("subscription %d: %+v", i, e)
			}
		}
	})
	t.Run("SUB-12 the end of the context, and of the client", func(t *testing.T) {
		t.Parallel()
		s, _ := changing()
		c, err := mcp.Dial(t.Context(), mcp.InMemory(s), nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		first, err1 := c.Listen(ctx, mcp.Filter{Tools: true})
		second, err2 := c.Listen(t.Context(), mcp.Filter{Tools: true})
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		cancel()
		if err := lastError(t, first); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := lastError(t, second); !errors.Is(err, mcp.ErrClosed) {
			t.Errorf("error %v", err)
		}
		if _, err := c.Listen(t.Context(), mcp.Filter{}); !errors.Is(err, mcp.ErrClosed) {
			t.Errorf("then %v", err)
		}
	})
	t.Run("SUB-12 the server ends it", func(t *testing.T) {
		t.Parallel()
		s, _ := changing()
		c := dialMemory(t, s, nil)
		sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Shutdown(context.WithoutCancel(t.Context())) }()
		if err := lastError(t, sub); err != nil {
			t.Errorf("error %v", err)
		}
	})
}

func TestListenOnAPipe(t *testing.T) {
	t.Parallel()
	const ack = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`
	listen := func(t *testing.T) (*fakeServer, *mcp.Subscription, clientMessage) {
		f := newFakeServer(t)
		c := f.dial(nil)
		var m clientMessage
		go func() {
			m = f.next()
			f.sent <- fmt.Sprintf(ack, m.ID)
		}()
		sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
		if err != nil {
			t.Fatal(err)
		}
		return f, sub, m
	}
	bubble(t, "STD-08 CAN-01 Close cancels the request", func(t *testing.T) {
		f, sub, m := listen(t)
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
		if n := f.next(); n.Method != "notifications/cancelled" || string(n.Params.RequestID) != string(m.ID) {
			t.Errorf("%+v", n)
		}
	})
	for name, end := range map[string]func(f *fakeServer, m clientMessage){
		"a result": func(f *fakeServer, m clientMessage) { f.result(m, `"resultType":"complete"`) },
		"a cancellation": func(f *fakeServer, m clientMessage) {
			f.sent <- `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + string(m.ID) + `}}`
		},
		"both": func(f *fakeServer, m clientMessage) {
			f.result(m, `"resultType":"complete"`)
			f.sent <- `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + string(m.ID) + `}}`
		},
	} {
		bubble(t, "AMB-01 SUB-12 the server ends it by "+name, func(t *testing.T) {
			f, sub, m := listen(t)
			f.sent <- fmt.Sprintf(changed, m.ID)
			end(f, m)
			var got []mcp.Event
			for e, err := range sub.Events() {
				if err != nil {
					t.Error(err)
				}
				got = append(got, e)
			}
			synctest.Wait()
			if !slices.Equal(got, []mcp.Event{{Kind: "tools"}}) || len(f.received) != 0 {
				t.Errorf("%+v, %d messages sent", got, len(f.received))
			}
		})
	}
	bubble(t, "STD-06 SUB-08 notifications for nobody, and a flood", func(t *testing.T) {
		f, sub, m := listen(t)
		for _, tag := range []string{`99`, `"x"`, `null`, `{}`} {
			f.sent <- fmt.Sprintf(changed, tag)
		}
		f.sent <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		f.sent <- strings.Replace(fmt.Sprintf(changed, m.ID), "tools/", "prompts/", 1) // not honoured
		synctest.Wait()
		for range 1000 {
			f.sent <- fmt.Sprintf(changed, m.ID)
		}
		synctest.Wait()
		f.result(m, "")
		n := 0
		for range sub.Events() {
			n++
		}
		if n != 1 {
			t.Errorf("%d events", n)
		}
	})
	bubble(t, "STD-06 SUB-08 nothing comes of what is tagged for nobody", func(t *testing.T) {
		f, sub, m := listen(t)
		f.sent <- fmt.Sprintf(changed, "99")
		f.sent <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		f.result(m, "")
		for e := range sub.Events() {
			t.Errorf("%+v", e)
		}
	})
	for name, tt := range map[string]struct {
		can  string
		asks mcp.Filter
	}{
		"cannot tell":   {`{"tools":{},"prompts":{},"resources":{}}`, mcp.Filter{Tools: true, Prompts: true, Resources: true, URIs: []string{"x://a"}}},
		"was not asked": {`{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}`, mcp.Filter{}},
	} {
		bubble(t, "BRG-06 LFE-02 an older server that "+name+" honours nothing", func(t *testing.T) {
			f := newFakeServer(t)
			methods := f.talk(func(m clientMessage) string {
				if m.Method == "initialize" {
					return `"protocolVersion":"2025-11-25","capabilities":` + tt.can
				}
				return `"resultType":"complete"`
			})
			c, err := mcp.Dial(t.Context(), f.transport(), &mcp.ClientOptions{Versions: []string{legacyVersion}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			sub, err := c.Listen(t.Context(), tt.asks)
			if err != nil {
				t.Fatal(err)
			}
			defer sub.Close()
			if diff := cmp.Diff(mcp.Filter{}, sub.Honoured()); diff != "" || slices.Contains(methods(), "resources/subscribe") {
				t.Errorf("honoured (-want +got):\n%s\nsent %q", diff, methods())
			}
		})
	}
	bubble(t, "a server that never acknowledges", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(&mcp.ClientOptions{Timeout: 3 * time.Second})
		if _, err := c.Listen(t.Context(), mcp.Filter{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if m := f.next(); m.Method != "subscriptions/listen" || m.Params.Notifications == nil { // SUB-02
			t.Errorf("sent %+v", m)
		}
	})
	bubble(t, "a server that refuses", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(nil)
		go func() { f.fault(f.next(), `"code":-32601,"message":"m"`) }()
		var remote *mcp.Error
		if _, err := c.Listen(t.Context(), mcp.Filter{}); !errors.As(err, &remote) || remote.Code != mcp.CodeMethodNotFound {
			t.Errorf("error %v", err)
		}
	})
}

func TestListenAgain(t *testing.T) {
	t.Parallel()
	t.Run("SUB-14 AMB-31 a stream that breaks is opened anew, and everything may have changed", func(t *testing.T) {
		t.Parallel()
		var n int
		hold := make(chan struct{})
		url := handled(t, func(w http.ResponseWriter, r *http.Request, m clientMessage) {
			if m.Method == "server/discover" {
				writeResult(w, m, discovered)
				return
			}
			n++
			send := sseOf(w)
			send("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,\"resourcesListChanged\":true,\"resourceSubscriptions\":[\"x://a\",\"x://b\"]},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}\n\n", m.ID)
			if n > 1 {
				select {
				case <-hold:
				case <-r.Context().Done():
				}
			}
		})
		c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		defer close(hold)
		sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true, Prompts: true, Resources: true, URIs: []string{"x://a", "x://b"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []mcp.Event{{Kind: "tools"}, {Kind: "prompts"}, {Kind: "resources"}, {Kind: "updated", URI: "x://a"}, {Kind: "updated", URI: "x://b"}} {
			if e := nextEvent(t, sub); e != want {
				t.Errorf("%+v, want %+v", e, want)
			}
		}
	})
	t.Run("LHT-08 SUB-14 a session that is lost, with what is watched in it", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		forgot := false
		s.refuse = func(w http.ResponseWriter, m clientMessage) bool {
			if forgot || m.Method != "tools/call" {
				return false
			}
			forgot = true
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		c := s.dial(nil)
		sub, err := c.Listen(t.Context(), mcp.Filter{Resources: true, URIs: []string{"x://a"}})
		if err != nil {
			t.Fatal(err)
		}
		mustCall(t, c, "t", nil)
		if e := nextEvent(t, sub); e.Kind != "resources" {
			t.Errorf("%+v", e)
		}
		if n := len(s.requests("resources/subscribe")); n != 2 {
			t.Errorf("subscribed %d times", n)
		}
	})
	t.Run("LFE-02 what two watch is given up with the second", func(t *testing.T) {
		t.Parallel()
		s := newLegacyServer(t)
		c := s.dial(nil)
		for i := range 2 {
			sub, err := c.Listen(t.Context(), mcp.Filter{URIs: []string{"x://a", "x://a"}})
			if err != nil {
				t.Fatal(err)
			}
			other, err := c.Listen(t.Context(), mcp.Filter{URIs: []string{"x://a"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
			if on, off := len(s.requests("resources/subscribe")), len(s.requests("resources/unsubscribe")); on != i+1 || off != i {
				t.Errorf("subscribed %d times, unsubscribed %d times", on, off)
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
			if off := len(s.requests("resources/unsubscribe")); off != i+1 {
				t.Errorf("unsubscribed %d times", off)
			}
		}
	})
	for name, refuse := range map[string]func(w http.ResponseWriter, m clientMessage){
		"an error": func(w http.ResponseWriter, m clientMessage) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"not now"}}`, m.ID)
		},
		"a status": func(w http.ResponseWriter, _ clientMessage) { w.WriteHeader(http.StatusForbidden) },
	} {
		t.Run("LFE-02 a resource that the server refused to watch, by "+name+", is asked for anew by the next", func(t *testing.T) {
			t.Parallel()
			s := newLegacyServer(t)
			refused := 0
			s.refuse = func(w http.ResponseWriter, m clientMessage) bool {
				if m.Method != "resources/subscribe" || refused == 2 {
					return false
				}
				refused++
				refuse(w, m)
				return true
			}
			c := s.dial(nil)
			for i := range 3 {
				sub, err := c.Listen(t.Context(), mcp.Filter{URIs: []string{"x://a"}})
				if failed := i < 2 && name == "a status"; (err != nil) != failed {
					t.Errorf("%d: error %v", i, err)
				}
				if err != nil {
					continue
				}
				if n := len(sub.Honoured().URIs); n != i/2 {
					t.Errorf("%d: %d resources are watched", i, n)
				}
				if err := sub.Close(); err != nil {
					t.Error(err)
				}
				if on, off := len(s.requests("resources/subscribe")), len(s.requests("resources/unsubscribe")); on != i+1 || off != i/2 {
					t.Errorf("%d: subscribed %d times, unsubscribed %d times", i, on, off)
				}
			}
		})
	}
}
