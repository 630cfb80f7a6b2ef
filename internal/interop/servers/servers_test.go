// Package servers_test has our client talk to servers of other SDKs, over
// standard input and output and over HTTP.
package servers_test

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// packages holds the npm packages to install, pinned by a lock file, and a
// server that uses them.
//
//go:embed npm/*.mjs npm/*.json
var packages embed.FS

func TestServers(t *testing.T) {
	dir := installPackages(t)
	node := func(args ...string) func(port string) *exec.Cmd {
		return func(port string) *exec.Cmd {
			cmd := exec.Command("node", append(args, strings.Fields(port)...)...)
			cmd.Env = append(os.Environ(), "PORT="+port)
			return cmd
		}
	}
	binary := func(name string) func(port string) *exec.Cmd {
		path := filepath.Join(t.TempDir(), name)
		run(t, ".", "go", "build", "-o", path, "./"+name)
		return func(port string) *exec.Cmd {
			if port == "" {
				return exec.Command(path)
			}
			return exec.Command(path, "127.0.0.1:"+port)
		}
	}
	everything := filepath.Join(dir, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	for _, tt := range []struct {
		name    string
		command func(port string) *exec.Cmd
		path    string // over HTTP; "": on a pipe
		version string
		visit   func(*testing.T, *mcp.Client)
	}{
		{"TypeScript SDK v2, stdio", node(filepath.Join(dir, "v2.mjs")), "", "2026-07-28", visitSmall},
		{"TypeScript SDK v2, HTTP", node(filepath.Join(dir, "v2.mjs")), "/", "2026-07-28", visitSmall},
		{"server-everything, stdio", node(everything, "stdio"), "", "2025-11-25", visitEverything},
		{"server-everything, HTTP", node(everything, "streamableHttp"), "/mcp", "2025-11-25", visitEverything},
		{"server-everything, HTTP of 2024-11-05", node(everything, "sse"), "/sse", "2025-11-25", visitEverything},
		{"go-sdk, stdio", binary("gosdk"), "", "2026-07-28", visitSmall},
		{"go-sdk, HTTP", binary("gosdk"), "/", "2025-11-25", visitSmall},
		{"mcp-go, stdio", binary("mcpgo"), "", "2026-07-28", visitSmall},
		{"mcp-go, HTTP", binary("mcpgo"), "/", "2026-07-28", visitSmall},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c, err := mcp.Dial(ctx, transport(t, tt.command, tt.path), &mcp.ClientOptions{
				Name: "interop", Version: "1",
				ElicitForm: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: "decline"}, nil
				},
				Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///tmp", Name: "tmp"}}, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}()
			if got := c.Server().Protocol; got != tt.version {
				t.Errorf("agreed on %s, not %s", got, tt.version)
			}
			tt.visit(t, c)
		})
	}
}

// transport starts the server, unless the client does that.
func transport(t *testing.T, command func(port string) *exec.Cmd, path string) mcp.Transport {
	t.Helper()
	if path == "" {
		return mcp.Command(command(""))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := command(port)
	var words strings.Builder
	cmd.Stderr = &words
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Log(words.String())
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = conn.Close()
			return mcp.HTTP("http://127.0.0.1:"+port+path, nil)
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not listen")
		}
	}
}

// visitSmall uses what all the small servers have.
func visitSmall(t *testing.T, c *mcp.Client) {
	tools := make(map[string]*mcp.ToolInfo)
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = tool
	}
	if len(tools) != 2 || tools["add"] == nil || tools["add"].OutputSchema == nil {
		t.Errorf("tools %v", tools)
	}
	type sum struct {
		Sum int `json:"sum"`
	}
	for i := range 3 {
		if got, err := mcp.Call[sum](t.Context(), c, "add", map[string]int{"a": i, "b": 40}); err != nil || got.Sum != i+40 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	var failed *mcp.ToolError
	if _, err := mcp.Call[string](t.Context(), c, "fail", struct{}{}); !errors.As(err, &failed) || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("fail: %v", err)
	}
	if r, err := c.ReadResource(t.Context(), "test://note"); err != nil || len(r.Contents) != 1 || r.Contents[0].Text != "a note" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.ReadResource(t.Context(), "test://nothing"); err == nil {
		t.Error("read a resource that is not there")
	}
	r, err := c.GetPrompt(t.Context(), "greet", map[string]string{"name": "Ada"})
	if err != nil || len(r.Messages) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if text, ok := r.Messages[0].Content.(*mcp.TextContent); !ok || text.Text != "Greet Ada" {
		t.Errorf("prompt %+v", r.Messages[0])
	}
}

// visitEverything uses the reference server: lists, progress, questions,
// subscriptions.
func visitEverything(t *testing.T, c *mcp.Client) {
	tools := make(map[string]bool)
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = true
	}
	for _, err := range c.Resources(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range c.Prompts(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := mcp.Call[string](t.Context(), c, "echo", map[string]string{"message": "hi"}); err != nil || !strings.Contains(got, "hi") {
		t.Errorf("%q, %v", got, err)
	}
	events := 0
	if _, err := c.CallTool(t.Context(), "trigger-long-running-operation", map[string]int{"duration": 1, "steps": 3}, mcp.WithProgress(func(mcp.ProgressEvent) { events++ })); err != nil || events == 0 {
		t.Errorf("%d progress events, %v", events, err)
	}
	if tools["trigger-elicitation-request"] {
		if r, err := c.CallTool(t.Context(), "trigger-elicitation-request", struct{}{}); err != nil || r.IsError {
			t.Errorf("elicitation: %+v, %v", r, err)
		}
	}
	if got, err := mcp.Call[map[string]any](t.Context(), c, "get-structured-content", map[string]string{"location": "New York"}); err != nil || len(got) == 0 {
		t.Errorf("%v, %v", got, err)
	}
	sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
}

// installPackages returns a directory with the installed packages and the
// server that uses them, kept in the user's cache.
func installPackages(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := packages.ReadDir("npm")
	if err != nil {
		t.Fatal(err)
	}
	files, hash := make(map[string][]byte), sha256.New()
	for _, e := range entries {
		text, err := packages.ReadFile("npm/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = text
		fmt.Fprintf(hash, "%s %d\n%s", e.Name(), len(text), text)
	}
	dir := filepath.Join(cache, fmt.Sprintf("typedmcp-servers-%x", hash.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	staging, err := os.MkdirTemp(cache, "typedmcp-servers-new-") // what has the final name is complete
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(staging)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(staging, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, staging, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	if err := os.Rename(staging, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr != nil { // else another run was faster
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s in %s: %v\n%s", strings.Join(cmd.Args, " "), dir, err, out)
	}
}
