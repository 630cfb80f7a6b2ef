package mcp_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// relay is a server behind which each request of a client goes to a server value of its own.
func relay(t testing.TB, next func() *mcp.Server) mcp.Transport {
	return mcp.HTTP("http://localhost/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
		h, err := next().HTTPHandler(nil)
		if err != nil {
			return nil, err
		}
		w := httptest.NewRecorder()
		r.Host = "localhost"
		h.ServeHTTP(w, r)
		return w.Result(), nil
	})}})
}

type roundTrips func(*http.Request) (*http.Response, error)

func (f roundTrips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestFourRoundsOfClient has a client answer by itself what a handler asks in three rounds: in memory, and by HTTP, where
// each request meets another server value that shares only name and keys.
func TestFourRoundsOfClient(t *testing.T) {
	var reserved, served atomic.Int32
	server := func() *mcp.Server {
		served.Add(1)
		s := mcp.NewServer("rail", "1.0.0", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}})
		mcp.AddTool(s, "book", "Book a seat", func(ctx context.Context, _ noArgs) (string, error) {
			who, err := mcp.Elicit[nameForm](ctx, "who", "Who travels?")
			if err != nil {
				return "", err
			}
			seat, err := mcp.Step(ctx, "reserve", func(context.Context) (int32, error) { return 16 + reserved.Add(1), nil })
			if err != nil {
				return "", err
			}
			class, err := mcp.Choose(ctx, "class", "Which class?", "first", "second")
			if err != nil {
				return "", err
			}
			if ok, err := mcp.Confirm(ctx, "sure", fmt.Sprintf("Book seat %d?", seat)); err != nil || !ok {
				return "not booked", err
			}
			return fmt.Sprintf("%s, %s class, seat %d", who.Name, class, seat), nil
		})
		return s
	}
	for name, transport := range map[string]func() mcp.Transport{
		"in memory": func() mcp.Transport { return mcp.InMemory(server()) },
		"over HTTP": func() mcp.Transport { return relay(t, server) },
	} {
		t.Run("A61 M31 TOOL-27 "+name+" what is in a Step is done once in four rounds", func(t *testing.T) {
			reserved.Store(0)
			served.Store(0)
			var asked []string
			c, err := mcp.Dial(t.Context(), transport(), &mcp.ClientOptions{ElicitForm: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked = append(asked, r.Message)
				answers := map[string]string{"Who travels?": `{"name":"Ada"}`, "Which class?": `{"choice":"first"}`, "Book seat 17?": `{}`}
				return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(answers[r.Message])}, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := textOf(mustCall(t, c, "book", nil)); got != "Ada, first class, seat 17" {
				t.Errorf("got %q", got)
			}
			if diff := cmp.Diff([]string{"Who travels?", "Which class?", "Book seat 17?"}, asked); diff != "" {
				t.Error(diff)
			}
			if n := reserved.Load(); n != 1 {
				t.Errorf("reserved %d times", n)
			}
			if name == "over HTTP" && served.Load() < 4 {
				t.Errorf("%d servers", served.Load())
			}
		})
	}
}

// TestAskingIsAnswering reads all that a server sends while it asks for everything there is.
func TestAskingIsAnswering(t *testing.T) {
	s := newGated(nil)
	c := serveLines(t, s)
	asked := 0
	for _, tool := range []string{"form", "url", "sampling", "tools", "context", "roots", "gather", "reenter"} {
		t.Run("MRTR-01 BASE-01 "+tool+": no request of the server's, but a result", func(t *testing.T) {
			c.send(round{name: tool, args: `{"progress":true}`, meta: []string{`"progressToken":1`}}.line("1"))
			for {
				m := parseWire(t, c.next()) // which has no request of a server's
				if m.Method != "" {
					if m.Method != "notifications/progress" {
						t.Errorf("sent %s", m.Method)
					}
					continue
				}
				var res roundResult
				if err := json.Unmarshal(m.Result, &res); err != nil || res.Type != "input_required" || len(res.Requests) == 0 {
					t.Errorf("got %s", m.Result)
				}
				for key, r := range res.Requests {
					asked++
					if r.Method != "elicitation/create" && r.Method != "sampling/createMessage" && r.Method != "roots/list" {
						t.Errorf("MRTR-06 %s: %s", key, r.Method)
					}
				}
				return
			}
		})
	}
	if asked != 11 {
		t.Errorf("%d questions", asked)
	}
	t.Run("MRTR-13 M31 the state is sealed without any option, and holds nothing to be read", func(t *testing.T) {
		first := play(t, s, round{name: "form"})
		again := play(t, s, round{name: "form"})
		if first.State == again.State || bytes.Contains(opened(t, first.State), []byte("elicitation")) || len(first.State) < 100 {
			t.Errorf("states %s and %s", first.State, again.State)
		}
		if err := mcp.NewServer("s", "1", &mcp.ServerOptions{StateKeys: [][]byte{}}).Check(); err == nil {
			t.Error("a server without keys is fine")
		}
	})
}

// TestElicitedValues is about the values that a form may hold.
func TestElicitedValues(t *testing.T) {
	type all struct {
		Text  string   `json:"text"`
		Ratio float64  `json:"ratio"`
		Count int      `json:"count"`
		Ok    bool     `json:"ok"`
		Tags  []string `json:"tags" jsonschema:"enum=a,enum=b"`
	}
	s := mcp.NewServer("asker", "1.0.0", nil)
	mcp.AddTool(s, "ask", "", func(ctx context.Context, _ noArgs) (string, error) {
		v, err := mcp.Elicit[all](ctx, "q", "Please")
		return fmt.Sprint(v), err
	})
	call := round{name: "ask"}
	first := play(t, s, call)
	const content = `{"text":"x","ratio":3.5,"count":2,"ok":false,"tags":["b","a"]}`
	t.Run("ELI-16 text, numbers, fractions too, booleans and lists of text", func(t *testing.T) {
		play(t, s, call.again(first, accepted("q", content))).says(t, "{x 3.5 2 false [b a]}")
	})
	for _, bad := range []string{`"text":{}`, `"text":null`, `"ratio":"3.5"`, `"count":2.5`, `"ok":"false"`, `"ok":0`, `"tags":["b",1]`, `"tags":"b"`, `"tags":[["b"]]`} {
		t.Run("ELI-16 not "+bad, func(t *testing.T) {
			name, _, _ := strings.Cut(bad, ":")
			var members []string
			for _, m := range []string{`"text":"x"`, `"ratio":3.5`, `"count":2`, `"ok":false`, `"tags":["b"]`} {
				if !strings.HasPrefix(m, name) {
					members = append(members, m)
				}
			}
			play(t, s, call.again(first, accepted("q", "{"+strings.Join(append(members, bad), ",")+"}"))).asks(t, "q")
		})
	}
}

// payments is a page that users are sent to, which knows them by its own means.
type payments struct {
	mu    sync.Mutex
	owner map[string]string // by page: the subject that was asked
	paid  map[string]bool
}

// open begins a page for a user, or goes on with one.
func (p *payments) open(subject string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := rand.Text()
	p.owner[id] = subject
	return "https://pay.example/" + id
}

// visit is what happens when a signed-in user opens a URL.
func (p *payments) visit(url, subject string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := url[strings.LastIndexByte(url, '/')+1:]
	if p.owner[id] == "" || p.owner[id] != subject {
		return errors.New("403")
	}
	p.paid[subject] = true
	return nil
}

func (p *payments) done(subject string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paid[subject]
}

// TestPageOwner sends a user to a page that others get hold of.
func TestPageOwner(t *testing.T) {
	p := &payments{owner: make(map[string]string), paid: make(map[string]bool)}
	s := mcp.NewServer("shop", "1.0.0", &mcp.ServerOptions{StateKeys: [][]byte{stateKey}})
	mcp.AddTool(s, "buy", "", func(ctx context.Context, _ noArgs) (string, error) {
		who := mcp.RequestFrom(ctx).Principal().Subject
		err := mcp.ElicitURL(ctx, "pay", "Pay for the order", p.open(who), func(context.Context) (bool, error) { return p.done(who), nil })
		return "bought by " + who, err
	})
	ada, eve := &mcp.Principal{Issuer: "https://id.example", Subject: "ada"}, &mcp.Principal{Issuer: "https://id.example", Subject: "eve"}
	call := round{name: "buy", meta: []string{clientMember + `{"name":"ada's own app","version":"1"}`}}
	first := playAs(t, s, ada, call)
	first.asks(t, "pay")
	url := first.Requests["pay"].Params.URL
	t.Run("ELI-28 the page of one user is not another's, though the URL be altered", func(t *testing.T) {
		for _, u := range []string{url, url[:len(url)-1] + "x", "https://pay.example/", "https://pay.example/ada"} {
			if p.visit(u, "eve") == nil {
				t.Errorf("eve opened %s", u)
			}
		}
		playAs(t, s, ada, call.again(first, acted("pay", "accept"))).asks(t, "pay")
	})
	t.Run("ELI-27 ELI-28 nor is the call, whatever a client says that it is", func(t *testing.T) {
		playAs(t, s, eve, call.again(first, acted("pay", "accept"))).faults(t, mcp.CodeInvalidParams, "requestState")
	})
	t.Run("ELI-23 the URL has nothing of the user's", func(t *testing.T) {
		if strings.Contains(url, "ada") || strings.Contains(url, "id.example") {
			t.Errorf("url %s", url)
		}
	})
	t.Run("ELI-28 who was asked goes on", func(t *testing.T) {
		if err := p.visit(url, "ada"); err != nil {
			t.Fatal(err)
		}
		playAs(t, s, ada, call.again(first, acted("pay", "accept"))).says(t, "bought by ada")
	})
}
