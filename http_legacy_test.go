package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestHTTPEras goes through the ways in which an endpoint that serves older clients too, without sessions, tells what
// it is dealing with: the first row that fits decides.
func TestHTTPEras(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newFixture(nil).Server, dualEra)
	legacySum := func(id string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":{"sum":3},"content":[{"type":"text","text":"{\"sum\":3}"}]}}`, id)
	}
	textSum := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"sum\":3}"}]}}`
	const args = `{"a":1,"b":2}`
	old := legacyCall("1", "add", args)
	initialize := initializeRequest("1", "2025-06-18")
	modernInitialize := plainRequest("1", "initialize", `"protocolVersion":"2025-06-18"`, `"capabilities":{}`, `"clientInfo":{"name":"t","version":"0"}`, modernMeta())

	answered := func(status int, body string) func(*testing.T, httpAnswer) {
		return func(t *testing.T, a httpAnswer) { t.Helper(); a.expect(t, status, body) }
	}
	refused := func(status int, code mcp.Code, id string) func(*testing.T, httpAnswer) {
		return func(t *testing.T, a httpAnswer) { t.Helper(); a.expectError(t, status, code, id) }
	}
	opened := func(t *testing.T, a httpAnswer) {
		t.Helper()
		if m := a.message(t); a.status != 200 || !strings.Contains(string(m.Result), `"protocolVersion":"2025-06-18"`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	notAllowed := func(t *testing.T, a httpAnswer) {
		t.Helper()
		if a.status != 405 || a.header.Get("Allow") != "POST" {
			t.Errorf("%d %v", a.status, a.header)
		}
	}
	tests := []struct {
		name string
		post *http.Request
		want func(*testing.T, httpAnswer)
	}{
		{"LHT-28 GET", withMethod(httpPost(""), "GET"), notAllowed},
		{"LHT-28 DELETE", withMethod(httpPost("", "Mcp-Session-Id: x"), "DELETE"), notAllowed},
		{"LHT-27 array, version 2025-11-25", httpPost("["+old+"]", "MCP-Protocol-Version: 2025-11-25"), refused(400, -32600, "")},
		{"LHT-27 array, version 2025-06-18", httpPost("["+old+"]", "MCP-Protocol-Version: 2025-06-18"), refused(400, -32600, "")},
		{"LHT-27 array, version 2026-07-28", httpPost("["+old+"]", "MCP-Protocol-Version: 2026-07-28"), refused(400, -32600, "")},
		{"C89 response", httpPost(`{"jsonrpc":"2.0","id":1,"result":{}}`), refused(400, -32600, "")},
		{"ERD-01 modern call", modernPost(modernCall("1", "add", args)), answered(200, modernSum("1", 3))},
		{"ERD-01 initialize in modern form", modernPost(modernInitialize), refused(404, -32601, "1")},
		{"ERD-01 initialize in modern form, no header", httpPost(modernInitialize), refused(400, -32020, "1")},
		{"ERD-01 ping in modern form", modernPost(modernRequest("1", "ping")), refused(404, -32601, "1")},
		{"ERD-01 modern version in _meta, no header", httpPost(modernCall("1", "add", args)), refused(400, -32020, "1")},
		{"ERD-03 modern header, nothing in _meta", httpPost(old, "MCP-Protocol-Version: 2026-07-28"), refused(400, -32602, "1")},
		{"ERD-03 initialize with a modern header", httpPost(initialize, "MCP-Protocol-Version: 2026-07-28"), refused(400, -32602, "1")},
		{"ERD-03 notification with a modern header", httpPost(initializedNotice, "MCP-Protocol-Version: 2026-07-28"), answered(202, "")},
		{"ERD-04 old header, modern _meta", modernPost(modernCall("1", "add", args), "MCP-Protocol-Version: 2025-11-25"), refused(400, -32020, "1")},
		{"ERD-04 modern header, old _meta", httpPost(strings.Replace(modernCall("1", "add", args), "2026-07-28", "2025-11-25", 1), "MCP-Protocol-Version: 2026-07-28"), refused(400, -32020, "1")},
		{"ERD-04 old header, other old _meta", httpPost(strings.Replace(modernCall("1", "add", args), "2026-07-28", "2025-11-25", 1), "MCP-Protocol-Version: 2025-06-18"), refused(400, -32020, "1")},
		{"ERD-04 two headers", httpPost(old, "MCP-Protocol-Version: 2025-06-18", "+MCP-Protocol-Version: 2025-06-18"), refused(400, -32020, "1")},
		{"ERD-04 initialize with two headers", httpPost(initialize, "MCP-Protocol-Version: 2025-06-18", "+MCP-Protocol-Version: 2025-06-18"), refused(400, -32020, "1")},
		{"AMB-16 old header, same old _meta", httpPost(strings.Replace(modernCall("1", "add", args), "2026-07-28", "2025-11-25", 1), "MCP-Protocol-Version: 2025-11-25"), refused(400, -32022, "1")},
		{"ERD-02 initialize", httpPost(initialize), opened},
		{"ERD-02 initialize with an old header", httpPost(initialize, "MCP-Protocol-Version: 2025-06-18"), opened},
		{"LIF-05 initialize without params", httpPost(bareRequest("1", "initialize", "{}")), refused(200, -32602, "1")},
		{"LHT-03 initialized", httpPost(initializedNotice, "MCP-Protocol-Version: 2025-06-18"), answered(202, "")},
		{"LHT-14 notification of an unknown version", httpPost(initializedNotice, "MCP-Protocol-Version: foo"), func(t *testing.T, a httpAnswer) { a.expectError(t, 400, -32022, "") }},
		{"LHT-28 call of 2025-11-25", httpPost(old, "MCP-Protocol-Version: 2025-11-25"), answered(200, legacySum("1"))},
		{"LHT-28 call of 2025-06-18", httpPost(old, "MCP-Protocol-Version: 2025-06-18"), answered(200, legacySum("1"))},
		{"LHT-28 call of 2025-03-26", httpPost(old, "MCP-Protocol-Version: 2025-03-26"), answered(200, textSum)},
		{"LHT-13 HTTP-27 call without a version", httpPost(old), answered(200, textSum)},
		{"LHT-13 call that names itself in _meta", httpPost(plainRequest("1", "tools/call", callParams("add", args), `"_meta":{"progressToken":1}`)), answered(200, textSum)},
		{"LHT-14 call of an unknown version", httpPost(old, "MCP-Protocol-Version: foo"), func(t *testing.T, a httpAnswer) {
			if a.status != 400 || a.message(t).Error == nil {
				t.Errorf("%d %s", a.status, a.body)
			}
		}},
		{"LHT-14 call with an empty version", httpPost(old, "MCP-Protocol-Version: "), func(t *testing.T, a httpAnswer) {
			if a.status != 400 || a.message(t).Error == nil {
				t.Errorf("%d %s", a.status, a.body)
			}
		}},
		{"LHT-28 session id in a mode without sessions", httpPost(old, "Mcp-Session-Id: of a gateway", "MCP-Protocol-Version: 2025-06-18"), answered(200, legacySum("1"))},
		{"LIF-09 ping", httpPost(bareRequest("1", "ping", "{}")), answered(200, `{"jsonrpc":"2.0","id":1,"result":{}}`)},
		{"LIF-09 ping of 2025-11-25", httpPost(bareRequest(`"p"`, "ping", "{}"), "MCP-Protocol-Version: 2025-11-25"), answered(200, `{"jsonrpc":"2.0","id":"p","result":{}}`)},
		{"LHT-09 unknown method", httpPost(bareRequest("1", "unknown/x", "{}")), refused(200, -32601, "1")},
		{"LHT-09 server/discover", httpPost(bareRequest("1", "server/discover", "{}")), refused(200, -32601, "1")},
		{"LHT-09 method behind a capability", httpPost(bareRequest("1", "prompts/list", "{}"), "MCP-Protocol-Version: 2025-11-25"), refused(200, -32601, "1")},
		{"AMB-18 unknown tool", httpPost(legacyCall("1", "nope", "{}")), refused(200, -32602, "1")},
		{"AMB-18 params no object", httpPost(bareRequest("1", "tools/call", "[]")), refused(200, -32602, "1")},
		{"LHT-15 headers of the modern era", httpPost(old, "MCP-Protocol-Version: 2025-06-18", "Mcp-Method: tools/list", "Mcp-Name: =?base64?!?="), answered(200, legacySum("1"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := exchange(t, h, tt.post)
			tt.want(t, a)
			if id := a.header["Mcp-Session-Id"]; id != nil {
				t.Errorf("LHT-28: a session %q", id)
			}
		})
	}

	t.Run("LHT-15 headers that mirror arguments", func(t *testing.T) {
		s := mcp.NewServer("mirror", "1", nil)
		define[struct {
			Region string `json:"region" mcp:"header=Region"`
		}](s)
		h := newHandler(t, s, dualEra)
		for _, edit := range []string{"-Mcp-Param-Region", "Mcp-Param-Region: us", "Mcp-Param-Region: =?base64?!?="} {
			a := exchange(t, h, httpPost(legacyCall("1", "t", `{"region":"eu"}`), edit))
			if a.status != 200 || a.message(t).Result == nil || strings.Contains(a.body, "isError") {
				t.Errorf("%s: %d %s", edit, a.status, a.body)
			}
		}
	})
}

// TestHTTPBatch shows the batches of revision 2025-03-26, which clients without a session and a version may send.
func TestHTTPBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(nil)
	h := newHandler(t, f.Server, dualEra)
	text := func(id, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
	}
	pong := `{"jsonrpc":"2.0","id":2,"result":{}}`
	for name, edits := range map[string][]string{"no version named": nil, "2025-03-26 named": {"MCP-Protocol-Version: 2025-03-26"}} {
		t.Run("LHT-26 "+name, func(t *testing.T) {
			body := batchOf(legacyCall("1", "echo", `{"text":"x"}`), plainRequest("2", "ping"), initializedNotice, `{"jsonrpc":"2.0","id":9,"result":{}}`,
				legacyCall(`"p"`, "echo", `{"text":"y"}`))
			exchange(t, h, httpPost(body, edits...)).expect(t, 200, batchOf(text("1", "x"), pong, text(`"p"`, "y")))
		})
	}
	t.Run("LHT-26 parts that cannot be served", func(t *testing.T) {
		body := batchOf("7", `{"jsonrpc":"2.0","id":1,"method":5}`, initializeRequest("2", "2025-03-26"), modernCall("3", "add", "{}"),
			plainRequest("4", "unknown/x"), legacyCall("5", "nope", "{}"), legacyCall("6", "panic", `{"text":"private"}`), legacyCall("7", "goexit", "{}"))
		a := exchange(t, h, httpPost(body))
		var parts []json.RawMessage
		if err := json.Unmarshal([]byte(a.body), &parts); err != nil || a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		var got []string
		for _, part := range parts {
			m := parseWire(t, string(part))
			if m.Error != nil {
				got = append(got, fmt.Sprintf("%s: %d", m.ID, m.Error.Code))
			} else {
				got = append(got, fmt.Sprintf("%s: failed %v", m.ID, strings.Contains(string(m.Result), `"isError":true`)))
			}
		}
		want := []string{": -32600", "1: -32600", "2: -32600", "3: -32600", "4: -32601", "5: -32602", "6: failed true", "7: -32603"}
		if diff := cmp.Diff(want, got); diff != "" || strings.Contains(a.body, "private") {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
	t.Run("LHT-26 nothing to answer", func(t *testing.T) {
		exchange(t, h, httpPost(batchOf(initializedNotice, cancelNotice("1", "x")))).expect(t, 202, "")
	})
	t.Run("LHT-26 empty, or no JSON", func(t *testing.T) {
		exchange(t, h, httpPost("[]")).expectError(t, 400, mcp.CodeInvalidRequest, "")
		exchange(t, h, httpPost(`[{"jsonrpc":"2.0",]`)).expectError(t, 400, mcp.CodeParseError, "")
	})
	t.Run("LHT-26 requests run side by side and end with the server", func(t *testing.T) {
		f := newFixture(nil)
		h := newHandler(t, f.Server, dualEra)
		answer := make(chan httpAnswer, 1)
		go func() {
			answer <- exchange(t, h, httpPost(batchOf(legacyCall("1", "block", "{}"), legacyCall("2", "block", "{}"))))
		}()
		receive(t, f.started)
		receive(t, f.started)
		shutDown(t, f.Server)
		if a := receive(t, answer); a.status != 200 || strings.Count(a.body, `"isError":true`) != 2 {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	t.Run("LHT-27 where 2025-03-26 is off", func(t *testing.T) {
		h := newHandler(t, newFixture(&mcp.ServerOptions{Versions: []string{"2026-07-28", "2025-06-18"}}).Server, dualEra)
		exchange(t, h, httpPost(batchOf(plainRequest("2", "ping")))).expectError(t, 400, mcp.CodeInvalidRequest, "")
		exchange(t, newHandler(t, f.Server, modernOnly), httpPost(batchOf(plainRequest("2", "ping")))).expectError(t, 400, mcp.CodeInvalidRequest, "")
	})
}

// TestHTTPLegacyHandshake shows that versions are agreed on without a session.
func TestHTTPLegacyHandshake(t *testing.T) {
	t.Parallel()
	h := newHandler(t, newFixture(nil).Server, dualEra)
	for asked, agreed := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
		"1.0": "2025-11-25", "2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25",
	} {
		t.Run("LIF-03 "+asked, func(t *testing.T) {
			var result struct {
				Version string `json:"protocolVersion"`
				Type    string `json:"resultType"`
			}
			a := exchange(t, h, httpPost(initializeRequest("1", asked)))
			if err := json.Unmarshal(a.message(t).Result, &result); err != nil || a.status != 200 || result.Version != agreed || result.Type != "" {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

// TestHTTPVersions shows which versions an endpoint says that it serves, and that it serves no others.
func TestHTTPVersions(t *testing.T) {
	t.Parallel()
	all := []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	tests := []struct {
		name     string
		versions []string
		opts     *mcp.HTTPOptions
		served   []string
	}{
		{"all", nil, dualEra, all},
		{"modern endpoint", nil, modernOnly, all[:1]},
		{"modern server", all[:1], dualEra, all[:1]},
		{"two", all[:2], dualEra, all[:2]},
		{"modern endpoint of two", all[:2], modernOnly, all[:1]},
	}
	type unsupported struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}
	for _, tt := range tests {
		s := newFixture(&mcp.ServerOptions{Versions: tt.versions}).Server
		h := newHandler(t, s, tt.opts)
		t.Run("VER-02 AMB-17 C95 "+tt.name, func(t *testing.T) {
			var discovered struct {
				Versions []string `json:"supportedVersions"`
			}
			if err := json.Unmarshal(exchange(t, h, modernPost(modernRequest("1", "server/discover"))).message(t).Result, &discovered); err != nil {
				t.Fatal(err)
			}
			var got unsupported
			refused := exchange(t, h, modernPost(strings.Replace(modernRequest("1", "tools/list"), "2026-07-28", "1900-01-01", 1)))
			if err := json.Unmarshal(refused.expectError(t, 400, mcp.CodeUnsupportedVersion, "1").Data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.served, discovered.Versions); diff != "" {
				t.Errorf("server/discover (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(unsupported{tt.served, "1900-01-01"}, got); diff != "" {
				t.Errorf("-32022 (-want +got):\n%s", diff)
			}
		})
		for _, version := range all[1:] {
			served := strings.Contains(strings.Join(tt.served, " "), version)
			t.Run(fmt.Sprintf("LHT-14 %s: %s %v", tt.name, version, served), func(t *testing.T) {
				a := exchange(t, h, httpPost(legacyCall("1", "add", `{"a":1,"b":2}`), "MCP-Protocol-Version: "+version))
				if want := map[bool]int{true: 200, false: 400}[served]; a.status != want || (a.message(t).Error == nil) != served {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		}
		if len(tt.served) == 1 {
			t.Run("AMB-15 VER-08 initialize at a modern endpoint: "+tt.name, func(t *testing.T) {
				for _, params := range []string{`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`, `{}`} {
					var got unsupported
					err := exchange(t, h, httpPost(bareRequest("1", "initialize", params))).expectError(t, 400, mcp.CodeUnsupportedVersion, "1")
					if e := json.Unmarshal(err.Data, &got); e != nil || cmp.Diff(tt.served, got.Supported) != "" || !strings.Contains(err.Message, "2026-07-28") {
						t.Errorf("%s %s", err.Message, err.Data)
					}
				}
			})
			t.Run("HTTP-27 no version header at a modern endpoint: "+tt.name, func(t *testing.T) {
				exchange(t, h, httpPost(legacyCall("1", "add", `{"a":1,"b":2}`))).expectError(t, 400, mcp.CodeHeaderMismatch, "1")
				exchange(t, h, httpPost(bareRequest("1", "ping", "{}"))).expectError(t, 400, mcp.CodeHeaderMismatch, "1")
			})
		}
	}
	t.Run("HTTP-27 LHT-13 no version header where 2025-03-26 is off", func(t *testing.T) {
		h := newHandler(t, newFixture(&mcp.ServerOptions{Versions: all[:3]}).Server, dualEra)
		exchange(t, h, httpPost(legacyCall("1", "add", `{"a":1,"b":2}`))).expectError(t, 400, mcp.CodeHeaderMismatch, "1")
	})
	t.Run("VER-02 a modern request to a legacy server", func(t *testing.T) {
		h := newHandler(t, newFixture(&mcp.ServerOptions{Versions: all[1:]}).Server, dualEra)
		exchange(t, h, modernPost(modernCall("1", "add", `{"a":1,"b":2}`))).expectError(t, 400, mcp.CodeUnsupportedVersion, "1")
	})
}
