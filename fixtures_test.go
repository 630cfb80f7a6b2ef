package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/typedmcp/mcp"
)

// fixture is a server with a tool for everything that a call can do to a connection: add, echo, whoami, block, hold,
// fail, panic, goexit, progress and blob. Make it inside the synctest bubble that uses it.
type fixture struct {
	*mcp.Server
	started chan string   // the tags of the calls of block and hold that began
	ended   chan error    // the causes with which the contexts of calls of block ended
	release chan struct{} // closed by the test: the calls of hold return
}

// The arguments of the fixture's tools.
type (
	addArgs struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	sumResult struct {
		Sum int `json:"sum"`
	}
	textArgs struct {
		Text string `json:"text"`
	}
	tagArgs struct {
		Tag string `json:"tag,omitempty"`
	}
	countArgs struct {
		Count int `json:"count"`
	}
	noArgs  struct{}
	whoFact struct {
		Version  string `json:"version"`
		Client   string `json:"client"`
		LogLevel string `json:"logLevel"`
		Token    string `json:"token"`
		Roots    bool   `json:"roots"`
	}
)

// newFixture returns a fixture that calls itself "fixture", version "1.0.0". opts may be nil.
func newFixture(opts *mcp.ServerOptions) *fixture {
	f := &fixture{
		Server:  mcp.NewServer("fixture", "1.0.0", opts),
		started: make(chan string, 4096),
		ended:   make(chan error, 4096),
		release: make(chan struct{}),
	}
	mcp.AddTool(f, "add", "Add two integers", func(_ context.Context, a addArgs) (sumResult, error) {
		return sumResult{a.A + a.B}, nil
	})
	mcp.AddTool(f, "echo", "Return the text", func(_ context.Context, a textArgs) (string, error) {
		return a.Text, nil
	})
	mcp.AddTool(f, "whoami", "Return the facts of the request", func(ctx context.Context, _ noArgs) (whoFact, error) {
		r := mcp.RequestFrom(ctx)
		return whoFact{r.Version(), r.Client().Name, r.LogLevel(), string(r.ProgressToken()), r.Capabilities().Roots != nil}, nil
	})
	f.addWaiting()
	f.addFailing()
	mcp.AddTool(f, "progress", "Report progress 1 to count", func(ctx context.Context, a countArgs) (string, error) {
		for i := range a.Count {
			mcp.Progress(ctx, float64(i+1), float64(a.Count), "")
		}
		return "done", nil
	})
	mcp.AddTool(f, "blob", "Return count bytes of text", func(_ context.Context, a countArgs) (string, error) {
		return strings.Repeat("x", a.Count), nil
	})
	return f
}

// addWaiting registers the tools that return when something happens.
func (f *fixture) addWaiting() {
	mcp.AddTool(f, "block", "Return when the context ends", func(ctx context.Context, a tagArgs) (string, error) {
		f.started <- a.Tag
		<-ctx.Done()
		f.ended <- context.Cause(ctx)
		return "", context.Cause(ctx)
	})
	mcp.AddTool(f, "hold", "Return when the test says so, whatever the context", func(_ context.Context, a tagArgs) (string, error) {
		f.started <- a.Tag
		<-f.release
		return "released " + a.Tag, nil
	})
}

// addFailing registers the tools that end in one of the bad ways.
func (f *fixture) addFailing() {
	mcp.AddTool(f, "fail", "Fail with the text", func(_ context.Context, a textArgs) (string, error) {
		return "", errors.New(a.Text)
	})
	mcp.AddTool(f, "panic", "Panic with the text", func(_ context.Context, a textArgs) (string, error) {
		panic(a.Text)
	})
	mcp.AddTool(f, "goexit", "End the goroutine", func(context.Context, noArgs) (string, error) {
		runtime.Goexit()
		return "", nil
	})
}

// modernMeta is the member _meta of a modern request; extra are further members of it, such as `"progressToken":1`.
func modernMeta(extra ...string) string {
	members := append([]string{
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`,
	}, extra...)
	return `"_meta":{` + strings.Join(members, ",") + `}`
}

// modernRequest is a modern request; params are the members of its params beside _meta.
func modernRequest(id, method string, params ...string) string {
	return plainRequest(id, method, append(params, modernMeta())...)
}

// plainRequest is a request with no _meta but what params say.
func plainRequest(id, method string, params ...string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, strings.Join(params, ","))
}

// modernCall is a modern tools/call; meta are further members of _meta.
func modernCall(id, tool, args string, meta ...string) string {
	return plainRequest(id, "tools/call", callParams(tool, args), modernMeta(meta...))
}

// legacyCall is a tools/call as it is sent in a session opened by initialize.
func legacyCall(id, tool, args string) string {
	return plainRequest(id, "tools/call", callParams(tool, args))
}

func callParams(tool, args string) string {
	return fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args)
}

// cancelNotice cancels the request with the given id, for the given reason.
func cancelNotice(id, reason string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%q}}`, id, reason)
}

// initializeRequest opens a legacy session, initializedNotice completes it.
func initializeRequest(id, version string) string {
	return plainRequest(id, "initialize", fmt.Sprintf(`"protocolVersion":%q`, version), `"capabilities":{}`,
		`"clientInfo":{"name":"tester","version":"0"}`)
}

const initializedNotice = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// modernResult is the success response of a fixture to a modern request; members are those of the result between
// resultType and _meta.
func modernResult(id, members string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",%s,`+
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"1.0.0"}}}}`, id, members)
}

// modernText is the response of a fixture to a modern call that returned one block of plain text.
func modernText(id, text string) string {
	return modernResult(id, fmt.Sprintf(`"content":[{"type":"text","text":%q}]`, text))
}

// modernSum is the response of a fixture to a modern call of add.
func modernSum(id string, sum int) string {
	return modernResult(id, fmt.Sprintf(`"structuredContent":{"sum":%[1]d},"content":[{"type":"text","text":"{\"sum\":%[1]d}"}]`, sum))
}

// progressNotice is a progress notification as the tool progress sends it.
func progressNotice(token string, done, total int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d}}`, token, done, total)
}
