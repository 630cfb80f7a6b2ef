package mcp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Category groups tools: it is for middleware and filters, which find it in
// Info, and is listed in the tool's _meta.
func (t *Tool) Category(name string) *Tool {
	return t.change(func() { t.setCategory(name) })
}

// App ties the tool to the user interface in the ui: resource of that URI
// (MCP Apps), which hosts that can show it show for the tool's results.
func (t *Tool) App(resourceURI string) *Tool {
	return t.change(func() { t.setApp(resourceURI) })
}

func (t *Tool) setApp(uri string) {
	if !strings.HasPrefix(uri, "ui://") {
		t.problem("", fmt.Errorf("the app's URI %.80q does not start with ui://", uri))
		return
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
	return t.change(func() {
		seen := make(map[string]bool)
		for _, entry := range splitEntries(s, ',') {
			key, value, hasValue := strings.Cut(entry, "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			var err error
			switch {
			case key == "":
				err = fmt.Errorf("an entry has no key")
			case seen[key]:
				err = fmt.Errorf("the key %q is there twice", key)
			default:
				err = t.tag(key, value, hasValue)
			}
			seen[key] = true
			if err != nil {
				t.problem("", fmt.Errorf("tags %q: %w", s, err))
			}
		}
	})
}

// splitEntries splits s at sep and drops blank entries. A backslash before
// sep takes its meaning away.
func splitEntries(s string, sep byte) []string {
	var all []string
	var entry strings.Builder
	flush := func() {
		if text := strings.TrimSpace(entry.String()); text != "" {
			all = append(all, text)
		}
		entry.Reset()
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == sep:
			i++
			entry.WriteByte(sep)
		case s[i] == sep:
			flush()
		default:
			entry.WriteByte(s[i])
		}
	}
	flush()
	return all
}

// tag applies one entry of Tags. It runs within a change.
func (t *Tool) tag(key, value string, hasValue bool) error {
	if set := t.tagText(key); set != nil {
		if value == "" {
			return fmt.Errorf("the key %q needs a value", key)
		}
		set(value)
		return nil
	}
	set := t.tagFlag(key)
	if set == nil {
		if t.tags == nil {
			t.tags = make(map[string]string)
		}
		if !hasValue {
			value = "true"
		}
		t.tags[key] = value
		return nil
	}
	on := true
	if hasValue {
		var err error
		if on, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("the value %q of the key %q is neither true nor false", value, key)
		}
	}
	set(on)
	return nil
}

// tagText returns what a key that takes text does.
func (t *Tool) tagText(key string) func(string) {
	switch key {
	case "title":
		return func(s string) { t.title = s }
	case "app":
		return func(s string) { t.setApp(s) }
	case "icon":
		return func(s string) { t.icons = append(t.icons, Icon{Src: s}) }
	case "category":
		return func(s string) { t.setCategory(s) }
	}
	return nil
}

// tagFlag returns what a key that takes a boolean does.
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
	case "disabled":
		return func(on bool) { t.disabled = on }
	case "hidden":
		return func(on bool) { t.hidden = on }
	}
	return nil
}
