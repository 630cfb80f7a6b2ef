package mcp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testSources are the files with tests, by the functions in them.
func testSources(t *testing.T) map[string]string {
	t.Helper()
	sources := make(map[string]string)
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, pattern := range []string{"*_test.go", "internal/*/*_test.go", "internal/*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			text := readText(t, file)
			for _, m := range declared.FindAllStringSubmatch(text, -1) {
				sources[m[1]] = text
			}
		}
	}
	return sources
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCompatibility holds docs/compatibility.md to tests, suites and versions of others that there are.
func TestCompatibility(t *testing.T) {
	t.Parallel()
	sources := testSources(t)
	pinned := ""
	for _, file := range []string{"internal/interop/go.mod", "internal/interop/oauth/go.mod", "internal/interop/servers/go.mod",
		"internal/interop/clients/package.json", "internal/interop/servers/npm/package.json"} {
		pinned += readText(t, file)
	}
	suite := regexp.MustCompile(`known=\((.*)\)\nlegs=\((.*)\)`).FindStringSubmatch(readText(t, "internal/conformance/run"))
	if suite == nil {
		t.Fatal("internal/conformance/run does not say what it knows")
	}
	tests := 0
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(readText(t, "docs/compatibility.md"), -1) {
		switch words := strings.Fields(m[1]); {
		case strings.HasPrefix(m[1], "Test"):
			tests++
			if !testExists(sources, m[1]) {
				t.Errorf("there is no %s", m[1])
			}
		case words[0] == "internal/conformance/run":
			if len(words) != 4 || !strings.Contains(suite[2], words[2]) || !strings.Contains(suite[1], words[3]) {
				t.Errorf("the suite has no %s", m[1])
			}
		case strings.LastIndex(m[1], "@") > 0:
			at := strings.LastIndex(m[1], "@")
			name, version := m[1][:at], m[1][at+1:]
			if !strings.Contains(pinned, name+" "+version+"\n") && !strings.Contains(pinned, `"`+name+`": "`+version+`"`) {
				t.Errorf("%s is not used in version %s", name, version)
			}
		}
	}
	if tests < 40 {
		t.Errorf("only %d tests are named", tests)
	}
}

// testExists reports whether there is a test, or a sub-test: the words of its name, in quotes, in the file of the test. A
// name may join two of them by "over", or be the beginning of one; those of transcripts are directories.
func testExists(sources map[string]string, name string) bool {
	test, sub, _ := strings.Cut(name, "/")
	source, ok := sources[test]
	if !ok || sub == "" {
		return ok
	}
	if dir, err := os.Stat(filepath.Join("testdata/wire", sub)); test == "TestTranscripts" && err == nil {
		return dir.IsDir()
	}
	quoted := func(word string) bool { return strings.Contains(source, `"`+word+`"`) }
	client, transport, joined := strings.Cut(sub, " over ")
	return quoted(sub) || joined && quoted(client) && quoted(transport) || strings.Contains(source, `t.Run("`+sub+" ")
}
