package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/typedmcp/mcp/internal/wire"
)

// maxFiles is how many files of one tree are listed.
const maxFiles = 10_000

// AddFS registers the regular files of fsys, an embed.FS for example, as
// resources below the URI base, which ends in a slash, such as "docs:///".
// Files and folders whose names begin with a dot are left out. The list is
// made once, by Check; files that appear later can be read. For a folder on
// disk use AddDir.
func AddFS(r Registrar, base string, fsys fs.FS) *Resource {
	res := newResource(r, kindResource, base, base)
	switch {
	case fsys == nil:
		res.problem("", errors.New("the file system is nil"))
	case reflect.TypeOf(fsys) == reflect.TypeOf(os.DirFS(".")):
		res.problem("", errors.New("an os.DirFS follows symbolic links out of its folder; use AddDir"))
	}
	return res.tree(fsys)
}

// AddDir registers the regular files of a folder on disk as AddFS does. The
// folder is opened at once; symbolic links cannot lead out of it.
func AddDir(r Registrar, base, dir string) *Resource {
	res := newResource(r, kindResource, base, base)
	root, err := os.OpenRoot(dir)
	if err != nil {
		res.problem("", err)
		return res.tree(nil)
	}
	return res.tree(root.FS())
}

func (r *Resource) tree(files fs.FS) *Resource {
	if !strings.HasSuffix(r.uri, "/") {
		r.problem("", fmt.Errorf("the URI %.80q does not end in a slash", r.uri))
	}
	if files == nil {
		files = emptyFS{}
	}
	r.files = files
	r.read = func(_ context.Context, uri string, _ []byte) (*ReadResult, error) {
		name, ok := r.file(uri)
		if !ok {
			return nil, ErrNotFound
		}
		data, err := fs.ReadFile(r.files, name)
		if err != nil {
			return nil, ErrNotFound // why is nobody's business
		}
		c := ResourceContents{URI: uri, MIMEType: fileType(name)}
		if utf8.Valid(data) && !strings.HasPrefix(c.MIMEType, "image/") {
			c.Text = string(data)
		} else {
			c.Blob = data
		}
		return &ReadResult{Contents: []ResourceContents{c}}, nil
	}
	return r.register()
}

// emptyFS stands for a file system that could not be had.
type emptyFS struct{}

func (emptyFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func fileType(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(name)), ";")
	return kind
}

// file returns the name of the file that uri stands for, if there is one that
// may be read. The URI is decoded once; what could leave the tree is refused
// (MCP 2026-07-28, Resources › Security Considerations).
func (r *Resource) file(uri string) (name string, ok bool) {
	escaped, below := strings.CutPrefix(uri, r.uri)
	if !below {
		return "", false
	}
	name, err := url.PathUnescape(escaped)
	if err != nil || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || dotted(name) {
		return "", false
	}
	info, err := fs.Stat(r.files, name)
	return name, err == nil && info.Mode().IsRegular()
}

// dotted reports whether any part of a path begins with a dot.
func dotted(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

// fileEntry is a file in resources/list.
type fileEntry struct {
	*resourcePlan
	place uint64
	name  string
	size  int64
}

func (e *fileEntry) order() uint64 { return e.place }

// entries lists the files of a tree, in the order of their names.
func (p *resourcePlan) entries() []listed {
	var all []listed
	_ = fs.WalkDir(p.files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not listed
		case name != "." && dotted(name):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		case len(all) == maxFiles:
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			all = append(all, &fileEntry{p, p.place + 1 + uint64(len(all)), name, info.Size()})
		}
		return nil
	})
	return all
}

// encode returns the file's entry in resources/list.
func (e *fileEntry) encode(rev *wire.Revision) json.RawMessage {
	escaped := (&url.URL{Path: e.name}).EscapedPath()
	out := ResourceInfo{
		URI: e.uri + escaped, Name: e.name, MIMEType: fileType(e.name), Size: &e.size, Annotations: e.annotations,
	}
	if rev.Titles {
		out.Meta = e.meta
	}
	return mustEncode(&out, &e.definition)
}
