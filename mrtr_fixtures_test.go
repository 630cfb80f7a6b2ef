package mcp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// Everything that a client can declare.
const allCapabilities = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{}}`

// stateKey is a key that several servers of a test can share.
var stateKey = bytes.Repeat([]byte("k"), 32)

// round is one round of a call as a client sends it.
type round struct {
	method  string   // "": tools/call
	name    string   // of the tool or prompt, or the URI
	args    string   // "": {}; of a resource there are none
	caps    string   // "": allCapabilities
	answers string   // inputResponses; "": none
	state   *string  // requestState; nil: none
	raw     []string // further members of params
	meta    []string // further members of _meta
}

// line is the request of the round.
func (r round) line(id string) string {
	var params []string
	switch r.method {
	case "", "tools/call", "prompts/get":
		if r.args == "" {
			r.args = "{}"
		}
		params = append(params, callParams(r.name, r.args))
	case "resources/read":
		params = append(params, `"uri":`+quoted(r.name))
	}
	if r.method == "" {
		r.method = "tools/call"
	}
	if r.answers != "" {
		params = append(params, `"inputResponses":`+r.answers)
	}
	if r.state != nil {
		params = append(params, `"requestState":`+quoted(*r.state))
	}
	if r.caps == "" {
		r.caps = allCapabilities
	}
	meta := append([]string{
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":` + r.caps,
	}, r.meta...)
	params = append(append(params, r.raw...), `"_meta":{`+strings.Join(meta, ",")+`}`)
	return plainRequest(id, r.method, params...)
}

// quoted is s as a JSON string.
func quoted(s string) string {
	text, _ := json.Marshal(s) // strings cannot fail
	return string(text)
}

// request is the round as a POST.
func (r round) request() *http.Request {
	req := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(r.line("1")))
	method := r.method
	if method == "" {
		method = "tools/call"
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": r.name,
	} {
		req.Header.Set(name, value)
	}
	return req
}

// again is the round that answers what res asked.
func (r round) again(res roundResult, answers string) round {
	r.answers, r.state = answers, &res.State
	return r
}

// roundResult is what a round came to.
type roundResult struct {
	Type     string                `json:"resultType"`
	Requests map[string]rawRequest `json:"inputRequests"`
	State    string                `json:"requestState"`
	Content  []struct{ Text string }
	IsError  bool
	Meta     map[string]json.RawMessage `json:"_meta"`

	members map[string]json.RawMessage
	fault   *wireError
}

// rawRequest is an entry of inputRequests.
type rawRequest struct {
	Method string
	Params struct {
		Mode, Message, URL string
		RequestedSchema    json.RawMessage
	}
}

func (r roundResult) text() string {
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

// play sends one round to s, over a connection of its own.
func play(t testing.TB, s *mcp.Server, r round) roundResult {
	t.Helper()
	return readRound(t, ask(t, s, r.line("1")))
}

func readRound(t testing.TB, answer string) roundResult {
	t.Helper()
	m := parseWire(t, answer)
	var res roundResult
	if res.fault = m.Error; res.fault != nil {
		return res
	}
	if err := json.Unmarshal(m.Result, &res); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if err := json.Unmarshal(m.Result, &res.members); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return res
}

// asks holds res to be a call that waits for answers under the given keys, and
// nothing else.
func (r roundResult) asks(t testing.TB, keys ...string) {
	t.Helper()
	if r.fault != nil || r.Type != "input_required" || r.State == "" || len(r.Requests) != len(keys) {
		t.Fatalf("want questions %q, got %s", keys, r)
	}
	for _, key := range keys {
		if _, ok := r.Requests[key]; !ok {
			t.Fatalf("want a question %q, got %s", key, r)
		}
	}
}

// says holds res to be complete, with that text.
func (r roundResult) says(t testing.TB, text string) {
	t.Helper()
	if r.fault != nil || r.Type != "complete" || r.IsError || r.text() != text {
		t.Fatalf("want the result %q, got %s", text, r)
	}
}

// fails holds res to be a failed result whose text has the given part.
func (r roundResult) fails(t testing.TB, part string) {
	t.Helper()
	if r.fault != nil || r.Type != "complete" || !r.IsError || !strings.Contains(r.text(), part) {
		t.Fatalf("want a failure with %q, got %s", part, r)
	}
}

// faults holds res to be a protocol error.
func (r roundResult) faults(t testing.TB, code mcp.Code, part string) {
	t.Helper()
	if r.fault == nil || r.fault.Code != code || !strings.Contains(r.fault.Message, part) {
		t.Fatalf("want error %d with %q, got %s", code, part, r)
	}
}

func (r roundResult) String() string {
	if r.fault != nil {
		return fmt.Sprintf("error %d: %s %s", r.fault.Code, r.fault.Message, r.fault.Data)
	}
	all, _ := json.Marshal(r.members)
	return string(all)
}

// accepted is the answer of a user who filled in a form.
func accepted(key, content string) string {
	return fmt.Sprintf(`{%q:{"action":"accept","content":%s}}`, key, content)
}

// acted is the answer of a user who did something else.
func acted(key, action string) string { return fmt.Sprintf(`{%q:{"action":%q}}`, key, action) }

// nameForm is a form with one field.
type nameForm struct {
	Name string `json:"name"`
}

// opened is what a state holds to whoever decodes it without a key.
func opened(t testing.TB, state string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		t.Fatalf("the state is no base64url: %v: %s", err, state)
	}
	return raw
}
