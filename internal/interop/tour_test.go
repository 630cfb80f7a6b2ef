package interop_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// visit is what a client saw of examples/tour.
type visit struct {
	Version   string
	Tools     []string
	Found     string
	Joined    string
	Asked     []string
	Declined  string
	Counted   string
	Progress  []float64
	Cancelled string
	Rules     string
	Missing   int
	Updated   string
	Prompt    string
	Faults    []string
}

// tourists are the clients: each visits a server, a URL or a program, and agrees on a version.
var tourists = []struct {
	name, version string
	visit         func(t *testing.T, target string) visit
}{
	{"TypeScript SDK v1", "2025-11-25", npmTour("tour1.mjs")},
	{"TypeScript client v2, handshake", "2025-11-25", npmTour("tour2.mjs", "legacy")},
	{"TypeScript client v2", "2026-07-28", npmTour("tour2.mjs", "auto")},
	{"go-sdk 2025-11-25", "2025-11-25", goSDKTour("2025-11-25")},
	{"go-sdk 2025-06-18", "2025-06-18", goSDKTour("2025-06-18")},
	{"go-sdk", "2026-07-28", goSDKTour("2026-07-28")},
	{"mcp-go 2025-11-25", "2025-11-25", mcpGoTour("2025-11-25")},
	{"mcp-go 2025-06-18", "2025-06-18", mcpGoTour("2025-06-18")},
}

// TestTour has every client use all of examples/tour, over both transports: list, call, be asked and accept, decline,
// progress, cancel, read, watch, prompt.
func TestTour(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "tour")
	run(t, filepath.Join("..", ".."), "go", "build", "-o", binary, "./examples/tour")
	targets := map[string]func(*testing.T) string{
		"stdio": func(*testing.T) string { return binary },
		"HTTP":  func(t *testing.T) string { return serveTour(t, binary) },
	}
	for transport, target := range targets {
		for _, client := range tourists {
			t.Run(client.name+" over "+transport, func(t *testing.T) {
				checkVisit(t, client.version, client.visit(t, target(t)))
			})
		}
	}
}

func checkVisit(t *testing.T, version string, got visit) {
	t.Helper()
	missing := -32002
	if version == "2026-07-28" {
		missing = -32602
	}
	want := visit{
		Version: version, Tools: []string{"search_books", "lend_book", "book_cover", "stocktake", "withdraw_book", "join_library", "find_by_taste"},
		Joined:   "Card 1001 is at the main branch.",
		Asked:    []string{"Who wants to join?", "Ada, do you accept the house rules for card 1001?"},
		Declined: "failed: the user declined", Counted: "4 books, 0 loans", Progress: []float64{1, 2, 3, 4},
		Cancelled: "cancelled", Missing: missing, Updated: "library://loans",
		Prompt: "Recommend 1 book on design from the library, serious ones.", Faults: []string{},
	}
	if !strings.Contains(got.Found, "The Go Programming Language") || !strings.HasPrefix(got.Rules, "# House rules") {
		t.Errorf("found %q, read %q", got.Found, got.Rules)
	}
	got.Found, got.Rules = "", ""
	if got.Missing == -32602 && version != "2026-07-28" {
		got.Missing = missing // some clients translate the code
	}
	if got.Faults == nil {
		got.Faults = []string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the client saw (-want +got):\n%s", diff)
	}
}

// serveTour serves the program over HTTP until the test ends, and returns the URL.
func serveTour(t *testing.T, binary string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "-http", addr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	for range 100 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return "http://" + addr + "/mcp"
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the server does not listen")
	return ""
}

// npmTour runs a script of clients.
func npmTour(script string, args ...string) func(*testing.T, string) visit {
	return func(t *testing.T, target string) visit {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "node", slices.Concat([]string{filepath.Join(installClients(t), script), target}, args)...)
		var stderr strings.Builder
		cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
		}
		var v visit
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatalf("%s printed %q: %v", script, out, err)
		}
		return v
	}
}

// reader is the user of a Go client: what they do with the questions of one call after the other.
type reader struct {
	asked  []string
	action func(n int) (action string, content map[string]any)
	opened chan struct{} // gets an element with each question
}

func newReader() *reader { return &reader{opened: make(chan struct{}, 16)} }

func (r *reader) ask(message string) (string, map[string]any) {
	r.asked = append(r.asked, message)
	r.opened <- struct{}{}
	return r.action(len(r.asked))
}

// joins accepts: a form first, then the rules.
func joins(n int) (string, map[string]any) {
	if n == 1 {
		return "accept", map[string]any{"name": "Ada", "email": "ada@example.com"}
	}
	return "accept", map[string]any{}
}

func declines(int) (string, map[string]any) { return "decline", nil }

// textOf is the text of a result as visits have it.
func textOf(text string, isError bool) string {
	if isError {
		return "failed: " + text
	}
	return text
}

// await returns what ch gets, in time.
func await[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
	}
	panic("unreachable")
}

// must fails the test if a step of a visit did.
func must[T any](v T, err error) func(*testing.T, string) T {
	return func(t *testing.T, step string) T {
		t.Helper()
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", step, err))
		}
		return v
	}
}
