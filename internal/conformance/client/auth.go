package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/typedmcp/mcp"
)

// signIn is the steps of every scenario of authorization: to list the tools and to call one, which takes whatever
// tokens and scopes the server wants.
func signIn(ctx context.Context, server string, with given, opts *mcp.ClientOptions) error {
	auth, err := mcp.NewOAuth(&mcp.OAuthOptions{
		ClientName: "conformance", ClientID: with.ID, ClientSecret: with.Secret,
		ClientMetadataURL: "https://conformance-test.local/client-metadata.json",
		RedirectURL:       "http://127.0.0.1:38080/callback", Redirect: redirect,
	})
	if err != nil {
		return err
	}
	c, err := mcp.Dial(ctx, mcp.HTTP(server, &mcp.HTTPClientOptions{Auth: auth}), opts)
	if err != nil {
		return err
	}
	for _, err := range c.Tools(ctx) {
		if err != nil {
			return errors.Join(err, c.Close())
		}
	}
	// Once more, for a server that changes by whom it is served after the first call.
	for range 2 {
		if _, err := c.CallTool(ctx, "test-tool", struct{}{}); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	return c.Close()
}

// redirect is the user, whom the suite's authorization server sends back at once.
func redirect(ctx context.Context, page string) (url.Values, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("the authorization endpoint answered %s: %w", resp.Status, err)
	}
	return back.Query(), nil
}
