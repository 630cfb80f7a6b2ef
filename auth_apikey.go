package mcp

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
)

// NewAPIKeyVerifier returns an Auth.Verify for keys that were handed out by
// other means than OAuth. A key is sent as Authorization: Bearer, or in the
// header X-API-Key; with both, or with several, the request is refused.
//
// lookup gets the SHA-256 of the key, and returns whose it is: an error or nil
// for nobody. Keep those hashes and not the keys, which should be random and
// long, such as crypto/rand.Text returns. As nobody can choose a hash, how
// long it takes to find one tells nothing about the keys. lookup is called
// concurrently; its errors are those of Auth.Verify.
func NewAPIKeyVerifier(lookup func(ctx context.Context, hash [sha256.Size]byte) (*Principal, error)) func(context.Context, string, *http.Request) (*Principal, error) {
	return func(ctx context.Context, token string, r *http.Request) (*Principal, error) {
		values := r.Header.Values("X-API-Key")
		switch {
		case token == "" && len(values) == 1 && values[0] != "":
			token = values[0]
		case token == "" || len(values) > 0:
			return nil, errors.New("the request has no API key, or several")
		}
		return lookup(ctx, sha256.Sum256([]byte(token)))
	}
}
