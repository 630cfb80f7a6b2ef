package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"

	"github.com/typedmcp/mcp"
)

// addContent adds a tool for every kind of content.
func addContent(s *mcp.Server) {
	mcp.AddTool(s, "test_simple_text", "Returns one block of text", simpleText)
	mcp.AddTool(s, "test_image_content", "Returns an image", imageContent)
	mcp.AddTool(s, "test_audio_content", "Returns a sound", audioContent)
	mcp.AddTool(s, "test_embedded_resource", "Returns the contents of a resource", embeddedResource)
	mcp.AddTool(s, "test_multiple_content_types", "Returns text, an image and the contents of a resource", multipleContentTypes)
}

func simpleText(context.Context, none) (string, error) {
	return "A simple text.", nil
}

func imageContent(context.Context, none) (*mcp.ImageContent, error) {
	data, err := redPixel()
	return mcp.Image(data, "image/png"), err
}

func audioContent(context.Context, none) (*mcp.AudioContent, error) {
	data, err := silence()
	return mcp.Audio(data, "audio/wav"), err
}

func embeddedResource(context.Context, none) (*mcp.EmbeddedResource, error) {
	return mcp.Embed(mcp.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "An embedded text."}), nil
}

func multipleContentTypes(context.Context, none) ([]mcp.Content, error) {
	pixel, err := redPixel()
	if err != nil {
		return nil, err
	}
	return []mcp.Content{
		mcp.Text("A text, an image and a resource:"),
		mcp.Image(pixel, "image/png"),
		mcp.Embed(mcp.ResourceContents{URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"mixed":true}`}),
	}, nil
}

// redPixel returns a PNG image of one red pixel.
func redPixel() ([]byte, error) {
	pixel := image.NewRGBA(image.Rect(0, 0, 1, 1))
	pixel.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	err := png.Encode(&b, pixel)
	return b.Bytes(), err
}

// silence returns a WAV file of ten milliseconds of silence: 8 bit, mono, at
// 8 kHz.
func silence() ([]byte, error) {
	const rate, samples, zero = 8000, 80, 0x80
	format := struct {
		Encoding, Channels uint16
		Rate, ByteRate     uint32
		Align, Bits        uint16
	}{Encoding: 1, Channels: 1, Rate: rate, ByteRate: rate, Align: 1, Bits: 8}
	var b bytes.Buffer
	for _, part := range []any{
		[]byte("RIFF"), uint32(4 + 8 + binary.Size(format) + 8 + samples), []byte("WAVE"),
		[]byte("fmt "), uint32(binary.Size(format)), format,
		[]byte("data"), uint32(samples), bytes.Repeat([]byte{zero}, samples),
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
