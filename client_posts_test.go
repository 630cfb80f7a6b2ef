package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// post is a request in HTTP that a client sent.
type post struct {
	verb   string
	header http.Header
	body   string
}

// TestPosts looks at every request that a client sends over HTTP.
func TestPosts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var posts []post
	answers := map[string]string{
		"server/discover": discovered, "tools/list": `"tools":[]`, "prompts/list": `"prompts":[]`, "resources/list": `"resources":[]`,
		"resources/templates/list": `"resourceTemplates":[]`, "tools/call": `"content":[]`, "prompts/get": `"messages":[]`,
		"resources/read": `"contents":[]`, "completion/complete": `"completion":{"values":[]}`, "com.example/do": "",
	}
	transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		posts = append(posts, post{r.Method, r.Header.Clone(), string(body)})
		mu.Unlock()
		var m clientMessage
		if err := json.Unmarshal(body, &m); err != nil {
			return nil, err
		}
		result := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, answers[m.Method])
		return answerOf("application/json", io.NopCloser(strings.NewReader(result))), nil
	})}})
	c, err := mcp.Dial(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { mustCall(t, c, "t", nil) })
	}
	group.Wait()
	mustList(t, c)
	for _, err := range c.Prompts(t.Context()) {
		t.Error(err)
	}
	for _, err := range c.Resources(t.Context()) {
		t.Error(err)
	}
	for _, err := range c.Templates(t.Context()) {
		t.Error(err)
	}
	_, err1 := c.GetPrompt(t.Context(), "p", nil)
	_, err2 := c.ReadResource(t.Context(), "x://a")
	_, err3 := mcp.Do[struct{}](t.Context(), c, "com.example/do", nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Error(err)
	}
	if len(posts) != 16 {
		t.Errorf("%d requests", len(posts))
	}
	t.Run("HTTP-05 HTTP-07 each is a POST of its own, of one request", func(t *testing.T) {
		ids := make(map[string]bool)
		for _, p := range posts {
			var m clientMessage
			if err := json.Unmarshal([]byte(p.body), &m); err != nil || p.verb != http.MethodPost || m.ID == nil || m.Method == "" || ids[string(m.ID)] {
				t.Errorf("%s %s: %v", p.verb, p.body, err)
			}
			ids[string(m.ID)] = true
		}
	})
	t.Run("HTTP-06 each accepts both kinds of answer", func(t *testing.T) {
		for _, p := range posts {
			accept := strings.Split(strings.ReplaceAll(p.header.Get("Accept"), " ", ""), ",")
			if !slices.Contains(accept, "application/json") || !slices.Contains(accept, "text/event-stream") || p.header.Get("Content-Type") != "application/json" {
				t.Errorf("%v", p.header)
			}
		}
	})
	t.Run("HDR-01 HDR-02 headers repeat version and method of the body", func(t *testing.T) {
		methods := make(map[string]bool)
		for _, p := range posts {
			var m clientMessage
			if err := json.Unmarshal([]byte(p.body), &m); err != nil {
				t.Fatal(err)
			}
			methods[m.Method] = true
			want := http.Header{"Mcp-Method": {m.Method}, "Mcp-Protocol-Version": {strings.Trim(string(m.Params.Meta["io.modelcontextprotocol/protocolVersion"]), `"`)}}
			got := http.Header{"Mcp-Method": p.header.Values("Mcp-Method"), "Mcp-Protocol-Version": p.header.Values("Mcp-Protocol-Version")}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", m.Method, diff)
			}
		}
		if len(methods) != 9 {
			t.Errorf("methods %v", methods)
		}
	})
}

// closingBody notices that the client is done with it.
type closingBody struct {
	io.ReadCloser
	closed chan<- struct{}
}

func (b closingBody) Close() error {
	close(b.closed)
	return b.ReadCloser.Close()
}

func TestGivingUpOverHTTP(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		options []mcp.CallOption
		cancel  bool
	}{
		{"cancelling", nil, true},
		{"timing out", []mcp.CallOption{mcp.WithTimeout(time.Second)}, false},
	} {
		bubble(t, "HTTP-19 CAN-01 "+tt.name+" closes the stream, and no more is sent", func(t *testing.T) {
			var methods []string
			var closed chan struct{}
			transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
				m := messageOf(t, r)
				methods = append(methods, m.Method)
				if m.Method == "tools/call" {
					closed = make(chan struct{})
					return answerOf("text/event-stream", closingBody{lateBody{strings.NewReader(": wait\n\n"), r.Context()}, closed}), nil
				}
				return answerOf("application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, discovered)))), nil
			})}})
			c, err := mcp.Dial(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() { _, err := c.CallTool(ctx, "t", nil, tt.options...); failed <- err }()
			synctest.Wait()
			if tt.cancel {
				cancel()
			}
			if err := <-failed; !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			synctest.Wait()
			select {
			case <-closed:
			default:
				t.Error("the stream is open")
			}
			if got := strings.Join(methods, " "); got != "server/discover tools/call" {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestToolsLeftOut(t *testing.T) {
	t.Parallel()
	t.Run("XMH-08 the log says which tool, and why", func(t *testing.T) {
		t.Parallel()
		url := handled(t, func(w http.ResponseWriter, _ *http.Request, m clientMessage) {
			if m.Method == "server/discover" {
				writeResult(w, m, discovered)
				return
			}
			writeResult(w, m, `"tools":[{"name":"bad","inputSchema":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"a b"}}}},{"name":"good","inputSchema":{"type":"object"}}]`)
		})
		var book logBook
		c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), &mcp.ClientOptions{Logger: book.logger()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var names []string
		for tool, err := range c.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
		}
		if !slices.Equal(names, []string{"good"}) {
			t.Errorf("tools %q", names)
		}
		records := book.records(t, slog.LevelWarn)
		if len(records) != 1 || records[0]["tool"] != "bad" || !strings.Contains(fmt.Sprint(records[0]["reason"]), "x-mcp-header") {
			t.Errorf("log %v", records)
		}
	})
}

func TestCachesAreApart(t *testing.T) {
	t.Parallel()
	bubble(t, "CCH-08 what one client may see is not shown to another of its transport", func(t *testing.T) {
		lists := 0
		transport := mcp.Custom(func(context.Context) (mcp.Conn, error) {
			f := newFakeServer(t)
			f.talk(func(m clientMessage) string {
				if m.Method == "server/discover" {
					return discovered
				}
				lists++
				return fmt.Sprintf(`"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"private"`, lists)
			})
			return f, nil
		})
		for i := range 2 {
			c, err := mcp.Dial(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time from the cache of its own
				for tool, err := range c.Tools(t.Context()) {
					if err != nil || tool.Name != fmt.Sprintf("t%d", i+1) {
						t.Errorf("client %d: %v, %v", i, tool, err)
					}
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestQuestionsToHosts looks at what the functions of the host are given.
func TestQuestionsToHosts(t *testing.T) {
	t.Parallel()
	bubble(t, "ELI-21 a page is named in full, and not fetched", func(t *testing.T) {
		const page = "http://xn--80ak6aa92e.example/pay?a=1&b=%20#part"
		var asked []string
		fetched := 0
		opts := &mcp.ClientOptions{ElicitURL: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.URL)
			return &mcp.ElicitResult{Action: "decline"}, nil
		}}
		transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != "server.example" {
				fetched++
				return nil, errors.New("not to be fetched")
			}
			m, result := messageOf(t, r), discovered
			if m.Method == "tools/call" {
				if result = `"content":[]`; len(asked) == 0 {
					result = `"resultType":"input_required","inputRequests":{"u":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"` + page + `"}}}`
				}
			}
			return answerOf("application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, result)))), nil
		})}})
		c, err := mcp.Dial(t.Context(), transport, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if mustCall(t, c, "t", nil); !slices.Equal(asked, []string{page}) || fetched != 0 {
			t.Errorf("asked %q, fetched %d times", asked, fetched)
		}
	})
	bubble(t, "SMP-13 the messages of one request are not kept for the next", func(t *testing.T) {
		var seen []string
		texts := []string{"one", "two"}
		c := dialAnswering(t, &mcp.ClientOptions{Sample: func(_ context.Context, r *mcp.SampleRequest) (*mcp.SampleResult, error) {
			for _, m := range r.Messages {
				seen = append(seen, fmt.Sprint(m.Role, ": ", m.Content.(*mcp.TextContent).Text))
			}
			return &mcp.SampleResult{Content: mcp.Text("Hello"), Model: "m"}, nil
		}}, func(clientMessage) string {
			if n := len(seen); n < len(texts) {
				return `"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"` + texts[n] + `"}}]}}}`
			}
			return `"content":[]`
		})
		mustCall(t, c, "t", nil)
		if diff := cmp.Diff([]string{"user: one", "user: two"}, seen); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
	t.Run("ELI-03 what nothing answers is not declared, and what is has a mode", func(t *testing.T) {
		t.Parallel()
		for want, opts := range map[string]*mcp.ClientOptions{
			`{}`:                          nil,
			`{"elicitation":{"form":{}}}`: {ElicitForm: acceptForm},
			`{"elicitation":{"url":{}}}`:  {ElicitURL: acceptForm},
		} {
			f := newFakeServer(t)
			c := f.dial(opts)
			go func() {
				m := f.next()
				if got := string(m.Params.Meta["io.modelcontextprotocol/clientCapabilities"]); got != want {
					t.Errorf("declared %s, not %s", got, want)
				}
				f.result(m, `"content":[]`)
			}()
			mustCall(t, c, "t", nil)
		}
	})
}

// TestTaskResults has servers answer with a task to a client that did not declare tasks.
func TestTaskResults(t *testing.T) {
	t.Parallel()
	for method, call := range map[string]func(c *mcp.Client) error{
		"tools/call":     func(c *mcp.Client) error { _, err := c.CallTool(context.Background(), "t", nil); return err },
		"prompts/get":    func(c *mcp.Client) error { _, err := c.GetPrompt(context.Background(), "t", nil); return err },
		"resources/read": func(c *mcp.Client) error { _, err := c.ReadResource(context.Background(), "x://a"); return err },
	} {
		t.Run("TSK-03 a task in answer to "+method+" is invalid", func(t *testing.T) {
			t.Parallel()
			c := dialAnswering(t, nil, func(clientMessage) string {
				return `"resultType":"task","taskId":"1","status":"working","content":[],"messages":[],"contents":[]`
			})
			if err := call(c); err == nil || !strings.Contains(err.Error(), `unknown type "task"`) || !strings.Contains(err.Error(), method) {
				t.Errorf("error %v", err)
			}
		})
	}
}
