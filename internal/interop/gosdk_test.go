package interop_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goSDKTour is the visit of a client of github.com/modelcontextprotocol/go-sdk.
func goSDKTour(version string) func(*testing.T, string) visit {
	return func(t *testing.T, target string) visit {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		user, updated, progress := newReader(), make(chan string, 16), make(chan float64, 16)
		client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				action, content := user.ask(r.Params.Message)
				return &mcp.ElicitResult{Action: action, Content: content}, nil
			},
			ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				progress <- r.Params.Progress
			},
		})
		var transport mcp.Transport = &mcp.CommandTransport{Command: exec.Command(target, "-stdio")}
		if strings.HasPrefix(target, "http") {
			transport = &mcp.StreamableClientTransport{Endpoint: target}
		}
		s := must(client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version}))(t, "connect")
		defer func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		return goSDKVisit(t, ctx, s, user, updated, progress)
	}
}

func goSDKVisit(t *testing.T, ctx context.Context, s *mcp.ClientSession, user *reader, updated <-chan string, progress <-chan float64) visit {
	t.Helper()
	v := visit{Version: s.InitializeResult().ProtocolVersion}
	for _, tool := range must(s.ListTools(ctx, nil))(t, "list").Tools {
		v.Tools = append(v.Tools, tool.Name)
	}
	call := func(ctx context.Context, name string, args any, token any) (string, error) {
		p := &mcp.CallToolParams{Name: name, Arguments: args}
		if token != nil {
			p.SetProgressToken(token)
		}
		r, err := s.CallTool(ctx, p)
		if err != nil {
			return "", err
		}
		return textOf(r.Content[0].(*mcp.TextContent).Text, r.IsError), nil
	}
	v.Found = must(call(ctx, "search_books", map[string]any{"text": "go"}, nil))(t, "search")
	user.action = joins
	v.Joined = must(call(ctx, "join_library", map[string]any{}, nil))(t, "join")
	v.Asked, user.action = user.asked, declines
	v.Declined = must(call(ctx, "join_library", map[string]any{}, nil))(t, "decline")
	v.Counted = must(call(ctx, "stocktake", map[string]any{}, "p"))(t, "count")
	for range 4 {
		v.Progress = append(v.Progress, await(t, progress))
	}
	v.Cancelled = cancelled(t, ctx, user, func(ctx context.Context) error {
		_, err := call(ctx, "join_library", map[string]any{}, nil)
		return err
	})
	rules := must(s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "library://rules"}))(t, "read")
	v.Rules = rules.Contents[0].Text
	_, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "library://books/none"})
	if fault := (*jsonrpc.Error)(nil); errors.As(err, &fault) {
		v.Missing = int(fault.Code)
	}
	if err := s.Subscribe(ctx, &mcp.SubscribeParams{URI: "library://loans"}); err != nil {
		t.Fatal(err)
	}
	v.Updated = lent(t, updated, func(isbn string) error {
		_, err := call(ctx, "lend_book", map[string]any{"isbn": isbn, "reader": "Ada"}, nil)
		return err
	})
	prompt := must(s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "recommend", Arguments: map[string]string{"topic": "design"}}))(t, "prompt")
	v.Prompt = prompt.Messages[0].Content.(*mcp.TextContent).Text
	return v
}

// cancelled has a call cancelled while its question is open, and says what came of it.
func cancelled(t *testing.T, ctx context.Context, user *reader, call func(context.Context) error) string {
	t.Helper()
	for len(user.opened) > 0 {
		<-user.opened
	}
	thinking, cancel := context.WithCancel(ctx)
	defer cancel()
	user.action = func(int) (string, map[string]any) {
		<-thinking.Done()
		return "cancel", nil
	}
	done := make(chan error, 1)
	go func() { done <- call(thinking) }()
	await(t, user.opened)
	cancel()
	if err := await(t, done); err == nil {
		return "answered"
	}
	return "cancelled"
}

// lent lends books until the client hears of it: some do not wait for a subscription to be acknowledged.
func lent(t *testing.T, updated <-chan string, lend func(isbn string) error) string {
	t.Helper()
	for _, isbn := range []string{"978-0134190440", "978-0262510875", "978-0201633610", "978-1492052203"} {
		if err := lend(isbn); err != nil {
			t.Fatal(err)
		}
		select {
		case uri := <-updated:
			return uri
		case <-time.After(2 * time.Second):
		}
	}
	return ""
}
