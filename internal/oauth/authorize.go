package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// Attempt is one authorization of a user's, from the redirect there to the
// token. It is used once.
type Attempt struct {
	server   *ServerMetadata
	client   *Registration
	resource string
	scopes   []string
	redirect string

	// What is remembered until the user comes back: the issuer that was
	// validated, and what nobody else knows.
	issuer, state, verifier string
	used                    bool
}

// NewAttempt begins an authorization. resource is the server's name as its
// metadata has it, to the letter; without scopes the server decides.
func NewAttempt(server *ServerMetadata, client *Registration, resource, redirect string, scopes []string) (*Attempt, error) {
	if err := server.CanAuthorize(); err != nil {
		return nil, err
	}
	if client.Issuer != server.Issuer {
		return nil, fmt.Errorf("the client is registered with %s and not with %s", client.Issuer, server.Issuer)
	}
	return &Attempt{
		server: server, client: client, resource: resource, scopes: scopes, redirect: redirect,
		issuer: server.Issuer, state: rand.Text(), verifier: oauth2.GenerateVerifier(),
	}, nil
}

// URL is where the user has to go.
func (a *Attempt) URL() (string, error) {
	params := url.Values{
		"response_type": {"code"}, "client_id": {a.client.ID}, "redirect_uri": {a.redirect}, "state": {a.state},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(a.verifier)}, "code_challenge_method": {"S256"},
		"resource": {a.resource},
	}
	if len(a.scopes) > 0 {
		params.Set("scope", strings.Join(a.scopes, " "))
	}
	return withQuery(a.server.Authorize, params)
}

// State is what the answer repeats.
func (a *Attempt) State() string { return a.state }

// Finish takes the parameters with which the user came back, and exchanges the
// code. Who answers is checked before anything else that they say is used,
// errors too (MCP 2026-07-28, Authorization › Authorization Response
// Validation).
func (a *Attempt) Finish(ctx context.Context, c *Client, answer url.Values) (*Token, error) {
	code, err := a.code(answer)
	if err != nil {
		return nil, err
	}
	config := &oauth2.Config{
		ClientID: a.client.ID, ClientSecret: a.client.Secret, RedirectURL: a.redirect,
		Endpoint: oauth2.Endpoint{TokenURL: a.server.Token, AuthStyle: a.client.style()},
	}
	got, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c.http), code,
		oauth2.VerifierOption(a.verifier), oauth2.SetAuthURLParam("resource", a.resource))
	if err != nil {
		return nil, fmt.Errorf("the authorization server %s gave no token: %w", a.issuer, tokenError(err, code, a.verifier, a.client.Secret))
	}
	return newToken(got, a.scopes)
}

// code checks an answer and returns its authorization code.
func (a *Attempt) code(answer url.Values) (string, error) {
	for name, values := range answer {
		if len(values) > 1 {
			return "", fmt.Errorf("the authorization response repeats the parameter %.40q", name)
		}
	}
	if a.used || subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(a.state)) != 1 {
		return "", errors.New("the authorization response does not belong to this attempt: its state is another one, missing, or used")
	}
	a.used = true
	issuers, named := answer["iss"]
	switch {
	case named && issuers[0] != a.issuer:
		return "", fmt.Errorf("the authorization response comes from another issuer than %s, and is not used", a.issuer)
	case !named && a.server.NamesIssuer:
		return "", fmt.Errorf("the authorization response does not say that it comes from %s, which always says so", a.issuer)
	}
	if code := answer.Get("error"); code != "" {
		return "", &AuthorizationError{newRefusal(http.StatusBadRequest, code, answer.Get("error_description"))}
	}
	code := answer.Get("code")
	if code == "" {
		return "", errors.New("the authorization response has no code")
	}
	return code, nil
}

// AuthorizationError is the answer of an authorization server, or a user, who
// does not let the client in.
type AuthorizationError struct{ Refusal *Refusal }

// Error implements error.
func (e *AuthorizationError) Error() string {
	return "the authorization was refused: " + e.Refusal.Error()
}

// Token is what a client may do, and until when.
type Token struct {
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero: unknown
	Scopes  []string  `json:"scopes,omitempty"` // that were asked for or granted
}

// newToken keeps what was granted. Scopes that the server does not mention
// are those that were asked for.
func newToken(got *oauth2.Token, scopes []string) (*Token, error) {
	if got.TokenType != "" && !strings.EqualFold(got.TokenType, "bearer") {
		return nil, fmt.Errorf("the authorization server gave a token of type %.40q, and only bearer tokens can be used", got.TokenType)
	}
	if !Token68(got.AccessToken) {
		return nil, errors.New("the authorization server gave a token with characters that none may have")
	}
	granted, _ := got.Extra("scope").(string)
	return &Token{
		Access: got.AccessToken, Refresh: got.RefreshToken, Expires: got.Expiry,
		Scopes: Scopes(strings.Join(scopes, " "), granted),
	}, nil
}

// Refresh exchanges a refresh token, for the same resource. Where the server
// goes on with that refresh token, and names no other, it is in the new token
// as well.
func (c *Client) Refresh(ctx context.Context, server *ServerMetadata, client *Registration, resource string, old *Token) (*Token, error) {
	if client.Issuer != server.Issuer {
		return nil, fmt.Errorf("the client is registered with %s and not with %s", client.Issuer, server.Issuer)
	}
	config := &clientcredentials.Config{ // of which grant_type can be replaced
		ClientID: client.ID, ClientSecret: client.Secret, TokenURL: server.Token, AuthStyle: client.style(),
		EndpointParams: url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}, "resource": {resource}},
	}
	got, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, c.http))
	if err != nil {
		return nil, fmt.Errorf("the authorization server %s did not refresh the token: %w", server.Issuer, tokenError(err, old.Refresh, client.Secret))
	}
	return newToken(got, old.Scopes)
}

func (r *Registration) style() oauth2.AuthStyle {
	if r.TokenAuth == AuthBasic && r.Secret != "" {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// tokenError keeps of an error of golang.org/x/oauth2, which may quote what
// was sent and received, what is fit to be shown.
func tokenError(err error, secrets ...string) error {
	if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := 0
		if said.Response != nil {
			status = said.Response.StatusCode
		}
		code, description := said.ErrorCode, said.ErrorDescription
		for _, secret := range secrets {
			if secret != "" {
				code = strings.ReplaceAll(code, secret, "[secret]")
				description = strings.ReplaceAll(description, secret, "[secret]")
			}
		}
		return newRefusal(status, code, description)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return errors.New("its answer holds no token")
}
