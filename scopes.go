package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// require adds OAuth scopes to those that a request for d needs.
func (d *definition) require(scopes []string) {
	if len(scopes) == 0 {
		d.problem("", errors.New("RequireScopes names no scope"))
	}
	for _, scope := range scopes {
		switch {
		case !scopeToken(scope):
			d.problem("", fmt.Errorf("the scope %q is not one of OAuth: it may have no spaces, quotes, backslashes and characters beyond ASCII", scope))
		case !slices.Contains(d.scopes, scope):
			d.scopes = append(d.scopes, scope)
		}
	}
}

// scopeToken accepts scope-token of RFC 6749, section 3.3.
func scopeToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c == '"' || c == '\\' || c > '~'
	})
}

// permit refuses a request for d whose principal lacks scopes. On HTTP nobody
// is trusted without one; on a pipe and in memory it is the user who started
// the server (MCP 2026-07-28, Authorization › Scope Challenge Handling).
func (r *Request) permit(d *definition) error {
	if r.permits(d) {
		return nil
	}
	e := Errorf(CodeInvalidRequest, "Forbidden: the request needs the scopes %q", d.scopes)
	e.status, e.scopes = http.StatusForbidden, d.scopes
	return e
}

func (r *Request) permits(d *definition) bool {
	if d.scopes == nil {
		return true
	}
	p := r.Principal()
	if p == nil {
		return r.header == nil
	}
	for _, scope := range d.scopes {
		if !slices.Contains(p.Scopes, scope) {
			return false
		}
	}
	return true
}
