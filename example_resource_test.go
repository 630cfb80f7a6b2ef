package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/typedmcp/mcp"
)

// read reads resources as a client does, and prints them.
func read(s *mcp.Server, uris ...string) {
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, uri := range uris {
		r, err := c.ReadResource(ctx, uri)
		if errors.Is(err, mcp.ErrNotFound) {
			fmt.Println(uri, "→ not found")
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		for _, c := range r.Contents {
			fmt.Println(c.URI, c.MIMEType, "→", c.Text)
		}
	}
}

// A resource is read when somebody asks for it. What the function returns says
// what it is: text, bytes, JSON, or a whole result.
func ExampleAddResource() {
	type status struct {
		Healthy bool `json:"healthy"`
		Queue   int  `json:"queue"`
	}
	s := mcp.NewServer("monitor", "1.0.0", nil)
	mcp.AddResource(s, "monitor://status", "status", func(context.Context) (status, error) {
		return status{Healthy: true, Queue: 3}, nil
	}).Title("Status").Desc("How the workers are doing")
	mcp.AddResource(s, "monitor://log", "log", func(context.Context) (string, error) {
		return "", fmt.Errorf("the log was rotated: %w", mcp.ErrNotFound)
	}).MIME("text/plain")
	read(s, "monitor://status", "monitor://log")
	// Output:
	// monitor://status application/json → {"healthy":true,"queue":3}
	// monitor://log → not found
}

// A template stands for many resources. Its variables are the fields of a
// struct; a URI whose text does not fit them names nothing.
func ExampleAddTemplate() {
	type order struct {
		ID    int      `json:"id"`
		Parts []string `json:"parts,omitempty"`
		Lang  string   `json:"lang,omitempty" jsonschema:"enum=en,enum=de,default=en"`
	}
	s := mcp.NewServer("shop", "1.0.0", nil)
	mcp.AddTemplate(s, "orders://{id}{/parts*}{?lang}", "order", func(_ context.Context, o order) (string, error) {
		if o.ID > 100 {
			return "", mcp.ErrNotFound
		}
		return fmt.Sprintf("order %d, %q in %s", o.ID, o.Parts, o.Lang), nil
	})
	read(s, "orders://7", "orders://7/items/2?lang=de", "orders://seven", "orders://101")
	// Output:
	// orders://7  → order 7, [] in en
	// orders://7/items/2?lang=de  → order 7, ["items" "2"] in de
	// orders://seven → not found
	// orders://101 → not found
}

func ExampleAddText() {
	s := mcp.NewServer("style", "1.0.0", nil)
	mcp.AddText(s, "style://guide", "guide", "text/markdown", "# Say it simply").
		Annotate(mcp.Annotations{Audience: []string{"assistant"}})
	read(s, "style://guide")
	// Output: style://guide text/markdown → # Say it simply
}

// Files of an embed.FS, or any other file system, are resources of their own.
func ExampleAddFS() {
	files := fstest.MapFS{ // an embed.FS in a program
		"intro.md":        {Data: []byte("# Welcome")},
		"api/errors.json": {Data: []byte(`{"404":"not found"}`)},
		".draft":          {Data: []byte("not yet")},
	}
	s := mcp.NewServer("docs", "1.0.0", nil)
	mcp.AddFS(s, "docs:///", files)
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for r, err := range c.Resources(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.URI, r.MIMEType, *r.Size)
	}
	read(s, "docs:///intro.md", "docs:///.draft", "docs:///../secret")
	// Output:
	// docs:///api/errors.json application/json 19
	// docs:///intro.md text/markdown 9
	// docs:///intro.md text/markdown → # Welcome
	// docs:///.draft → not found
	// docs:///../secret → not found
}

// Nothing outside the folder can be read, whatever links it holds.
func ExampleAddDir() {
	dir, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "today.txt"), []byte("buy milk"), 0o600); err != nil {
		log.Fatal(err)
	}
	s := mcp.NewServer("notes", "1.0.0", nil)
	mcp.AddDir(s, "file:///notes/", dir)
	read(s, "file:///notes/today.txt", "file:///notes/%2e%2e/etc/passwd")
	// Output:
	// file:///notes/today.txt text/plain → buy milk
	// file:///notes/%2e%2e/etc/passwd → not found
}

// An app is a page that hosts show for the results of a tool. Hosts that show
// none have what the tool returns.
func ExampleAddApp() {
	type args struct {
		City string `json:"city"`
	}
	s := mcp.NewServer("weather", "1.0.0", nil)
	mcp.AddTool(s, "forecast", "Forecast the weather", func(ctx context.Context, a args) (string, error) {
		if !mcp.Can(ctx, "io.modelcontextprotocol/ui") {
			return "Sunny in " + a.City + " (the host shows no charts)", nil
		}
		return "Sunny in " + a.City, nil
	}).App("ui://forecast")
	mcp.AddApp(s, "ui://forecast", "forecast", mcp.AppPage{
		HTML: func(context.Context) (string, error) { return "<!DOCTYPE html><title>Forecast</title>", nil },
		CSP:  mcp.AppCSP{Connect: []string{"https://api.weather.example"}},
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	text, err := mcp.Call[string](ctx, c, "forecast", args{"Oslo"})
	fmt.Println(text, err)
	page, err := c.ReadResource(ctx, "ui://forecast")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n%s\n", page.Contents[0].MIMEType, page.Contents[0].Meta["ui"])
	// Output:
	// Sunny in Oslo (the host shows no charts) <nil>
	// text/html;profile=mcp-app
	// {"csp":{"connectDomains":["https://api.weather.example"]}}
}
