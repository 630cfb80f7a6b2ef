package header_test

import (
	"bufio"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/typedmcp/mcp/internal/header"
)

// parse returns the header of a request as a server receives it.
func parse(t *testing.T, lines ...string) http.Header {
	t.Helper()
	text := "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r.Header
}

func TestNamesAreCanonical(t *testing.T) {
	for _, key := range []string{
		header.ProtocolVersion, header.Method, header.Name, header.SessionID, header.LastEventID, header.ParamPrefix,
	} {
		if got := textproto.CanonicalMIMEHeaderKey(key); got != key {
			t.Errorf("%q is keyed as %q: indexing a header with it finds nothing", key, got)
		}
	}
}

func TestDisplay(t *testing.T) {
	for key, want := range map[string]string{
		header.ProtocolVersion: "MCP-Protocol-Version",
		header.LastEventID:     "Last-Event-ID",
		header.Method:          "Mcp-Method",
		"Mcp-Param-Region":     "Mcp-Param-Region",
	} {
		if got := header.Display(key); got != want {
			t.Errorf("Display(%q) = %q, want %q", key, got, want)
		}
		if got := textproto.CanonicalMIMEHeaderKey(header.Display(key)); got != key {
			t.Errorf("Display(%q) names another header, %q", key, got)
		}
	}
}

func TestOne(t *testing.T) {
	tests := []struct {
		name              string
		h                 http.Header
		value             string
		present, repeated bool
	}{
		{"absent", parse(t), "", false, false},
		{"present", parse(t, "Mcp-Name: add"), "add", true, false},
		{"HDR-06 lower case name", parse(t, "mcp-name: add"), "add", true, false},
		{"HDR-06 upper case name", parse(t, "MCP-NAME: add"), "add", true, false},
		{"HDR-08 spaces around the value", parse(t, "Mcp-Name:   add \t"), "add", true, false},
		{"HDR-08 not stripped by the server", http.Header{header.Name: {"\t add "}}, "add", true, false},
		{"no other white space is stripped", http.Header{header.Name: {"\n\u00a0add\u00a0\n"}}, "\n\u00a0add\u00a0\n", true, false},
		{"inner space stays", parse(t, "Mcp-Name: a  b"), "a  b", true, false},
		{"XMH-14 empty is not absent", parse(t, "Mcp-Name:"), "", true, false},
		{"only spaces", http.Header{header.Name: {" \t "}}, "", true, false},
		{"repeated", parse(t, "Mcp-Name: add", "mcp-name: delete"), "", true, true},
		{"repeated with the same value", parse(t, "Mcp-Name: add", "Mcp-Name: add"), "", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			value, present, repeated := header.One(tt.h, header.Name)
			if value != tt.value || present != tt.present || repeated != tt.repeated {
				t.Errorf("got %q, %t, %t, want %q, %t, %t", value, present, repeated, tt.value, tt.present, tt.repeated)
			}
		})
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		name, line, key, want string
		problem               string // a part of the error; "" for none
	}{
		{"equal method", "Mcp-Method: tools/call", header.Method, "tools/call", ""},
		{"C79 HDR-06 HDR-08 lower case name, spaces around the value", "mcp-method:  tools/call  ", header.Method, "tools/call", ""},
		{"C79 HDR-05 missing", "Mcp-Other: x", header.Method, "tools/call", "Mcp-Method header is missing"},
		{"C79 HDR-07 value in upper case", "Mcp-Method: TOOLS/CALL", header.Method, "tools/call", "differs"},
		{"C79 HDR-05 name of another tool", "Mcp-Name: foo", header.Name, "bar", "Mcp-Name header differs"},
		{"version is displayed as specified", "Mcp-Other: x", header.ProtocolVersion, "2026-07-28", "the MCP-Protocol-Version header"},
		{"method is never decoded", "Mcp-Method: =?base64?cGluZw==?=", header.Method, "ping", "differs"},
		{"C74 HDR-11 encoded name", "Mcp-Name: =?base64?bnVt?=", header.Name, "num", ""},
		{"C74 HDR-11 encoded name outside ASCII", "Mcp-Name: =?base64?R3LDtsOfZQ==?=", header.Name, "Größe", ""},
		{"C74 HDR-11 the encoded text itself", "Mcp-Name: =?base64?bnVt?=", header.Name, "=?base64?bnVt?=", "differs"},
		{"C74 empty form is the empty name", "Mcp-Name: =?base64??=", header.Name, "", ""},
		{"C74 empty form of another name", "Mcp-Name: =?base64??=", header.Name, "num", "differs"},
		{"C74 HDR-13 broken Base64", "Mcp-Name: =?base64?SGVs!!!bG8=?=", header.Name, "num", "Base64"},
		{"HDR-11 encoded parameter", "Mcp-Param-Region: =?base64?RXVyb3Bh?=", "Mcp-Param-Region", "Europa", ""},
		{"HDR-12 upper case marker is text", "Mcp-Name: =?BASE64?bnVt?=", header.Name, "=?BASE64?bnVt?=", ""},
		{"HDR-12 upper case marker is not decoded", "Mcp-Name: =?BASE64?bnVt?=", header.Name, "num", "differs"},
		{"HDR-14 raw byte", "Mcp-Name: a\x80", header.Name, "a\x80", "outside printable ASCII"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkProblem(t, header.Match(parse(t, tt.line), tt.key, tt.want), tt.problem)
		})
	}
	t.Run("repeated", func(t *testing.T) {
		h := parse(t, "Mcp-Name: add", "Mcp-Name: add")
		checkProblem(t, header.Match(h, header.Name, "add"), "Mcp-Name header is repeated")
	})
}

// checkProblem checks that err contains want, or is nil if want is empty.
func checkProblem(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case want != "" && err == nil:
		t.Errorf("no error, want one containing %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("error %q does not contain %q", err, want)
	}
}

func TestMatchKeepsValuesPrivate(t *testing.T) {
	h := parse(t, "Mcp-Name: secret-of-header")
	err := header.Match(h, header.Name, "secret-of-body")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, want one without values", err)
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	h := parse(t, "Mcp-Method: tools/call", "Mcp-Name: add")
	allocs := testing.AllocsPerRun(100, func() {
		if header.Match(h, header.Method, "tools/call") != nil || header.Match(h, header.Name, "add") != nil {
			t.Fatal("no match")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for matching headers, want 0", allocs)
	}
}

func BenchmarkOne(b *testing.B) {
	h := http.Header{
		header.ProtocolVersion: {"2026-07-28"}, header.Method: {"tools/call"}, header.Name: {"add"},
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
	}
	b.ReportAllocs()
	for b.Loop() {
		version, _, _ := header.One(h, header.ProtocolVersion)
		method, _, _ := header.One(h, header.Method)
		name, _, _ := header.One(h, header.Name)
		if version == "" || method == "" || name == "" {
			b.Fatal("header not found")
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	h := http.Header{
		header.ProtocolVersion: {"2026-07-28"}, header.Method: {"tools/call"}, header.Name: {"add"},
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
	}
	b.ReportAllocs()
	for b.Loop() {
		if header.Match(h, header.Method, "tools/call") != nil || header.Match(h, header.Name, "add") != nil {
			b.Fatal("no match")
		}
	}
}
