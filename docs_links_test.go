package mcp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNames holds the pages below docs to the names that the package has: in the last column of their tables, and in
// running text wherever a type and its member are named.
func TestDocsNames(t *testing.T) {
	t.Parallel()
	api := apiNames(t)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %v, error %v", pages, err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	name := regexp.MustCompile(`^[A-Z]\w*(\.[A-Z]\w*)?$`)
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				cells := strings.Split(strings.Trim(line, "|"), "|")
				inTable := strings.HasPrefix(line, "|")
				for _, m := range code.FindAllStringSubmatch(cells[len(cells)-1], -1) {
					if own := name.MatchString(m[1]) && (inTable || strings.Contains(m[1], ".")); own && !api[m[1]] {
						t.Errorf("line %d: the package has no %s", i+1, m[1])
					}
				}
			}
		})
	}
}

// apiNames are the names in api.txt: Name, and Type.Member.
func apiNames(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("api.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	plain := regexp.MustCompile(`^(?:const|var|func|type) (\w+)`)
	method := regexp.MustCompile(`^method \(\*?(\w+)(?:\[\w+\])?\) (\w+)`)
	field := regexp.MustCompile(`^type (\w+) (?:struct|interface), (\w+)`)
	for line := range strings.Lines(string(text)) {
		for _, form := range []*regexp.Regexp{field, method, plain} {
			if m := form.FindStringSubmatch(line); m != nil {
				names[strings.Join(m[1:], ".")] = true
				break
			}
		}
	}
	return names
}

// TestSecurityNames holds SECURITY.md to tests, types and options that exist.
func TestSecurityNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	known := apiNames(t)
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	internal, err := filepath.Glob("internal/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, file := range append(files, internal...) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range test.FindAllStringSubmatch(string(source), -1) {
			known[m[1]] = true
		}
	}
	for _, m := range regexp.MustCompile("`((?:Test|[A-Z]\\w*\\.)\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !known[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
	}
}
