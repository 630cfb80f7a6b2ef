package mcp_test

import (
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestOAuth is the way from no token to the answer of a tool, as each end sees it.
func TestOAuth(t *testing.T) {
	t.Parallel()
	for _, versions := range [][]string{{"2026-07-28"}, {"2025-11-25"}, {"2025-06-18"}} {
		i := newIssuer(t, "/tenant")
		s := newSite(t, i).serve()
		c, err := s.dial(s.authorizer(), versions...)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := s.tool(c, "who"); err != nil || text != "alice" {
			t.Fatalf("%s, %v", text, err)
		}
		authorize, token := i.at("/authorize"), i.at("/token")
		if len(authorize) != 1 || len(token) != 1 {
			t.Fatalf("%d authorizations, %d tokens", len(authorize), len(token))
		}
		asked, exchanged := authorize[0].Form, token[0].Form
		t.Run("LAU-05 AUC-06 PKCE with S256, "+versions[0], func(t *testing.T) {
			if asked.Get("code_challenge_method") != "S256" || len(asked.Get("code_challenge")) != 43 || len(exchanged.Get("code_verifier")) < 43 {
				t.Errorf("%v, %v", asked, exchanged)
			}
		})
		t.Run("AUC-08 LAU-03 the resource in both requests, "+versions[0], func(t *testing.T) {
			if asked.Get("resource") != s.url() || exchanged.Get("resource") != s.url() {
				t.Errorf("%v, %v", asked, exchanged)
			}
		})
		t.Run("AUC-10 the scope of the challenge, "+versions[0], func(t *testing.T) {
			if asked.Get("scope") != "read" {
				t.Errorf("%v", asked)
			}
		})
		t.Run("AUC-19 a state, "+versions[0], func(t *testing.T) {
			if len(asked.Get("state")) < 22 {
				t.Errorf("%v", asked)
			}
		})
		t.Run("AUC-21 the token with every request, in the header, "+versions[0], func(t *testing.T) {
			s.mu.Lock()
			defer s.mu.Unlock()
			with := 0
			for _, r := range s.seen {
				if r.URL.RawQuery != "" {
					t.Errorf("query %s", r.URL.RawQuery)
				}
				if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer access-") && r.URL.Path == "/mcp" {
					with++
				} else if r.URL.Path == "/mcp" && with > 0 {
					t.Errorf("%s without a token", r.Method)
				}
			}
			if with == 0 {
				t.Error("no token was sent")
			}
		})
		t.Run("AUC-15 AUC-16 LAU-05 nothing but what was asked for, "+versions[0], func(t *testing.T) {
			var names []string
			for name := range asked {
				names = append(names, name)
			}
			slices.Sort(names)
			want := []string{"client_id", "code_challenge", "code_challenge_method", "redirect_uri", "resource", "response_type", "scope", "state"}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOAuthSubscriptions(t *testing.T) {
	t.Parallel()
	t.Run("AUC-21 subscriptions have the token", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i)
		srv := mcp.NewServer("s", "1", &mcp.ServerOptions{Dynamic: true})
		s.mux.Handle("/mcp", newHandler(t, srv, &mcp.HTTPOptions{Auth: s.auth}))
		s.mux.Handle("/.well-known/", s.auth.MetadataHandler())
		c := s.client()
		sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, r := range s.seen {
			if r.Header.Get("Mcp-Method") == "subscriptions/listen" && !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer access-") {
				t.Errorf("%v", r.Header)
			}
		}
	})
}

func TestOAuthConcurrency(t *testing.T) {
	t.Parallel()
	t.Run("AUC-28 fifty calls at once, one authorization", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		c := s.client()
		i.revoke(true)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if text, err := s.tool(c, "who"); err != nil || text != "alice" {
					t.Errorf("%s, %v", text, err)
				}
			})
		}
		wg.Wait()
		if n := len(i.at("/authorize")); n != 2 {
			t.Errorf("%d authorizations, with the first", n)
		}
	})
	t.Run("AUC-28 a user who says no says so to all who wait", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		c := s.client()
		i.revoke(true)
		const callers = 30
		i.answer = func(back url.Values) { back.Del("code"); back.Set("error", "access_denied") }
		s.visit = func(page string) (url.Values, error) {
			for s.refused() < callers+1 { // until all of them wait, or are about to; the first request of all was one, too
				runtime.Gosched()
			}
			return consent(page)
		}
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				if _, err := s.tool(c, "who"); err == nil || !strings.Contains(err.Error(), "access_denied") {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		if n := len(s.visits()) - 1; n > callers/3 {
			t.Errorf("the user was asked %d times", n)
		}
	})
	t.Run("AUC-28 one refresh for all who wait", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		c := s.client()
		if _, err := s.tool(c, "who"); err != nil {
			t.Fatal(err)
		}
		i.revoke(false)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if text, err := s.tool(c, "who"); err != nil || text != "alice" {
					t.Errorf("%s, %v", text, err)
				}
			})
		}
		wg.Wait()
		if n := len(i.at("/token")); n != 2 || len(i.at("/authorize")) != 1 {
			t.Errorf("%d requests for tokens, with the first", n)
		}
	})
}

func TestOAuthScopes(t *testing.T) {
	t.Parallel()
	t.Run("AUC-11 AUC-12 M19 a step up asks for the earlier scopes too", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		s.auth.Scopes = nil // write is in no list
		c := s.client()
		for _, tool := range []string{"who", "write", "write"} {
			if text, err := s.tool(c, tool); err != nil || text != "alice" {
				t.Fatalf("%s: %s, %v", tool, text, err)
			}
		}
		var scopes []string
		for _, r := range i.at("/authorize") {
			scopes = append(scopes, r.Form.Get("scope"))
		}
		if diff := cmp.Diff([]string{"read", "write read"}, scopes); diff != "" {
			t.Errorf("scopes (-want +got):\n%s", diff)
		}
	})
	t.Run("AUC-13 steps up end, for each operation by itself", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		i.grant = func(string) string { return "read" }
		s := newSite(t, i).serve()
		c := s.client()
		for range 3 {
			if _, err := s.tool(c, "write"); err == nil || !strings.Contains(err.Error(), `"read" "write"`) {
				t.Errorf("%v", err)
			}
		}
		if n := len(i.at("/authorize")); n != 2 {
			t.Errorf("%d authorizations, with the first", n)
		}
		if text, err := s.tool(c, "who"); err != nil || text != "alice" {
			t.Errorf("another operation: %s, %v", text, err)
		}
	})
	for name, tt := range map[string]struct {
		challenge, resource, server []string
		own                         []string
		want                        string
		none                        bool
	}{
		"AUC-10 those of the resource":                                    {nil, []string{"a", "b"}, nil, nil, "a b", false},
		"AUC-10 AUC-11 the challenge's, which the resource does not list": {[]string{"c"}, []string{"a", "b"}, nil, nil, "c", false},
		"AUC-10 none": {nil, nil, nil, nil, "", true},
		"AUC-25 offline_access, if the server has it": {[]string{"a"}, nil, []string{"a", "offline_access"}, nil, "a offline_access", false},
		"AUC-25 no offline_access, if it does not":    {[]string{"a", "offline_access"}, []string{"offline_access"}, []string{"a"}, nil, "a", false},
		"AUC-25 no offline_access alone":              {nil, nil, []string{"offline_access"}, nil, "", true},
		"AUC-10 those of the options besides":         {[]string{"a"}, nil, nil, []string{"z"}, "a z", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "")
			if tt.server != nil {
				i.metadata["scopes_supported"] = tt.server
			}
			s := newSite(t, i)
			s.opts.Scopes = tt.own
			gate := i.verify(s.url())
			s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
				if _, err := gate(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r); err != nil {
					value := "Bearer"
					if tt.challenge != nil {
						value += ` scope="` + strings.Join(tt.challenge, " ") + `"`
					}
					w.Header().Set("WWW-Authenticate", value)
					w.WriteHeader(401)
					return
				}
				newHandler(t, whoServer(s.log), nil).ServeHTTP(w, r)
			})
			s.mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
				writeDoc(w, 200, map[string]any{"resource": s.url(), "authorization_servers": []string{i.id()}, "scopes_supported": tt.resource})
			})
			if _, err := s.call(s.authorizer(), "who"); err != nil {
				t.Fatal(err)
			}
			form := i.at("/authorize")[0].Form
			if got, sent := form["scope"]; strings.Join(got, " ") != tt.want || sent == tt.none {
				t.Errorf("scope %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOAuthTokens(t *testing.T) {
	t.Parallel()
	t.Run("AUC-08 AUC-26 a token that expires is refreshed, for the same resource", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		i.lifetime = time.Hour
		s := newSite(t, i).serve()
		store := new(mapStore)
		s.opts.Store = store
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		store.edit(func(doc map[string]any) {
			if doc["expires"] != nil && doc["access_token"] != nil {
				doc["expires"] = "2020-01-01T00:00:00Z"
			}
		})
		if text, err := s.call(s.authorizer(), "who"); err != nil || text != "alice" {
			t.Fatalf("%s, %v", text, err)
		}
		tokens := i.at("/token")
		if len(tokens) != 2 || len(i.at("/authorize")) != 1 {
			t.Fatalf("%d requests for tokens", len(tokens))
		}
		last := tokens[len(tokens)-1].Form
		if last.Get("grant_type") != "refresh_token" || last.Get("resource") != s.url() || last.Get("refresh_token") == "" {
			t.Errorf("%v", last)
		}
	})
	t.Run("AUC-26 a token that hardly lasts is used nevertheless", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		i.lifetime = 2 * time.Second
		s := newSite(t, i).serve()
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("AUC-26 without a refresh token the user signs in again", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		i.refresh = false
		s := newSite(t, i).serve()
		c := s.client()
		if _, err := s.tool(c, "who"); err != nil {
			t.Fatal(err)
		}
		i.revoke(true)
		if text, err := s.tool(c, "who"); err != nil || text != "alice" {
			t.Errorf("%s, %v", text, err)
		}
		if n := len(i.at("/authorize")); n != 2 {
			t.Errorf("%d authorizations", n)
		}
	})
	t.Run("AUC-26 a refresh token that is refused: the user signs in again", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		c := s.client()
		if _, err := s.tool(c, "write"); err != nil {
			t.Fatal(err)
		}
		i.revoke(true)
		if text, err := s.tool(c, "write"); err != nil || text != "alice" {
			t.Errorf("%s, %v", text, err)
		}
		all := i.at("/authorize")
		if len(all) != 3 || all[2].Form.Get("scope") != "read write" {
			t.Errorf("%d authorizations: %v", len(all), all[len(all)-1].Form)
		}
	})
	t.Run("AUC-13 a server that refuses what was issued for it", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i)
		s.auth.Verify = i.verify("https://elsewhere.example")
		s.serve()
		if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), "just issued") {
			t.Errorf("%v", err)
		}
		if n := len(i.at("/authorize")); n != 1 {
			t.Errorf("%d authorizations", n)
		}
	})
	t.Run("AUC-22 each server gets its own tokens", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, ""), newIssuer(t, "")
		s1, s2 := newSite(t, one).serve(), newSite(t, two).serve()
		a := s1.authorizer()
		s2.opts = s1.opts
		for range 2 {
			for _, s := range []*site{s1, s2} {
				if text, err := s.call(a, "who"); err != nil || text != "alice" {
					t.Fatalf("%s, %v", text, err)
				}
			}
		}
		for _, s := range []*site{s1, s2} {
			s.mu.Lock()
			defer s.mu.Unlock()
			other := one
			if s == s1 {
				other = two
			}
			for _, r := range s.seen {
				if token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); token != "" {
					if _, stolen := other.tokens[token]; stolen {
						t.Errorf("%s got %s", s.url(), token)
					}
				}
			}
		}
	})
	t.Run("C124 AUC-28 no token follows to another origin", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i)
		other := newSite(t, i)
		s.mux.Handle("/.well-known/", s.auth.MetadataHandler())
		gate := i.verify(s.url())
		s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
			if _, err := gate(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r); err != nil {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(401)
				return
			}
			http.Redirect(w, r, other.url(), http.StatusTemporaryRedirect)
		})
		if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), "another origin") {
			t.Errorf("%v", err)
		}
		if len(other.seen) != 0 {
			t.Errorf("the other origin got %v", other.seen[0].Header)
		}
	})
	t.Run("C128 without an authorizer 401 is the error", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, newIssuer(t, "")).serve()
		_, err := s.dial(nil)
		refused, ok := errors.AsType[*mcp.HTTPError](err)
		if !ok || refused.Status != 401 {
			t.Errorf("%v", err)
		}
	})
}
