// Package oauth_test has our server protected by a real authorization server, and our client sign in there.
package oauth_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// notes serves the tools read, and write, which needs one more scope.
func notes(log io.Writer) *mcp.Server {
	s := mcp.NewServer("notes", "1", &mcp.ServerOptions{Logger: logger(log)})
	who := func(ctx context.Context, _ struct{}) (string, error) {
		p := mcp.RequestFrom(ctx).Principal()
		return fmt.Sprint(p.Subject, " ", p.Scopes), nil
	}
	mcp.AddTool(s, "read", "", who).RequireScopes("notes:read")
	mcp.AddTool(s, "write", "", who).RequireScopes("notes:read", "notes:write")
	return s
}

func logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// site is the server, and what came there.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	urls []string
}

// protect serves notes for tokens of i alone.
func protect(t *testing.T, i *issuer, log io.Writer) *site {
	s := new(site)
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.urls = append(s.urls, r.URL.String(), r.Referer())
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	resource := s.URL + "/mcp"
	verify, err := mcp.NewJWTVerifier(&mcp.JWTOptions{Issuer: i.URL, Audience: resource})
	if err != nil {
		t.Fatal(err)
	}
	auth := &mcp.Auth{Resource: resource, Servers: []string{i.URL}, Scopes: []string{"notes:read"}}
	auth.Verify = func(ctx context.Context, token string, r *http.Request) (*mcp.Principal, error) {
		p, err := verify(ctx, token, r)
		if err == nil {
			err = i.active(ctx, token)
		}
		return p, err
	}
	h, err := notes(log).HTTPHandler(&mcp.HTTPOptions{Auth: auth})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/mcp", h)
	mux.Handle("/", auth.MetadataHandler())
	return s
}

// TestAuthorization has a client sign in, call, be asked for more, step up, refresh, and be thrown out.
func TestAuthorization(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) { authorize(t, version) })
	}
}

func authorize(t *testing.T, version string) {
	log := new(lockedBuffer)
	i := newIssuer(t)
	s := protect(t, i, log)
	browser := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var pages []string
	var visits sync.WaitGroup
	auth, err := mcp.NewOAuth(&mcp.OAuthOptions{
		ClientName: "notes on the desktop", Store: mcp.NewFileTokenStore(filepath.Join(t.TempDir(), "tokens")),
		Open: func(page string) error {
			pages = append(pages, page)
			visits.Go(func() {
				resp, err := browser.Get(page) // the user consents, and is sent back to this machine
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
			})
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.Dial(t.Context(), mcp.HTTP(s.URL+"/mcp", &mcp.HTTPClientOptions{Auth: auth, Client: browser}), &mcp.ClientOptions{Versions: []string{version}, Logger: logger(log)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var failures []string
	expect := func(tool, want string) {
		t.Helper()
		got, err := mcp.Call[string](t.Context(), client, tool, nil)
		if err != nil {
			failures = append(failures, err.Error())
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	grants := func(want ...string) {
		t.Helper()
		i.mu.Lock()
		defer i.mu.Unlock()
		if diff := cmp.Diff(want, i.grants); diff != "" {
			t.Errorf("tokens that were asked for (-want +got):\n%s", diff)
		}
	}

	expect("read", "alice [notes:read offline_access]")
	grants("authorization_code")

	expect("write", "alice [notes:read notes:write offline_access]")
	expect("read", "alice [notes:read notes:write offline_access]")
	grants("authorization_code", "authorization_code")

	i.revoke(false) // the access tokens
	expect("write", "alice [notes:read notes:write offline_access]")
	grants("authorization_code", "authorization_code", "refresh_token")

	i.revoke(true)
	expect("write", "alice [notes:read notes:write offline_access]") // signs in again
	grants("authorization_code", "authorization_code", "refresh_token", "refresh_token", "authorization_code")

	i.mu.Lock()
	i.denies = true
	i.mu.Unlock()
	i.revoke(true)
	expect("write", `access_denied: "alice says no`)
	visits.Wait()

	sorted := func(s string) string {
		words := strings.Fields(s)
		slices.Sort(words)
		return strings.Join(words, " ")
	}
	for n, want := range []string{"notes:read offline_access", "notes:read notes:write offline_access", "notes:read notes:write offline_access"} {
		if got := sorted(i.scopes[n]); got != want {
			t.Errorf("authorization %d asked for %q, want %q", n, got, want)
		}
	}
	for where, text := range map[string]string{"logs": log.String(), "errors": strings.Join(failures, "\n"), "pages": strings.Join(pages, "\n"), "URLs": strings.Join(slices.Concat(s.urls, i.urls), "\n")} {
		if leaks := i.leaks(text); leaks != nil {
			t.Errorf("the %s have %q:\n%s", where, leaks, text)
		}
	}
	if len(i.secrets) < 10 || len(failures) != 1 {
		t.Errorf("scanned for %d secrets in %d errors", len(i.secrets), len(failures))
	}
}
