package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// TestCheck wants registrations without a problem, and without a warning.
func TestCheck(t *testing.T) {
	var log strings.Builder
	if err := newServer(slog.New(slog.NewTextHandler(&log, nil))).Check(); err != nil {
		t.Errorf("Check: %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("Check logged:\n%s", log.String())
	}
}

// TestTools wants every fixture to be listed, described, in an order that does not change, with one first that takes no
// arguments.
func TestTools(t *testing.T) {
	want := []string{
		"test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_multiple_content_types",
		"test_error_handling", "test_missing_capability",
		"test_tool_with_progress",
		"test_custom_header",
		"json_schema_2020_12_tool",
		"test_input_required_result_elicitation", "test_streaming_elicitation", "test_input_required_result_sampling",
		"test_input_required_result_list_roots", "test_input_required_result_request_state", "test_input_required_result_tampered_state",
		"test_input_required_result_multiple_inputs", "test_input_required_result_multi_round", "test_input_required_result_capabilities",
		"test_elicitation", "test_sampling",
		"test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums", "test_reconnection",
		"test_logging_tool", "test_tool_with_logging",
		"test_trigger_tool_change", "test_trigger_prompt_change",
	}
	synctest.Test(t, func(t *testing.T) {
		c := dial(t)
		for range 2 {
			var got []string
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, tool.Name)
				if tool.Description == "" {
					t.Errorf("%s has no description", tool.Name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("tools (-want +got):\n%s", diff)
			}
		}
		if r, err := c.CallTool(t.Context(), want[0], nil); err != nil || r.IsError {
			t.Errorf("%s without arguments: %+v, %v", want[0], r, err)
		}
	})
}

// TestSchemas wants the keywords that the suite looks for to be listed as they were written.
func TestSchemas(t *testing.T) {
	tests := []struct{ tool, path, want string }{
		{"test_custom_header", "properties.region.x-mcp-header", `"Region"`},
		{"json_schema_2020_12_tool", "$schema", `"https://json-schema.org/draft/2020-12/schema"`},
		{"json_schema_2020_12_tool", "$defs.address.$anchor", `"address"`},
		{"json_schema_2020_12_tool", "allOf", `[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}]`},
		{"json_schema_2020_12_tool", "if", `{"properties":{"reachBy":{"const":"email"}},"required":["reachBy"]}`},
		{"json_schema_2020_12_tool", "then", `{"required":["email"]}`},
		{"json_schema_2020_12_tool", "else", `{"required":["phone"]}`},
		{"json_schema_2020_12_tool", "additionalProperties", `false`},
	}
	synctest.Test(t, func(t *testing.T) {
		schemas := make(map[string]any)
		for tool, err := range dial(t).Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			schemas[tool.Name] = decode(t, string(tool.InputSchema))
		}
		for _, tt := range tests {
			got := schemas[tt.tool]
			for name := range strings.SplitSeq(tt.path, ".") {
				object, _ := got.(map[string]any)
				got = object[name]
			}
			if diff := cmp.Diff(decode(t, tt.want), got); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", tt.path, tt.tool, diff)
			}
		}
	})
}

// TestCalls wants each tool to do what its scenario expects.
func TestCalls(t *testing.T) {
	tests := []struct {
		tool, args string
		want       string // the blocks of the result
		failed     bool
	}{
		{tool: "test_simple_text", args: `{}`, want: "text"},
		{tool: "test_image_content", args: `{}`, want: "image/png 1x1"},
		{tool: "test_audio_content", args: `{}`, want: "audio/wav RIFF 124 bytes"},
		{tool: "test_embedded_resource", args: `{}`, want: "text/plain test://embedded-resource text"},
		{tool: "test_multiple_content_types", args: `{}`, want: "text, image/png 1x1, application/json test://mixed-content-resource text"},
		{tool: "test_error_handling", args: `{}`, want: "text", failed: true},
		{tool: "test_tool_with_progress", args: `{}`, want: "text"},
		{tool: "test_custom_header", args: `{"region":"eu"}`, want: "text"},
		{tool: "json_schema_2020_12_tool", args: `{"name":"Ada","phone":"1"}`, want: "text"},
		{tool: "json_schema_2020_12_tool", args: `{"reachBy":"email","phone":"1"}`, want: "text", failed: true},
	}
	for _, tt := range tests {
		t.Run(tt.tool+tt.args, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := dial(t).CallTool(t.Context(), tt.tool, json.RawMessage(tt.args))
				if err != nil {
					t.Fatal(err)
				}
				var blocks []string
				for _, c := range r.Content {
					blocks = append(blocks, describe(t, c))
				}
				if got := strings.Join(blocks, ", "); got != tt.want || r.IsError != tt.failed {
					t.Errorf("got %q with isError %v, want %q with %v", got, r.IsError, tt.want, tt.failed)
				}
			})
		})
	}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		report := mcp.WithProgress(func(e mcp.ProgressEvent) { got = append(got, fmt.Sprintf("%v/%v", e.Done, e.Total)) })
		if _, err := dial(t).CallTool(t.Context(), "test_tool_with_progress", nil, report); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0/100", "50/100", "100/100"}, got); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

// TestMissingCapability wants a protocol error that names what the client lacks.
func TestMissingCapability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := dial(t).CallTool(t.Context(), "test_missing_capability", nil)
		var fault *mcp.Error
		if !errors.As(err, &fault) || fault.Code != mcp.CodeMissingCapability {
			t.Fatalf("got %v, want a protocol error of code %d", err, mcp.CodeMissingCapability)
		}
		if got, want := fmt.Sprintf("%s", fault.Data), `{"requiredCapabilities":{"sampling":{}}}`; got != want {
			t.Errorf("data is %s, want %s", got, want)
		}
	})
}

func dial(t *testing.T) *mcp.Client {
	t.Helper()
	c, err := mcp.Dial(t.Context(), mcp.InMemory(newServer(slog.New(slog.DiscardHandler))), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

// describe says what a block is, and shows that its data is that.
func describe(t *testing.T, c mcp.Content) string {
	t.Helper()
	switch c := c.(type) {
	case *mcp.TextContent:
		if c.Text == "" {
			t.Error("a text is empty")
		}
		return "text"
	case *mcp.ImageContent:
		image, err := png.DecodeConfig(strings.NewReader(string(c.Data)))
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprintf("%s %dx%d", c.MIMEType, image.Width, image.Height)
	case *mcp.AudioContent:
		return fmt.Sprintf("%s %.4s %d bytes", c.MIMEType, c.Data, len(c.Data))
	case *mcp.EmbeddedResource:
		if c.Resource.Text == "" {
			t.Error("a resource is empty")
		}
		return fmt.Sprintf("%s %s text", c.Resource.MIMEType, c.Resource.URI)
	}
	return fmt.Sprintf("%T", c)
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
