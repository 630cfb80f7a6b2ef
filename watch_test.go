package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

// honouredURIs are the resources that an acknowledgement says are watched.
func honouredURIs(t testing.TB, line string) []string {
	t.Helper()
	var ack struct {
		Notifications struct {
			URIs []string `json:"resourceSubscriptions"`
		} `json:"notifications"`
	}
	if err := json.Unmarshal(parseWire(t, line).Params, &ack); err != nil {
		t.Fatal(err)
	}
	return ack.Notifications.URIs
}

// TestWatchers shows how much one subscription can watch, and what becomes of it while the server changes.
func TestWatchers(t *testing.T) {
	t.Parallel()
	bubble(t, "M28 SUB-05 C110 no more than 10,000 resources, however many are asked for", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		uris := make([]string, 10_001)
		for i := range uris {
			uris[i] = fmt.Sprintf("t://%d", i)
		}
		list, err := json.Marshal(uris)
		if err != nil {
			t.Fatal(err)
		}
		c.send(listenRequest("1", `"resourceSubscriptions":`+string(list)))
		if got := honouredURIs(t, c.next()); !slices.Equal(got, uris[:10_000]) {
			t.Fatalf("%d are watched", len(got))
		}
		d.ResourceUpdated("t://10000")
		c.quiet()
		d.ResourceUpdated("t://9999")
		c.expect(updated("1", "t://9999"))
	})
	bubble(t, "M28 SUB-10 changes of one resource are told in the order in which they came to be due", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := newScriptConn()
		gate := make(chan struct{})
		c.writeErr = func() error { <-gate; return nil }
		ctx, stop := context.WithCancel(t.Context())
		served := c.serve(ctx, d.Server)
		c.in <- step{msg: listenRequest("1", `"resourceSubscriptions":["r://a","r://b","t://1"]`)}
		synctest.Wait() // the acknowledgement is being written
		for _, uri := range []string{"t://1", "r://b", "r://a", "r://b", "t://1"} {
			d.ResourceUpdated(uri)
		}
		close(gate)
		synctest.Wait()
		var got []string
		for len(c.out) > 0 {
			got = append(got, <-c.out)
		}
		if want := []string{updated("1", "t://1"), updated("1", "r://b"), updated("1", "r://a")}; len(got) == 0 || !slices.Equal(got[1:], want) {
			t.Errorf("%q", got)
		}
		stop()
		<-served
	})
	bubble(t, "M28 SUB-10 what was watched may go and come back", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", `"resourceSubscriptions":["r://a"]`))
		c.expect(acknowledged("1", `"resourceSubscriptions":["r://a"]`))
		for _, change := range []func(u *mcp.Update) error{
			func(u *mcp.Update) error { return u.RemoveResource("r://a") },
			func(u *mcp.Update) error { mcp.AddText(u, "r://a", "a", "", "new").Watchable(); return nil },
		} {
			if err := d.Update(change); err != nil {
				t.Fatal(err)
			}
			c.quiet() // it did not ask about lists
			d.ResourceUpdated("r://a")
			c.expect(updated("1", "r://a"))
		}
	})
	bubble(t, "M28 SUB-11 an update that changes nothing is told to nobody", func(t *testing.T) {
		d := newDynamic(t, nil)
		c := serveLines(t, d.Server)
		c.send(listenRequest("1", everything))
		c.expect(acknowledged("1", everything))
		d.change()
		if err := d.Update(func(u *mcp.Update) error {
			mcp.AddText(u, "r://gone", "gone", "", "")
			return u.RemoveResource("r://gone")
		}); err != nil {
			t.Fatal(err)
		}
		if err := d.Update(func(u *mcp.Update) error { mcp.AddTool(u, "late", "", returning[struct{}]("")).Hidden(); return nil }); err != nil {
			t.Fatal(err)
		}
		c.quiet()
		if line := ask(t, d.Server, modernCall("1", "late", `{}`)); !strings.Contains(line, `"result"`) {
			t.Error(line)
		}
	})
}
