package main

import (
	"context"
	"strings"

	"github.com/typedmcp/mcp"
)

// promptArgs are the arguments of test_prompt_with_arguments.
type promptArgs struct {
	Arg1 string `json:"arg1" jsonschema_description:"First argument"`
	Arg2 string `json:"arg2" jsonschema_description:"Second argument"`
}

// embedArgs are the arguments of test_prompt_with_embedded_resource.
type embedArgs struct {
	URI string `json:"resourceUri" jsonschema_description:"URI of the resource to embed"`
}

// addPrompts adds prompts of every kind of content, and completion.
func addPrompts(s *mcp.Server) {
	mcp.AddPrompt(s, "test_simple_prompt", "A prompt without arguments", func(context.Context, none) (string, error) {
		return "This is a simple prompt for testing.", nil
	})
	mcp.AddPrompt(s, "test_prompt_with_arguments", "A prompt that shows its arguments", func(_ context.Context, a promptArgs) (string, error) {
		return "Prompt with arguments: arg1='" + a.Arg1 + "', arg2='" + a.Arg2 + "'", nil
	}).Complete("arg1", func(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
		var values []string
		for _, v := range []string{"paris", "park", "party"} {
			if strings.HasPrefix(v, prefix) {
				values = append(values, v)
			}
		}
		return values, nil
	})
	mcp.AddPrompt(s, "test_prompt_with_embedded_resource", "A prompt with a resource in it", func(_ context.Context, a embedArgs) ([]mcp.Message, error) {
		return []mcp.Message{
			{Role: "user", Content: mcp.Embed(mcp.ResourceContents{URI: a.URI, MIMEType: "text/plain", Text: "Embedded resource content for testing."})},
			mcp.User("Please process the embedded resource above."),
		}, nil
	})
	mcp.AddPrompt(s, "test_prompt_with_image", "A prompt with an image in it", func(context.Context, none) ([]mcp.Message, error) {
		pixel, err := redPixel()
		return []mcp.Message{
			{Role: "user", Content: mcp.Image(pixel, "image/png")},
			mcp.User("Please analyze the image above."),
		}, err
	})
}
