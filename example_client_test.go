package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"time"

	"github.com/typedmcp/mcp"
)

// dialed connects to a server in the same process.
func dialed(s *mcp.Server, opts *mcp.ClientOptions) *mcp.Client {
	c, err := mcp.Dial(context.Background(), mcp.InMemory(s), opts)
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// A server that is a program of its own is started, and ends with the client.
func ExampleCommand() {
	cmd := exec.Command("no-such-server", "-v")
	cmd.Stderr = os.Stderr // what it says there is for people
	_, err := mcp.Dial(context.Background(), mcp.Command(cmd), nil)
	fmt.Println(errors.Is(err, exec.ErrNotFound))
	// Output: true
}

// A server at an address, of whatever revision.
func ExampleHTTP() {
	s := mcp.NewServer("greeter", "1.0.0", nil)
	mcp.AddTool(s, "greet", "Say hello", func(context.Context, struct{}) (string, error) { return "Hello", nil })
	h, err := s.HTTPHandler(nil)
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(h)
	defer web.Close()

	ctx := context.Background()
	for _, versions := range [][]string{nil, {"2025-06-18"}} {
		c, err := mcp.Dial(ctx, mcp.HTTP(web.URL, nil), &mcp.ClientOptions{Versions: versions})
		if err != nil {
			log.Fatal(err)
		}
		text, err := mcp.Call[string](ctx, c, "greet", nil)
		fmt.Println(c.Server().Name, c.Server().Protocol, text, err)
		c.Close()
	}
	// Output:
	// greeter 2026-07-28 Hello <nil>
	// greeter 2025-06-18 Hello <nil>
}

// Changes at the server, as they come.
func ExampleClient_Listen() {
	s := mcp.NewServer("library", "1.0.0", &mcp.ServerOptions{Dynamic: true})
	mcp.AddText(s, "note://a", "a", "text/plain", "a").Watchable()
	c := dialed(s, nil)
	defer c.Close()

	sub, err := c.Listen(context.Background(), mcp.Filter{URIs: []string{"note://a", "note://b"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("told of", sub.Honoured().URIs)
	s.ResourceUpdated("note://a")
	for e, err := range sub.Events() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Kind, e.URI)
		sub.Close() // ends the loop
	}
	// Output:
	// told of [note://a]
	// updated note://a
}

// Any method, such as one of an extension.
func ExampleDo() {
	type point struct {
		X, Y int
	}
	s := mcp.NewServer("maths", "1.0.0", nil)
	mcp.HandleMethod(s, "com.example/mirror", func(_ context.Context, p point) (point, error) { return point{p.Y, p.X}, nil })
	c := dialed(s, nil)
	defer c.Close()

	got, err := mcp.Do[point](context.Background(), c, "com.example/mirror", point{1, 2})
	fmt.Println(got, err)
	// Output: {2 1} <nil>
}

// What a server asks in the middle of a call is answered by the options.
func ExampleClientOptions() {
	type answer struct {
		Name string `json:"name" jsonschema:"default=you"`
	}
	s := mcp.NewServer("greeter", "1.0.0", nil)
	mcp.AddTool(s, "greet", "Say hello", func(ctx context.Context, _ struct{}) (string, error) {
		a, err := mcp.Elicit[answer](ctx, "who", "Who is there?")
		return "Hello, " + a.Name, err
	})
	c := dialed(s, &mcp.ClientOptions{
		Name: "terminal", Version: "1.0.0",
		ElicitForm: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Println(r.Message)
			return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"name":"Ada"}`)}, nil
		},
	})
	defer c.Close()
	fmt.Println(mcp.Call[string](context.Background(), c, "greet", nil))
	// Output:
	// Who is there?
	// Hello, Ada <nil>
}

// Progress of a long call.
func ExampleWithProgress() {
	s := mcp.NewServer("oven", "1.0.0", nil)
	mcp.AddTool(s, "bake", "Bake bread", func(ctx context.Context, _ struct{}) (string, error) {
		mcp.Progress(ctx, 1, 2, "rising")
		mcp.Progress(ctx, 2, 2, "baking")
		return "bread", nil
	})
	c := dialed(s, nil)
	defer c.Close()
	text, err := mcp.Call[string](context.Background(), c, "bake", nil, mcp.WithProgress(func(e mcp.ProgressEvent) {
		fmt.Println(e.Done, "of", e.Total, e.Message)
	}))
	fmt.Println(text, err)
	// Output:
	// 1 of 2 rising
	// 2 of 2 baking
	// bread <nil>
}

// The logs of the server among one's own.
func ExampleClientOptions_serverLog() {
	s := mcp.NewServer("oven", "1.0.0", &mcp.ServerOptions{Logging: true})
	mcp.AddTool(s, "bake", "Bake bread", func(ctx context.Context, _ struct{}) (string, error) {
		mcp.Logger(ctx).Warn("it is hot")
		return "bread", nil
	})
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	c := dialed(s, &mcp.ClientOptions{ServerLog: plain, ServerLogLevel: slog.LevelWarn})
	defer c.Close()
	_, err := c.CallTool(context.Background(), "bake", nil)
	fmt.Println(err)
	// Output:
	// level=WARN msg="it is hot" logger=bake
	// <nil>
}

// A resource that is not there.
func ExampleClient_ReadResource() {
	s := mcp.NewServer("library", "1.0.0", nil)
	mcp.AddText(s, "note://a", "a", "text/plain", "some text")
	c := dialed(s, nil)
	defer c.Close()
	for _, uri := range []string{"note://a", "note://b"} {
		r, err := c.ReadResource(context.Background(), uri)
		switch {
		case errors.Is(err, mcp.ErrNotFound):
			fmt.Println(uri, "is not there")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(uri, r.Contents[0].Text)
		}
	}
	// Output:
	// note://a some text
	// note://b is not there
}

// A prompt, and what may fill it in.
func ExampleClient_GetPrompt() {
	s := mcp.NewServer("travel", "1.0.0", nil)
	mcp.AddPrompt(s, "plan", "Plan a journey", func(_ context.Context, a struct {
		To string `json:"to" jsonschema:"enum=Oslo,enum=Rome"`
	}) (string, error) {
		return "Plan a journey to " + a.To, nil
	})
	c := dialed(s, nil)
	defer c.Close()
	ctx := context.Background()
	found, err := c.Complete(ctx, mcp.PromptRef("plan"), "to", "O", nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := c.GetPrompt(ctx, "plan", map[string]string{"to": found.Values[0]})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Messages[0].Role, r.Messages[0].Content.(*mcp.TextContent).Text)
	// Output: user Plan a journey to Oslo
}

// Results that a server lets clients keep are not asked for again, unless that
// is wanted.
func ExampleWithFresh() {
	reads := 0
	s := mcp.NewServer("weather", "1.0.0", nil)
	mcp.AddResource(s, "weather://oslo", "oslo", func(context.Context) (string, error) {
		reads++
		return fmt.Sprint("reading ", reads), nil
	}).Cache(mcp.Cache{TTL: time.Hour})

	c := dialed(s, nil)
	defer c.Close()
	read := func(opts ...mcp.CallOption) {
		r, err := c.ReadResource(context.Background(), "weather://oslo", opts...)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Contents[0].Text)
	}
	read()
	read()
	read(mcp.WithFresh())
	// Output:
	// reading 1
	// reading 1
	// reading 2
}
