package mcp

import (
	"context"
	"crypto/sha256"
	"net/http"
)

const keyHeader = "X-Api-Key"

// NewAPIKeyVerifier returns an Auth.Verify for keys that were handed out by
// other means than OAuth. A key is sent as Authorization: Bearer, or in the
// header X-API-Key, which handlers then do not see; with both, or with several,
// the request is refused.
//
// lookup gets the SHA-256 of the key, and returns whose it is: an error or nil
// for nobody. Keep those hashes and not the keys, which should be random and
// long, such as crypto/rand.Text returns. As nobody can choose a hash, how
// long it takes to find one tells nothing about the keys. lookup is called
// concurrently; its errors are those of Auth.Verify.
func NewAPIKeyVerifier(lookup func(ctx context.Context, hash [sha256.Size]byte) (*Principal, error)) func(context.Context, string, *http.Request) (*Principal, error) {
	return func(ctx context.Context, token string, r *http.Request) (*Principal, error) {
		key, err := apiKey(token, r.Header[keyHeader])
		if err != nil {
			return nil, err
		}
		delete(r.Header, keyHeader) // so that no handler passes it on
		p, err := lookup(ctx, sha256.Sum256([]byte(key)))
		if err == nil {
			err = p.current()
		}
		if err != nil {
			return nil, &refusal{code: invalidToken, why: "the API key is not valid here, or has expired", cause: err}
		}
		return p, nil
	}
}

// apiKey returns the one key that a request has, as a token or as a value of
// X-API-Key.
func apiKey(token string, values []string) (string, error) {
	switch {
	case len(values) > 1, len(values) == 1 && token != "":
		return "", &refusal{code: invalidRequest, why: "there are several API keys; send one, as X-API-Key or as Authorization: Bearer"}
	case len(values) == 1 && values[0] != "":
		return values[0], nil
	case token != "":
		return token, nil
	}
	return "", &refusal{why: "an API key is needed, as X-API-Key or as Authorization: Bearer"}
}
