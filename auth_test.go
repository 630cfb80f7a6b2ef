package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

const (
	protected = "https://h.example/api/mcp" // the resource of the tests' servers
	issuerURL = "https://login.example"
	secretOf  = "sesame-0123456789-abcdef" // a token that must be seen nowhere
)

// tokens knows whose tokens are whose, and counts how often it is asked.
type tokens struct {
	mu     sync.Mutex
	owners map[string]*mcp.Principal
	asked  int
	err    error // instead of an answer
}

func (v *tokens) verify(_ context.Context, token string, _ *http.Request) (*mcp.Principal, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	if v.err != nil {
		return nil, v.err
	}
	if p := v.owners[token]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("nobody has that token")
}

func (v *tokens) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.asked
}

// newTokens knows secretOf, of alice's, and that of bob's.
func newTokens() *tokens {
	return &tokens{owners: map[string]*mcp.Principal{
		secretOf:    {Issuer: issuerURL, Subject: "alice", Scopes: []string{"read"}},
		"bobs":      {Issuer: issuerURL, Subject: "bob", Scopes: []string{"read", "write"}},
		"admins":    {Issuer: issuerURL, Subject: "root", Scopes: []string{"admin", "read", "write"}},
		"long-gone": {Issuer: issuerURL, Subject: "alice", Expires: time.Now().Add(-time.Second)},
		"good-yet":  {Issuer: issuerURL, Subject: "alice", Expires: time.Now().Add(time.Hour)},
	}}
}

func (v *tokens) auth() *mcp.Auth {
	return &mcp.Auth{Verify: v.verify, Resource: protected, Servers: []string{issuerURL}, Scopes: []string{"read", "list"}}
}

// quiet is a log in which none of the secrets may be.
func quiet(t testing.TB, secrets ...string) io.Writer { return &secretless{t, secrets} }

type secretless struct {
	t       testing.TB
	secrets []string
}

func (l *secretless) Write(line []byte) (int, error) {
	for _, secret := range l.secrets {
		if bytes.Contains(line, []byte(secret)) {
			l.t.Errorf("AUS-09: a secret is in the log: %s", line)
		}
	}
	return len(line), nil
}

// whoServer has the tools who, which anybody who is known may call, and write, which needs two scopes. Its log goes to w.
func whoServer(w io.Writer) *mcp.Server {
	s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	who := func(ctx context.Context, _ struct{}) (string, error) {
		p := mcp.RequestFrom(ctx).Principal()
		if p == nil {
			return "nobody", nil
		}
		return p.Subject, nil
	}
	mcp.AddTool(s, "who", "", who)
	mcp.AddTool(s, "write", "", who).RequireScopes("write", "read")
	return s
}

const metadataOf = "https://h.example/.well-known/oauth-protected-resource/api/mcp"

func TestAuth(t *testing.T) {
	t.Parallel()
	who := modernCall("1", "who", `{}`)
	const (
		first   = `Bearer scope="read list", resource_metadata="` + metadataOf + `"`
		invalid = `Bearer error="invalid_token", error_description="the access token is not valid here, or has expired", scope="read list", resource_metadata="` + metadataOf + `"`
	)
	repeated := `Bearer error="invalid_request", error_description="the header Authorization is repeated", resource_metadata="` + metadataOf + `"`
	malformed := `Bearer error="invalid_request", error_description="the access token has characters that none may have", resource_metadata="` + metadataOf + `"`
	for _, tt := range []struct {
		name      string
		r         *http.Request
		status    int
		challenge string
	}{
		{"AUS-06 a valid token", modernPost(who, "Authorization: Bearer "+secretOf), 200, ""},
		{"AUS-06 one that has not expired yet", modernPost(who, "Authorization: Bearer good-yet"), 200, ""},
		{"AUS-04 AUS-05 AUS-06 LAU-03 M19 no token", modernPost(who), 401, first},
		{"AUS-06 M19 an unknown token", modernPost(who, "Authorization: Bearer x"), 401, invalid},
		{"AUS-06 M19 an expired token", modernPost(who, "Authorization: Bearer long-gone"), 401, invalid},
		{"C121 another case of the scheme", modernPost(who, "Authorization: bearer "+secretOf), 200, ""},
		{"C121 two spaces", modernPost(who, "Authorization: Bearer  "+secretOf), 200, ""},
		{"C121 no token after the scheme", modernPost(who, "Authorization: Bearer"), 401, first},
		{"C121 a space after the scheme", modernPost(who, "Authorization: Bearer "), 401, first},
		{"C121 another scheme", modernPost(who, "Authorization: Basic eDp5"), 401, first},
		{"C121 AUS-06 two headers", modernPost(who, "Authorization: Bearer "+secretOf, "+Authorization: Bearer "+secretOf), 400, repeated},
		{"AUS-06 two tokens", modernPost(who, "Authorization: Bearer "+secretOf+" "+secretOf), 400, malformed},
		{"AUS-06 a token with a quote", modernPost(who, `Authorization: Bearer a"b`), 400, malformed},
		{"C121 AUS-11 in the query", inQuery(modernPost(who)), 401, first},
		{"AUS-11 in a cookie", modernPost(who, "Cookie: access_token="+secretOf), 401, first},
		{"AUS-07 a notification", httpPost(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), 401, first},
		{"AUS-07 initialize", httpPost(initializeRequest("1", "2025-11-25")), 401, first},
		{"AUS-07 a method that is not known", modernPost(modernRequest("1", "no/such")), 401, first},
		{"AUS-07 GET", withMethod(httpPost(""), "GET"), 401, first},
		{"AUS-07 DELETE", withMethod(httpPost("", "Mcp-Session-Id: x"), "DELETE"), 401, first},
		{"AUS-07 PUT", withMethod(httpPost(""), "PUT"), 401, first},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			a := exchange(t, newHandler(t, whoServer(&log), &mcp.HTTPOptions{Auth: newTokens().auth()}), tt.r)
			if a.status != tt.status {
				t.Errorf("status %d, want %d: %s", a.status, tt.status, a.body)
			}
			if got := a.header.Get("WWW-Authenticate"); got != tt.challenge {
				t.Errorf("challenge\n%s, want\n%s", got, tt.challenge)
			}
			if tt.status == 200 && !strings.Contains(a.body, "alice") {
				t.Errorf("not alice: %s", a.body)
			}
			for where, text := range map[string]string{"log": log.String(), "body": a.body, "header": fmt.Sprint(a.header)} {
				if strings.Contains(text, secretOf) {
					t.Errorf("AUS-09: the token is in the %s: %s", where, text)
				}
			}
		})
	}
}

func inQuery(r *http.Request) *http.Request {
	r.URL.RawQuery = "access_token=" + secretOf + "&token=" + secretOf
	return r
}

func TestAuthBeforeAllElse(t *testing.T) {
	t.Parallel()
	t.Run("AUS-07 the body is not read before", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequest("POST", "/mcp", failingReader{errors.New("the body was read")})
		r.Host, r.Header = "127.0.0.1:8080", modernPost(modernCall("1", "who", `{}`)).Header
		a := exchange(t, newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: newTokens().auth()}), r)
		if a.status != 401 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("AUS-07 foreign hosts and pages are refused before, preflights answered", func(t *testing.T) {
		t.Parallel()
		v := newTokens()
		h := newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: v.auth(), AllowedOrigins: []string{"https://app.example"}})
		for status, r := range map[int]*http.Request{
			403: modernPost(modernCall("1", "who", `{}`), "Host: evil.example", "Authorization: Bearer "+secretOf),
			204: withMethod(httpPost("", "Origin: https://app.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"), "OPTIONS"),
		} {
			if a := exchange(t, h, r); a.status != status {
				t.Errorf("%d, want %d: %s", a.status, status, a.body)
			}
		}
		if v.count() != 0 {
			t.Errorf("the verifier was asked")
		}
	})
	t.Run("C118 pages may read the challenge", func(t *testing.T) {
		t.Parallel()
		h := newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: newTokens().auth(), AllowedOrigins: []string{"https://app.example"}})
		a := exchange(t, h, modernPost(modernCall("1", "who", `{}`), "Origin: https://app.example"))
		if a.status != 401 || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
			t.Errorf("%d %v", a.status, a.header)
		}
	})
	t.Run("AUS-07 every request anew", func(t *testing.T) {
		t.Parallel()
		v := newTokens()
		h := newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: v.auth()})
		for range 3 {
			exchange(t, h, modernPost(modernCall("1", "who", `{}`), "Authorization: Bearer "+secretOf))
		}
		if v.count() != 3 {
			t.Errorf("asked %d times", v.count())
		}
		v.owners[secretOf] = nil
		if a := exchange(t, h, modernPost(modernCall("1", "who", `{}`), "Authorization: Bearer "+secretOf)); a.status != 401 {
			t.Errorf("a token that was taken away: %d", a.status)
		}
	})
	t.Run("M19 nothing is open while tokens cannot be checked", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		v := newTokens()
		v.err = fmt.Errorf("keys: %w", mcp.Errorf(mcp.CodeInternalError, "the issuer is down"))
		a := exchange(t, newHandler(t, whoServer(&log), &mcp.HTTPOptions{Auth: v.auth()}), modernPost(modernCall("1", "who", `{}`), "Authorization: Bearer "+secretOf))
		if a.status != 503 || a.header.Get("WWW-Authenticate") != "" || strings.Contains(a.body, "issuer") {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "the issuer is down") {
			t.Errorf("log: %s", &log)
		}
	})
	t.Run("M19 the client is not told why", func(t *testing.T) {
		t.Parallel()
		a := exchange(t, newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: newTokens().auth()}), modernPost(modernCall("1", "who", `{}`), "Authorization: Bearer x"))
		if strings.Contains(a.body+fmt.Sprint(a.header), "nobody has that token") {
			t.Errorf("%v %s", a.header, a.body)
		}
	})
}

func TestAuthScopes(t *testing.T) {
	t.Parallel()
	call := func(token string) httpAnswer {
		h := newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: newTokens().auth()})
		return exchange(t, h, modernPost(modernCall("1", "write", `{}`), "Authorization: Bearer "+token))
	}
	t.Run("AUS-12 AUS-13 M19 all scopes of the tool at once", func(t *testing.T) {
		t.Parallel()
		a := call(secretOf)
		a.expectError(t, 403, mcp.CodeInvalidRequest, "1")
		want := `Bearer error="insufficient_scope", scope="write read", resource_metadata="` + metadataOf + `"`
		if got := a.header.Get("WWW-Authenticate"); got != want {
			t.Errorf("challenge\n%s, want\n%s", got, want)
		}
	})
	t.Run("AUS-12 who has them all passes", func(t *testing.T) {
		t.Parallel()
		if a := call("bobs"); a.status != 200 || !strings.Contains(a.body, "bob") {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("AUS-14 a broader scope that the verifier spells out", func(t *testing.T) {
		t.Parallel()
		if a := call("admins"); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("AUS-13 the order is that of the tool, each time", func(t *testing.T) {
		t.Parallel()
		if first, second := call(secretOf).header.Get("WWW-Authenticate"), call("good-yet").header.Get("WWW-Authenticate"); first != second {
			t.Errorf("%s, then %s", first, second)
		}
	})
}

func TestAuthSessions(t *testing.T) {
	t.Parallel()
	h := newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: newTokens().auth()})
	opened := exchange(t, h, httpPost(initializeRequest("1", "2025-11-25"), "Authorization: Bearer "+secretOf))
	id := opened.header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("%d %s", opened.status, opened.body)
	}
	as := func(token string, r *http.Request) int {
		return exchange(t, h, editHeader(r, "Mcp-Session-Id: "+id, "MCP-Protocol-Version: 2025-11-25", "Authorization: Bearer "+token)).status
	}
	list := func() *http.Request { return httpPost(plainRequest("2", "tools/list")) }
	get := func() *http.Request {
		return withMethod(httpPost("", "Accept: text/event-stream", "-Content-Type"), "GET")
	}
	for name, r := range map[string]*http.Request{"POST": list(), "GET": get(), "DELETE": withMethod(httpPost(""), "DELETE")} {
		t.Run("C122 SEC-03 AUS-07 "+name+" of another principal", func(t *testing.T) {
			if got := as("bobs", r); got != 404 {
				t.Errorf("status %d", got)
			}
		})
	}
	t.Run("C122 its own principal is unaffected, with another token too", func(t *testing.T) {
		for _, token := range []string{secretOf, "good-yet"} {
			if got := as(token, list()); got != 200 {
				t.Errorf("status %d", got)
			}
		}
	})
	t.Run("SEC-03 AUS-07 the session alone is not enough", func(t *testing.T) {
		a := exchange(t, h, editHeader(list(), "Mcp-Session-Id: "+id, "MCP-Protocol-Version: 2025-11-25"))
		if a.status != 401 {
			t.Errorf("status %d", a.status)
		}
	})
	t.Run("SEC-04 ids are random and long", func(t *testing.T) {
		other := exchange(t, h, httpPost(initializeRequest("1", "2025-11-25"), "Authorization: Bearer "+secretOf)).header.Get("Mcp-Session-Id")
		if len(id) < 22 || other == id {
			t.Errorf("%s, then %s", id, other)
		}
	})
}

func TestAuthOptions(t *testing.T) {
	t.Parallel()
	v := newTokens()
	for name, tt := range map[string]struct {
		edit func(*mcp.Auth)
		want string // "": all is well
	}{
		"AUS-16 the canonical URL":              {func(*mcp.Auth) {}, ""},
		"AUS-16 on this machine":                {func(a *mcp.Auth) { a.Resource = "http://127.0.0.1:8080/mcp" }, ""},
		"AUS-16 a slash that means something":   {func(a *mcp.Auth) { a.Resource = "https://h.example/mcp/" }, ""},
		"AUS-16 a slash that does not":          {func(a *mcp.Auth) { a.Resource = "https://h.example/" }, `write "https://h.example/" as "https://h.example"`},
		"AUS-16 a fragment":                     {func(a *mcp.Auth) { a.Resource += "#x" }, "fragment"},
		"AUS-16 an empty fragment":              {func(a *mcp.Auth) { a.Resource += "#" }, "fragment"},
		"AUS-16 upper case":                     {func(a *mcp.Auth) { a.Resource = "HTTPS://H.example/mcp" }, `as "https://h.example/mcp"`},
		"AUS-16 the port of the scheme":         {func(a *mcp.Auth) { a.Resource = "https://h.example:443/mcp" }, `as "https://h.example/mcp"`},
		"C118 without a scheme":                 {func(a *mcp.Auth) { a.Resource = "h.example/mcp" }, "Auth.Resource"},
		"AUS-16 not https":                      {func(a *mcp.Auth) { a.Resource = "http://h.example/mcp" }, "https"},
		"AUS-16 with a user name":               {func(a *mcp.Auth) { a.Resource = "https://a:b@h.example/mcp" }, "user name"},
		"AUS-03 no authorization server":        {func(a *mcp.Auth) { a.Servers = nil }, "belong together"},
		"AUS-03 no resource":                    {func(a *mcp.Auth) { a.Resource = "" }, "belong together"},
		"AUS-03 an issuer that is no URL":       {func(a *mcp.Auth) { a.Servers = []string{"login"} }, "Auth.Servers"},
		"AUS-15 offline_access":                 {func(a *mcp.Auth) { a.Scopes = []string{"offline_access"} }, "offline_access"},
		"AUS-05 two scopes in one":              {func(a *mcp.Auth) { a.Scopes = []string{"a b"} }, "Auth.Scopes"},
		"AUS-07 no verifier":                    {func(a *mcp.Auth) { a.Verify = nil }, "Verify"},
		"AUS-02 credentials that are not OAuth": {func(a *mcp.Auth) { a.Resource, a.Servers = "", nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := v.auth()
			tt.edit(a)
			_, err := whoServer(quiet(t, secretOf)).HTTPHandler(&mcp.HTTPOptions{Auth: a})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAuthOffHTTP(t *testing.T) {
	t.Parallel()
	t.Run("AUS-01 on a pipe nobody is asked for tokens", func(t *testing.T) {
		t.Parallel()
		s := whoServer(quiet(t, secretOf))
		if _, err := s.HTTPHandler(&mcp.HTTPOptions{Auth: newTokens().auth()}); err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"who", "write"} {
			if r := ask(t, s, modernCall("1", tool, `{}`)); !strings.Contains(r, "nobody") {
				t.Errorf("%s: %s", tool, r)
			}
		}
	})
	t.Run("AUS-10 SEC-06 handlers see whose token it is, and not the token", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "look", "", func(ctx context.Context, _ struct{}) (string, error) {
			r := mcp.RequestFrom(ctx)
			return fmt.Sprintf("%v %+v %s %s", r.Header()["Authorization"], *r.Principal(), r.Params(), r.Meta()), nil
		})
		a := exchange(t, newHandler(t, s, &mcp.HTTPOptions{Auth: newTokens().auth()}), modernPost(modernCall("1", "look", `{}`), "Authorization: Bearer "+secretOf))
		if a.status != 200 || strings.Contains(a.body, secretOf) {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
