package mcp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/typedmcp/mcp"
)

// dialMemory connects to s in memory, until the test ends. opts may be nil.
func dialMemory(t testing.TB, s *mcp.Server, opts *mcp.ClientOptions) *mcp.Client {
	t.Helper()
	c, err := mcp.Dial(context.Background(), mcp.InMemory(s), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// mustCall calls a tool and holds the call to being answered with a result, failed or not.
func mustCall(t testing.TB, c *mcp.Client, tool string, args any, opts ...mcp.CallOption) *mcp.Result {
	t.Helper()
	r, err := c.CallTool(context.Background(), tool, args, opts...)
	if err != nil {
		t.Fatalf("calling %s: %v", tool, err)
	}
	return r
}

// mustList returns all tools of a server.
func mustList(t testing.TB, c *mcp.Client) []*mcp.ToolInfo {
	t.Helper()
	var all []*mcp.ToolInfo
	for tool, err := range c.Tools(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool)
	}
	return all
}

// textOf joins the text blocks of a result.
func textOf(r *mcp.Result) string {
	var texts []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ask sends a modern server one line, on a connection of its own, and returns the answer.
func ask(t testing.TB, s *mcp.Server, line string) string {
	t.Helper()
	c := serveLines(t, s)
	c.send(line)
	return c.next()
}

// askLegacy is ask in a session of an earlier revision.
func askLegacy(t testing.TB, s *mcp.Server, version, line string) string {
	t.Helper()
	c := serveLines(t, s)
	c.openLegacy(version)
	c.send(line)
	return c.next()
}

// resultIn returns the members of the result that an answer holds.
func resultIn(t testing.TB, answer string) map[string]json.RawMessage {
	t.Helper()
	m := parseWire(t, answer)
	if m.Error != nil {
		t.Fatalf("an error instead of a result: %s", answer)
	}
	members := make(map[string]json.RawMessage)
	if err := json.Unmarshal(m.Result, &members); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return members
}

// faultIn returns the error that an answer holds.
func faultIn(t testing.TB, answer string) *wireError {
	t.Helper()
	m := parseWire(t, answer)
	if m.Error == nil {
		t.Fatalf("a result instead of an error: %s", answer)
	}
	return m.Error
}

// failureIn returns the text of the failed tool result that an answer holds.
func failureIn(t testing.TB, answer string) string {
	t.Helper()
	members := resultIn(t, answer)
	var content []struct{ Type, Text string }
	if err := json.Unmarshal(members["content"], &content); err != nil {
		t.Fatal(err)
	}
	if string(members["isError"]) != "true" || len(content) != 1 || content[0].Type != "text" {
		t.Fatalf("no failed result with one text: %s", answer)
	}
	return content[0].Text
}

// logBook keeps what is logged, one JSON object a line.
type logBook struct{ syncBuffer }

// syncBuffer keeps what is written, by several goroutines at once.
type syncBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// logger returns a logger that writes into b, debug messages too.
func (b *logBook) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// records returns what was logged at a level.
func (b *logBook) records(t testing.TB, level slog.Level) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(b.String()) {
		record := make(map[string]any)
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record["level"] == level.String() {
			all = append(all, record)
		}
	}
	return all
}

// ptr returns the address of a copy of v.
func ptr[T any](v T) *T { return &v }
