package oauth_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/oauth"
)

func TestFindChallenge(t *testing.T) {
	full := oauth.Challenge{Error: "insufficient_scope", Description: `say "a, b" \ c`, Scope: "files:read files:write", ResourceMetadata: "https://h.example/.well-known/oauth-protected-resource/mcp"}
	for name, tt := range map[string]struct {
		headers []string
		want    oauth.Challenge
	}{
		"nothing":                     {nil, oauth.Challenge{}},
		"the scheme alone":            {[]string{"Bearer"}, oauth.Challenge{}},
		"all that we write":           {[]string{full.String()}, full},
		"any case":                    {[]string{`bEARER SCOPE="a"`}, oauth.Challenge{Scope: "a"}},
		"tokens for values":           {[]string{`Bearer scope=a, error=invalid_token`}, oauth.Challenge{Scope: "a", Error: "invalid_token"}},
		"white space":                 {[]string{"Bearer\tscope = \"a\" ,  error\t=\"b\" "}, oauth.Challenge{Scope: "a", Error: "b"}},
		"empty elements":              {[]string{`, ,Bearer ,, scope="a",,`}, oauth.Challenge{Scope: "a"}},
		"after another scheme":        {[]string{`Basic realm="x, Bearer scope=\"evil\"", Bearer scope="a"`}, oauth.Challenge{Scope: "a"}},
		"before another scheme":       {[]string{`Bearer scope="a", Basic realm="x", scope="b"`}, oauth.Challenge{Scope: "a"}},
		"after one with credentials":  {[]string{`Negotiate a+/b==, Bearer scope="a"`}, oauth.Challenge{Scope: "a"}},
		"after one with nothing":      {[]string{`Negotiate, Bearer scope="a"`}, oauth.Challenge{Scope: "a"}},
		"in another header":           {[]string{`Basic realm="x"`, `DPoP algs="ES256"`, `Bearer scope="a"`}, oauth.Challenge{Scope: "a"}},
		"the first of two":            {[]string{`Bearer scope="a"`, `Bearer scope="b"`}, oauth.Challenge{Scope: "a"}},
		"the first of a name":         {[]string{`Bearer scope="a", scope="b"`}, oauth.Challenge{Scope: "a"}},
		"unknown parameters":          {[]string{`Bearer realm="x", scope="a", new=1`}, oauth.Challenge{Scope: "a"}},
		"a string that does not end":  {[]string{`Bearer error="e", scope="a`}, oauth.Challenge{Error: "e"}},
		"a parameter of no challenge": {[]string{`scope="a"`}, oauth.Challenge{}},
		"what is no list":             {[]string{`"Bearer scope="`, `@`, `Bearer (`}, oauth.Challenge{}},
	} {
		t.Run("AUC-01 "+name, func(t *testing.T) {
			got := oauth.FindChallenge(http.Header{"Www-Authenticate": tt.headers})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("challenge (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzFindChallenge(f *testing.F) {
	for _, s := range []string{`Bearer scope="a", error=b`, `Negotiate a==, Bearer a="\"`, `,=,`, "Bearer a= b=\"c\" d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := oauth.FindChallenge(http.Header{"Www-Authenticate": {s}})
		again := oauth.FindChallenge(http.Header{"Www-Authenticate": {found.String()}})
		if found != again {
			t.Errorf("%q: %+v, written and read %+v", s, found, again)
		}
	})
}
