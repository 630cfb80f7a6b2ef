package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/typedmcp/mcp/internal/oauth"
)

// Auth makes an HTTP server one that is used with access tokens, an OAuth
// resource server (MCP 2026-07-28, Authorization). Every request is checked,
// whatever its method, before its body is read. It must not be changed once
// it is in use.
//
// The token is the server's alone: a handler that calls other services does so
// with credentials of its own. A server that has its users sign in elsewhere,
// as one client of that service for all clients of its own, has to ask every
// user for every client first, or one client could have the consent that
// another got (MCP 2026-07-28, Security Best Practices › Confused Deputy
// Problem).
type Auth struct {
	// Verify says whose token it is. It must refuse, with an error, whatever
	// is not a valid token for this very server: one that has expired, that
	// was issued by somebody else, or for another server. See NewJWTVerifier
	// and NewAPIKeyVerifier.
	//
	// The token is that of the header Authorization, with the scheme Bearer;
	// it is empty where there is none, and Verify may look for credentials
	// elsewhere in r, whose body it must leave alone. A verifier whose scopes
	// imply each other puts all of them into Principal.Scopes. A principal
	// that has Expired is refused, and so is nil; streams that stay open, such
	// as those of subscriptions, are ended when it expires.
	//
	// Handlers get the principal, and not the token: Request.Header is without
	// Authorization, and without what Verify deletes from r.Header, which is a
	// copy.
	//
	// The client is never told the error, which is logged at the level of
	// debugging. An *Error with CodeInternalError says that tokens cannot be
	// checked at present; it is logged as an error, and the client is told to
	// come back. Verify is called concurrently.
	Verify func(ctx context.Context, token string, r *http.Request) (*Principal, error)
	// Resource is the URL by which clients know the server and for which they
	// request tokens, such as "https://mcp.example.com/mcp": https unless it
	// is on this machine, in lower case, without a needless port or slash.
	// Servers are the issuers of the tokens, the URLs of the authorization
	// servers. Without both, as with API keys, clients are not told how to
	// get tokens.
	Resource string
	Servers  []string
	// Scopes are the scopes that clients should request at first, in the
	// order in which they are advertised. Requests are not refused for want
	// of them: see RequireScopes of tools, resources and prompts.
	Scopes []string
}

// check finds what is wrong with a.
func (a *Auth) check() error {
	if (a.Resource == "") != (len(a.Servers) == 0) {
		return errors.New("mcp: option Auth: Resource and Servers belong together: clients ask Servers for tokens that are meant for Resource")
	}
	if a.Resource != "" {
		canonical, err := oauth.Canonical(a.Resource)
		if err != nil {
			return fmt.Errorf("mcp: option Auth.Resource: %q: %w", a.Resource, err)
		}
		if canonical != a.Resource {
			return fmt.Errorf("mcp: option Auth.Resource: write %q as %q, as clients do", a.Resource, canonical)
		}
	}
	for _, issuer := range a.Servers {
		if _, err := oauth.ParseURL(issuer); err != nil {
			return fmt.Errorf("mcp: option Auth.Servers: %q: %w", issuer, err)
		}
	}
	for _, scope := range a.Scopes {
		switch {
		case !scopeToken(scope):
			return fmt.Errorf("mcp: option Auth.Scopes: %q is not a scope of OAuth: it may have no spaces, quotes, backslashes and characters beyond ASCII", scope)
		case scope == oauth.OfflineAccess:
			return fmt.Errorf("mcp: option Auth.Scopes: take out %q, which is for clients to decide", scope)
		}
	}
	return nil
}

// gate lets those in who are known. The nil gate lets everybody in, unknown.
type gate struct {
	auth     Auth
	metadata string // the URL of the resource's metadata; "": there is none
	log      *slog.Logger
}

func newGate(a *Auth, log *slog.Logger) (*gate, error) {
	if a == nil {
		return nil, nil
	}
	if a.Verify == nil {
		return nil, errors.New("mcp: option Auth: Verify is nil; see NewJWTVerifier and NewAPIKeyVerifier")
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	g := &gate{auth: *a, log: log}
	g.auth.Scopes = slices.Clone(a.Scopes)
	if a.Resource != "" {
		g.metadata, _, _ = oauth.MetadataURLs(a.Resource) // check has parsed it
	}
	return g, nil
}

// admit returns the request with who makes it; otherwise it has been answered
// (MCP 2026-07-28, Authorization › Token Handling, › Error Handling). Nothing
// is read from the URL.
func (g *gate) admit(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	if g == nil {
		return r, true
	}
	token, err := bearerToken(r.Header["Authorization"])
	if err != nil {
		g.refuse(w, &refusal{code: invalidRequest, why: err.Error()})
		return nil, false
	}
	inner := *r
	inner.Header = maps.Clone(r.Header)
	p, err := g.auth.Verify(r.Context(), token, &inner)
	if err == nil {
		err = p.current()
	}
	if err == nil {
		delete(inner.Header, "Authorization") // so that no handler passes it on
		return inner.WithContext(WithPrincipal(r.Context(), p)), true
	}
	if fault, ok := errors.AsType[*Error](err); ok && fault.Code == CodeInternalError {
		g.log.Error("mcp: tokens cannot be checked", "error", err)
		w.Header().Set("Retry-After", "5")
		refuseHTTP(w, http.StatusServiceUnavailable, "tokens cannot be checked at present")
		return nil, false
	}
	g.log.Debug("mcp: a request was refused", "error", err)
	why, known := errors.AsType[*refusal](err)
	switch {
	case known:
	case token == "":
		why = &refusal{why: "an access token is needed, as Authorization: Bearer"}
	default:
		why = &refusal{code: invalidToken, why: "the access token is not valid here, or has expired"}
	}
	g.refuse(w, why)
	return nil, false
}

// refusal is why a request is not let in, in words that are fit for its client.
// Verifiers of this package say by it what they expect.
type refusal struct {
	code  string // of RFC 6750, section 3.1; "": there were no credentials
	why   string
	cause error // for the log; nil: there is nothing to add
}

// Error implements error.
func (e *refusal) Error() string {
	if e.cause == nil {
		return e.why
	}
	return e.cause.Error()
}

// Unwrap returns the cause.
func (e *refusal) Unwrap() error { return e.cause }

// refuse answers a request that is not let in. There is always a challenge of
// the scheme Bearer, by which all credentials can be sent (RFC 9110, section
// 15.5.2); it says why, unless there were none (RFC 6750, section 3.1).
func (g *gate) refuse(w http.ResponseWriter, e *refusal) {
	c := oauth.Challenge{ResourceMetadata: g.metadata}
	status := http.StatusUnauthorized
	if e.code == invalidRequest {
		status = http.StatusBadRequest
	} else {
		c.Scope = strings.Join(g.auth.Scopes, " ")
	}
	if e.code != "" {
		c.Error, c.Description = e.code, e.why
	}
	w.Header().Set("WWW-Authenticate", c.String())
	refuseHTTP(w, status, e.why)
}

// The errors of challenges that have a status of their own.
const (
	invalidRequest = "invalid_request"
	invalidToken   = "invalid_token"
)

// errExpired ends streams whose credentials have.
var errExpired = fmt.Errorf("%w: the credentials with which the stream was opened have expired", ErrDisconnected)

// watch ends a stream, which could go on for days, when the credentials end
// with which it was opened. The client may come back with others. stop is to be
// called when the stream has ended by itself.
func (g *gate) watch(st *httpStream) (stop func() bool) {
	p := principalOf(st.r)
	if g == nil || p.Expires.IsZero() {
		return func() bool { return true }
	}
	return time.AfterFunc(time.Until(p.Expires), func() { st.ctx.end(errExpired) }).Stop
}

// insufficientScope is the challenge that names the scopes to ask for (RFC
// 6750, section 3).
func (g *gate) insufficientScope(scopes []string) string {
	c := oauth.Challenge{Error: oauth.InsufficientScope, Scope: strings.Join(scopes, " ")}
	if g != nil {
		c.ResourceMetadata = g.metadata
	}
	return c.String()
}

// bearerToken returns the token of the values of Authorization, which is empty
// if there is none, or none of that scheme. More than one space before it does
// no harm.
func bearerToken(values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", errors.New("the header Authorization is repeated")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", nil
	}
	token = strings.Trim(token, " ")
	if token != "" && !oauth.Token68(token) {
		return "", errors.New("the access token has characters that none may have")
	}
	return token, nil
}

// current refuses who is nobody, or not any more. Verifiers that allow for
// clocks that differ have added that to Expires.
func (p *Principal) current() error {
	switch {
	case p == nil:
		return errors.New("the verifier knows nobody by these credentials")
	case !p.Expires.IsZero() && !time.Now().Before(p.Expires):
		return errors.New("the credentials have expired")
	}
	return nil
}
