package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// nextBatch returns the messages of the next line, which must be an array, as id and what they hold.
func (c *lineClient) nextBatch() []string {
	c.t.Helper()
	var parts []json.RawMessage
	line := c.next()
	if err := json.Unmarshal([]byte(line), &parts); err != nil {
		c.t.Fatalf("not an array: %v: %.300s", err, line)
	}
	var all []string
	for _, part := range parts {
		m := parseWire(c.t, string(part))
		if m.Error != nil {
			all = append(all, fmt.Sprintf("%s: error %d", m.ID, m.Error.Code))
		} else {
			all = append(all, fmt.Sprintf("%s: %s", m.ID, m.Result))
		}
	}
	slices.Sort(all)
	return all
}

func batchOf(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }

// TestConnBatch shows the batches of revision 2025-03-26. Those of others are refused, see the transcripts.
func TestConnBatch(t *testing.T) {
	t.Parallel()
	released := func(tag string) string { return fmt.Sprintf(`{"content":[{"type":"text","text":"released %s"}]}`, tag) }
	hold := func(id string) string { return legacyCall(id, "hold", fmt.Sprintf(`{"tag":"%s"}`, id)) }
	open := func(t *testing.T, f *fixture) *lineClient {
		c := serveLines(t, f.Server)
		c.openLegacy("2025-03-26")
		return c
	}
	bubble(t, "LHT-26 one array answers a batch, when the last answer is there", func(t *testing.T) {
		f := newFixture(nil)
		c := open(t, f)
		c.send(batchOf(hold("1"), plainRequest("2", "ping"), initializedNotice, hold("3"), legacyCall("4", "none", `{}`), "7", `{"jsonrpc":"2.0","id":5,"result":{}}`))
		c.send(legacyCall("6", "echo", `{"text":"between"}`))
		c.expect(`{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"between"}]}}`)
		c.quiet()
		close(f.release)
		want := []string{"1: " + released("1"), "2: {}", "3: " + released("3"), "4: error -32602", ": error -32600"}
		slices.Sort(want)
		if diff := cmp.Diff(want, c.nextBatch()); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		c.quiet()
	})
	bubble(t, "LHT-26 a cancelled part is not waited for", func(t *testing.T) {
		f := newFixture(nil)
		c := open(t, f)
		c.send(batchOf(legacyCall("1", "block", `{}`), legacyCall("2", "echo", `{"text":"x"}`)))
		c.quiet()
		c.send(cancelNotice("1", "enough"))
		if diff := cmp.Diff([]string{`2: {"content":[{"type":"text","text":"x"}]}`}, c.nextBatch()); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		c.send(batchOf(legacyCall("1", "block", `{}`)))
		synctest.Wait()
		c.send(cancelNotice("1", "enough")) // an empty array is never sent
		c.quiet()
	})
	bubble(t, "LHT-26 what waits is answered in its array at the end", func(t *testing.T) {
		f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{InFlight: 1}})
		c := open(t, f)
		c.send(batchOf(legacyCall("1", "block", `{}`), legacyCall("2", "block", `{}`)))
		c.quiet()
		c.stop()
		if err := c.wait(); err != nil {
			t.Error(err)
		}
		if got := c.nextBatch(); len(got) != 2 || got[1] != "2: error -32603" {
			t.Errorf("answers: %v", got)
		}
	})
	bubble(t, "LHT-26 LIF-08 what a batch cannot hold", func(t *testing.T) {
		c := open(t, newFixture(nil))
		c.send(batchOf(initializeRequest("1", "2025-03-26"), modernCall("2", "panic", `{"text":"executed"}`), batchOf(plainRequest("3", "ping"))))
		want := []string{"1: error -32600", "2: error -32600", ": error -32600"}
		slices.Sort(want)
		if diff := cmp.Diff(want, c.nextBatch()); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
	for name, test := range map[string]struct {
		line string
		code mcp.Code
	}{
		"empty":     {" [ ] ", mcp.CodeInvalidRequest},
		"not JSON":  {"[" + plainRequest("1", "ping"), mcp.CodeParseError},
		"not UTF-8": {"[\"\xff\"]", mcp.CodeParseError},
		"too deep":  {strings.Repeat("[", 1000) + strings.Repeat("]", 1000), mcp.CodeInvalidRequest},
		"too many":  {"[" + strings.Repeat("1,", 320) + "1]", mcp.CodeInvalidRequest},
	} {
		bubble(t, "LHT-26 a batch that is "+name, func(t *testing.T) {
			c := open(t, newFixture(nil))
			c.send(test.line)
			c.expectError("", test.code)
			c.send("\ufeff" + batchOf(plainRequest("1", "ping")))
			c.expect(`[{"jsonrpc":"2.0","id":1,"result":{}}]`)
			c.send(batchOf(initializedNotice, initializedNotice))
			c.quiet()
		})
	}
}
