package mcp_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// childVariable names, in the environment of a process that a test starts from this very binary, which of testChildren
// it is to be.
const childVariable = "MCP_TEST_CHILD"

// testChildren are the programs that tests run as processes of their own; each returns its exit status. Files add theirs
// in an init function.
var testChildren = map[string]func() int{}

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		child, ok := testChildren[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "%s=%s names no program of the tests\n", childVariable, name)
			os.Exit(2)
		}
		os.Exit(child())
	}
	before := goroutines()
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if left := leftGoroutines(before, 5*time.Second); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: the tests left %d goroutines behind:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// goroutines returns the stacks of all goroutines but the calling one, by their number.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	stacks := make(map[string]string)
	for _, stack := range strings.Split(string(buf), "\n\n")[1:] { // the first is the caller's
		number, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		stacks[number] = strings.TrimSpace(stack)
	}
	return stacks
}

// leftGoroutines returns the stacks of the goroutines that were not there before and have not ended within d. Those of
// the standard library that live as long as the process are not among them.
func leftGoroutines(before map[string]string, d time.Duration) []string {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(d); ; <-tick.C {
		var left []string
		for number, stack := range goroutines() {
			if _, old := before[number]; !old && !strings.Contains(stack, "os/signal.loop") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			slices.Sort(left)
			return left
		}
	}
}

// TestLeftGoroutines shows that the check in TestMain sees a goroutine that stays, and none that goes.
func TestLeftGoroutines(t *testing.T) {
	before := goroutines()
	release := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stayUntil(release)
	}()
	stays := func(stack string) bool { return strings.Contains(stack, "TestLeftGoroutines.func") }
	if left := leftGoroutines(before, 0); !slices.ContainsFunc(left, stays) {
		t.Errorf("a goroutine that stays was not found among %q", left)
	}
	close(release)
	<-ended
	if left := leftGoroutines(before, time.Second); slices.ContainsFunc(left, stays) {
		t.Errorf("a goroutine that has ended was found: %q", left)
	}
}

func stayUntil(release <-chan struct{}) { <-release }
