package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestOAuthRegistration is about who the client says that it is.
func TestOAuthRegistration(t *testing.T) {
	t.Parallel()
	t.Run("AUC-24 REG-06 AUC-20 what is registered", func(t *testing.T) {
		t.Parallel()
		for redirect, application := range map[string]string{"http://127.0.0.1:9/callback": "native", "http://[::1]:9/x": "native", "https://app.example/callback": "web"} {
			i := newIssuer(t, "")
			s := newSite(t, i).serve()
			s.opts.RedirectURL = redirect
			if _, err := s.call(s.authorizer(), "who"); err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(i.at("/register")[0].JSON), &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{
				"client_name": "tests", "redirect_uris": []any{redirect}, "grant_types": []any{"authorization_code", "refresh_token"},
				"response_types": []any{"code"}, "token_endpoint_auth_method": "none", "application_type": application,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("registered (-want +got):\n%s", diff)
			}
		}
	})
	for name, tt := range map[string]struct {
		edit func(*site)
		want string // the client's id, or its beginning
		regs int
	}{
		"REG-01 REG-02 given beforehand, before all else": {func(s *site) {
			s.opts.ClientID, s.opts.ClientMetadataURL = "mine", "https://app.example/client"
			s.issuer.metadata["client_id_metadata_document_supported"] = true
		}, "mine", 0},
		"REG-01 REG-05 a metadata document, if the server reads them": {func(s *site) {
			s.opts.ClientMetadataURL = "https://app.example/client"
			s.issuer.metadata["client_id_metadata_document_supported"] = true
		}, "https://app.example/client", 0},
		"REG-01 REG-05 no metadata document, if it does not": {func(s *site) { s.opts.ClientMetadataURL = "https://app.example/client" }, "client ", 1},
		"REG-01 a registration":                              {func(*site) {}, "client ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "")
			s := newSite(t, i).serve()
			tt.edit(s)
			if _, err := s.call(s.authorizer(), "who"); err != nil {
				t.Fatal(err)
			}
			if got := i.at("/authorize")[0].Form.Get("client_id"); !strings.HasPrefix(got, tt.want) || len(i.at("/register")) != tt.regs {
				t.Errorf("client %q, %d registrations", got, len(i.at("/register")))
			}
		})
	}
	t.Run("REG-01 none of them: the user is told what to do", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		delete(i.metadata, "registration_endpoint")
		s := newSite(t, i).serve()
		if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), "OAuthOptions.ClientID") || !strings.Contains(err.Error(), i.id()) {
			t.Errorf("%v", err)
		}
	})
	t.Run("REG-07 a refusal is explained", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		i.metadata["registration_endpoint"] = s.server.URL + "/refuse"
		var bodies []string
		var mu sync.Mutex
		s.mux.HandleFunc("/refuse", func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			bodies = append(bodies, r.Method)
			writeDoc(w, 400, map[string]any{"error": "invalid_redirect_uri", "error_description": "only https"})
		})
		_, err := s.dial(s.authorizer())
		if err == nil || !strings.Contains(err.Error(), "invalid_redirect_uri") || !strings.Contains(err.Error(), "only https") || !strings.Contains(err.Error(), "127.0.0.1:9") || len(bodies) != 1 {
			t.Errorf("%v, %d tries", err, len(bodies))
		}
	})
	t.Run("REG-07 one adjusted try", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		i.metadata["registration_endpoint"] = s.server.URL + "/pedant"
		tries := 0
		s.mux.HandleFunc("/pedant", func(w http.ResponseWriter, r *http.Request) {
			var doc map[string]any
			_ = json.NewDecoder(r.Body).Decode(&doc)
			if tries++; tries > 1 && len(doc["grant_types"].([]any)) == 1 {
				doc["client_id"] = "adjusted"
				writeDoc(w, 201, doc)
				return
			}
			writeDoc(w, 400, map[string]any{"error": "invalid_client_metadata"})
		})
		if _, err := s.call(s.authorizer(), "who"); err != nil || tries != 2 {
			t.Errorf("%v after %d tries", err, tries)
		}
	})
	t.Run("REG-08 REG-09 AUC-22 another authorization server: the client registers there anew", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, "/1"), newIssuer(t, "/2")
		s := newSite(t, one).serve()
		c := s.client()
		if _, err := s.tool(c, "who"); err != nil {
			t.Fatal(err)
		}
		s.migrate(two)
		if text, err := s.tool(c, "who"); err != nil || text != "alice" {
			t.Fatalf("%s, %v", text, err)
		}
		if len(one.at("/register")) != 1 || len(two.at("/register")) != 1 || len(one.at("/token")) != 1 {
			t.Errorf("%d and %d registrations, %d tokens of the first", len(one.at("/register")), len(two.at("/register")), len(one.at("/token")))
		}
		for _, r := range two.requests {
			if strings.Contains(r.Form.Encode()+r.JSON, url.QueryEscape(one.id())) {
				t.Errorf("the second server learned of the first: %+v", r)
			}
		}
	})
	t.Run("REG-08 a store that mixes authorization servers up", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, "/1"), newIssuer(t, "/2")
		s := newSite(t, one).serve()
		s.opts.Store = new(carelessStore)
		s.who()
		s.migrate(two)
		s.who()
		if got := two.at("/authorize")[0].Form.Get("client_id"); !strings.HasSuffix(got, two.id()) || len(two.at("/register")) != 1 {
			t.Errorf("client %q, %d registrations", got, len(two.at("/register")))
		}
	})
	t.Run("REG-08 REG-10 credentials of one authorization server are not tried with another", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, "/1"), newIssuer(t, "/2")
		s := newSite(t, one).serve()
		s.opts.ClientID, s.opts.ClientSecret = "mine", "my secret"
		one.secrets = append(one.secrets, "my secret")
		c := s.client()
		if _, err := s.tool(c, "who"); err != nil {
			t.Fatal(err)
		}
		s.migrate(two)
		if _, err := s.tool(c, "who"); err == nil || !strings.Contains(err.Error(), one.id()) {
			t.Errorf("%v", err)
		}
		if len(two.requests) != 0 {
			t.Errorf("the second server got %+v", two.requests)
		}
	})
	t.Run("REG-10 nor by another process that goes on with the store", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, "/1"), newIssuer(t, "/2")
		s := newSite(t, one).serve()
		s.opts.ClientID, s.opts.Store = "mine", new(mapStore)
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		s.migrate(two)
		if _, err := s.call(s.authorizer(), "who"); err == nil || !strings.Contains(err.Error(), one.id()) || len(two.requests) != 0 {
			t.Errorf("%v; the second server got %+v", err, two.requests)
		}
	})
	t.Run("REG-10 the issuer of the options alone", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		s.opts.ClientID, s.opts.Issuer = "mine", "https://login.example"
		if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), "OAuthOptions.Issuer") || len(i.requests) != 0 {
			t.Errorf("%v; %d requests", err, len(i.requests))
		}
	})
	t.Run("REG-11 the id of a metadata document is the same everywhere", func(t *testing.T) {
		t.Parallel()
		one, two := newIssuer(t, "/1"), newIssuer(t, "/2")
		for _, i := range []*issuer{one, two} {
			i.metadata["client_id_metadata_document_supported"] = true
		}
		s := newSite(t, one).serve()
		s.opts.ClientMetadataURL = "https://app.example/client"
		c := s.client()
		if _, err := s.tool(c, "who"); err != nil {
			t.Fatal(err)
		}
		s.migrate(two)
		if _, err := s.tool(c, "who"); err != nil {
			t.Fatal(err)
		}
		if got := two.at("/authorize")[0].Form.Get("client_id"); got != "https://app.example/client" || len(two.at("/register")) != 0 {
			t.Errorf("client %q", got)
		}
	})
	for method, check := range map[string]func(r issued) bool{
		"client_secret_basic": func(r issued) bool {
			id, secret, ok := (&http.Request{Header: r.Header}).BasicAuth()
			return ok && id == "my+id" && secret == "s%3A+%2F%3F" && r.Form.Get("client_secret") == "" // form-encoded first
		},
		"client_secret_post": func(r issued) bool {
			return r.Header.Get("Authorization") == "" && r.Form.Get("client_id") == "my id" && r.Form.Get("client_secret") == "s: /?"
		},
	} {
		t.Run("AUC-27 "+method, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "")
			i.metadata["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt", method, "none"}
			s := newSite(t, i).serve()
			s.opts.ClientID, s.opts.ClientSecret = "my id", "s: /?"
			i.secrets = append(i.secrets, "s: /?")
			if _, err := s.call(s.authorizer(), "who"); err != nil {
				t.Fatal(err)
			}
			if r := i.at("/token")[0]; !check(r) {
				t.Errorf("%v %v", r.Header["Authorization"], r.Form)
			}
		})
	}
	t.Run("AUC-27 none", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		if r := i.at("/token")[0]; r.Header.Get("Authorization") != "" || r.Form.Get("client_secret") != "" || r.Form.Get("client_id") == "" {
			t.Errorf("%v %v", r.Header["Authorization"], r.Form)
		}
	})
	t.Run("AUC-27 the secret of a registration", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		i.metadata["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
		s := newSite(t, i).serve()
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		_, secret, ok := (&http.Request{Header: i.at("/token")[0].Header}).BasicAuth()
		if raw, err := url.QueryUnescape(secret); !ok || err != nil || !strings.HasPrefix(raw, "secret:+ /") {
			t.Errorf("%q", secret)
		}
	})
}

// carelessStore keeps one registration, whoever it is of.
type carelessStore struct{ mapStore }

func (s *carelessStore) Load(ctx context.Context, issuer, resource string) ([]byte, error) {
	if resource == "" {
		issuer = ""
	}
	return s.mapStore.Load(ctx, issuer, resource)
}

func (s *carelessStore) Save(ctx context.Context, issuer, resource string, data []byte) error {
	if resource == "" {
		issuer = ""
	}
	return s.mapStore.Save(ctx, issuer, resource, data)
}

// migrate has the site served by another authorization server.
func (s *site) migrate(to *issuer) {
	s.t.Helper()
	auth := *s.auth
	auth.Servers, auth.Verify = []string{to.id()}, to.verify(s.url())
	handler, metadata := newHandler(s.t, whoServer(s.log), &mcp.HTTPOptions{Auth: &auth}), auth.MetadataHandler()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mux = http.NewServeMux()
	s.mux.Handle("/mcp", handler)
	s.mux.Handle("/.well-known/", metadata)
}
