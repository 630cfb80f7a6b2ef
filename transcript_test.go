package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/typedmcp/mcp"
)

// transcriptServers are the servers that transcripts name. Files add theirs in an init function.
var transcriptServers = map[string]func() *mcp.Server{
	"fixture": func() *mcp.Server { return newFixture(nil).Server },
	"bare":    func() *mcp.Server { return mcp.NewServer("bare", "1.0.0", nil) },
	"modern only": func() *mcp.Server {
		return newFixture(&mcp.ServerOptions{Versions: []string{"2026-07-28"}}).Server
	},
	"legacy only": func() *mcp.Server {
		return newFixture(&mcp.ServerOptions{Versions: []string{"2025-11-25", "2024-11-05"}}).Server
	},
	"paged":     pagedServer,
	"described": describedServer,
}

// pagedServer has five tools and lists two at a time.
func pagedServer() *mcp.Server {
	s := mcp.NewServer("paged", "1.0.0", &mcp.ServerOptions{PageSize: 2})
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		mcp.AddTool(s, name, "", func(context.Context, noArgs) (string, error) { return name, nil })
	}
	return s
}

// describedServer says all that a server can say, so that it shows what older revisions have no place for.
func describedServer() *mcp.Server {
	icon := mcp.Icon{Src: "https://example.com/icon.png", MIMEType: "image/png", Sizes: []string{"48x48"}}
	s := mcp.NewServer("described", "1.0.0", &mcp.ServerOptions{
		Title: "Described", Description: "A server that says all of itself", WebsiteURL: "https://example.com",
		Instructions: "Call object first.", Icons: []mcp.Icon{icon}, Logging: true,
	})
	mcp.AddTool(s, "object", "Return an object", func(context.Context, addArgs) (sumResult, error) {
		return sumResult{3}, nil
	}).Title("Object").ReadOnly().OpenWorld(false).Icon(icon.Src, icon.Sizes...).Meta("com.example/cost", 5)
	mcp.AddTool(s, "array", "Return an array", func(context.Context, noArgs) ([]int, error) {
		return []int{1, 2}, nil
	})
	mcp.AddTool(s, "blocks", "Return blocks and a value", func(context.Context, noArgs) (mcp.Structured[sumResult], error) {
		return mcp.Structured[sumResult]{
			Value: sumResult{3},
			Content: []mcp.Content{
				mcp.Text("three"), mcp.Audio([]byte("la"), "audio/wav"), mcp.Link("file:///three", "three"),
			},
			Meta: mcp.Meta{"com.example/took": json.RawMessage(`1`)},
		}, nil
	})
	return s
}

// transcriptEvents are what transcripts have happen at a server. Files add theirs in an init function.
var transcriptEvents = map[string]func(testing.TB, *mcp.Server){}

// TestTranscripts replays the conversations under testdata/wire. Their files are txtar archives:
//
//   - the comment: in the first line a title, which names the sub-test; then what is shown
//   - server: a key of transcriptServers
//   - lines: the conversation. "-> " begins a line that the client sends; "=> " bytes that it sends, as a Go string, with
//     no newline added; "!! " a key of transcriptEvents; "<- " a line that the server has to answer with, byte for byte. Each line of the client is sent
//     when the server has nothing left to do.
//
// With -update the server's lines are written instead of compared.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wire/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(string(archive.Comment), "\n")
		t.Run(filepath.Base(filepath.Dir(file))+"/"+title, func(t *testing.T) {
			t.Parallel()
			lines := transcriptFile(t, archive, "lines")
			want := strings.TrimSpace(string(lines.Data))
			got := replay(t, strings.TrimSpace(string(transcriptFile(t, archive, "server").Data)), want)
			if *update {
				lines.Data = []byte(got + "\n")
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func transcriptFile(t *testing.T, a *txtar.Archive, name string) *txtar.File {
	t.Helper()
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	t.Fatalf("the transcript has no file %q", name)
	return nil
}

// replay sends the client's lines of a conversation and returns it with the server's lines as they came.
func replay(t *testing.T, server, conversation string) string {
	t.Helper()
	setup, ok := transcriptServers[server]
	if !ok {
		t.Fatalf("no server is called %q", server)
	}
	var got bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := setup()
		c := serveLines(t, s)
		for _, line := range strings.Split(conversation, "\n") {
			switch text, _ := strings.CutPrefix(line, line[:min(3, len(line))]); {
			case strings.HasPrefix(line, "<- "):
				continue
			case strings.HasPrefix(line, "-> "):
				c.send(text)
			case strings.HasPrefix(line, "=> "):
				raw, err := strconv.Unquote(text)
				if err != nil {
					t.Fatalf("not a Go string: %s", text)
				}
				c.raw(raw)
			case strings.HasPrefix(line, "!! ") && transcriptEvents[text] != nil:
				transcriptEvents[text](t, s)
			default:
				t.Fatalf("a line of a transcript begins with \"-> \", \"=> \", \"<- \" or \"!! \" and an event: %q", line)
			}
			got.WriteString(line + "\n")
			synctest.Wait()
			got.WriteString(waitingLines(t, c))
		}
		if err := c.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		for _, line := range c.rest() {
			got.WriteString("<- " + line + "\n")
		}
	})
	return strings.TrimSpace(got.String())
}

// waitingLines returns the lines that have come, as a transcript has them.
func waitingLines(t *testing.T, c *lineClient) string {
	var lines strings.Builder
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				return lines.String()
			}
			parts := []json.RawMessage{json.RawMessage(line)}
			if line[0] == '[' { // the answers to a batch
				if err := json.Unmarshal([]byte(line), &parts); err != nil {
					t.Errorf("not one array: %v: %s", err, line)
				}
			}
			for _, part := range parts {
				parseWire(t, string(part))
			}
			lines.WriteString("<- " + line)
		default:
			return lines.String()
		}
	}
}
