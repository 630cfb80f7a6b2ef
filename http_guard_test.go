package mcp_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// at says that r came in on the local address addr; nil says nothing.
func at(r *http.Request, addr net.Addr) *http.Request {
	ctx := context.Background()
	if addr != nil {
		ctx = context.WithValue(ctx, http.LocalAddrContextKey, addr)
	}
	return r.WithContext(ctx)
}

// namedAddr is an address of a listener that is none of net's.
type namedAddr string

func (namedAddr) Network() string  { return "named" }
func (a namedAddr) String() string { return string(a) }

// TestHTTPHosts shows by which names a server can be reached (MCP 2026-07-28, Streamable HTTP › Security Warning).
func TestHTTPHosts(t *testing.T) {
	t.Parallel()
	var (
		loopback6 = &net.TCPAddr{IP: net.IPv6loopback, Port: 8080}
		other     = &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
		socket    = &net.UnixAddr{Name: "/run/mcp.sock", Net: "unix"}
	)
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	tests := []struct {
		name  string
		opts  mcp.HTTPOptions
		local net.Addr
		ok    []string // hosts that are let in
		bad   []string // hosts that are not
	}{
		{"HTTP-03 C77 on loopback", mcp.HTTPOptions{}, loopback,
			[]string{"localhost", "localhost:8080", "LocalHost:1", "127.0.0.1", "127.0.0.1:8080", "127.9.9.9:80", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]:80", "[::ffff:127.0.0.1]:80", "localhost:"},
			[]string{"mcp.corp.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:localhost",
				"192.0.2.1:8080", "0.0.0.0:8080", "[2001:db8::1]:8080", "", ":8080", "[::1", "localhost:x", "localhost:80:80", "localhost:99999", "127.0.0.1@evil.example", "127.0.0.1:80@evil.example"}},
		{"HTTP-03 on loopback over IPv6", mcp.HTTPOptions{}, loopback6, []string{"localhost", "[::1]:8080"}, []string{"evil.example"}},
		{"HTTP-03 on loopback behind another type of address", mcp.HTTPOptions{}, namedAddr("127.0.0.1:8080"), []string{"localhost"}, []string{"evil.example"}},
		{"HTTP-03 on loopback over UDP", mcp.HTTPOptions{}, &net.UDPAddr{IP: net.IPv6loopback, Port: 1}, []string{"localhost"}, []string{"evil.example"}},
		{"C77 listed, any port", mcp.HTTPOptions{AllowedHosts: []string{"MCP.corp.example"}}, loopback,
			[]string{"mcp.corp.example", "mcp.corp.example:8443", "MCP.CORP.EXAMPLE:1", "localhost:8080", "[::1]"},
			[]string{"corp.example", "x.mcp.corp.example", "mcp.corp.example.evil.example", "evil.example"}},
		{"C77 listed with a port", mcp.HTTPOptions{AllowedHosts: []string{"mcp.corp.example:8443"}}, loopback,
			[]string{"mcp.corp.example:8443", "127.0.0.1:1"}, []string{"mcp.corp.example", "mcp.corp.example:443", "mcp.corp.example:844"}},
		{"C77 listed with a default port, which requests leave out", mcp.HTTPOptions{AllowedHosts: []string{"a.example:443", "b.example:80"}}, loopback,
			[]string{"a.example", "a.example:443", "b.example", "b.example:80"}, []string{"a.example:80", "b.example:443", "a.example:8443"}},
		{"C77 listed address", mcp.HTTPOptions{AllowedHosts: []string{"192.0.2.1", "[2001:db8::1]:8080", "2001:db8::2"}}, loopback,
			[]string{"192.0.2.1:1", "[2001:db8::1]:8080", "[2001:DB8:0::1]:8080", "[2001:db8::2]", "[2001:db8::2]:5"},
			[]string{"192.0.2.2", "[2001:db8::1]:8081", "[2001:db8::3]"}},
		{"listed, on another address", mcp.HTTPOptions{AllowedHosts: []string{"mcp.corp.example"}}, other,
			[]string{"mcp.corp.example", "localhost"}, []string{"evil.example", "192.0.2.1:8080"}},
		{"on another address", mcp.HTTPOptions{}, other, []string{"mcp.corp.example", "evil.example", "192.0.2.1", ""}, nil},
		{"on a Unix socket", mcp.HTTPOptions{}, socket, []string{"mcp.corp.example", "unix"}, nil},
		{"without a local address", mcp.HTTPOptions{}, nil, []string{"mcp.corp.example"}, nil},
		{"InsecureAnyHost", mcp.HTTPOptions{InsecureAnyHost: true, AllowedHosts: []string{"a.example"}}, loopback, []string{"evil.example", "", ":", "[::1"}, nil},
	}
	for _, tt := range tests {
		h := newHandler(t, newFixture(nil).Server, &tt.opts)
		for _, host := range tt.ok {
			t.Run(fmt.Sprintf("%s: %q may", tt.name, host), func(t *testing.T) {
				exchange(t, h, at(modernPost(call, "Host: "+host), tt.local)).expect(t, 200, modernSum("1", 3))
			})
		}
		for _, host := range tt.bad {
			t.Run(fmt.Sprintf("%s: %q may not", tt.name, host), func(t *testing.T) {
				err := exchange(t, h, at(modernPost(call, "Host: "+host), tt.local)).expectError(t, 403, mcp.CodeInvalidRequest, "")
				if !strings.Contains(err.Message, "HTTPOptions.AllowedHosts") {
					t.Errorf("the option is not named: %s", err.Message)
				}
			})
		}
	}
	t.Run("HTTP-03 on every method", func(t *testing.T) {
		h := newHandler(t, newFixture(nil).Server, nil)
		for _, method := range []string{"GET", "DELETE", "OPTIONS", "HEAD", "PUT"} {
			if a := exchange(t, h, withMethod(modernPost(call, "Host: evil.example"), method)); a.status != 403 {
				t.Errorf("%s: %d", method, a.status)
			}
		}
	})
	t.Run("C77 forwarded names are not looked at", func(t *testing.T) {
		h := newHandler(t, newFixture(nil).Server, &mcp.HTTPOptions{AllowedHosts: []string{"mcp.corp.example"}})
		r := modernPost(call, "Host: evil.example", "X-Forwarded-Host: mcp.corp.example", "Forwarded: host=mcp.corp.example", "X-Forwarded-For: 127.0.0.1")
		exchange(t, h, r).expectError(t, 403, mcp.CodeInvalidRequest, "")
	})
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("C77 on a real loopback connection, HTTP/2 %v", http2), func(t *testing.T) {
			srv := serveLoopback(t, newHandler(t, newFixture(nil).Server, &mcp.HTTPOptions{AllowedHosts: []string{"mcp.corp.example"}}), http2)
			for host, status := range map[string]int{"": 200, "mcp.corp.example": 200, "[::1]:8080": 200, "evil.example": 403} {
				r := to(t.Context(), srv.URL, modernPost(call))
				r.Host = host // the authority, over HTTP/2
				resp, err := srv.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				if a := readAnswer(t, resp); a.status != status || resp.ProtoMajor != map[bool]int{false: 1, true: 2}[http2] {
					t.Errorf("host %q: %d over %s", host, a.status, resp.Proto)
				}
			}
		})
	}
}

// TestHTTPOrigins shows which web pages can reach a server.
func TestHTTPOrigins(t *testing.T) {
	t.Parallel()
	other := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	call := modernCall("1", "add", `{"a":1,"b":2}`)
	tests := []struct {
		name  string
		opts  mcp.HTTPOptions
		local net.Addr
		host  string
		ok    []string
		bad   []string
	}{
		{"HTTP-02 C76 on loopback", mcp.HTTPOptions{}, loopback, "localhost:8080",
			[]string{"http://localhost:5173", "http://localhost", "https://LOCALHOST:1", "http://127.0.0.1:3000", "http://[::1]:3000"},
			[]string{"https://evil.example", "null", "", "http://localhost.evil.example", "file://", "ftp://localhost", "http://", "localhost",
				"http://localhost@evil.example", "http://localhost:80:80", "https://evil.example, http://localhost"}},
		{"HTTP-02 M17 listed", mcp.HTTPOptions{AllowedOrigins: []string{"https://App.example.com", "https://b.example:443", "http://c.example:80", "https://d.example:8443", "vscode-webview://x1"}},
			other, "mcp.corp.example",
			[]string{"https://app.example.com", "https://b.example", "http://c.example", "https://d.example:8443", "vscode-webview://x1"},
			[]string{"http://app.example.com", "https://app.example.com:8443", "https://x.app.example.com", "https://app.example.com.evil.example",
				"https://d.example", "http://localhost:5173", "null", "https://evil.example"}},
		{"same origin by an address", mcp.HTTPOptions{}, other, "192.0.2.1:8080",
			[]string{"http://192.0.2.1:8080", "https://192.0.2.1:8080"}, []string{"http://192.0.2.1", "http://192.0.2.1:8081", "http://192.0.2.2:8080"}},
		{"same origin by an IPv6 address", mcp.HTTPOptions{}, other, "[2001:db8::1]:8080",
			[]string{"http://[2001:db8::1]:8080"}, []string{"http://[2001:db8::2]:8080"}},
		{"same origin by a loopback name", mcp.HTTPOptions{}, other, "localhost:8080", []string{"http://localhost:8080"}, []string{"http://localhost:5173"}},
		{"same origin by a listed name", mcp.HTTPOptions{AllowedHosts: []string{"mcp.corp.example"}}, other, "mcp.corp.example",
			[]string{"https://mcp.corp.example"}, []string{"https://mcp.corp.example:8443", "https://corp.example"}},
		{"HTTP-02 same origin by a name that anybody can point here", mcp.HTTPOptions{}, other, "evil.example:8080", nil, []string{"http://evil.example:8080"}},
		{"HTTP-02 the same without a check of names", mcp.HTTPOptions{InsecureAnyHost: true}, loopback, "evil.example:8080",
			[]string{"http://localhost:1"}, []string{"http://evil.example:8080"}},
	}
	for _, tt := range tests {
		h := newHandler(t, newFixture(nil).Server, &tt.opts)
		post := func(origin string) httpAnswer {
			return exchange(t, h, at(modernPost(call, "Host: "+tt.host, "Origin: "+origin), tt.local))
		}
		for _, origin := range tt.ok {
			t.Run(fmt.Sprintf("%s: %q may", tt.name, origin), func(t *testing.T) {
				a := post(origin)
				a.expect(t, 200, modernSum("1", 3))
				if got := a.header.Get("Access-Control-Allow-Origin"); got != origin {
					t.Errorf("M17: Access-Control-Allow-Origin %q", got)
				}
			})
		}
		for _, origin := range tt.bad {
			t.Run(fmt.Sprintf("%s: %q may not", tt.name, origin), func(t *testing.T) {
				a := post(origin)
				err := a.expectError(t, 403, mcp.CodeInvalidRequest, "")
				if !strings.Contains(err.Message, "HTTPOptions.AllowedOrigins") {
					t.Errorf("the option is not named: %s", err.Message)
				}
				if got := a.header["Access-Control-Allow-Origin"]; got != nil {
					t.Errorf("M17: Access-Control-Allow-Origin %q", got)
				}
			})
		}
		t.Run("C76 "+tt.name+": no origin, no page", func(t *testing.T) {
			a := exchange(t, h, at(modernPost(call, "Host: "+tt.host), tt.local))
			a.expect(t, 200, modernSum("1", 3))
			if got := a.header["Access-Control-Allow-Origin"]; got != nil {
				t.Errorf("Access-Control-Allow-Origin %q", got)
			}
		})
	}
	t.Run("HTTP-02 LHT-25 on every method and in every era", func(t *testing.T) {
		h := newHandler(t, newFixture(nil).Server, dualEra)
		for _, method := range []string{"GET", "DELETE", "OPTIONS", "HEAD", "POST"} {
			if a := exchange(t, h, withMethod(httpPost(initializeRequest("1", "2025-11-25"), "Origin: https://evil.example"), method)); a.status != 403 {
				t.Errorf("%s: %d", method, a.status)
			}
		}
	})
	t.Run("HTTP-02 two origins", func(t *testing.T) {
		h := newHandler(t, newFixture(nil).Server, nil)
		exchange(t, h, modernPost(call, "Origin: http://localhost", "+Origin: http://localhost")).expectError(t, 403, mcp.CodeInvalidRequest, "")
	})
}

// TestHTTPCORS shows what browsers are told.
func TestHTTPCORS(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newFixture(nil).Server, &mcp.HTTPOptions{AllowedOrigins: []string{"https://app.example.com"}})
	preflight := func(edits ...string) *http.Request {
		r := httpPost("", append([]string{"-Content-Type", "-Accept", "Origin: https://app.example.com", "Access-Control-Request-Method: POST"}, edits...)...)
		return withMethod(r, http.MethodOptions)
	}
	cors := func(a httpAnswer) map[string]string {
		got := map[string]string{}
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
				got[name] = a.header.Get(name)
			}
		}
		return got
	}
	t.Run("M17 C83 preflight", func(t *testing.T) {
		a := exchange(t, h, preflight("Access-Control-Request-Headers: content-type, Mcp-Method,mcp-name , mcp-protocol-version,mcp-param-Region,authorization,x-evil,cookie"))
		a.expect(t, 204, "")
		want := map[string]string{
			"Access-Control-Allow-Origin":   "https://app.example.com",
			"Access-Control-Allow-Methods":  "GET, POST, DELETE",
			"Access-Control-Allow-Headers":  "content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-param-region, authorization",
			"Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate",
			"Access-Control-Max-Age":        "7200",
			"Vary":                          "Origin",
		}
		if diff := cmp.Diff(want, cors(a)); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
	})
	t.Run("M17 preflight for no header", func(t *testing.T) {
		a := exchange(t, h, preflight())
		a.expect(t, 204, "")
		if _, told := cors(a)["Access-Control-Allow-Headers"]; told {
			t.Error(a.header)
		}
	})
	t.Run("M17 preflight of another page", func(t *testing.T) {
		a := exchange(t, h, preflight("Origin: https://evil.example"))
		if a.status != 403 || len(cors(a)) != 0 {
			t.Errorf("%d %v", a.status, cors(a))
		}
	})
	t.Run("C83 OPTIONS of a page that is no preflight", func(t *testing.T) {
		a := exchange(t, h, preflight("-Access-Control-Request-Method"))
		if a.status != 405 || a.header.Get("Allow") != "GET, POST, DELETE" {
			t.Errorf("%d %v", a.status, a.header)
		}
	})
	t.Run("M17 answers, refusals too", func(t *testing.T) {
		want := map[string]string{
			"Access-Control-Allow-Origin":   "https://app.example.com",
			"Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate",
			"Vary":                          "Origin",
		}
		for _, r := range []*http.Request{
			modernPost(modernCall("1", "add", `{"a":1,"b":2}`)), modernPost("{"), modernPost("", "Content-Type: text/plain"),
			modernPost(modernCall("1", "progress", `{"count":1}`, token1)), withMethod(modernPost(""), "GET"),
		} {
			if diff := cmp.Diff(want, cors(exchange(t, h, editHeader(r, "Origin: https://app.example.com")))); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		}
	})
}

// TestHTTPOptionValues shows which options are refused.
func TestHTTPOptionValues(t *testing.T) {
	t.Parallel()
	origins := func(o string) mcp.HTTPOptions {
		return mcp.HTTPOptions{AllowedOrigins: []string{"https://a.example", o}}
	}
	hosts := func(h string) mcp.HTTPOptions { return mcp.HTTPOptions{AllowedHosts: []string{"a.example", h}} }
	tests := []struct {
		opts mcp.HTTPOptions
		text []string
	}{
		{mcp.HTTPOptions{KeepAlive: -time.Second}, []string{"KeepAlive", "-1s"}},
		{mcp.HTTPOptions{Legacy: -1}, []string{"Legacy", "-1"}},
		{mcp.HTTPOptions{Legacy: 99}, []string{"Legacy", "99"}},
	}
	for _, o := range []string{
		"", "null", "*", "app.example.com", "app.example.com:443", "https://app.example.com/", "https://app.example.com/x", "https://app.example.com?x",
		"https://app.example.com#x", "https://me@app.example.com", "https://*.example.com", "https://", "https://:443", "mailto:x", "https://a b",
		"https://app.example.com:x", "https://münchen.example", " https://app.example.com",
	} {
		tests = append(tests, struct {
			opts mcp.HTTPOptions
			text []string
		}{origins(o), []string{"AllowedOrigins", fmt.Sprintf("%q", o)}})
	}
	for _, h := range []string{
		"", "*", "*.example.com", "https://mcp.example.com", "mcp.example.com/mcp", "me@mcp.example.com", "mcp example", ":8080",
		"mcp.example.com:x", "mcp.example.com:99999", "[::1", "[::1]8080", "münchen.example", "a,b",
	} {
		tests = append(tests, struct {
			opts mcp.HTTPOptions
			text []string
		}{hosts(h), []string{"AllowedHosts", fmt.Sprintf("%q", h)}})
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.text, " "), func(t *testing.T) {
			s := newFixture(nil).Server
			_, err := s.HTTPHandler(&tt.opts)
			for _, text := range append(tt.text, "option") {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not name %s: %v", text, err)
				}
			}
			if err := s.ListenAndServe(t.Context(), "127.0.0.1:0", &tt.opts); err == nil {
				t.Error("ListenAndServe took them")
			}
			shutDown(t, s)
		})
	}
	t.Run("LegacyOff leaves nothing", func(t *testing.T) {
		_, err := newFixture(&mcp.ServerOptions{Versions: []string{"2025-11-25"}}).HTTPHandler(modernOnly)
		if err == nil || !strings.Contains(err.Error(), "Legacy") || !strings.Contains(err.Error(), "Versions") {
			t.Error(err)
		}
	})
	t.Run("what Check finds", func(t *testing.T) {
		s := mcp.NewServer("", "", nil)
		if _, err := s.HTTPHandler(nil); err == nil || err.Error() != s.Check().Error() {
			t.Error(err)
		}
	})
}
