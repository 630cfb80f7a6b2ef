//go:build unix

package mcp_test

import (
	"context"
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
	// A wrapper, as a shell is one, that starts the server proper and does not end with its input. What it starts has
	// descriptor 3 open, and ends when told to if the environment says so.
	wrapper := func(wait func()) int {
		self, err := os.Executable()
		if err != nil {
			return 2
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childVariable+"="+os.Getenv("MCP_TEST_GRANDCHILD"))
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "life line")}
		if err := cmd.Start(); err != nil {
			return 2
		}
		go childServer(false)
		wait()
		return 0
	}
	testChildren["client wrapper"] = func() int { return wrapper(func() { select {} }) }
	testChildren["client stubborn wrapper"] = func() int {
		signal.Ignore(syscall.SIGTERM)
		return wrapper(func() { select {} })
	}
	testChildren["client grandchild"] = func() int { select {} }
	testChildren["client stubborn grandchild"] = func() int {
		signal.Ignore(syscall.SIGTERM)
		select {}
	}
	testChildren["client group"] = func() int {
		s := mcp.NewServer("child", "1", nil)
		mcp.AddTool(s, "group", "", func(context.Context, struct{}) (string, error) {
			return fmt.Sprint(syscall.Getpgrp() == os.Getpid(), " ", syscall.Getpgrp()), nil
		})
		if err := s.ServeStdio(context.Background()); err != nil {
			return 1
		}
		return 0
	}
}

func TestCommandWithChildren(t *testing.T) {
	t.Parallel()
	for _, parent := range []string{"client wrapper", "client stubborn wrapper"} {
		for _, grandchild := range []string{"client grandchild", "client stubborn grandchild"} {
			t.Run("STD-11 the end of a "+parent+" is that of its "+grandchild, func(t *testing.T) {
				t.Parallel()
				life, line, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer life.Close()
				cmd := child(t, parent)
				cmd.Env = append(cmd.Env, "MCP_TEST_GRANDCHILD="+grandchild)
				cmd.ExtraFiles = []*os.File{line}
				c, err := mcp.Dial(t.Context(), mcp.Command(cmd), nil)
				_ = line.Close()
				if err != nil {
					t.Fatal(err)
				}
				pidOf(t, c)
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if err := life.SetReadDeadline(time.Now().Add(lineTimeout)); err != nil {
					t.Fatal(err)
				}
				if _, err := life.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
					t.Errorf("somebody holds the line: %v", err)
				}
			})
		}
	}
	for name, tt := range map[string]struct {
		attr  *syscall.SysProcAttr
		leads bool
	}{
		"a group of its own, so that Ctrl-C is this program's": {nil, true},
		"the group that the caller wants":                      {new(syscall.SysProcAttr), false},
		"a session of its own, if the caller wants":            {&syscall.SysProcAttr{Setsid: true}, true},
	} {
		t.Run("STD-11 a child starts in "+name, func(t *testing.T) {
			t.Parallel()
			cmd := child(t, "client group")
			cmd.SysProcAttr = tt.attr
			got, err := mcp.Call[string](t.Context(), dialChild(t, cmd, nil), "group", nil)
			if err != nil || strings.HasPrefix(got, "true") != tt.leads || !tt.leads && got != fmt.Sprint("false ", syscall.Getpgrp()) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
