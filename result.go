package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
	"github.com/typedmcp/mcp/internal/wire"
)

// Result is the result of a tool call (MCP 2026-07-28, Tools › Tool Result).
// A handler that returns a *Result has it sent as it is.
type Result struct {
	// Content is what the model reads. With nil Content and a Structured
	// value the JSON of that value is sent as one text block; otherwise nil
	// is the empty list.
	Content []Content
	// Structured is the value for programs, sent as structuredContent; nil
	// leaves it out (a json.RawMessage of null sends null). For a tool whose
	// handler returns a plain value, middleware finds a pointer to that value
	// here. On the client it is a json.RawMessage.
	Structured any
	// IsError says that the tool failed and that Content says why.
	IsError bool
	// Meta is the result's _meta, nil for none.
	Meta Meta
}

// Structured is a handler's result of a typed value together with content
// blocks of its own; with nil Content the JSON of Value is the content.
type Structured[T any] struct {
	Value   T
	Content []Content
	Meta    Meta
}

func (s *Structured[T]) result() *Result {
	return &Result{Content: s.Content, Structured: &s.Value, Meta: s.Meta}
}

func (s *Structured[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

// structured is how the non-generic core sees a *Structured[T].
type structured interface {
	result() *Result
	valueType() reflect.Type
}

// resultShape says how values of a handler's result type become a *Result.
type resultShape uint8

const (
	shapeValue      resultShape = iota // structured content and its JSON as text
	shapeText                          // a string: one text block
	shapeEmpty                         // struct{}: no content
	shapeBlock                         // a Content, or one of its kinds
	shapeBlocks                        // a slice of those
	shapeResult                        // *Result: as it is
	shapeStructured                    // Structured[T]
	shapeJSON                          // any, json.RawMessage, interfaces: JSON as text alone
)

// content reports whether results of the shape are blocks and never a value.
func (s resultShape) content() bool {
	return s == shapeText || s == shapeEmpty || s == shapeBlock || s == shapeBlocks
}

var structuredType = reflect.TypeFor[structured]()

// blockTypes are the types of a single block. Values count too: a struct of
// this package is never meant as data with a schema.
var blockTypes = func() map[reflect.Type]bool {
	types := map[reflect.Type]bool{reflect.TypeFor[Content](): true}
	for _, c := range []Content{&TextContent{}, &ImageContent{}, &AudioContent{}, &ResourceLink{}, &EmbeddedResource{}} {
		t := reflect.TypeOf(c)
		types[t], types[t.Elem()] = true, true
	}
	return types
}()

// shapeOf classifies a handler's result type. The second result is the type
// whose schema is the tool's output schema, nil for none.
func shapeOf(t reflect.Type) (resultShape, reflect.Type) {
	switch {
	case t == reflect.TypeFor[string]():
		return shapeText, nil
	case t == reflect.TypeFor[struct{}]():
		return shapeEmpty, nil
	case t == reflect.TypeFor[*Result](), t == reflect.TypeFor[Result]():
		return shapeResult, nil
	case blockTypes[t]:
		return shapeBlock, nil
	case t.Kind() == reflect.Slice && blockTypes[t.Elem()]:
		return shapeBlocks, nil
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return shapeJSON, nil
	case reflect.PointerTo(t).Implements(structuredType):
		return shapeStructured, reflect.New(t).Interface().(structured).valueType()
	case t.Kind() == reflect.Pointer && t.Implements(structuredType):
		return shapeStructured, reflect.New(t.Elem()).Interface().(structured).valueType()
	}
	return shapeValue, t
}

var errNilResult = errors.New("the handler returned nil instead of a result")

// resultOf turns a handler's value, given by its address, into a *Result.
// Encoding comes later, once, into the response.
func resultOf(shape resultShape, v any) (*Result, error) {
	switch shape {
	case shapeText:
		return &Result{Content: []Content{Text(*v.(*string))}}, nil
	case shapeEmpty:
		return &Result{}, nil
	case shapeResult:
		if r, ok := v.(*Result); ok {
			return r, nil
		}
		if r := *v.(**Result); r != nil {
			return r, nil
		}
		return nil, errNilResult
	case shapeBlocks:
		return &Result{Content: blocksAt(v)}, nil
	case shapeBlock:
		return &Result{Content: []Content{blockAt(v)}}, nil
	case shapeStructured:
		s, ok := v.(structured)
		if !ok { // R itself is a pointer
			if p := reflect.ValueOf(v).Elem(); !p.IsNil() {
				s = p.Interface().(structured)
			}
		}
		if s == nil {
			return nil, errNilResult
		}
		return s.result(), nil
	case shapeJSON:
		text, err := jsonx.Marshal(v)
		if err != nil {
			return nil, err
		}
		if isNil(v, text) {
			return nil, errNilResult
		}
		return &Result{Content: []Content{Text(string(text))}}, nil
	}
	return &Result{Structured: v}, nil
}

// blockAt returns the block at an address: of a Content, of one of its kinds,
// or of a pointer to one.
func blockAt(v any) Content {
	switch v := v.(type) {
	case *Content:
		return *v
	case Content:
		return v
	}
	c, _ := reflect.ValueOf(v).Elem().Interface().(Content)
	return c
}

// blocksAt returns the blocks of the slice at an address.
func blocksAt(v any) []Content {
	if blocks, ok := v.(*[]Content); ok {
		return *blocks
	}
	list := reflect.ValueOf(v).Elem()
	blocks := make([]Content, list.Len())
	for i := range blocks {
		blocks[i] = blockAt(list.Index(i).Addr().Interface())
	}
	return blocks
}

// appendMembers appends the members of r as rev has them, without braces and
// _meta: the caller stamps results. The structured value is encoded once; its
// text block is made from the same bytes. check, unless nil, is the schema
// that the value must conform to.
func (r *Result) appendMembers(dst []byte, rev *wire.Revision, check *schema.Plan) ([]byte, error) {
	if check != nil && r.Structured == nil {
		return dst, errors.New("the result has no structured content, which the output schema promises")
	}
	var text []byte
	if r.Structured != nil {
		start := len(dst)
		dst = append(dst, `"structuredContent":`...)
		value := len(dst)
		var err error
		if dst, err = jsonx.Append(dst, r.Structured); err != nil {
			return dst, err
		}
		text = dst[value:]
		if isNil(r.Structured, text) {
			return dst, errNilResult
		}
		if check != nil {
			if v := check.Validate(text); v != nil {
				return dst, nonconforming(v)
			}
		}
		if rev.Structured && (rev.AnyStructured || text[0] == '{') {
			dst = append(dst, ',')
		} else { // this revision cannot have it: the text block alone
			text = bytes.Clone(text)
			dst = dst[:start]
		}
	}
	dst, err := r.appendContent(append(dst, `"content":[`...), text, rev)
	if err != nil {
		return dst, err
	}
	dst = append(dst, ']')
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	return dst, nil
}

// nonconforming says where a result breaks its schema. It is for the log, so
// it leaves out the values, which the messages for a model show.
func nonconforming(violations []schema.Violation) error {
	var b strings.Builder
	b.WriteString("the result does not conform to the output schema:")
	for i, v := range violations {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s at %q", v.Rule, v.Path)
	}
	return errors.New(b.String())
}

// isNil tells a nil that a handler returned by mistake from a null that was
// meant: by a json.RawMessage or a type's own method.
func isNil(v any, encoded []byte) bool {
	if string(encoded) != "null" {
		return false
	}
	at := reflect.ValueOf(v)
	for at.Kind() == reflect.Pointer || at.Kind() == reflect.Interface {
		if at.IsNil() {
			return true
		}
		at = at.Elem()
	}
	return at.Kind() == reflect.Slice && at.IsNil()
}

func (r *Result) appendContent(dst, text []byte, rev *wire.Revision) ([]byte, error) {
	if r.Content == nil && text != nil {
		dst = append(dst, `{"type":"text","text":`...)
		return append(jsonx.AppendQuoted(dst, text), '}'), nil
	}
	for i, c := range r.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if noBlock(c) {
			return dst, fmt.Errorf("content block %d is nil", i)
		}
		var err error
		if dst, err = c.appendJSON(dst, rev); err != nil {
			return dst, fmt.Errorf("content block %d: %w", i, err)
		}
	}
	return dst, nil
}

// noBlock reports a nil block of any kind.
func noBlock(c Content) bool {
	switch c := c.(type) {
	case *TextContent:
		return c == nil
	case *ImageContent:
		return c == nil
	case *AudioContent:
		return c == nil
	case *ResourceLink:
		return c == nil
	case *EmbeddedResource:
		return c == nil
	}
	return c == nil
}

// decodeResult reads a tool result as a server sent it.
func decodeResult(data []byte) (*Result, error) {
	var w struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
		Meta       Meta              `json:"_meta"`
	}
	if err := jsonx.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := &Result{IsError: w.IsError, Meta: w.Meta, Content: make([]Content, 0, len(w.Content))}
	if w.Structured != nil {
		r.Structured = w.Structured
	}
	for _, raw := range w.Content {
		c, err := decodeContent(raw)
		if err != nil {
			return nil, err
		}
		r.Content = append(r.Content, c)
	}
	return r, nil
}
