package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// OfflineAccess is the scope by which refresh tokens are asked for (OpenID
// Connect Core, section 11).
const OfflineAccess = "offline_access"

// ResourceMetadata says by whom and for what tokens for a server are issued
// (RFC 9728, section 2).
type ResourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Methods  []string `json:"bearer_methods_supported,omitempty"`
}

// ServerMetadata describes an authorization server (RFC 8414, section 2, and
// OpenID Connect Discovery).
type ServerMetadata struct {
	Issuer       string   `json:"issuer"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	Register     string   `json:"registration_endpoint"`
	Keys         string   `json:"jwks_uri"`
	Scopes       []string `json:"scopes_supported"`
	TokenAuth    []string `json:"token_endpoint_auth_methods_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	ClientURLs   bool     `json:"client_id_metadata_document_supported"`
	NamesIssuer  bool     `json:"authorization_response_iss_parameter_supported"`
	undocumented bool     // it has no metadata, and this is made up
}

// errNotFound means that there is no document at an address.
var errNotFound = errors.New("there is no metadata")

// FindResource fetches the metadata of the server at the given URL: from where
// its challenge says, or else from the well-known addresses (MCP 2026-07-28,
// Authorization Server Discovery › Protected Resource Metadata Discovery). It
// is nil if there is none.
func (c *Client) FindResource(ctx context.Context, server, challenge string) (*ResourceMetadata, error) {
	if challenge != "" {
		m, err := c.resource(ctx, server, challenge)
		if err != nil {
			return nil, fmt.Errorf("the resource metadata that the server's challenge names: %w", err)
		}
		return m, nil
	}
	inserted, root, err := MetadataURLs(server)
	if err != nil {
		return nil, err
	}
	for _, address := range slices.Compact([]string{inserted, root}) {
		m, err := c.resource(ctx, server, address)
		if errors.Is(err, errNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the resource metadata at %s: %w", address, err)
		}
		return m, nil
	}
	return nil, nil
}

// resource fetches one document, which has to be about the server.
func (c *Client) resource(ctx context.Context, server, address string) (*ResourceMetadata, error) {
	var m ResourceMetadata
	if err := c.get(ctx, address, &m); err != nil {
		return nil, err
	}
	switch {
	case !Covers(m.Resource, server):
		return nil, fmt.Errorf("it is about %.200q and not about %s", m.Resource, server)
	case len(m.Servers) == 0:
		return nil, errors.New("it names no authorization server")
	}
	return &m, nil
}

// FindServer fetches the metadata of the authorization server with the given
// identifier, which has to be the one that the document has, to the letter
// (MCP 2026-07-28, Authorization Server Discovery › Authorization Server
// Metadata Discovery).
func (c *Client) FindServer(ctx context.Context, issuer string) (*ServerMetadata, error) {
	m, err := c.findServer(ctx, issuer, nil)
	if err != nil {
		return nil, fmt.Errorf("the authorization server %.200q: %w", issuer, err)
	}
	return m, nil
}

func (c *Client) findServer(ctx context.Context, issuer string, head http.Header) (*ServerMetadata, error) {
	u, err := ParseURL(issuer)
	if err != nil {
		return nil, err
	}
	for _, address := range serverURLs(u) {
		m := new(ServerMetadata)
		err := c.do(ctx, http.MethodGet, address, head, nil, m)
		switch {
		case errors.Is(err, errNotFound):
			continue
		case err != nil:
			return nil, err
		case m.Issuer != issuer:
			return nil, fmt.Errorf("its metadata names another issuer, %.200q", m.Issuer)
		}
		return m, m.check()
	}
	return nil, errNotFound
}

// check refuses endpoints that nothing may be sent to.
func (m *ServerMetadata) check() error {
	for name, endpoint := range map[string]string{
		"authorization_endpoint": m.Authorize, "token_endpoint": m.Token, "registration_endpoint": m.Register, "jwks_uri": m.Keys,
	} {
		if endpoint == "" {
			continue
		}
		if _, err := ParseURL(endpoint); err != nil {
			return fmt.Errorf("its %s %.200q: %w", name, endpoint, err)
		}
	}
	return nil
}

// FindLegacyServer is for servers without resource metadata, of revision
// 2025-03-26: they issue tokens themselves, with metadata at the root of their
// origin, or at fixed addresses (MCP 2025-03-26, Authorization › Server
// Metadata Discovery).
func (c *Client) FindLegacyServer(ctx context.Context, server string) (*ServerMetadata, error) {
	u, err := ParseURL(server)
	if err != nil {
		return nil, fmt.Errorf("the server %q: %w", server, err)
	}
	base := origin(u)
	m, err := c.findServer(ctx, base, http.Header{"Mcp-Protocol-Version": {"2025-03-26"}})
	switch {
	case errors.Is(err, errNotFound):
		return &ServerMetadata{
			Issuer: base, Authorize: base + "/authorize", Token: base + "/token", Register: base + "/register",
			TokenAuth: []string{AuthNone, AuthPost, AuthBasic}, undocumented: true,
		}, nil
	case err != nil:
		return nil, fmt.Errorf("the authorization server %s: %w", base, err)
	}
	return m, nil
}

// CanAuthorize reports why the server cannot be used for the authorization
// code flow, nil if it can: without PKCE the code is not safe (MCP 2026-07-28,
// Authorization › Authorization Code Protection). One without metadata has no
// way to say so.
func (m *ServerMetadata) CanAuthorize() error {
	switch {
	case m.Authorize == "" || m.Token == "":
		return fmt.Errorf("the authorization server %s has no authorization or no token endpoint", m.Issuer)
	case !m.undocumented && !slices.Contains(m.Challenges, "S256"):
		return fmt.Errorf("the authorization server %s does not advertise PKCE with S256 in code_challenge_methods_supported, without which nobody can sign in safely", m.Issuer)
	}
	return nil
}

// withQuery adds parameters to an endpoint, which may have some.
func withQuery(endpoint string, params url.Values) (string, error) {
	u, err := ParseURL(endpoint)
	if err != nil {
		return "", err
	}
	query := u.Query()
	for name, values := range params {
		query[name] = values
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}
