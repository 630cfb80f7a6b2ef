package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

// inProcess has handlers answer, by host.
type inProcess map[string]http.Handler

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	p[r.URL.Host].ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// TestOAuthShared is about calls that wait while a user signs in for another one.
func TestOAuthShared(t *testing.T) {
	t.Parallel()
	const resource = "https://h.example/mcp"
	// begin returns how to be refused for want of a token; users of whom there are enough come back when they may.
	begin := func(t *testing.T, user func(ctx context.Context, visit int) error) func(context.Context) chan error {
		i := &issuer{Server: &httptest.Server{URL: "https://login.example"}}
		i.begin()
		auth := &mcp.Auth{Verify: i.verify(resource), Resource: resource, Servers: []string{i.id()}}
		world := &http.Client{Transport: inProcess{"login.example": i, "h.example": auth.MetadataHandler()}}
		visits := 0
		a, err := mcp.NewOAuth(&mcp.OAuthOptions{HTTP: world, RedirectURL: "http://127.0.0.1:9/callback", Redirect: func(ctx context.Context, page string) (url.Values, error) {
			visits++
			if err := user(ctx, visits); err != nil {
				return nil, err
			}
			resp, err := world.Transport.RoundTrip(httptest.NewRequest("GET", page, nil))
			if err != nil {
				return nil, err
			}
			back, err := resp.Location()
			if err != nil {
				return nil, err
			}
			return back.Query(), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) chan error {
			done := make(chan error, 1)
			go func() {
				req, err := http.NewRequest(http.MethodPost, resource, nil)
				if err != nil {
					panic(err)
				}
				retry, err := a.Challenge(ctx, &http.Response{StatusCode: 401, Header: http.Header{}, Request: req})
				if err == nil && !retry {
					err = errors.New("the call is to fail")
				}
				if token, _ := a.Token(ctx, resource); err == nil && token == "" {
					err = errors.New("there is no token")
				}
				done <- err
			}()
			synctest.Wait()
			return done
		}
	}
	bubble(t, "AUC-28 who gives up does so for itself alone: the next one who waits has the user sign in", func(t *testing.T) {
		refused := begin(t, func(ctx context.Context, visit int) error {
			if visit > 1 {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		ctx, cancel := context.WithCancel(t.Context())
		first, second, third := refused(ctx), refused(t.Context()), refused(t.Context())
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up: %v", err)
		}
		if err := errors.Join(<-second, <-third); err != nil {
			t.Errorf("who waited: %v", err)
		}
	})
	bubble(t, "AUC-28 who gives up waiting is told at once, and the others get the token", func(t *testing.T) {
		back := make(chan struct{})
		refused := begin(t, func(context.Context, int) error { <-back; return nil })
		ctx, cancel := context.WithCancel(t.Context())
		first, second, third := refused(t.Context()), refused(ctx), refused(t.Context())
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up: %v", err)
		}
		close(back)
		if err := errors.Join(<-first, <-third); err != nil {
			t.Errorf("the others: %v", err)
		}
	})
	bubble(t, "AUC-28 a refusal is that of all who waited for it, and of nobody later", func(t *testing.T) {
		no, back := errors.New("the user says no"), make(chan struct{})
		refused := begin(t, func(_ context.Context, visit int) error {
			<-back
			if visit == 1 {
				return no
			}
			return nil
		})
		waiting := []chan error{refused(t.Context()), refused(t.Context()), refused(t.Context())}
		close(back)
		for n, done := range waiting {
			if err := <-done; !errors.Is(err, no) {
				t.Errorf("call %d: %v", n, err)
			}
		}
		if err := <-refused(t.Context()); err != nil {
			t.Errorf("a later call: %v", err)
		}
	})
}
