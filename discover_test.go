package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	discover := modernRequest("1", "server/discover")
	t.Run("VER-04 VER-06 CCH-01 a bare server", func(t *testing.T) {
		t.Parallel()
		const want = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],` +
			`"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}`
		if got := ask(t, mcp.NewServer("s", "1", nil), discover); got != want {
			t.Errorf("answer %s", got)
		}
	})
	t.Run("VER-06 META-10 P12 P13 M21 all that options and tools add", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{
			Title: "T", Description: "D", Instructions: "Use it\nwell", WebsiteURL: "https://example.com/", Icons: []mcp.Icon{{Src: "https://example.com/i", Sizes: []string{"any"}}},
			Versions: []string{"2025-06-18", "2026-07-28", "2025-06-18"}, Cache: mcp.Cache{TTL: 1500 * time.Millisecond, Public: true},
		})
		mcp.AddTool(s, "t", "", returning[struct{}](""))
		const want = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-06-18"],"capabilities":{"tools":{}},` +
			`"instructions":"Use it\nwell","ttlMs":1500,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","title":"T","version":"1","description":"D",` +
			`"websiteUrl":"https://example.com/","icons":[{"src":"https://example.com/i","sizes":["any"]}]}}}}`
		if got := ask(t, s, discover); got != want {
			t.Errorf("answer %s", got)
		}
	})
	t.Run("VER-05 any method may come first", func(t *testing.T) {
		t.Parallel()
		f := newFixture(nil)
		for line, want := range map[string]string{
			modernCall("1", "add", `{"a":1,"b":2}`): modernSum("1", 3),
			modernCall("1", "echo", `{"text":"x"}`): modernText("1", "x"),
		} {
			if got := ask(t, f.Server, line); got != want {
				t.Errorf("answer %s", got)
			}
		}
	})
	for _, tt := range []struct {
		name    string
		tools   bool
		methods []string
	}{
		{"nothing", false, []string{"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read", "completion/complete"}},
		{"tools", true, []string{"prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read", "completion/complete"}},
	} {
		t.Run("VER-07 what is not advertised does not exist, with "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			if tt.tools {
				mcp.AddTool(s, "t", "", returning[struct{}](""))
			}
			c := serveLines(t, s)
			for i, method := range tt.methods {
				id := fmt.Sprint(i)
				c.send(modernRequest(id, method))
				if text := c.expectError(id, mcp.CodeMethodNotFound); !strings.Contains(text, method) {
					t.Errorf("%s: %s", method, text)
				}
			}
			c.send(discover)
			var capabilities map[string]any
			if err := json.Unmarshal(resultIn(t, c.next())["capabilities"], &capabilities); err != nil {
				t.Fatal(err)
			}
			if _, ok := capabilities["tools"]; ok != tt.tools || len(capabilities) > 1 {
				t.Errorf("capabilities %v", capabilities)
			}
		})
	}
	t.Run("VER-02 a revision that is known but switched off", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Versions: []string{"2025-06-18"}})
		e := faultIn(t, ask(t, s, discover))
		if e.Code != mcp.CodeUnsupportedVersion || string(e.Data) != `{"supported":["2025-06-18"],"requested":"2026-07-28"}` {
			t.Errorf("%+v %s", e, e.Data)
		}
	})
}

func TestCachingHints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		opts  mcp.ServerOptions
		hints map[string]string
	}{
		{"by default none", mcp.ServerOptions{}, map[string]string{"tools/list": "0 private", "server/discover": "0 private"}},
		{"for all", mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Minute, Public: true}}, map[string]string{"tools/list": "60000 public", "server/discover": "60000 public"}},
		{"by method", mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Second}, ListCache: map[string]mcp.Cache{"tools/list": {Public: true}}},
			map[string]string{"tools/list": "0 public", "server/discover": "1000 private"}},
		{"less than a millisecond", mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Microsecond}}, map[string]string{"tools/list": "0 private", "server/discover": "0 private"}},
	} {
		for method, want := range tt.hints {
			t.Run("CCH-01 CCH-02 "+tt.name+", "+method, func(t *testing.T) {
				t.Parallel()
				s := mcp.NewServer("s", "1", &tt.opts)
				mcp.AddTool(s, "t", "", returning[struct{}](""))
				got := resultIn(t, ask(t, s, modernRequest("1", method)))
				var scope string
				if err := json.Unmarshal(got["cacheScope"], &scope); err != nil || string(got["ttlMs"])+" "+scope != want {
					t.Errorf("%s", got)
				}
			})
		}
	}
	t.Run("CCH-02 the option's map is the server's own", func(t *testing.T) {
		t.Parallel()
		hints := map[string]mcp.Cache{"tools/list": {TTL: time.Second}}
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{ListCache: hints})
		mcp.AddTool(s, "t", "", returning[struct{}](""))
		hints["tools/list"] = mcp.Cache{TTL: -1}
		if got := string(resultIn(t, ask(t, s, modernRequest("1", "tools/list")))["ttlMs"]); got != "1000" {
			t.Errorf("ttlMs %s", got)
		}
	})
	t.Run("CCH-01 calls have no hints", func(t *testing.T) {
		t.Parallel()
		got := resultIn(t, ask(t, withTool("x"), modernCall("1", "t", "{}")))
		if got["ttlMs"] != nil || got["cacheScope"] != nil {
			t.Errorf("%s", got)
		}
	})
}

// fiveTools has the tools a to e, and a hidden and a disabled one between them, two to a page.
func fiveTools(name string, opts mcp.ServerOptions) *mcp.Server {
	opts.PageSize = 2
	s := mcp.NewServer(name, "1", &opts)
	for _, tool := range []string{"a", "b", "hidden", "c", "d", "disabled", "e"} {
		handle := mcp.AddTool(s, tool, "", returning[struct{}](""))
		switch tool {
		case "hidden":
			handle.Hidden()
		case "disabled":
			handle.Disabled()
		}
	}
	return s
}

// page is what one answer to tools/list shows.
type page struct {
	names  string
	cursor *string
	scope  string
}

func pageIn(t testing.TB, answer string) page {
	t.Helper()
	var result struct {
		Tools      []struct{ Name string }
		NextCursor *string
		CacheScope string
	}
	if err := json.Unmarshal(parseWire(t, answer).Result, &result); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	p := page{cursor: result.NextCursor, scope: result.CacheScope}
	for _, tool := range result.Tools {
		p.names += tool.Name
	}
	return p
}

// secondPage is the cursor of the second page of the tools of s.
func secondPage(t testing.TB, s *mcp.Server) string {
	t.Helper()
	first := pageIn(t, ask(t, s, modernRequest("1", "tools/list")))
	if first.cursor == nil {
		t.Fatal("PAG-06 the first page has no cursor")
	}
	return *first.cursor
}

func TestPaging(t *testing.T) {
	t.Parallel()
	ask2 := func(c *lineClient, cursor string) string {
		c.send(modernRequest("1", "tools/list", `"cursor":`+cursor))
		return c.next()
	}
	t.Run("PAG-06 CCH-04 pages of two over five tools, with one scope", func(t *testing.T) {
		t.Parallel()
		for _, middleware := range []bool{false, true} {
			s := fiveTools("s", mcp.ServerOptions{Cache: mcp.Cache{Public: true}})
			if middleware {
				s.Use(passThrough)
			}
			c := serveLines(t, s)
			c.send(modernRequest("1", "tools/list"))
			p := pageIn(t, c.next())
			var pages []string
			for ; p.cursor != nil && len(pages) < 10; p = pageIn(t, ask2(c, fmt.Sprintf("%q", *p.cursor))) {
				pages = append(pages, p.names+" "+p.scope)
			}
			if diff := cmp.Diff([]string{"ab public", "cd public", "e public"}, append(pages, p.names+" "+p.scope)); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		}
	})
	t.Run("PAG-06 a page that is full and the last has no cursor", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{PageSize: 2})
		mcp.AddTool(s, "a", "", returning[struct{}](""))
		mcp.AddTool(s, "b", "", returning[struct{}](""))
		if p := pageIn(t, ask(t, s, modernRequest("1", "tools/list"))); p.names != "ab" || p.cursor != nil {
			t.Errorf("%+v", p)
		}
	})
	t.Run("PAG-06 a thousand to a page by default", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		for i := range 1001 {
			mcp.AddTool(s, fmt.Sprintf("t%d", i), "", returning[struct{}](""))
		}
		if n := len(entries(t, ask(t, s, modernRequest("1", "tools/list")))); n != 1000 {
			t.Errorf("%d tools", n)
		}
		if n := len(mustList(t, dialMemory(t, s, nil))); n != 1001 {
			t.Errorf("the client found %d", n)
		}
	})
	t.Run("PAG-05 a cursor holds on another connection, in another era, and again", func(t *testing.T) {
		t.Parallel()
		s := fiveTools("s", mcp.ServerOptions{})
		cursor := secondPage(t, s)
		line := fmt.Sprintf(`"cursor":%q`, cursor)
		for range 2 {
			if p := pageIn(t, ask(t, s, modernRequest("1", "tools/list", line))); p.names != "cd" {
				t.Errorf("%+v", p)
			}
			if p := pageIn(t, askLegacy(t, s, "2025-06-18", plainRequest("1", "tools/list", line))); p.names != "cd" {
				t.Errorf("%+v", p)
			}
		}
	})
	s := fiveTools("s", mcp.ServerOptions{})
	cursor, foreign := secondPage(t, s), secondPage(t, fiveTools("other", mcp.ServerOptions{}))
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		"garbage": `"garbage"`, "the empty string": `""`, "that of another server": fmt.Sprintf("%q", foreign),
		"null": `null`, "a number": `2`, "an object": `{}`, "cut": fmt.Sprintf("%q", cursor[:len(cursor)-1]), "padded": fmt.Sprintf("%q", cursor+"="),
		"with a space": fmt.Sprintf("%q", cursor+" "), "doubled": fmt.Sprintf("%q", cursor+cursor), "long": `"` + strings.Repeat("A", 1<<16) + `"`,
		"another place under the same sum": fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(append([]byte("1"), plain...))),
	}
	for i := range cursor { // no single letter can be changed
		altered := []byte(cursor)
		altered[i] ^= 1
		bad[fmt.Sprintf("altered at %d", i)] = fmt.Sprintf("%q", altered)
	}
	for name, cursor := range bad {
		t.Run("PAG-05 a cursor that is "+name+" is refused", func(t *testing.T) {
			t.Parallel()
			for _, answer := range []string{
				ask(t, s, modernRequest("1", "tools/list", `"cursor":`+cursor)),
				askLegacy(t, s, "2025-11-25", plainRequest("1", "tools/list", `"cursor":`+cursor)),
			} {
				if e := faultIn(t, answer); e.Code != mcp.CodeInvalidParams || !strings.Contains(e.Message, "cursor") || len(e.Message) > 200 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}
