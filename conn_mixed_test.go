package mcp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// mixedLines makes the lines of a session, and the answers that they must have: whole for a good line, id and code for a
// bad one.
type mixedLines struct {
	rand  *rand.Rand
	limit int
	id    int
	want  []string
}

// good returns a line with a request that has to be answered.
func (m *mixedLines) good() string {
	m.id++
	id := fmt.Sprint(m.id)
	if m.rand.IntN(2) == 0 {
		id = fmt.Sprintf("%q", "s"+id)
	}
	var line string
	switch m.rand.IntN(5) {
	case 0:
		a, b := m.rand.IntN(1000), -m.rand.IntN(1000)
		line = modernCall(id, "add", fmt.Sprintf(`{"a":%d,"b":%d}`, a, b))
		m.want = append(m.want, modernSum(id, a+b))
	case 1:
		text := strings.Repeat("xyz", m.rand.IntN(1000))
		line = modernCall(id, "echo", fmt.Sprintf(`{"text":%q}`, text))
		m.want = append(m.want, modernText(id, text))
	case 2:
		line = modernCall(id, "progress", `{"count":2}`, `"progressToken":`+id)
		m.want = append(m.want, progressNotice(id, 1, 2), progressNotice(id, 2, 2), modernText(id, "done"))
	case 3:
		line = modernCall(id, "fail", `{"text":"failed"}`)
		m.want = append(m.want, modernResult(id, `"content":[{"type":"text","text":"failed"}],"isError":true`))
	case 4:
		line = plainRequest(id, "ping")
		m.want = append(m.want, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
	}
	switch m.rand.IntN(6) { // what does no harm
	case 0:
		line = "\ufeff" + line
	case 1:
		line = "  " + line + " \t"
	case 2:
		line += "\r"
	case 3:
		line = "\n\r\n" + line
	}
	return line + "\n"
}

// bad returns a line that is no request, or none that can be served.
func (m *mixedLines) bad() string {
	m.id++
	id := fmt.Sprint(m.id)
	good := modernCall(id, "panic", `{"text":"executed"}`)
	switch m.rand.IntN(16) {
	case 0: // not JSON
		return m.refused("", mcp.CodeParseError, []string{"hello there", "{", good[:len(good)-1], good + "}", "{'a':1}", "\x00"}[m.rand.IntN(6)])
	case 1: // not UTF-8
		return m.refused("", mcp.CodeParseError, strings.Replace(good, "executed", "\xc3\x28", 1))
	case 2: // a surrogate alone
		return m.refused("", mcp.CodeParseError, strings.Replace(good, `"panic"`, "\"\xed\xa0\x80\"", 1))
	case 3: // JSON that is no message
		return m.refused("", mcp.CodeInvalidRequest, []string{"null", "42", `"x"`, "true", "{}", "[]"}[m.rand.IntN(6)])
	case 4: // a batch
		return m.refused("", mcp.CodeInvalidRequest, "["+good+","+good+"]")
	case 5: // ids of other types
		return m.refused("", mcp.CodeInvalidRequest, plainRequest([]string{"null", "1.5", "true", "{}", "[]", "1e2"}[m.rand.IntN(6)], "ping"))
	case 6: // over the limit
		return m.refused("", mcp.CodeInvalidRequest, strings.Replace(good, "executed", strings.Repeat("x", m.limit), 1))
	case 7: // too deep
		return m.refused("", mcp.CodeInvalidRequest, strings.Replace(good, `"executed"`, strings.Repeat("[", 129)+strings.Repeat("]", 129), 1))
	case 8: // duplicate names
		return m.refused("", mcp.CodeInvalidRequest, strings.Replace(good, `"method"`, `"method":"ping","method"`, 1))
	case 9:
		return m.refused("", mcp.CodeInvalidRequest, strings.Replace(good, `"name"`, `"name":"add","name"`, 1))
	case 10: // not the right version of JSON-RPC
		return m.refused(id, mcp.CodeInvalidRequest, strings.Replace(good, `"2.0"`, `"1.0"`, 1))
	case 11: // no metadata
		return m.refused(id, mcp.CodeInvalidParams, plainRequest(id, "tools/list"))
	case 12: // no such method, no such tool
		return m.refused(id, mcp.CodeMethodNotFound, modernRequest(id, "tools/none"))
	case 13:
		return m.refused(id, mcp.CodeInvalidParams, modernCall(id, "none", `{}`))
	case 14: // no answer at all
		return []string{cancelNotice("999999", ""), `{"jsonrpc":"2.0","method":"x"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`}[m.rand.IntN(3)] + "\n"
	default: // nothing
		return []string{"\n", "\r\n", " \t\n"}[m.rand.IntN(3)]
	}
}

func (m *mixedLines) refused(id string, code mcp.Code, line string) string {
	m.want = append(m.want, refusal(id, code))
	return line + "\n"
}

func refusal(id string, code mcp.Code) string { return fmt.Sprintf("refused %s with %d", id, code) }

func TestConnMixedLines(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		bubble(t, fmt.Sprintf("BASE-01 BASE-02 BASE-06 BASE-07 BASE-10 C62 C64 C65 C68 P16 1,000 lines, seed %d", seed), func(t *testing.T) {
			lines := &mixedLines{rand: rand.New(rand.NewPCG(seed, 0)), limit: 100_000}
			c := serveLines(t, newFixture(&mcp.ServerOptions{Limits: mcp.Limits{Message: lines.limit, Queue: 1000}}).Server)
			for i := range 1000 {
				line := lines.good
				if i%3 == 2 {
					line = lines.bad
				}
				c.raw(line())
			}
			synctest.Wait()
			if err := c.hangUp(); err != nil {
				t.Errorf("Serve: %v", err)
			}
			got := c.rest()
			for i, line := range got {
				if m := parseWire(t, line); m.Error != nil {
					got[i] = refusal(string(m.ID), m.Error.Code)
				}
			}
			slices.Sort(got)
			slices.Sort(lines.want)
			if diff := cmp.Diff(lines.want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}
