package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// switchboard hands out the token of the moment.
type switchboard struct {
	token string
	fails error
	asked int
	next  string // what a challenge brings
}

func (s *switchboard) Token(context.Context, string) (string, error) {
	s.asked++
	return s.token, s.fails
}

func (s *switchboard) Challenge(context.Context, *http.Response) (bool, error) {
	s.token = s.next
	return true, nil
}

func TestCacheOfUsers(t *testing.T) {
	t.Parallel()
	// dial connects to a server that tells everybody who they are, and for whom else that is.
	dial := func(t *testing.T, auth mcp.Authorizer, scope string) (c *mcp.Client, read func() string, requests *int) {
		requests = new(int)
		transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Auth: auth, Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
			m, who := messageOf(t, r), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			result := discovered
			if m.Method == "resources/read" {
				if who == "expired" {
					refused := answerOf("text/plain", http.NoBody)
					refused.StatusCode = http.StatusUnauthorized
					return refused, nil
				}
				*requests++
				result = fmt.Sprintf(`"contents":[{"uri":"x://me","text":%q}],"ttlMs":60000`, who) + scope
			}
			return answerOf("application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, result)))), nil
		})}})
		c, err := mcp.Dial(t.Context(), transport, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, func() string {
			t.Helper()
			r, err := c.ReadResource(t.Context(), "x://me")
			if err != nil {
				t.Fatal(err)
			}
			return r.Contents[0].Text
		}, requests
	}
	for name, scope := range map[string]string{"private": `,"cacheScope":"private"`, "of no scope": "", "of an unknown scope": `,"cacheScope":"all"`, "of a malformed scope": `,"cacheScope":["public"]`} {
		t.Run("CCH-08 CCH-17 a result "+name+" is for its user alone", func(t *testing.T) {
			t.Parallel()
			auth := &switchboard{token: "ada"}
			_, read, requests := dial(t, auth, scope)
			for i, token := range []string{"ada", "ada", "bob", "bob", "", "", "ada"} {
				auth.token = token
				if got := read(); got != token {
					t.Errorf("%d: %q sees what is for %q", i, token, got)
				}
			}
			if *requests != 4 {
				t.Errorf("%d requests", *requests)
			}
		})
	}
	t.Run("CCH-09 a public result is for everybody, and nobody is asked for a token", func(t *testing.T) {
		t.Parallel()
		auth := &switchboard{token: "ada"}
		_, read, requests := dial(t, auth, `,"cacheScope":"public"`)
		read()
		auth.token, auth.asked = "bob", 0
		if got := read(); got != "ada" || *requests != 1 || auth.asked != 0 {
			t.Errorf("%q after %d requests, asked %d times", got, *requests, auth.asked)
		}
	})
	t.Run("CCH-08 a result belongs to the token that got it, not to one that was refused", func(t *testing.T) {
		t.Parallel()
		auth := &switchboard{token: "expired", next: "bob"}
		_, read, requests := dial(t, auth, "")
		for range 2 {
			if got := read(); got != "bob" || *requests != 1 {
				t.Errorf("%q after %d requests", got, *requests)
			}
		}
	})
	t.Run("CCH-08 who has no token any more gets no kept result", func(t *testing.T) {
		t.Parallel()
		auth := &switchboard{token: "ada"}
		c, read, requests := dial(t, auth, "")
		read()
		auth.fails = errors.New("signed out")
		if _, err := c.ReadResource(t.Context(), "x://me"); !errors.Is(err, auth.fails) || *requests != 1 {
			t.Errorf("%v after %d requests", err, *requests)
		}
	})
	t.Run("CCH-08 without an Authorizer there is one user", func(t *testing.T) {
		t.Parallel()
		_, read, requests := dial(t, nil, "")
		if read(); read() != "" || *requests != 1 {
			t.Errorf("%d requests", *requests)
		}
	})
}
