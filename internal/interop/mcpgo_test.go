package interop_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// elicits lets a reader answer the questions of github.com/mark3labs/mcp-go.
type elicits struct{ *reader }

// Elicit implements client.ElicitationHandler.
func (e elicits) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	action, content := e.ask(r.Params.Message)
	result := &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseAction(action)}}
	if content != nil {
		result.Content = content
	}
	return result, nil
}

// mcpGoTour is the visit of a client of github.com/mark3labs/mcp-go.
func mcpGoTour(version string) func(*testing.T, string) visit {
	return func(t *testing.T, target string) visit {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var carrier transport.Interface = transport.NewStdio(target, nil, "-stdio")
		if strings.HasPrefix(target, "http") {
			carrier = must(transport.NewStreamableHTTP(target, transport.WithContinuousListening()))(t, "transport")
		}
		user, updated, progress := newReader(), make(chan string, 16), make(chan float64, 16)
		c := client.NewClient(carrier, client.WithElicitationHandler(elicits{user}), client.WithProtocolVersion(version))
		c.OnNotification(func(n mcp.JSONRPCNotification) {
			switch fields := n.Params.AdditionalFields; n.Method {
			case "notifications/resources/updated":
				updated <- fields["uri"].(string)
			case "notifications/progress":
				progress <- fields["progress"].(float64)
			}
		})
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}()
		var hello mcp.InitializeRequest
		hello.Params.ProtocolVersion, hello.Params.ClientInfo = version, mcp.Implementation{Name: "interop", Version: "1.0.0"}
		agreed := must(c.Initialize(ctx, hello))(t, "initialize")
		return mcpGoVisit(t, ctx, c, agreed.ProtocolVersion, user, updated, progress)
	}
}

func mcpGoVisit(t *testing.T, ctx context.Context, c *client.Client, version string, user *reader, updated <-chan string, progress <-chan float64) visit {
	t.Helper()
	v := visit{Version: version}
	for _, tool := range must(c.ListTools(ctx, mcp.ListToolsRequest{}))(t, "list").Tools {
		v.Tools = append(v.Tools, tool.Name)
	}
	call := func(ctx context.Context, name string, args map[string]any, token mcp.ProgressToken) (string, error) {
		var r mcp.CallToolRequest
		r.Params.Name, r.Params.Arguments = name, args
		if token != nil {
			r.Params.Meta = &mcp.Meta{ProgressToken: token}
		}
		result, err := c.CallTool(ctx, r)
		if err != nil {
			return "", err
		}
		return textOf(result.Content[0].(mcp.TextContent).Text, result.IsError), nil
	}
	v.Found = must(call(ctx, "search_books", map[string]any{"text": "go"}, nil))(t, "search")
	user.action = joins
	v.Joined = must(call(ctx, "join_library", nil, nil))(t, "join")
	v.Asked, user.action = user.asked, declines
	v.Declined = must(call(ctx, "join_library", nil, nil))(t, "decline")
	v.Counted = must(call(ctx, "stocktake", nil, "p"))(t, "count")
	for range 4 {
		v.Progress = append(v.Progress, await(t, progress))
	}
	v.Cancelled = cancelled(t, ctx, user, func(ctx context.Context) error {
		_, err := call(ctx, "join_library", nil, nil)
		return err
	})
	var read mcp.ReadResourceRequest
	read.Params.URI = "library://rules"
	v.Rules = must(c.ReadResource(ctx, read))(t, "read").Contents[0].(mcp.TextResourceContents).Text
	read.Params.URI = "library://books/none"
	if _, err := c.ReadResource(ctx, read); errors.Is(err, mcp.ErrResourceNotFound) {
		v.Missing = mcp.RESOURCE_NOT_FOUND
	}
	var watch mcp.SubscribeRequest
	watch.Params.URI = "library://loans"
	if err := c.Subscribe(ctx, watch); err != nil {
		t.Fatal(err)
	}
	v.Updated = lent(t, updated, func(isbn string) error {
		_, err := call(ctx, "lend_book", map[string]any{"isbn": isbn, "reader": "Ada"}, nil)
		return err
	})
	var ask mcp.GetPromptRequest
	ask.Params.Name, ask.Params.Arguments = "recommend", map[string]string{"topic": "design"}
	v.Prompt = must(c.GetPrompt(ctx, ask))(t, "prompt").Messages[0].Content.(mcp.TextContent).Text
	return v
}
