// Package oauth is what MCP needs of OAuth 2.1: the addresses and documents
// by which clients find authorization servers (RFC 9728, RFC 8414, OpenID
// Connect Discovery), challenges (RFC 9110, RFC 6750), dynamic registration
// (RFC 7591), and the requests and responses of the authorization code flow
// with PKCE (RFC 7636), resource indicators (RFC 8707) and the issuer's name
// (RFC 9207). Tokens are requested by golang.org/x/oauth2.
//
// Everything that is fetched comes from somebody else: every request is
// bounded in size and time, follows no redirects, and goes over https, or to
// this machine. No error holds a token, a code, a secret or a verifier.
package oauth
