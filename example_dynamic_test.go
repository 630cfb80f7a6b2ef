package mcp_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	"github.com/typedmcp/mcp"
)

// A dynamic server changes while it serves. All of an update takes effect at
// once, or none of it.
func ExampleServer_Update() {
	s := mcp.NewServer("plugins", "1.0.0", &mcp.ServerOptions{Dynamic: true})
	mcp.AddTool(s, "old", "", func(context.Context, struct{}) (string, error) { return "", nil })
	mcp.AddTool(s, "kept", "", func(context.Context, struct{}) (string, error) { return "", nil })

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	list := func() {
		var names []string
		for tool, err := range c.Tools(ctx) {
			if err != nil {
				log.Fatal(err)
			}
			names = append(names, cmp.Or(tool.Title, tool.Name))
		}
		fmt.Println(names)
	}
	list()
	err = s.Update(func(u *mcp.Update) error {
		mcp.AddTool(u, "new", "", func(context.Context, struct{}) (string, error) { return "", nil })
		u.Tool("kept").Title("Kept")
		return u.RemoveTool("old")
	})
	if err != nil {
		log.Fatal(err)
	}
	list()
	err = s.Update(func(u *mcp.Update) error {
		mcp.AddTool(u, "half", "", func(context.Context, struct{}) (string, error) { return "", nil })
		return u.RemoveTool("nosuch")
	})
	fmt.Println(err)
	list()
	// Output:
	// [old kept]
	// [Kept new]
	// mcp: there is no tool "nosuch" to remove
	// [Kept new]
}

// Clients that watch a resource are told when it changes.
func ExampleServer_ResourceUpdated() {
	var mu sync.Mutex
	score := "0:0"
	s := mcp.NewServer("scores", "1.0.0", nil)
	mcp.AddResource(s, "scores://final", "final", func(context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		return score, nil
	}).Watchable()

	peer, hangUp := connect(s)
	defer hangUp()
	ctx := context.Background()
	err := peer.Write(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["scores://final"]},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		log.Fatal(err)
	}
	show := func() {
		msg, err := peer.Read(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", msg)
	}
	show()
	mu.Lock()
	score = "1:0"
	mu.Unlock()
	s.ResourceUpdated("scores://final")
	show()
	// Output:
	// {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["scores://final"]},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
	// {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"scores://final","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
}

// connect serves s to a client that writes and reads JSON itself.
func connect(s *mcp.Server) (client mcp.Conn, hangUp func()) {
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, mcp.NewConn(in, out)) }()
	return mcp.NewConn(clientIn, clientOut), func() {
		stop()
		if err := <-served; err != nil {
			log.Fatal(err)
		}
	}
}

// What a caller may not see does not exist for them.
func ExampleServer_Visible() {
	s := mcp.NewServer("bank", "1.0.0", nil)
	mcp.AddTool(s, "balance", "", func(context.Context, struct{}) (string, error) { return "100", nil })
	mcp.AddTool(s, "transfer", "", func(context.Context, struct{}) (string, error) { return "done", nil }).Category("money")
	s.Visible(func(ctx context.Context, f mcp.Info) bool {
		p := mcp.RequestFrom(ctx).Principal()
		return f.Category != "money" || p != nil && p.Subject == "teller"
	})
	for _, who := range []string{"guest", "teller"} {
		ctx := mcp.WithPrincipal(context.Background(), &mcp.Principal{Subject: who})
		c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
		if err != nil {
			log.Fatal(err)
		}
		result, err := mcp.Call[string](ctx, c, "transfer", nil)
		fmt.Println(who, result, err)
		c.Close()
	}
	// Output:
	// guest  Unknown tool: "transfer" (code -32602)
	// teller done <nil>
}

// A method of an extension's, with params that are checked like arguments.
func ExampleHandleMethod() {
	type params struct {
		Days int `json:"days" jsonschema:"minimum=1"`
	}
	type result struct {
		Cost int `json:"cost"`
	}
	s := mcp.NewServer("rental", "1.0.0", &mcp.ServerOptions{Extensions: map[string]any{"com.example/rental": nil}})
	mcp.HandleMethod(s, "com.example/quote", func(_ context.Context, p params) (result, error) {
		return result{Cost: 20 * p.Days}, nil
	})
	peer, hangUp := connect(s)
	defer hangUp()
	ctx := context.Background()
	for _, days := range []string{"3", "0"} {
		err := peer.Write(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"com.example/quote","params":{"days":`+days+`,`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			log.Fatal(err)
		}
		answer, err := peer.Read(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", answer)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","cost":60,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"rental","version":"1.0.0"}}}}
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid arguments:\n- days must be at least 1, got 0"}}
}

// Metrics are middleware: it knows the method, the feature, the outcome and
// how long it took, whatever library they go to.
func ExampleMiddleware_metrics() {
	type key struct{ method, feature, outcome string }
	var mu sync.Mutex
	counts := make(map[key]int)
	took := make(map[key]time.Duration)
	metrics := func(next mcp.Handler) mcp.Handler {
		return func(ctx context.Context, r *mcp.Request) (any, error) {
			begin := time.Now()
			v, err := next(ctx, r)
			var protocol *mcp.Error
			k := key{r.Method(), r.Info().Name, "ok"}
			switch result, failed := v.(*mcp.Result); {
			case errors.As(err, &protocol):
				k.outcome = fmt.Sprint(protocol.Code)
			case err != nil, failed && result.IsError:
				k.outcome = "failed"
			case errors.Is(ctx.Err(), context.Canceled):
				k.outcome = "cancelled"
			}
			mu.Lock()
			defer mu.Unlock()
			counts[k]++
			took[k] += time.Since(begin)
			return v, err
		}
	}
	s := mcp.NewServer("measured", "1.0.0", nil)
	s.Use(metrics)
	mcp.AddTool(s, "add", "", func(context.Context, struct{}) (string, error) { return "3", nil })
	mcp.AddTool(s, "fail", "", func(context.Context, struct{}) (string, error) { return "", errors.New("no") })

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, tool := range []string{"add", "add", "fail", "none"} {
		_, _ = c.CallTool(ctx, tool, nil) // counted below
	}
	for k, n := range counts {
		if k.method == "tools/call" {
			fmt.Println(k.feature, k.outcome, n, took[k] > 0)
		}
	}
	// Unordered output:
	// add ok 2 true
	// fail failed 1 true
	// none -32602 1 true
}
