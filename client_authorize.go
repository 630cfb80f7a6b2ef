package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/typedmcp/mcp/internal/oauth"
)

// An Authorizer gets the tokens with which a client calls HTTP servers. It is
// safe for concurrent use: while one call has a token issued, the others wait
// for it. See NewOAuth for the one to use.
type Authorizer interface {
	// Token returns the access token for requests to the server at the URL
	// resource; "" sends none. An error fails the request. It is also asked
	// before a client uses a private result that it has kept, which is for the
	// token alone that it was got with, and so should answer from memory where
	// it can.
	Token(ctx context.Context, resource string) (string, error)
	// Challenge is called when a server demands a token, another one, or one
	// with more scopes: with 401, or with 403 and insufficient_scope. It
	// reports whether the request should be sent again, with what Token then
	// returns. resp.Request is the request that was refused, with the token it
	// had; its URL is the one that Token was asked for, wherever the request
	// really went. The body of resp must be left alone. An error fails the
	// request; without either, it fails with the server's answer.
	Challenge(ctx context.Context, resp *http.Response) (retry bool, err error)
}

// maxChallenges is how often one request may be refused and sent again: for a
// token, one that is refreshed, and one with more scopes.
const maxChallenges = 3

// do sends a request, with a token if there is one. An error means that there
// was no answer.
func (s *httpSite) do(req *http.Request) (*http.Response, error) {
	resp, _, err := s.authorize(req, new(atomic.Int32))
	return resp, err
}

// do is that of the site. The timeouts of calls stand still while a user signs
// in, as they do while one is asked something.
func (s *httpCalls) do(req *http.Request) (*http.Response, error) {
	resp, _, err := s.authorize(req, &s.asking)
	return resp, err
}

// authorize sends a request with a token and, when that is refused, again with
// a better one. It returns the token that the answer is for. busy counts the
// users that are busy.
func (s *httpSite) authorize(req *http.Request, busy *atomic.Int32) (*http.Response, string, error) {
	if s.opts.Auth == nil {
		resp, err := s.roundTrip(req)
		return resp, "", err
	}
	for challenges := 0; ; challenges++ {
		token, err := s.opts.Auth.Token(req.Context(), s.url.String())
		if err != nil {
			return nil, "", fmt.Errorf("authorization: %w", err)
		}
		attempt, err := withToken(req, token)
		if err != nil {
			return nil, "", err
		}
		resp, err := s.roundTrip(attempt)
		if err != nil || challenges == maxChallenges || !challenged(resp) {
			return resp, token, err
		}
		busy.Add(1)
		retry, err := s.opts.Auth.Challenge(req.Context(), s.refusal(resp, attempt))
		busy.Add(-1)
		if err == nil && !retry {
			return resp, token, nil
		}
		_, _ = io.CopyN(io.Discard, resp.Body, 4096) // so that the connection may be used again
		_ = resp.Body.Close()
		if err != nil {
			return nil, "", fmt.Errorf("authorization: %w", err)
		}
	}
}

// refusal is the answer to an attempt as Authorizers see it. A request may go
// elsewhere than to the server's URL, after a redirect, or to where a server of
// revision 2024-11-05 takes messages: tokens are for the server as a whole.
func (s *httpSite) refusal(resp *http.Response, attempt *http.Request) *http.Response {
	seen, request := *resp, *attempt
	request.URL = s.url
	seen.Request = &request
	return &seen
}

// withToken returns a copy of req with a token.
func withToken(req *http.Request, token string) (*http.Request, error) {
	attempt := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		attempt.Body = body
	}
	if token != "" {
		attempt.Header.Set("Authorization", "Bearer "+token)
	}
	return attempt, nil
}

// bearer implements bearing.
func (l *httpLink) bearer(ctx context.Context) (bearer, error) {
	if l.opts.Auth == nil {
		return bearer{}, nil
	}
	token, err := l.opts.Auth.Token(ctx, l.url.String())
	return bearerOf(token), err
}

// challenged reports whether a token might help.
func challenged(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		return oauth.FindChallenge(resp.Header).Error == oauth.InsufficientScope
	}
	return false
}

// withinOrigin returns a client like c that takes no request, and no token, to
// another origin than it was meant for.
func withinOrigin(c *http.Client) *http.Client {
	bound, next := *c, c.CheckRedirect
	bound.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch from := via[0].URL; {
		case req.URL.Scheme != from.Scheme || req.URL.Host != from.Host:
			return errors.New("the server redirects to another origin, which is not followed")
		case next != nil:
			return next(req, via)
		case len(via) >= 10:
			return errors.New("the server redirects without end")
		}
		return nil
	}
	return &bound
}
