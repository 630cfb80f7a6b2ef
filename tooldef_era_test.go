package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestToolDefOfOldRevisions lists a definition from data in revisions that know less than it says.
func TestToolDefOfOldRevisions(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddToolDef(s, mcp.ToolDef{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`), Extra: map[string]json.RawMessage{
		"execution": json.RawMessage(`{"taskSupport":"optional"}`), "com.example/x": json.RawMessage(`1`),
	}}, echoRaw)
	for revision, want := range map[string]bool{"2024-11-05": false, "2025-03-26": false, "2025-06-18": false, "2025-11-25": true} {
		t.Run("LFE-15 execution of a tool in "+revision, func(t *testing.T) {
			t.Parallel()
			c := serveLines(t, s)
			c.send(initializeRequest("0", revision))
			c.next()
			c.send(initializedNotice, plainRequest("1", "tools/list"))
			var list struct{ Tools []map[string]json.RawMessage }
			answer := parseWire(t, c.next())
			if err := json.Unmarshal(answer.Result, &list); err != nil || len(list.Tools) != 1 {
				t.Fatalf("%v, error %v", answer.Error, err)
			}
			if _, there := list.Tools[0]["execution"]; there != want || string(list.Tools[0]["com.example/x"]) != "1" {
				t.Errorf("got %s", list.Tools[0])
			}
		})
	}
}
