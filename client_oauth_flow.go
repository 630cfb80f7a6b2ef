package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/oauth"
)

// Challenge implements Authorizer.
func (a *oauthClient) Challenge(ctx context.Context, resp *http.Response) (bool, error) {
	g, err := a.grant(resp.Request.URL.String())
	if err != nil {
		return false, err
	}
	challenge := oauth.FindChallenge(resp.Header)
	_, refused, _ := strings.Cut(resp.Request.Header.Get("Authorization"), " ")
	return a.share(ctx, func() (bool, error) {
		if err := a.load(ctx, g); err != nil {
			return false, err
		}
		if g.token != nil && g.token.Access != refused {
			return true, nil // another call has got a new one meanwhile
		}
		switch {
		case resp.StatusCode == http.StatusUnauthorized:
			return true, a.renew(ctx, g, challenge)
		case resp.StatusCode == http.StatusForbidden && challenge.Error == oauth.InsufficientScope:
			return true, a.stepUp(ctx, g, challenge, operation(resp.Request))
		}
		return false, nil
	})
}

// operation names what was refused: the method and what it is about, such as
// "tools/call add". Before revision 2026-07-28 the body alone has them.
func operation(r *http.Request) string {
	if r.GetBody == nil {
		return r.Method
	}
	body, err := r.GetBody()
	if err != nil {
		return r.Method
	}
	data, err := io.ReadAll(body)
	var m jsonrpc.Message
	if err != nil || jsonrpc.Decode(data, defaultLimits.Depth, &m) != nil || m.Method == "" {
		return r.Method
	}
	about := m.Name()
	if about == nil {
		about = m.URI()
	}
	name, _ := jsonx.View(about)
	return strings.TrimSpace(m.Method + " " + name)
}

// renew replaces a token that the server refuses, or gets the first one. By
// whom the server is served may have changed with that.
func (a *oauthClient) renew(ctx context.Context, g *grant, challenge oauth.Challenge) error {
	at, err := a.discover(ctx, g, challenge)
	if err != nil {
		return err
	}
	unproven, origin := a.unproven(g)
	switch {
	case g.token == nil || at.server.Issuer != g.issuer:
	case unproven && origin == fromUser:
		return fmt.Errorf("the server %s refuses the token that %s has just issued for it", g.server, g.issuer)
	case unproven && origin == fromRefresh, g.token.Refresh == "":
	default:
		if err := a.refreshAt(ctx, g, at.server); err != nil || g.token != nil {
			return err
		}
	}
	return a.authorize(ctx, g, at, challenge.Scope)
}

// Step-ups that are in vain are not repeated for some time, of which so many
// are remembered.
const (
	stepUpPause = 10 * time.Minute
	maxStepUps  = 1000
)

// stepUp gets a token with more scopes (MCP 2026-07-28, Authorization › Step-Up
// Authorization Flow), once for the same operation and scopes: a server that
// goes on refusing would never end.
func (a *oauthClient) stepUp(ctx context.Context, g *grant, challenge oauth.Challenge, operation string) error {
	want := oauth.Scopes(challenge.Scope)
	slices.Sort(want)
	key := operation + "\n" + strings.Join(want, " ")
	if at, tried := g.stepped[key]; tried && time.Since(at) < stepUpPause {
		return fmt.Errorf("the server %s refuses %s for want of the scopes %q, which were asked for", g.server, operation, want)
	}
	at, err := a.discover(ctx, g, challenge)
	if err != nil {
		return err
	}
	if g.stepped == nil || len(g.stepped) >= maxStepUps {
		g.stepped = make(map[string]time.Time)
	}
	g.stepped[key] = time.Now()
	return a.authorize(ctx, g, at, challenge.Scope)
}

// issuance is where tokens for a server are issued.
type issuance struct {
	resource *oauth.ResourceMetadata // nil: it has none
	server   *oauth.ServerMetadata
	name     string // of the resource
}

// discover finds out where tokens for the server are issued. Servers without
// resource metadata are of revision 2025-03-26.
func (a *oauthClient) discover(ctx context.Context, g *grant, challenge oauth.Challenge) (*issuance, error) {
	c := a.client(g.server)
	resource, err := c.FindResource(ctx, g.server, challenge.ResourceMetadata)
	if err != nil {
		return nil, err
	}
	if resource == nil {
		server, err := c.FindLegacyServer(ctx, g.server)
		if err != nil {
			return nil, err
		}
		return &issuance{server: server, name: g.server}, a.bind(server.Issuer)
	}
	issuer, err := a.choose(g, resource.Servers)
	if err != nil {
		return nil, err
	}
	server, err := c.FindServer(ctx, issuer)
	if err != nil {
		return nil, err
	}
	return &issuance{resource: resource, server: server, name: resource.Resource}, nil
}

// choose picks an authorization server: the one that was configured, that was
// used before, or the first.
func (a *oauthClient) choose(g *grant, issuers []string) (string, error) {
	want := g.issuer
	if a.opts.Issuer != "" {
		want = a.opts.Issuer
	} else if a.opts.ClientID != "" && a.issuer != "" {
		want = a.issuer
	}
	issuer := issuers[0]
	if slices.Contains(issuers, want) {
		issuer = want
	}
	return issuer, a.bind(issuer)
}

// bind sees to it that the client goes to no other authorization server than
// it may: credentials are those of one (MCP 2026-07-28, Client Registration ›
// Authorization Server Binding).
func (a *oauthClient) bind(issuer string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.opts.Issuer != "" && issuer != a.opts.Issuer:
		return fmt.Errorf("the server wants tokens of %s, and OAuthOptions.Issuer allows those of %s alone", issuer, a.opts.Issuer)
	case a.opts.ClientID == "":
		return nil
	case a.issuer == "":
		a.issuer = issuer
	case a.issuer != issuer:
		return fmt.Errorf("the server wants tokens of %s, and OAuthOptions.ClientID is registered with %s", issuer, a.issuer)
	}
	return nil
}

// authorize has the user sign in.
func (a *oauthClient) authorize(ctx context.Context, g *grant, at *issuance, challenged string) error {
	if err := at.server.CanAuthorize(); err != nil {
		return err
	}
	scopes := a.scopes(g, at, challenged)
	if err := a.settle(ctx, g, at); err != nil {
		return err
	}
	seat, reg, err := a.register(ctx, g, at.server)
	if err != nil {
		return err
	}
	defer seat.close()
	attempt, err := oauth.NewAttempt(at.server, reg, at.name, seat.redirect, scopes)
	if err != nil {
		return err
	}
	page, err := attempt.URL()
	if err != nil {
		return err
	}
	answer, err := seat.await(ctx, attempt.State(), page)
	if err != nil {
		return err
	}
	token, err := attempt.Finish(ctx, a.client(g.server), answer)
	if err != nil {
		return errors.Join(err, a.disown(ctx, reg, err))
	}
	return a.set(ctx, g, token, fromUser)
}

// settle remembers by whom the server is served; what was issued by another is
// not used any more.
func (a *oauthClient) settle(ctx context.Context, g *grant, at *issuance) error {
	if g.issuer == at.server.Issuer && g.name == at.name {
		return nil
	}
	if g.token != nil {
		if err := a.set(ctx, g, nil, fromStore); err != nil {
			return err
		}
	}
	a.mu.Lock()
	g.issuer, g.name, g.asked = at.server.Issuer, at.name, nil
	a.mu.Unlock()
	return a.save(ctx, "", g.server, served{at.server.Issuer, at.name})
}

// scopes are what to ask for: what the challenge names, or else all that the
// resource has, with what was asked for before, so that nothing is lost (MCP
// 2026-07-28, Authorization › Scope Selection Strategy, › Step-Up).
func (a *oauthClient) scopes(g *grant, at *issuance, challenged string) []string {
	lists := []string{challenged}
	if challenged == "" && at.resource != nil {
		lists[0] = strings.Join(at.resource.Scopes, " ")
	}
	if g.issuer == at.server.Issuer {
		lists = append(lists, strings.Join(g.asked, " "))
	}
	scopes := oauth.Scopes(append(lists, strings.Join(a.opts.Scopes, " "))...)
	scopes = slices.DeleteFunc(scopes, func(s string) bool { return s == oauth.OfflineAccess || !scopeToken(s) })
	if len(scopes) > 0 && slices.Contains(at.server.Scopes, oauth.OfflineAccess) {
		scopes = append(scopes, oauth.OfflineAccess)
	}
	return scopes
}

// refresh replaces a token that has expired; it is gone if that is refused.
func (a *oauthClient) refresh(ctx context.Context, g *grant) error {
	server, err := a.issuerOf(ctx, g)
	if err != nil {
		return err
	}
	return a.refreshAt(ctx, g, server)
}

// issuerOf fetches the metadata of the server that issued the token.
func (a *oauthClient) issuerOf(ctx context.Context, g *grant) (*oauth.ServerMetadata, error) {
	c := a.client(g.server)
	if u, err := url.Parse(g.server); err == nil && u.Scheme+"://"+u.Host == g.issuer {
		return c.FindLegacyServer(ctx, g.server) // which may be without metadata
	}
	return c.FindServer(ctx, g.issuer)
}

func (a *oauthClient) refreshAt(ctx context.Context, g *grant, server *oauth.ServerMetadata) error {
	reg, err := a.registration(ctx, server)
	if err != nil {
		return err
	}
	if reg == nil {
		return a.set(ctx, g, nil, fromStore)
	}
	token, err := a.client(g.server).Refresh(ctx, server, reg, g.name, g.token)
	if _, refused := errors.AsType[*oauth.Refusal](err); refused {
		return errors.Join(a.disown(ctx, reg, err), a.set(ctx, g, nil, fromStore))
	}
	if err != nil {
		return err
	}
	return a.set(ctx, g, token, fromRefresh)
}
