package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

type idArgs struct {
	ID string `json:"id" jsonschema:"enum=1,enum=2"`
}

// roleKey is where the tests of Visible put into a context who is asking.
type roleKey struct{}

// guarded is a server with two of everything; what is called "staff" only staff may know of.
func guarded(opts *mcp.ServerOptions) *mcp.Server {
	s := mcp.NewServer("guarded", "1", opts)
	for _, name := range []string{"open", "staff"} {
		mcp.AddTool(s, name, "", returning[struct{}]("called"))
		mcp.AddPrompt(s, name, "", returning[idArgs]("got")).Complete("id", noValues)
		mcp.AddText(s, "r://"+name, name, "", "read").Watchable()
		mcp.AddTemplate(s, "t://"+name+"/{id}", name, returning[idArgs]("read")).Watchable()
		mcp.AddFS(s, "f://"+name+"/", fstest.MapFS{"open.txt": file("read"), "staff.txt": file("read")}).Watchable()
	}
	s.Visible(func(ctx context.Context, f mcp.Info) bool {
		staff := strings.Contains(f.Name+f.URI, "staff")
		return !staff || ctx.Value(roleKey{}) == "staff"
	})
	return s
}

// askAs is ask for somebody.
func askAs(t testing.TB, s *mcp.Server, role, line string) string {
	t.Helper()
	client, server := newPipeConns()
	ctx, stop := context.WithCancel(context.WithValue(context.Background(), roleKey{}, role))
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, server) }()
	defer func() { stop(); _ = client.Close(); <-served }()
	if err := client.Write(ctx, []byte(line)); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(answer))
}

func TestVisible(t *testing.T) {
	t.Parallel()
	s := guarded(nil)
	for _, tt := range []struct{ name, line string }{
		{"a tool", modernCall("1", "%s", `{}`)},
		{"a prompt", getPrompt("1", "%s", `{"id":"1"}`)},
		{"a resource", readRequest("1", "r://%s")},
		{"a template", readRequest("1", "t://%s/1")},
		{"a tree of files", readRequest("1", "f://%s/open.txt")},
		{"a file", readRequest("1", "f://open/%s.txt")},
		{"the completion of a prompt", completeRequest(`{"type":"ref/prompt","name":"%s"}`, "id", "")},
		{"the completion of a template", completeRequest(`{"type":"ref/resource","uri":"t://%s/{id}"}`, "id", "")},
	} {
		t.Run("M24 CCH-05 RES-14 "+tt.name+" that is denied is unknown, byte for byte", func(t *testing.T) {
			t.Parallel()
			denied := askAs(t, s, "guest", fmt.Sprintf(tt.line, "staff"))
			unknown := askAs(t, s, "staff", fmt.Sprintf(tt.line, "nosuch"))
			if got := strings.ReplaceAll(denied, "staff", "nosuch"); got != unknown || faultIn(t, denied).Code != mcp.CodeInvalidParams {
				t.Errorf("denied  %s\nunknown %s", denied, unknown)
			}
			resultIn(t, askAs(t, s, "staff", fmt.Sprintf(tt.line, "staff")))
			resultIn(t, askAs(t, s, "guest", fmt.Sprintf(tt.line, "open")))
		})
	}
	for method, member := range map[string]string{
		"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
	} {
		t.Run("M24 RES-01 PRM-01 "+method+" is the caller's", func(t *testing.T) {
			t.Parallel()
			guest, staff := askAs(t, s, "guest", modernRequest("1", method)), askAs(t, s, "staff", modernRequest("1", method))
			if strings.Contains(guest, "staff") || len(listIn(t, guest, member)) == 0 || !strings.Contains(staff, "staff") {
				t.Errorf("guest %s\nstaff %s", guest, staff)
			}
		})
	}
	t.Run("M24 lists are filtered before they are paged", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{PageSize: 2})
		for _, name := range []string{"a", "hide1", "hide2", "hide3", "b", "c"} {
			mcp.AddTool(s, name, "", returning[struct{}](""))
		}
		s.Visible(func(_ context.Context, f mcp.Info) bool { return !strings.HasPrefix(f.Name, "hide") })
		c := serveLines(t, s)
		c.send(modernRequest("1", "tools/list"))
		first := pageIn(t, c.next())
		if first.names != "ab" || first.cursor == nil {
			t.Fatalf("%+v", first)
		}
		c.send(modernRequest("2", "tools/list", fmt.Sprintf(`"cursor":%q`, *first.cursor)))
		if second := pageIn(t, c.next()); second.names != "c" || second.cursor != nil {
			t.Errorf("%+v", second)
		}
	})
	t.Run("M24 SUB-05 what is denied is not watched", func(t *testing.T) {
		t.Parallel()
		uris := `["r://open","r://staff","t://open/1","t://staff/1","f://open/open.txt","f://open/staff.txt"]`
		line := askAs(t, s, "guest", modernRequest("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":`+uris+`}`))
		if want := `"resourceSubscriptions":["r://open","t://open/1","f://open/open.txt"]`; !strings.Contains(line, want) {
			t.Errorf("%s", line)
		}
	})
	t.Run("M24 what it is asked about", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "a", "", returning[struct{}]("")).Category("c").Tags("k=v").RequireScopes("x")
		mcp.AddPrompt(s, "b", "", returning[struct{}](""))
		mcp.AddText(s, "r://c", "c", "", "")
		mcp.AddTemplate(s, "t://{id}", "d", returning[idArgs](""))
		mcp.AddFS(s, "f:///", fstest.MapFS{"e": file("")})
		var mu sync.Mutex
		var got []mcp.Info
		s.Visible(func(_ context.Context, f mcp.Info) bool {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, f)
			return true
		})
		for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
			ask(t, s, modernRequest("1", method))
		}
		want := []mcp.Info{
			{Kind: "tool", Name: "a", Category: "c", Tags: map[string]string{"k": "v"}, Scopes: []string{"x"}}, {Kind: "prompt", Name: "b"},
			{Kind: "resource", Name: "c", URI: "r://c"}, {Kind: "resource", Name: "e", URI: "f:///e"}, {Kind: "template", Name: "d", URI: "t://{id}"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("M24 RES-14 a file has one URI to it, however the request spells it", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		var seen []string
		mcp.AddFS(s, "f:///", fstest.MapFS{"staff/a b.txt": file("read"), "open.txt": file("read")}).Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				seen = append(seen, req.Info().URI)
				return next(ctx, req)
			}
		})
		s.Visible(func(ctx context.Context, f mcp.Info) bool {
			return f.URI != "f:///staff/a%20b.txt" || ctx.Value(roleKey{}) == "staff"
		})
		for _, uri := range []string{"f:///staff/a%20b.txt", "f:///%73taff/a%20b.txt", "f:///staff%2Fa%20b.txt", "f:///staff%2fa%20%62.txt"} {
			if e := faultIn(t, askAs(t, s, "guest", readRequest("1", uri))); e.Code != mcp.CodeInvalidParams {
				t.Errorf("%s: %+v", uri, e)
			}
			if got := contentsIn(t, askAs(t, s, "staff", readRequest("1", uri)))[0]; got.URI != uri {
				t.Errorf("asked for %s, got %s", uri, got.URI)
			}
		}
		for _, uri := range seen {
			if uri != "f:///staff/a%20b.txt" {
				t.Errorf("middleware was told of %s", uri)
			}
		}
	})
	t.Run("M24 PAG-06 no more is asked about than a page has", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{PageSize: 2})
		for i := range 9 {
			add(s, fmt.Sprintf("t%d", i))
		}
		asked := 0
		s.Visible(func(_ context.Context, f mcp.Info) bool { asked++; return f.Name != "t1" })
		if page := pageIn(t, ask(t, s, modernRequest("1", "tools/list"))); page.names != "t0t2" || page.cursor == nil || asked != 4 {
			t.Errorf("%+v, %d were asked about", page, asked)
		}
	})
	t.Run("CCH-05 M24 an update that shows to all what it shows to some is dropped", func(t *testing.T) {
		t.Parallel()
		s := guarded(&mcp.ServerOptions{Dynamic: true})
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		err := s.Update(func(u *mcp.Update) error {
			mcp.AddText(u, "r://p", "p", "", "").Cache(mcp.Cache{Public: true})
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "would show to all what Visible shows to some") {
			t.Errorf("%v", err)
		}
		faultIn(t, ask(t, s, readRequest("1", "r://p")))
	})
	for name, add := range map[string]func() *mcp.Server{
		"of the server": func() *mcp.Server {
			return guarded(&mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Minute, Public: true}})
		},
		"of a list": func() *mcp.Server {
			return guarded(&mcp.ServerOptions{ListCache: map[string]mcp.Cache{"tools/list": {Public: true}}})
		},
		"of one resource": func() *mcp.Server {
			s := guarded(nil)
			mcp.AddText(s, "r://p", "p", "", "").Cache(mcp.Cache{Public: true})
			return s
		},
	} {
		t.Run("CCH-05 M24 with it a public cache "+name+" is a problem", func(t *testing.T) {
			t.Parallel()
			expectProblem(t, add(), "would show to all what Visible shows to some")
		})
	}
	t.Run("CCH-05 M24 a private one is none", func(t *testing.T) {
		t.Parallel()
		if err := guarded(&mcp.ServerOptions{Cache: mcp.Cache{TTL: time.Minute}}).Check(); err != nil {
			t.Error(err)
		}
	})
}
