package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// openListen subscribes over n and returns the stream after its acknowledgement.
func openListen(t testing.TB, n *pipeNetwork, id, filter string) *liveStream {
	t.Helper()
	st := n.stream(t, modernPost(listenRequest(id, filter)))
	if got := st.resp.Header.Get("Content-Type"); st.resp.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("%d %s", st.resp.StatusCode, got)
	}
	st.expect("comment", acknowledged(id, filter))
	return st
}

func TestHTTPSubscriptions(t *testing.T) {
	t.Parallel()
	bubble(t, "SUB-17 SUB-03 HTTP-15 a stream of events, at once", func(t *testing.T) {
		d := newDynamic(t, nil)
		n := servePipes(t, newHandler(t, d.Server, modernOnly))
		st := openListen(t, n, `"x"`, `"toolsListChanged":true`)
		if got := st.resp.Header.Get("X-Accel-Buffering"); got != "no" {
			t.Errorf("X-Accel-Buffering: %q", got)
		}
		d.change("tools", "prompts")
		st.expect(changed(`"x"`, "tools"))
	})
	bubble(t, "SUB-09 two streams with the same id, each with its own", func(t *testing.T) {
		d := newDynamic(t, nil)
		n := servePipes(t, newHandler(t, d.Server, modernOnly))
		tools, both := openListen(t, n, "1", `"toolsListChanged":true`), openListen(t, n, "1", `"toolsListChanged":true,"promptsListChanged":true`)
		d.change("tools")
		d.change("prompts")
		tools.expect(changed("1", "tools"))
		both.expect(changed("1", "tools"), changed("1", "prompts"))
		d.change("tools")
		tools.expect(changed("1", "tools"))
	})
	t.Run("SUB-17 HTTP-10 without a stream, 406", func(t *testing.T) {
		t.Parallel()
		h := newHandler(t, newDynamic(t, nil).Server, modernOnly)
		for _, accept := range []string{"Accept: application/json", "Accept: application/json, text/event-stream;q=0", "Accept: text/*;q=0, */*"} {
			if a := exchange(t, h, modernPost(listenRequest("1", ""), accept)); a.status != http.StatusNotAcceptable || !strings.Contains(a.body, "text/event-stream") {
				t.Errorf("%s: %d %s", accept, a.status, a.body)
			}
		}
	})
	t.Run("SUB-02 SUB-17 what is refused is a JSON answer", func(t *testing.T) {
		t.Parallel()
		h := newHandler(t, newDynamic(t, nil).Server, modernOnly)
		exchange(t, h, modernPost(modernRequest("1", "subscriptions/listen", `"notifications":1`))).expectError(t, 200, mcp.CodeInvalidParams, "1")
	})
	bubble(t, "SUB-12 HTTP-20 kept alive by comments, while nothing changes", func(t *testing.T) {
		d := newDynamic(t, nil)
		n := servePipes(t, newHandler(t, d.Server, &mcp.HTTPOptions{Legacy: mcp.LegacyOff, KeepAlive: time.Minute}))
		st := openListen(t, n, "1", everything)
		before := time.Now()
		st.expect("comment", "comment", "comment")
		if passed := time.Since(before); passed < 3*time.Minute || passed > 4*time.Minute {
			t.Errorf("three comments took %v", passed)
		}
		d.change("prompts")
		st.expect(changed("1", "prompts"))
	})
	bubble(t, "SUB-13 at shutdown the result, then the end", func(t *testing.T) {
		d := newDynamic(t, nil)
		n := servePipes(t, newHandler(t, d.Server, modernOnly))
		st := openListen(t, n, "0", everything)
		done := make(chan error, 1)
		go func() { done <- d.Shutdown(context.Background()) }()
		st.expect(closedGracefully("0"), "end")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	bubble(t, "SUB-12 SUB-16 a client that hangs up leaves nothing behind", func(t *testing.T) {
		d := newDynamic(t, &mcp.ServerOptions{Limits: mcp.Limits{Streams: 1}})
		n := servePipes(t, newHandler(t, d.Server, modernOnly))
		for range 3 { // each makes room for the next
			st := openListen(t, n, "1", everything)
			if err := st.resp.Body.Close(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			d.change("tools")
			synctest.Wait()
		}
	})
	bubble(t, "C110 a client that stops reading is dropped after its time", func(t *testing.T) {
		d := newDynamic(t, &mcp.ServerOptions{Limits: mcp.Limits{Streams: 1}})
		n := servePipes(t, newHandler(t, d.Server, modernOnly))
		openListen(t, n, "1", everything+`,"resourceSubscriptions":["r://a"]`)
		for range 300 { // pipes and buffers hold some of it
			d.change("tools", "prompts", "resources")
			d.ResourceUpdated("r://a")
			synctest.Wait()
		}
		time.Sleep(2 * time.Minute)
		openListen(t, n, "2", everything)
	})
	bubble(t, "SUB-12 a deadline around the handler ends it with the result", func(t *testing.T) {
		d := newDynamic(t, nil)
		h := newHandler(t, d.Server, modernOnly)
		n := servePipes(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
			defer cancel()
			h.ServeHTTP(w, r.WithContext(ctx))
		}))
		st := openListen(t, n, "1", everything)
		for {
			switch got := st.next(); got {
			case "comment":
				continue
			case closedGracefully("1"):
				st.expect("end")
				return
			default:
				t.Fatalf("%s", got)
			}
		}
	})
}

// TestHTTPSubscribersTogether opens many streams at once, with changes all the while, and holds each to learning of the
// last one.
func TestHTTPSubscribersTogether(t *testing.T) {
	t.Parallel()
	bubble(t, "SUB-11 the last change reaches everybody", func(t *testing.T) {
		d := newDynamic(t, nil)
		n := servePipes(t, newHandler(t, d.Server, modernOnly))
		var streams []*liveStream
		for range 20 {
			streams = append(streams, openListen(t, n, "1", `"toolsListChanged":true`))
		}
		var readers sync.WaitGroup
		told := make([]atomic.Int64, len(streams))
		for i, st := range streams {
			readers.Go(func() {
				for st.next() == changed("1", "tools") {
					told[i].Add(1)
				}
			})
		}
		for range 50 {
			d.change("tools")
		}
		synctest.Wait() // all have read what there was
		before := make([]int64, len(streams))
		for i := range told {
			before[i] = told[i].Load()
		}
		d.change("tools")
		synctest.Wait()
		for i := range told {
			if n := told[i].Load(); n != before[i]+1 {
				t.Errorf("stream %d was told %d times, and then %d", i, before[i], n)
			}
		}
		if err := d.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		readers.Wait()
	})
}
