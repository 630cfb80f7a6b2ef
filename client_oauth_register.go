package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/oauth"
)

// seat is where a user comes back to: in this process, or where Redirect says.
type seat struct {
	a        *oauthClient
	redirect string
	receiver *oauth.Receiver // nil: Redirect receives
}

// seatAt takes a place, at the redirect URL that is preferred if it can.
func (a *oauthClient) seatAt(preferred string) (*seat, error) {
	if a.opts.Redirect != nil {
		return &seat{a: a, redirect: a.opts.RedirectURL}, nil
	}
	var r *oauth.Receiver
	var err error
	if preferred != "" {
		r, err = oauth.NewReceiver(preferred)
	}
	if preferred == "" || err != nil {
		r, err = oauth.NewReceiver(a.opts.RedirectURL)
	}
	if err != nil {
		return nil, err
	}
	return &seat{a: a, redirect: r.Redirect(), receiver: r}, nil
}

// await sends the user to a page, and returns with what they come back.
func (s *seat) await(ctx context.Context, state, page string) (url.Values, error) {
	if s.receiver == nil {
		return s.a.opts.Redirect(ctx, page)
	}
	return s.receiver.Await(ctx, state, func() error { return s.a.opts.Open(page) })
}

func (s *seat) close() {
	if s.receiver != nil {
		s.receiver.Close()
	}
}

// register gets the client to be known at an authorization server, in the
// order of MCP 2026-07-28 (Client Registration): by the credentials that it
// was given, by its metadata document, by an earlier registration, or by a new
// one. The seat is the caller's to close.
func (a *oauthClient) register(ctx context.Context, g *grant, server *oauth.ServerMetadata) (*seat, *oauth.Registration, error) {
	reg, err := a.registration(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	if reg == nil && server.Register == "" {
		return nil, nil, fmt.Errorf("the authorization server %s does not register clients by itself; register this one there, and set OAuthOptions.ClientID", server.Issuer)
	}
	var preferred string
	if reg != nil {
		preferred = reg.Redirect
	}
	s, err := a.seatAt(preferred)
	if err != nil {
		return nil, nil, err
	}
	if reg != nil && (reg.Redirect == "" || reg.Redirect == s.redirect) {
		return s, reg, nil
	}
	metadata := oauth.NewClientMetadata("", a.opts.ClientName, []string{s.redirect}, server.TokenAuthMethod(true))
	reg, err = a.client(g.server).Register(ctx, server, metadata)
	if err == nil {
		err = a.save(ctx, server.Issuer, "", reg)
	}
	if err != nil {
		s.close()
		return nil, nil, err
	}
	return s, reg, nil
}

// registration returns what the client is to an authorization server already,
// nil for nothing.
func (a *oauthClient) registration(ctx context.Context, server *oauth.ServerMetadata) (*oauth.Registration, error) {
	switch {
	case a.opts.ClientID != "":
		if err := a.bind(server.Issuer); err != nil {
			return nil, err
		}
		return &oauth.Registration{
			Issuer: server.Issuer, ID: a.opts.ClientID, Secret: a.opts.ClientSecret, TokenAuth: server.TokenAuthMethod(a.opts.ClientSecret == ""),
		}, nil
	case a.opts.ClientMetadataURL != "" && server.ClientURLs:
		return &oauth.Registration{Issuer: server.Issuer, ID: a.opts.ClientMetadataURL, TokenAuth: oauth.AuthNone}, nil
	}
	reg := new(oauth.Registration)
	known, err := a.restore(ctx, server.Issuer, "", reg)
	if err != nil || !known || reg.Issuer != server.Issuer || !reg.Expires.IsZero() && time.Now().After(reg.Expires) {
		return nil, err
	}
	if a.opts.Redirect != nil && reg.Redirect != a.opts.RedirectURL {
		return nil, nil
	}
	return reg, nil
}

// disown forgets a registration that the authorization server does not know
// any more.
func (a *oauthClient) disown(ctx context.Context, reg *oauth.Registration, err error) error {
	refused, ok := errors.AsType[*oauth.Refusal](err)
	if !ok || refused.Code != "invalid_client" && refused.Code != "unauthorized_client" || reg.Redirect == "" {
		return nil
	}
	return a.opts.Store.Save(ctx, reg.Issuer, "", nil)
}

// ClientMetadataHandler serves the document of ClientMetadataURL (MCP
// 2026-07-28, Client Registration › Client ID Metadata Documents), at whatever
// path it is mounted. It names RedirectURL, and for desktop programs the
// addresses on their users' machines, of which authorization servers ignore
// the port.
func (o *OAuthOptions) ClientMetadataHandler() http.Handler {
	redirects := []string{o.RedirectURL}
	if o.RedirectURL == "" {
		redirects = []string{"http://127.0.0.1/callback", "http://localhost/callback"}
	}
	name := o.ClientName
	if name == "" {
		name = o.ClientMetadataURL
	}
	doc, _ := jsonx.Marshal(oauth.NewClientMetadata(o.ClientMetadataURL, name, redirects, oauth.AuthNone)) // strings cannot fail
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveMetadata(w, r, doc) })
}
