package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strings"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// Content is one block of a result or a message: *TextContent, *ImageContent,
// *AudioContent, *ResourceLink or *EmbeddedResource (MCP 2026-07-28, Tools ›
// Tool Result). Blocks must not be changed once returned.
type Content interface {
	// appendJSON appends the block as rev has it.
	appendJSON(dst []byte, rev *wire.Revision) ([]byte, error)
}

// TextContent is a block of text.
type TextContent struct {
	Text        string
	Annotations *Annotations // nil: none
	Meta        Meta         // nil: none
}

// ImageContent is an image. Data holds its bytes, sent as base64.
type ImageContent struct {
	Data        []byte
	MIMEType    string
	Annotations *Annotations // nil: none
	Meta        Meta         // nil: none

	encoded string // instead of Data
}

// AudioContent is a sound. Data holds its bytes, sent as base64.
type AudioContent struct {
	Data        []byte
	MIMEType    string
	Annotations *Annotations // nil: none
	Meta        Meta         // nil: none
}

// ResourceLink points to a resource that the client may read; it need not be
// listed. Size is in bytes, nil when unknown.
type ResourceLink struct {
	URI         string
	Name        string
	Title       string
	Description string
	MIMEType    string
	Size        *int64
	Icons       []Icon
	Annotations *Annotations // nil: none
	Meta        Meta         // nil: none
}

// EmbeddedResource is the contents of a resource inside a result.
type EmbeddedResource struct {
	Resource    ResourceContents
	Annotations *Annotations // nil: none
	Meta        Meta         // nil: none
}

// ResourceContents is what a resource holds: text, or bytes when Blob is not
// nil. MIMEType "" is unsaid.
type ResourceContents struct {
	URI      string
	MIMEType string
	Text     string
	Blob     []byte
	Meta     Meta
}

// Text returns a block of text.
func Text(s string) *TextContent { return &TextContent{Text: s} }

// Image returns an image of the given bytes; mimeType is such as "image/png".
func Image(data []byte, mimeType string) *ImageContent {
	return &ImageContent{Data: data, MIMEType: mimeType}
}

// ImageBase64 returns an image whose bytes are already standard, padded
// base64. It is checked when the result is encoded: anything else fails the
// call.
func ImageBase64(data, mimeType string) *ImageContent {
	return &ImageContent{encoded: data, MIMEType: mimeType}
}

// Audio returns a sound of the given bytes; mimeType is such as "audio/wav".
func Audio(data []byte, mimeType string) *AudioContent {
	return &AudioContent{Data: data, MIMEType: mimeType}
}

// Link returns a link to the resource with the given URI.
func Link(uri, name string) *ResourceLink { return &ResourceLink{URI: uri, Name: name} }

// Embed returns a block that holds the contents of a resource.
func Embed(c ResourceContents) *EmbeddedResource { return &EmbeddedResource{Resource: c} }

func (c *TextContent) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	dst = append(dst, `{"type":"text","text":`...)
	dst = jsonx.AppendString(dst, c.Text)
	return appendTail(dst, c.Annotations, c.Meta, rev)
}

func (c *ImageContent) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	data := c.Data
	if c.encoded != "" {
		var err error
		if data, err = base64.StdEncoding.Strict().DecodeString(c.encoded); err != nil {
			return dst, fmt.Errorf("image content: the data is not standard base64: %w", err)
		}
	}
	return appendMedia(dst, "image", data, c.MIMEType, c.Annotations, c.Meta, rev)
}

func (c *AudioContent) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	if !rev.Hints { // 2024-11-05 has no audio
		return noAudio(c.MIMEType).appendJSON(dst, rev)
	}
	return appendMedia(dst, "audio", c.Data, c.MIMEType, c.Annotations, c.Meta, rev)
}

func appendMedia(dst []byte, kind string, data []byte, mimeType string, a *Annotations, m Meta, rev *wire.Revision) ([]byte, error) {
	if mimeType == "" {
		return dst, fmt.Errorf("%s content: the MIME type is missing", kind)
	}
	if err := checkMediaType(mimeType); err != nil {
		return dst, fmt.Errorf("%s content: %w", kind, err)
	}
	dst = append(append(append(dst, `{"type":"`...), kind...), `","data":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	dst = jsonx.AppendString(append(dst, `","mimeType":`...), mimeType)
	return appendTail(dst, a, m, rev)
}

// checkMediaType holds a MIME type to its grammar (RFC 9110, 8.3.1).
func checkMediaType(mimeType string) error {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err == nil && !strings.Contains(kind, "/") {
		err = errors.New("there is no slash in it")
	}
	if err != nil {
		return fmt.Errorf("the MIME type %.80q is not valid: %w", mimeType, err)
	}
	return nil
}

func (c *ResourceLink) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	if c.URI == "" || c.Name == "" {
		return dst, errors.New("resource link: URI and name are needed")
	}
	if !rev.Titles { // resource_link came with 2025-06-18
		return Text(c.URI).appendJSON(dst, rev)
	}
	link := struct {
		Type        string `json:"type"`
		URI         string `json:"uri"`
		Name        string `json:"name"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
		MIMEType    string `json:"mimeType,omitempty"`
		Size        *int64 `json:"size,omitempty"`
		Icons       []Icon `json:"icons,omitempty"`
	}{"resource_link", c.URI, c.Name, c.Title, c.Description, c.MIMEType, c.Size, c.Icons}
	if !rev.Icons {
		link.Icons = nil
	}
	dst, err := jsonx.Append(dst, &link)
	if err != nil {
		return dst, err
	}
	return appendTail(dst[:len(dst)-1], c.Annotations, c.Meta, rev)
}

func (c *EmbeddedResource) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	if c.Resource.URI == "" {
		return dst, errors.New("embedded resource: the URI is missing")
	}
	dst = append(dst, `{"type":"resource","resource":`...)
	dst, err := c.Resource.appendJSON(dst, rev)
	if err != nil {
		return dst, err
	}
	return appendTail(dst, c.Annotations, c.Meta, rev)
}

func (c *ResourceContents) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	dst = jsonx.AppendString(append(dst, `{"uri":`...), c.URI)
	if c.MIMEType != "" {
		dst = jsonx.AppendString(append(dst, `,"mimeType":`...), c.MIMEType)
	}
	switch {
	case c.Blob != nil && c.Text != "":
		return dst, errors.New("the contents of a resource are text or a blob, not both")
	case c.Blob != nil:
		dst = append(dst, `,"blob":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, c.Blob), '"')
	default:
		dst = jsonx.AppendString(append(dst, `,"text":`...), c.Text)
	}
	return appendTail(dst, nil, c.Meta, rev)
}

// appendTail ends a block's object with its annotations and _meta.
func appendTail(dst []byte, a *Annotations, m Meta, rev *wire.Revision) ([]byte, error) {
	var err error
	if a != nil {
		if dst, err = a.appendJSON(append(dst, `,"annotations":`...), rev); err != nil {
			return dst, err
		}
	}
	if len(m) > 0 && rev.Titles { // blocks have _meta since 2025-06-18
		own := m // encoded by its address, which other blocks need not pay for
		if dst, err = jsonx.Append(append(dst, `,"_meta":`...), &own); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (a *Annotations) check() error {
	for _, who := range a.Audience {
		if who != "user" && who != "assistant" {
			return fmt.Errorf(`annotations: audience %q is neither "user" nor "assistant"`, who)
		}
	}
	if p := a.Priority; p != nil && !(*p >= 0 && *p <= 1) {
		return fmt.Errorf("annotations: priority %v is not between 0 and 1", *p)
	}
	return nil
}

func (a *Annotations) appendJSON(dst []byte, rev *wire.Revision) ([]byte, error) {
	if err := a.check(); err != nil {
		return dst, err
	}
	out := a.in(rev)
	return jsonx.Append(dst, &out)
}

// in returns a as rev has it.
func (a *Annotations) in(rev *wire.Revision) Annotations {
	out := *a
	if !rev.Titles {
		out.LastModified = time.Time{}
	}
	return out
}

// UnmarshalJSON implements json.Unmarshaler. What cannot be read is left out:
// a hint is not worth the content it is about.
func (a *Annotations) UnmarshalJSON(data []byte) error {
	var w struct {
		Audience     json.RawMessage `json:"audience"`
		Priority     json.RawMessage `json:"priority"`
		LastModified json.RawMessage `json:"lastModified"`
	}
	*a = Annotations{}
	if jsonx.Unmarshal(data, &w) != nil {
		return nil
	}
	if jsonx.Unmarshal(w.Audience, &a.Audience) != nil {
		a.Audience = nil
	}
	if jsonx.Unmarshal(w.Priority, &a.Priority) != nil {
		a.Priority = nil
	}
	moment, _ := unquoted(w.LastModified)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly} { // ISO 8601 has many
		if t, err := time.Parse(layout, moment); err == nil {
			a.LastModified = t
			break
		}
	}
	return nil
}

// decodeContent reads one block. Unknown types are kept out: they are an
// error that names the type.
func decodeContent(data []byte) (Content, error) {
	var w wireContent
	if err := jsonx.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("content of type %q: %w", w.Type, err)
	}
	switch w.Type {
	case "text":
		return &TextContent{Text: w.Text, Annotations: w.Annotations, Meta: w.Meta}, nil
	case "image":
		return &ImageContent{Data: w.Data, MIMEType: w.MIMEType, Annotations: w.Annotations, Meta: w.Meta}, nil
	case "audio":
		return &AudioContent{Data: w.Data, MIMEType: w.MIMEType, Annotations: w.Annotations, Meta: w.Meta}, nil
	case "resource_link":
		return &ResourceLink{URI: w.URI, Name: w.Name, Title: w.Title, Description: w.Description, MIMEType: w.MIMEType,
			Size: w.Size, Icons: loadable(w.Icons), Annotations: w.Annotations, Meta: w.Meta}, nil
	case "resource":
		if w.Resource == nil {
			return nil, errors.New(`content of type "resource" has no resource`)
		}
		return &EmbeddedResource{Resource: ResourceContents(*w.Resource), Annotations: w.Annotations, Meta: w.Meta}, nil
	}
	return nil, fmt.Errorf("content of unknown type %q", w.Type)
}

// wireContent has the members of all kinds of block.
type wireContent struct {
	Type        string        `json:"type"`
	Text        string        `json:"text"`
	Data        []byte        `json:"data"`
	MIMEType    string        `json:"mimeType"`
	URI         string        `json:"uri"`
	Name        string        `json:"name"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Size        *int64        `json:"size"`
	Icons       []Icon        `json:"icons"`
	Resource    *wireContents `json:"resource"`
	Annotations *Annotations  `json:"annotations"`
	Meta        Meta          `json:"_meta"`
}

type wireContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Blob     []byte `json:"blob"`
	Meta     Meta   `json:"_meta"`
}
