package oauth_test

import (
	"testing"

	"github.com/typedmcp/mcp/internal/oauth"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{ // "": refused
		"https://mcp.example.com":           "https://mcp.example.com",
		"https://mcp.example.com/":          "https://mcp.example.com",
		"https://mcp.example.com/mcp":       "https://mcp.example.com/mcp",
		"https://mcp.example.com/mcp/":      "https://mcp.example.com/mcp/",
		"HTTPS://MCP.Example.com/MCP":       "https://mcp.example.com/MCP",
		"https://mcp.example.com:443/mcp":   "https://mcp.example.com/mcp",
		"https://mcp.example.com:8443":      "https://mcp.example.com:8443",
		"https://mcp.example.com/a%2Fb?x=1": "https://mcp.example.com/a%2Fb?x=1",
		"http://127.0.0.1:80/mcp":           "http://127.0.0.1/mcp",
		"http://[::1]:8080/mcp":             "http://[::1]:8080/mcp",
		"http://LOCALHOST/mcp":              "http://localhost/mcp",
		"http://[::ffff:127.0.0.1]/mcp":     "http://[::ffff:127.0.0.1]/mcp",
		"http://[::ffff:10.0.0.1]/mcp":      "",
		"mcp.example.com":                   "",
		"mcp.example.com/mcp":               "",
		"//mcp.example.com":                 "",
		"https:mcp":                         "",
		"http://mcp.example.com":            "",
		"http://127.0.0.1.evil.example":     "",
		"https://mcp.example.com#x":         "",
		"https://mcp.example.com#":          "",
		"https://a:b@mcp.example.com":       "",
		"ftp://mcp.example.com":             "",
		"https://%zz":                       "",
		"":                                  "",
	} {
		t.Run("AUC-09 AUS-16 "+in, func(t *testing.T) {
			got, err := oauth.Canonical(in)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	const server = "https://h.example/a/mcp"
	for resource, want := range map[string]bool{
		server: true, server + "/": true, "https://h.example/a": true, "https://h.example/a/": true, "https://h.example": true, "https://h.example/": true,
		"https://H.example:443/a/mcp": true,
		"https://h.example/a/mc":      false, "https://h.example/a/mcp/x": false, "https://h.example/b": false, "https://h.example/A/mcp": false,
		"http://h.example/a/mcp": false, "https://h.example:8443/a/mcp": false, "https://evil.example/a/mcp": false,
		"https://h.example.evil/a/mcp": false, "https://h.example/a/mcp?x=1": false, "": false, "h.example": false,
	} {
		t.Run("AUC-03 "+resource, func(t *testing.T) {
			if got := oauth.Covers(resource, server); got != want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestMetadataURLs(t *testing.T) {
	for resource, want := range map[string][2]string{
		"https://example.com/public/mcp":   {"https://example.com/.well-known/oauth-protected-resource/public/mcp", "https://example.com/.well-known/oauth-protected-resource"},
		"https://example.com":              {"https://example.com/.well-known/oauth-protected-resource", "https://example.com/.well-known/oauth-protected-resource"},
		"https://example.com/mcp/":         {"https://example.com/.well-known/oauth-protected-resource/mcp", "https://example.com/.well-known/oauth-protected-resource"},
		"https://example.com/a%2Fb":        {"https://example.com/.well-known/oauth-protected-resource/a%2Fb", "https://example.com/.well-known/oauth-protected-resource"},
		"https://example.com:8443/mcp?t=1": {"https://example.com:8443/.well-known/oauth-protected-resource/mcp?t=1", "https://example.com:8443/.well-known/oauth-protected-resource"},
	} {
		t.Run("AUS-04 AUC-02 "+resource, func(t *testing.T) {
			inserted, root, err := oauth.MetadataURLs(resource)
			if got := [2]string{inserted, root}; got != want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestCheckClientURL(t *testing.T) {
	for url, want := range map[string]bool{
		"https://app.example/client": true, "https://app.example/oauth/client.json?v=1": true,
		"https://app.example": false, "https://app.example/": false, "http://app.example/client": false, "https://app.example/./c": false,
		"https://app.example/a/../c": false, "https://app.example/c#x": false, "https://u@app.example/c": false, "/client": false, "": false,
	} {
		t.Run("REG-03 "+url, func(t *testing.T) {
			if err := oauth.CheckClientURL(url); (err == nil) != want {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTokenAuthMethod(t *testing.T) {
	for _, tt := range []struct {
		known  []string
		public bool
		want   string
	}{
		{nil, false, oauth.AuthBasic}, {nil, true, oauth.AuthBasic},
		{[]string{"none", "client_secret_post"}, true, oauth.AuthNone}, {[]string{"none", "client_secret_post"}, false, oauth.AuthPost},
		{[]string{"private_key_jwt", "client_secret_post", "client_secret_basic"}, false, oauth.AuthPost},
		{[]string{"client_secret_basic", "client_secret_post"}, true, oauth.AuthBasic},
		{[]string{"private_key_jwt"}, true, oauth.AuthNone}, {[]string{"private_key_jwt"}, false, oauth.AuthBasic},
	} {
		t.Run("AUC-27", func(t *testing.T) {
			if got := (&oauth.ServerMetadata{TokenAuth: tt.known}).TokenAuthMethod(tt.public); got != tt.want {
				t.Errorf("%v, public %v: %s, want %s", tt.known, tt.public, got, tt.want)
			}
		})
	}
}
