package mcp_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestBatchesOfServers has servers answer with an array of messages, which revision 2025-03-26 alone has.
func TestBatchesOfServers(t *testing.T) {
	t.Parallel()
	const (
		one   = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`
		batch = `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},` + one + `]`
	)
	// hello answers the opening of a client that speaks but one revision.
	hello := func(version string, m clientMessage) string {
		switch m.Method {
		case "server/discover":
			return discovered
		case "initialize":
			return fmt.Sprintf(`"protocolVersion":%q,"capabilities":{}`, version)
		}
		return ""
	}
	carriers := map[string]func(t *testing.T, version string) mcp.Transport{
		"on a pipe": func(t *testing.T, version string) mcp.Transport {
			f := newFakeServer(t)
			f.talk(func(m clientMessage) string {
				if m.Method == "tools/call" {
					f.sent <- fmt.Sprintf("\ufeff "+batch, m.ID, "batch")
					f.sent <- fmt.Sprintf(one, m.ID, "single")
				}
				return hello(version, m)
			})
			return f.transport()
		},
		"in a stream": func(t *testing.T, version string) mcp.Transport {
			return mcp.HTTP(handled(t, func(w http.ResponseWriter, r *http.Request, m clientMessage) {
				switch {
				case r.Method != http.MethodPost:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case m.Method == "tools/call":
					sseOf(w)("data: "+batch+"\n\ndata: "+one+"\n\n", m.ID, "batch", m.ID, "single")
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
				default:
					writeResult(w, m, hello(version, m))
				}
			}), nil)
		},
		"as an answer": func(t *testing.T, version string) mcp.Transport {
			return mcp.HTTP(handled(t, func(w http.ResponseWriter, r *http.Request, m clientMessage) {
				switch {
				case r.Method != http.MethodPost:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case m.Method == "tools/call":
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, fmt.Sprintf(batch, m.ID, "batch"))
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
				default:
					writeResult(w, m, hello(version, m))
				}
			}), nil)
		},
	}
	for version, rule := range map[string]string{
		"2026-07-28": "BASE-10", "2025-11-25": "LHT-27", "2025-06-18": "LHT-27", "2025-03-26": "LHT-26", "2024-11-05": "LHT-27",
	} {
		for carrier, open := range carriers {
			t.Run(fmt.Sprintf("%s an array in %s, %s", rule, version, carrier), func(t *testing.T) {
				t.Parallel()
				var book logBook
				c, err := mcp.Dial(t.Context(), open(t, version), &mcp.ClientOptions{Versions: []string{version}, Logger: book.logger()})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				text, err := mcp.Call[string](t.Context(), c, "t", nil)
				switch {
				case version == "2025-03-26":
					if err != nil || text != "batch" {
						t.Errorf("%q, %v", text, err)
					}
					return
				case carrier == "as an answer":
					if err == nil || !strings.Contains(err.Error(), "without a result") {
						t.Errorf("%q, %v", text, err)
					}
				case err != nil || text != "single":
					t.Errorf("%q, %v", text, err)
				}
				if len(book.records(t, slog.LevelWarn)) == 0 {
					t.Error("no word of it in the log")
				}
			})
		}
	}
	bubble(t, "LHT-26 what is no batch is dropped, and a batch in a batch too", func(t *testing.T) {
		f := newFakeServer(t)
		f.talk(func(m clientMessage) string {
			if m.Method == "tools/call" {
				for _, bad := range []string{"[", "[]", "[1,null,[" + fmt.Sprintf(one, m.ID, "nested") + "]]", "[" + strings.Repeat("0,", 20_000) + fmt.Sprintf(one, m.ID, "huge") + "]"} {
					f.sent <- bad
				}
				f.sent <- fmt.Sprintf(one, m.ID, "single")
			}
			return hello("2025-03-26", m)
		})
		c, err := mcp.Dial(context.Background(), f.transport(), &mcp.ClientOptions{Versions: []string{"2025-03-26"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if text := textOf(mustCall(t, c, "t", nil)); text != "single" {
			t.Errorf("%q", text)
		}
	})
}
