// Package suite_test runs the JSON-Schema-Test-Suite against hand-written schemas: by their checker, and by calls of
// tools that have them.
package suite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/google/jsonschema-go/jsonschema" // its module ships the suite

	"github.com/typedmcp/mcp"
	"github.com/typedmcp/mcp/internal/schema"
)

// group is a schema with cases for it.
type group struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
	file string
}

// readSuite returns the required cases of a dialect, whose folder has that name.
func readSuite(t *testing.T, dialect string) []group {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "jsonschema", "testdata", dialect, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var all []group
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []group
		if err := json.Unmarshal(data, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			g.file = strings.TrimSuffix(filepath.Base(file), ".json")
			all = append(all, g)
		}
	}
	return all
}

// refusals are the reasons for which a schema of the suite may be refused at registration, though it is valid: it would
// not be enforced in full, or could cost too much.
var refusals = []struct {
	reason string
	text   *regexp.Regexp
}{
	{"a reference to another document", regexp.MustCompile(`^the keyword "\$(ref|dynamicRef)" at \S+ refers to ".*", which is no schema in this document`)},
	{"a keyword that does nothing", regexp.MustCompile(`^the keyword "\w+" at \S+ does nothing without `)},
	{"a keyword that is ignored", regexp.MustCompile(`^the keyword "\$?\w+" at \S+ is ignored beside \$ref`)},
	{"a default that breaks its schema", regexp.MustCompile(`^the keyword "default" at \S+ has a value that breaks the schema`)},
	{"recursion through two branches", regexp.MustCompile(`^the keyword "\S+" at \S+ leads back to its own schema through two branches`)},
	{"a format that nobody here enforces", regexp.MustCompile(`^the keyword "format" at \S+ names "idn-`)},
}

// compile returns the plan of a schema, or the kind of reason for which it is refused.
func compile(t *testing.T, g group) (plan *schema.Plan, reason string) {
	t.Helper()
	plan, problems := schema.Raw(g.Schema, schema.RawOptions{})
	for _, p := range problems {
		known := false
		for _, r := range refusals {
			if r.text.MatchString(p.Reason) {
				known, reason = true, r.reason
			}
		}
		if !known {
			t.Errorf("%s, %s: refused for no reason that is known here: %s", g.file, g.Description, p.Reason)
		}
	}
	return plan, reason
}

func TestChecker(t *testing.T) {
	for _, tt := range []struct {
		dialect string
		cases   int // that are run
		refused map[string]int
	}{
		{"draft2020-12", 1027, map[string]int{
			"a default that breaks its schema": 3, "a keyword that does nothing": 5, "a reference to another document": 24,
			"recursion through two branches": 2,
		}},
		{"draft7", 850, map[string]int{
			"a default that breaks its schema": 3, "a format that nobody here enforces": 2, "a keyword that does nothing": 6,
			"a keyword that is ignored": 1, "a reference to another document": 15,
		}},
	} {
		t.Run("JSC-01 JSC-02 JSC-08 "+tt.dialect, func(t *testing.T) {
			cases, refused := 0, map[string]int{}
			for _, g := range readSuite(t, tt.dialect) {
				if tt.dialect == "draft7" {
					g.Schema = declared(g.Schema, `"$schema":"http://json-schema.org/draft-07/schema#"`)
				}
				plan, reason := compile(t, g)
				if plan == nil {
					refused[reason]++
					continue
				}
				for _, c := range g.Tests {
					cases++
					if violations := plan.Validate(c.Data); (violations == nil) != c.Valid {
						t.Errorf("%s, %s, %s: %s is valid: %v, got %v for %s", g.file, g.Description, c.Description, c.Data, c.Valid, violations, g.Schema)
					}
				}
			}
			t.Logf("%d cases ran; schemas refused: %v", cases, refused)
			if cases != tt.cases || !maps.Equal(refused, tt.refused) {
				t.Errorf("other numbers than before: %d cases, refused %v", cases, refused)
			}
		})
	}
}

// declared gives an object schema one more member, unless it has it.
func declared(text json.RawMessage, member string) json.RawMessage {
	name, _, _ := strings.Cut(member, ":")
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members[strings.Trim(name, `"`)] != nil {
		return text
	}
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(text)), "{"))
	if rest != "}" {
		member += ","
	}
	return json.RawMessage("{" + member + rest)
}

// TestTools calls a tool with an argument for each schema.
func TestTools(t *testing.T) {
	s := mcp.NewServer("suite", "1", nil)
	accept := func(context.Context, json.RawMessage) (*mcp.Result, error) { return &mcp.Result{}, nil }
	tools := map[string]group{}
	for _, g := range readSuite(t, "draft2020-12") {
		if plan, _ := compile(t, g); plan == nil {
			continue
		}
		name := fmt.Sprintf("t%d", len(tools))
		tools[name] = g
		part := declared(g.Schema, `"$id":"https://example.com/`+name+`"`) // so that its references stay its own
		mcp.AddRawTool(s, name, "", mcp.RawSchema(`{"type":"object","properties":{"v":`+string(part)+`},"required":["v"]}`), accept)
	}
	c, err := mcp.Dial(t.Context(), mcp.InMemory(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	calls, nulls := 0, 0
	for name, g := range tools {
		for _, tt := range g.Tests {
			if nullMember.Match(tt.Data) { // where it is optional it is dropped, which the suite does not know of
				nulls++
				continue
			}
			calls++
			r, err := c.CallTool(t.Context(), name, json.RawMessage(`{"v":`+string(tt.Data)+`}`))
			if err != nil || r.IsError == tt.Valid {
				t.Errorf("JSC-01 %s, %s, %s: %s is valid: %v, got %v, %+v", g.file, g.Description, tt.Description, tt.Data, tt.Valid, err, r)
			}
		}
	}
	t.Logf("%d schemas, %d calls, %d left out", len(tools), calls, nulls)
}

var nullMember = regexp.MustCompile(`:\s*null\b`)
