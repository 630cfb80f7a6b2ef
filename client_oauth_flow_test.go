package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestOAuthDiscovery is about what is fetched, and what stops the client.
func TestOAuthDiscovery(t *testing.T) {
	t.Parallel()
	const inserted, root = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"
	for name, tt := range map[string]struct {
		challenge string // resource_metadata, from the server's URL
		at        string // where the metadata is
		resource  string // that it names, from the server's URL
		asked     []string
		refusal   string // of the client
	}{
		"AUC-01 AUC-02 where the challenge says":           {"/meta", "/meta", "/mcp", []string{"/meta"}, ""},
		"AUC-02 LAU-04 at the path":                        {"", inserted, "/mcp", []string{inserted}, ""},
		"AUC-02 LAU-04 at the root":                        {"", root, "", []string{inserted, root}, ""},
		"AUC-02 the challenge leads nowhere":               {"/meta", inserted, "/mcp", []string{"/meta"}, "no metadata"},
		"AUC-03 C124 it is about another host":             {"/meta", "/meta", "https://evil.example/mcp", []string{"/meta"}, "evil.example"},
		"AUC-03 it is about another path":                  {"/meta", "/meta", "/other", []string{"/meta"}, "/other"},
		"AUC-03 it is about a path that begins so":         {"/meta", "/meta", "/mc", []string{"/meta"}, "/mc"},
		"AUC-03 it is about nothing":                       {"/meta", "/meta", "-", []string{"/meta"}, "not about"},
		"C124 SEC-01 the challenge leads into the cloud":   {"http://169.254.169.254/meta", "", "", nil, "not https"},
		"C124 SEC-01 the challenge leads there with https": {"https://169.254.169.254/meta", "", "", nil, "not an address of the internet"},
		"C124 SEC-01 the challenge leads to a file":        {"file:///etc/passwd", "", "", nil, "https"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "")
			s := newSite(t, i)
			full := func(path string) string {
				if strings.Contains(path, "://") {
					return path
				}
				return s.server.URL + path
			}
			gate := i.verify(full(tt.resource))
			s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
				if _, err := gate(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r); err != nil {
					w.Header().Add("WWW-Authenticate", `Negotiate dG9rZW4=, Basic realm="a, b"`)
					value := `DPoP algs="ES256", bearer realm="x \"y, z\""`
					if tt.challenge != "" {
						value += `, resource_metadata="` + full(tt.challenge) + `"`
					}
					w.Header().Add("WWW-Authenticate", value)
					w.WriteHeader(401)
					return
				}
				newHandler(t, whoServer(s.log), nil).ServeHTTP(w, r)
			})
			if tt.at != "" {
				s.mux.HandleFunc(tt.at, func(w http.ResponseWriter, _ *http.Request) {
					doc := map[string]any{"resource": full(tt.resource), "authorization_servers": []string{i.id()}}
					if tt.resource == "-" {
						delete(doc, "resource")
					}
					writeDoc(w, 200, doc)
				})
			}
			_, err := s.call(s.authorizer(), "who")
			if (err == nil) != (tt.refusal == "") || err != nil && !strings.Contains(err.Error(), tt.refusal) {
				t.Errorf("error %v, want %q", err, tt.refusal)
			}
			if diff := cmp.Diff(tt.asked, s.asks()); diff != "" {
				t.Errorf("fetched (-want +got):\n%s", diff)
			}
			if err != nil && len(i.requests) > 0 {
				t.Errorf("the authorization server got %+v", i.requests)
			}
			if err == nil && i.at("/authorize")[0].Form.Get("resource") != full(tt.resource) {
				t.Errorf("AUC-08: resource %v", i.at("/authorize")[0].Form)
			}
		})
	}
	for name, tt := range map[string]struct {
		edit func(map[string]any)
		want string
	}{
		"AUC-05 another issuer":                           {func(m map[string]any) { m["issuer"] = "https://evil.example" }, "another issuer"},
		"AUC-05 the issuer with a slash":                  {func(m map[string]any) { m["issuer"] = m["issuer"].(string) + "/" }, "another issuer"},
		"AUC-07 no PKCE":                                  {func(m map[string]any) { delete(m, "code_challenge_methods_supported") }, "PKCE"},
		"AUC-06 AUC-07 PKCE without S256":                 {func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }, "S256"},
		"SEC-02 C124 a script to open":                    {func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)" }, "authorization_endpoint"},
		"SEC-02 C124 a file to open":                      {func(m map[string]any) { m["authorization_endpoint"] = "file:///bin/sh" }, "authorization_endpoint"},
		"SEC-02 data to open":                             {func(m map[string]any) { m["authorization_endpoint"] = "data:text/html,x" }, "authorization_endpoint"},
		"SEC-02 a page without https":                     {func(m map[string]any) { m["authorization_endpoint"] = "http://login.example/authorize" }, "authorization_endpoint"},
		"AUC-20 SEC-01 a token endpoint without https":    {func(m map[string]any) { m["token_endpoint"] = "http://10.0.0.1/token" }, "token_endpoint"},
		"AUC-07 no authorization endpoint":                {func(m map[string]any) { delete(m, "authorization_endpoint") }, "no authorization"},
		"SEC-01 C124 a registration in a private network": {func(m map[string]any) { m["registration_endpoint"] = "https://10.0.0.1/register" }, "not an address of the internet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "/t")
			tt.edit(i.metadata)
			s := newSite(t, i).serve()
			if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if len(s.visits()) != 0 {
				t.Errorf("the user was sent to %v", s.pages)
			}
		})
	}
}

// TestOAuthReach has a server of the internet send the client to other networks.
func TestOAuthReach(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int32
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		writeDoc(w, 200, map[string]any{"resource": "https://mcp.example/mcp", "authorization_servers": []string{"https://login.example"}})
	}))
	defer here.Close()
	port := here.Listener.Addr().(*net.TCPAddr).Port
	for _, origin := range []string{
		"http://127.0.0.1:%d", "http://localhost:%d", "https://localhost:%d", "http://[::1]:%d", "http://[::ffff:127.0.0.1]:%d", "http://127.1.2.3:%d", "https://0.0.0.0:%d",
		"https://10.0.0.1:%d", "https://192.168.1.1:%d", "https://[::ffff:10.0.0.1]:%d", "https://[fd00::1]:%d",
	} {
		address := fmt.Sprintf(origin+"/metadata", port)
		t.Run("SEC-01 C124 from the internet to "+origin, func(t *testing.T) {
			a, err := mcp.NewOAuth(&mcp.OAuthOptions{Open: func(page string) error { return errors.New("sent to " + page) }})
			if err != nil {
				t.Fatal(err)
			}
			req, err := http.NewRequest(http.MethodPost, "https://mcp.example/mcp", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp := &http.Response{StatusCode: 401, Request: req, Header: http.Header{"Www-Authenticate": {`Bearer resource_metadata="` + address + `"`}}}
			if _, err := a.Challenge(t.Context(), resp); err == nil || !strings.Contains(err.Error(), "not an address of the internet") {
				t.Errorf("error %v", err)
			}
			if n := fetched.Load(); n != 0 {
				t.Errorf("fetched %d times", n)
			}
		})
	}
}

// TestOAuthResponse is about how users come back.
func TestOAuthResponse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		metadata func(map[string]any)
		answer   func(url.Values)
		want     string // "": the client goes on
		hidden   string // is not in the error
	}{
		"C125 AUC-16 the issuer":                      {nil, nil, "", ""},
		"C125 AUC-16 none, and none is promised":      {unpromised, func(v url.Values) { v.Del("iss") }, "", ""},
		"C125 AUC-16 none, though it is promised":     {nil, func(v url.Values) { v.Del("iss") }, "always says so", ""},
		"C125 AUC-16 another one":                     {nil, func(v url.Values) { v.Set("iss", "https://evil.example") }, "another issuer", "evil"},
		"AUC-16 another one, though none is promised": {unpromised, func(v url.Values) { v.Set("iss", "https://evil.example") }, "another issuer", "evil"},
		"AUC-16 an empty one":                         {unpromised, func(v url.Values) { v.Set("iss", "") }, "another issuer", ""},
		"C125 AUC-17 with a slash":                    {nil, func(v url.Values) { v.Set("iss", v.Get("iss")+"/") }, "another issuer", ""},
		"AUC-17 in another case":                      {nil, func(v url.Values) { v.Set("iss", strings.ToUpper(v.Get("iss"))) }, "another issuer", ""},
		"AUC-17 with another form of the path":        {nil, func(v url.Values) { v.Set("iss", strings.Replace(v.Get("iss"), "/t", "/%74", 1)) }, "another issuer", ""},
		"AUC-17 with a dot in the path":               {nil, func(v url.Values) { v.Set("iss", strings.Replace(v.Get("iss"), "/t", "/./t", 1)) }, "another issuer", ""},
		"AUC-18 C125 an error of another issuer": {nil, func(v url.Values) {
			v.Del("code")
			v.Set("iss", "https://evil.example")
			v.Set("error", "call_evil")
			v.Set("error_description", "evil words")
		}, "another issuer", "evil"},
		"AUC-18 an error of nobody, though that is needed": {nil, func(v url.Values) { v.Del("code"); v.Del("iss"); v.Set("error", "call_evil") }, "always says so", "evil"},
		"AUC-18 an error of the issuer": {nil, func(v url.Values) {
			v.Del("code")
			v.Set("error", "access_denied")
			v.Set("error_description", "not today")
		}, `access_denied: "not today"`, ""},
		"AUC-19 another state":          {nil, func(v url.Values) { v.Set("state", "other") }, "state", ""},
		"AUC-19 no state":               {nil, func(v url.Values) { v.Del("state") }, "state", ""},
		"AUC-16 no code":                {nil, func(v url.Values) { v.Del("code") }, "no code", ""},
		"AUC-16 two issuers":            {nil, func(v url.Values) { v.Add("iss", "https://evil.example") }, "repeats", "evil"},
		"AUC-23 a code that is no good": {nil, func(v url.Values) { v.Set("code", "code-of-another") }, "invalid_grant", "code-of-another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t, "/t")
			if tt.metadata != nil {
				tt.metadata(i.metadata)
			}
			i.answer = tt.answer
			s := newSite(t, i).serve()
			_, err := s.dial(s.authorizer())
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if err != nil && tt.hidden != "" && strings.Contains(err.Error(), tt.hidden) {
				t.Errorf("the error has %q: %v", tt.hidden, err)
			}
			if n := len(i.at("/token")); tt.want == "" && n != 1 || tt.want != "" && n != 0 && !strings.HasPrefix(name, "AUC-23") {
				t.Errorf("%d requests for tokens", n)
			}
		})
	}
	t.Run("AUC-15 the issuer is the one from before the redirect", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "/t")
		s := newSite(t, i).serve()
		s.visit = func(page string) (url.Values, error) {
			i.mu.Lock()
			i.metadata["issuer"] = "https://evil.example"
			i.mu.Unlock()
			back, err := consent(page)
			back.Set("iss", "https://evil.example")
			return back, err
		}
		if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), i.id()) || len(i.at("/token")) != 0 {
			t.Errorf("%v", err)
		}
	})
	t.Run("AUC-19 a user who turns away", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		away := errors.New("the window was closed")
		s.visit = func(string) (url.Values, error) { return nil, away }
		if _, err := s.dial(s.authorizer()); !errors.Is(err, away) {
			t.Errorf("%v", err)
		}
	})
}

func unpromised(m map[string]any) { delete(m, "authorization_response_iss_parameter_supported") }

// TestOAuthLegacy is about servers of revision 2025-03-26, which issue tokens themselves.
func TestOAuthLegacy(t *testing.T) {
	t.Parallel()
	serve := func(s *site) {
		gate := s.issuer.verify(s.url())
		s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
			if _, err := gate(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r); err != nil {
				w.WriteHeader(401)
				return
			}
			newHandler(s.t, whoServer(s.log), nil).ServeHTTP(w, r)
		})
	}
	own := func(t *testing.T) *site { // server and authorization server at one origin
		i := newIssuer(t, "")
		s := newSite(t, i)
		i.URL = s.server.URL
		i.metadata["issuer"] = s.server.URL
		for _, name := range []string{"authorization", "token", "registration"} {
			i.metadata[name+"_endpoint"] = s.server.URL + map[string]string{"authorization": "/authorize", "token": "/token", "registration": "/register"}[name]
		}
		s.mux.Handle("/", i)
		serve(s)
		return s
	}
	const inserted, root, server = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
	t.Run("LAU-01 LAU-02 metadata at the root of the server, after that of the resource", func(t *testing.T) {
		t.Parallel()
		s := own(t)
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{inserted, root, server, "/register", "/authorize", "/token"}, s.asks()); diff != "" {
			t.Errorf("fetched (-want +got):\n%s", diff)
		}
		if got := s.issuer.at(server)[0].Header.Get("MCP-Protocol-Version"); got != "2025-03-26" {
			t.Errorf("version %q", got)
		}
		if got := s.issuer.at("/authorize")[0].Form; got.Get("resource") != s.url() || got.Get("code_challenge_method") != "S256" {
			t.Errorf("AUC-08 AUC-09: %v", got)
		}
	})
	t.Run("LAU-01 no metadata at all", func(t *testing.T) {
		t.Parallel()
		s := own(t)
		s.issuer.metadata = nil
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		if got := s.issuer.at("/authorize")[0].Form; got.Get("code_challenge_method") != "S256" {
			t.Errorf("AUC-06: %v", got)
		}
	})
	t.Run("LAU-05 AUC-05 another issuer at the root", func(t *testing.T) {
		t.Parallel()
		s := own(t)
		s.issuer.metadata["issuer"] = "https://evil.example"
		if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), "another issuer") {
			t.Errorf("%v", err)
		}
	})
	t.Run("LAU-02 resource metadata that is broken is not taken for none", func(t *testing.T) {
		t.Parallel()
		for _, doc := range []string{"{", `{"resource":"https://evil.example","authorization_servers":["https://evil.example"]}`} {
			s := own(t)
			s.mux.HandleFunc(inserted, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(doc))
			})
			if _, err := s.dial(s.authorizer()); err == nil || len(s.visits()) != 0 {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestOAuthReceiver is about desktop programs, whose users come back to them.
func TestOAuthReceiver(t *testing.T) {
	t.Parallel()
	t.Run("SEC-02 AUC-20 REG-06 a browser is opened, and comes back to this machine", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		s.opts.Redirect, s.opts.RedirectURL = nil, ""
		var visits sync.WaitGroup
		var body string
		s.opts.Open = func(page string) error {
			visits.Go(func() {
				resp, err := oneShot.Get(page)
				if err != nil {
					t.Error(err)
					return
				}
				body = readAnswer(t, resp).body
			})
			return nil
		}
		store := new(mapStore)
		s.opts.Store = store
		if text, err := s.call(s.authorizer(), "who"); err != nil || text != "alice" {
			t.Fatalf("%s, %v", text, err)
		}
		visits.Wait()
		redirect := i.at("/authorize")[0].Form.Get("redirect_uri")
		if !strings.HasPrefix(redirect, "http://127.0.0.1:") || !strings.HasSuffix(redirect, "/callback") || !strings.Contains(body, "close this window") {
			t.Errorf("%s: %s", redirect, body)
		}
		i.revoke(true)
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		visits.Wait()
		if again := i.at("/authorize")[1].Form.Get("redirect_uri"); again != redirect || len(i.at("/register")) != 1 {
			t.Errorf("the registration was not used again: %s, then %s", redirect, again)
		}
	})
	t.Run("SEC-02 a browser that does not open", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, newIssuer(t, "")).serve()
		s.opts.Redirect, s.opts.RedirectURL = nil, ""
		s.opts.Open = func(string) error { return errors.New("no display") }
		if _, err := s.dial(s.authorizer()); err == nil || !strings.Contains(err.Error(), "no display") {
			t.Errorf("%v", err)
		}
	})
	t.Run("AUC-28 a user who does not come back, a caller who does not wait", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, newIssuer(t, "")).serve()
		s.opts.Redirect, s.opts.RedirectURL = nil, ""
		ctx, cancel := context.WithCancel(t.Context())
		s.opts.Open = func(string) error { cancel(); return nil }
		_, err := mcp.Dial(ctx, mcp.HTTP(s.url(), &mcp.HTTPClientOptions{Auth: s.authorizer(), Client: oneShot}), nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestOAuthOptions(t *testing.T) {
	t.Parallel()
	redirect := func(context.Context, string) (url.Values, error) { return nil, nil }
	for name, tt := range map[string]struct {
		opts mcp.OAuthOptions
		want string
	}{
		"AUC-20 a redirect without https":                {mcp.OAuthOptions{RedirectURL: "http://example.com/cb", Redirect: redirect}, "RedirectURL"},
		"AUC-20 a redirect of a scheme of its own":       {mcp.OAuthOptions{RedirectURL: "app:cb", Redirect: redirect}, "RedirectURL"},
		"AUC-20 no redirect URL":                         {mcp.OAuthOptions{Redirect: redirect}, "RedirectURL"},
		"AUC-20 a redirect that cannot be received here": {mcp.OAuthOptions{RedirectURL: "https://app.example/cb"}, "Redirect"},
		"REG-03 a client URL without a path":             {mcp.OAuthOptions{ClientMetadataURL: "https://app.example/"}, "path"},
		"REG-03 a client URL without https":              {mcp.OAuthOptions{ClientMetadataURL: "http://127.0.0.1/c"}, "https"},
		"REG-03 a client URL with dots":                  {mcp.OAuthOptions{ClientMetadataURL: "https://app.example/a/../c"}, ".."},
		"REG-03 a client URL with a fragment":            {mcp.OAuthOptions{ClientMetadataURL: "https://app.example/c#x"}, "fragment"},
		"REG-03 a client URL with a user name":           {mcp.OAuthOptions{ClientMetadataURL: "https://a@app.example/c"}, "user name"},
		"REG-02 a secret of nobody":                      {mcp.OAuthOptions{ClientSecret: "hush-hush"}, "ClientSecret"},
		"REG-10 an issuer that is no URL":                {mcp.OAuthOptions{Issuer: "login"}, "Issuer"},
		"AUC-10 two scopes in one":                       {mcp.OAuthOptions{Scopes: []string{"a b"}}, "Scopes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := mcp.NewOAuth(&tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("AUC-20 nothing is needed", func(t *testing.T) {
		t.Parallel()
		if _, err := mcp.NewOAuth(nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("AUC-21 AUC-23 no token goes over http to another machine", func(t *testing.T) {
		t.Parallel()
		a, err := mcp.NewOAuth(nil)
		if err != nil {
			t.Fatal(err)
		}
		if token, err := a.Token(t.Context(), "http://mcp.example/mcp"); err == nil || token != "" {
			t.Errorf("%q, %v", token, err)
		}
	})
	t.Run("REG-03 the document of the client", func(t *testing.T) {
		t.Parallel()
		for opts, redirects := range map[*mcp.OAuthOptions][]any{
			{ClientName: "App", ClientMetadataURL: "https://app.example/c"}:                                              {"http://127.0.0.1/callback", "http://localhost/callback"},
			{ClientName: "App", ClientMetadataURL: "https://app.example/c", RedirectURL: "https://app.example/callback"}: {"https://app.example/callback"},
		} {
			a := exchange(t, opts.ClientMetadataHandler(), httptest.NewRequest("GET", "/c", nil))
			var doc map[string]any
			if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
				t.Fatal(err)
			}
			if doc["client_id"] != "https://app.example/c" || doc["client_name"] != "App" || cmp.Diff(redirects, doc["redirect_uris"]) != "" || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%v", doc)
			}
		}
	})
}
