package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// TestQuirksOfResults has servers that are careless with results.
func TestQuirksOfResults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		members    string
		text       string // of the first block
		structured string // "": none
	}{
		"content null":                           {`"content":null`, "", ""},
		"no content":                             {`"_meta":{}`, "", ""},
		"a text without its text":                {`"content":[{"type":"text"}]`, "", ""},
		"members that are null":                  {`"content":[{"type":"text","text":"ok","annotations":null,"_meta":null}],"_meta":null,"isError":null,"resultType":null`, "ok", ""},
		"members that nobody knows":              {`"content":[{"type":"text","text":"ok","x":[1]}],"x":{"y":1}`, "ok", ""},
		"structured content that is an array":    {`"content":[{"type":"text","text":"ok"}],"structuredContent":[1,2]`, "ok", `[1,2]`},
		"structured content that is a number":    {`"content":[{"type":"text","text":"ok"}],"structuredContent":7`, "ok", `7`},
		"structured content without a text":      {`"structuredContent":{"a":1}`, "", `{"a":1}`},
		"caching hints where there are none":     {`"content":[{"type":"text","text":"ok"}],"ttlMs":"x","cacheScope":7`, "ok", ""},
		"the stamp of another kind than objects": {`"content":[{"type":"text","text":"ok"}],"_meta":{"io.modelcontextprotocol/serverInfo":"x"}`, "ok", ""},
	} {
		for _, version := range []string{mcp.LatestVersion, legacyVersion} {
			bubble(t, "BASE-13 "+name+", "+version, func(t *testing.T) {
				f := newFakeServer(t)
				f.talk(func(m clientMessage) string {
					switch m.Method {
					case "server/discover":
						return discovered
					case "initialize":
						return initialized
					}
					return tt.members
				})
				c, err := mcp.Dial(t.Context(), f.transport(), &mcp.ClientOptions{Versions: []string{version}})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				r := mustCall(t, c, "t", nil)
				raw, _ := r.Structured.(json.RawMessage)
				if len(r.Content) > 0 && textOf(r) != tt.text || len(r.Content) == 0 && tt.text != "" || string(raw) != tt.structured || r.IsError {
					t.Errorf("%+v, structured %s", r, raw)
				}
			})
		}
	}
}

// TestQuirksOnPipes has servers that are careless with lines.
func TestQuirksOnPipes(t *testing.T) {
	t.Parallel()
	const answer = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`
	long := strings.Repeat("x", 5<<20)
	for name, quirk := range map[string]struct{ before, after, text string }{
		"a byte order mark":       {"\ufeff", "\n", "ok"},
		"CRLF":                    {"", "\r\n", "ok"},
		"white space around":      {" \t", " \r\n", "ok"},
		"blank lines":             {"\n\r\n \n", "\n\n", "ok"},
		"stray text":              {"Listening...\n[info] up\n{half\n", "\n", "ok"},
		"colours":                 {"\x1b[1mready\x1b[0m\n", "\n", "ok"},
		"bytes that are no UTF-8": {"\xff\xfe\n", "\n", "ok"},
		"a line of five MiB":      {"", "\n", long},
	} {
		t.Run("STD-01 STD-05 "+name, func(t *testing.T) {
			t.Parallel()
			transport := mcp.Custom(func(context.Context) (mcp.Conn, error) {
				in, toServer := io.Pipe()
				fromServer, out := io.Pipe()
				go func() { // ends with the connection
					defer out.Close()
					f := &fakeServer{t: t}
					for lines := bufio.NewScanner(in); lines.Scan(); {
						m, line := f.parse(lines.Text()), ""
						switch {
						case m.Method == "server/discover":
							line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, discovered)
						default:
							line = fmt.Sprintf(answer, m.ID, quirk.text)
						}
						if _, err := io.WriteString(out, quirk.before+line+quirk.after); err != nil {
							return
						}
					}
				}()
				return mcp.NewConn(fromServer, toServer), nil
			})
			c, err := mcp.Dial(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if text := textOf(mustCall(t, c, "t", nil)); text != quirk.text {
				t.Errorf("%.100q", text)
			}
		})
	}
}

// TestProxiesThatHoldHeadersBack has a proxy that passes the head of an answer on with the first byte of its body alone.
func TestProxiesThatHoldHeadersBack(t *testing.T) {
	t.Parallel()
	bubble(t, "LHT-01 the stream of no request does not keep the client waiting", func(t *testing.T) {
		first := make(chan struct{})
		s := &bubbleServer{t: t, call: func(_ *http.Request, m clientMessage) *http.Response {
			return streamOf(fmt.Sprintf(eventOfCall, m.ID))
		}, get: func(r *http.Request) *http.Response {
			select {
			case <-first:
			case <-r.Context().Done():
			}
			return answerOf("text/event-stream", lateBody{strings.NewReader("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"), r.Context()})
		}}
		start := time.Now()
		c := s.dial()
		if mustCall(t, c, "t", nil); time.Since(start) > time.Second {
			t.Errorf("it took %v", time.Since(start))
		}
		close(first)
		synctest.Wait()
		mustCall(t, c, "t", nil)
	})
}

// TestRedirects has servers that send requests elsewhere, as many do from /mcp to /mcp/.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		to    string
		works bool
	}{
		"the same origin":        {"http://server.example/mcp/", true},
		"a path of it":           {"/mcp/", true},
		"another host":           {"http://evil.example/mcp", false},
		"another port":           {"http://server.example:8080/mcp", false},
		"another scheme":         {"https://server.example/mcp", false},
		"itself, without an end": {"http://server.example/mcp", false},
	} {
		t.Run("HTTP-10 a redirect to "+name, func(t *testing.T) {
			t.Parallel()
			transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Auth: &switchboard{token: "secret"}, Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
				if r.URL.Scheme != "http" || r.URL.Host != "server.example" {
					t.Errorf("%s was asked, with %v", r.URL, r.Header)
				}
				if r.URL.Path == "/mcp" {
					resp := statusOf(http.StatusTemporaryRedirect)
					resp.Header.Set("Location", tt.to)
					return resp, nil
				}
				m := messageOf(t, r)
				if r.Header.Get("Mcp-Method") != m.Method || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("%s: %v", m.Method, r.Header)
				}
				return answerOf("application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, discovered)))), nil
			})}})
			c, err := mcp.Dial(t.Context(), transport, nil)
			if err == nil {
				defer c.Close()
			}
			if (err == nil) != tt.works || err != nil && !strings.Contains(err.Error(), "redirects") {
				t.Errorf("error %v", err)
			}
		})
	}
}
