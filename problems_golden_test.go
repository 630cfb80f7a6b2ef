package mcp_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// order is an arguments type with a mistake in each tag.
type order struct {
	ID     string       `json:"id" validate:"uuuid"`
	Count  int          `json:"count" jsonschema:"minimum=ten"`
	Notify chan string  `json:"notify"`
	Lines  []orderLine  `json:"lines"`
	Extra  map[bool]int `json:"extra"`
}

// cart is one with a mistake that shows only if the rest is right.
type cart struct {
	Total float64 `json:"total" mcp:"header=Total"`
}

type orderLine struct {
	Kind string `json:"kind" jsonschema:"enum=a,default=b"`
}

// shop is a service with a mistake in its marker.
type shop struct {
	_ mcp.ToolTag `method:"Close" name:"close"`
}

// TestEveryProblemAtOnce registers mistakes of every kind and has one error tell them all.
func TestEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("shop", "1.0.0", &mcp.ServerOptions{
		Versions: []string{"2026-07-28", "2027-01-01"}, Extensions: map[string]any{"audit": nil},
	})
	nothing := func(context.Context, struct{}) (string, error) { return "", nil }
	mcp.AddTool(s, "order", "", func(context.Context, order) (string, error) { return "", nil })
	mcp.AddTool(s, "cart", "", func(context.Context, cart) (string, error) { return "", nil })
	mcp.AddTool(s, "say", "", nothing)
	mcp.AddTool(s, "say", "", nothing)
	mcp.AddTool(s, "", "", nothing)
	mcp.AddTool[struct{}, string](s, "nil", "", nil)
	mcp.AddTool(s, "list", "", func(context.Context, []string) (string, error) { return "", nil })
	mcp.AddTool(s, "watch", "", func(context.Context, struct{}) (func(), error) { return nil, nil })
	mcp.AddTool(s, "text", "", nothing).OutputSchema(mcp.Object())
	mcp.AddRawTool(s, "raw", "", mcp.RawSchema(`{"type":"object","properties":{"a":{"type":"integer","minimun":1},"b":{"$ref":"https://example.com/b.json"}}}`), echoRaw)
	mcp.AddRawTool(s, "broken", "", mcp.RawSchema(`{"type":`), echoRaw)
	mcp.AddRawTool(s, "built", "", mcp.Object().Integer("n", "").Min("one").String("n", ""), echoRaw)
	mcp.AddToolDef(s, mcp.ToolDef{Name: "data"}, echoRaw)
	mcp.AddFunc(s, "func", "", func(context.Context, string, int) {}, mcp.Arg("name", ""))
	mcp.AddMethod(s, &shop{}, "Open", "open", "")
	mcp.AddService(s, &shop{})
	mcp.AddFunc(s, "tags", "", func() {}).Tags("readonly=maybe").App("https://example.com")
	mcp.AddFunc(s, "looks", "", func() {}).Icon("cart.png").Meta("dev.mcp/cart", 1)
	mcp.AddFunc(s, "around", "", func() {}).Use(nil)
	mcp.RegisterWriter[order](s, nil)
	problems := strings.Split(regexp.MustCompile(`\S*/(\w+\.go:\d+)`).ReplaceAllString(fmt.Sprint(s.Check()), "$1"), "\n")
	const file = "testdata/problems.txt"
	t.Run("A1 all at once, in their order", func(t *testing.T) { golden(t, file, numbered(problems)) })
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]string{
		"A7 a name that is taken":              `: tool "say": `,
		"A13 a schema that is no JSON":         `: tool "broken": `,
		"A14 a definition without a schema":    `: tool "data": `,
		"A43 keywords that cannot be enforced": `: tool "raw": `,
		"B10 a service":                        `: tool "close": `,
		"B13 a method that there is not":       `: tool "open": `,
		"B17 a parameter without a name":       `: tool "func": `,
		"B28 an icon without files":            `icon "cart.png"`,
		"B31 a hint that is no boolean":        `the key "readonly"`,
		"C17 types without JSON":               `order.Notify: `,
		"C17 keys without JSON":                `order.Extra: `,
		"C26 arguments that are no object":     `: tool "list": `,
		"C46 a validation tag":                 `order.ID: `,
		"EXT-01 an extension without prefix":   `option Extensions: `,
		"META-03 a reserved prefix":            `_meta key "dev.mcp/cart"`,
	} {
		t.Run(name+" is told, with the place of its call", func(t *testing.T) {
			about := func(lines []string) (found []string) {
				for _, line := range lines {
					if at := strings.Index(line, "problems_golden_test.go:"); at >= 0 && strings.Contains(line, of) {
						found = append(found, line[at:])
					}
				}
				return found
			}
			told := about(strings.Split(string(want), "\n"))
			if diff := cmp.Diff(told, about(problems)); diff != "" || told == nil {
				t.Errorf("%d problems are due (-want +got):\n%s", len(told), diff)
			}
		})
	}
}

// numbered puts each line on one of its own, under the next number.
func numbered(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "%d. %s\n", i+1, line)
	}
	return b.String()
}

// golden holds got to the content of a file, which -update rewrites.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
