package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// revisionsBefore are those with a handshake that came before another, oldest first.
func revisionsBefore(version string) []string {
	var older []string
	for _, v := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		if v < version {
			older = append(older, v)
		}
	}
	return older
}

// TestDialectOfCapabilities has clients declare what their revision does not know.
func TestDialectOfCapabilities(t *testing.T) {
	t.Parallel()
	for _, version := range revisionsBefore("2025-06-18") {
		bubble(t, "LFE-09 no elicitation, though it is declared: "+version, func(t *testing.T) {
			c := openPipeSession(t, newWaiter(nil).Server, version, allCapabilities)
			for _, tool := range []string{"form", "page", "reenter"} {
				c.send(legacyCall("1", tool, "{}"))
				if got := legacyText(t, c.next()); !strings.HasPrefix(got, "failed: this client cannot be asked for input (elicitation.") {
					t.Errorf("%s: %s", tool, got)
				}
			}
		})
	}
	sampling := func() *mcp.Server {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ noArgs) (string, error) {
			r, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{
				MaxTokens: 9, Messages: []mcp.Message{mcp.User("What is it?")},
				Tools: []mcp.ToolDef{{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`)}},
			})
			if err != nil {
				return "", err
			}
			return r.Text(), nil
		})
		return s
	}
	for _, version := range revisionsBefore("2025-11-25") {
		bubble(t, "LFE-15 no sampling with tools, though it is declared: "+version, func(t *testing.T) {
			c := openPipeSession(t, sampling(), version, allCapabilities)
			c.send(legacyCall("1", "t", "{}"))
			if got := legacyText(t, c.next()); got != "failed: this client cannot be asked for input (sampling.tools)" {
				t.Error(got)
			}
		})
	}
	bubble(t, "LFE-15 sampling with tools: 2025-11-25", func(t *testing.T) {
		c := openPipeSession(t, sampling(), "2025-11-25", allCapabilities)
		c.send(legacyCall("1", "t", "{}"))
		if got := c.next(); !strings.Contains(got, `"method":"sampling/createMessage"`) || !strings.Contains(got, `"tools":[{"name":"look"`) {
			t.Error(got)
		}
	})
}

// TestDialectOfExtensions has both sides declare extensions in the handshake.
func TestDialectOfExtensions(t *testing.T) {
	t.Parallel()
	const tasks, apps = "io.modelcontextprotocol/tasks", "io.modelcontextprotocol/ui"
	for _, version := range revisionsBefore("2026-07-28") {
		bubble(t, "LFE-18 apps are declared on both sides, tasks change nothing: "+version, func(t *testing.T) {
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Extensions: map[string]any{apps: nil, tasks: nil}})
			mcp.AddTool(s, "t", "", func(ctx context.Context, _ noArgs) (string, error) {
				return string(mcp.RequestFrom(ctx).Capabilities().Extensions[apps]), nil
			})
			c := serveLines(t, s)
			c.send(initializeWith(version, fmt.Sprintf(`{"extensions":{%q:{},%q:{"mimeTypes":["text/html"]}}}`, tasks, apps)))
			var result struct {
				Capabilities struct{ Extensions map[string]json.RawMessage }
			}
			if err := json.Unmarshal(parseWire(t, c.next()).Result, &result); err != nil || string(result.Capabilities.Extensions[apps]) != "{}" {
				t.Errorf("%+v %v", result, err)
			}
			c.send(initializedNotice)
			c.send(plainRequest("1", "tools/call", callParams("t", "{}"), `"task":{"ttl":1}`))
			c.expect(legacyResult("1", `{"mimeTypes":["text/html"]}`))
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"} {
				c.send(plainRequest("2", method, `"taskId":"1"`))
				c.expectError("2", mcp.CodeMethodNotFound)
			}
		})
	}
}

// TestDialectOfMessages holds what the server sends by itself to the members that a revision knows.
func TestDialectOfMessages(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "steps", "", func(ctx context.Context, _ noArgs) (string, error) {
		mcp.Progress(ctx, 1, 2, "half")
		return "done", nil
	})
	text, image, audio := mcp.Text("What is it?"), mcp.Image([]byte("i"), "image/png"), mcp.Audio([]byte("a"), "audio/wav")
	text.Meta, image.Meta, audio.Meta = mcp.Meta{"k": json.RawMessage("1")}, mcp.Meta{"k": json.RawMessage("2")}, mcp.Meta{"k": json.RawMessage("3")}
	mcp.AddTool(s, "sample", "", func(ctx context.Context, _ noArgs) (string, error) {
		_, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{MaxTokens: 9, Messages: []mcp.Message{{Role: "user", Content: mcp.Blocks{text, image, audio}}}})
		return "", err
	})
	for version, want := range map[string]struct {
		message bool
		metas   int
	}{"2024-11-05": {}, "2025-03-26": {true, 0}, "2025-06-18": {true, 3}, "2025-11-25": {true, 3}} {
		bubble(t, "LIF-12 messages of progress: "+version, func(t *testing.T) {
			c := openPipeSession(t, s, version, "")
			c.send(progressCall("1"))
			line := c.next()
			if m := parseWire(t, line); m.Method != "notifications/progress" || strings.Contains(line, `"message":"half"`) != want.message {
				t.Error(line)
			}
		})
		bubble(t, "LIF-12 _meta of blocks in sampling: "+version, func(t *testing.T) {
			c := openPipeSession(t, s, version, `{"sampling":{}}`)
			c.send(legacyCall("1", "sample", "{}"))
			line := c.next()
			if m := parseWire(t, line); m.Method != "sampling/createMessage" || strings.Count(line, `"_meta"`) != want.metas {
				t.Error(line)
			}
		})
	}
}
