package mcp_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestHTTPNames holds Mcp-Name to the body of those requests, too, that name a prompt or a resource (MCP 2026-07-28,
// Streamable HTTP › Standard Request Headers). The handler runs only for requests that pass.
func TestHTTPNames(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	count := func() (string, error) { ran.Add(1); return "ran", nil }
	s := mcp.NewServer("names", "1", nil)
	for _, name := range []string{"poem", "Ode"} {
		mcp.AddPrompt(s, name, "", func(context.Context, noArgs) (string, error) { return count() })
	}
	mcp.AddPrompt(s, "Größe", "", func(context.Context, noArgs) (string, error) { return count() })
	for _, uri := range []string{"docs://a", "docs://A", "docs://b%20c"} {
		mcp.AddResource(s, uri, uri, func(context.Context) (string, error) { return count() })
	}
	h := newHandler(t, s, modernOnly)
	prompt, read := getPrompt("1", "poem", "{}"), readRequest("1", "docs://a")
	for _, tt := range []struct {
		name, body string
		edits      []string
		passes     bool
	}{
		{"HDR-05 a prompt's", prompt, nil, true},
		{"HDR-05 no prompt's", prompt, []string{"-Mcp-Name"}, false},
		{"HDR-05 an empty prompt's", prompt, []string{"Mcp-Name: "}, false},
		{"HDR-05 another prompt's", prompt, []string{"Mcp-Name: Ode"}, false},
		{"HDR-05 a prompt's twice", prompt, []string{"+Mcp-Name: poem"}, false},
		{"HDR-07 a prompt's in another case", prompt, []string{"Mcp-Name: Poem"}, false},
		{"HDR-11 C74 a prompt's, encoded", getPrompt("1", "Größe", "{}"), []string{"Mcp-Name: =?base64?R3LDtsOfZQ==?="}, true},
		{"HDR-05 a resource's", read, nil, true},
		{"HDR-05 no resource's", read, []string{"-Mcp-Name"}, false},
		{"HDR-05 an empty resource's", read, []string{"Mcp-Name: "}, false},
		{"HDR-05 another resource's", read, []string{"Mcp-Name: docs://b%20c"}, false},
		{"HDR-05 a resource's twice", read, []string{"+Mcp-Name: docs://a"}, false},
		{"HDR-07 a resource's in another case", read, []string{"Mcp-Name: docs://A"}, false},
		{"HDR-11 a resource's, encoded", read, []string{"Mcp-Name: =?base64?ZG9jczovL2E=?="}, true},
		{"HDR-05 a resource's is not percent-decoded", readRequest("1", "docs://b%20c"), []string{"Mcp-Name: docs://b c"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := ran.Load()
			a := exchange(t, h, modernPost(tt.body, tt.edits...))
			if tt.passes {
				if m := a.message(t); a.status != 200 || m.Result == nil || ran.Load() != before+1 {
					t.Errorf("%d %s", a.status, a.body)
				}
				return
			}
			if e := a.expectError(t, 400, mcp.CodeHeaderMismatch, "1"); !strings.Contains(e.Message, "Mcp-Name") || ran.Load() != before {
				t.Errorf("%s; the handler ran %d times", e.Message, ran.Load()-before)
			}
		})
	}
}
