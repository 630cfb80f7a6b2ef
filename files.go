package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// AddFS registers the regular files of fsys, an embed.FS for example, as
// resources below the URI base, which ends in a slash, such as "docs:///".
// Files and folders whose names begin with a dot are left out. The list is
// made once, by Check, of up to 10,000 files; others, and those that appear
// later, can be read. Nobody reads what is larger than Limits.Message. For a
// folder on disk use AddDir.
//
// What a file is called says its media type; MIME sets that of files whose
// names do not. Text, if it is UTF-8, is sent as such and all else as bytes.
func AddFS(r Registrar, base string, fsys fs.FS) *Resource {
	res := newResource(r, kindResource, base, base)
	switch {
	case fsys == nil:
		res.problem("", errors.New("the file system is nil"))
	case reflect.TypeOf(fsys) == reflect.TypeOf(os.DirFS(".")):
		res.problem("", errors.New("an os.DirFS follows symbolic links out of its folder; use AddDir"))
	}
	return res.serveFiles(fsys)
}

// AddDir registers the regular files of a folder on disk as AddFS does. The
// folder is opened at once; symbolic links cannot lead out of it.
func AddDir(r Registrar, base, dir string) *Resource {
	res := newResource(r, kindResource, base, base)
	root, err := os.OpenRoot(dir)
	if err != nil {
		res.problem("", err)
		return res.serveFiles(nil)
	}
	return res.serveFiles(root.FS())
}

func (r *Resource) serveFiles(files fs.FS) *Resource {
	if !strings.HasSuffix(r.uri, "/") || strings.ContainsAny(r.uri, "?#") {
		r.problem("", fmt.Errorf("the URI %.80q of the files does not end in the slash of a path", r.uri))
	}
	if files == nil {
		files = noFiles{}
	}
	r.tree = &fileTree{base: r.uri, files: files}
	r.read = func(_ context.Context, uri string, _ []byte) (*ReadResult, error) { return r.readFile(uri) }
	return r.register()
}

// fileTree is a tree of files that are resources below a URI.
type fileTree struct {
	base   string
	files  fs.FS
	once   sync.Once   // guards the walk, which sets the next fields
	listed []fileFacts // in the order of their names
	cut    bool        // there are more
	err    error       // why nothing could be listed
}

// noFiles stands for a file system that could not be had.
type noFiles struct{}

func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// find returns the name of the file that uri stands for, if there is one that
// may be read.
func (t *fileTree) find(uri string) (name string, ok bool) {
	name, ok = t.name(uri)
	if !ok {
		return "", false
	}
	info, err := fs.Stat(t.files, name)
	return name, err == nil && info.Mode().IsRegular()
}

// name returns the name that uri stands for. The URI is decoded once; what
// could leave the tree is refused, as are names that begin with a dot (MCP
// 2026-07-28, Resources › Security Considerations).
func (t *fileTree) name(uri string) (string, bool) {
	escaped, below := strings.CutPrefix(uri, t.base)
	if !below || strings.ContainsAny(escaped, "?#") {
		return "", false
	}
	name, err := url.PathUnescape(escaped)
	if err != nil || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || dotted(name) {
		return "", false
	}
	return name, true
}

// uri is the URI of the file of that name.
func (t *fileTree) uri(name string) string {
	return t.base + (&url.URL{Path: name}).EscapedPath()
}

// dotted reports whether any part of a path begins with a dot.
func dotted(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

// readFile reads the file that uri stands for.
func (r *Resource) readFile(uri string) (*ReadResult, error) {
	name, ok := r.tree.find(uri)
	if !ok {
		return nil, ErrNotFound
	}
	data, err := r.tree.contents(name, int64(r.srv.opts.Limits.Message))
	if err != nil {
		return nil, err
	}
	c := ResourceContents{URI: uri, MIMEType: fileType(name)}
	if c.MIMEType == "" {
		c.MIMEType = r.mime
	}
	if isText(c.MIMEType, data) {
		c.Text = string(data)
	} else {
		c.Blob = data
	}
	return &ReadResult{Contents: []ResourceContents{c}}, nil
}

// contents reads a file of up to limit bytes. Why one that exists cannot be
// read is nobody's business.
func (t *fileTree) contents(name string, limit int64) ([]byte, error) {
	f, err := t.files.Open(name)
	if err != nil {
		return nil, ErrNotFound
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, ErrNotFound // it was replaced a moment ago
	}
	data, err := io.ReadAll(io.LimitReader(f, max(limit, limit+1))) // no limit may be the largest int
	switch {
	case err != nil:
		return nil, ErrNotFound
	case int64(len(data)) > limit:
		return nil, Errorf(CodeInternalError, "Internal error: the file is larger than the %d bytes that this server sends at once", limit)
	}
	return data, nil
}

// fileTypes are the media types of files that hold text and that the standard
// library does not know everywhere, or takes for something else: where the
// system has a table, .ts is a video.
var fileTypes = map[string]string{
	".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".yaml": "application/yaml", ".yml": "application/yaml",
	".toml": "application/toml", ".ts": "text/plain", ".tsx": "text/plain",
}

// fileType is the media type that the name of a file says, "" if it says none.
func fileType(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if kind := fileTypes[ext]; kind != "" {
		return kind
	}
	kind, _, _ := strings.Cut(mime.TypeByExtension(ext), ";")
	return kind
}

// isText decides whether data is sent as text or as bytes.
func isText(mimeType string, data []byte) bool {
	kind, sub, _ := strings.Cut(mimeType, "/")
	switch kind {
	case "image", "audio", "video", "font", "model":
		if !strings.HasSuffix(sub, "+xml") {
			return false
		}
	case "application":
		if sub == "pdf" || sub == "octet-stream" || sub == "zip" {
			return false
		}
	}
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}
