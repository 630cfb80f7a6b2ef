package mcp

import (
	"encoding/json"
	"io/fs"

	"github.com/typedmcp/mcp/internal/wire"
)

// maxFiles is how many files of one tree are listed.
const maxFiles = 10_000

// fileFacts is what is listed of a file.
type fileFacts struct {
	name string
	size int64
}

// walkTrees lists the trees of files that were added since the last time. It
// runs before Check takes the lock: file systems may be anybody's code.
func (s *Server) walkTrees(r *registry) {
	s.mu.Lock()
	var trees []*fileTree
	for _, res := range r.resources {
		if res.tree != nil {
			trees = append(trees, res.tree)
		}
	}
	s.mu.Unlock()
	for _, t := range trees {
		t.once.Do(t.walk)
	}
}

// walk lists the files there are. What cannot be read is not listed.
func (t *fileTree) walk() {
	_ = fs.WalkDir(t.files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			t.err = err
			return err
		case err != nil:
			return nil
		case name != "." && dotted(name):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		size, ok := t.regular(name, d)
		switch {
		case !ok:
		case len(t.listed) == maxFiles:
			t.cut = true
			return fs.SkipAll
		default:
			t.listed = append(t.listed, fileFacts{name, size})
		}
		return nil
	})
}

// regular returns the size of a regular file, or of one that a symbolic link
// within the tree leads to.
func (t *fileTree) regular(name string, d fs.DirEntry) (size int64, ok bool) {
	var info fs.FileInfo
	var err error
	switch d.Type() {
	case 0:
		info, err = d.Info()
	case fs.ModeSymlink:
		info, err = fs.Stat(t.files, name)
	default:
		return 0, false
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	_, ok = t.name(t.uri(name)) // else it could not be read
	return info.Size(), ok
}

// fileEntry is a file in resources/list.
type fileEntry struct {
	*resourcePlan
	fileFacts
	place uint64
}

// entries are the listed files of a tree.
func (p *resourcePlan) entries() []listed {
	all := make([]listed, len(p.tree.listed))
	for i, f := range p.tree.listed {
		all[i] = &fileEntry{p, f, p.place + 1 + uint64(i)}
	}
	return all
}

func (e *fileEntry) order() uint64 { return e.place }

func (e *fileEntry) info() Info { return e.infoAt(e.tree.uri(e.fileFacts.name)) }

// encode returns the file's entry in resources/list.
func (e *fileEntry) encode(rev *wire.Revision) json.RawMessage {
	out := e.describe(rev)
	out.URI, out.Name, out.Size = e.tree.uri(e.fileFacts.name), e.fileFacts.name, &e.size
	if out.Title != "" {
		out.Title += ": " + out.Name
	}
	if kind := fileType(out.Name); kind != "" {
		out.MIMEType = kind
	}
	return mustEncode(&out, &e.definition)
}
