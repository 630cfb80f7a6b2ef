package mcp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// issuer is an authorization server whose users consent at once. Fields that have no comment may be set before use.
type issuer struct {
	*httptest.Server
	path     string                    // of the identifier, as in /tenant
	metadata map[string]any            // of the server
	answer   func(url.Values)          // changes how users come back
	refresh  bool                      // tokens can be refreshed
	keeps    bool                      // refresh tokens stay as they are; otherwise each is used once
	lifetime time.Duration             // 0: not told
	refuses  func(url.Values) string   // the error with which requests for tokens are refused; "": none, nil: never
	expiry   time.Duration             // of client secrets; 0: they have none
	grant    func(asked string) string // the scopes that are granted; nil: all, without saying so

	mu       sync.Mutex
	requests []issued
	codes    map[string]url.Values // the authorization requests
	secrets  []string              // all that must be seen nowhere: tokens, codes, verifiers, client secrets
	tokens   map[string]issuedToken
	last     int
}

// issued is a request that the server got.
type issued struct {
	Method, Path, Query string
	Form                url.Values // query or body
	Header              http.Header
	JSON                string // body of a registration
}

// issuedToken is an access token that is valid.
type issuedToken struct {
	client, resource, scope string
	refresh                 string
}

func newIssuer(t testing.TB, path string) *issuer {
	i := &issuer{path: path}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	i.begin()
	return i
}

// begin makes what is needed to serve at i.URL.
func (i *issuer) begin() {
	i.refresh, i.codes, i.tokens = true, make(map[string]url.Values), make(map[string]issuedToken)
	i.metadata = map[string]any{
		"issuer": i.id(), "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "registration_endpoint": i.URL + "/register",
		"code_challenge_methods_supported": []string{"plain", "S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
		"authorization_response_iss_parameter_supported": true,
	}
}

// id is the identifier of the issuer.
func (i *issuer) id() string { return i.URL + i.path }

// fresh returns a secret that is like no other. i.mu is held.
func (i *issuer) fresh(kind string) string {
	i.last++
	s := fmt.Sprintf("%s-%d-%s", kind, i.last, base64.RawURLEncoding.EncodeToString([]byte(i.URL)))
	i.secrets = append(i.secrets, s)
	return s
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // of a client in the same process
	form, _ := url.ParseQuery(r.URL.RawQuery)
	got := issued{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Form: form, Header: r.Header.Clone(), JSON: string(body)}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		got.Form, _ = url.ParseQuery(string(body))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests = append(i.requests, got)
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server" + i.path:
		if i.metadata != nil {
			writeDoc(w, 200, i.metadata)
			return
		}
	case "/authorize":
		i.authorize(w, r, got.Form)
		return
	case "/token":
		i.token(w, got)
		return
	case "/register":
		i.register(w, got.JSON)
		return
	}
	http.NotFound(w, r)
}

func writeDoc(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

func (i *issuer) authorize(w http.ResponseWriter, r *http.Request, form url.Values) {
	code := i.fresh("code")
	i.codes[code] = form
	back := url.Values{"code": {code}, "state": {form.Get("state")}, "iss": {i.id()}}
	if i.answer != nil {
		i.answer(back)
	}
	http.Redirect(w, r, form.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (i *issuer) register(w http.ResponseWriter, body string) {
	doc := make(map[string]any)
	_ = json.Unmarshal([]byte(body), &doc)
	i.last++
	doc["client_id"] = fmt.Sprintf("client %d of %s", i.last, i.id())
	if doc["token_endpoint_auth_method"] != "none" {
		doc["client_secret"] = i.fresh("secret:+ /")
		if i.expiry != 0 {
			doc["client_secret_expires_at"] = time.Now().Add(i.expiry).Unix()
		}
	}
	writeDoc(w, 201, doc)
}

func (i *issuer) token(w http.ResponseWriter, got issued) {
	form := got.Form
	if i.refuses != nil {
		if why := i.refuses(form); why != "" {
			writeDoc(w, 400, map[string]any{"error": why})
			return
		}
	}
	var token issuedToken
	switch form.Get("grant_type") {
	case "authorization_code":
		asked, known := i.codes[form.Get("code")]
		delete(i.codes, form.Get("code"))
		i.secrets = append(i.secrets, form.Get("code_verifier"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !known || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("redirect_uri") != form.Get("redirect_uri") {
			i.refuse(w, form)
			return
		}
		token = issuedToken{client: asked.Get("client_id"), resource: form.Get("resource"), scope: asked.Get("scope")}
	case "refresh_token":
		old := ""
		for access, t := range i.tokens {
			if t.refresh == form.Get("refresh_token") {
				old = access
			}
		}
		if old == "" {
			i.refuse(w, form)
			return
		}
		token = i.tokens[old]
		delete(i.tokens, old)
	}
	answer := map[string]any{"token_type": "Bearer", "access_token": i.fresh("access")}
	if i.grant != nil {
		token.scope = i.grant(token.scope)
		answer["scope"] = token.scope
	}
	if i.refresh && !(i.keeps && token.refresh != "") {
		token.refresh = i.fresh("refresh")
		answer["refresh_token"] = token.refresh
	}
	if i.lifetime != 0 {
		answer["expires_in"] = int(i.lifetime.Seconds())
	}
	i.tokens[answer["access_token"].(string)] = token
	writeDoc(w, 200, answer)
}

// refuse repeats all that it was sent, as no server should.
func (i *issuer) refuse(w http.ResponseWriter, form url.Values) {
	writeDoc(w, 400, map[string]any{"error": "invalid_grant", "error_description": fmt.Sprintf("bad: %s %s", form.Get("code")+form.Get("refresh_token"), form.Get("code_verifier"))})
}

// at returns the requests to a path.
func (i *issuer) at(path string) []issued {
	i.mu.Lock()
	defer i.mu.Unlock()
	var found []issued
	for _, r := range i.requests {
		if r.Path == path {
			found = append(found, r)
		}
	}
	return found
}

// revoke makes all tokens invalid, with what refreshes them or without.
func (i *issuer) revoke(refresh bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	revoked := make(map[string]issuedToken)
	for access, t := range i.tokens {
		if !refresh {
			revoked["revoked "+access] = t
		}
	}
	i.tokens = revoked
}

// verify is an Auth.Verify for a resource.
func (i *issuer) verify(resource string) verifyFunc {
	return func(_ context.Context, access string, _ *http.Request) (*mcp.Principal, error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		t, known := i.tokens[access]
		if !known || t.resource != resource {
			return nil, fmt.Errorf("not a token for %s", resource)
		}
		return &mcp.Principal{Issuer: i.id(), Subject: "alice", Client: t.client, Scopes: strings.Fields(t.scope)}, nil
	}
}

// site is a server that is protected by an issuer, and the client that goes there.
type site struct {
	t      testing.TB
	issuer *issuer
	server *httptest.Server
	auth   *mcp.Auth // to be changed before the first request
	opts   mcp.OAuthOptions
	log    *lockedBuffer // of both ends
	mux    *http.ServeMux

	mu           sync.Mutex
	seen         []*http.Request                       // by the server, at whatever path
	unauthorized int                                   // answers with 401
	pages        []string                              // that users were sent to
	visit        func(page string) (url.Values, error) // the user; nil: consents
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newSite serves whoServer at /mcp, with its metadata unless that is replaced in s.mux.
func newSite(t testing.TB, i *issuer) *site {
	s := &site{t: t, issuer: i, log: new(lockedBuffer), mux: http.NewServeMux()}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Clone(context.Background()))
		mux := s.mux
		s.mu.Unlock()
		mux.ServeHTTP(&statusWriter{w, s}, r)
	}))
	t.Cleanup(s.server.Close)
	s.auth = &mcp.Auth{Verify: i.verify(s.url()), Resource: s.url(), Servers: []string{i.id()}, Scopes: []string{"read"}}
	s.opts = mcp.OAuthOptions{ClientName: "tests", RedirectURL: "http://127.0.0.1:9/callback", Redirect: s.redirect}
	t.Cleanup(func() { s.scan() })
	return s
}

// statusWriter counts the answers with 401 of a site.
type statusWriter struct {
	http.ResponseWriter
	s *site
}

func (w *statusWriter) WriteHeader(status int) {
	w.ResponseWriter.WriteHeader(status)
	if status == http.StatusUnauthorized {
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		w.s.unauthorized++
	}
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (s *site) refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unauthorized
}

func (s *site) url() string { return s.server.URL + "/mcp" }

// serve begins to serve; HTTPHandler is left to tests that change it.
func (s *site) serve() *site {
	s.t.Helper()
	s.mux.Handle("/mcp", newHandler(s.t, whoServer(s.log), &mcp.HTTPOptions{Auth: s.auth}))
	s.mux.Handle("/.well-known/", s.auth.MetadataHandler())
	return s
}

// redirect is the user of this site.
func (s *site) redirect(ctx context.Context, page string) (url.Values, error) {
	s.mu.Lock()
	s.pages = append(s.pages, page)
	visit := s.visit
	s.mu.Unlock()
	if visit != nil {
		return visit(page)
	}
	return consent(page)
}

// consent opens a page and returns with what it sends the user back.
func consent(page string) (url.Values, error) {
	browser := &http.Client{Transport: oneShot.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(page)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return nil, err
	}
	return back.Query(), nil
}

// authorizer is one of the site's, of which it makes as many as it is asked for.
func (s *site) authorizer() mcp.Authorizer {
	s.t.Helper()
	a, err := mcp.NewOAuth(&s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// dial connects a client; versions nil means all.
func (s *site) dial(a mcp.Authorizer, versions ...string) (*mcp.Client, error) {
	s.t.Helper()
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c, err := mcp.Dial(s.t.Context(), mcp.HTTP(s.url(), &mcp.HTTPClientOptions{Auth: a, Client: oneShot}), &mcp.ClientOptions{Name: "tests", Version: "1", Versions: versions, Logger: log})
	if err != nil {
		_, _ = fmt.Fprintln(s.log, err)
		return nil, err
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c, nil
}

// client is one that signs in as it should.
func (s *site) client() *mcp.Client {
	s.t.Helper()
	c, err := s.dial(s.authorizer())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// call dials and calls tool.
func (s *site) call(a mcp.Authorizer, tool string) (string, error) {
	s.t.Helper()
	c, err := s.dial(a)
	if err != nil {
		return "", err
	}
	return s.tool(c, tool)
}

func (s *site) tool(c *mcp.Client, tool string) (string, error) {
	text, err := mcp.Call[string](s.t.Context(), c, tool, nil)
	if err != nil {
		_, _ = fmt.Fprintln(s.log, err)
	}
	return text, err
}

// asks returns the requests to the server that are not to /mcp.
func (s *site) asks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for _, r := range s.seen {
		if r.URL.Path != "/mcp" {
			paths = append(paths, r.URL.Path)
		}
	}
	return paths
}

func (s *site) visits() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pages)
}

// scan looks for secrets where none may be: in logs and errors, in the pages that users are sent to, and in the URLs of
// requests; and for tokens with others than they are meant for.
func (s *site) scan() {
	i := s.issuer
	i.mu.Lock()
	defer i.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[string]string{"log": s.log.String(), "pages": strings.Join(s.pages, "\n")}
	for n, r := range s.seen {
		open[fmt.Sprint("URL ", n)] = r.URL.String()
		open[fmt.Sprint("Referer ", n)] = r.Referer()
	}
	for n, r := range i.requests {
		open[fmt.Sprint("query to the issuer ", n)] = r.Query
		if r.Path != "/token" {
			open[fmt.Sprint("request to the issuer ", n)] = r.Form.Encode() + r.JSON
		}
		open[fmt.Sprint("header to the issuer ", n)] = strings.Join(slices.Collect(maps.Keys(r.Header)), " ")
	}
	for where, text := range open {
		for _, secret := range i.secrets {
			if secret != "" && (strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret))) {
				s.t.Errorf("AUC-23 AUS-09: %s is in the %s: %s", secret, where, text)
			}
		}
	}
}
