package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// appendTurn appends an object with role and content, but not its end.
func appendTurn(dst []byte, role string, content Content) ([]byte, error) {
	if role != "user" && role != "assistant" {
		return dst, fmt.Errorf(`the role %s is neither "user" nor "assistant"`, strconv.Quote(role))
	}
	dst = append(append(append(dst, `{"role":"`...), role...), `","content":`...)
	blocks, several := content.(Blocks)
	if !several {
		return appendSampleBlock(dst, content)
	}
	if len(blocks) == 0 {
		return dst, errors.New("the content is empty")
	}
	dst = append(dst, '[')
	for i, c := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendSampleBlock(dst, c); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendSampleBlock appends one block of a message of sampling.
func appendSampleBlock(dst []byte, c Content) ([]byte, error) {
	rev := wire.Revisions[0]
	switch c := c.(type) {
	case *TextContent, *ImageContent, *AudioContent:
		if noBlock(c) {
			return dst, errors.New("the content is nil")
		}
		return c.appendJSON(dst, rev)
	case *ToolUseContent:
		if firstByte(c.Input) != '{' {
			return dst, fmt.Errorf("the input of the tool use %s is not a JSON object", strconv.Quote(c.ID))
		}
		dst, err := jsonx.Append(dst, &wireToolUse{"tool_use", c.ID, c.Name, c.Input})
		if err != nil {
			return dst, err
		}
		return appendTail(dst[:len(dst)-1], nil, c.Meta, rev)
	case *ToolResultContent:
		return c.append(dst, rev)
	case nil:
		return dst, errors.New("the content is nil")
	}
	return dst, fmt.Errorf("messages of sampling have text, images, sounds, tool uses and tool results, and no links or embedded resources")
}

func (c *ToolResultContent) append(dst []byte, rev *wire.Revision) ([]byte, error) {
	dst = jsonx.AppendString(append(dst, `{"type":"tool_result","toolUseId":`...), c.ToolUseID)
	dst, err := (&Result{Content: c.Content}).appendContent(append(dst, `,"content":[`...), nil, rev)
	if err != nil {
		return dst, fmt.Errorf("the tool result %s: %w", strconv.Quote(c.ToolUseID), err)
	}
	dst = append(dst, ']')
	if c.Structured != nil {
		if !jsonx.Valid(c.Structured) {
			return dst, fmt.Errorf("the structured content of the tool result %s is not valid JSON", strconv.Quote(c.ToolUseID))
		}
		dst = append(append(dst, `,"structuredContent":`...), c.Structured...)
	}
	if c.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	return appendTail(dst, nil, c.Meta, rev)
}

type wireToolUse struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// decodeTurnContent reads the content of a message: a block or a list of them.
func decodeTurnContent(raw json.RawMessage) (Content, error) {
	if firstByte(raw) != '[' {
		return decodeSampleBlock(raw)
	}
	var list []json.RawMessage
	if err := jsonx.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	blocks := make(Blocks, len(list))
	for i, raw := range list {
		var err error
		if blocks[i], err = decodeSampleBlock(raw); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

func decodeSampleBlock(raw json.RawMessage) (Content, error) {
	var w struct {
		Type       string            `json:"type"`
		ID         string            `json:"id"`
		Name       string            `json:"name"`
		Input      json.RawMessage   `json:"input"`
		ToolUseID  string            `json:"toolUseId"`
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
		Meta       Meta              `json:"_meta"`
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := jsonx.Unmarshal(raw, &kind); err != nil {
		return nil, err
	}
	switch kind.Type {
	case "text", "image", "audio":
		return decodeContent(raw)
	case "tool_use", "tool_result":
	default:
		return nil, fmt.Errorf("messages have no content of type %s", strconv.Quote(kind.Type))
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if kind.Type == "tool_use" {
		if w.ID == "" || w.Name == "" || firstByte(w.Input) != '{' {
			return nil, errors.New("a tool use needs id, name and input")
		}
		return &ToolUseContent{ID: w.ID, Name: w.Name, Input: w.Input, Meta: w.Meta}, nil
	}
	if w.ToolUseID == "" || w.Content == nil {
		return nil, errors.New("a tool result needs toolUseId and content")
	}
	result := &ToolResultContent{ToolUseID: w.ToolUseID, Structured: w.Structured, IsError: w.IsError, Meta: w.Meta}
	for _, raw := range w.Content {
		c, err := decodeContent(raw)
		if err != nil {
			return nil, err
		}
		result.Content = append(result.Content, c)
	}
	return result, nil
}

// decodeSampleResult reads the result of sampling/createMessage.
func decodeSampleResult(raw json.RawMessage) (*SampleResult, error) {
	var w struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		Model      *string         `json:"model"`
		StopReason string          `json:"stopReason"`
		Meta       Meta            `json:"_meta"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Role != "user" && w.Role != "assistant" || w.Content == nil || w.Model == nil {
		return nil, errors.New("a sampling result needs role, content and model")
	}
	content, err := decodeTurnContent(w.Content)
	if err != nil {
		return nil, err
	}
	return &SampleResult{Role: w.Role, Content: content, Model: *w.Model, StopReason: w.StopReason, Meta: w.Meta}, nil
}

// appendJSON appends r as the result of sampling/createMessage.
func (r *SampleResult) appendJSON(dst []byte) ([]byte, error) {
	role := r.Role
	if role == "" {
		role = "assistant"
	}
	dst, err := appendTurn(dst, role, r.Content)
	if err != nil {
		return dst, fmt.Errorf("the sampling result: %w", err)
	}
	dst = jsonx.AppendString(append(dst, `,"model":`...), r.Model)
	if r.StopReason != "" {
		dst = jsonx.AppendString(append(dst, `,"stopReason":`...), r.StopReason)
	}
	return appendTail(dst, nil, r.Meta, wire.Revisions[0])
}

// decodeSampleRequest reads the params of sampling/createMessage.
func decodeSampleRequest(raw json.RawMessage) (*SampleRequest, error) {
	var w wireSample
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.MaxTokens == nil {
		return nil, errors.New("maxTokens is missing")
	}
	r := &SampleRequest{
		MaxTokens: *w.MaxTokens, SystemPrompt: w.SystemPrompt, Temperature: w.Temperature, StopSequences: w.StopSequences,
		Tools: w.Tools, IncludeContext: w.IncludeContext, Metadata: w.Metadata,
	}
	if w.ToolChoice != nil {
		r.ToolChoice = w.ToolChoice.Mode
	}
	if p := w.Preferences; p != nil {
		r.ModelPreferences = &ModelPreferences{CostPriority: p.Cost, SpeedPriority: p.Speed, IntelligencePriority: p.Intelligence}
		for _, h := range p.Hints {
			r.ModelPreferences.Hints = append(r.ModelPreferences.Hints, h.Name)
		}
	}
	for i, raw := range w.Messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		err := jsonx.Unmarshal(raw, &m)
		if err == nil && m.Role != "user" && m.Role != "assistant" {
			err = errors.New("it has no role")
		}
		var content Content
		if err == nil {
			content, err = decodeTurnContent(m.Content)
		}
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Content: content})
	}
	return r, r.check()
}
