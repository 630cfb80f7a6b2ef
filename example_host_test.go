package mcp_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/typedmcp/mcp"
)

// A tool has the client's model write, which needs no key of the server's.
func ExampleSample() {
	s := mcp.NewServer("notes", "1.0.0", nil)
	mcp.AddTool(s, "summarize", "Summarize the notes", func(ctx context.Context, _ struct{}) (string, error) {
		r, err := mcp.Sample(ctx, "summary", &mcp.SampleRequest{
			SystemPrompt: "Answer in one line.",
			Messages:     []mcp.Message{mcp.User("milk, bread, call Ada")},
			MaxTokens:    50,
		})
		if err != nil {
			return "", err
		}
		return r.Text(), nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), &mcp.ClientOptions{
		Sample: func(_ context.Context, r *mcp.SampleRequest) (*mcp.SampleResult, error) {
			// A host shows the request to its user and asks its model.
			fmt.Println(r.SystemPrompt, r.Messages[0].Content.(*mcp.TextContent).Text)
			return &mcp.SampleResult{Role: "assistant", Content: mcp.Text("shopping, and a call"), Model: "small-1", StopReason: "endTurn"}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "summarize", nil))
	// Output:
	// Answer in one line. milk, bread, call Ada
	// shopping, and a call <nil>
}

// A tool asks which directories the client works in.
func ExampleRoots() {
	s := mcp.NewServer("search", "1.0.0", nil)
	mcp.AddTool(s, "where", "Say where to search", func(ctx context.Context, _ struct{}) (string, error) {
		roots, err := mcp.Roots(ctx, "roots")
		if err != nil {
			return "", err
		}
		var names []string
		for _, root := range roots {
			names = append(names, root.Name+" at "+root.URI)
		}
		return strings.Join(names, ", "), nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), &mcp.ClientOptions{
		Roots: func(context.Context) ([]mcp.Root, error) {
			return []mcp.Root{{URI: "file:///home/ada/notes", Name: "notes"}}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "where", nil))
	// Output: notes at file:///home/ada/notes <nil>
}

// A user chooses any number of options.
func ExampleChooseMany() {
	s := mcp.NewServer("pizza", "1.0.0", nil)
	mcp.AddTool(s, "order", "Order a pizza", func(ctx context.Context, _ struct{}) (string, error) {
		toppings, err := mcp.ChooseMany(ctx, "toppings", "What goes on it?", "basil", "olives", "onions")
		if err != nil {
			return "", err
		}
		return "one with " + strings.Join(toppings, " and "), nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), answering(map[string]string{"What goes on it?": `{"choices":["basil","onions"]}`}))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "order", nil))
	// Output:
	// asked: What goes on it?
	// one with basil and onions <nil>
}

// A client sees all that a server has; pages are fetched as they are needed.
func ExampleClient_Prompts() {
	s := mcp.NewServer("notes", "1.0.0", nil)
	mcp.AddPrompt(s, "summarize", "Summarize a note", func(context.Context, struct {
		Note string `json:"note"`
	}) ([]mcp.Message, error) {
		return nil, nil
	})
	mcp.AddTemplate(s, "notes://{name}", "note", func(_ context.Context, v struct {
		Name string `json:"name"`
	}) (string, error) {
		return "the note " + v.Name, nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for p, err := range c.Prompts(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("prompt", p.Name, p.Arguments[0].Name)
	}
	for t, err := range c.Templates(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("template", t.Name, t.URITemplate)
	}
	// Output:
	// prompt summarize note
	// template note notes://{name}
}

// A server that is shut down lets running calls end, and nothing new begin.
func ExampleServer_Shutdown() {
	s := mcp.NewServer("notes", "1.0.0", nil)
	mcp.AddTool(s, "stop", "Stop the server", func(ctx context.Context, _ struct{}) (string, error) {
		go func() { _ = s.Shutdown(context.WithoutCancel(ctx)) }()
		<-ctx.Done()
		return fmt.Sprint("ended: ", context.Cause(ctx)), nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "stop", nil))
	_, err = mcp.Dial(ctx, mcp.InMemory(s), nil)
	fmt.Println(err)
	// Output:
	// ended: mcp: server is shutting down <nil>
	// mcp: dial: mcp: the server was shut down
}

// A program with a page of its own describes itself there, and need not be
// registered with authorization servers.
func ExampleOAuthOptions_ClientMetadataHandler() {
	opts := &mcp.OAuthOptions{ClientName: "Notes", ClientMetadataURL: "https://app.example.com/oauth/client.json", RedirectURL: "https://app.example.com/callback"}
	mux := http.NewServeMux()
	mux.Handle("/oauth/client.json", opts.ClientMetadataHandler())

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/oauth/client.json", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"client_id":"https://app.example.com/oauth/client.json","client_name":"Notes","redirect_uris":["https://app.example.com/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none","application_type":"web"}
}
