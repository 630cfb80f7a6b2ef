package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// readmeCall is a call that a program of the README, started as a stdio server, has to answer.
type readmeCall struct{ program, tool, args, want string }

// check calls the program as a host would that has it in its configuration, and wants it to end with its input.
func (c readmeCall) check(t *testing.T, dir string) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, c.program))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("at the end of its input: %v", err)
		}
	}()
	client, err := mcp.Dial(ctx, mcp.Custom(func(context.Context) (mcp.Conn, error) { return mcp.NewConn(stdout, stdin), nil }), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got, err := mcp.Call[string](ctx, client, c.tool, json.RawMessage(c.args))
	if err != nil {
		t.Fatal(err)
	}
	if got != c.want {
		t.Errorf("%s %s gave %q, want %q", c.tool, c.args, got, c.want)
	}
}

// readmeRun is a `go run` of the README.
type readmeRun struct {
	pkg       string
	args      []string
	serveFlag string // not "": it serves HTTP
}

func (r readmeRun) check(t *testing.T, dir string) {
	program := filepath.Join(dir, path.Base(r.pkg))
	if r.serveFlag != "" {
		r.checkServes(t, program)
		return
	}
	if out := runCommand(t, dir, program, r.args...); len(out) == 0 {
		t.Error("it printed nothing")
	}
}

// checkServes wants tools at the path /mcp, and a clean end when the program is interrupted.
func (r readmeRun) checkServes(t *testing.T, program string) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	addr := freeAddress(t)
	cmd := exec.CommandContext(ctx, program, append(r.args, r.serveFlag, addr)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("when interrupted: %v", err)
		}
	}()
	waitListening(ctx, t, addr)
	client, err := mcp.Dial(ctx, mcp.HTTP("http://"+addr+"/mcp", nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	tools := 0
	for _, err := range client.Tools(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		tools++
	}
	if tools == 0 {
		t.Error("it has no tools")
	}
}

// freeAddress returns a loopback address that nothing listened on a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// waitListening returns when another process listens at addr.
func waitListening(ctx context.Context, t *testing.T, addr string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("nothing listens: %v", err)
		}
	}
}

// runCommand runs a program, with nothing to read, and returns what it printed on standard output.
func runCommand(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}
