package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// dynamic is a server whose lists change.
type dynamic struct {
	*mcp.Server
	t testing.TB
	n int
}

// newDynamic returns a dynamic server with a tool, a prompt, resources that can be watched and one that cannot. opts may
// be nil.
func newDynamic(t testing.TB, opts *mcp.ServerOptions) *dynamic {
	var o mcp.ServerOptions
	if opts != nil {
		o = *opts
	}
	o.Dynamic = true
	s := mcp.NewServer("fixture", "1.0.0", &o)
	mcp.AddTool(s, "t", "", returning[struct{}](""))
	mcp.AddPrompt(s, "p", "", returning[struct{}](""))
	mcp.AddText(s, "r://a", "a", "", "").Watchable()
	mcp.AddText(s, "r://b", "b", "", "").Watchable()
	mcp.AddText(s, "r://fixed", "fixed", "", "")
	mcp.AddTemplate(s, "t://{id}", "t", returning[idArgs]("")).Watchable()
	return &dynamic{Server: s, t: t}
}

// change adds one of each of the named kinds, in one update.
func (d *dynamic) change(kinds ...string) {
	d.t.Helper()
	d.n++
	err := d.Update(func(u *mcp.Update) error {
		for _, kind := range kinds {
			switch name := fmt.Sprintf("new%d", d.n); kind {
			case "tools":
				mcp.AddTool(u, name, "", returning[struct{}](""))
			case "prompts":
				mcp.AddPrompt(u, name, "", returning[struct{}](""))
			case "resources":
				mcp.AddText(u, "new://"+name, name, "", "")
			case "templates":
				mcp.AddTemplate(u, name+"://{id}", name, returning[idArgs](""))
			}
		}
		return nil
	})
	if err != nil {
		d.t.Error(err)
	}
}

const everything = `"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true`

// listenRequest asks for a subscription to what filter says.
func listenRequest(id, filter string) string {
	return modernRequest(id, "subscriptions/listen", `"notifications":{`+filter+`}`)
}

// The frames of a subscription.
func acknowledged(id, filter string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{%s},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, filter, id)
}

func changed(id, kind string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, kind, id)
}

func updated(id, uri string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, uri, id)
}

func closedGracefully(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":%[1]s,"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"1.0.0"}}}}`, id)
}

func endNotice(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	bubble(t, "M28 META-13 SUB-01 SUB-11 PRM-11 RES-16 TOOL-03 TOOL-26 only what was asked for", func(t *testing.T) {
		for _, tt := range []struct{ filter, kind string }{
			{`"toolsListChanged":true`, "tools"}, {`"promptsListChanged":true`, "prompts"}, {`"resourcesListChanged":true`, "resources"},
		} {
			d := newDynamic(t, nil)
			c := serveLines(t, d.Server)
			c.send(listenRequest("7", tt.filter))
			c.expect(acknowledged("7", tt.filter))
			d.change("tools", "prompts", "resources")
			c.expect(changed("7", tt.kind))
			d.ResourceUpdated("r://a")
			c.quiet()
			d.change(tt.kind)
			c.expect(changed("7", tt.kind))
			c.quiet()
		}
	})
	bubble(t, "SUB-01 false and absent mean no", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", `"toolsListChanged":false,"resourceSubscriptions":[]`))
		c.expect(acknowledged("1", ""))
		d.change("tools", "prompts", "resources")
		d.ResourceUpdated("r://a")
		c.quiet()
	})
	bubble(t, "SUB-11 templates are resources", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", everything))
		c.expect(acknowledged("1", everything))
		d.change("templates", "resources")
		c.expect(changed("1", "resources"))
		c.quiet()
	})
	bubble(t, "SUB-07 ids 1, \"1\", 0 and \"\" in their own type, each with its own copies; SUB-09", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		ids := []string{`1`, `"1"`, `0`, `""`}
		for _, id := range ids {
			c.send(listenRequest(id, `"toolsListChanged":true`))
			c.expect(acknowledged(id, `"toolsListChanged":true`))
		}
		d.change("tools")
		var want []string
		for _, id := range ids {
			want = append(want, changed(id, "tools"))
		}
		c.expectAnyOrder(want...)
	})
	bubble(t, "M28 SUB-10 RES-16 two URIs, two streams", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", `"resourceSubscriptions":["r://a","r://b","r://a"]`))
		c.expect(acknowledged("1", `"resourceSubscriptions":["r://a","r://b"]`))
		c.send(listenRequest("2", `"resourceSubscriptions":["r://b","t://1"]`))
		c.expect(acknowledged("2", `"resourceSubscriptions":["r://b","t://1"]`))
		d.ResourceUpdated("r://a")
		c.expect(updated("1", "r://a"))
		d.ResourceUpdated("r://b")
		c.expectAnyOrder(updated("1", "r://b"), updated("2", "r://b"))
		d.ResourceUpdated("t://1")
		c.expect(updated("2", "t://1"))
		d.ResourceUpdated("t://2")
		d.ResourceUpdated("r://fixed")
		d.ResourceUpdated("nobody://knows")
		c.quiet()
	})
	bubble(t, "M28 SUB-05 what is not watchable, or not there, is left out", func(t *testing.T) {
		c := serveLines(t, newDynamic(t, nil).Server)
		c.send(listenRequest("1", everything+`,"resourceSubscriptions":["r://fixed","no://where","not a URI","r://a"]`))
		c.expect(acknowledged("1", everything+`,"resourceSubscriptions":["r://a"]`))
	})
	bubble(t, "SUB-05 RES-02 a server that is not dynamic tells of resources alone", func(t *testing.T) {
		s := mcp.NewServer("fixture", "1.0.0", nil)
		mcp.AddText(s, "r://a", "a", "", "").Watchable()
		c := serveLines(t, s)
		c.send(listenRequest("1", everything+`,"resourceSubscriptions":["r://a"]`))
		c.expect(acknowledged("1", `"resourceSubscriptions":["r://a"]`))
		s.ResourceUpdated("r://a")
		c.expect(updated("1", "r://a"))
	})
	bubble(t, "SUB-05 AMB-30 a bare server acknowledges nothing, and holds", func(t *testing.T) {
		c := serveLines(t, mcp.NewServer("fixture", "1.0.0", nil))
		c.send(listenRequest("1", everything+`,"resourceSubscriptions":["r://a"]`))
		c.expect(acknowledged("1", ""))
		time.Sleep(time.Hour) // of the bubble
		c.quiet()
	})
	for name, params := range map[string]string{
		"nothing": `"x":1`, "null": `"notifications":null`, "a list": `"notifications":[]`, "a number": `"notifications":{"toolsListChanged":1}`,
		"URIs that are no strings": `"notifications":{"resourceSubscriptions":[1]}`,
	} {
		bubble(t, "SUB-02 asking for "+name+" is refused", func(t *testing.T) {
			c := serveLines(t, newDynamic(t, nil).Server)
			c.send(modernRequest("1", "subscriptions/listen", params))
			c.expectError("1", mcp.CodeInvalidParams)
		})
	}
	bubble(t, "SUB-04 RES-02 legacy sessions have no such method", func(t *testing.T) {
		c := serveLines(t, newDynamic(t, nil).Server)
		c.openLegacy("2025-11-25")
		c.send(plainRequest("1", "subscriptions/listen", `"notifications":{}`))
		c.expectError("1", mcp.CodeMethodNotFound)
	})
	for _, tt := range []struct {
		name             string
		dynamic, watched bool
		want             string
	}{
		{"neither", false, false, `"resources":{}`}, {"listChanged", true, false, `"resources":{"listChanged":true}`},
		{"subscribe", false, true, `"resources":{"subscribe":true}`}, {"both", true, true, `"resources":{"subscribe":true,"listChanged":true}`},
	} {
		t.Run("RES-02 declared: "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Dynamic: tt.dynamic})
			if r := mcp.AddText(s, "r://a", "a", "", ""); tt.watched {
				r.Watchable()
			}
			if got := string(resultIn(t, ask(t, s, modernRequest("1", "server/discover")))["capabilities"]); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSubscriptionEnds(t *testing.T) {
	t.Parallel()
	bubble(t, "SUB-12 SUB-16 CAN-07 after a cancellation there is silence", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", everything), listenRequest("2", everything))
		c.expectAnyOrder(acknowledged("1", everything), acknowledged("2", everything))
		c.send(cancelNotice("1", "enough"))
		synctest.Wait()
		d.change("tools")
		c.expect(changed("2", "tools"))
		c.quiet()
		c.send(listenRequest("1", `"toolsListChanged":true`)) // the id is free again
		c.expect(acknowledged("1", `"toolsListChanged":true`))
	})
	bubble(t, "SUB-12 SUB-13 AMB-01 at the end of input: the result, one cancellation, then nothing", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest(`"x"`, everything))
		c.expect(acknowledged(`"x"`, everything))
		if err := c.hangUp(); err != nil {
			t.Error(err)
		}
		if got := c.rest(); !slices.Equal(got, []string{closedGracefully(`"x"`), endNotice(`"x"`)}) {
			t.Errorf("%q", got)
		}
	})
	bubble(t, "SUB-12 SUB-13 AMB-01 at shutdown", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("5", everything))
		c.expect(acknowledged("5", everything))
		if err := d.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if got := c.rest(); !slices.Equal(got, []string{closedGracefully("5"), endNotice("5")}) {
			t.Errorf("%q", got)
		}
	})
	bubble(t, "SUB-13 at shutdown, with a change that was not told yet", func(t *testing.T) {
		for range 20 {
			d := newDynamic(t, nil)
			c := serveLines(t, d.Server)
			c.send(listenRequest("5", everything))
			c.expect(acknowledged("5", everything))
			done := make(chan error, 1)
			go func() { done <- d.Shutdown(context.Background()) }()
			d.change("tools")
			if err := <-done; err != nil {
				t.Error(err)
			}
			got := slices.DeleteFunc(c.rest(), func(line string) bool { return line == changed("5", "tools") })
			if !slices.Equal(got, []string{closedGracefully("5"), endNotice("5")}) {
				t.Fatalf("%q", got)
			}
		}
	})
	bubble(t, "SUB-03 a change during set-up comes after the acknowledgement", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := newScriptConn()
		gate := make(chan struct{})
		c.writeErr = func() error { <-gate; return nil }
		ctx, stop := context.WithCancel(t.Context())
		served := c.serve(ctx, d.Server)
		c.in <- step{msg: listenRequest("1", everything)}
		synctest.Wait() // the acknowledgement is being written
		d.change("prompts")
		d.change("tools")
		d.change("tools")
		close(gate)
		for _, want := range []string{acknowledged("1", everything), changed("1", "tools"), changed("1", "prompts")} {
			if got := <-c.out; got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		}
		stop()
		<-served
	})
	bubble(t, "SUB-04 Limits.Streams bounds them, and one that ends makes room", func(t *testing.T) {
		d := newDynamic(t, &mcp.ServerOptions{Limits: mcp.Limits{Streams: 2}})
		c := serveLines(t, d.Server)
		for _, id := range []string{"1", "2"} {
			c.send(listenRequest(id, ""))
			c.expect(acknowledged(id, ""))
		}
		c.send(listenRequest("3", ""))
		if text := c.expectError("3", mcp.CodeInternalError); !strings.Contains(text, "too many subscriptions (2)") {
			t.Error(text)
		}
		c.send(cancelNotice("1", ""))
		synctest.Wait()
		c.send(listenRequest("4", ""))
		c.expect(acknowledged("4", ""))
	})
	bubble(t, "SUB-18 neither progress nor logs on its stream", func(t *testing.T) {
		d := newDynamic(t, &mcp.ServerOptions{Logging: true})
		d.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				mcp.Progress(ctx, 1, 0, "before")
				mcp.Logger(ctx).Error("before")
				v, err := next(ctx, req)
				mcp.Progress(ctx, 2, 0, "after")
				mcp.Logger(ctx).Error("after")
				return v, err
			}
		})
		c := serveLines(t, d.Server)
		c.send(plainRequest("1", "subscriptions/listen", `"notifications":{}`, modernMeta(token1, `"io.modelcontextprotocol/logLevel":"debug"`)))
		c.expect(acknowledged("1", ""))
		c.quiet()
	})
	bubble(t, "M32 SUB-12 middleware that fails after the acknowledgement ends it", func(t *testing.T) {
		d := newDynamic(t, &mcp.ServerOptions{Limits: mcp.Limits{Streams: 1}})
		d.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				if v, err := next(ctx, req); err != nil || req.Method() != "subscriptions/listen" || len(req.Meta()["fail"]) == 0 {
					return v, err
				}
				return nil, errors.New("no more")
			}
		})
		c := serveLines(t, d.Server)
		for range 3 { // each leaves its place
			c.send(plainRequest("1", "subscriptions/listen", `"notifications":{`+everything+`}`, modernMeta(`"fail":1`)))
			c.expect(acknowledged("1", everything))
			c.expectError("1", mcp.CodeInternalError)
			c.expect(endNotice("1"))
		}
		d.change("tools")
		c.quiet()
	})
	bubble(t, "M32 middleware that calls next twice gets an error", func(t *testing.T) {
		d := newDynamic(t, nil)
		var second error
		d.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				v, err := next(ctx, req)
				_, second = next(ctx, req)
				return v, err
			}
		})
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", everything))
		c.expect(acknowledged("1", everything))
		d.change("tools")
		c.expect(changed("1", "tools"))
		c.quiet()
		if second == nil {
			t.Error("no error")
		}
	})
}

// TestSlowSubscriber holds a subscriber that reads nothing to costing the others nothing.
func TestSlowSubscriber(t *testing.T) {
	t.Parallel()
	bubble(t, "C110 SUB-11 three listeners, of which one never reads, and 100 changes", func(t *testing.T) {
		d := newDynamic(t, nil)
		slow := newScriptConn()
		slow.writeErr = func() error { <-slow.closed; return errors.New("gone") }
		ctx, stop := context.WithCancel(t.Context())
		served := slow.serve(ctx, d.Server)
		slow.in <- step{msg: listenRequest("1", everything+`,"resourceSubscriptions":["r://a"]`)}
		synctest.Wait()
		others := []*lineClient{serveLines(t, d.Server), serveLines(t, d.Server)}
		for _, c := range others {
			c.send(listenRequest("1", everything+`,"resourceSubscriptions":["r://a"]`))
			c.expect(acknowledged("1", everything+`,"resourceSubscriptions":["r://a"]`))
		}
		for range 100 {
			d.change("tools")
			d.ResourceUpdated("r://a")
			for _, c := range others {
				c.expectAnyOrder(changed("1", "tools"), updated("1", "r://a"))
			}
		}
		stop()
		<-served
	})
	bubble(t, "C110 what a slow one missed comes once, of each kind", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := newScriptConn()
		c.out = make(chan string) // written when it is read
		ctx, stop := context.WithCancel(t.Context())
		served := c.serve(ctx, d.Server)
		filter := everything + `,"resourceSubscriptions":["r://a","r://b"]`
		c.in <- step{msg: listenRequest("1", filter)}
		synctest.Wait()
		for range 100 {
			d.change("tools", "resources")
			d.ResourceUpdated("r://b")
			d.ResourceUpdated("r://a")
		}
		var got []string
		for synctest.Wait(); ; synctest.Wait() {
			select {
			case line := <-c.out:
				got = append(got, line)
				continue
			default:
			}
			break
		}
		// What had left before the peer stopped reading may come once more.
		if n := len(got); got[0] != acknowledged("1", filter) || n < 5 || n > 9 {
			t.Errorf("%d messages: %q", n, got)
		}
		for _, want := range []string{changed("1", "tools"), changed("1", "resources"), updated("1", "r://a"), updated("1", "r://b")} {
			if !slices.Contains(got, want) {
				t.Errorf("missing: %s", want)
			}
		}
		go func() { // let it end
			for range c.out {
			}
		}()
		stop()
		<-served
		close(c.out)
	})
}

// TestSubscriptionsUnderLoad holds each of many subscriptions to beginning with its acknowledgement while lists change.
func TestSubscriptionsUnderLoad(t *testing.T) {
	t.Parallel()
	d := newDynamic(t, nil)
	c := serveLines(t, d.Server)
	var changes sync.WaitGroup
	stop := make(chan struct{})
	changes.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				d.ResourceUpdated("r://a")
			}
		}
	})
	const n = 50
	seen := make(map[string]bool)
	for i := range n {
		c.send(listenRequest(fmt.Sprint(i), `"resourceSubscriptions":["r://a"]`))
	}
	for open := 0; open < n; {
		line := c.next()
		id := line[strings.LastIndexByte(line, ':')+1 : len(line)-len("}}}")]
		switch {
		case strings.Contains(line, "acknowledged"):
			seen[id] = true
			open++
		case !seen[id]:
			t.Fatalf("SUB-03 before its acknowledgement: %s", line)
		}
	}
	close(stop)
	changes.Wait()
}
