package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestSampleRequests holds requests to the client's model to the protocol, before anything is sent.
func TestSampleRequests(t *testing.T) {
	use := func(id string) *mcp.ToolUseContent {
		return &mcp.ToolUseContent{ID: id, Name: "add", Input: []byte(`{"a":1}`)}
	}
	result := func(id string) *mcp.ToolResultContent {
		return &mcp.ToolResultContent{ToolUseID: id, Content: []mcp.Content{mcp.Text("2")}}
	}
	message := func(role string, blocks ...mcp.Content) mcp.Message {
		return mcp.Message{Role: role, Content: mcp.Blocks(blocks)}
	}
	ask := message("user", mcp.Text("1+1?"))
	hello := []mcp.Message{mcp.User("Hello")}
	tool := mcp.ToolDef{Name: "add", InputSchema: json.RawMessage(`{"type":"object"}`)}
	for _, c := range []struct {
		name string
		req  mcp.SampleRequest
		want string // the params; or, after "!", part of what is wrong
	}{
		{"SMP-05 SMP-08 the least", mcp.SampleRequest{Messages: hello, MaxTokens: 7},
			`{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}}],"maxTokens":7}`},
		{"SMP-05 no maximum", mcp.SampleRequest{Messages: hello}, "!needs a maximum of tokens above 0, not 0"},
		{"SMP-05 a maximum below 1", mcp.SampleRequest{Messages: hello, MaxTokens: -5}, "!needs a maximum of tokens above 0, not -5"},
		{"no messages", mcp.SampleRequest{MaxTokens: 7}, "!has no messages"},
		{"SMP-06 all of it", mcp.SampleRequest{
			Messages: hello, MaxTokens: 7, SystemPrompt: "Be brief.", Temperature: ptr(0.0), StopSequences: []string{"END"},
			ModelPreferences: &mcp.ModelPreferences{Hints: []string{"fast", "any"}, SpeedPriority: ptr(1.0), CostPriority: ptr(0.0)},
			Metadata:         json.RawMessage(`{"k":1}`), IncludeContext: "none",
		}, `{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}}],"maxTokens":7,"systemPrompt":"Be brief.","temperature":0,"stopSequences":["END"],` +
			`"modelPreferences":{"hints":[{"name":"fast"},{"name":"any"}],"costPriority":0,"speedPriority":1},"includeContext":"none","metadata":{"k":1}}`},
		{"SMP-08 a role that is none", mcp.SampleRequest{Messages: []mcp.Message{{Role: "system", Content: mcp.Text("x")}}, MaxTokens: 7}, `!"system"`},
		{"SMP-08 no content", mcp.SampleRequest{Messages: []mcp.Message{{Role: "user"}}, MaxTokens: 7}, "!the content is nil"},
		{"SMP-08 content that is not for models", mcp.SampleRequest{Messages: []mcp.Message{{Role: "user", Content: &mcp.ResourceLink{URI: "a://b", Name: "b"}}}, MaxTokens: 7},
			"!no links or embedded resources"},
		{"SMP-11 every tool choice: auto", mcp.SampleRequest{Messages: hello, MaxTokens: 7, Tools: []mcp.ToolDef{tool}, ToolChoice: "auto"},
			`{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}}],"maxTokens":7,"tools":[{"name":"add","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}`},
		{"SMP-11 no tool choice is left to the client", mcp.SampleRequest{Messages: hello, MaxTokens: 7, Tools: []mcp.ToolDef{tool}},
			`{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}}],"maxTokens":7,"tools":[{"name":"add","inputSchema":{"type":"object"}}]}`},
		{"SMP-11 a tool choice that is none", mcp.SampleRequest{Messages: hello, MaxTokens: 7, ToolChoice: "any"}, `!the tool choice "any"`},
		{"a tool without a schema", mcp.SampleRequest{Messages: hello, MaxTokens: 7, Tools: []mcp.ToolDef{{Name: "add"}}}, "!needs a name and an input schema"},
		{"SMP-04 a context that is none", mcp.SampleRequest{Messages: hello, MaxTokens: 7, IncludeContext: "all"}, `!"all"`},
		{"a priority out of range", mcp.SampleRequest{Messages: hello, MaxTokens: 7, ModelPreferences: &mcp.ModelPreferences{CostPriority: ptr(1.5)}}, "!1.5"},
		{"metadata that is no object", mcp.SampleRequest{Messages: hello, MaxTokens: 7, Metadata: json.RawMessage(`5`)}, "!metadata"},

		{"SMP-10 SMP-14 a use with its result", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{
			ask, message("assistant", &mcp.ToolUseContent{ID: "1", Name: "add", Input: []byte(`{"a":1}`), Meta: mcp.Meta{"k": json.RawMessage(`1`)}}),
			message("user", &mcp.ToolResultContent{ToolUseID: "1", Content: []mcp.Content{mcp.Text("2")}, IsError: true, Meta: mcp.Meta{"k": json.RawMessage(`2`)}}),
		}}, `{"messages":[{"role":"user","content":[{"type":"text","text":"1+1?"}]},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"add","input":{"a":1},"_meta":{"k":1}}]},` +
			`{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"2"}],"isError":true,"_meta":{"k":2}}]}],"maxTokens":7}`},
		{"SMP-09 a result beside a text", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1")), message("user", result("1"), mcp.Text("there"))}}, "!message 2"},
		{"SMP-10 a use without a result", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1")), message("user", mcp.Text("and?"))}}, "!message 2"},
		{"SMP-10 a use at the end", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1"))}}, "!its tool uses have no results"},
		{"SMP-10 one of two", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1"), use("2")), message("user", result("1"))}}, "!message 2"},
		{"SMP-10 a result too many", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1")), message("user", result("1"), result("1"))}}, "!once"},
		{"SMP-10 a result to nothing", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("user", result("1"))}}, "!answers a tool use"},
		{"SMP-10 a result that is late", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1")), message("assistant", mcp.Text("wait")), message("user", result("1"))}}, "!message 2"},
		{"SMP-10 an id twice", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1"), use("1")), message("user", result("1"))}}, "!an id of its own"},
		{"SMP-10 a use by the user", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{message("user", use("1"))}}, "!the assistant's"},
		{"SMP-09 a result by the assistant", mcp.SampleRequest{MaxTokens: 7, Messages: []mcp.Message{ask, message("assistant", use("1")), message("assistant", result("1"))}}, "!the user's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mcp.NewServer("asker", "1.0.0", nil)
			mcp.AddTool(s, "ask", "", func(ctx context.Context, _ noArgs) (string, error) {
				r, err := mcp.Sample(ctx, "q", &c.req)
				if err != nil {
					return "", err
				}
				return r.Text(), nil
			})
			res := play(t, s, round{name: "ask"})
			if part, wrong := strings.CutPrefix(c.want, "!"); wrong {
				res.fails(t, part)
				return
			}
			res.asks(t, "q")
			want := `{"q":{"method":"sampling/createMessage","params":` + c.want + `}}`
			if diff := cmp.Diff(want, string(res.members["inputRequests"])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			play(t, s, round{name: "ask"}.again(res, `{"q":`+earlyModel+`}`)).says(t, "Hello")
		})
	}
}

// TestSampleMeta sends _meta of tool uses and results in both directions.
func TestSampleMeta(t *testing.T) {
	use := func(id string) *mcp.ToolUseContent {
		return &mcp.ToolUseContent{ID: id, Name: "add", Input: []byte(`{}`), Meta: mcp.Meta{"use": json.RawMessage(`"` + id + `"`)}}
	}
	result := &mcp.ToolResultContent{ToolUseID: "1", Content: []mcp.Content{mcp.Text("2")}, Meta: mcp.Meta{"result": json.RawMessage(`{"n":1}`)}}
	var seen, answered []mcp.Content
	s := mcp.NewServer("asker", "1.0.0", nil)
	mcp.AddTool(s, "ask", "", func(ctx context.Context, _ noArgs) (string, error) {
		r, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{MaxTokens: 7, Tools: []mcp.ToolDef{{Name: "add", InputSchema: json.RawMessage(`{"type":"object"}`)}},
			Messages: []mcp.Message{mcp.User("1+1?"), {Role: "assistant", Content: mcp.Blocks{use("1")}}, {Role: "user", Content: mcp.Blocks{result}}}})
		if err == nil {
			answered = append(answered, r.Content)
		}
		return "", err
	})
	c := dialMemory(t, s, &mcp.ClientOptions{SampleTools: true, Sample: func(_ context.Context, r *mcp.SampleRequest) (*mcp.SampleResult, error) {
		for _, m := range r.Messages[1:] {
			seen = append(seen, m.Content)
		}
		return &mcp.SampleResult{Content: use("2"), Model: "m", StopReason: "toolUse"}, nil
	}})
	t.Run("CNT-02 SMP-14 one block or several, and _meta of uses and results is kept, on the way there and back", func(t *testing.T) {
		mustCall(t, c, "ask", nil)
		if diff := cmp.Diff([]mcp.Content{mcp.Blocks{use("1")}, mcp.Blocks{result}}, seen); diff != "" {
			t.Errorf("the client got (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]mcp.Content{use("2")}, answered); diff != "" {
			t.Errorf("the server got (-want +got):\n%s", diff)
		}
	})
}
