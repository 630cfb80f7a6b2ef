package mcp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func TestAuthMetadata(t *testing.T) {
	t.Parallel()
	h := newTokens().auth().MetadataHandler()
	get := func(h http.Handler, method, path string, edits ...string) httpAnswer {
		return exchange(t, h, editHeader(httptest.NewRequest(method, path, nil), edits...))
	}
	want := `{"resource":"https://h.example/api/mcp","authorization_servers":["https://login.example"],"scopes_supported":["read","list"],"bearer_methods_supported":["header"]}`
	const inserted, root = "/.well-known/oauth-protected-resource/api/mcp", "/.well-known/oauth-protected-resource"
	for _, path := range []string{inserted, root} {
		t.Run("C118 AUS-03 AUS-04 M19 at "+path, func(t *testing.T) {
			t.Parallel()
			a := get(h, "GET", path)
			a.expect(t, 200, want)
			if a.header.Get("Content-Type") != "application/json" || a.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%v", a.header)
			}
			if a := get(h, "HEAD", path); a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("HEAD: %d %v", a.status, a.header)
			}
			if a := get(h, "OPTIONS", path, "Origin: https://app.example", "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: mcp-protocol-version"); a.status != 204 || a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Allow-Headers") != "MCP-Protocol-Version" {
				t.Errorf("OPTIONS: %d %v", a.status, a.header)
			}
			if a := get(h, "POST", path); a.status != 405 || a.header.Get("Allow") != "GET, HEAD, OPTIONS" {
				t.Errorf("POST: %d %v", a.status, a.header)
			}
		})
	}
	t.Run("C118 nothing anywhere else", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/", root + "/", root + "/api", inserted + "/", root + "/other", "/.well-known/openid-configuration"} {
			if a := get(h, "GET", path); a.status != 404 {
				t.Errorf("%s: %d", path, a.status)
			}
		}
	})
	t.Run("AUS-04 the example of the specification", func(t *testing.T) {
		t.Parallel()
		a := &mcp.Auth{Verify: newTokens().verify, Resource: "https://example.com/public/mcp", Servers: []string{issuerURL}}
		get(a.MetadataHandler(), "GET", "/.well-known/oauth-protected-resource/public/mcp").
			expect(t, 200, `{"resource":"https://example.com/public/mcp","authorization_servers":["https://login.example"],"bearer_methods_supported":["header"]}`)
	})
	t.Run("AUS-16 a resource that is an origin", func(t *testing.T) {
		t.Parallel()
		a := &mcp.Auth{Verify: newTokens().verify, Resource: "https://h.example", Servers: []string{issuerURL}}
		answer := get(a.MetadataHandler(), "GET", root)
		var doc struct{ Resource string }
		if err := json.Unmarshal([]byte(answer.body), &doc); err != nil || doc.Resource != "https://h.example" {
			t.Errorf("%v %s", err, answer.body)
		}
	})
	t.Run("C118 options that are wrong", func(t *testing.T) {
		t.Parallel()
		a := &mcp.Auth{Resource: "h.example/mcp", Servers: []string{issuerURL}}
		if answer := get(a.MetadataHandler(), "GET", root); answer.status != 500 {
			t.Errorf("%d %s", answer.status, answer.body)
		}
		if answer := get(new(mcp.Auth).MetadataHandler(), "GET", root); answer.status != 404 {
			t.Errorf("without a resource: %d %s", answer.status, answer.body)
		}
	})
	t.Run("AUS-04 ListenAndServe serves it, before anybody is known", func(t *testing.T) {
		t.Parallel()
		l := listen(t, t.Context(), "127.0.0.1:0", &mcp.HTTPOptions{Auth: newTokens().auth()})
		for path, status := range map[string]int{inserted: 200, root: 200, "/.well-known/x": 404, "/x": 404, "/mcp": 401} {
			resp, err := oneShot.Get("http://" + l.address + path)
			if err != nil {
				t.Fatal(err)
			}
			if a := readAnswer(t, resp); a.status != status || status == 200 && cmp.Diff(want, a.body) != "" {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
	})
}
