package mcp_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestAPI holds the exported surface of the package to api.txt, so that no change to it goes unseen.
func TestAPI(t *testing.T) {
	files, err := sourceTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	got := apiLines(files)
	if *update {
		if err := os.WriteFile("api.txt", []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile("api.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(golden), "\n"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the exported surface is not that of api.txt; if that is meant, "+
			"run go test -run 'TestAPI$' -update . (-want +got):\n%s", diff)
	}
}

// apiLines lists what the root package exports, one line for each constant, variable, function, method, type, and
// for each exported member of a struct or an interface, sorted.
func apiLines(files []*sourceFile) []string {
	var lines []string
	for _, f := range files {
		if f.test || f.pkg != "" {
			continue
		}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				lines = append(lines, apiFunc(f, d)...)
			case *ast.GenDecl:
				lines = append(lines, apiGroup(f, d)...)
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines) // a function may be declared once for each platform
}

func apiFunc(f *sourceFile, d *ast.FuncDecl) []string {
	if !d.Name.IsExported() || !exportedReceiver(d) {
		return nil
	}
	kind := "func"
	if d.Recv != nil {
		kind = "method (" + f.source(d.Recv.List[0].Type) + ")"
	}
	return []string{kind + " " + d.Name.Name + strings.TrimPrefix(f.source(d.Type), "func")}
}

func apiGroup(f *sourceFile, d *ast.GenDecl) []string {
	var lines []string
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				lines = append(lines, apiType(f, s)...)
			}
		case *ast.ValueSpec:
			for i, name := range s.Names {
				if name.IsExported() {
					lines = append(lines, apiValue(f, d.Tok, s, i))
				}
			}
		}
	}
	return lines
}

// apiValue shows the value of a constant, which its users compile in, but not what a variable starts as.
func apiValue(f *sourceFile, tok token.Token, s *ast.ValueSpec, i int) string {
	line := tok.String() + " " + s.Names[i].Name
	if s.Type != nil {
		line += " " + f.source(s.Type)
	}
	if tok == token.CONST && i < len(s.Values) {
		line += " = " + f.source(s.Values[i])
	}
	return line
}

func apiType(f *sourceFile, s *ast.TypeSpec) []string {
	head := "type " + s.Name.Name
	if s.TypeParams != nil {
		head += "[" + f.fields(s.TypeParams) + "]"
	}
	if s.Assign.IsValid() {
		head += " ="
	}
	var members *ast.FieldList
	switch u := s.Type.(type) {
	case *ast.StructType:
		members = u.Fields
		head += " struct"
	case *ast.InterfaceType:
		members = u.Methods
		head += " interface"
	default:
		return []string{head + " " + f.source(s.Type)}
	}
	lines := []string{head}
	for _, m := range members.List {
		for _, member := range apiMembers(f, m) {
			lines = append(lines, head+", "+member)
		}
	}
	return lines
}

// apiMembers shows struct fields with their tags, which decide the JSON of a type, and of an interface that only this
// package can implement that it is so.
func apiMembers(f *sourceFile, m *ast.Field) []string {
	if len(m.Names) == 0 {
		return []string{f.source(m.Type)}
	}
	method, isFunc := m.Type.(*ast.FuncType)
	isMethod := isFunc && !method.Func.IsValid() // a field of a function type has the keyword
	var members []string
	for _, name := range m.Names {
		switch {
		case isMethod && !name.IsExported():
			members = append(members, "unexported methods")
		case isMethod:
			members = append(members, name.Name+strings.TrimPrefix(f.source(m.Type), "func"))
		case name.IsExported() && m.Tag != nil:
			members = append(members, name.Name+" "+f.source(m.Type)+" "+m.Tag.Value)
		case name.IsExported():
			members = append(members, name.Name+" "+f.source(m.Type))
		}
	}
	return members
}

// fields returns a parameter list without its brackets.
func (f *sourceFile) fields(list *ast.FieldList) string {
	var parts []string
	for _, field := range list.List {
		var names []string
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		parts = append(parts, strings.Join(names, ", ")+" "+f.source(field.Type))
	}
	return strings.Join(parts, ", ")
}

// source returns n as Go text on one line, without comments.
func (f *sourceFile) source(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return fmt.Sprintf("?%v", err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestAPILines(t *testing.T) {
	fsys := fstest.MapFS{
		"a.go": {Data: []byte(`package mcp

import "context"

// Hidden things are not shown, comments neither.
type hidden struct{ A int }

func (hidden) M() {}

func unexported() {}

const Version = "1" // a comment

const (
	A Code = iota
	B
	c
)

var ErrA, errB = 1, 2

type Code int

type Alias = map[string]int

type Pair[K comparable, V any] struct {
	Key   K ` + "`json:\"key\"`" + `
	Value V
	notes string
	Code
	Call func(ctx context.Context,
		names ...string) error
}

func (p *Pair[K, V]) Swap(
	other *Pair[K, V], // a comment
) (ok bool) {
	return false
}

type Conn interface {
	context.Context
	Read(n int) error
	sealed()
}

func Open[T any](x T, y, z int) (T, error) { panic(x) }
`)},
		"a_windows.go":       {Data: []byte("package mcp\n\nfunc Platform() {}\n")},
		"a_unix.go":          {Data: []byte("package mcp\n\nfunc Platform() {}\n")},
		"a_test.go":          {Data: []byte("package mcp\n\nfunc Test() {}\n")},
		"internal/wire/b.go": {Data: []byte("package wire\n\nfunc Elsewhere() {}\n")},
	}
	files, err := sourceTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"const A Code = iota",
		"const B",
		`const Version = "1"`,
		"func Open[T any](x T, y, z int) (T, error)",
		"func Platform()",
		"method (*Pair[K, V]) Swap(other *Pair[K, V]) (ok bool)",
		"type Alias = map[string]int",
		"type Code int",
		"type Conn interface",
		"type Conn interface, Read(n int) error",
		"type Conn interface, context.Context",
		"type Conn interface, unexported methods",
		"type Pair[K comparable, V any] struct",
		"type Pair[K comparable, V any] struct, Call func(ctx context.Context, names ...string) error",
		"type Pair[K comparable, V any] struct, Code",
		"type Pair[K comparable, V any] struct, Key K `json:\"key\"`",
		"type Pair[K comparable, V any] struct, Value V",
		"var ErrA",
	}
	if diff := cmp.Diff(want, apiLines(files)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
