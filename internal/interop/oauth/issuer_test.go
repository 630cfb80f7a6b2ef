package oauth_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v3"
	jwks "github.com/go-jose/go-jose/v4"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
)

// issuer is an authorization server: fosite, with the endpoints that it leaves to programs. Its one user consents to
// everything, until asked no more.
type issuer struct {
	*httptest.Server
	t        testing.TB
	key      *ecdsa.PrivateKey
	store    *storage.MemoryStore
	provider fosite.OAuth2Provider

	mu      sync.Mutex
	denies  bool // the user does
	clients int
	secrets []string // of requests and answers
	grants  []string // what kinds of tokens were asked for
	scopes  []string // that were asked for, at each authorization
	urls    []string // of all requests
}

// scopes are all that the issuer has.
var scopes = []string{"notes:read", "notes:write", "offline_access"}

func newIssuer(t testing.TB) *issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: key, store: storage.NewMemoryStore()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", i.metadata)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("POST /register", i.register)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.urls = append(i.urls, r.URL.String(), r.Referer())
		i.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	config := &fosite.Config{
		AccessTokenIssuer: i.URL, AccessTokenLifespan: time.Hour, RefreshTokenScopes: []string{"offline_access"},
		GlobalSecret: []byte(rand.Text() + rand.Text())[:32], EnforcePKCE: true, JWTScopeClaimKey: jwt.JWTScopeFieldString,
		AudienceMatchingStrategy: func(_, _ []string) error { return nil }, // token checks the resource
		ScopeStrategy:            fosite.ExactScopeStrategy,
	}
	signing := func(context.Context) (any, error) {
		return &jose.JSONWebKey{Key: key, KeyID: "one", Algorithm: "ES256"}, nil
	}
	strategy := &compose.CommonStrategy{CoreStrategy: compose.NewOAuth2JWTStrategy(signing, compose.NewOAuth2HMACStrategy(config), config)}
	i.provider = compose.Compose(config, i.store, strategy, compose.OAuth2AuthorizeExplicitFactory, compose.OAuth2RefreshTokenGrantFactory,
		compose.OAuth2TokenIntrospectionFactory, compose.OAuth2PKCEFactory)
	return i
}

func writeJSON(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

func (i *issuer) metadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "registration_endpoint": i.URL + "/register",
		"jwks_uri": i.URL + "/keys", "scopes_supported": scopes, "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, jwks.JSONWebKeySet{Keys: []jwks.JSONWebKey{{Key: i.key.Public(), KeyID: "one", Algorithm: "ES256", Use: "sig"}}})
}

func (i *issuer) register(w http.ResponseWriter, r *http.Request) {
	var doc struct {
		Redirects []string `json:"redirect_uris"`
		Grants    []string `json:"grant_types"`
	}
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata"})
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.clients++
	client := &fosite.DefaultClient{
		ID: fmt.Sprint("client-", i.clients), Public: true, RedirectURIs: doc.Redirects, GrantTypes: doc.Grants,
		ResponseTypes: []string{"code"}, Scopes: scopes,
	}
	i.store.Clients[client.ID] = client
	writeJSON(w, http.StatusCreated, map[string]any{
		"client_id": client.ID, "redirect_uris": doc.Redirects, "grant_types": doc.Grants, "token_endpoint_auth_method": "none",
	})
}

func session() *oauth2.JWTSession {
	return &oauth2.JWTSession{JWTClaims: &jwt.JWTClaims{Subject: "alice"}, JWTHeader: &jwt.Headers{Extra: map[string]any{"kid": "one"}}}
}

func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	denies := i.denies
	i.scopes = append(i.scopes, r.FormValue("scope"))
	i.mu.Unlock()
	asked, err := i.provider.NewAuthorizeRequest(r.Context(), r)
	if err == nil && denies {
		err = fosite.ErrAccessDenied.WithDescription("alice says no").WithHint("")
	}
	if err != nil {
		i.denied(w, asked, err)
		return
	}
	for _, scope := range asked.GetRequestedScopes() {
		asked.GrantScope(scope)
	}
	asked.GrantAudience(r.FormValue("resource"))
	answer, err := i.provider.NewAuthorizeResponse(r.Context(), asked, session())
	if err != nil {
		i.denied(w, asked, err)
		return
	}
	answer.AddParameter("iss", i.URL)
	i.remember(answer.GetCode())
	i.provider.WriteAuthorizeResponse(r.Context(), w, asked, answer)
}

// denied sends the user back with an error; fosite's own answer would lack iss.
func (i *issuer) denied(w http.ResponseWriter, asked fosite.AuthorizeRequester, err error) {
	why := fosite.ErrorToRFC6749Error(err)
	redirect := asked.GetRedirectURI()
	if redirect == nil {
		http.Error(w, why.ErrorField, http.StatusBadRequest)
		return
	}
	back := *redirect
	back.RawQuery = url.Values{"error": {why.ErrorField}, "error_description": {why.GetDescription()}, "state": {asked.GetState()}, "iss": {i.URL}}.Encode()
	w.Header().Set("Location", back.String())
	w.WriteHeader(http.StatusFound)
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	asked, err := i.provider.NewAccessRequest(r.Context(), r, session())
	i.mu.Lock()
	i.grants = append(i.grants, r.FormValue("grant_type"))
	i.mu.Unlock()
	i.remember(r.PostForm.Get("code_verifier"))
	if err != nil {
		i.provider.WriteAccessError(r.Context(), w, asked, err)
		return
	}
	answer, err := i.provider.NewAccessResponse(r.Context(), asked)
	if err != nil {
		i.provider.WriteAccessError(r.Context(), w, asked, err)
		return
	}
	if resource := r.PostForm.Get("resource"); !asked.GetGrantedAudience().Has(resource) {
		i.provider.WriteAccessError(r.Context(), w, asked, fosite.ErrInvalidRequest.WithHintf("the resource is another one: %q", resource))
		return
	}
	i.remember(answer.GetAccessToken())
	refresh, _ := answer.GetExtra("refresh_token").(string)
	i.remember(refresh)
	i.provider.WriteAccessResponse(r.Context(), w, asked, answer)
}

// remember adds to what must be seen nowhere.
func (i *issuer) remember(secret string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if secret != "" {
		i.secrets = append(i.secrets, secret)
	}
}

// active refuses a token that was revoked, as an introspection endpoint would tell.
func (i *issuer) active(ctx context.Context, token string) error {
	_, _, err := i.provider.IntrospectToken(ctx, token, fosite.AccessToken, new(oauth2.JWTSession))
	if err != nil {
		return errors.New("the issuer knows no such token")
	}
	return nil
}

// revoke takes all access tokens back, and with everything all refresh tokens too.
func (i *issuer) revoke(everything bool) {
	ctx := context.Background()
	ids := make(map[string]bool)
	for _, r := range i.store.AccessTokens {
		ids[r.GetID()] = true
	}
	for id := range ids {
		err := i.store.RevokeAccessToken(ctx, id)
		if everything {
			err = errors.Join(err, i.store.RevokeRefreshToken(ctx, id))
		}
		if err != nil {
			i.t.Error(err)
		}
	}
}

// leaks returns the secrets that are in text, also in parts and in the form that URLs have.
func (i *issuer) leaks(text string) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var found []string
	for _, secret := range i.secrets {
		parts := append(strings.Split(secret, "."), secret)
		for _, part := range parts[1:] { // the first is the header of a JWT, or the key of a code
			if len(part) > 20 && (strings.Contains(text, part) || strings.Contains(text, url.QueryEscape(part))) {
				found = append(found, part)
			}
		}
	}
	return found
}

// lockedBuffer is a log of several goroutines.
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
