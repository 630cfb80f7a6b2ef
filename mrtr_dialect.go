package mcp

import (
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// fits reports whether an earlier revision can put the question.
func (q *ready) fits(rev *wire.Revision) bool {
	if q.Kind != kindForm || q.form == nil {
		return true
	}
	_, ok := q.form.in(rev)
	return ok
}

// in returns the form's schema as an earlier revision has it; false when that
// has no such forms. In 2025-06-18 the titles of options are a list of their
// own, only booleans have defaults, and several options cannot be chosen (MCP
// 2025-06-18, Elicitation › Requested Schema).
func (f *form) in(rev *wire.Revision) (text []byte, ok bool) {
	if rev.FullAsks {
		return f.json, true
	}
	fields, problem := readForm(f.json)
	if problem != nil {
		return nil, false
	}
	for i := range fields.list {
		if fields.list[i].many {
			return nil, false
		}
	}
	return fields.write(nil, appendPlainField), true
}

// appendPlainField appends the members of f as 2025-06-18 has them.
func appendPlainField(dst []byte, f *formField) []byte {
	for _, m := range f.members {
		switch {
		case m.name == "oneOf":
			dst = f.appendPlainOptions(dst)
		case m.name == "default" && f.kind != "boolean":
		default:
			dst = append(appendName(dst, m.name), m.value...)
		}
	}
	return dst
}

func (f *formField) appendPlainOptions(dst []byte) []byte {
	values, names := make([]string, len(f.options)), make([]string, len(f.options))
	for i, o := range f.options {
		values[i], names[i] = o.Const, o.Title
	}
	dst, _ = jsonx.Append(appendName(dst, "enum"), &values) // plain strings cannot fail
	dst, _ = jsonx.Append(appendName(dst, "enumNames"), &names)
	return dst
}

// sampleParams are the params of sampling as rev has them: before 2025-11-25 a
// message is one block of text, an image or, not in 2024-11-05, a sound.
func (q *ready) sampleParams(rev *wire.Revision) []byte {
	if rev.FullAsks {
		return q.params
	}
	plain := *q.Sample
	plain.Messages = nil
	for _, m := range q.Sample.Messages {
		for _, c := range blocksOf(m.Content) {
			plain.Messages = append(plain.Messages, Message{Role: m.Role, Content: plainBlock(c, rev)})
		}
	}
	params, err := plain.appendParams(nil)
	if err != nil {
		return q.params
	}
	return params
}

// noAudio stands for a sound where a revision has none.
func noAudio(mimeType string) *TextContent {
	return Text("[audio of type " + mimeType + "; this client's protocol revision has no audio content]")
}

// plainBlock is a block of sampling without what rev does not know.
func plainBlock(c Content, rev *wire.Revision) Content {
	if audio, ok := c.(*AudioContent); ok && !rev.Hints {
		return noAudio(audio.MIMEType)
	}
	if rev.Titles {
		return c
	}
	switch c := c.(type) { // blocks have no _meta before 2025-06-18
	case *TextContent:
		plain := *c
		plain.Meta = nil
		return &plain
	case *ImageContent:
		plain := *c
		plain.Meta = nil
		return &plain
	case *AudioContent:
		plain := *c
		plain.Meta = nil
		return &plain
	}
	return c
}
