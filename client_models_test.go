package mcp_test

import (
	"testing"

	"github.com/typedmcp/mcp"
)

func TestModelPreferences(t *testing.T) {
	t.Parallel()
	models := []string{"claude-3-5-haiku", "gpt-4o", "claude-3-5-sonnet", "claude-3-opus"}
	cheap := 1.0
	for name, tt := range map[string]struct {
		prefers *mcp.ModelPreferences
		want    string // "": none
	}{
		"no preferences":   {nil, ""},
		"no hints":         {&mcp.ModelPreferences{CostPriority: &cheap}, ""},
		"a whole name":     {&mcp.ModelPreferences{Hints: []string{"gpt-4o"}}, "gpt-4o"},
		"a part of a name": {&mcp.ModelPreferences{Hints: []string{"sonnet"}}, "claude-3-5-sonnet"},
		"the first of the models that a hint fits":   {&mcp.ModelPreferences{Hints: []string{"claude"}}, "claude-3-5-haiku"},
		"the first hint before the first model":      {&mcp.ModelPreferences{Hints: []string{"opus", "claude"}}, "claude-3-opus"},
		"a later hint when the first fits none":      {&mcp.ModelPreferences{Hints: []string{"gemini", "4o"}}, "gpt-4o"},
		"hints before priorities":                    {&mcp.ModelPreferences{Hints: []string{"opus"}, CostPriority: &cheap}, "claude-3-opus"},
		"hints that fit none":                        {&mcp.ModelPreferences{Hints: []string{"gemini", "claude-4"}}, ""},
		"a hint without a name is none":              {&mcp.ModelPreferences{Hints: []string{""}}, ""},
		"a hint that is longer than the name it has": {&mcp.ModelPreferences{Hints: []string{"gpt-4o-mini"}}, ""},
	} {
		t.Run("SMP-07 "+name, func(t *testing.T) {
			t.Parallel()
			if got, ok := tt.prefers.Choose(models); got != tt.want || ok != (tt.want != "") {
				t.Errorf("%q, %v, want %q", got, ok, tt.want)
			}
		})
	}
}
