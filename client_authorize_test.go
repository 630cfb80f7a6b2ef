package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// admit lets a request in that has a token of the site's issuer with all the scopes; otherwise it has been answered.
func (s *site) admit(w http.ResponseWriter, r *http.Request, scopes ...string) bool {
	p, err := s.issuer.verify(s.url())(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer scope="read"`)
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	for _, scope := range scopes {
		if !slices.Contains(p.Scopes, scope) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=%q, scope=%q", "insufficient_scope", strings.Join(scopes, " ")))
			w.WriteHeader(http.StatusForbidden)
			return false
		}
	}
	return true
}

// serveOldest plays a server of revision 2024-11-05: GET opens the stream, and messages are posted elsewhere. Its tools,
// of whatever name, need one more scope.
func (s *site) serveOldest() *site {
	lines := make(chan string, 16)
	s.mux.Handle("/.well-known/", s.auth.MetadataHandler())
	s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.admit(w, r):
		case r.Method != http.MethodGet:
			http.NotFound(w, r)
		default:
			send := sseOf(w)
			send("event: endpoint\ndata: /messages?session=7\n\n")
			for {
				select {
				case line := <-lines:
					send("event: message\ndata: %s\n\n", line)
				case <-r.Context().Done():
					return
				}
			}
		}
	})
	s.mux.HandleFunc("/messages", func(w http.ResponseWriter, r *http.Request) {
		var m clientMessage
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			s.t.Error(err)
		}
		scopes, result := []string{"read"}, ""
		switch m.Method {
		case "initialize":
			result = `"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"oldest","version":"1"}`
		case "tools/call":
			scopes, result = []string{"read", "write"}, `"content":[{"type":"text","text":"done"}]`
		}
		if !s.admit(w, r, scopes...) {
			return
		}
		w.WriteHeader(http.StatusAccepted)
		if result != "" {
			lines <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, result)
		}
	})
	return s
}

// serveMoved serves at another path of the same origin, to which requests are redirected.
func (s *site) serveMoved() *site {
	s.mux.Handle("/moved", newHandler(s.t, whoServer(s.log), &mcp.HTTPOptions{Auth: s.auth}))
	s.mux.Handle("/.well-known/", s.auth.MetadataHandler())
	s.mux.Handle("/mcp", http.RedirectHandler("/moved", http.StatusTemporaryRedirect))
	return s
}

// onlooker notes what an Authorizer is asked.
type onlooker struct {
	mcp.Authorizer
	mu         sync.Mutex
	resources  []string // that tokens were asked for
	challenged []string // the URLs of refused requests
	refused    []string // their tokens
}

func (o *onlooker) Token(ctx context.Context, resource string) (string, error) {
	o.mu.Lock()
	o.resources = append(o.resources, resource)
	o.mu.Unlock()
	return o.Authorizer.Token(ctx, resource)
}

func (o *onlooker) Challenge(ctx context.Context, resp *http.Response) (bool, error) {
	o.mu.Lock()
	o.challenged = append(o.challenged, resp.Request.URL.String())
	if token := strings.TrimPrefix(resp.Request.Header.Get("Authorization"), "Bearer "); token != "" {
		o.refused = append(o.refused, token)
	}
	o.mu.Unlock()
	return o.Authorizer.Challenge(ctx, resp)
}

// TestOneResource has servers refuse requests that go elsewhere than to the server's URL: it is one grant all the same.
func TestOneResource(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		serve   func(*site) *site
		version string
		tool    string
		want    string
	}{
		"LSS-01 at the endpoint of the transport of 2024-11-05": {(*site).serveOldest, "2024-11-05", "any", "done"},
		"AUC-28 after a redirect":                               {(*site).serveMoved, "2026-07-28", "write", "alice"},
		"AUC-28 after a redirect, of a session":                 {(*site).serveMoved, "2025-11-25", "write", "alice"},
		"AUC-22 at the server's URL":                            {(*site).serve, "2026-07-28", "write", "alice"},
	} {
		t.Run("AUC-12 AUC-13 AUC-22 one grant, refused "+name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "")
			s := newSite(t, i)
			tt.serve(s)
			o := &onlooker{Authorizer: s.authorizer()}
			c, err := s.dial(o, tt.version)
			if err != nil {
				t.Fatal(err)
			}
			call := func() {
				t.Helper()
				if got, err := s.tool(c, tt.tool); err != nil || got != tt.want {
					t.Fatalf("%q, %v", got, err)
				}
			}
			call() // steps up
			i.revoke(false)
			call() // refreshes
			i.revoke(true)
			call() // signs in again
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			var asked []string
			for _, r := range i.at("/authorize") {
				asked = append(asked, sorted(r.Form.Get("scope"))+" for "+r.Form.Get("resource"))
			}
			both := "read write for " + s.url()
			if diff := cmp.Diff([]string{"read for " + s.url(), both, both}, asked); diff != "" {
				t.Errorf("authorizations (-want +got):\n%s", diff)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if urls := slices.Compact(slices.Concat(o.resources, o.challenged)); !slices.Equal(urls, []string{s.url()}) {
				t.Errorf("asked about %q", urls)
			}
			if len(o.refused) < 3 {
				t.Errorf("refused tokens that are told: %q", o.refused)
			}
		})
	}
}

// sorted puts the words of s in order.
func sorted(s string) string {
	words := strings.Fields(s)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestTokenWithEveryRequest is about the requests that hosts do not see.
func TestTokenWithEveryRequest(t *testing.T) {
	t.Parallel()
	for version, methods := range map[string][]string{
		"2026-07-28": {"POST"}, "2025-11-25": {"DELETE", "GET", "POST"}, "2025-06-18": {"DELETE", "GET", "POST"}, "2025-03-26": {"DELETE", "GET", "POST"},
	} {
		t.Run("AUC-21 LAU-05 "+version, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, newIssuer(t, "")).serve()
			c, err := s.dial(s.authorizer(), version)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := s.tool(c, "who"); err != nil || text != "alice" {
				t.Fatalf("%s, %v", text, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			var with []string
			without := 0
			for _, r := range s.seen {
				switch {
				case r.URL.Path != "/mcp":
				case strings.HasPrefix(r.Header.Get("Authorization"), "Bearer access-"):
					with = append(with, r.Method)
				default:
					without++
				}
			}
			slices.Sort(with)
			if diff := cmp.Diff(methods, slices.Compact(with)); diff != "" || without != 1 {
				t.Errorf("with a token (-want +got):\n%s%d without", diff, without)
			}
		})
	}
}
