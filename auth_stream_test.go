package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// tokenLife is how long the tokens of brief last.
const tokenLife = 30 * time.Minute

// brief serves d to tokens that name the time until which they are good.
func brief(t testing.TB, d *dynamic) http.Handler {
	verify := func(_ context.Context, token string, _ *http.Request) (*mcp.Principal, error) {
		p := &mcp.Principal{Subject: "alice"}
		if token == "forever" {
			return p, nil
		}
		var seconds int64
		if _, err := fmt.Sscanf(token, "until-%d", &seconds); err != nil {
			return nil, err
		}
		p.Expires = time.Unix(seconds, 0)
		return p, nil
	}
	return newHandler(t, d.Server, &mcp.HTTPOptions{Auth: &mcp.Auth{Verify: verify}})
}

// newBrief is a token of this moment.
func newBrief() string { return fmt.Sprintf("until-%d", time.Now().Add(tokenLife).Unix()) }

// TestStreamsEndWithTokens is about streams for which nobody is asked for a token again.
func TestStreamsEndWithTokens(t *testing.T) {
	t.Parallel()
	bubble(t, "AUS-06 AUS-07 a subscription ends when its token does, and its client may come back", func(t *testing.T) {
		n := servePipes(t, brief(t, newDynamic(t, nil)))
		token := newBrief()
		listen := func() *http.Request {
			return modernPost(listenRequest("1", everything), "Authorization: Bearer "+token)
		}
		from := time.Now()
		st := n.stream(t, listen())
		st.expect("comment", acknowledged("1", everything))
		for got := st.next(); got != "end"; got = st.next() {
			if got != "comment" {
				t.Fatalf("got %s", got)
			}
		}
		if lasted := time.Since(from); lasted != tokenLife {
			t.Errorf("it lasted %v", lasted)
		}
		if a := fetch(t, n.client(), "http://localhost/mcp", listen()); a.status != 401 {
			t.Errorf("with the old token: %d %s", a.status, a.body)
		}
	})
	for _, version := range []string{"2025-11-25", "2025-06-18"} {
		bubble(t, "AUS-06 AUS-07 so does the stream of a session, "+version, func(t *testing.T) {
			h := brief(t, newDynamic(t, nil))
			n := servePipes(t, h)
			s := beginHTTPSession(t, h, version, "", "Authorization: Bearer forever")
			from := time.Now()
			st := n.events(t, s.get("Authorization: Bearer "+newBrief()))
			if version == "2025-11-25" {
				st.primed()
			}
			if ev, ok := st.next(); ok {
				t.Errorf("got %+v", ev)
			}
			if lasted := time.Since(from); lasted != tokenLife {
				t.Errorf("it lasted %v", lasted)
			}
			if a := s.exchange(s.post(plainRequest("2", "tools/list"), "Authorization: Bearer forever")); a.status != 200 {
				t.Errorf("the session ended too: %d %s", a.status, a.body)
			}
		})
	}
	bubble(t, "AUS-07 tokens that do not end cut nothing, and calls go on", func(t *testing.T) {
		d := newDynamic(t, nil)
		mcp.AddTool(d.Server, "slow", "", func(ctx context.Context, _ struct{}) (string, error) {
			time.Sleep(2 * tokenLife)
			return "done", ctx.Err()
		})
		n := servePipes(t, brief(t, d))
		st := openFor(t, n.client(), "http://localhost/mcp", modernPost(listenRequest("1", everything), "Authorization: Bearer forever"), 3*time.Hour)
		st.expect("comment", acknowledged("1", everything))
		silence := make(chan string)
		go func() {
			got := st.next()
			for got == "comment" {
				got = st.next()
			}
			silence <- got
		}()
		call := openFor(t, n.client(), "http://localhost/mcp", modernPost(modernCall("1", "slow", `{}`), "Authorization: Bearer "+newBrief()), 3*time.Hour)
		if a := readAnswer(t, call.resp); a.status != 200 || !strings.Contains(a.body, "done") {
			t.Errorf("%d %s", a.status, a.body)
		}
		d.change("tools")
		if got := <-silence; got != changed("1", "tools") {
			t.Errorf("got %s", got)
		}
	})
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		bubble(t, "AUC-21 the client comes back with another token, "+version, func(t *testing.T) {
			d := newDynamic(t, nil)
			n := servePipes(t, brief(t, d))
			c, err := mcp.Dial(t.Context(), mcp.HTTP("http://localhost/mcp", &mcp.HTTPClientOptions{Client: n.client(), Auth: freshTokens{}}), &mcp.ClientOptions{Versions: []string{version}})
			if err != nil {
				t.Fatal(err)
			}
			sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
			if err != nil {
				t.Fatal(err)
			}
			var seen []mcp.Event
			done := make(chan struct{})
			go func() {
				defer close(done)
				for e, err := range sub.Events() {
					if err != nil {
						t.Error(err)
					}
					seen = append(seen, e)
				}
			}()
			time.Sleep(2*tokenLife + tokenLife/2)
			synctest.Wait()
			before := len(seen)
			d.change("tools")
			synctest.Wait()
			if len(seen) != before+1 {
				t.Errorf("events %v, of which %d before the change", seen, before)
			}
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
			<-done
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// freshTokens is an Authorizer whose tokens are of the moment.
type freshTokens struct{}

func (freshTokens) Token(context.Context, string) (string, error) { return newBrief(), nil }

func (freshTokens) Challenge(context.Context, *http.Response) (bool, error) { return true, nil }
