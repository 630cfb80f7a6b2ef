package mcp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// iconFiles are images as an application embeds them.
func iconFiles(t testing.TB) fstest.MapFS {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 48, 32))); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		"money.png":      {Data: buf.Bytes()},
		"img/Photo.JPEG": {Data: []byte("a photo")},
		"web.webp":       {Data: []byte("web")},
		"draw.svg":       {Data: []byte("<svg/>")},
		"broken.png":     {Data: []byte("no image")},
		"large.svg":      {Data: bytes.Repeat([]byte("x"), 64<<10+1)},
		"limit.svg":      {Data: bytes.Repeat([]byte("x"), 64<<10)},
		"anim.gif":       {Data: []byte("GIF89a")},
		"noext":          {Data: []byte("x")},
	}
}

func TestIconFiles(t *testing.T) {
	t.Parallel()
	files := iconFiles(t)
	for _, tt := range []struct {
		name, src string
		sizes     []string
		want      mcp.Icon // Src: the file
	}{
		{"a PNG, with its size", "money.png", nil, mcp.Icon{Src: "money.png", MIMEType: "image/png", Sizes: []string{"48x32"}}},
		{"a PNG, with sizes given", "money.png", []string{"any"}, mcp.Icon{Src: "money.png", MIMEType: "image/png", Sizes: []string{"any"}}},
		{"a JPEG in a folder", "img/Photo.JPEG", nil, mcp.Icon{Src: "img/Photo.JPEG", MIMEType: "image/jpeg"}},
		{"WebP", "web.webp", nil, mcp.Icon{Src: "web.webp", MIMEType: "image/webp"}},
		{"SVG", "draw.svg", []string{"any"}, mcp.Icon{Src: "draw.svg", MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
		{"as large as can be", "limit.svg", nil, mcp.Icon{Src: "limit.svg", MIMEType: "image/svg+xml"}},
	} {
		want := tt.want
		want.Src = "data:" + want.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(files[tt.src].Data)
		t.Run("B28 ICON-01 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Files: files, Icons: []mcp.Icon{{Src: tt.src, Sizes: tt.sizes}}})
			mcp.AddFunc(s, "method", "", func() {}).Icon(tt.src, tt.sizes...)
			mcp.AddToolDef(s, mcp.ToolDef{Name: "data", InputSchema: json.RawMessage(`{"type":"object"}`), Icons: []mcp.Icon{{Src: tt.src, Sizes: tt.sizes}}}, echoRaw)
			if tt.sizes == nil {
				mcp.AddFunc(s, "tag", "", func() {}).Tags("icon=" + tt.src)
			}
			c := dialMemory(t, s, nil)
			for _, tool := range mustList(t, c) {
				if diff := cmp.Diff([]mcp.Icon{want}, tool.Icons); diff != "" {
					t.Errorf("%s (-want +got):\n%.500s", tool.Name, diff)
				}
			}
			if diff := cmp.Diff([]mcp.Icon{want}, c.Server().Icons); diff != "" {
				t.Errorf("the server's own (-want +got):\n%.500s", diff)
			}
		})
	}
	t.Run("B29 URIs are kept as they are", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Files: files})
		mcp.AddFunc(s, "t", "", func() {}).Icon("https://example.com/money.png").Icon("data:image/png;base64,AAAA", "1x1")
		want := []mcp.Icon{{Src: "https://example.com/money.png"}, {Src: "data:image/png;base64,AAAA", Sizes: []string{"1x1"}}}
		if diff := cmp.Diff(want, mustList(t, dialMemory(t, s, nil))[0].Icons); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("B28 icons are not for revisions without them", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Files: files})
		mcp.AddFunc(s, "t", "", func() {}).Icon("money.png")
		for _, version := range legacyVersions {
			answer := askLegacy(t, s, version, plainRequest("1", "tools/list"))
			if strings.Contains(answer, "icons") != (version == "2025-11-25") {
				t.Errorf("%s: %.300s", version, answer)
			}
		}
	})
}

func TestIconFilesRefused(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"none.png":      `open none.png: file does not exist`,
		"../money.png":  `open ../money.png: file does not exist`,
		"/money.png":    `open /money.png: file does not exist`,
		"broken.png":    `the file is no PNG image: png: invalid format: not a PNG file`,
		"large.svg":     `the image has 65537 bytes, more than 65536; give its https: URI instead`,
		"anim.gif":      `the extension is none of .png, .jpg, .jpeg, .webp and .svg`,
		"noext":         `the extension is none of .png, .jpg, .jpeg, .webp and .svg`,
		`img\Photo.jpg`: `open img\Photo.jpg: file does not exist`,
		"c:/money.png":  `it is neither an https: URI nor a data: URI`,
	} {
		t.Run("B28 "+src, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Files: iconFiles(t)})
			mcp.AddFunc(s, "t", "", func() {}).Icon(src)
			if got := baseNames(fmt.Sprint(s.Check())); got != fmt.Sprintf(`icon_test.go: tool "t": icon %q: %s`, src, want) {
				t.Error(got)
			}
		})
	}
	t.Run("B28 without files", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Icons: []mcp.Icon{{Src: "money.png"}}})
		mcp.AddFunc(s, "t", "", func() {}).Icon("money.png")
		const want = `icon_test.go: server: option Icons: icon "money.png": it names a file, but ServerOptions.Files is not set` + "\n" +
			`icon_test.go: tool "t": icon "money.png": it names a file, but ServerOptions.Files is not set`
		if got := baseNames(fmt.Sprint(s.Check())); got != want {
			t.Error(got)
		}
	})
}
