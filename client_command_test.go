package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

func init() {
	testChildren["client server"] = func() int { return childServer(false) }
	testChildren["client noisy"] = func() int { return childServer(true) }
	testChildren["client legacy that exits"] = childLegacy
	testChildren["client broken"] = func() int {
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		return 7
	}
	testChildren["client stubborn"] = func() int {
		signal.Ignore(syscall.SIGTERM)
		go childServer(false)
		select {}
	}
	testChildren["client cached"] = func() int {
		s := mcp.NewServer("child", "1", &mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Hour}})
		mcp.AddTool(s, fmt.Sprint("pid", os.Getpid()), "", func(context.Context, struct{}) (string, error) { os.Exit(3); return "", nil })
		if err := s.ServeStdio(context.Background()); err != nil {
			return 1
		}
		return 0
	}
	testChildren["client obedient"] = func() int {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		go childServer(false)
		<-signals
		fmt.Fprintln(os.Stderr, "told to end, and so it does")
		return 0
	}
	testChildren["client polite"] = func() int {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		ended := make(chan int, 1)
		go func() { ended <- childServer(false) }()
		select {
		case code := <-ended:
			fmt.Fprintln(os.Stderr, "not signalled")
			return code
		case <-signals:
			fmt.Fprintln(os.Stderr, "signalled")
			return 1
		}
	}
}

// childServer serves on standard input and output. Its tool die ends the process in the middle of a line, pid tells one
// process from another.
func childServer(noisy bool) int {
	s := mcp.NewServer("child", "1", &mcp.ServerOptions{Dynamic: true})
	mcp.AddTool(s, "pid", "", func(context.Context, struct{}) (int, error) { return os.Getpid(), nil })
	mcp.AddTool(s, "wait", "", func(ctx context.Context, _ struct{}) (string, error) {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
		return "", ctx.Err()
	})
	mcp.AddTool(s, "die", "", func(context.Context, struct{}) (string, error) {
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
		return "", nil
	})
	mcp.AddTool(s, "env", "", func(context.Context, struct{}) (string, error) {
		dir, err := os.Getwd()
		return dir + " " + os.Getenv("MCP_TEST_VALUE"), err
	})
	if noisy {
		for range 100 {
			fmt.Fprintln(os.Stderr, "debug: all is well")
		}
		fmt.Print("Welcome to the server!\r\n\n\x1b[1m{not json\n\ufeff")
	}
	if err := s.ServeStdio(context.Background()); err != nil {
		return 1
	}
	return 0
}

// childLegacy is a server that exits when its first message is not initialize.
func childLegacy() int {
	in := bufio.NewScanner(os.Stdin)
	if !in.Scan() || !strings.Contains(in.Text(), `"method":"initialize"`) {
		fmt.Fprintln(os.Stderr, "protocol error: expected initialize")
		return 1
	}
	fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{` + initialized + `}}`)
	for in.Scan() {
		if strings.Contains(in.Text(), `"id":2`) {
			fmt.Println(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"old but good"}]}}`)
		}
	}
	return 0
}

// child is the command of one of testChildren.
func child(t testing.TB, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	return cmd
}

func dialChild(t testing.TB, cmd *exec.Cmd, opts *mcp.ClientOptions) *mcp.Client {
	t.Helper()
	c, err := mcp.Dial(t.Context(), mcp.Command(cmd), opts)
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

func pidOf(t testing.TB, c *mcp.Client) int {
	t.Helper()
	pid, err := mcp.Call[int](t.Context(), c, "pid", nil)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestCommand(t *testing.T) {
	t.Parallel()
	t.Run("BASE-24 one process for many calls, started as the command says", func(t *testing.T) {
		t.Parallel()
		cmd := child(t, "client server")
		cmd.Dir = t.TempDir()
		cmd.Env = append(cmd.Env, "MCP_TEST_VALUE=x")
		c := dialChild(t, cmd, nil)
		if a, b := pidOf(t, c), pidOf(t, c); a != b || a == os.Getpid() || c.Server().Protocol != mcp.LatestVersion {
			t.Errorf("%d, %d", a, b)
		}
		if got, err := mcp.Call[string](t.Context(), c, "env", nil); err != nil || !strings.HasSuffix(got, " x") || !strings.Contains(got, "/") {
			t.Errorf("%q, %v", got, err)
		}
		if cmd.Process != nil {
			t.Error("the caller's command was started")
		}
	})
	t.Run("STD-05 noise on standard error is no failure, and on standard output is skipped", func(t *testing.T) {
		t.Parallel()
		cmd := child(t, "client noisy")
		var words syncBuffer
		cmd.Stderr = &words
		var book logBook
		c := dialChild(t, cmd, &mcp.ClientOptions{Logger: book.logger()})
		pidOf(t, c)
		if n := strings.Count(words.String(), "all is well"); n != 100 {
			t.Errorf("%d lines of standard error", n)
		}
		if log := book.String(); log != "" { // such lines are no bad messages
			t.Errorf("log %s", log)
		}
	})
	t.Run("C127 ERD-09 a child that exits on the probe is started anew, and the era remembered", func(t *testing.T) {
		t.Parallel()
		transport := mcp.Command(child(t, "client legacy that exits"))
		for range 2 {
			c, err := mcp.Dial(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := textOf(mustCall(t, c, "t", nil)); text != "old but good" || c.Server().Protocol != legacyVersion {
				t.Errorf("%q by %s", text, c.Server().Protocol)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("C127 a child that always exits: its status and its last words", func(t *testing.T) {
		t.Parallel()
		_, err := mcp.Dial(t.Context(), mcp.Command(child(t, "client broken")), nil)
		var status *exec.ExitError
		if !errors.As(err, &status) || status.ExitCode() != 7 || !strings.Contains(err.Error(), "cannot find my configuration") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a command that cannot be started, or is not the client's to start", func(t *testing.T) {
		t.Parallel()
		taken := child(t, "client server")
		taken.Stdout = os.Stderr
		for want, cmd := range map[string]*exec.Cmd{
			"no-such-program": exec.Command("./no-such-program"), "nil": nil, "Stdout": taken,
		} {
			if _, err := mcp.Dial(t.Context(), mcp.Command(cmd), nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, without %q", err, want)
			}
		}
	})
}

func TestCommandDies(t *testing.T) {
	t.Parallel()
	t.Run("C130 STD-14 calls under way fail at once with status and last words, the next is served by a new child", func(t *testing.T) {
		t.Parallel()
		cmd := child(t, "client server")
		var words syncBuffer
		cmd.Stderr = &words
		c := dialChild(t, cmd, nil)
		before := pidOf(t, c)
		failed := make(chan error, 3)
		for range 3 {
			go func() { _, err := c.CallTool(t.Context(), "wait", nil); failed <- err }()
		}
		eventually(t, func() bool { return strings.Count(words.String(), "waiting") == 3 })
		_, err := c.CallTool(t.Context(), "die", nil)
		for _, err := range []error{err, <-failed, <-failed, <-failed} {
			var status *exec.ExitError
			var remote *mcp.Error
			if !errors.As(err, &status) || status.ExitCode() != 3 || !strings.Contains(err.Error(), "out of luck") || errors.As(err, &remote) {
				t.Errorf("error %v", err)
			}
		}
		if after := pidOf(t, c); after == before {
			t.Error("the same process")
		}
	})
	t.Run("STD-15 SUB-15 subscriptions are opened anew at a new child, and miss nothing", func(t *testing.T) {
		t.Parallel()
		c := dialChild(t, child(t, "client server"), nil)
		sub, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		if _, err := c.CallTool(t.Context(), "die", nil); err == nil {
			t.Fatal("survived")
		}
		for e, err := range sub.Events() { // something may have changed in between
			if err != nil || e != (mcp.Event{Kind: "tools"}) {
				t.Errorf("%+v, %v", e, err)
			}
			break
		}
		pidOf(t, c)
	})
	t.Run("CCH-14 STD-14 what a child said is no more when another takes its place", func(t *testing.T) {
		t.Parallel()
		c := dialChild(t, child(t, "client cached"), nil)
		first := mustList(t, c)[0].Name
		if again := mustList(t, c)[0].Name; again != first {
			t.Fatalf("%s and %s", first, again)
		}
		if _, err := c.CallTool(t.Context(), first, nil); err == nil {
			t.Fatal("survived")
		}
		if _, err := c.CallTool(t.Context(), "none", nil); err == nil { // the next child is there
			t.Error("no error")
		}
		if next := mustList(t, c)[0].Name; next == first {
			t.Error("the list is that of the first child")
		}
	})
	t.Run("AMB-31 a list that was lost is asked for again", func(t *testing.T) {
		t.Parallel()
		c := dialChild(t, child(t, "client server"), nil)
		go c.CallTool(t.Context(), "die", nil)
		for range 20 {
			mustList(t, c)
		}
	})
	t.Run("STD-14 after Close nothing is started", func(t *testing.T) {
		t.Parallel()
		c, err := mcp.Dial(t.Context(), mcp.Command(child(t, "client server")), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // C130: closing twice does no harm
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := c.CallTool(t.Context(), "pid", nil); !errors.Is(err, mcp.ErrClosed) {
			t.Errorf("error %v", err)
		}
	})
}

func TestCommandEnds(t *testing.T) {
	t.Parallel()
	t.Run("STD-11 a polite child is not signalled", func(t *testing.T) {
		t.Parallel()
		cmd := child(t, "client polite")
		var words syncBuffer
		cmd.Stderr = &words
		c, err := mcp.Dial(t.Context(), mcp.Command(cmd), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil || !strings.Contains(words.String(), "not signalled") {
			t.Errorf("%v: %s", err, words.String())
		}
	})
	t.Run("STD-11 a child that ignores the end of its input is told to end before it is killed", func(t *testing.T) {
		t.Parallel()
		cmd := child(t, "client obedient")
		var words syncBuffer
		cmd.Stderr = &words
		c, err := mcp.Dial(t.Context(), mcp.Command(cmd), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil || !strings.Contains(words.String(), "told to end, and so it does") {
			t.Errorf("%v: %s", err, words.String())
		}
	})
	t.Run("STD-11 C130 a child that ignores the end of its input and SIGTERM is killed within the bound", func(t *testing.T) {
		t.Parallel()
		c, err := mcp.Dial(t.Context(), mcp.Command(child(t, "client stubborn")), nil)
		if err != nil {
			t.Fatal(err)
		}
		pid := pidOf(t, c)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = c.Close()
		}()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Fatal("Close hangs")
		}
		if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
			t.Error("the process is there")
		}
	})
}

// eventually waits until what other processes do has the wanted effect.
func eventually(t testing.TB, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}
