package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// CallTool calls a tool. args is encoded as JSON, nil sends none. A tool that
// fails is a result with IsError, not an error: it is what the model should
// see. An *Error is the server's refusal of the request, an *OutputError the
// client's of a result that breaks the tool's output schema, which the client
// knows once it has listed the tool.
func (c *Client) CallTool(ctx context.Context, name string, args any, opts ...CallOption) (*Result, error) {
	raw, err := c.request(ctx, c.toolCall(name, args, opts))
	if err != nil {
		return nil, err
	}
	result, err := toolResult(raw)
	if err != nil {
		return nil, err
	}
	structured, _ := result.Structured.(json.RawMessage)
	if err := c.conforms(name, structured, result.IsError); err != nil {
		return nil, err
	}
	return result, nil
}

func toolResult(raw []byte) (*Result, error) {
	result, err := decodeResult(raw)
	if err != nil {
		return nil, invalidResponse(jsonrpc.MethodToolsCall, err)
	}
	return result, nil
}

func (c *Client) toolCall(name string, args any, opts []CallOption) *call {
	r := &call{method: jsonrpc.MethodToolsCall, name: name, options: opts}
	var sent []byte // the arguments, while they are being sent
	r.params = func(dst []byte) ([]byte, error) {
		dst = append(jsonx.AppendString(append(dst, `"name":`...), name), ',')
		if args == nil {
			return dst, nil
		}
		start := len(dst) + len(`"arguments":`)
		dst, err := jsonx.Append(append(dst, `"arguments":`...), args)
		if err != nil {
			return dst, fmt.Errorf("arguments for tool %q: %w", name, err)
		}
		sent = dst[start:]
		return append(dst, ','), nil
	}
	if c.mirrors() {
		r.headers = func() (http.Header, error) { return mirror(name, c.bindings(name), sent) }
	}
	return r
}

// Call calls a tool and decodes its structured content into R. Where a result
// has none, its first block of text is decoded as JSON or, if R is string,
// returned as it is; use Client.CallTool for the text of a result that has
// both. A failed tool is a *ToolError. The names of members are matched to the
// letter: a field without a json tag is called as in Go.
func Call[R any](ctx context.Context, c *Client, tool string, args any, opts ...CallOption) (R, error) {
	var value R
	raw, err := c.request(ctx, c.toolCall(tool, args, opts))
	if err != nil {
		return value, err
	}
	structured, failed, err := structuredContent(raw)
	if err != nil {
		return value, invalidResponse(jsonrpc.MethodToolsCall, err)
	}
	if err := c.conforms(tool, structured, failed); err != nil {
		return value, err
	}
	if failed || structured == nil {
		return fromText[R](tool, raw)
	}
	return decodeValue[R](tool, structured)
}

// structuredContent finds what Call needs of a result. What is for the model
// stays as it is.
func structuredContent(raw []byte) (structured json.RawMessage, failed bool, err error) {
	var found [2][]byte
	if err := jsonx.FindEach(raw, resultMembers, found[:]); err != nil {
		return nil, false, err
	}
	if found[1] != nil {
		err = jsonx.Unmarshal(found[1], &failed)
	}
	return found[0], failed, err
}

var resultMembers = []string{"structuredContent", "isError"}

// fromText makes the value of a result without structured content.
func fromText[R any](tool string, raw []byte) (R, error) {
	var value R
	result, err := toolResult(raw)
	if err != nil {
		return value, err
	}
	if result.IsError {
		return value, &ToolError{Result: result}
	}
	if len(result.Content) == 0 {
		return value, nothingToDecode[R](tool)
	}
	text, isText := result.Content[0].(*TextContent)
	if !isText {
		return value, nothingToDecode[R](tool)
	}
	if s, isString := any(&value).(*string); isString {
		*s = text.Text
		return value, nil
	}
	return decodeValue[R](tool, []byte(text.Text))
}

func decodeValue[R any](tool string, raw []byte) (R, error) {
	var value R
	if err := jsonx.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("mcp: the result of tool %q does not fit a %T: %w", tool, value, err)
	}
	return value, nil
}

// nothingToDecode is an error unless R has nothing to be decoded.
func nothingToDecode[R any](tool string) error {
	var value R
	if _, empty := any(value).(struct{}); empty {
		return nil
	}
	return fmt.Errorf("mcp: tool %q returned neither structured content nor text to make a %T of", tool, value)
}

func invalidResponse(method string, err error) error {
	return fmt.Errorf("mcp: the server's answer to %s is invalid: %w", method, err)
}
