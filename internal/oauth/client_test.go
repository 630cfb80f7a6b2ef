package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp/internal/oauth"
)

// recorder answers as a map says, by path, and remembers what was asked.
type recorder struct {
	*httptest.Server
	docs map[string]string // {origin} is that of the server

	mu    sync.Mutex
	asked []string
}

func record(t *testing.T, docs map[string]string) *recorder {
	r := &recorder{docs: docs}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, req.URL.Path)
	doc, known := r.docs[req.URL.Path]
	w.Header().Set("Content-Type", "application/json")
	switch {
	case doc == "!":
		panic(http.ErrAbortHandler)
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(doc, "->"):
		http.Redirect(w, req, doc[2:], http.StatusFound)
	case strings.HasPrefix(doc, "<"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fallthrough
	default:
		_, _ = w.Write([]byte(strings.ReplaceAll(doc, "{origin}", r.URL)))
	}
}

func local(t *testing.T) *oauth.Client {
	c := oauth.NewClient(nil, oauth.ReachLocal)
	t.Cleanup(c.Close)
	return c
}

func TestFindServer(t *testing.T) {
	const oauthAt, openID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	good := func(path string) string {
		return `{"issuer":"{origin}` + path + `","authorization_endpoint":"{origin}/a","token_endpoint":"{origin}/t","code_challenge_methods_supported":["S256"]}`
	}
	for name, tt := range map[string]struct {
		path  string
		docs  map[string]string
		asked []string
		want  string // in the error; "": none
	}{
		"AUC-04 LAU-03 OAuth":                          {"", map[string]string{oauthAt: good("")}, []string{oauthAt}, ""},
		"AUC-04 LAU-04 OpenID":                         {"", map[string]string{openID: good("")}, []string{oauthAt, openID}, ""},
		"AUC-04 OAuth with a path":                     {"/t1", map[string]string{oauthAt + "/t1": good("/t1"), oauthAt: good("")}, []string{oauthAt + "/t1"}, ""},
		"AUC-04 OpenID with a path put in":             {"/t1", map[string]string{openID + "/t1": good("/t1")}, []string{oauthAt + "/t1", openID + "/t1"}, ""},
		"AUC-04 OpenID with a path in front":           {"/t1", map[string]string{"/t1" + openID: good("/t1")}, []string{oauthAt + "/t1", openID + "/t1", "/t1" + openID}, ""},
		"AUC-04 the root is not that of a path":        {"/t1", map[string]string{oauthAt: good(""), openID: good("")}, []string{oauthAt + "/t1", openID + "/t1", "/t1" + openID}, "no metadata"},
		"AUC-05 an issuer of the same origin":          {"/t1", map[string]string{oauthAt + "/t1": good("/t2")}, []string{oauthAt + "/t1"}, "another issuer"},
		"AUC-05 an issuer with a slash":                {"", map[string]string{oauthAt: good("/")}, []string{oauthAt}, "another issuer"},
		"AUC-04 a page for people is no metadata":      {"", map[string]string{oauthAt: "<html>", openID: good("")}, []string{oauthAt, openID}, ""},
		"SEC-01 redirects are not followed":            {"", map[string]string{oauthAt: "->/elsewhere", "/elsewhere": good("")}, []string{oauthAt}, "redirect"},
		"SEC-01 nor those into a private network":      {"", map[string]string{oauthAt: "->http://169.254.169.254/"}, []string{oauthAt}, "redirect"},
		"SEC-01 a document without end":                {"", map[string]string{oauthAt: `{"issuer":"` + strings.Repeat("a", 2<<20) + `"}`}, []string{oauthAt}, "larger than"},
		"AUC-05 no JSON":                               {"", map[string]string{oauthAt: "{"}, []string{oauthAt}, "not the JSON"},
		"AUC-05 the same member twice":                 {"", map[string]string{oauthAt: `{"issuer":"{origin}","issuer":"{origin}"}`}, []string{oauthAt}, "not the JSON"},
		"SEC-02 an endpoint that is a script":          {"", map[string]string{oauthAt: `{"issuer":"{origin}","authorization_endpoint":"javascript:x"}`}, []string{oauthAt}, "authorization_endpoint"},
		"SEC-01 an endpoint over http, somewhere else": {"", map[string]string{oauthAt: `{"issuer":"{origin}","jwks_uri":"http://h.example/k"}`}, []string{oauthAt}, "jwks_uri"},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, tt.docs)
			_, err := local(t).FindServer(t.Context(), r.URL+tt.path)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if diff := cmp.Diff(tt.asked, r.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("SEC-01 a server that does not answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			silent := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})}
			begin := time.Now()
			if _, err := oauth.NewClient(silent, oauth.ReachAll).FindServer(t.Context(), "https://h.example"); err == nil || time.Since(begin) > time.Minute {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		})
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestReach(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1:248:1893:25c8:1946]:443": true,
		"169.254.169.254:80": false, "10.0.0.1:443": false, "172.16.0.1:443": false, "192.168.1.1:443": false, "100.100.100.200:80": false,
		"0.0.0.0:80": false, "255.255.255.255:80": false, "224.0.0.1:80": false, "192.0.0.192:80": false, "198.18.0.1:80": false, "127.0.0.1:80": false,
		"[::1]:80": false, "[::]:80": false, "[::ffff:10.0.0.1]:443": false, "[::ffff:169.254.169.254]:80": false, "[::10.0.0.1]:80": false,
		"[::ffff:127.0.0.1]:80": false, "[::ffff:100.100.100.200]:80": false, "[::ffff:192.0.0.192]:80": false, "[::ffff:0.1.2.3]:80": false, "[::ffff:93.184.216.34]:443": true,
		"[fd00::1]:443": false, "[fe80::1%eth0]:443": false, "[fec0::1]:443": false, "[64:ff9b::a00:1]:443": false, "[2002:a00:1::]:443": false, "[ff02::1]:80": false,
		"[2001:db8::1]:443": false, "nonsense": false,
	} {
		t.Run("SEC-01 "+address, func(t *testing.T) {
			if err := oauth.ReachPublic.Allow(address); (err == nil) != want {
				t.Errorf("public: %v", err)
			}
			loopback := strings.HasPrefix(address, "127.") || strings.HasPrefix(address, "[::1]") || strings.HasPrefix(address, "[::ffff:127.")
			if err := oauth.ReachLocal.Allow(address); (err == nil) != (want || loopback) {
				t.Errorf("with this machine: %v", err)
			}
		})
	}
	t.Run("SEC-01 names are judged by what they lead to", func(t *testing.T) {
		r := record(t, nil)
		at, err := url.Parse(r.URL)
		if err != nil {
			t.Fatal(err)
		}
		// A name that is allowed, and that resolves to this machine when it is used.
		_, err = oauth.NewClient(nil, oauth.ReachPublic).FindServer(t.Context(), "https://localhost:"+at.Port())
		if err == nil || !strings.Contains(err.Error(), "not an address of the internet") || len(r.asked) != 0 {
			t.Errorf("%v, asked %q", err, r.asked)
		}
	})
}

func TestErrorsKeepSecrets(t *testing.T) {
	server := func(r *recorder) *oauth.ServerMetadata {
		return &oauth.ServerMetadata{Issuer: r.URL, Authorize: r.URL + "/a", Token: r.URL + "/t?key=my-key", Challenges: []string{"S256"}}
	}
	client := func(r *recorder) *oauth.Registration {
		return &oauth.Registration{Issuer: r.URL, ID: "me", Secret: "my-secret", TokenAuth: oauth.AuthBasic}
	}
	for name, body := range map[string]string{
		"no answer":             "!",
		"a redirect":            "->/t?my-key",
		"no JSON":               `<my-grant my-secret>`,
		"a token of no type":    `{"access_token":"my access","token_type":"Bearer"}`,
		"a token of a new type": `{"access_token":"my-access","token_type":"DPoP"}`,
		"an error of its own":   `{"error":"my-secret","error_description":"my-grant"}`,
		"an error that quotes":  `{"error":"invalid_grant","error_description":"my-grant, my-secret"}`,
		"no token":              `{"refresh_token":"my-grant"}`,
	} {
		t.Run("AUC-23 "+name, func(t *testing.T) {
			r := record(t, map[string]string{"/t": body})
			attempt, err := oauth.NewAttempt(server(r), client(r), "https://h.example", "http://127.0.0.1/", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = attempt.Finish(t.Context(), local(t), url.Values{"code": {"my-grant"}, "state": {attempt.State()}})
			_, again := local(t).Refresh(t.Context(), server(r), client(r), "https://h.example", &oauth.Token{Refresh: "my-grant"})
			for _, err := range []error{err, again} {
				if err == nil {
					t.Fatal("no error")
				}
				if text := fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)); strings.Contains(text, "my-") || strings.Contains(text, "my access") {
					t.Errorf("a secret is in %s", text)
				}
			}
		})
	}
	t.Run("AUC-19 an attempt is used once", func(t *testing.T) {
		r := record(t, map[string]string{"/t": `{"access_token":"a","token_type":"bearer"}`})
		attempt, err := oauth.NewAttempt(server(r), client(r), "https://h.example", "http://127.0.0.1/", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer := url.Values{"code": {"c"}, "state": {attempt.State()}}
		if _, err := attempt.Finish(t.Context(), local(t), answer); err != nil {
			t.Fatal(err)
		}
		if _, err := attempt.Finish(t.Context(), local(t), answer); err == nil || len(r.asked) != 1 {
			t.Errorf("%v, asked %q", err, r.asked)
		}
	})
	t.Run("REG-08 a client of another server", func(t *testing.T) {
		r := record(t, nil)
		other := &oauth.Registration{Issuer: "https://other.example", ID: "me"}
		if _, err := oauth.NewAttempt(server(r), other, "https://h.example", "http://127.0.0.1/", nil); err == nil {
			t.Error("it began")
		}
		if _, err := local(t).Refresh(t.Context(), server(r), other, "https://h.example", &oauth.Token{Refresh: "r"}); err == nil || len(r.asked) != 0 {
			t.Errorf("%v, asked %q", err, r.asked)
		}
	})
}

func TestReceiver(t *testing.T) {
	r, err := oauth.NewReceiver("")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	send := func(edit func(*http.Request)) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.Redirect()+"?code=c&state=s", nil)
		if err != nil {
			t.Fatal(err)
		}
		edit(req)
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer resp.Body.Close()
		if resp.Header.Get("Referrer-Policy") != "no-referrer" || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("AUC-23: the code may go on: %v", resp.Header)
		}
		return resp.StatusCode
	}
	answer, err := r.Await(t.Context(), "s", func() error {
		for name, tt := range map[string]struct {
			status int
			edit   func(*http.Request)
		}{
			"AUC-19 another state":                {400, func(r *http.Request) { r.URL.RawQuery = "code=c&state=other" }},
			"AUC-19 no state":                     {400, func(r *http.Request) { r.URL.RawQuery = "code=c" }},
			"SEC-02 another host that leads here": {404, func(r *http.Request) { r.Host = "evil.example" }},
			"AUC-20 another path":                 {404, func(r *http.Request) { r.URL.Path = "/" }},
			"AUC-20 another method":               {405, func(r *http.Request) { r.Method = "POST" }},
		} {
			t.Run(name, func(t *testing.T) {
				if got := send(tt.edit); got != tt.status {
					t.Errorf("status %d, want %d", got, tt.status)
				}
			})
		}
		if got := send(func(*http.Request) {}); got != 200 {
			t.Errorf("status %d", got)
		}
		return nil
	})
	if err != nil || answer.Get("code") != "c" {
		t.Errorf("%v, %v", answer, err)
	}
	t.Run("AUC-20 only on this machine", func(t *testing.T) {
		for _, redirect := range []string{"http://0.0.0.0:0/", "https://127.0.0.1/", "http://example.com/", "app:x"} {
			if r, err := oauth.NewReceiver(redirect); err == nil {
				r.Close()
				t.Errorf("it listens at %s", redirect)
			}
		}
	})
	t.Run("AUC-28 waiting ends with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := r.Await(ctx, "x", func() error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestOpenBrowser(t *testing.T) {
	for _, page := range []string{"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http://h.example/", "-x", "calc.exe", "https://", ""} {
		t.Run("SEC-02 "+page, func(t *testing.T) {
			if err := oauth.OpenBrowser(page); err == nil {
				t.Error("it was opened")
			}
		})
	}
	t.Run("SEC-02 no shell is asked", func(t *testing.T) {
		for _, system := range []string{"linux", "darwin", "windows", "freebsd"} {
			name, args := oauth.Opener(system)
			if slices.Contains([]string{"sh", "bash", "cmd", "powershell"}, name) || len(args) > 1 {
				t.Errorf("%s: %s %q", system, name, args)
			}
		}
	})
}
