package mcp

import (
	"context"
	"time"
)

// Principal is who makes a request, as verified by the server: the requests of
// different principals have nothing in common. It must not be changed once it
// is in use.
type Principal struct {
	// Issuer names who vouches for the principal and Subject is its name there.
	// Client is the OAuth client that acts for it, or by itself if Subject is
	// empty.
	Issuer, Subject, Client string
	// Scopes are the OAuth scopes that were granted.
	Scopes []string
	// Expires is when the credentials end; zero means that they do not say.
	Expires time.Time
	// Claims is whatever the verifier wants handlers to have.
	Claims any
}

type principalKey struct{}

// WithPrincipal returns a context whose requests are made by p. It is honoured
// in the context of a request that HTTPHandler serves, where middleware of
// net/http puts it, in that of Serve, and in that of Dial with InMemory. nil
// means that nobody is known. A context within a handler has no say in it.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Principal is who makes the request; nil means that it was not
// authenticated. Do not take the client's own word for it instead: Client and
// Meta are what anybody can claim to be.
func (r *Request) Principal() *Principal {
	if r.ctx == nil {
		return nil
	}
	p, _ := r.ctx.Value(principalKey{}).(*Principal)
	return p
}

// identity is what the principal is to other requests: the subject, or the
// client where there is none. The credentials of the moment are no part of it.
func (p *Principal) identity() (issuer, subject string) {
	switch {
	case p == nil:
		return "", ""
	case p.Subject != "":
		return p.Issuer, "subject " + p.Subject
	}
	return p.Issuer, "client " + p.Client
}
