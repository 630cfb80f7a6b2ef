package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/oauth"
)

// OAuthOptions configure NewOAuth. The zero value signs users of a desktop
// program in with their browser, as a client that registers itself.
type OAuthOptions struct {
	// ClientName is what users are asked to let in.
	ClientName string
	// ClientID and ClientSecret are those of a client that was registered
	// beforehand; the secret is empty if it has none. They are used with one
	// authorization server only: Issuer, or if that is empty the first.
	ClientID, ClientSecret string
	// Issuer is the authorization server to use; "" leaves the choice to the
	// servers that are called.
	Issuer string
	// ClientMetadataURL is where the document is that describes the client,
	// an https URL with a path. Authorization servers that support it need no
	// registration. See ClientMetadataHandler.
	ClientMetadataURL string
	// RedirectURL is where users come back to. With Redirect it is required,
	// and https or on this machine. Without, it is http on this machine, where
	// the client then listens; "" means a port of its choice.
	RedirectURL string
	// Redirect sends a user to the given page, and returns the parameters of
	// the URL with which the user came back to RedirectURL. It should end with
	// its context. The parameter state of the page, which the answer repeats,
	// tells users of one process apart. An error fails the call that wanted a
	// token. Nil opens the user's browser, and waits on this machine.
	Redirect func(ctx context.Context, page string) (url.Values, error)
	// Open shows a page to the user of this machine, for clients without
	// Redirect; nil has the system open its browser. The page is that of an
	// http or https URL; no shell should see it.
	Open func(page string) error
	// Scopes are requested besides those that servers name.
	Scopes []string
	// Store keeps tokens and registrations; nil keeps them in memory. See
	// NewFileTokenStore.
	Store TokenStore
	// HTTP sends the requests to authorization servers, by its Transport. Nil
	// connects to addresses of the internet only, and of this machine if the
	// server to call is there, as it is others who say what to fetch; a proxy
	// is not used. With an HTTP of your own that is its business.
	HTTP *http.Client
	// InsecurePrivateNetworks lets requests of a nil HTTP go to private
	// networks, too: servers that you call can then have the client fetch
	// addresses there.
	InsecurePrivateNetworks bool
}

func (o *OAuthOptions) check() error {
	if o.ClientSecret != "" && o.ClientID == "" {
		return errors.New("mcp: option ClientSecret: there is no ClientID that it belongs to")
	}
	if o.ClientMetadataURL != "" {
		if err := oauth.CheckClientURL(o.ClientMetadataURL); err != nil {
			return fmt.Errorf("mcp: option ClientMetadataURL: %q: %w", o.ClientMetadataURL, err)
		}
	}
	if o.Issuer != "" {
		if _, err := oauth.ParseURL(o.Issuer); err != nil {
			return fmt.Errorf("mcp: option Issuer: %q: %w", o.Issuer, err)
		}
	}
	switch {
	case o.RedirectURL != "":
		if err := oauth.CheckRedirect(o.RedirectURL); err != nil {
			return fmt.Errorf("mcp: option RedirectURL: %q: %w", o.RedirectURL, err)
		}
		if o.Redirect == nil && !oauth.Receivable(o.RedirectURL) {
			return fmt.Errorf("mcp: option RedirectURL: %q is not http on this machine, where alone the client can listen; set Redirect to receive users elsewhere", o.RedirectURL)
		}
	case o.Redirect != nil:
		return errors.New("mcp: option Redirect: RedirectURL must say where users come back to")
	}
	for _, scope := range o.Scopes {
		if !scopeToken(scope) {
			return fmt.Errorf("mcp: option Scopes: %q is not a scope of OAuth", scope)
		}
	}
	return nil
}

// NewOAuth returns an Authorizer that signs users in by the authorization code
// flow of OAuth 2.1 (MCP 2026-07-28, Authorization): it finds the authorization
// server, gets to be known there, sends the user to it, and keeps, refreshes
// and extends the tokens. One Authorizer is for one user; it can serve clients
// of any number of servers, each of which gets only its own tokens. opts may
// be nil.
func NewOAuth(opts *OAuthOptions) (Authorizer, error) {
	a := &oauthClient{gate: make(chan struct{}, 1), grants: make(map[string]*grant)}
	if opts != nil {
		a.opts = *opts
	}
	if err := a.opts.check(); err != nil {
		return nil, err
	}
	a.opts.Scopes = slices.Clone(a.opts.Scopes)
	if a.opts.Store == nil {
		a.opts.Store = new(memoryStore)
	}
	if a.opts.Open == nil {
		a.opts.Open = oauth.OpenBrowser
	}
	a.local = oauth.NewClient(a.opts.HTTP, a.reach(oauth.ReachLocal))
	a.far = oauth.NewClient(a.opts.HTTP, a.reach(oauth.ReachPublic))
	return a, nil
}

// oauthClient implements Authorizer.
type oauthClient struct {
	opts       OAuthOptions
	local, far *oauth.Client // for servers on this machine, and for others
	gate       chan struct{} // of one element: held while tokens are issued

	mu     sync.Mutex // protects the fields below, and the grants' fields as they say
	grants map[string]*grant
	issuer string // with which ClientID is used
	flows  int    // how many have ended
	failed error  // of the last one; nil: it went well
}

// grant is what the client may do at one server.
type grant struct {
	server string // its URL, in canonical form

	// The holder of the gate alone writes these, under the mutex; others read
	// them under it.
	loaded bool
	issuer string       // by whom tokens are issued; "": not known yet
	name   string       // the server's, as a resource
	asked  []string     // the scopes that were asked for there
	token  *oauth.Token // nil: none
	origin tokenOrigin
	stale  time.Time // when to refresh the token; zero: when it is refused
	uses   int       // how often the token was given out

	stepped map[string]time.Time // what was asked for in vain, by the gate's holder
}

// tokenOrigin is where a token comes from.
type tokenOrigin int

const (
	fromStore tokenOrigin = iota
	fromRefresh
	fromUser
)

func (a *oauthClient) reach(least oauth.Reach) oauth.Reach {
	if a.opts.InsecurePrivateNetworks {
		return oauth.ReachAll
	}
	return least
}

// client returns that for metadata of a server.
func (a *oauthClient) client(server string) *oauth.Client {
	if u, err := url.Parse(server); err == nil && oauth.Loopback(u.Hostname()) {
		return a.local
	}
	return a.far
}

// share waits for the turn of a challenge and runs flow, unless one has failed
// meanwhile: whoever waited for it shares the outcome. That somebody else gave
// up is none.
func (a *oauthClient) share(ctx context.Context, flow func() (bool, error)) (bool, error) {
	a.mu.Lock()
	before := a.flows
	a.mu.Unlock()
	if err := a.enter(ctx); err != nil {
		return false, err
	}
	defer a.leave()
	a.mu.Lock()
	failed := a.failed
	waited := a.flows != before
	a.mu.Unlock()
	if waited && failed != nil {
		return false, failed
	}
	retry, err := flow()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flows++
	if a.failed = err; ctx.Err() != nil {
		a.failed = nil
	}
	return retry, err
}

// enter waits for its turn to have tokens issued.
func (a *oauthClient) enter(ctx context.Context) error {
	select {
	case a.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *oauthClient) leave() { <-a.gate }

// grant returns that of a server.
func (a *oauthClient) grant(resource string) (*grant, error) {
	server, err := oauth.Canonical(resource)
	if err != nil {
		return nil, fmt.Errorf("no token is sent to %q: %w", resource, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.grants[server]
	if g == nil {
		g = &grant{server: server}
		a.grants[server] = g
	}
	return g, nil
}

// early is how long before it expires a token is replaced, unless it is one
// that hardly lasts longer: it has to last for the request.
const early = 10 * time.Second

// hold makes token that of the grant; nil: none. The mutex is held.
func (g *grant) hold(token *oauth.Token, origin tokenOrigin) {
	g.token, g.origin, g.uses, g.stale = token, origin, 0, time.Time{}
	if token == nil {
		return
	}
	g.asked = token.Scopes
	if !token.Expires.IsZero() {
		g.stale = token.Expires.Add(-min(early, max(0, time.Until(token.Expires)/2)))
	}
}

// Token implements Authorizer.
func (a *oauthClient) Token(ctx context.Context, resource string) (string, error) {
	g, err := a.grant(resource)
	if err != nil {
		return "", err
	}
	if token, ok := a.take(g); ok {
		return token, nil
	}
	if err := a.enter(ctx); err != nil {
		return "", err
	}
	defer a.leave()
	if err := a.load(ctx, g); err != nil {
		return "", err
	}
	if token, ok := a.take(g); ok {
		return token, nil
	}
	if err := a.refresh(ctx, g); err != nil {
		return "", err
	}
	token, _ := a.take(g)
	return token, nil
}

// take returns the token of a grant, which is empty if there is none; ok is
// false if there is more to find out, or it needs to be refreshed.
func (a *oauthClient) take(g *grant) (token string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !g.loaded:
		return "", false
	case g.token == nil:
		return "", true
	case !g.stale.IsZero() && time.Now().After(g.stale):
		return "", g.token.Refresh == ""
	}
	g.uses++
	return g.token.Access, true
}

// set makes a token that of a grant, and keeps it; nil takes the old one away.
func (a *oauthClient) set(ctx context.Context, g *grant, token *oauth.Token, origin tokenOrigin) error {
	a.mu.Lock()
	g.hold(token, origin)
	a.mu.Unlock()
	if token == nil {
		return a.opts.Store.Save(ctx, g.issuer, g.server, nil)
	}
	return a.save(ctx, g.issuer, g.server, token)
}

// unproven reports whether the server refuses a token that has been used for
// no other request, as far as is known, and where the token comes from.
func (a *oauthClient) unproven(g *grant) (bool, tokenOrigin) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return g.token != nil && g.uses <= 1, g.origin
}

// save keeps v in the store.
func (a *oauthClient) save(ctx context.Context, issuer, resource string, v any) error {
	data, err := jsonx.Marshal(v)
	if err != nil {
		return err
	}
	return a.opts.Store.Save(ctx, issuer, resource, data)
}

// restore reads v from the store, if it is there. What cannot be read is taken
// for absent.
func (a *oauthClient) restore(ctx context.Context, issuer, resource string, v any) (bool, error) {
	data, err := a.opts.Store.Load(ctx, issuer, resource)
	if err != nil || data == nil {
		return false, err
	}
	return jsonx.Unmarshal(data, v) == nil, nil
}

// served is what the store keeps of a server, under no issuer.
type served struct {
	Issuer string `json:"issuer"`
	Name   string `json:"resource"`
}

// load fills a grant from the store.
func (a *oauthClient) load(ctx context.Context, g *grant) error {
	if g.loaded {
		return nil
	}
	var by served
	known, err := a.restore(ctx, "", g.server, &by)
	if err != nil {
		return err
	}
	var token *oauth.Token
	if known {
		stored := new(oauth.Token)
		have, err := a.restore(ctx, by.Issuer, g.server, stored)
		if err != nil {
			return err
		}
		if have && oauth.Token68(stored.Access) {
			token = stored
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g.loaded, g.issuer, g.name = true, by.Issuer, by.Name
	if a.issuer == "" {
		a.issuer = by.Issuer // ClientID was used there before
	}
	g.hold(token, fromStore)
	return nil
}
