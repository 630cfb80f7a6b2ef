package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestMetrics shows that one middleware measures every request that a server answers.
func TestMetrics(t *testing.T) {
	t.Parallel()
	bubble(t, "M36 middleware knows the method, the feature, the outcome and the time it took", func(t *testing.T) {
		var seen trail
		s := mcp.NewServer("measured", "1", nil)
		s.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				begin := time.Now()
				v, err := next(ctx, r)
				outcome := fmt.Sprintf("%T", v)
				if fault := (*mcp.Error)(nil); errors.As(err, &fault) {
					outcome = fmt.Sprint(fault.Code)
				} else if err != nil {
					outcome = "failed"
				} else if result, ok := v.(*mcp.Result); ok && result.IsError {
					outcome = "isError"
				}
				seen.add("%s %s%s: %s, %v", r.Method(), r.Info().Name, r.Info().URI, outcome, time.Since(begin))
				return v, err
			}
		})
		slow := func(result string, err error) (string, error) { time.Sleep(time.Second); return result, err }
		mcp.AddTool(s, "good", "", func(context.Context, noArgs) (string, error) { return slow("", nil) })
		mcp.AddTool(s, "bad", "", func(context.Context, noArgs) (string, error) { return slow("", errors.New("no")) })
		mcp.AddTool(s, "reported", "", func(context.Context, noArgs) (*mcp.Result, error) { return &mcp.Result{IsError: true}, nil })
		mcp.AddPrompt(s, "p", "", func(_ context.Context, a idArgs) (string, error) { return slow(a.ID, nil) })
		mcp.AddResource(s, "r://x", "x", func(context.Context) (string, error) { return slow("", mcp.ErrNotFound) })
		mcp.HandleMethod(s, "com.example/m", func(context.Context, noArgs) (struct{}, error) { return struct{}{}, nil })
		c := serveLines(t, s)
		for _, tt := range []struct{ line, want string }{
			{modernCall("1", "good", `{}`), "tools/call good: *mcp.Result, 1s"},
			{modernCall("1", "bad", `{}`), "tools/call bad: failed, 1s"},
			{modernCall("1", "reported", `{}`), "tools/call reported: isError, 0s"},
			{modernCall("1", "none", `{}`), "tools/call none: -32602, 0s"},
			{getPrompt("1", "p", `{"id":"1"}`), "prompts/get p: *mcp.PromptResult, 1s"},
			{getPrompt("1", "p", `{"id":"9"}`), "prompts/get p: failed, 0s"},
			{readRequest("1", "r://x"), "resources/read xr://x: failed, 1s"},
			{completeRequest(promptRef, "id", ""), "completion/complete p: *mcp.Completion, 0s"},
			{modernRequest("1", "tools/list"), "tools/list : *mcp.ListResult, 0s"},
			{modernRequest("1", "server/discover"), "server/discover : *mcp.ServerInfo, 0s"},
			{modernRequest("1", "com.example/m"), "com.example/m : *struct {}, 0s"},
			{listenRequest("1", ""), "subscriptions/listen : *mcp.Filter, 0s"},
		} {
			c.send(tt.line)
			c.next()
			synctest.Wait()
			if diff := cmp.Diff([]string{tt.want}, seen.take()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
}
