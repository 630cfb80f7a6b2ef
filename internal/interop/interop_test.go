// Package interop_test has clients of other SDKs talk to examples/hello, our shortest server, over stdio, and use all of
// examples/tour over stdio and HTTP.
package interop_test

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// clients holds the npm packages to install, pinned by a lock file, and the scripts that use them.
//
//go:embed clients/*.mjs clients/*.json
var clients embed.FS

// outcome of one call: the result, or a JSON-RPC error.
type outcome struct {
	Result *struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

// session is what clients/session.mjs prints.
type session struct {
	Version string
	Server  struct{ Name, Version string }
	Tools   []struct {
		Name, Description string
		InputSchema       struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		Annotations struct{ ReadOnlyHint bool }
	}
	Greet, GreetAgain, MissingArgument, WrongType, UnknownTool outcome

	Faults []string
}

func TestNPMClients(t *testing.T) {
	server := buildHello(t)
	dir := installClients(t)
	tests := []struct {
		name, script, mode string
		version            string
	}{
		{"sdk v1", "v1.mjs", "", "2025-11-25"},
		{"client v2 legacy", "v2.mjs", "legacy", "2025-11-25"},
		{"client v2 auto", "v2.mjs", "auto", "2026-07-28"},
		{"client v2 pinned", "v2.mjs", "2026-07-28", "2026-07-28"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := runSession(t, filepath.Join(dir, tt.script), server, tt.mode)
			if s.Version != tt.version {
				t.Errorf("agreed on version %q, want %q", s.Version, tt.version)
			}
			if s.Server.Name != "greeter" || s.Server.Version != "1.0.0" {
				t.Errorf("server is %+v, want greeter 1.0.0", s.Server)
			}
			if len(s.Faults) > 0 {
				t.Errorf("the client complained: %q", s.Faults)
			}
			checkTools(t, s)
			checkText(t, "greet", s.Greet, "Hello, Ada")
			checkText(t, "greet after errors", s.GreetAgain, "Hello, Grace")
			checkToolError(t, "missing argument", s.MissingArgument)
			checkToolError(t, "argument of another type", s.WrongType)
			if e := s.UnknownTool.Error; e == nil || e.Code != -32602 {
				t.Errorf("unknown tool: got %+v, want JSON-RPC error -32602", s.UnknownTool)
			}
		})
	}
}

func checkTools(t *testing.T, s session) {
	t.Helper()
	if len(s.Tools) != 1 {
		t.Fatalf("%d tools are listed, want greet alone: %+v", len(s.Tools), s.Tools)
	}
	tool := s.Tools[0]
	if tool.Name != "greet" || tool.Description != "Say hello" || !tool.Annotations.ReadOnlyHint {
		t.Errorf("listed %+v, want greet, described, with readOnlyHint", tool)
	}
	in := tool.InputSchema
	name := in.Properties["name"]
	if in.Type != "object" || name.Type != "string" || name.Description != "Who to greet" || !reflect.DeepEqual(in.Required, []string{"name"}) {
		t.Errorf("input schema is %+v, want an object with a required, described string name", in)
	}
}

func checkText(t *testing.T, call string, o outcome, want string) {
	t.Helper()
	if o.Result == nil || o.Result.IsError || len(o.Result.Content) != 1 || o.Result.Content[0].Text != want {
		t.Errorf("%s: got %s, want the text %q", call, o, want)
	}
}

// checkToolError wants what a model can act on: a result that names the argument, not a JSON-RPC error.
func checkToolError(t *testing.T, call string, o outcome) {
	t.Helper()
	if o.Result == nil || !o.Result.IsError || len(o.Result.Content) == 0 || !strings.Contains(o.Result.Content[0].Text, "name") {
		t.Errorf("%s: got %s, want a result with isError that names the argument", call, o)
	}
}

func (o outcome) String() string {
	text, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// runSession runs one client script against the server and decodes what it saw.
func runSession(t *testing.T, script, server, mode string) session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", script, server, mode)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	var s session
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%s printed %q: %v", script, out, err)
	}
	return s
}

// buildHello builds examples/hello of the enclosing module.
func buildHello(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hello")
	run(t, filepath.Join("..", ".."), "go", "build", "-o", binary, "./examples/hello")
	return binary
}

// installClients returns a directory with the scripts and the installed packages. It is kept in the user's cache under
// a name made from its content, so that the packages are fetched once.
func installClients(t *testing.T) string {
	t.Helper()
	checkNode(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("no cache directory for the npm packages: %v", err)
	}
	files, sum := clientFiles(t)
	dir := filepath.Join(cache, "typedmcp-interop-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}

	// Installed beside its final place and renamed: what is there under the final name is complete.
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	staging, err := os.MkdirTemp(cache, "typedmcp-interop-new-")
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

// clientFiles returns the embedded files by name, and a digest of them all.
func clientFiles(t *testing.T) (files map[string][]byte, digest string) {
	t.Helper()
	entries, err := clients.ReadDir("clients")
	if err != nil {
		t.Fatal(err)
	}
	files = make(map[string][]byte)
	hash := sha256.New()
	for _, e := range entries {
		text, err := clients.ReadFile("clients/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = text
		fmt.Fprintf(hash, "%s %d\n%s", e.Name(), len(text), text)
	}
	return files, fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

func checkNode(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%v: these tests run npm packages; install Node.js 20 or newer with npm", err)
		}
	}
	version := strings.TrimSpace(run(t, ".", "node", "--version"))
	var major int
	if _, err := fmt.Sscanf(version, "v%d.", &major); err != nil || major < 20 {
		t.Fatalf("node is %s; the clients need Node.js 20 or newer", version)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s in %s: %v\n%s", strings.Join(cmd.Args, " "), dir, err, out)
	}
	return string(out)
}
