package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// age makes all that the store has of a kind expire: tokens, or with "client_id" registrations.
func (s *mapStore) age(kind string) {
	s.edit(func(doc map[string]any) {
		if doc[kind] != nil && doc["expires"] != nil {
			doc["expires"] = "2020-01-01T00:00:00Z"
		}
	})
}

// who calls a tool as a new process would, which has nothing but the store.
func (s *site) who() {
	s.t.Helper()
	if text, err := s.call(s.authorizer(), "who"); err != nil || text != "alice" {
		s.t.Fatalf("%s, %v", text, err)
	}
}

// grants returns by what tokens were asked for.
func (i *issuer) grants() []string {
	var kinds []string
	for _, r := range i.at("/token") {
		kinds = append(kinds, r.Form.Get("grant_type"))
	}
	return kinds
}

// expectNothingOf holds the issuer to have got no secret of another's.
func (i *issuer) expectNothingOf(t testing.TB, other *issuer) {
	t.Helper()
	for _, r := range i.requests {
		for _, secret := range other.secrets {
			if strings.Contains(r.Form.Encode()+r.JSON+fmt.Sprint(r.Header), secret) {
				t.Errorf("%s got %s", i.id(), secret)
			}
		}
	}
}

const byCode, byRefresh = "authorization_code", "refresh_token"

func TestOAuthRefresh(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"AUC-26 a new refresh token takes the place of the old one": false, "AUC-26 without a new refresh token the old one stays": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "")
			i.lifetime, i.keeps = time.Hour, keeps
			s := newSite(t, i).serve()
			store := new(mapStore)
			s.opts.Store = store
			s.who()
			for range 3 {
				store.age("access_token")
				s.who()
			}
			if diff := cmp.Diff([]string{byCode, byRefresh, byRefresh, byRefresh}, i.grants()); diff != "" {
				t.Errorf("tokens that were asked for (-want +got):\n%s", diff)
			}
			used := make(map[string]bool)
			for _, r := range i.at("/token")[1:] {
				used[r.Form.Get("refresh_token")] = true
			}
			if keeps != (len(used) == 1) || !keeps && len(used) != 3 {
				t.Errorf("%d refresh tokens were used", len(used))
			}
		})
	}
	t.Run("AUC-22 AUC-26 REG-09 a refresh token goes to no other authorization server", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, "/1"), newIssuer(t, "/2")
		for _, i := range []*issuer{one, two} { // which know the client by the same name
			i.metadata["client_id_metadata_document_supported"] = true
		}
		s := newSite(t, one).serve()
		s.opts.ClientMetadataURL = "https://app.example/client"
		c := s.client()
		for range 2 { // a token that has been good for something
			if _, err := s.tool(c, "who"); err != nil {
				t.Fatal(err)
			}
		}
		s.migrate(two)
		if text, err := s.tool(c, "who"); err != nil || text != "alice" {
			t.Fatalf("%s, %v", text, err)
		}
		if diff := cmp.Diff([]string{byCode}, two.grants()); diff != "" {
			t.Errorf("tokens that the second server was asked for (-want +got):\n%s", diff)
		}
		two.expectNothingOf(t, one)
	})
	t.Run("AUC-22 REG-09 nor when the user does not sign in there", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, "/1"), newIssuer(t, "/2")
		s := newSite(t, one).serve()
		c := s.client()
		if _, err := s.tool(c, "who"); err != nil {
			t.Fatal(err)
		}
		s.migrate(two)
		two.answer = func(back url.Values) { back.Del("code"); back.Set("error", "access_denied") }
		for range 3 {
			if _, err := s.tool(c, "who"); err == nil || !strings.Contains(err.Error(), "access_denied") {
				t.Errorf("error %v", err)
			}
		}
		if n := len(two.at("/token")); n != 0 {
			t.Errorf("the second server was asked for %d tokens", n)
		}
		two.expectNothingOf(t, one)
	})
	t.Run("AUC-13 AUC-26 a server that refuses what was refreshed: the user signs in again, once", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i)
		s.auth.Verify = func(ctx context.Context, token string, r *http.Request) (*mcp.Principal, error) {
			p, err := i.verify(s.url())(ctx, token, r)
			if err == nil && len(i.at("/token")) == 2 { // the one that was refreshed
				return nil, errors.New("not that one")
			}
			return p, err
		}
		s.serve()
		c := s.client()
		for range 2 {
			if _, err := s.tool(c, "who"); err != nil {
				t.Fatal(err)
			}
		}
		i.revoke(false)
		if text, err := s.tool(c, "who"); err != nil || text != "alice" {
			t.Fatalf("%s, %v", text, err)
		}
		if diff := cmp.Diff([]string{byCode, byRefresh, byCode}, i.grants()); diff != "" {
			t.Errorf("tokens that were asked for (-want +got):\n%s", diff)
		}
	})
}

// TestOAuthForgotten is about authorization servers that know the client, or its tokens, no more.
func TestOAuthForgotten(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*issuer, *site, *mapStore) {
		i := newIssuer(t, "")
		i.lifetime = time.Hour
		i.metadata["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
		s := newSite(t, i).serve()
		store := new(mapStore)
		s.opts.Store = store
		return i, s, store
	}
	t.Run("AUC-27 a client secret that has expired: the client registers again", func(t *testing.T) {
		t.Parallel()
		i, s, store := begin(t)
		i.expiry = 24 * time.Hour
		s.who()
		i.revoke(true)
		s.who()
		if n := len(i.at("/register")); n != 1 {
			t.Errorf("%d registrations before it expired", n)
		}
		store.age("client_id")
		i.revoke(true)
		s.who()
		if n := len(i.at("/register")); n != 2 {
			t.Errorf("%d registrations", n)
		}
	})
	t.Run("AUC-27 a client secret that does not expire", func(t *testing.T) {
		t.Parallel()
		i, s, store := begin(t)
		s.who()
		store.age("client_id")
		i.revoke(true)
		s.who()
		if n := len(i.at("/register")); n != 1 {
			t.Errorf("%d registrations", n)
		}
	})
	for why, registrations := range map[string]int{"invalid_client": 2, "unauthorized_client": 2, "invalid_grant": 1, "invalid_scope": 1} {
		t.Run("AUC-26 AUC-27 a refresh that is refused with "+why, func(t *testing.T) {
			t.Parallel()
			i, s, store := begin(t)
			s.who()
			i.refuses = func(form url.Values) string {
				if form.Get("grant_type") == byRefresh {
					return why
				}
				return ""
			}
			store.age("access_token")
			s.who() // signs in again, and goes on with that
			s.who()
			if diff := cmp.Diff([]string{byCode, byRefresh, byCode}, i.grants()); diff != "" {
				t.Errorf("tokens that were asked for (-want +got):\n%s", diff)
			}
			if n := len(i.at("/register")); n != registrations {
				t.Errorf("%d registrations, want %d", n, registrations)
			}
		})
		t.Run("AUC-27 a code that is refused with "+why, func(t *testing.T) {
			t.Parallel()
			i, s, _ := begin(t)
			refused := false
			i.refuses = func(url.Values) string {
				if refused {
					return ""
				}
				refused = true
				return why
			}
			if _, err := s.call(s.authorizer(), "who"); err == nil || !strings.Contains(err.Error(), why) {
				t.Fatalf("error %v", err)
			}
			s.who()
			if n := len(i.at("/register")); n != registrations {
				t.Errorf("%d registrations, want %d", n, registrations)
			}
		})
	}
	t.Run("AUC-27 what was given beforehand is kept", func(t *testing.T) {
		t.Parallel()
		i, s, _ := begin(t)
		s.opts.ClientID, s.opts.ClientSecret = "mine", "my secret"
		i.refuses = func(url.Values) string { return "invalid_client" }
		a := s.authorizer()
		for range 2 {
			if _, err := s.call(a, "who"); err == nil || !strings.Contains(err.Error(), "invalid_client") {
				t.Errorf("error %v", err)
			}
		}
		if n := len(i.at("/register")); n != 0 {
			t.Errorf("%d registrations", n)
		}
	})
	t.Run("AUC-26 an authorization server that is down: the refresh token is kept", func(t *testing.T) {
		t.Parallel()
		i, s, store := begin(t)
		s.who()
		endpoint := i.metadata["token_endpoint"]
		i.mu.Lock()
		i.metadata["token_endpoint"] = s.server.URL + "/nowhere-that-answers"
		i.mu.Unlock()
		s.mux.HandleFunc("/nowhere-that-answers", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		store.age("access_token")
		if _, err := s.call(s.authorizer(), "who"); err == nil {
			t.Fatal("no error")
		}
		i.mu.Lock()
		i.metadata["token_endpoint"] = endpoint
		i.mu.Unlock()
		s.who()
		if diff := cmp.Diff([]string{byCode, byRefresh}, i.grants()); diff != "" {
			t.Errorf("tokens that were asked for (-want +got):\n%s", diff)
		}
	})
}

// TestOAuthStepUp has tools that need scopes of which none names another's.
func TestOAuthStepUp(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*issuer, *site) {
		i := newIssuer(t, "")
		s := newSite(t, i)
		srv := whoServer(s.log)
		for tool, scope := range map[string]string{"a": "scope-a", "b": "scope-b", "again": "scope-a"} {
			mcp.AddTool(srv, tool, "", func(context.Context, struct{}) (string, error) { return tool, nil }).RequireScopes(scope)
		}
		s.mux.Handle("/mcp", newHandler(t, srv, &mcp.HTTPOptions{Auth: s.auth}))
		s.mux.Handle("/.well-known/", s.auth.MetadataHandler())
		return i, s
	}
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run("AUC-12 what was asked for before is asked for again, "+version, func(t *testing.T) {
			t.Parallel()
			i, s := begin(t)
			c, err := s.dial(s.authorizer(), version)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"a", "b", "a", "b"} {
				if text, err := s.tool(c, tool); err != nil || text != tool {
					t.Fatalf("%s, %v", text, err)
				}
			}
			var scopes []string
			for _, r := range i.at("/authorize") {
				scopes = append(scopes, r.Form.Get("scope"))
			}
			if diff := cmp.Diff([]string{"read", "scope-a read", "scope-b scope-a read"}, scopes); diff != "" {
				t.Errorf("scopes (-want +got):\n%s", diff)
			}
		})
		t.Run("AUC-13 in vain for one operation is not in vain for another with the same scope, "+version, func(t *testing.T) {
			t.Parallel()
			i, s := begin(t)
			i.grant = func(string) string { return "read" }
			c, err := s.dial(s.authorizer(), version)
			if err != nil {
				t.Fatal(err)
			}
			for n, tool := range []string{"a", "a", "again", "again", "a"} {
				if _, err := s.tool(c, tool); err == nil || !strings.Contains(err.Error(), "tools/call "+tool+" for want of") {
					t.Errorf("%s: %v", tool, err)
				}
				if want := []int{2, 2, 3, 3, 3}[n]; len(i.at("/authorize")) != want {
					t.Errorf("%s: %d authorizations, want %d", tool, len(i.at("/authorize")), want)
				}
			}
		})
	}
	t.Run("AUC-13 a server that always wants something else", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i)
		s.mux.Handle("/.well-known/", s.auth.MetadataHandler())
		var refusals atomic.Int32
		s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
			if n := refusals.Add(1); n <= 50 {
				s.admit(w, r, fmt.Sprint("scope-", n))
				return
			}
			http.Error(w, "enough", http.StatusTeapot)
		})
		if _, err := s.dial(s.authorizer(), "2026-07-28"); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%v", err)
		}
		if n := len(i.at("/authorize")); n != 3 || refusals.Load() != 4 {
			t.Errorf("%d authorizations, %d requests", n, refusals.Load())
		}
	})
}
