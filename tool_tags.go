package mcp

import (
	"fmt"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Category groups tools: it is for middleware and filters, which find it in
// Info, and is listed in the tool's _meta.
func (t *Tool) Category(name string) *Tool {
	return t.change(func() { t.setCategory(name) })
}

// App ties the tool to the user interface in the ui: resource of that URI
// (MCP Apps), which hosts that can show it show for the tool's results. What
// else hosts are to know of it, such as the visibility, goes with the
// resourceUri into the key "ui" of Meta, after App.
func (t *Tool) App(resourceURI string) *Tool {
	return t.change(func() { t.setApp(resourceURI) })
}

func (t *Tool) setApp(uri string) {
	if !strings.HasPrefix(uri, "ui://") {
		t.problem("", fmt.Errorf("the app's URI %.80q does not start with ui://", uri))
		return
	}
	if t.app != "" && t.app != uri {
		t.warnings = append(t.warnings, t.finding("it is tied to the app %q and then to %q; the last counts", t.app, uri))
	}
	t.app = uri
	t.setMeta("ui", append(jsonx.AppendString([]byte(`{"resourceUri":`), uri), '}'))
}

// Tags says in one string what the other methods say one by one: entries
// key=value, or a bare key for true, separated by commas, with white space
// around them ignored. A comma within a value is written \, in the string.
// The keys are title, app, icon, category, readonly, destructive, idempotent,
// openworld, structured, disabled and hidden; any other is kept in Info.Tags.
// A key that is there twice and a boolean that is none are problems.
func (t *Tool) Tags(s string) *Tool {
	return t.change(func() { t.applyTags(s, t.tagText, t.tagFlag) })
}

// tagText returns what a key of Tags that takes text does, nil for others.
func (t *Tool) tagText(key string) func(string) {
	if key == "app" {
		return t.setApp
	}
	return t.definition.tagText(key)
}

// tagFlag returns what a key of Tags that takes a boolean does, nil for
// others.
func (t *Tool) tagFlag(key string) func(bool) {
	hint := func(at **bool) func(bool) { return func(on bool) { *at = &on } }
	switch key {
	case "readonly":
		return hint(&t.hints.ReadOnly)
	case "destructive":
		return hint(&t.hints.Destructive)
	case "idempotent":
		return hint(&t.hints.Idempotent)
	case "openworld":
		return hint(&t.hints.OpenWorld)
	case "structured":
		return func(on bool) { t.structured = &on }
	}
	return t.definition.tagFlag(key)
}
