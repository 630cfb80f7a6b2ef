package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/header"
	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// Client talks to one server. It is safe for concurrent use; Close it when
// done.
type Client struct {
	opts   ClientOptions
	log    *slog.Logger
	link   link
	stamp  []byte // the members of _meta that every request carries
	server ServerInfo

	mu      sync.Mutex                 // protects mirrors
	mirrors map[string]header.Bindings // by tool, of the newest schema seen
}

// ClientOptions configure a Client. The zero value, and a nil pointer, are
// good defaults.
type ClientOptions struct {
	// Name and Version tell servers who is calling; with an empty Name they
	// are not told.
	Name, Version string
	// Timeout is how long a call may go without an answer or progress; 0 means
	// 60 seconds. MaxTimeout is how long it may take in all, progress or not;
	// 0 means 10 minutes.
	Timeout, MaxTimeout time.Duration
	// ElicitForm and ElicitURL ask the user what a server wants to know: to fill
	// in a form, and to open a page. Setting one declares to servers that they
	// may ask so. They run in the goroutine of the call and should end with its
	// context. An error is logged, and tells the server that the user turned
	// away.
	ElicitForm, ElicitURL func(context.Context, *ElicitRequest) (*ElicitResult, error)
	// Sample has a model go on with a conversation of a server's; setting it
	// declares so. A person should be able to see and refuse both request and
	// result. An error fails the call.
	//
	// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will
	// not be removed before 2027-07-28.
	Sample func(context.Context, *SampleRequest) (*SampleResult, error)
	// SampleTools declares with Sample that the model may use tools.
	//
	// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will
	// not be removed before 2027-07-28.
	SampleTools bool
	// Roots lists the folders that servers may work in; setting it declares so.
	// An error fails the call.
	//
	// Deprecated: SEP-2577 deprecates roots in revision 2026-07-28; they will
	// not be removed before 2027-07-28.
	Roots func(context.Context) ([]Root, error)
	// MaxRounds is how often a server may ask in one call; 0 means 10.
	MaxRounds int
	// Logger gets what servers send out of turn; nil discards it.
	Logger *slog.Logger
}

const (
	defaultTimeout    = 60 * time.Second
	defaultMaxTimeout = 10 * time.Minute
)

// Dial connects to a server and learns what it offers. ctx bounds the dial
// only. opts may be nil.
func Dial(ctx context.Context, t Transport, opts *ClientOptions) (*Client, error) {
	c := new(Client)
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Timeout <= 0 {
		c.opts.Timeout = defaultTimeout
	}
	if c.opts.MaxTimeout <= 0 {
		c.opts.MaxTimeout = defaultMaxTimeout
	}
	c.log = c.opts.Logger
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.stamp = c.encodeStamp()
	c.discourage()
	var err error
	if c.link, err = t.open(ctx, c.log); err != nil {
		return nil, fmt.Errorf("mcp: dial: %w", err)
	}
	if err := c.discover(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("mcp: dial: %w", err), c.Close())
	}
	return c, nil
}

// encodeStamp encodes the metadata of every request (MCP 2026-07-28, Basic ›
// _meta).
func (c *Client) encodeStamp() []byte {
	dst := jsonx.AppendString(nil, jsonrpc.MetaVersion)
	dst = jsonx.AppendString(append(dst, ':'), LatestVersion)
	dst = jsonx.AppendString(append(dst, ','), jsonrpc.MetaCapabilities)
	dst, _ = jsonx.Append(append(dst, ':'), c.capabilities()) // plain structs cannot fail
	if c.opts.Name != "" {
		dst = jsonx.AppendString(append(dst, ','), jsonrpc.MetaClientInfo)
		dst = jsonx.AppendString(append(dst, `:{"name":`...), c.opts.Name)
		dst = jsonx.AppendString(append(dst, `,"version":`...), c.opts.Version)
		dst = append(dst, '}')
	}
	return dst
}

func (c *Client) discover(ctx context.Context) error {
	raw, err := c.request(ctx, &call{method: jsonrpc.MethodDiscover})
	if err != nil {
		return err
	}
	var result struct {
		Versions     []string           `json:"supportedVersions"`
		Capabilities ServerCapabilities `json:"capabilities"`
		Instructions string             `json:"instructions"`
		Meta         struct {
			Server Implementation `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := jsonx.Unmarshal(raw, &result); err != nil {
		return invalidResponse(jsonrpc.MethodDiscover, err)
	}
	result.Meta.Server.Icons = loadable(result.Meta.Server.Icons)
	c.server = ServerInfo{
		Implementation: result.Meta.Server, Protocol: LatestVersion,
		Capabilities: result.Capabilities, Instructions: result.Instructions,
	}
	return nil
}

// Server is what the server said of itself when the client connected. Its
// identity is for display and must not decide anything.
func (c *Client) Server() ServerInfo { return c.server }

// Close ends the connection; calls that are under way fail with ErrClosed. It
// may be called more than once.
func (c *Client) Close() error { return c.link.close() }

// Tools lists the server's tools, fetching page after page as the loop goes
// on. An error is yielded once, with a nil tool, and ends the sequence.
func (c *Client) Tools(ctx context.Context) iter.Seq2[*ToolInfo, error] {
	return entries(ctx, c, jsonrpc.MethodToolsList, "tools", c.bind)
}

// pages yields the entries of a list method over all its pages. A cursor that
// comes twice would never end and is an error.
func (c *Client) pages(ctx context.Context, method, member string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		var cursor *string // an empty one is a cursor too
		seen := make(map[string]bool)
		for {
			items, next, err := c.page(ctx, method, member, cursor)
			if err == nil && next != nil && seen[*next] {
				err = invalidResponse(method, fmt.Errorf("the cursor %.60q was sent twice", *next))
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			seen[*next] = true
			cursor = next
		}
	}
}

func (c *Client) page(ctx context.Context, method, member string, cursor *string) ([]json.RawMessage, *string, error) {
	raw, err := c.request(ctx, &call{method: method, params: func(dst []byte) ([]byte, error) {
		if cursor != nil {
			dst = append(jsonx.AppendString(append(dst, `"cursor":`...), *cursor), ',')
		}
		return dst, nil
	}})
	if err != nil {
		return nil, nil, err
	}
	var members map[string]json.RawMessage
	if err := jsonx.Unmarshal(raw, &members); err != nil {
		return nil, nil, invalidResponse(method, err)
	}
	var page struct {
		Items []json.RawMessage
		Next  *string
	}
	err = decodeMember(members[member], &page.Items)
	if err == nil {
		err = decodeMember(members["nextCursor"], &page.Next)
	}
	if err != nil {
		return nil, nil, invalidResponse(method, err)
	}
	kept := page.Items[:0]
	for _, item := range page.Items {
		if string(item) != "null" {
			kept = append(kept, item)
		}
	}
	return kept, page.Next, nil
}

// decodeMember decodes a member that may be absent.
func decodeMember(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	return jsonx.Unmarshal(raw, v)
}

// CallTool calls a tool. args is encoded as JSON, nil sends none. A tool that
// fails is a result with IsError, not an error: it is what the model should
// see. An *Error is the server's refusal of the request.
func (c *Client) CallTool(ctx context.Context, name string, args any, opts ...CallOption) (*Result, error) {
	raw, err := c.request(ctx, c.toolCall(name, args, opts))
	if err != nil {
		return nil, err
	}
	return toolResult(raw)
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
	r.params = func(dst []byte) ([]byte, error) {
		dst = append(jsonx.AppendString(append(dst, `"name":`...), name), ',')
		if args == nil {
			return dst, nil
		}
		start := len(dst) + len(`"arguments":`)
		dst, err := jsonx.Append(append(dst, `"arguments":`...), args)
		if err != nil {
			return dst, fmt.Errorf("mcp: arguments for tool %q: %w", name, err)
		}
		r.arguments = dst[start:]
		return append(dst, ','), nil
	}
	if bindings := c.bindings(name); bindings != nil {
		r.headers = func() (http.Header, error) { return mirror(name, bindings, r.arguments) }
	}
	return r
}

// Call calls a tool and decodes its structured content, or the JSON of its
// text when there is none, into R. For a string R it returns the text itself.
// A failed tool is a *ToolError.
func Call[R any](ctx context.Context, c *Client, tool string, args any, opts ...CallOption) (R, error) {
	var value R
	raw, err := c.request(ctx, c.toolCall(tool, args, opts))
	if err != nil {
		return value, err
	}
	var result struct { // what is for the model stays as it is
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := jsonx.Unmarshal(raw, &result); err != nil {
		return value, invalidResponse(jsonrpc.MethodToolsCall, err)
	}
	if result.IsError || result.Structured == nil {
		return fromText[R](tool, raw)
	}
	return decodeValue[R](tool, result.Structured)
}

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
