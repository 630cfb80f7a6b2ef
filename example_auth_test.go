package mcp_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/typedmcp/mcp"
)

// addWhoami adds a tool that says who calls it.
func addWhoami(s *mcp.Server) {
	mcp.AddTool(s, "whoami", "Say who calls", func(ctx context.Context, _ struct{}) (string, error) {
		return mcp.RequestFrom(ctx).Principal().Subject, nil
	})
}

// A server that takes tokens of one authorization server, and tells clients
// where to get them.
func ExampleAuth() {
	s := mcp.NewServer("notes", "1.0.0", nil)
	addWhoami(s)

	const resource, issuer = "https://mcp.example.com/mcp", "https://login.example.com"
	verify, err := mcp.NewJWTVerifier(&mcp.JWTOptions{Issuer: issuer, Audience: resource})
	if err != nil {
		log.Fatal(err)
	}
	auth := &mcp.Auth{Verify: verify, Resource: resource, Servers: []string{issuer}, Scopes: []string{"notes:read"}}
	h, err := s.HTTPHandler(&mcp.HTTPOptions{Auth: auth})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	mux.Handle("/.well-known/", auth.MetadataHandler())

	for _, r := range []*http.Request{
		httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)),
		httptest.NewRequest("GET", "/.well-known/oauth-protected-resource/mcp", nil),
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
		if challenge := w.Header().Get("WWW-Authenticate"); challenge != "" {
			fmt.Println(challenge)
		}
	}
	// Output:
	// 401 {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: an access token is needed, as Authorization: Bearer"}}
	// Bearer scope="notes:read", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// 200 {"resource":"https://mcp.example.com/mcp","authorization_servers":["https://login.example.com"],"scopes_supported":["notes:read"],"bearer_methods_supported":["header"]}
}

// Keys that were handed out by hand, of which the server knows the hashes.
func ExampleNewAPIKeyVerifier() {
	s := mcp.NewServer("notes", "1.0.0", nil)
	addWhoami(s)

	owners := map[[sha256.Size]byte]*mcp.Principal{
		sha256.Sum256([]byte("the key of Ada's")): {Subject: "ada"}, // a real one is crypto/rand.Text
	}
	auth := &mcp.Auth{Verify: mcp.NewAPIKeyVerifier(func(_ context.Context, hash [sha256.Size]byte) (*mcp.Principal, error) {
		return owners[hash], nil
	})}
	h, err := s.HTTPHandler(&mcp.HTTPOptions{Auth: auth})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()

	for _, key := range []string{"the key of Ada's", "a guess"} {
		ctx := context.Background()
		c, err := mcp.Dial(ctx, mcp.HTTP(server.URL, &mcp.HTTPClientOptions{Header: http.Header{"X-Api-Key": {key}}, Client: oneShot}), nil)
		if refused, ok := errors.AsType[*mcp.HTTPError](err); ok {
			fmt.Println(refused.Status)
			continue
		}
		fmt.Println(mcp.Call[string](ctx, c, "whoami", nil))
		_ = c.Close()
	}
	// Output:
	// ada <nil>
	// 401
}

// Users that the program around the server knows already, here by a header
// that its proxy sets.
func ExampleWithPrincipal_middleware() {
	s := mcp.NewServer("notes", "1.0.0", nil)
	addWhoami(s)
	mcp.AddTool(s, "erase", "Erase all notes", func(ctx context.Context, _ struct{}) (string, error) {
		return "erased", nil
	}).RequireScopes("notes:write")
	h, err := s.HTTPHandler(nil)
	if err != nil {
		log.Fatal(err)
	}
	signedIn := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user := r.Header.Get("X-Forwarded-User")
			if user == "" {
				http.Error(w, "sign in first", http.StatusUnauthorized)
				return
			}
			p := &mcp.Principal{Issuer: "https://proxy.example", Subject: user, Scopes: []string{"notes:read"}}
			next.ServeHTTP(w, r.WithContext(mcp.WithPrincipal(r.Context(), p)))
		})
	}
	server := httptest.NewServer(signedIn(h))
	defer server.Close()

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.HTTP(server.URL, &mcp.HTTPClientOptions{Header: http.Header{"X-Forwarded-User": {"ada"}}, Client: oneShot}), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "whoami", nil))
	_, err = mcp.Call[string](ctx, c, "erase", nil)
	if refused, ok := errors.AsType[*mcp.HTTPError](err); ok {
		fmt.Println(refused.Status, refused.Header.Get("WWW-Authenticate"))
	}
	// Output:
	// ada <nil>
	// 403 Bearer error="insufficient_scope", scope="notes:write"
}

// A program on a user's desktop: the first call opens the browser, and later
// ones go on with what was kept.
func ExampleNewOAuth() {
	dir, err := os.UserConfigDir()
	if err != nil {
		log.Fatal(err)
	}
	auth, err := mcp.NewOAuth(&mcp.OAuthOptions{
		ClientName: "Notes on the desktop",
		Store:      mcp.NewFileTokenStore(filepath.Join(dir, "notes", "tokens.json")),
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.HTTP("https://mcp.example.com/mcp", &mcp.HTTPClientOptions{Auth: auth}), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "whoami", nil))
}
