package mcp_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/typedmcp/mcp"
)

// Over HTTP a request needs a principal with the scopes. Here middleware of
// net/http says who it is; how it knows is up to you.
func ExampleResource_RequireScopes() {
	s := mcp.NewServer("payroll", "1.0.0", nil)
	mcp.AddText(s, "payroll://2026", "salaries", "text/csv", "Ada,1\n").RequireScopes("payroll:read", "people:read")

	h, err := s.HTTPHandler(nil)
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scopes := strings.Fields(r.Header.Get("X-Scopes")) // of a gateway that is trusted
		p := &mcp.Principal{Subject: "ada", Scopes: scopes}
		h.ServeHTTP(w, r.WithContext(mcp.WithPrincipal(r.Context(), p)))
	}))
	defer web.Close()

	for _, scopes := range []string{"payroll:read", "people:read payroll:read"} {
		r, err := http.NewRequest(http.MethodPost, web.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"payroll://2026",`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			log.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "X-Scopes": scopes,
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/read", "Mcp-Name": "payroll://2026",
		} {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		answer, _ := bufio.NewReader(resp.Body).ReadString('}')
		resp.Body.Close()
		fmt.Printf("%d %s\n", resp.StatusCode, cmp.Or(resp.Header.Get("WWW-Authenticate"), "OK"))
		fmt.Println(answer)
	}
	// Output:
	// 403 Bearer error="insufficient_scope", scope="payroll:read people:read"
	// {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Forbidden: the request needs the scopes [\"payroll:read\" \"people:read\"]"}
	// 200 OK
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","contents":[{"uri":"payroll://2026","mimeType":"text/csv","text":"Ada,1\n"}
}

// Hints say for how long an answer may be used again, and whether those who
// share a cache may share it: in general, for one list, and for one resource.
func ExampleResource_Cache() {
	s := mcp.NewServer("prices", "1.0.0", &mcp.ServerOptions{
		Cache:     mcp.Cache{TTL: time.Minute},
		ListCache: map[string]mcp.Cache{"resources/list": {TTL: time.Hour, Public: true}},
	})
	mcp.AddText(s, "prices://terms", "terms", "text/plain", "Prices vary.")
	mcp.AddResource(s, "prices://gold", "gold", func(context.Context) (string, error) { return "4000", nil }).
		Cache(mcp.Cache{TTL: 5 * time.Second, Public: true})

	peer, hangUp := connect(s)
	defer hangUp()
	ctx := context.Background()
	for _, request := range []string{`"resources/list","params":{`, `"resources/read","params":{"uri":"prices://terms",`, `"resources/read","params":{"uri":"prices://gold",`} {
		err := peer.Write(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":`+request+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			log.Fatal(err)
		}
		answer, err := peer.Read(ctx)
		if err != nil {
			log.Fatal(err)
		}
		_, hints, _ := strings.Cut(string(answer), `],`)
		hints, _, _ = strings.Cut(hints, `,"_meta"`)
		fmt.Println(hints)
	}
	// Output:
	// "ttlMs":3600000,"cacheScope":"public"
	// "ttlMs":60000,"cacheScope":"private"
	// "ttlMs":5000,"cacheScope":"public"
}

// A resource may ask before it is read, as a tool may before it does its work.
func ExampleAddResource_asking() {
	type reason struct {
		Reason string `json:"reason" jsonschema:"minLength=3"`
	}
	s := mcp.NewServer("archive", "1.0.0", nil)
	mcp.AddResource(s, "archive://sealed", "sealed", func(ctx context.Context) (string, error) {
		r, err := mcp.Elicit[reason](ctx, "reason", "Why do you need the sealed file?")
		if err != nil {
			return "", err
		}
		return "Opened for: " + r.Reason, nil
	})
	c := dialAs(s, `{"reason":"audit"}`)
	defer c.Close()
	result, err := c.ReadResource(context.Background(), "archive://sealed")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Contents[0].Text)
	// Output:
	// Why do you need the sealed file? → {"reason":"audit"}
	// Opened for: audit
}

// And so may a prompt.
func ExampleAddPrompt_asking() {
	type args struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer("translator", "1.0.0", nil)
	mcp.AddPrompt(s, "translate", "Translate a text", func(ctx context.Context, a args) (string, error) {
		language, err := mcp.Choose(ctx, "language", "Into which language?", "German", "Finnish")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("Translate %q into %s.", a.Text, language), nil
	})
	c := dialAs(s, `{"choice":"Finnish"}`)
	defer c.Close()
	result, err := c.GetPrompt(context.Background(), "translate", map[string]string{"text": "snow"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Messages[0].Content.(*mcp.TextContent).Text)
	// Output:
	// Into which language? → {"choice":"Finnish"}
	// Translate "snow" into Finnish.
}

// dialAs connects a client whose user fills in every form alike.
func dialAs(s *mcp.Server, content string) *mcp.Client {
	c, err := mcp.Dial(context.Background(), mcp.InMemory(s), &mcp.ClientOptions{
		ElicitForm: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Println(r.Message, "→", content)
			return &mcp.ElicitResult{Action: "accept", Content: []byte(content)}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// The variables of a template are completed as the arguments of a prompt are.
// What was filled in already comes along.
func ExampleResource_Complete() {
	type address struct {
		Country string `json:"country" jsonschema:"enum=fi,enum=fr"`
		City    string `json:"city"`
	}
	cities := map[string][]string{"fi": {"Helsinki", "Turku"}, "fr": {"Paris"}}
	s := mcp.NewServer("atlas", "1.0.0", nil)
	mcp.AddTemplate(s, "atlas://{country}/{city}", "city", func(_ context.Context, a address) (string, error) {
		return "All about " + a.City, nil
	}).Complete("city", func(_ context.Context, prefix string, args map[string]string) ([]string, error) {
		return cities[args["country"]], nil
	})
	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ref := mcp.TemplateRef("atlas://{country}/{city}")
	countries, err := c.Complete(ctx, ref, "country", "F", nil)
	if err != nil {
		log.Fatal(err)
	}
	found, err := c.Complete(ctx, ref, "city", "", map[string]string{"country": "fi"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(countries.Values, found.Values)
	// Output: [fi fr] [Helsinki Turku]
}
