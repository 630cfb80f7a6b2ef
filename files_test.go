package mcp_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

//go:embed testdata/files
var embedded embed.FS

// pngHeader begins every PNG image.
const pngHeader = "\x89PNG\r\n\x1a\n"

// treeServer serves files below "docs:///".
func treeServer(files fs.FS) *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	mcp.AddFS(s, "docs:///", files)
	return s
}

func file(data string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(data)} }

func TestFiles(t *testing.T) {
	t.Parallel()
	root, err := fs.Sub(embedded, "testdata/files")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("M4 M5 an embedded tree", func(t *testing.T) {
		t.Parallel()
		s := treeServer(root)
		want := []string{
			`{"uri":"docs:///a%20b/%C3%A4.md","name":"a b/ä.md","mimeType":"text/markdown","size":4}`,
			`{"uri":"docs:///dot.png","name":"dot.png","mimeType":"image/png","size":67}`,
			`{"uri":"docs:///readme.txt","name":"readme.txt","mimeType":"text/plain","size":6}`,
		}
		if diff := cmp.Diff(want, listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		c := dialMemory(t, s, nil)
		text, err := c.ReadResource(t.Context(), "docs:///a%20b/%C3%A4.md")
		if err != nil || text.Contents[0].Text != "# ä" || text.Contents[0].MIMEType != "text/markdown" {
			t.Errorf("%+v, %v", text, err)
		}
		image, err := c.ReadResource(t.Context(), "docs:///dot.png")
		if err != nil {
			t.Fatal(err)
		}
		data, err := fs.ReadFile(root, "dot.png")
		if got := image.Contents[0]; err != nil || string(got.Blob) != string(data) || got.MIMEType != "image/png" || got.Text != "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("M5 what is text and what is not", func(t *testing.T) {
		t.Parallel()
		tests := []struct{ name, data, mime, kind string }{
			{"a.txt", "text", "text/plain", "text"},
			{"a.TXT", "text", "text/plain", "text"},
			{"empty.txt", "", "text/plain", "text"},
			{"latin.txt", "\xe4", "text/plain", "blob"},
			{"nul.txt", "a\x00b", "text/plain", "blob"},
			{"a.json", "{}", "application/json", "text"},
			{"a.yaml", "a: 1", "application/yaml", "text"},
			{"a.svg", "<svg/>", "image/svg+xml", "text"},
			{"a.ts", "let a", "text/plain", "text"},
			{"a.png", "plain", "image/png", "blob"},
			{"empty.png", "", "image/png", "blob"},
			{"a.pdf", "%PDF-1.7", "application/pdf", "blob"},
			{"a.unknownext", "text", "", "text"},
			{"b.unknownext", pngHeader, "", "blob"},
			{"Makefile", "all:", "", "text"},
		}
		files := make(fstest.MapFS)
		for _, tt := range tests {
			files[tt.name] = file(tt.data)
		}
		c := serveLines(t, treeServer(files))
		for _, tt := range tests {
			c.send(readRequest("1", "docs:///"+tt.name))
			got := contentsIn(t, c.next())[0]
			if (got.Text != nil) != (tt.kind == "text") || (got.Blob != nil) != (tt.kind == "blob") || got.MIMEType != tt.mime {
				t.Errorf("%s: %+v, want %s of type %q", tt.name, got, tt.kind, tt.mime)
			}
		}
	})
	t.Run("M4 M6 what is said of a tree holds for its files", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddFS(s, "docs:///", fstest.MapFS{"a.md": file("a"), "LICENSE": file("l")}).Title("Docs").Desc("To read").MIME("text/plain").
			Icon("https://example.com/i.png").Annotate(mcp.Annotations{Priority: ptr(0.5)}).Category("help").Meta("m", 1)
		rest := `"annotations":{"priority":0.5},"icons":[{"src":"https://example.com/i.png"}],"_meta":{"io.github.typedmcp/category":"help","m":1}}`
		want := []string{
			`{"uri":"docs:///LICENSE","name":"LICENSE","title":"Docs: LICENSE","description":"To read","mimeType":"text/plain","size":1,` + rest,
			`{"uri":"docs:///a.md","name":"a.md","title":"Docs: a.md","description":"To read","mimeType":"text/markdown","size":1,` + rest,
		}
		if diff := cmp.Diff(want, listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := contentsIn(t, ask(t, s, readRequest("1", "docs:///LICENSE")))[0]; got.MIMEType != "text/plain" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("M4 M6 a hidden tree is not listed, but read; a disabled one is neither", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddFS(s, "docs:///", fstest.MapFS{"a.txt": file("a")})
		mcp.AddFS(s, "hidden:///", fstest.MapFS{"a.txt": file("found")}).Hidden()
		mcp.AddFS(s, "off:///", fstest.MapFS{"a.txt": file("a")}).Disabled()
		if got := listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources"); len(got) != 1 || !strings.Contains(got[0], "docs:///a.txt") {
			t.Errorf("listed: %q", got)
		}
		if got := contentsIn(t, ask(t, s, readRequest("1", "hidden:///a.txt"))); *got[0].Text != "found" {
			t.Errorf("%+v", got)
		}
		faultIn(t, ask(t, s, readRequest("1", "off:///a.txt")))
	})
	t.Run("M4 later files can be read and are not listed", func(t *testing.T) {
		t.Parallel()
		files := fstest.MapFS{"a.txt": file("a")}
		s := treeServer(files)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		files["b.txt"] = file("b")
		if got := listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources"); len(got) != 1 {
			t.Errorf("listed: %q", got)
		}
		if got := contentsIn(t, ask(t, s, readRequest("1", "docs:///b.txt"))); *got[0].Text != "b" {
			t.Errorf("%+v", got)
		}
		delete(files, "a.txt")
		if e := faultIn(t, ask(t, s, readRequest("1", "docs:///a.txt"))); e.Code != mcp.CodeInvalidParams {
			t.Errorf("%+v", e)
		}
	})
	t.Run("M4 a file that is larger than a message", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Limits: mcp.Limits{Message: 1000}})
		mcp.AddFS(s, "docs:///", fstest.MapFS{"big": file(strings.Repeat("x", 1001)), "fits": file(strings.Repeat("x", 1000))})
		if e := faultIn(t, ask(t, s, readRequest("1", "docs:///big"))); e.Code != mcp.CodeInternalError || !strings.Contains(e.Message, "1000 bytes") {
			t.Errorf("%+v", e)
		}
		contentsIn(t, ask(t, s, readRequest("1", "docs:///fits")))
	})
	t.Run("M4 no more than 10,000 are listed, and a warning says so", func(t *testing.T) {
		t.Parallel()
		files := make(fstest.MapFS)
		for i := range 10_001 {
			files[fmt.Sprintf("f%05d", i)] = file("x")
		}
		var log logBook
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: log.logger(), PageSize: 20_000})
		mcp.AddFS(s, "docs:///", files)
		if got := listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources"); len(got) != 10_000 {
			t.Errorf("%d are listed", len(got))
		}
		contentsIn(t, ask(t, s, readRequest("1", "docs:///f10000")))
		if warnings := log.records(t, slog.LevelWarn); len(warnings) != 1 || !strings.Contains(fmt.Sprint(warnings), "more than 10000 files") {
			t.Errorf("%v", warnings)
		}
	})
}

func TestFilesStayInside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	dir := filepath.Join(outside, "served")
	write := func(name string) {
		t.Helper()
		name = filepath.Join(outside, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(secret), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"out.txt", "served/in.txt", "served/sub/deep.txt", "served/.env", "served/.git/config", "served/sub/.hidden", "served/per%cent.txt"} {
		write(name)
	}
	links := map[string]string{
		"escape.txt": "../out.txt", "absolute.txt": filepath.Join(outside, "out.txt"), "up": "..", "inside.txt": "sub/deep.txt", "broken.txt": "nowhere",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatalf("this test needs the right to make symbolic links: %v", err)
		}
	}
	if runtime.GOOS != "windows" {
		l, err := net.Listen("unix", filepath.Join(dir, "socket"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	s := mcp.NewServer("s", "1", nil)
	mcp.AddDir(s, "file:///srv/", dir)

	want := []string{
		`{"uri":"file:///srv/in.txt","name":"in.txt","mimeType":"text/plain","size":%d}`, `{"uri":"file:///srv/inside.txt","name":"inside.txt","mimeType":"text/plain","size":%d}`,
		`{"uri":"file:///srv/per%%25cent.txt","name":"per%%cent.txt","mimeType":"text/plain","size":%d}`, `{"uri":"file:///srv/sub/deep.txt","name":"sub/deep.txt","mimeType":"text/plain","size":%d}`,
	}
	for i := range want {
		want[i] = fmt.Sprintf(want[i], len(secret))
	}
	if diff := cmp.Diff(want, listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources")); diff != "" {
		t.Errorf("RES-10 listed (-want +got):\n%s", diff)
	}
	c := serveLines(t, s)
	for _, uri := range []string{"in.txt", "inside.txt", "sub/deep.txt", "%69n.txt", "sub%2Fdeep.txt", "per%25cent.txt"} {
		c.send(readRequest("1", "file:///srv/"+uri))
		if got := contentsIn(t, c.next()); *got[0].Text != secret {
			t.Errorf("%s: %+v", uri, got)
		}
	}
	tests := []struct{ name, uri string }{
		{"a parent", "../out.txt"}, {"a parent, escaped", "%2e%2e/out.txt"}, {"a parent, escaped whole", "%2e%2e%2fout.txt"}, {"a parent, escaped twice", "%252e%252e/out.txt"},
		{"a parent further in", "sub/../in.txt"}, {"the folder itself", "./in.txt"}, {"an empty part", "sub//deep.txt"},
		{"an absolute path", "/etc/passwd"}, {"an absolute path, escaped", "%2Fetc%2Fpasswd"}, {"a backslash", `sub%5Cdeep.txt`}, {"a parent with a backslash", `..%5Cout.txt`},
		{"a drive", "C:/Windows/win.ini"}, {"a share", "%5C%5Chost%5Cshare"}, {"a NUL", "in.txt%00"}, {"a NUL before the extension", "in%00.txt"},
		{"a link to outside", "escape.txt"}, {"an absolute link to outside", "absolute.txt"}, {"a folder that is a link to outside", "up/out.txt"}, {"a link to nowhere", "broken.txt"},
		{"a hidden file", ".env"}, {"a hidden file, escaped", "%2Eenv"}, {"a file in a hidden folder", ".git/config"}, {"a hidden file in a folder", "sub/.hidden"},
		{"a folder", "sub"}, {"a folder with a slash", "sub/"}, {"the tree", ""}, {"a dot", "."}, {"a socket", "socket"}, {"a query", "in.txt?x=1"}, {"a fragment", "in.txt#x"},
		{"an escape decoded twice", "per%2525cent.txt"}, {"an unescaped percent sign of the name", "per%25%63ent.txt%"},
	}
	for _, tt := range tests {
		t.Run("RES-10 M4 "+tt.name+" is not found", func(t *testing.T) {
			answer := ask(t, s, readRequest("1", "file:///srv/"+tt.uri))
			if e := faultIn(t, answer); e.Code != mcp.CodeInvalidParams || strings.Contains(answer, outside) || strings.Contains(answer, secret) {
				t.Errorf("%s", answer)
			}
		})
	}
	t.Run("RES-10 another base is not found", func(t *testing.T) {
		for _, uri := range []string{"file:///srvin.txt", "file:///SRV/in.txt", "file://srv/in.txt", "file:///srv"} {
			faultIn(t, ask(t, s, readRequest("1", uri)))
		}
	})
}

// laxFS opens whatever a name could mean, as careless file systems do.
type laxFS struct{ files fstest.MapFS }

func (f laxFS) Open(name string) (fs.File, error) {
	return f.files.Open(path.Clean("." + path.Clean("/"+name)))
}

func TestFilesOfCarelessTree(t *testing.T) {
	t.Parallel()
	s := treeServer(laxFS{fstest.MapFS{"sub/a": file("x"), `a\b`: file("x"), "a\x00b": file("x")}})
	t.Run("RES-10 M4 what the names say is listed, and read", func(t *testing.T) {
		t.Parallel()
		if diff := cmp.Diff([]string{`{"uri":"docs:///sub/a","name":"sub/a","size":1}`}, listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := contentsIn(t, ask(t, s, readRequest("1", "docs:///sub/a"))); *got[0].Text != "x" {
			t.Errorf("%+v", got)
		}
	})
	for name, uri := range map[string]string{
		"a backslash of a name": "a%5Cb", "a NUL of a name": "a%00b", "a slash in front": "/sub/a", "a slash in front, escaped": "%2Fsub/a",
		"an empty part": "sub//a", "a slash at the end": "sub/a/", "a part that is no UTF-8": "sub/a/%ff/",
	} {
		t.Run("RES-10 M4 "+name+" is not found", func(t *testing.T) {
			t.Parallel()
			if e := faultIn(t, ask(t, s, readRequest("1", "docs:///"+uri))); e.Code != mcp.CodeInvalidParams {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestFilesProblems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name string
		add  func(s *mcp.Server)
		want string
	}{
		{"an os.DirFS", func(s *mcp.Server) { mcp.AddFS(s, "docs:///", os.DirFS(dir)) }, "use AddDir"},
		{"no file system", func(s *mcp.Server) { mcp.AddFS(s, "docs:///", nil) }, "the file system is nil"},
		{"a folder that is not there", func(s *mcp.Server) { mcp.AddDir(s, "docs:///", filepath.Join(dir, "none")) }, "none"},
		{"a base without a slash", func(s *mcp.Server) { mcp.AddDir(s, "docs:///x", dir) }, "does not end in the slash of a path"},
		{"a base with a query", func(s *mcp.Server) { mcp.AddDir(s, "docs:///?x=/", dir) }, "does not end in the slash of a path"},
		{"a base without a scheme", func(s *mcp.Server) { mcp.AddDir(s, "/docs/", dir) }, "is not absolute"},
		{"a base twice", func(s *mcp.Server) { mcp.AddDir(s, "docs:///", dir); mcp.AddDir(s, "docs:///", dir) }, "already taken"},
		{"a file system that cannot be read", func(s *mcp.Server) { mcp.AddFS(s, "docs:///", brokenFS{}) }, "the files cannot be listed: no such luck"},
		{"a size", func(s *mcp.Server) { mcp.AddDir(s, "docs:///", dir).Size(1) }, "is not that of one resource"},
		{"a completion", func(s *mcp.Server) { mcp.AddDir(s, "docs:///", dir).Complete("path", noValues) }, `there is no argument "path"`},
	}
	for _, tt := range tests {
		t.Run("M4 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.add(s)
			expectProblem(t, s, tt.want)
		})
	}
	t.Run("M4 files are listed with no lock held, once", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		files := &reentrantFS{MapFS: fstest.MapFS{"a": file("a")}}
		mcp.AddFS(s, "docs:///", files)
		files.open = func() { mcp.AddText(s, fmt.Sprintf("r://%d", files.opened), "x", "", "") }
		for range 3 {
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if files.opened != 1 {
			t.Errorf("the folder was read %d times", files.opened)
		}
	})
}

func noValues(context.Context, string, map[string]string) ([]string, error) { return nil, nil }

// brokenFS cannot be read.
type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { return nil, errors.New("no such luck") }

// reentrantFS calls open when its folder is read.
type reentrantFS struct {
	fstest.MapFS
	open   func()
	opened int
}

func (f *reentrantFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.opened++
	f.open()
	return f.MapFS.ReadDir(name)
}
