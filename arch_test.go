package mcp_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/typedmcp/mcp"

// layers says what each package of the library may import of this module, lowest first. The root package is "".
var layers = map[string][]string{
	"internal/jsonx":  {},
	"internal/sse":    {},
	"internal/header": {},
	"internal/seal":   {},

	"internal/jsonrpc": {"internal/jsonx"},
	"internal/schema":  {"internal/jsonx", "internal/header"},
	"internal/oauth":   {"internal/jsonx"},

	"internal/wire":   {"internal/jsonrpc", "internal/jsonx"},
	"internal/rounds": {"internal/jsonx", "internal/seal"},

	"": {
		"internal/jsonx", "internal/sse", "internal/header", "internal/seal",
		"internal/jsonrpc", "internal/schema", "internal/oauth",
		"internal/wire", "internal/rounds",
	},
}

// programs are the trees whose packages use the library as its users do: they may import the root package and each other.
var programs = []string{"examples", "benchmarks", "internal/conformance", "internal/interop"}

// jsonLibraries are import path prefixes that only internal/jsonx may use; encoding/json has a rule of its own.
var jsonLibraries = []string{
	"encoding/json/v2", "encoding/json/jsontext", "github.com/go-json-experiment/json",
	"github.com/bytedance/sonic", "github.com/goccy/go-json", "github.com/json-iterator/go",
	"github.com/segmentio/encoding", "github.com/tidwall/gjson",
}

// jsonTypes are the names of encoding/json that other packages may use: types, which do no work.
var jsonTypes = []string{"RawMessage", "Number", "Marshaler", "Unmarshaler"}

const (
	maxFileLines = 500 // tests too
	maxFuncLines = 60  // tests not: a table of cases may be as long as it needs
)

// sourceFile is one parsed Go file.
type sourceFile struct {
	path  string // from the root of the module, with slashes
	pkg   string // its directory, "" for the root
	fset  *token.FileSet
	ast   *ast.File
	test  bool
	lines int
}

// sourceTree parses every Go file below the root of fsys but those in testdata, node_modules and hidden directories.
func sourceTree(fsys fs.FS) ([]*sourceFile, error) {
	var files []*sourceFile
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			hidden := strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
			if name != "." && (hidden || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(base) != ".go" {
			return nil
		}
		f, err := parseSource(fsys, name)
		if err == nil && !ast.IsGenerated(f.ast) {
			files = append(files, f)
		}
		return err
	})
	return files, err
}

func parseSource(fsys fs.FS, name string) (*sourceFile, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &sourceFile{
		path:  name,
		pkg:   strings.TrimPrefix(path.Dir(name), "."),
		fset:  fset,
		ast:   parsed,
		test:  strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(text, []byte("\n")),
	}, nil
}

// problem is a finding in the form of a compiler's: file:line: message.
func (f *sourceFile) problem(at token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, f.fset.Position(at).Line, fmt.Sprintf(format, args...))
}

// library reports whether f is compiled into the programs of the module's users.
func (f *sourceFile) library() bool { return !f.test && !within(f.pkg, programs) }

func within(pkg string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool {
		return pkg == tree || strings.HasPrefix(pkg, tree+"/")
	})
}

// archRules are the rules of CONTRIBUTING.md that a machine can check; each returns its findings in one file.
var archRules = map[string]func(*sourceFile) []string{
	"imports":      importProblems,
	"sizes":        sizeProblems,
	"json":         jsonProblems,
	"doc comments": docProblems,
}

func TestArchitecture(t *testing.T) {
	files, err := sourceTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for name, rule := range archRules {
		t.Run(name, func(t *testing.T) {
			for _, f := range files {
				for _, problem := range rule(f) {
					t.Error(problem)
				}
			}
		})
	}
}

// importProblems finds imports of this module's packages that go up, sideways, or into a program. Tests are free: Go itself
// refuses a cycle.
func importProblems(f *sourceFile) []string {
	if f.test {
		return nil
	}
	allowed, known := layers[f.pkg]
	program := within(f.pkg, programs)
	if !known && !program {
		return []string{f.problem(f.ast.Package, "package %s has no layer: add it to layers in arch_test.go", f.pkg)}
	}
	var problems []string
	for _, spec := range f.ast.Imports {
		imported, ours := ownPackage(importPath(spec))
		switch {
		case !ours:
		case program && (imported == "" || within(imported, programs)):
		case slices.Contains(allowed, imported):
		default:
			problems = append(problems, f.problem(spec.Pos(), "package %q may not import %q", f.pkg, imported))
		}
	}
	return problems
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser checked it
	}
	return p
}

// ownPackage returns the directory of a package of this module.
func ownPackage(importPath string) (dir string, ours bool) {
	if importPath == modulePath {
		return "", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// sizeProblems finds files and functions that are too long to be read at once.
func sizeProblems(f *sourceFile) []string {
	var problems []string
	if f.lines > maxFileLines {
		problems = append(problems, f.problem(f.ast.FileStart, "%d lines, over %d: split the file", f.lines, maxFileLines))
	}
	if f.test {
		return problems
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			start, end := f.fset.Position(n.Pos()).Line, f.fset.Position(n.End()).Line
			if fd, ok := n.(*ast.FuncDecl); ok {
				start = f.fset.Position(fd.Type.Pos()).Line // without the doc comment
			}
			if length := end - start + 1; length > maxFuncLines {
				problems = append(problems, f.problem(n.Pos(), "function of %d lines, over %d: split it", length, maxFuncLines))
			}
		}
		return true
	})
	return problems
}

// jsonProblems finds work with JSON done elsewhere than in internal/jsonx, where the strictness of the protocol is kept.
func jsonProblems(f *sourceFile) []string {
	if !f.library() || f.pkg == "internal/jsonx" {
		return nil
	}
	var problems []string
	for _, spec := range f.ast.Imports {
		switch p := importPath(spec); {
		case p == "encoding/json":
			problems = append(problems, encodingJSONProblems(f, spec)...)
		case within(p, jsonLibraries):
			problems = append(problems, f.problem(spec.Pos(), "imports %s: call internal/jsonx instead", p))
		}
	}
	return problems
}

func encodingJSONProblems(f *sourceFile, spec *ast.ImportSpec) []string {
	name := "json"
	if spec.Name != nil {
		name = spec.Name.Name
	}
	if name == "." || name == "_" {
		return []string{f.problem(spec.Pos(), "imports encoding/json as %s: import it by name, for its types", name)}
	}
	var problems []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if ok && x.Name == name && !slices.Contains(jsonTypes, sel.Sel.Name) {
			problems = append(problems, f.problem(sel.Pos(), "uses json.%s: call internal/jsonx instead", sel.Sel.Name))
		}
		return true
	})
	return problems
}

// docProblems finds exported identifiers of the root package that nothing explains. A doc comment begins with a sentence
// about the identifier, by its name; in a group, one comment may stand for all.
func docProblems(f *sourceFile) []string {
	if f.test || f.pkg != "" {
		return nil
	}
	var problems []string
	check := func(at token.Pos, name string, group bool, comments ...*ast.CommentGroup) {
		if fault := docFault(name, group, comments); fault != "" {
			problems = append(problems, f.problem(at, "%s %s", name, fault))
		}
	}
	for _, decl := range f.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				check(d.Pos(), d.Name.Name, false, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						check(s.Pos(), s.Name.Name, false, s.Doc, d.Doc)
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							check(name.Pos(), name.Name, d.Lparen.IsValid(), s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	}
	return problems
}

// docFault judges the first comment there is; group excuses the comments of a group of constants or variables from
// naming each one.
func docFault(name string, group bool, comments []*ast.CommentGroup) string {
	i := slices.IndexFunc(comments, func(c *ast.CommentGroup) bool { return c != nil })
	if i < 0 {
		return "has no doc comment"
	}
	text := comments[i].Text()
	sentence := new(doc.Package).Synopsis(text)
	if !strings.HasSuffix(sentence, ".") && !strings.HasSuffix(sentence, ":") {
		return fmt.Sprintf("has a doc comment that does not begin with a sentence: %q", sentence)
	}
	words := strings.Fields(sentence)
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	if !group && strings.TrimRight(words[0], ",:.") != name {
		return fmt.Sprintf("has a doc comment that does not begin with its name: %q", sentence)
	}
	return ""
}

// exportedReceiver reports whether d is a function, or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	return ast.IsExported(receiverName(d.Recv.List[0].Type))
}

// receiverName returns T for the receivers T, *T and T[A].
func receiverName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
