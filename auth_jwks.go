package mcp

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/oauth"
)

// How long keys are used, and how often they are looked for when a token names
// one that is not among them, or when that fails: nobody can have the issuer
// asked more often, whatever tokens they send.
const (
	keysFresh = 15 * time.Minute
	keysStale = 24 * time.Hour // if there are no newer ones to be had
	keysPause = 10 * time.Second
	maxKeys   = 100
)

// keySet is the public keys of an issuer, as far as they are known.
type keySet struct {
	client *oauth.Client
	issuer string

	mu      sync.Mutex // protects the fields below
	url     string     // "": not known yet
	keys    []jose.JSONWebKey
	fetched time.Time     // when the keys came
	tried   time.Time     // when they were last asked for
	failure error         // of the last try; nil: it went well
	flight  chan struct{} // not nil: closed when the try under way has ended
}

func newKeySet(client *oauth.Client, issuer, url string) *keySet {
	return &keySet{client: client, issuer: issuer, url: url}
}

// find returns the keys that may have made a signature. An error means that
// they could not be had, or that there are none.
func (s *keySet) find(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error) {
	for {
		s.mu.Lock()
		now := time.Now()
		age := now.Sub(s.fetched)
		found := s.fitting(id, algorithm)
		paused := now.Sub(s.tried) < keysPause
		failure, flight := s.failure, s.flight
		switch {
		case len(found) > 0 && (age < keysFresh || paused && age < keysStale):
			s.mu.Unlock()
			return found, nil
		case paused && flight == nil && failure == nil:
			s.mu.Unlock()
			return nil, errors.New("the issuer has no key such as the token names")
		case paused && flight == nil:
			s.mu.Unlock()
			return nil, Errorf(CodeInternalError, "the keys of %s cannot be had: %v", s.issuer, failure)
		case flight == nil:
			s.flight = make(chan struct{})
			s.mu.Unlock()
			s.fetch(ctx)
			continue
		}
		s.mu.Unlock()
		select {
		case <-flight:
		case <-ctx.Done():
			return nil, Errorf(CodeInternalError, "the request ended before the keys of %s came", s.issuer)
		}
	}
}

// fitting returns the keys for a signature. s.mu is held.
func (s *keySet) fitting(id, algorithm string) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for _, key := range s.keys {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == algorithm) && signs(key.Key, algorithm) {
			found = append(found, key)
		}
	}
	return found
}

// signs reports whether signatures of an algorithm are checked with such a
// key.
func signs(key any, algorithm string) bool {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return (strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")) && key.N.BitLen() >= 2048
	case *ecdsa.PublicKey:
		return strings.HasPrefix(algorithm, "ES")
	case ed25519.PublicKey:
		return algorithm == string(jose.EdDSA)
	}
	return false
}

// fetch asks the issuer, for everybody who waits; it goes on when the request
// that it began with ends.
func (s *keySet) fetch(ctx context.Context) {
	s.mu.Lock()
	url := s.url
	s.mu.Unlock()
	url, keys, err := s.ask(context.WithoutCancel(ctx), url)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried, s.failure = time.Now(), err
	if err == nil {
		s.url, s.keys, s.fetched = url, keys, s.tried
	}
	close(s.flight)
	s.flight = nil
}

// ask fetches the keys, from the URL or from where the issuer's metadata says.
func (s *keySet) ask(ctx context.Context, url string) (string, []jose.JSONWebKey, error) {
	if url == "" {
		issuer, err := s.client.FindServer(ctx, s.issuer)
		if err != nil {
			return "", nil, err
		}
		if url = issuer.Keys; url == "" {
			return "", nil, errors.New("its metadata has no jwks_uri")
		}
	}
	doc, err := s.client.Get(ctx, url)
	if err != nil {
		return "", nil, err
	}
	keys, err := parseKeys(doc)
	return url, keys, err
}

// parseKeys reads a key set. Keys of unknown kinds, and those that are not for
// signatures, are passed over.
func parseKeys(doc []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := jsonx.Unmarshal(doc, &set); err != nil {
		return nil, errors.New("the key set is malformed")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the key set has more than %d keys", maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
