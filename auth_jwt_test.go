package mcp_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// keyIssuer is an issuer of JWTs, as an http.RoundTripper.
type keyIssuer struct {
	mu      sync.Mutex
	keys    []jose.JSONWebKey // private
	fetches map[string]int    // by URL
	answer  func(url string) (status int, body string)
}

var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func ecKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// newKeyIssuer has one key of each kind, named after it.
func newKeyIssuer() *keyIssuer {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return &keyIssuer{fetches: make(map[string]int), keys: []jose.JSONWebKey{
		{KeyID: "rsa", Key: rsaKey(), Use: "sig"}, {KeyID: "ec", Key: ecKey(), Algorithm: "ES256"}, {KeyID: "ed", Key: ed},
	}}
}

const keysURL = issuerURL + "/keys"

func (i *keyIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	url := r.URL.String()
	i.fetches[url]++
	status, body := 404, ""
	switch url {
	case issuerURL + "/.well-known/openid-configuration":
		status, body = 200, `{"issuer":"`+issuerURL+`","jwks_uri":"`+keysURL+`"}`
	case keysURL:
		set := jose.JSONWebKeySet{}
		for _, key := range i.keys {
			set.Keys = append(set.Keys, key.Public())
		}
		doc, err := json.Marshal(set)
		if err != nil {
			return nil, err
		}
		status, body = 200, strings.Replace(string(doc), `{"keys":[`, `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"rsa"},{"kty":"new"},`, 1)
	}
	if i.answer != nil {
		status, body = i.answer(url)
	}
	if status == 0 {
		return nil, errors.New("the network is down")
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (i *keyIssuer) fetched() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches[keysURL]
}

// sign signs claims with the key of that name.
func (i *keyIssuer) sign(name string, alg jose.SignatureAlgorithm, claims map[string]any, head ...string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	at := slices.IndexFunc(i.keys, func(k jose.JSONWebKey) bool { return k.KeyID == name })
	return signWith(alg, i.keys[at].Key, name, claims, head...)
}

// embedKey signs claims with a key that the token itself has, under a name that the issuer uses.
func embedKey(key *ecdsa.PrivateKey, id string, claims map[string]any) string {
	return signAs(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: id}}, &jose.SignerOptions{EmbedJWK: true}, claims)
}

// signWith signs claims; head are further members of the header, names and values in turn.
func signWith(alg jose.SignatureAlgorithm, key any, id string, claims map[string]any, head ...string) string {
	opts := new(jose.SignerOptions)
	if id != "" {
		opts = opts.WithHeader("kid", id)
	}
	for n := 0; n < len(head); n += 2 {
		opts = opts.WithHeader(jose.HeaderKey(head[n]), head[n+1])
	}
	return signAs(jose.SigningKey{Algorithm: alg, Key: key}, opts, claims)
}

func signAs(key jose.SigningKey, opts *jose.SignerOptions, claims map[string]any) string {
	signer, err := jose.NewSigner(key, opts)
	if err != nil {
		panic(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		panic(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return token
}

// claims are those of a good token, with edits: names and values in turn, of which nil takes the claim out.
func claims(edits ...any) map[string]any {
	c := map[string]any{
		"iss": issuerURL, "sub": "alice", "aud": protected, "client_id": "app", "scope": "read write",
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
	}
	for n := 0; n < len(edits); n += 2 {
		c[edits[n].(string)] = edits[n+1]
	}
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

type verifyFunc = func(context.Context, string, *http.Request) (*mcp.Principal, error)

func jwtVerifier(t testing.TB, i *keyIssuer, edit func(*mcp.JWTOptions)) verifyFunc {
	t.Helper()
	opts := &mcp.JWTOptions{Issuer: issuerURL, Audience: protected, KeysURL: keysURL, HTTP: &http.Client{Transport: i}}
	if edit != nil {
		edit(opts)
	}
	verify, err := mcp.NewJWTVerifier(opts)
	if err != nil {
		t.Fatal(err)
	}
	return verify
}

func TestJWT(t *testing.T) {
	t.Parallel()
	i := newKeyIssuer()
	verify := jwtVerifier(t, i, nil)
	evil := ecKey()
	soon := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	good := i.sign("ec", "ES256", claims())
	body := strings.Split(good, ".")
	for _, tt := range []struct{ name, token, want string }{
		{"AUS-08 a good token", good, ""},
		{"AUS-06 of a key with RSA", i.sign("rsa", "RS256", claims()), ""},
		{"AUS-06 of a key with EdDSA", i.sign("ed", "EdDSA", claims()), ""},
		{"AUS-06 of the type of RFC 9068", i.sign("ec", "ES256", claims(), "typ", "at+jwt"), ""},
		{"AUS-06 of the type in full", i.sign("ec", "ES256", claims(), "typ", "application/at+JWT"), ""},
		{"AUS-06 without the name of a key", signWith("ES256", i.keys[1].Key, "", claims()), ""},
		{"M19 of another type", i.sign("ec", "ES256", claims(), "typ", "logout+jwt"), "type"},

		{"AUS-08 C119 M19 for another server", i.sign("ec", "ES256", claims("aud", "https://other.example/api/mcp")), "meant for"},
		{"AUS-08 C119 of whose host this one's is the beginning", i.sign("ec", "ES256", claims("aud", "https://h.example.evil/api/mcp")), "meant for"},
		{"AUS-08 C119 with another scheme", i.sign("ec", "ES256", claims("aud", "http://h.example/api/mcp")), "meant for"},
		{"AUS-08 C119 with another path", i.sign("ec", "ES256", claims("aud", "https://h.example")), "meant for"},
		{"AUS-08 C119 in another case", i.sign("ec", "ES256", claims("aud", "https://H.example/api/mcp")), "meant for"},
		{"AUS-08 C119 with a slash more", i.sign("ec", "ES256", claims("aud", protected+"/")), ""},
		{"AUS-08 C119 for several, this one too", i.sign("ec", "ES256", claims("aud", []string{"https://other.example", protected})), ""},
		{"AUS-08 C119 for several others", i.sign("ec", "ES256", claims("aud", []string{"https://other.example", protected + ".evil"})), "meant for"},
		{"AUS-08 for nobody", i.sign("ec", "ES256", claims("aud", nil)), "meant for"},
		{"AUS-08 for an empty list", i.sign("ec", "ES256", claims("aud", []string{})), "meant for"},

		{"AUS-10 M19 of another issuer", i.sign("ec", "ES256", claims("iss", "https://evil.example")), "issuer"},
		{"AUS-10 of the issuer with a slash", i.sign("ec", "ES256", claims("iss", issuerURL+"/")), "issuer"},
		{"AUS-10 without issuer", i.sign("ec", "ES256", claims("iss", nil)), "issuer"},
		{"AUS-06 signed by somebody else, in the name of a key", signWith("ES256", evil, "ec", claims()), "signature"},
		{"AUS-06 signed by a key that it brings along", embedKey(evil, "ec", claims()), "signature"},
		{"AUS-06 of an unknown key", signWith("ES256", evil, "other", claims()), "no key"},
		{"AUS-06 changed after it was signed", body[0] + "." + strings.Split(i.sign("ec", "ES256", claims("sub", "root")), ".")[1] + "." + body[2], "signature"},
		{"AUS-06 M19 without a signature", "eyJhbGciOiJub25lIn0." + body[1] + ".", "algorithm"},
		{"AUS-06 with a shared key, the public one", signWith("HS256", []byte(strings.Repeat("secret", 8)), "rsa", claims()), "algorithm"},
		{"AUS-06 with an algorithm that is not allowed", signWith("RS512", rsaKey(), "rsa", claims()), "algorithm"},

		{"AUS-06 M19 expired", i.sign("ec", "ES256", claims("exp", soon(-2*time.Minute))), "expired"},
		{"AUS-06 without an end", i.sign("ec", "ES256", claims("exp", nil)), "no end"},
		{"AUS-06 with an end that is no time", i.sign("ec", "ES256", claims("exp", "soon")), "claims"},
		{"AUS-06 with an end that is not in time", i.sign("ec", "ES256", claims("exp", 1e300)), "exp"},
		{"AUS-06 M19 not valid yet", i.sign("ec", "ES256", claims("nbf", soon(2*time.Minute))), "before"},
		{"AUS-06 of nobody", i.sign("ec", "ES256", claims("sub", nil, "client_id", nil)), "whose"},
		{"AUS-06 of a client alone", i.sign("ec", "ES256", claims("sub", nil)), ""},
		{"AUS-06 no token", "", "no token"},
		{"AUS-06 no JWT", "x.y.z", "no JWT"},
		{"AUS-06 too long", strings.Repeat("a", 20<<10), "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := verify(t.Context(), tt.token, nil)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if err == nil && p.Client != "app" && p.Subject != "alice" {
				t.Errorf("%+v", p)
			}
			if err != nil && len(tt.token) > 8 && strings.Contains(err.Error(), strings.SplitN(tt.token, ".", 2)[0]) {
				t.Errorf("AUS-09: the error has the token: %v", err)
			}
		})
	}
	for claim, from := range map[string]time.Duration{"exp": -30 * time.Second, "nbf": 30 * time.Second} {
		t.Run("AUS-06 M19 "+claim+" within the skew", func(t *testing.T) { // at once, as it lasts for half a minute
			if _, err := verify(t.Context(), i.sign("ec", "ES256", claims(claim, soon(from))), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestJWTPrincipal(t *testing.T) {
	t.Parallel()
	i := newKeyIssuer()
	end := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, tt := range []struct {
		name  string
		edits []any
		opts  func(*mcp.JWTOptions)
		want  mcp.Principal
	}{
		{"M19 claims of RFC 9068", nil, nil, mcp.Principal{Issuer: issuerURL, Subject: "alice", Client: "app", Scopes: []string{"read", "write"}, Expires: end.Add(time.Minute)}},
		{"M19 scp, a list", []any{"scope", nil, "scp", []string{"a", "b", "a"}}, nil, mcp.Principal{Issuer: issuerURL, Subject: "alice", Client: "app", Scopes: []string{"a", "b"}, Expires: end.Add(time.Minute)}},
		{"M19 scp, a string, and azp", []any{"scope", nil, "scp", "a b", "client_id", nil, "azp", "other"}, nil, mcp.Principal{Issuer: issuerURL, Subject: "alice", Client: "other", Scopes: []string{"a", "b"}, Expires: end.Add(time.Minute)}},
		{"M19 a skew of its own", nil, func(o *mcp.JWTOptions) { o.Skew = 5 * time.Minute }, mcp.Principal{Issuer: issuerURL, Subject: "alice", Client: "app", Scopes: []string{"read", "write"}, Expires: end.Add(5 * time.Minute)}},
		{"M19 no skew", nil, func(o *mcp.JWTOptions) { o.Skew = -1 }, mcp.Principal{Issuer: issuerURL, Subject: "alice", Client: "app", Scopes: []string{"read", "write"}, Expires: end}},
		{"AUS-14 scopes that imply others", []any{"scope", "admin"}, func(o *mcp.JWTOptions) {
			o.Adjust = func(claims json.RawMessage, p *mcp.Principal) error {
				if slices.Contains(p.Scopes, "admin") && strings.Contains(string(claims), `"admin"`) {
					p.Scopes = append(p.Scopes, "read")
				}
				return nil
			}
		}, mcp.Principal{Issuer: issuerURL, Subject: "alice", Client: "app", Scopes: []string{"admin", "read"}, Expires: end.Add(time.Minute)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			token := i.sign("ec", "ES256", claims(append([]any{"exp", end.Unix()}, tt.edits...)...))
			p, err := jwtVerifier(t, i, tt.opts)(t.Context(), token, nil)
			if err != nil {
				t.Fatal(err)
			}
			if raw, ok := p.Claims.(json.RawMessage); !ok || !json.Valid(raw) || !strings.Contains(string(raw), `"iat"`) {
				t.Errorf("claims %v", p.Claims)
			}
			p.Claims = nil
			if diff := cmp.Diff(&tt.want, p); diff != "" {
				t.Errorf("principal (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("M19 an adjustment that refuses", func(t *testing.T) {
		t.Parallel()
		verify := jwtVerifier(t, i, func(o *mcp.JWTOptions) {
			o.Adjust = func(json.RawMessage, *mcp.Principal) error { return errors.New("not from that tenant") }
		})
		if _, err := verify(t.Context(), i.sign("ec", "ES256", claims()), nil); err == nil || err.Error() != "not from that tenant" {
			t.Errorf("%v", err)
		}
	})
}

// TestJWTKeys is about the time at which keys are fetched.
func TestJWTKeys(t *testing.T) {
	t.Parallel()
	unavailable := func(err error) bool {
		fault, ok := errors.AsType[*mcp.Error](err)
		return ok && fault.Code == mcp.CodeInternalError
	}
	for name, test := range map[string]func(t *testing.T, i *keyIssuer, verify verifyFunc){
		"are fetched once, and anew after a while": func(t *testing.T, i *keyIssuer, verify verifyFunc) {
			for range 3 {
				expectToken(t, verify, i.sign("ec", "ES256", claims()))
			}
			if n := i.fetched(); n != 1 {
				t.Errorf("fetched %d times", n)
			}
			time.Sleep(16 * time.Minute)
			expectToken(t, verify, i.sign("ec", "ES256", claims()))
			if n := i.fetched(); n != 2 {
				t.Errorf("fetched %d times", n)
			}
		},
		"that are new are found": func(t *testing.T, i *keyIssuer, verify verifyFunc) {
			expectToken(t, verify, i.sign("ec", "ES256", claims()))
			i.keys = append(i.keys, jose.JSONWebKey{KeyID: "new", Key: ecKey()})
			time.Sleep(11 * time.Second)
			expectToken(t, verify, i.sign("new", "ES256", claims()))
		},
		"that were withdrawn are used no more": func(t *testing.T, i *keyIssuer, verify verifyFunc) {
			token := i.sign("ec", "ES256", claims())
			expectToken(t, verify, token)
			i.keys = slices.Delete(i.keys, 1, 2)
			time.Sleep(16 * time.Minute)
			if _, err := verify(t.Context(), token, nil); err == nil || unavailable(err) {
				t.Errorf("error %v", err)
			}
		},
		"that nobody has are not asked for all the time": func(t *testing.T, i *keyIssuer, verify verifyFunc) {
			for n := range 100 {
				if _, err := verify(t.Context(), signWith("ES256", i.keys[1].Key, fmt.Sprint(n), claims()), nil); err == nil || unavailable(err) {
					t.Fatalf("error %v", err)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if n := i.fetched(); n > 2 {
				t.Errorf("fetched %d times in 10 seconds", n)
			}
		},
		"stay for a day when there are no newer ones": func(t *testing.T, i *keyIssuer, verify verifyFunc) {
			token := i.sign("ec", "ES256", claims("exp", time.Now().Add(48*time.Hour).Unix()))
			expectToken(t, verify, token)
			i.answer = func(string) (int, string) { return 0, "" }
			time.Sleep(23 * time.Hour)
			expectToken(t, verify, token)
			time.Sleep(2 * time.Hour)
			if _, err := verify(t.Context(), token, nil); !unavailable(err) {
				t.Errorf("error %v", err)
			}
		},
		"that cannot be had are no fault of the token": func(t *testing.T, i *keyIssuer, verify verifyFunc) {
			for _, answer := range []struct {
				status int
				body   string
			}{{0, ""}, {500, "{}"}, {404, ""}, {200, "no JSON"}, {302, ""}, {200, `{"keys":[` + strings.Repeat(`{},`, 200) + `{}]}`}, {200, `{"keys":[{"kty":"` + strings.Repeat("a", 2<<20) + `"}]}`}} {
				i.answer = func(string) (int, string) { return answer.status, answer.body }
				if _, err := verify(t.Context(), i.sign("ec", "ES256", claims()), nil); !unavailable(err) {
					t.Errorf("with %d %.20s: error %v", answer.status, answer.body, err)
				}
				time.Sleep(11 * time.Second)
			}
			i.answer = nil
			expectToken(t, verify, i.sign("ec", "ES256", claims()))
		},
		"are fetched once for all who wait": func(t *testing.T, i *keyIssuer, verify verifyFunc) {
			token := i.sign("ec", "ES256", claims())
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { expectToken(t, verify, token) })
			}
			wg.Wait()
			if n := i.fetched(); n != 1 {
				t.Errorf("fetched %d times", n)
			}
		},
	} {
		t.Run("M19 keys "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newKeyIssuer()
				test(t, i, jwtVerifier(t, i, nil))
			})
		})
	}
	t.Run("M19 keys are found by the issuer's metadata", func(t *testing.T) {
		t.Parallel()
		i := newKeyIssuer()
		verify := jwtVerifier(t, i, func(o *mcp.JWTOptions) { o.KeysURL = "" })
		expectToken(t, verify, i.sign("ec", "ES256", claims()))
		i.answer = func(string) (int, string) {
			return 200, `{"issuer":"https://evil.example","jwks_uri":"` + keysURL + `"}`
		}
		verify = jwtVerifier(t, i, func(o *mcp.JWTOptions) { o.KeysURL = "" })
		if _, err := verify(t.Context(), i.sign("ec", "ES256", claims()), nil); !unavailable(err) || !strings.Contains(err.Error(), "evil.example") {
			t.Errorf("with metadata of another issuer: %v", err)
		}
	})
	t.Run("M19 AUS-06 keys are used for what they are for", func(t *testing.T) {
		t.Parallel()
		i := newKeyIssuer()
		i.keys = append(i.keys, jose.JSONWebKey{KeyID: "enc", Key: ecKey(), Use: "enc"}, jose.JSONWebKey{KeyID: "ps", Key: rsaKey(), Algorithm: "PS256"})
		verify := jwtVerifier(t, i, nil)
		expectToken(t, verify, i.sign("ps", "PS256", claims()))
		for name, token := range map[string]string{
			"of a key for encryption":                      i.sign("enc", "ES256", claims()),
			"of a key for encryption that is not named":    signWith("ES256", i.keys[3].Key, "", claims()),
			"with another algorithm than that of the key":  i.sign("ps", "RS256", claims()),
			"of a key of another kind than the header has": signWith("ES256", i.keys[1].Key, "rsa", claims()),
		} {
			if p, err := verify(t.Context(), token, nil); err == nil || unavailable(err) {
				t.Errorf("a token %s: %+v, %v", name, p, err)
			}
		}
	})
	t.Run("M19 keys that are too short are not used", func(t *testing.T) {
		t.Parallel()
		i := newKeyIssuer()
		short, err := rsa.GenerateKey(rand.Reader, 1024)
		if err != nil {
			t.Fatal(err)
		}
		i.keys = append(i.keys, jose.JSONWebKey{KeyID: "short", Key: short})
		if _, err := jwtVerifier(t, i, nil)(t.Context(), i.sign("short", "RS256", claims()), nil); err == nil {
			t.Error("a signature with 1024 bits was taken")
		}
	})
}

func expectToken(t *testing.T, verify verifyFunc, token string) {
	t.Helper()
	if p, err := verify(t.Context(), token, nil); err != nil || p.Subject != "alice" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestJWTOptions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		opts *mcp.JWTOptions
		want string
	}{
		"nothing":             {nil, "Audience"},
		"no audience":         {&mcp.JWTOptions{Issuer: issuerURL}, "Audience"},
		"no issuer":           {&mcp.JWTOptions{Audience: protected}, "Issuer"},
		"an issuer over http": {&mcp.JWTOptions{Audience: protected, Issuer: "http://login.example"}, "https"},
		"keys over http":      {&mcp.JWTOptions{Audience: protected, Issuer: issuerURL, KeysURL: "http://login.example/keys"}, "KeysURL"},
		"no signature at all": {&mcp.JWTOptions{Audience: protected, Issuer: issuerURL, Algorithms: []string{"none"}}, "Algorithms"},
		"a shared key":        {&mcp.JWTOptions{Audience: protected, Issuer: issuerURL, Algorithms: []string{"HS256"}}, "Algorithms"},
	} {
		t.Run("M19 "+name, func(t *testing.T) {
			t.Parallel()
			if _, err := mcp.NewJWTVerifier(tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
