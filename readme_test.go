package mcp_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadme compiles and runs the fenced blocks of README.md. Go has to be formatted; the rest depends on the kind of block:
//
//   - go, with func main: a program, compiled; the imports, and the package clause if it has none, are added.
//     After <!-- call: TOOL ARGUMENTS = TEXT --> it is started as a stdio server, which has to answer so.
//   - go, declarations: compiled, and tests among them run.
//   - go, statements: run with a context ctx and a server s, which has to pass Check afterwards; they may return an error.
//     After <!-- compile only: REASON --> they are not run.
//   - sh: each line is `go run PACKAGE ARGS`, which has to succeed with nothing to read, or one of readmeCommands.
//     After <!-- serves: FLAG --> it serves HTTP instead, at the address that FLAG takes, until it is interrupted.
//   - json: has to be valid.
//
// A comment of these forms stands on the line before the block; no other may.

// readmeCommands are the commands that TestReadme does not run, and why.
var readmeCommands = map[string]string{
	"go get " + modulePath:                       "fetches a published version; every import here has the path too",
	"go test ./...":                              "is what runs this test",
	"go build -o greeter":                        "builds the program that the test has built and called",
	"claude mcp add greeter -- /path/to/greeter": "needs Claude Code",
}

// readmeImports are the packages that blocks may use without an import declaration.
var readmeImports = map[string]string{
	"context": "context", "errors": "errors", "exec": "os/exec", "fmt": "fmt", "http": "net/http", "json": "encoding/json",
	"log": "log", "mcp": modulePath, "os": "os", "sha256": "crypto/sha256", "slog": "log/slog", "strings": "strings", "testing": "testing", "time": "time",
}

// readmeBlock is one fenced block.
type readmeBlock struct {
	line int    // of its first line of code, from 1
	lang string // the word after the fence
	note string // the comment before the fence, without its marks
	code string
}

func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := readmeBlocks(string(text))
	if err != nil {
		t.Fatal(err)
	}
	b := newReadmeBuild(t)
	for _, block := range blocks {
		t.Run(fmt.Sprintf("line %d %s", block.line, block.lang), func(t *testing.T) {
			if err := b.add(block); err != nil {
				t.Errorf("README.md:%d: %v", block.line, err)
			}
		})
	}
	if t.Failed() {
		return
	}
	b.compile(t)
	for _, c := range b.calls {
		t.Run("call "+c.tool, func(t *testing.T) { c.check(t, b.out) })
	}
	for _, r := range b.runs {
		t.Run("go run "+r.pkg+" "+strings.Join(r.args, " "), func(t *testing.T) { r.check(t, b.out) })
	}
	t.Run("snippets", func(t *testing.T) { runCommand(t, b.out, filepath.Join(b.out, "snippets.test")) })
}

// TestReadmeLinks follows the links to files of the repository.
func TestReadmeLinks(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	prose := regexp.MustCompile("(?s)\n```.*?\n```").ReplaceAllString(string(text), "")
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(prose, -1) {
		if target := m[1]; !strings.Contains(target, "://") {
			if _, err := os.Stat(target); err != nil {
				t.Errorf("README.md links to %s: %v", target, err)
			}
		}
	}
}

// readmeBlocks returns the fenced blocks of a Markdown text.
func readmeBlocks(text string) ([]readmeBlock, error) {
	var (
		blocks []readmeBlock
		open   *readmeBlock
		before string
	)
	for i, line := range strings.Split(text, "\n") {
		switch fence, isFence := strings.CutPrefix(line, "```"); {
		case open == nil && isFence:
			note, _ := strings.CutPrefix(before, "<!--")
			note, isNote := strings.CutSuffix(note, "-->")
			open = &readmeBlock{line: i + 2, lang: fence}
			if isNote {
				open.note = strings.TrimSpace(note)
			}
		case isFence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.code += line + "\n"
		}
		before = line
	}
	if open != nil {
		return nil, fmt.Errorf("README.md:%d: the block is not closed", open.line)
	}
	return blocks, nil
}

// readmeBuild collects what the blocks ask for. Their files exist for the go command alone, through an overlay, in
// directories of this module, so that they are compiled against its go.mod and go.sum.
type readmeBuild struct {
	root, out string
	overlay   map[string]string // path in the module: path of the text
	packages  []string          // main packages, to be built into out
	calls     []readmeCall
	runs      []readmeRun
}

func newReadmeBuild(t *testing.T) *readmeBuild {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	b := &readmeBuild{root: root, out: t.TempDir(), overlay: map[string]string{}}
	// So that there is a package even if no block adds to it.
	if err := b.write("readme_snippets/snippets_test.go", "package snippets\n"); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *readmeBuild) add(block readmeBlock) error {
	switch block.lang {
	case "go":
		return b.addGo(block)
	case "sh":
		return b.addCommands(block)
	case "json":
		if !json.Valid([]byte(block.code)) {
			return fmt.Errorf("not valid JSON")
		}
		return nil
	}
	return fmt.Errorf("nothing is known to be done with %q blocks", block.lang)
}

func (b *readmeBuild) addCommands(block readmeBlock) error {
	flag, serves := strings.CutPrefix(block.note, "serves: ")
	if block.note != "" && !serves {
		return unknownNote(block)
	}
	for command := range strings.Lines(block.code) {
		command, _, _ = strings.Cut(command, " #")
		command = strings.TrimSpace(command)
		if _, known := readmeCommands[command]; known {
			continue
		}
		words, isRun := strings.CutPrefix(command, "go run ")
		if !isRun {
			return fmt.Errorf("nobody runs %q: make it a go run, or say in readmeCommands who does", command)
		}
		args := strings.Fields(words)
		b.runs = append(b.runs, readmeRun{pkg: args[0], args: args[1:], serveFlag: flag})
		if !slices.Contains(b.packages, args[0]) {
			b.packages = append(b.packages, args[0])
		}
	}
	return nil
}

func unknownNote(block readmeBlock) error {
	return fmt.Errorf("the comment before the block is none of those that mean something: %q", block.note)
}

var (
	readmeMain = regexp.MustCompile(`(?m)^func main\(\)`)
	readmeNote = regexp.MustCompile(`^call: (\S+) (\{.*\}) = (.+)$`)
)

func (b *readmeBuild) addGo(block readmeBlock) error {
	formatted, err := format.Source([]byte(block.code))
	if err != nil {
		return err
	}
	if string(formatted) != block.code {
		return fmt.Errorf("not formatted by gofmt")
	}
	call := readmeNote.FindStringSubmatch(block.note)
	compileOnly := strings.HasPrefix(block.note, "compile only: ")
	if block.note != "" && call == nil && !compileOnly {
		return unknownNote(block)
	}
	if !readmeMain.MatchString(block.code) {
		if call != nil {
			return fmt.Errorf("a call needs a block with func main")
		}
		name := fmt.Sprintf("readme_snippets/line_%d_test.go", block.line)
		text, err := snippetFile(block, compileOnly)
		if err != nil {
			return err
		}
		return b.write(name, text)
	}
	name := fmt.Sprintf("readme_line_%d", block.line)
	text := block.code
	if !strings.HasPrefix(text, "package ") {
		imports, err := importsOf(text)
		if err != nil {
			return err
		}
		text = "package main\n" + imports + lineDirective(block) + text
	}
	if call != nil {
		b.calls = append(b.calls, readmeCall{name, call[1], call[2], call[3]})
	}
	b.packages = append(b.packages, "./"+name)
	return b.write(name+"/main.go", text)
}

// snippetFile makes a test file of declarations or statements.
func snippetFile(block readmeBlock, compileOnly bool) (string, error) {
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+block.code, 0); err == nil {
		imports, err := importsOf(block.code)
		return "package snippets\n" + imports + lineDirective(block) + block.code, err
	}
	body := "func(ctx context.Context, s *mcp.Server) error {\n" + lineDirective(block) + block.code + "\nreturn nil\n}"
	if compileOnly {
		body = "var _ = " + body + "\n"
	} else {
		body = fmt.Sprintf("func TestLine%d(t *testing.T) {\n"+
			"\ts := mcp.NewServer(\"readme\", \"1.0.0\", nil)\n"+
			"\terr := %s(t.Context(), s)\n"+
			"\tif err == nil {\n\t\terr = s.Check()\n\t}\n"+
			"\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n", block.line, body)
	}
	imports, err := importsOf(body)
	return "package snippets\n" + imports + body, err
}

// lineDirective makes the compiler report faults of a block where the README has them.
func lineDirective(block readmeBlock) string { return fmt.Sprintf("//line README.md:%d\n", block.line) }

// importsOf returns the import declarations that the file-level Go text needs.
func importsOf(code string) (string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+code, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	used := make(map[string]bool)
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && readmeImports[x.Name] != "" {
				used[readmeImports[x.Name]] = true
			}
		}
		return true
	})
	var text strings.Builder
	for _, p := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(&text, "import %q\n", p)
	}
	return text.String(), nil
}

func (b *readmeBuild) write(name, text string) error {
	file := filepath.Join(b.out, strings.ReplaceAll(name, "/", "_"))
	b.overlay[filepath.Join(b.root, filepath.FromSlash(name))] = file
	return os.WriteFile(file, []byte(text), 0o644)
}

func (b *readmeBuild) compile(t *testing.T) {
	t.Helper()
	overlay, err := json.Marshal(map[string]any{"Replace": b.overlay})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(b.out, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	runCommand(t, b.root, "go", "test", "-c", "-vet=off", "-overlay", file, "-o", filepath.Join(b.out, "snippets.test"), "./readme_snippets")
	if len(b.packages) > 0 {
		build := append([]string{"build", "-overlay", file, "-o", b.out + string(filepath.Separator)}, b.packages...)
		runCommand(t, b.root, "go", build...)
	}
}

func TestReadmeBlocks(t *testing.T) {
	text := "# Title\n\n<!-- call: greet {\"name\":\"Ada\"} = Hello, Ada -->\n```go\nfunc main() {\n}\n```\n\n" +
		"<!-- not before the block -->\n\n```sh\ngo test ./...\n```\n```json\n```\n"
	want := []readmeBlock{
		{line: 5, lang: "go", note: `call: greet {"name":"Ada"} = Hello, Ada`, code: "func main() {\n}\n"},
		{line: 12, lang: "sh", code: "go test ./...\n"},
		{line: 15, lang: "json"},
	}
	got, err := readmeBlocks(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(readmeBlock{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if _, err := readmeBlocks("```go\n"); err == nil {
		t.Error("an open block was passed over")
	}
}

// TestReadmeRefuses shows that a block nobody checks does not pass as checked.
func TestReadmeRefuses(t *testing.T) {
	tests := []struct {
		name  string
		block readmeBlock
	}{
		{"unknown language", readmeBlock{lang: "yaml"}},
		{"unknown comment on a command", readmeBlock{lang: "sh", note: "skip", code: "go test ./...\n"}},
		{"unknown command", readmeBlock{lang: "sh", code: "make\n"}},
		{"bad JSON", readmeBlock{lang: "json", code: "{a}"}},
		{"unknown comment", readmeBlock{lang: "go", note: "skip", code: "type T int\n"}},
		{"call without main", readmeBlock{lang: "go", note: "call: x {} = y", code: "type T int\n"}},
		{"no Go", readmeBlock{lang: "go", code: "AddTool("}},
		{"not formatted", readmeBlock{lang: "go", code: "type  T int\n"}},
		{"no Go in a program", readmeBlock{lang: "go", code: "func main() {"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := newReadmeBuild(t).add(tt.block); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}
