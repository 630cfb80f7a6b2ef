package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/typedmcp/mcp"
)

// Clients of the revisions before 2026-07-28 get a session by initialize, at the same URL. It is theirs alone, and ends by
// DELETE or when nothing went on in it for SessionTTL.
func ExampleHTTPOptions_sessions() {
	s := mcp.NewServer("greeter", "1.0.0", &mcp.ServerOptions{Limits: mcp.Limits{Sessions: 1000, Events: 100}})
	mcp.AddTool(s, "greet", "Say hello", func(ctx context.Context, a struct {
		Name string `json:"name"`
	}) (string, error) {
		return "Hello, " + a.Name + ", in " + mcp.RequestFrom(ctx).Version(), nil
	})
	handler, err := s.HTTPHandler(&mcp.HTTPOptions{SessionTTL: 10 * time.Minute, MaxStream: time.Minute})
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(handler)
	defer web.Close()

	session := ""
	send := func(method, body string) {
		r, _ := http.NewRequest(method, web.URL, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
		fmt.Println(strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", string(answer))))
	}
	send("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
	send("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	send("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`)
	send("DELETE", "")
	send("POST", `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	// Output:
	// 200 {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"greeter","version":"1.0.0"}}}
	// 202
	// 200 {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello, Ada, in 2025-06-18"}]}}
	// 204
	// 404 {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: there is no such session, or it has ended; begin a new one with initialize, without Mcp-Session-Id"}}
}
