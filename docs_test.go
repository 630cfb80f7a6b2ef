package mcp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// docComments returns the comments of the package and of its exported functions and types, by name.
func docComments(t *testing.T) map[string]string {
	t.Helper()
	docs := make(map[string]string)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	text := func(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			docs["the package"] = text(f.Doc)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					docs[d.Name.Name] = text(d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						docs[s.Name.Name] = text(d.Doc)
					}
				}
			}
		}
	}
	return docs
}

// TestDocumented holds the documentation to those of the protocol's rules that only the application can keep.
func TestDocumented(t *testing.T) {
	t.Parallel()
	docs := docComments(t)
	for _, tt := range []struct{ id, symbol, says string }{
		{"RES-12", "AddResource", "https: only for what clients can fetch themselves"},
		{"RES-10", "AddTemplate", "do not make paths of it, but serve files with AddFS or AddDir"},
		{"PRM-05", "AddPrompt", "do not let it choose what it must not reach"},
		{"CMP-08", "CompleteFunc", "Suggest nothing that the caller may not know, and limit who asks too often"},
		{"CMP-06", "CompleteFunc", "the best first"},
		{"SEC-05", "Auth", "has to ask every user for every client first"},
		{"SEC-06 AUS-10", "Auth", "The token is the server's alone"},
		{"JSC-04", "RawSchema", "JSON Schema 2020-12, or draft-07 if its $schema says so"},
		{"XMH-23", "the package", "secrets and personal data do not belong there"},
		{"XMH-24", "the package", "as any client can send them they grant nothing"},
		{"EXT-06", "AddApp", "Hosts without MCP Apps show what such a tool returns, which has to make sense by itself"},
		{"EXT-06", "Can", "a handler goes on without what is not"},
	} {
		t.Run(tt.id+" "+tt.symbol, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(docs[tt.symbol], tt.says) {
				t.Errorf("the documentation of %s does not say %q:\n%s", tt.symbol, tt.says, docs[tt.symbol])
			}
		})
	}
}
