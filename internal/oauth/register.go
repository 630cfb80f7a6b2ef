package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// The ways in which a client proves itself at the token endpoint.
const (
	AuthNone  = "none"
	AuthBasic = "client_secret_basic"
	AuthPost  = "client_secret_post"
)

// ClientMetadata describes a client, in its registration and in the document
// at its URL (RFC 7591, section 2; OAuth Client ID Metadata Document).
type ClientMetadata struct {
	ID           string   `json:"client_id,omitempty"`
	Name         string   `json:"client_name,omitempty"`
	RedirectURIs []string `json:"redirect_uris"`
	Grants       []string `json:"grant_types"`
	Responses    []string `json:"response_types"`
	TokenAuth    string   `json:"token_endpoint_auth_method"`
	Application  string   `json:"application_type"`
	Scope        string   `json:"scope,omitempty"`
}

// NewClientMetadata describes a client that signs users in and is told so at
// redirects. It is native when it receives that on the user's machine, and web
// otherwise (MCP 2026-07-28, Client Registration › Application Type).
func NewClientMetadata(id, name string, redirects []string, tokenAuth string) *ClientMetadata {
	application := "web"
	if len(redirects) > 0 && localRedirect(redirects[0]) {
		application = "native"
	}
	return &ClientMetadata{
		ID: id, Name: name, RedirectURIs: redirects, TokenAuth: tokenAuth, Application: application,
		Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"},
	}
}

// Registration is what a client is to one authorization server. It is kept.
type Registration struct {
	Issuer    string    `json:"issuer"`
	ID        string    `json:"client_id"`
	Secret    string    `json:"client_secret,omitempty"`
	TokenAuth string    `json:"token_endpoint_auth_method,omitempty"`
	Redirect  string    `json:"redirect_uri,omitempty"`
	Expires   time.Time `json:"expires,omitzero"`
}

// Register registers a client dynamically (RFC 7591). A server that refuses
// its application type or its way to authenticate is asked once more, with
// what is most usual.
func (c *Client) Register(ctx context.Context, server *ServerMetadata, client *ClientMetadata) (*Registration, error) {
	reg, err := c.register(ctx, server, client)
	refused, ok := errors.AsType[*Refusal](err)
	if ok && refused.Code == "invalid_client_metadata" {
		adjusted := *client
		adjusted.Grants = []string{"authorization_code"}
		adjusted.Scope = ""
		if len(server.TokenAuth) > 0 && !slices.Contains(server.TokenAuth, adjusted.TokenAuth) {
			adjusted.TokenAuth = AuthBasic
		}
		reg, err = c.register(ctx, server, &adjusted)
	}
	if err != nil {
		return nil, fmt.Errorf("the authorization server %s did not register this client, with redirects to %s: %w", server.Issuer, strings.Join(client.RedirectURIs, " "), err)
	}
	return reg, nil
}

func (c *Client) register(ctx context.Context, server *ServerMetadata, client *ClientMetadata) (*Registration, error) {
	body, err := jsonx.Marshal(client)
	if err != nil {
		return nil, err
	}
	var got struct {
		ID        string `json:"client_id"`
		Secret    string `json:"client_secret"`
		TokenAuth string `json:"token_endpoint_auth_method"`
		Expires   int64  `json:"client_secret_expires_at"`
	}
	if err := c.do(ctx, http.MethodPost, server.Register, nil, body, &got); err != nil {
		return nil, err
	}
	if got.ID == "" {
		return nil, errors.New("the answer has no client_id")
	}
	reg := &Registration{Issuer: server.Issuer, ID: got.ID, Secret: got.Secret, TokenAuth: got.TokenAuth, Redirect: client.RedirectURIs[0]}
	if reg.TokenAuth == "" {
		reg.TokenAuth = client.TokenAuth
	}
	if got.Expires > 0 {
		reg.Expires = time.Unix(got.Expires, 0)
	}
	return reg, nil
}

// TokenAuthMethod returns how a client should prove itself to the server: by
// what both know, and the way that the server lists first. A client without a
// secret, yet, can choose any. Servers that list none know Basic (RFC 8414,
// section 2).
func (m *ServerMetadata) TokenAuthMethod(public bool) string {
	known := m.TokenAuth
	if known == nil {
		known = []string{AuthBasic}
	}
	if public && slices.Contains(known, AuthNone) {
		return AuthNone
	}
	for _, method := range known {
		if method == AuthBasic || method == AuthPost {
			return method
		}
	}
	if public {
		return AuthNone
	}
	return AuthBasic
}

// CheckRedirect reports why a URL is not fit to get authorization codes: it
// has to be https, or on this machine (MCP 2026-07-28, Authorization ›
// Communication Security).
func CheckRedirect(s string) error {
	_, err := ParseURL(s)
	return err
}

func localRedirect(s string) bool {
	u, err := url.Parse(s)
	return err == nil && Loopback(u.Hostname())
}

// CheckClientURL reports why a URL cannot be the id of a client (MCP
// 2026-07-28, Client Registration › Client ID Metadata Documents).
func CheckClientURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("it is no URL")
	case u.Scheme != "https" || u.Host == "":
		return errors.New("it is no https URL")
	case strings.Trim(u.Path, "/") == "":
		return errors.New("it has no path")
	case u.User != nil:
		return errors.New("it has a user name")
	case strings.Contains(s, "#"):
		return errors.New("it has a fragment")
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return fmt.Errorf("it has %q in its path", part)
		}
	}
	return nil
}
