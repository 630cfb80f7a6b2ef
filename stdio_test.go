package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func init() {
	testChildren["stdio"] = stdioChild
	testChildren["echo"] = func() int {
		fmt.Println("printed by a grandchild")
		return 0
	}
}

// stdioChild is a server over the standard streams whose tools misbehave. When it has served it prints a line to its
// standard output; it exits with 3 when serving failed.
func stdioChild() int {
	f := newFixture(nil)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	mcp.AddTool(f, "print", "Print to standard output, as a library or a child process would", func(ctx context.Context, _ noArgs) (string, error) {
		fmt.Println("printed by a handler")
		fmt.Fprintln(os.Stderr, "a word on standard error")
		cmd := childCommand(ctx, "echo")
		cmd.Stdout = os.Stdout
		cmd.Stderr = os.Stderr
		return "printed", cmd.Run()
	})
	mcp.AddTool(f, "again", "Serve the standard streams once more", func(ctx context.Context, _ noArgs) (string, error) {
		return "", f.ServeStdio(ctx)
	})
	mcp.AddTool(f, "stop", "End the context of ServeStdio", func(context.Context, noArgs) (string, error) {
		stop()
		return "stopping", nil
	})
	if err := f.ServeStdio(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "served with error:", err)
		return 3
	}
	fmt.Println("restored")
	return 0
}

// childCommand is a command that runs one of testChildren.
func childCommand(ctx context.Context, name string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	return cmd
}

// childProcess is a process of testChildren with pipes to its streams.
type childProcess struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	outEnd io.Closer
	stderr bytes.Buffer
}

func startChild(t *testing.T, name string) *childProcess {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	p := &childProcess{t: t, cmd: childCommand(ctx, name)}
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out, p.outEnd = in, bufio.NewReader(out), out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = p.cmd.Wait() // an error when it was waited for, which is no matter
	})
	return p
}

func (p *childProcess) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.in, line+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *childProcess) expect(want ...string) {
	p.t.Helper()
	for _, w := range want {
		got, err := p.out.ReadString('\n')
		if err != nil || got != w+"\n" {
			p.t.Fatalf("got %q, %v\nwant %s\nstandard error:\n%s", got, err, w, &p.stderr)
		}
	}
}

// exit waits for the end of the process and returns what else it wrote to its standard output.
func (p *childProcess) exit(code int) string {
	p.t.Helper()
	rest, err := io.ReadAll(p.out)
	if err != nil {
		p.t.Errorf("reading standard output: %v", err)
	}
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("the process ended with %v, want exit status %d; standard error:\n%s", p.cmd.ProcessState, code, &p.stderr)
	}
	return string(rest)
}

func TestStdio(t *testing.T) {
	t.Parallel()
	t.Run("STD-02 STD-04 STD-12 C70 P16 what handlers and their children print is kept off the protocol", func(t *testing.T) {
		t.Parallel()
		p := startChild(t, "stdio")
		p.send("hello there", modernCall("1", "print", `{}`))
		p.expect(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: not valid JSON at byte 0"}}`, modernText("1", "printed"))
		p.send(modernCall("2", "print", `{}`), modernCall("3", "block", `{}`), cancelNotice("3", ""))
		p.expect(modernText("2", "printed"))
		p.send(modernCall("4", "add", `{"a":1,"b":2}`))
		_ = p.in.Close()
		p.expect(modernSum("4", 3))
		if rest := p.exit(0); rest != "restored\n" {
			t.Errorf("standard output had more: %q", rest)
		}
		want := strings.Repeat("printed by a handler\na word on standard error\nprinted by a grandchild\n", 2)
		if diff := cmp.Diff(want, p.stderr.String()); diff != "" {
			t.Errorf("standard error (-want +got):\n%s", diff)
		}
	})
	t.Run("STD-12 C70 the standard output is restored at the end of input", func(t *testing.T) {
		t.Parallel()
		p := startChild(t, "stdio")
		p.send(modernCall("1", "echo", `{"text":"x"}`))
		p.expect(modernText("1", "x"))
		_ = p.in.Close()
		if rest := p.exit(0); rest != "restored\n" {
			t.Errorf("standard output had %q, want what was printed after serving", rest)
		}
	})
	t.Run("STD-13 the context ends while the input is open", func(t *testing.T) {
		t.Parallel()
		p := startChild(t, "stdio")
		p.send(modernCall("1", "stop", `{}`))
		p.expect(modernText("1", "stopping"))
		if rest := p.exit(0); rest != "restored\n" {
			t.Errorf("standard output had %q, want what was printed after serving", rest)
		}
	})
	t.Run("one ServeStdio at a time", func(t *testing.T) {
		t.Parallel()
		p := startChild(t, "stdio")
		p.send(modernCall("1", "again", `{}`))
		p.expect(modernResult("1", `"content":[{"type":"text","text":"mcp: ServeStdio is already running in this process"}],"isError":true`))
		p.send(modernCall("2", "print", `{}`))
		p.expect(modernText("2", "printed"))
		_ = p.in.Close()
		if rest := p.exit(0); rest != "restored\n" {
			t.Errorf("standard output had %q, want what was printed after serving", rest)
		}
	})
	t.Run("C73 the client closes the output", func(t *testing.T) {
		t.Parallel()
		p := startChild(t, "stdio")
		p.send(modernCall("1", "echo", `{"text":"x"}`))
		p.expect(modernText("1", "x"))
		_ = p.outEnd.Close()
		p.send(modernCall("2", "echo", `{"text":"x"}`))
		_ = p.cmd.Wait() // not killed by a signal, and with its input open
		if got := p.cmd.ProcessState.ExitCode(); got != 3 || strings.Count(p.stderr.String(), "\n") != 1 ||
			!strings.Contains(p.stderr.String(), "mcp: writing to the client: ") {
			t.Errorf("the process ended with %v; standard error:\n%s", p.cmd.ProcessState, &p.stderr)
		}
	})
}

func TestStdioProblems(t *testing.T) {
	t.Parallel()
	// Before any descriptor is touched: this process's are not the test's to change.
	if err := mcp.NewServer("", "", nil).ServeStdio(t.Context()); err == nil || !strings.Contains(err.Error(), "name and version") {
		t.Errorf("ServeStdio: %v", err)
	}
}
