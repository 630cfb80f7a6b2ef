package mcp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
)

// maxIcon is the largest image, in bytes, that an icon may carry in itself.
const maxIcon = 64 << 10

// iconTypes are the images that hosts show, by the extension of their files.
var iconTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".svg": "image/svg+xml",
}

// resolve returns the icon as it is listed: one that names a file of files
// carries its image. It is an error if no host would show it.
func (i Icon) resolve(files fs.FS) (Icon, error) {
	src := i.Src
	var err error
	if src != "" && !strings.Contains(src, ":") {
		err = i.load(files)
	}
	if err == nil {
		err = i.check()
	}
	if err != nil {
		return i, fmt.Errorf("icon %.80q: %w", src, err)
	}
	return i, nil
}

// load replaces the name of a file by the image in it.
func (i *Icon) load(files fs.FS) error {
	if files == nil {
		return errors.New("it names a file, but ServerOptions.Files is not set")
	}
	kind := iconTypes[strings.ToLower(path.Ext(i.Src))]
	if kind == "" {
		return errors.New("the extension is none of .png, .jpg, .jpeg, .webp and .svg")
	}
	data, err := fs.ReadFile(files, i.Src)
	if err != nil {
		return err
	}
	if kind == "image/png" && i.Sizes == nil {
		config, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("the file is no PNG image: %w", err)
		}
		i.Sizes = []string{fmt.Sprintf("%dx%d", config.Width, config.Height)}
	}
	if i.MIMEType == "" {
		i.MIMEType = kind
	}
	i.Src = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
	return nil
}

// check accepts what hosts load and show (MCP 2026-07-28, Basic › Icons):
// https: URIs, and images in data: URIs, which every list carries along.
func (i Icon) check() error {
	for _, size := range i.Sizes {
		if !iconSize(size) {
			return fmt.Errorf(`the size %q is neither "any" nor like "48x48"`, size)
		}
	}
	if i.Theme != "" && i.Theme != "light" && i.Theme != "dark" {
		return fmt.Errorf(`the theme %q is neither "light" nor "dark"`, i.Theme)
	}
	data, inline := strings.CutPrefix(i.Src, "data:")
	if !inline {
		if u, err := url.Parse(i.Src); err != nil || u.Scheme != "https" || u.Host == "" {
			return errors.New("it is neither an https: URI nor a data: URI")
		}
		return nil
	}
	kind, data, _ := strings.Cut(data, ",")
	switch kind {
	case "image/png;base64", "image/jpeg;base64", "image/webp;base64", "image/svg+xml;base64":
	default:
		return errors.New("a data: URI must begin with data:image/png;base64, or that of image/jpeg, image/webp or image/svg+xml")
	}
	image, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return fmt.Errorf("the data is not standard base64: %w", err)
	}
	if len(image) > maxIcon {
		return fmt.Errorf("the image has %d bytes, more than %d; give its https: URI instead", len(image), maxIcon)
	}
	return nil
}

// iconSize accepts "any" and sizes such as "48x48".
func iconSize(s string) bool {
	width, height, both := strings.Cut(s, "x")
	return s == "any" || both && digits(width) && digits(height)
}

func digits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}

// loadable keeps the icons that a client may load: other schemes than https:
// and data: run code or reach into the host (MCP 2026-07-28, Basic › Icons).
func loadable(icons []Icon) []Icon {
	return slices.DeleteFunc(icons, func(i Icon) bool {
		scheme, _, _ := strings.Cut(i.Src, ":")
		return !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "data")
	})
}
