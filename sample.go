package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// SampleRequest asks the client's model to go on with a conversation (MCP
// 2026-07-28, Sampling). Messages and MaxTokens are needed; nil and empty
// values of the others leave the choice to the client.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28. Call a model provider instead.
type SampleRequest struct {
	// Messages are the conversation. Those with tool uses or results have
	// Blocks of them; each use is answered in the very next message.
	Messages []Message
	// MaxTokens is the most that the model may write.
	MaxTokens int
	// SystemPrompt, Temperature and StopSequences are as model providers have
	// them. The client may overrule the first two.
	SystemPrompt  string
	Temperature   *float64
	StopSequences []string
	// Tools are what the model may ask to have called, ToolChoice whether it
	// may ("auto"), must ("required") or must not ("none"). They need a client
	// that declares sampling.tools.
	Tools      []ToolDef
	ToolChoice string
	// ModelPreferences help the client to choose a model.
	ModelPreferences *ModelPreferences
	// IncludeContext is "none", or "thisServer" or "allServers" to have the
	// client add what it knows from servers; those two, which SEP-2596
	// deprecates on their own account, need a client that declares
	// sampling.context.
	IncludeContext string
	// Metadata is a JSON object for the model's provider.
	Metadata json.RawMessage
}

// ModelPreferences say what matters in the choice of a model. Priorities are
// between 0 and 1. Hints are parts of model names, the best first.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28.
type ModelPreferences struct {
	Hints                                             []string
	CostPriority, SpeedPriority, IntelligencePriority *float64
}

// SampleResult is what the client's model wrote. Role "" is "assistant".
// Content may be Blocks; StopReason is open-ended and may be empty.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28.
type SampleResult struct {
	Role       string
	Content    Content
	Model      string
	StopReason string
	Meta       Meta // nil: none
}

// Text joins the text blocks of the result, each on lines of its own.
func (r *SampleResult) Text() string {
	var texts []string
	for _, c := range blocksOf(r.Content) {
		if t, ok := c.(*TextContent); ok && t != nil {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolUseContent is a model's wish to have a tool called, in messages of sampling
// alone. Input is a JSON object.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28.
type ToolUseContent struct {
	ID, Name string
	Input    json.RawMessage
	Meta     Meta // nil: none
}

// ToolResultContent is the result of a ToolUseContent, in messages of sampling alone.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28.
type ToolResultContent struct {
	ToolUseID  string
	Content    []Content
	Structured json.RawMessage // nil: none
	IsError    bool
	Meta       Meta // nil: none
}

// Blocks are several blocks of content in one message of sampling; nowhere
// else does content consist of more than one block.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28.
type Blocks []Content

func blocksOf(c Content) []Content {
	if b, ok := c.(Blocks); ok {
		return b
	}
	return []Content{c}
}

var errSamplingOnly = errors.New("this kind of content belongs into messages of sampling alone")

func (c *ToolUseContent) appendJSON(dst []byte, _ *wire.Revision) ([]byte, error) {
	return dst, errSamplingOnly
}
func (c *ToolResultContent) appendJSON(dst []byte, _ *wire.Revision) ([]byte, error) {
	return dst, errSamplingOnly
}
func (c Blocks) appendJSON(dst []byte, _ *wire.Revision) ([]byte, error) { return dst, errSamplingOnly }

// wireSample has the members of the params of sampling/createMessage.
type wireSample struct {
	Messages       []json.RawMessage `json:"messages"`
	MaxTokens      *int              `json:"maxTokens"`
	SystemPrompt   string            `json:"systemPrompt,omitempty"`
	Temperature    *float64          `json:"temperature,omitempty"`
	StopSequences  []string          `json:"stopSequences,omitempty"`
	Tools          []ToolDef         `json:"tools,omitempty"`
	ToolChoice     *wireToolChoice   `json:"toolChoice,omitempty"`
	Preferences    *wirePreferences  `json:"modelPreferences,omitempty"`
	IncludeContext string            `json:"includeContext,omitempty"`
	Metadata       json.RawMessage   `json:"metadata,omitempty"`
}

type wireToolChoice struct {
	Mode string `json:"mode,omitempty"`
}

type wirePreferences struct {
	Hints        []wireHint `json:"hints,omitempty"`
	Cost         *float64   `json:"costPriority,omitempty"`
	Speed        *float64   `json:"speedPriority,omitempty"`
	Intelligence *float64   `json:"intelligencePriority,omitempty"`
}

type wireHint struct {
	Name string `json:"name,omitempty"`
}

// appendParams checks r and appends the params of its request.
func (r *SampleRequest) appendParams(dst []byte) ([]byte, error) {
	if err := r.check(); err != nil {
		return dst, err
	}
	w := wireSample{
		MaxTokens: &r.MaxTokens, SystemPrompt: r.SystemPrompt, Temperature: r.Temperature, StopSequences: r.StopSequences,
		Tools: r.Tools, IncludeContext: r.IncludeContext, Metadata: r.Metadata,
	}
	if r.ToolChoice != "" {
		w.ToolChoice = &wireToolChoice{r.ToolChoice}
	}
	if p := r.ModelPreferences; p != nil {
		w.Preferences = &wirePreferences{Cost: p.CostPriority, Speed: p.SpeedPriority, Intelligence: p.IntelligencePriority}
		for _, h := range p.Hints {
			w.Preferences.Hints = append(w.Preferences.Hints, wireHint{h})
		}
	}
	for i, m := range r.Messages {
		raw, err := appendTurn([]byte(nil), m.Role, m.Content)
		if err != nil {
			return dst, fmt.Errorf("message %d: %w", i, err)
		}
		w.Messages = append(w.Messages, append(raw, '}'))
	}
	return jsonx.Append(dst, &w)
}

// check holds r to what the protocol demands (MCP 2026-07-28, Sampling ›
// Sampling Parameters, › Tool Choice).
func (r *SampleRequest) check() error {
	switch {
	case len(r.Messages) == 0:
		return errors.New("the sampling request has no messages")
	case r.MaxTokens <= 0:
		return fmt.Errorf("the sampling request needs a maximum of tokens above 0, not %d", r.MaxTokens)
	case !slices.Contains([]string{"", "auto", "required", "none"}, r.ToolChoice):
		return fmt.Errorf(`the tool choice %s is none of "auto", "required" and "none"`, strconv.Quote(r.ToolChoice))
	case !slices.Contains([]string{"", "none", "thisServer", "allServers"}, r.IncludeContext):
		return fmt.Errorf(`the context to include, %s, is none of "none", "thisServer" and "allServers"`, strconv.Quote(r.IncludeContext))
	case r.Metadata != nil && (!jsonx.Valid(r.Metadata) || firstByte(r.Metadata) != '{'):
		return errors.New("the metadata of the sampling request is not a JSON object")
	}
	for _, t := range r.Tools {
		if t.Name == "" || firstByte(t.InputSchema) != '{' {
			return fmt.Errorf("the tool %s of the sampling request needs a name and an input schema", strconv.Quote(t.Name))
		}
	}
	if p := r.ModelPreferences; p != nil {
		for _, v := range []*float64{p.CostPriority, p.SpeedPriority, p.IntelligencePriority} {
			if v != nil && !(*v >= 0 && *v <= 1) {
				return fmt.Errorf("the model priority %v is not between 0 and 1", *v)
			}
		}
	}
	return checkTurns(r.Messages)
}

// firstByte is the first byte of JSON text that is not white space, 0 if there
// is none.
func firstByte(data []byte) byte {
	for _, c := range data {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// checkTurns holds a conversation to the rules for tools: a use is the
// model's, and the very next message, the user's, holds one result for each
// use and nothing else (MCP 2026-07-28, Sampling › Tool Result Messages).
func checkTurns(messages []Message) error {
	var open map[string]bool // uses without a result; nil: the message before had none
	for i, m := range messages {
		blocks := blocksOf(m.Content)
		uses, results := make(map[string]bool), 0
		for _, c := range blocks {
			switch c := c.(type) {
			case *ToolUseContent:
				if m.Role != "assistant" || c == nil || c.ID == "" || c.Name == "" || uses[c.ID] {
					return fmt.Errorf("message %d: a tool use is the assistant's and has a name and an id of its own", i)
				}
				uses[c.ID] = true
			case *ToolResultContent:
				if m.Role != "user" || c == nil || !open[c.ToolUseID] {
					return fmt.Errorf("message %d: a tool result is the user's and answers a tool use of the message before, once", i)
				}
				delete(open, c.ToolUseID)
				results++
			}
		}
		switch {
		case len(open) > 0:
			return fmt.Errorf("message %d: the message before has tool uses without a result here", i)
		case results > 0 && results < len(blocks):
			return fmt.Errorf("message %d: tool results stand alone in their message", i)
		}
		open = uses
	}
	if len(open) > 0 {
		return fmt.Errorf("message %d: its tool uses have no results", len(messages)-1)
	}
	return nil
}
