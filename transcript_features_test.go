package mcp_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func init() {
	transcriptServers["library"] = libraryServer
	transcriptServers["changing"] = changingServer
}

// libraryServer has resources of every kind, and a prompt.
func libraryServer() *mcp.Server {
	s := mcp.NewServer("library", "1.0.0", &mcp.ServerOptions{ListCache: map[string]mcp.Cache{"resources/list": {TTL: time.Minute, Public: true}}})
	mcp.AddText(s, "lib://rules", "rules", "text/markdown", "# Rules").Title("Rules").Watchable()
	mcp.AddResource(s, "lib://cover", "cover", func(context.Context) ([]byte, error) { return []byte{0xff, 0xd8}, nil }).
		MIME("image/jpeg").Icon("https://example.com/cover.png").Cache(mcp.Cache{TTL: time.Hour})
	mcp.AddFS(s, "lib:///files/", fstest.MapFS{"a b.txt": file("text")})
	type params struct {
		ID   int    `json:"id"`
		Lang string `json:"lang,omitempty" jsonschema:"enum=en,enum=de,default=en"`
	}
	mcp.AddTemplate(s, "lib://books/{id}{?lang}", "book", func(_ context.Context, p params) (params, error) {
		if p.ID == 0 {
			return p, mcp.ErrNotFound
		}
		return p, nil
	}).Desc("A book")
	type args struct {
		Topic string `json:"topic" jsonschema:"title=The topic" jsonschema_description:"What about"`
		Count int    `json:"count,omitempty" jsonschema:"default=2"`
	}
	mcp.AddPrompt(s, "recommend", "Recommend books", func(_ context.Context, a args) ([]mcp.Message, error) {
		return []mcp.Message{mcp.User(fmt.Sprintf("%d on %s", a.Count, a.Topic)), mcp.Assistant("I see.")}, nil
	}).Title("Recommend").Complete("topic", func(_ context.Context, prefix string, args map[string]string) ([]string, error) {
		return []string{prefix + "ology", args["count"]}, nil
	})
	return s
}

// changingServer is dynamic.
func changingServer() *mcp.Server {
	s := mcp.NewServer("changing", "1.0.0", &mcp.ServerOptions{Dynamic: true})
	mcp.AddText(s, "r://x", "x", "", "x").Watchable()
	return s
}

// TestEveryListPages walks each of the four lists two by two.
func TestEveryListPages(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", &mcp.ServerOptions{PageSize: 2})
	for i := range 3 {
		name := fmt.Sprintf("n%d", i)
		mcp.AddTool(s, name, "", returning[struct{}](""))
		mcp.AddPrompt(s, name, "", returning[struct{}](""))
		mcp.AddText(s, "r://"+name, name, "", "")
		mcp.AddTemplate(s, "t://"+name+"/{id}", name, returning[idArgs](""))
	}
	mcp.AddFS(s, "f:///", fstest.MapFS{"a": file(""), "b": file("")})
	mcp.AddText(s, "r://last", "last", "", "")
	c := dialMemory(t, s, nil)
	collect := func(name string, err error, all *[]string) {
		if err != nil {
			t.Fatal(err)
		}
		*all = append(*all, name)
	}
	var tools, prompts, resources, templates []string
	for v, err := range c.Tools(t.Context()) {
		collect(v.Name, err, &tools)
	}
	for v, err := range c.Prompts(t.Context()) {
		collect(v.Name, err, &prompts)
	}
	for v, err := range c.Resources(t.Context()) {
		collect(v.Name, err, &resources)
	}
	for v, err := range c.Templates(t.Context()) {
		collect(v.Name, err, &templates)
	}
	three := []string{"n0", "n1", "n2"}
	if diff := cmp.Diff([][]string{three, three, {"n0", "n1", "n2", "a", "b", "last"}, three}, [][]string{tools, prompts, resources, templates}); diff != "" {
		t.Errorf("PAG-06 PRM-10 M26 (-want +got):\n%s", diff)
	}
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		t.Run("PAG-05 PAG-06 M26 "+method+" pages, and takes no cursor of another list", func(t *testing.T) {
			t.Parallel()
			lines := serveLines(t, s)
			lines.send(modernRequest("1", method))
			first := pageIn(t, lines.next())
			if first.cursor == nil {
				t.Fatal("no cursor")
			}
			for _, other := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
				lines.send(modernRequest("2", other, fmt.Sprintf(`"cursor":%q`, *first.cursor)))
				if m := parseWire(t, lines.next()); (m.Error == nil) != (other == method) {
					t.Errorf("a cursor of %s in %s: %s %v", method, other, m.Result, m.Error)
				}
			}
		})
	}
}
