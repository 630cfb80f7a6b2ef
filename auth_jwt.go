package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/oauth"
)

// JWTOptions configure NewJWTVerifier. Issuer and Audience are required.
type JWTOptions struct {
	// Issuer is the claim iss of the tokens, to the letter: the URL of the
	// authorization server.
	Issuer string
	// Audience has to be among the claim aud of the tokens, as it stands but
	// for a slash at the end: mostly Auth.Resource, or whatever name for it
	// the authorization server uses.
	Audience string
	// KeysURL is where the issuer's public keys are (its jwks_uri). "" asks
	// the issuer's metadata, when the first token comes.
	KeysURL string
	// Algorithms are the signature algorithms that the issuer uses; nil means
	// RS256, PS256, ES256 and EdDSA. Those with a shared key cannot be used.
	Algorithms []string
	// Skew is by how much the clocks of server and issuer may differ; 0 means
	// a minute, and less than 0 not at all.
	Skew time.Duration
	// HTTP fetches the keys, by its Transport; nil means one that goes
	// anywhere, by https or on this machine.
	HTTP *http.Client
	// Adjust completes the principal from the claims of a token that has been
	// checked, such as with scopes that are implied by others. An error
	// refuses the token. Nil leaves it as it is: Subject and Client are the
	// claims sub and client_id or azp, Scopes those of scope or scp, Expires
	// is exp and the skew, and Claims all claims as a json.RawMessage.
	Adjust func(claims json.RawMessage, p *Principal) error
}

// algorithms are those that have a public key to check them with.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Bounds of tokens.
const (
	defaultSkew = time.Minute
	maxToken    = 16 << 10 // bytes
)

// NewJWTVerifier returns an Auth.Verify for access tokens that are JSON Web
// Tokens (RFC 9068): it checks signature, issuer, audience and times, with the
// issuer's keys, which it fetches when they are needed, keeps for 15 minutes,
// and looks for anew when a token names one that it does not know. The type of
// the token, if it has one, must be at+jwt or JWT. A token without an end is
// refused. While the keys cannot be had, a request is answered with 503.
func NewJWTVerifier(opts *JWTOptions) (func(context.Context, string, *http.Request) (*Principal, error), error) {
	if opts == nil {
		opts = new(JWTOptions)
	}
	v := &jwtVerifier{opts: *opts, skew: max(opts.Skew, 0)}
	if opts.Skew == 0 {
		v.skew = defaultSkew
	}
	switch {
	case opts.Audience == "":
		return nil, errors.New("mcp: option Audience: a server takes only tokens that are meant for it; write the URL that is Auth.Resource")
	case opts.Issuer == "":
		return nil, errors.New("mcp: option Issuer: write the URL of the authorization server, as in the claim iss of its tokens")
	}
	for name, address := range map[string]string{"Issuer": opts.Issuer, "KeysURL": opts.KeysURL} {
		if _, err := oauth.ParseURL(address); err != nil && address != "" {
			return nil, fmt.Errorf("mcp: option %s: %q: %w", name, address, err)
		}
	}
	v.algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}
	if opts.Algorithms != nil {
		v.algorithms = nil
	}
	for _, name := range opts.Algorithms {
		alg := jose.SignatureAlgorithm(name)
		if !slices.Contains(algorithms, alg) {
			return nil, fmt.Errorf("mcp: option Algorithms: %q is none of %v", name, algorithms)
		}
		v.algorithms = append(v.algorithms, alg)
	}
	v.keys = newKeySet(oauth.NewClient(opts.HTTP, oauth.ReachAll), opts.Issuer, opts.KeysURL)
	return v.verify, nil
}

type jwtVerifier struct {
	opts       JWTOptions
	skew       time.Duration
	algorithms []jose.SignatureAlgorithm
	keys       *keySet
}

// verify is an Auth.Verify.
func (v *jwtVerifier) verify(ctx context.Context, token string, _ *http.Request) (*Principal, error) {
	switch {
	case token == "":
		return nil, errors.New("the request has no token")
	case len(token) > maxToken:
		return nil, errors.New("the token is too long")
	}
	signed, err := jose.ParseSignedCompact(token, v.algorithms)
	if err != nil {
		return nil, errors.New("the token is no JWT, or its algorithm is not one that is allowed")
	}
	head := signed.Signatures[0].Header
	if kind, _ := head.ExtraHeaders[jose.HeaderType].(string); !accessTokenType(kind) {
		return nil, fmt.Errorf("the type of the token is %.40q, which is none of access tokens", kind)
	}
	keys, err := v.keys.find(ctx, head.KeyID, head.Algorithm)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if payload, err := signed.Verify(key); err == nil {
			return v.principal(payload)
		}
	}
	return nil, errors.New("the signature of the token is not the issuer's")
}

// accessTokenType accepts the types that issuers give access tokens (RFC 9068,
// section 2.1, and what was there before it).
func accessTokenType(kind string) bool {
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	return kind == "" || kind == "jwt" || kind == "at+jwt"
}

// jwtClaims are those of an access token.
type jwtClaims struct {
	Issuer    string       `json:"iss"`
	Subject   string       `json:"sub"`
	Audience  stringOrList `json:"aud"`
	Expires   *json.Number `json:"exp"`
	NotBefore *json.Number `json:"nbf"`
	Client    string       `json:"client_id"`
	Azp       string       `json:"azp"`
	Scope     stringOrList `json:"scope"`
	Scp       stringOrList `json:"scp"`
}

// principal checks the claims of a token whose signature is right.
func (v *jwtVerifier) principal(payload []byte) (*Principal, error) {
	var c jwtClaims
	if err := jsonx.Unmarshal(payload, &c); err != nil {
		return nil, fmt.Errorf("the claims of the token are malformed: %w", err)
	}
	expires, err := numericDate(c.Expires)
	if err != nil {
		return nil, fmt.Errorf("the claim exp: %w", err)
	}
	notBefore, err := numericDate(c.NotBefore)
	if err != nil {
		return nil, fmt.Errorf("the claim nbf: %w", err)
	}
	switch now := time.Now(); {
	case c.Issuer != v.opts.Issuer:
		return nil, fmt.Errorf("the issuer of the token is %.200q and not %q", c.Issuer, v.opts.Issuer)
	case !slices.ContainsFunc(c.Audience, v.meant):
		return nil, fmt.Errorf("the token is meant for %.200q and not for %q", c.Audience, v.opts.Audience)
	case expires.IsZero():
		return nil, errors.New("the token has no end: the claim exp is missing")
	case !now.Before(expires.Add(v.skew)):
		return nil, fmt.Errorf("the token expired at %s", expires.UTC().Format(time.RFC3339))
	case now.Add(v.skew).Before(notBefore):
		return nil, fmt.Errorf("the token is not to be used before %s", notBefore.UTC().Format(time.RFC3339))
	case c.Subject == "" && c.Client == "" && c.Azp == "":
		return nil, errors.New("the token does not say whose it is: it has neither of the claims sub and client_id")
	}
	p := &Principal{
		Issuer: c.Issuer, Subject: c.Subject, Client: c.Client,
		Scopes:  oauth.Scopes(append(c.Scope, c.Scp...)...),
		Expires: expires.Add(v.skew), Claims: json.RawMessage(payload),
	}
	if p.Client == "" {
		p.Client = c.Azp
	}
	if v.opts.Adjust != nil {
		if err := v.opts.Adjust(payload, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// meant reports whether an audience is this server: the same but for the slash
// that some add and others leave out.
func (v *jwtVerifier) meant(audience string) bool {
	return strings.TrimSuffix(audience, "/") == strings.TrimSuffix(v.opts.Audience, "/")
}

// stringOrList is a claim that may be one string or several.
type stringOrList []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *stringOrList) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		one, err := jsonx.Unquote(data)
		*l = stringOrList{one}
		return err
	}
	return jsonx.Unmarshal(data, (*[]string)(l))
}

// numericDate reads seconds since 1970, which may have a fraction; nil is the
// zero time.
func numericDate(n *json.Number) (time.Time, error) {
	if n == nil {
		return time.Time{}, nil
	}
	seconds, err := n.Float64()
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return time.Time{}, errors.New("it is no time")
	}
	return time.Unix(int64(seconds), 0), nil
}
