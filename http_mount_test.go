package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestHTTPMounted puts the handler where users put it: under a path of a bigger server, behind a proxy, on many machines.
func TestHTTPMounted(t *testing.T) {
	t.Parallel()
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	for name, wrap := range map[string]func(http.Handler) http.Handler{
		"as it is":         func(h http.Handler) http.Handler { return h },
		"path cut off":     func(h http.Handler) http.Handler { return http.StripPrefix("/team-a/mcp", h) },
		"path all cut off": func(h http.Handler) http.Handler { return http.StripPrefix("/team-a/mcp/", h) },
	} {
		t.Run("C94 HTTP-01 under a path, "+name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("/team-a/mcp/", wrap(newHandler(t, newFixture(nil).Server, nil)))
			srv := serveLoopback(t, mux, false)
			fetch(t, srv.Client(), srv.URL+"/team-a/mcp/", modernPost(call)).expect(t, 200, modernSum("1", 3))
			fetch(t, srv.Client(), srv.URL+"/team-a/mcp/?key=1", modernPost(call)).expect(t, 200, modernSum("1", 3))
		})
	}
	t.Run("C94 BASE-23 two instances behind one address", func(t *testing.T) {
		var turn atomic.Int64
		var served [2]atomic.Int64
		var instances [2]*url.URL
		for i := range instances {
			f := newFixture(&mcp.ServerOptions{StateKeys: [][]byte{[]byte("a key that both instances have: 32+")}})
			mcp.AddTool(f, "ask", "Ask for a name", func(ctx context.Context, _ noArgs) (string, error) {
				type form struct {
					Name string `json:"name"`
				}
				a, err := mcp.Elicit[form](ctx, "name", "Your name?")
				return "hello " + a.Name, err
			})
			h := newHandler(t, f.Server, dualEra)
			u, err := url.Parse(serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				served[i].Add(1)
				h.ServeHTTP(w, r)
			}), false).URL)
			if err != nil {
				t.Fatal(err)
			}
			instances[i] = u
		}
		front := serveLoopback(t, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(instances[turn.Add(1)%2]) }}, false)
		calls := []struct {
			post   func(id string) *http.Request
			answer func(id string) []string
		}{
			{func(id string) *http.Request { return modernPost(modernCall(id, "add", `{"a":1,"b":2}`)) }, func(id string) []string { return []string{modernSum(id, 3)} }},
			{func(id string) *http.Request { return modernPost(modernCall(id, "progress", `{"count":1}`, token1)) }, func(id string) []string { return []string{progressNotice("1", 1, 1), modernText(id, "done")} }},
			{func(id string) *http.Request { return httpPost(bareRequest(id, "ping", "{}")) }, func(id string) []string { return []string{`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`} }},
			{func(id string) *http.Request { return httpPost(legacyCall(id, "echo", `{"text":"x"}`)) }, func(id string) []string {
				return []string{`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"x"}]}}`}
			}},
			{func(id string) *http.Request { return modernPost(modernCall(id, "echo", `{"text":"y"}`)) }, func(id string) []string { return []string{modernText(id, "y")} }},
		}
		for i := range 40 {
			c, id := calls[i%len(calls)], fmt.Sprint(i)
			a := fetch(t, front.Client(), front.URL, c.post(id))
			if want := c.answer(id); len(want) > 1 {
				a.expectStream(t, want...)
			} else {
				a.expect(t, 200, want[0])
			}
		}
		ask := func(more string) string {
			return strings.Replace(modernRequest("1", "tools/call", `"name":"ask"`+more), `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
		}
		var round struct {
			Type  string `json:"resultType"`
			State string `json:"requestState"`
		}
		m := fetch(t, front.Client(), front.URL, modernPost(ask(""))).message(t)
		if err := json.Unmarshal(m.Result, &round); err != nil || round.Type != "input_required" || round.State == "" {
			t.Fatalf("%s %v", m.Result, err)
		}
		retry := ask(fmt.Sprintf(`,"requestState":%q,"inputResponses":{"name":{"action":"accept","content":{"name":"ann"}}}`, round.State))
		fetch(t, front.Client(), front.URL, modernPost(retry)).expect(t, 200, modernText("1", "hello ann"))
		if a, b := served[0].Load(), served[1].Load(); a != 21 || b != 21 {
			t.Errorf("served %d and %d", a, b)
		}
	})
	t.Run("C86 events arrive at once through a proxy", func(t *testing.T) {
		f := newFixture(nil)
		mcp.AddTool(f, "steps", "Report, then wait", func(ctx context.Context, _ noArgs) (string, error) {
			mcp.Progress(ctx, 1, 1, "")
			<-f.release
			return "done", nil
		})
		u, err := url.Parse(serveLoopback(t, newHandler(t, f.Server, nil), false).URL)
		if err != nil {
			t.Fatal(err)
		}
		front := serveLoopback(t, httputil.NewSingleHostReverseProxy(u), true)
		free := sync.OnceFunc(func() { close(f.release) })
		t.Cleanup(free)
		s := openStream(t, front.Client(), front.URL, modernPost(modernCall("1", "steps", "{}", token1)))
		s.expect("comment", progressNotice("1", 1, 1)) // while the handler waits
		free()
		s.expect(modernText("1", "done"), "end")
	})
	t.Run("M23 the handler and a client of this package", func(t *testing.T) {
		srv := httptest.NewServer(newHandler(t, newFixture(nil).Server, nil))
		defer srv.Close()
		c, err := mcp.Dial(t.Context(), mcp.HTTP(srv.URL, &mcp.HTTPClientOptions{Client: srv.Client()}), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sum, err := mcp.Call[sumResult](t.Context(), c, "add", addArgs{1, 2})
		if err != nil || sum.Sum != 3 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}
