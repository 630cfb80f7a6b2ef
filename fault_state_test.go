package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

const badState = "error -32602: Invalid params: requestState is not valid for this request; make the call anew, without it"

// askingRound is the first round of a call that asks for a name.
var askingRound = round{name: "ask"}

// state is what the first round of a call ends with.
func (p *peer) state() roundResult {
	p.s.t.Helper()
	p.send(askingRound.line("1"))
	p.answer()
	res := readRound(p.s.t, p.message)
	res.asks(p.s.t, "who")
	return res
}

// reply is the second round, with that state.
func (p *peer) reply(state string) string {
	p.send(askingRound.again(roundResult{State: state}, accepted("who", `{"name":"Ada"}`)).line("2"))
	return p.answer()
}

// TestFaultsOfStates is about states that were made up, or come once too often.
func TestFaultsOfStates(t *testing.T) {
	var ahead string // a state that a replica issued whose clock is two hours ahead
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(2 * time.Hour)
		s := newFaultSite(t, onLines, faultRow[*faultSite]{set: withKey})
		p := s.peer()
		ahead = p.state().State
		p.vanish()
		s.end(t)
	})
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "C122 forged states",
			want: map[string]string{onLines: "1000 × " + badState, onHTTP: "1000 × 200 " + badState},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer p.vanish()
				genuine := p.state().State
				var saw []string
				for i := range 1000 { // every piece of a genuine one comes to be another's
					n := i % (len(genuine) - 4)
					saw = append(saw, p.reply(genuine[:n]+genuine[n+1:]+genuine[n:n+1]+"A"))
				}
				s.unharmed()
				if good := p.reply(genuine); !strings.HasSuffix(good, "result Ada") {
					s.t.Errorf("the genuine one: %s", good)
				}
				return times(saw)
			},
		},
		{
			name: "MRTR-12 a state that is replayed by many at once",
			set: func(o *mcp.ServerOptions, _ *mcp.HTTPOptions) {
				var spent sync.Map
				o.Spend = func(_ context.Context, id string, _ time.Time) (bool, error) {
					_, before := spent.LoadOrStore(id, true)
					return !before, nil
				}
			},
			want: map[string]string{onLines: "19 × " + badState + ", 1 × result Ada", onHTTP: "19 × 200 " + badState + ", 1 × 200 result Ada"},
			inject: func(s *faultSite) string {
				first := s.peer()
				state := first.state().State
				first.vanish()
				saw := make([]string, faultPeers)
				var all sync.WaitGroup
				for i := range saw {
					p := s.peer()
					all.Go(func() {
						defer p.vanish()
						saw[i] = p.reply(state)
					})
				}
				s.unharmed()
				all.Wait()
				return times(saw)
			},
		},
		{
			name: "a state of a replica whose clock is ahead",
			set:  withKey,
			want: map[string]string{onLines: "result Ada", onHTTP: "200 result Ada"},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer p.vanish()
				s.unharmed()
				return p.reply(ahead)
			},
		},
	})
}

func withKey(o *mcp.ServerOptions, _ *mcp.HTTPOptions) { o.StateKeys = [][]byte{stateKey} }

const endForm = "20060102150405"

// untilTime takes a token for the time at which it expires, and one that is no time for one that never does.
func untilTime(_ *mcp.ServerOptions, o *mcp.HTTPOptions) {
	o.Auth = &mcp.Auth{Resource: "http://localhost/mcp", Servers: []string{issuerURL}, Verify: func(_ context.Context, token string, _ *http.Request) (*mcp.Principal, error) {
		expires, err := time.Parse(endForm, token)
		if err != nil && token != "for-ever" {
			return nil, errors.New("no such token")
		}
		return &mcp.Principal{Issuer: issuerURL, Subject: "ada", Expires: expires}, nil
	}}
}

// TestFaultsOfClocks is about clocks that leap, in the midst of what has an end.
func TestFaultsOfClocks(t *testing.T) {
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "a clock that leaps a day ahead between two rounds",
			want: map[string]string{onLines: badState, onHTTP: "the end, then 200 " + badState},
			inject: func(s *faultSite) string {
				p := s.peer()
				state := p.state().State
				time.Sleep(24 * time.Hour)
				s.unharmed()
				if s.carrier == onLines {
					defer p.vanish()
					return p.reply(state)
				}
				idle := p.answer() // the connection was closed meanwhile
				p.vanish()
				p = s.peer()
				defer p.vanish()
				return idle + ", then " + p.reply(state)
			},
		},
		{
			name: "a clock that leaps a day ahead within a session",
			want: map[string]string{onSessions: "404 error -32600: Invalid Request: there is no such session, or it has ended; begin a new one with initialize, without Mcp-Session-Id"},
			inject: func(s *faultSite) string {
				p := s.peer()
				p.vanish()
				time.Sleep(24 * time.Hour)
				s.unharmed()
				return again(p, plainRequest("1", "ping"))
			},
		},
		{
			name: "a clock that leaps over the end of a token",
			set:  untilTime,
			want: map[string]string{
				onHTTP:     "200 result x, then 401 error -32600: Invalid Request: the access token is not valid here, or has expired",
				onSessions: "200 result x, then 401 error -32600: Invalid Request: the access token is not valid here, or has expired",
			},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer p.vanish()
				token := "Authorization: Bearer " + time.Now().Add(30*time.Second).Format(endForm)
				call := s.call(1, "echo", `{"text":"x"}`)
				p.send(call, token)
				before := p.answer()
				time.Sleep(time.Minute)
				s.unharmed()
				p.send(call, token)
				return before + ", then " + p.answer()
			},
		},
	})
}

// TestFaultsOfStores is about sessions and their events, as many as there can be.
func TestFaultsOfStores(t *testing.T) {
	noSession := "404 error -32600: Invalid Request: there is no such session, or it has ended; begin a new one with initialize, without Mcp-Session-Id"
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "C115 a flood of sessions",
			set:  func(o *mcp.ServerOptions, _ *mcp.HTTPOptions) { o.Limits = mcp.Limits{Sessions: 100} },
			want: map[string]string{onSessions: "98 × 200 result , 1902 × " + noSession},
			inject: func(s *faultSite) string {
				var all []*peer
				for range 2000 {
					p := s.peer()
					p.vanish()
					all = append(all, p)
				}
				s.unharmed()
				var saw []string
				for _, p := range all {
					saw = append(saw, again(p, plainRequest("1", "ping")))
				}
				time.Sleep(time.Hour)
				return times(saw)
			},
		},
		{
			name: "M15 C115 events that nobody reads, more than are kept",
			set:  func(o *mcp.ServerOptions, _ *mcp.HTTPOptions) { o.Limits = mcp.Limits{Events: 100} },
			want: map[string]string{onSessions: "20 × 200 : error: the events after this one are not kept any more"},
			inject: func(s *faultSite) string {
				all := s.peers(func(p *peer) string {
					return p.wire(plainRequest("1", "tools/call", callParams("progress", `{"count":1000}`), `"_meta":{"progressToken":1}`))
				})
				var ids []string
				for _, p := range all {
					line, err := "", error(nil)
					for !strings.HasPrefix(line, "id: ") {
						if line, err = p.in.ReadString('\n'); err != nil {
							s.t.Fatal(err)
						}
					}
					ids = append(ids, line)
				}
				s.unharmed()
				time.Sleep(time.Minute)
				var saw []string
				for i, p := range all {
					saw = append(saw, resumed(p, ids[i]))
					p.vanish()
				}
				time.Sleep(time.Hour)
				return times(saw)
			},
		},
	})
}

// resumed asks for what came after an event, and returns what the stream says before it ends.
func resumed(p *peer, id string) string {
	conn := p.s.dial()
	defer conn.Close()
	session := &httpSession{id: p.session, version: "2025-11-25"}
	fmt.Fprint(conn, written(p.s.t, session.get("Last-Event-ID: "+strings.TrimSpace(strings.TrimPrefix(id, "id: ")))))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return ended("")
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return ended(string(body))
	}
	return fmt.Sprint(resp.StatusCode, " ", strings.Join(strings.Fields(string(body)), " "))
}
