package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/typedmcp/mcp"
)

var (
	blockMeta   = mcp.Meta{"com.example/k": json.RawMessage(`{"a":[1]}`)}
	annotations = &mcp.Annotations{
		Audience: []string{"user", "assistant"}, Priority: ptr(0.0),
		LastModified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
)

const (
	annotationsJSON = `"annotations":{"audience":["user","assistant"],"priority":0,"lastModified":"2026-01-02T03:04:05Z"}`
	blockMetaJSON   = `"_meta":{"com.example/k":{"a":[1]}}`
)

func TestContentBlocks(t *testing.T) {
	t.Parallel()
	icons := []mcp.Icon{{Src: "https://example.com/i.png", MIMEType: "image/png", Sizes: []string{"any"}, Theme: "dark"}}
	for _, tt := range []struct {
		name  string
		block mcp.Content
		want  string
	}{
		{"text", mcp.Text("a\nb\u2028<&>\"\U0001f600"), `{"type":"text","text":"a\nb\u2028<&>\"` + "\U0001f600" + `"}`},
		{"CNT-05 C53 empty text", mcp.Text(""), `{"type":"text","text":""}`},
		{"CNT-03 CNT-04 text with all there is", &mcp.TextContent{Text: "x", Annotations: annotations, Meta: blockMeta}, `{"type":"text","text":"x",` + annotationsJSON + `,` + blockMetaJSON + `}`},
		{"A30 image", mcp.Image([]byte{0, 1, 2, 255}, "image/png"), `{"type":"image","data":"AAEC/w==","mimeType":"image/png"}`},
		{"CNT-05 C53 empty image", mcp.Image(nil, "image/png"), `{"type":"image","data":"","mimeType":"image/png"}`},
		{"CNT-03 CNT-04 image with all there is", &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/webp", Annotations: annotations, Meta: blockMeta},
			`{"type":"image","data":"eA==","mimeType":"image/webp",` + annotationsJSON + `,` + blockMetaJSON + `}`},
		{"audio", mcp.Audio([]byte("x"), "audio/wav"), `{"type":"audio","data":"eA==","mimeType":"audio/wav"}`},
		{"CNT-05 C53 empty audio", mcp.Audio([]byte{}, "audio/wav"), `{"type":"audio","data":"","mimeType":"audio/wav"}`},
		{"CNT-03 CNT-04 audio with all there is", &mcp.AudioContent{Data: []byte("x"), MIMEType: "audio/wav", Annotations: annotations, Meta: blockMeta},
			`{"type":"audio","data":"eA==","mimeType":"audio/wav",` + annotationsJSON + `,` + blockMetaJSON + `}`},
		{"link", mcp.Link("file:///a%20b", "a b"), `{"type":"resource_link","uri":"file:///a%20b","name":"a b"}`},
		{"CNT-03 CNT-04 ICON-01 link with all there is", &mcp.ResourceLink{URI: "u:", Name: "n", Title: "T", Description: "D", MIMEType: "text/plain", Size: ptr(int64(0)),
			Icons: icons, Annotations: annotations, Meta: blockMeta},
			`{"type":"resource_link","uri":"u:","name":"n","title":"T","description":"D","mimeType":"text/plain","size":0,"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["any"],"theme":"dark"}],` + annotationsJSON + `,` + blockMetaJSON + `}`},
		{"M10 embedded text", mcp.Embed(mcp.ResourceContents{URI: "mem:///a.json", MIMEType: "application/json", Text: `{"a":1}`}),
			`{"type":"resource","resource":{"uri":"mem:///a.json","mimeType":"application/json","text":"{\"a\":1}"}}`},
		{"CNT-05 C53 M10 embedded empty text", mcp.Embed(mcp.ResourceContents{URI: "u:"}), `{"type":"resource","resource":{"uri":"u:","text":""}}`},
		{"M10 embedded bytes", mcp.Embed(mcp.ResourceContents{URI: "u:", Blob: []byte("x")}), `{"type":"resource","resource":{"uri":"u:","blob":"eA=="}}`},
		{"CNT-05 C53 M10 embedded empty bytes", mcp.Embed(mcp.ResourceContents{URI: "u:", Blob: []byte{}}), `{"type":"resource","resource":{"uri":"u:","blob":""}}`},
		{"CNT-03 CNT-04 M10 embedded with all there is", &mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: "u:", Text: "x", Meta: blockMeta}, Annotations: annotations, Meta: blockMeta},
			`{"type":"resource","resource":{"uri":"u:","text":"x",` + blockMetaJSON + `},` + annotationsJSON + `,` + blockMetaJSON + `}`},
		{"CNT-03 no annotations said", &mcp.TextContent{Text: "x", Annotations: &mcp.Annotations{}}, `{"type":"text","text":"x","annotations":{}}`},
		{"CNT-03 the highest priority", &mcp.TextContent{Text: "x", Annotations: &mcp.Annotations{Priority: ptr(1.0)}}, `{"type":"text","text":"x","annotations":{"priority":1}}`},
	} {
		t.Run("TOOL-21 CNT-01 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := withTool([]mcp.Content{tt.block, mcp.Text("next")})
			want := `[` + tt.want + `,{"type":"text","text":"next"}]`
			if diff := cmp.Diff(want, string(resultIn(t, ask(t, s, modernCall("1", "t", "{}")))["content"])); diff != "" {
				t.Errorf("wire (-want +got):\n%s", diff)
			}
			got := mustCall(t, dialMemory(t, s, nil), "t", nil).Content
			if diff := cmp.Diff([]mcp.Content{tt.block, mcp.Text("next")}, got, cmpopts.IgnoreUnexported(mcp.ImageContent{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("as the client has it (-sent +got):\n%s", diff)
			}
		})
	}
}

func TestEmbeddedBytesStayBytes(t *testing.T) {
	t.Parallel()
	t.Run("CNT-05 empty bytes are not empty text", func(t *testing.T) {
		t.Parallel()
		c := dialMemory(t, withTool([]mcp.Content{mcp.Embed(mcp.ResourceContents{URI: "u:", Blob: []byte{}}), mcp.Embed(mcp.ResourceContents{URI: "u:"})}), nil)
		content := mustCall(t, c, "t", nil).Content
		if content[0].(*mcp.EmbeddedResource).Resource.Blob == nil || content[1].(*mcp.EmbeddedResource).Resource.Blob != nil {
			t.Errorf("%#v", content)
		}
	})
}

func TestImageBase64(t *testing.T) {
	t.Parallel()
	for data, ok := range map[string]bool{"": true, "eA==": true, "AAEC/w==": true, "eA": false, "eA=": false, "e A==": false, "_-8=": false, "eB==": false, "Zm9v????": false} {
		t.Run(fmt.Sprintf("A30 %q is base64: %v", data, ok), func(t *testing.T) {
			t.Parallel()
			answer := ask(t, withTool(mcp.ImageBase64(data, "image/png")), modernCall("1", "t", "{}"))
			if !ok {
				undisclosed(t, failureIn(t, answer))
			} else if got := string(resultIn(t, answer)["content"]); got != `[{"type":"image","data":"`+data+`","mimeType":"image/png"}]` {
				t.Errorf("content %s", got)
			}
		})
	}
}

func TestContentRefused(t *testing.T) {
	t.Parallel()
	annotated := func(a mcp.Annotations) mcp.Content { return &mcp.TextContent{Annotations: &a} }
	for _, tt := range []struct {
		name, log string
		block     mcp.Content
	}{
		{"CNT-03 priority over 1", "priority 1.5", annotated(mcp.Annotations{Priority: ptr(1.5)})},
		{"CNT-03 priority under 0", "priority -0.1", annotated(mcp.Annotations{Priority: ptr(-0.1)})},
		{"CNT-03 priority NaN", "priority NaN", annotated(mcp.Annotations{Priority: ptr(math.NaN())})},
		{"CNT-03 another audience", `audience \"model\"`, annotated(mcp.Annotations{Audience: []string{"user", "model"}})},
		{"CNT-03 a year with five digits", "lastModified", annotated(mcp.Annotations{LastModified: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})},
		{"image without type", "MIME type is missing", mcp.Image([]byte("x"), "")},
		{"audio without type", "MIME type is missing", mcp.Audio([]byte("x"), "")},
		{"link without URI", "URI and name are needed", mcp.Link("", "n")},
		{"link without name", "URI and name are needed", mcp.Link("u:", "")},
		{"embedded resource without URI", "URI is missing", mcp.Embed(mcp.ResourceContents{Text: "x"})},
		{"CNT-04 _meta that is no JSON", "content block 0", &mcp.TextContent{Meta: mcp.Meta{"k": json.RawMessage(`{`)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var book logBook
			s := failing([]mcp.Content{tt.block})(&mcp.ServerOptions{Logger: book.logger()})
			reference(t, failureIn(t, ask(t, s, modernCall("1", "t", "{}"))))
			if !strings.Contains(book.String(), tt.log) {
				t.Errorf("log %s", book.String())
			}
		})
	}
}

func TestContentOfLegacySessions(t *testing.T) {
	t.Parallel()
	blocks := []mcp.Content{
		&mcp.TextContent{Text: "x", Annotations: annotations, Meta: blockMeta},
		mcp.Audio([]byte("x"), "audio/wav"),
		&mcp.ResourceLink{URI: "u:", Name: "n", Title: "T", Icons: []mcp.Icon{{Src: "https://example.com/"}}},
		&mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: "u:", Text: "x", Meta: blockMeta}},
	}
	const (
		oldAnnotations = `"annotations":{"audience":["user","assistant"],"priority":0}`
		audio          = `{"type":"audio","data":"eA==","mimeType":"audio/wav"}`
		embedded       = `{"type":"resource","resource":{"uri":"u:","text":"x",` + blockMetaJSON + `}}`
		plainEmbedded  = `{"type":"resource","resource":{"uri":"u:","text":"x"}}`
	)
	for version, want := range map[string]string{
		"2025-11-25": `[{"type":"text","text":"x",` + annotationsJSON + `,` + blockMetaJSON + `},` + audio +
			`,{"type":"resource_link","uri":"u:","name":"n","title":"T","icons":[{"src":"https://example.com/"}]},` + embedded + `]`,
		"2025-06-18": `[{"type":"text","text":"x",` + annotationsJSON + `,` + blockMetaJSON + `},` + audio +
			`,{"type":"resource_link","uri":"u:","name":"n","title":"T"},` + embedded + `]`,
		"2025-03-26": `[{"type":"text","text":"x",` + oldAnnotations + `},` + audio + `,{"type":"text","text":"u:"},` + plainEmbedded + `]`,
		"2024-11-05": `[{"type":"text","text":"x",` + oldAnnotations + `},` +
			`{"type":"text","text":"[audio of type audio/wav; this client's protocol revision has no audio content]"},{"type":"text","text":"u:"},` + plainEmbedded + `]`,
	} {
		t.Run("C50 "+version+" has what the revision knows, and text for the rest", func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, string(resultIn(t, askLegacy(t, withTool(blocks), version, legacyCall("1", "t", "{}")))["content"])); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnnotationsOfSloppyServers(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for members, want := range map[string]mcp.Annotations{
		`{}`:  {},
		`[7]`: {},
		`{"audience":["user"],"priority":0,"lastModified":"2026-01-02T03:04:05Z"}`: {Audience: []string{"user"}, Priority: ptr(0.0), LastModified: moment},
		`{"lastModified":"2026-01-02T05:04:05+02:00"}`:                             {LastModified: moment},
		`{"lastModified":"2026-01-02T03:04:05"}`:                                   {LastModified: moment},
		`{"lastModified":"2026-01-02T03:04:05.250000"}`:                            {LastModified: moment.Add(250 * time.Millisecond)},
		`{"lastModified":"2026-01-02"}`:                                            {LastModified: moment.Truncate(24 * time.Hour)},
		`{"lastModified":"yesterday","priority":0.5}`:                              {Priority: ptr(0.5)},
		`{"lastModified":1767323045,"audience":["user"]}`:                          {Audience: []string{"user"}},
		`{"audience":"user","priority":1}`:                                         {Priority: ptr(1.0)},
		`{"audience":[1],"priority":"high","lastModified":null}`:                   {},
		`{"audience":null,"priority":null,"more":{}}`:                              {},
	} {
		t.Run("CNT-03 BASE-13 hints that cannot be read are left out, and the content stays: "+members, func(t *testing.T) {
			t.Parallel()
			c := dialAnswering(t, nil, func(clientMessage) string {
				return `"content":[{"type":"text","text":"x","annotations":` + members + `}]`
			})
			block := mustCall(t, c, "t", nil).Content[0].(*mcp.TextContent)
			if diff := cmp.Diff(&want, block.Annotations, cmpopts.EquateEmpty(), cmp.Comparer(time.Time.Equal)); diff != "" || block.Text != "x" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnnotationsNotWrittenTo(t *testing.T) {
	t.Parallel()
	t.Run("CNT-03 trimming for one client leaves the block as it was", func(t *testing.T) {
		t.Parallel()
		s := withTool(&mcp.TextContent{Text: "x", Annotations: annotations})
		askLegacy(t, s, "2024-11-05", legacyCall("1", "t", "{}"))
		if got := ask(t, s, modernCall("1", "t", "{}")); !strings.Contains(got, annotationsJSON) {
			t.Error(got)
		}
	})
}

// TestEmbeddedUndeclared shows who hears of resources in the results of a server that has none.
func TestEmbeddedUndeclared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		content  mcp.Content
		declares bool
		want     int
	}{
		{"TOOL-22 an embedded resource", mcp.Embed(mcp.ResourceContents{URI: "u:"}), false, 1},
		{"TOOL-22 an embedded resource of a server with resources", mcp.Embed(mcp.ResourceContents{URI: "u:"}), true, 0},
		{"TOOL-23 a link", mcp.Link("u:", "u"), false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log := new(logBook)
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: log.logger()})
			mcp.AddTool(s, "t", "Answer in blocks", func(context.Context, noArgs) (mcp.Content, error) { return tt.content, nil })
			if tt.declares {
				mcp.AddText(s, "other:", "other", "text/plain", "other")
			}
			c := dialMemory(t, s, nil)
			for range 2 {
				if _, err := c.CallTool(t.Context(), "t", nil); err != nil {
					t.Fatal(err)
				}
			}
			if warned := log.records(t, slog.LevelWarn); len(warned) != tt.want {
				t.Errorf("%d warnings, want %d: %v", len(warned), tt.want, warned)
			}
		})
	}
}
