package mcp

import (
	"fmt"
	"strconv"
	"strings"
)

// applyTags applies the entries of s. text and flag return what a key does;
// keys that neither knows are kept. It runs within a change.
func (d *definition) applyTags(s string, text func(key string) func(string), flag func(key string) func(bool)) {
	seen := make(map[string]bool)
	for _, entry := range splitEntries(s, ',') {
		key, value, hasValue := strings.Cut(entry, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		err := fmt.Errorf("the key %q is there twice", key)
		switch {
		case key == "":
			err = fmt.Errorf("an entry has no key")
		case seen[key]:
		case text(key) != nil:
			err = applyText(key, value, text(key))
		case flag(key) != nil:
			err = applyFlag(key, value, hasValue, flag(key))
		default:
			err = nil
			d.keepTag(key, value, hasValue)
		}
		seen[key] = true
		if err != nil {
			d.problem("", fmt.Errorf("tags %q: %w", s, err))
		}
	}
}

func applyText(key, value string, set func(string)) error {
	if value == "" {
		return fmt.Errorf("the key %q needs a value", key)
	}
	set(value)
	return nil
}

func applyFlag(key, value string, hasValue bool, set func(bool)) error {
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

// keepTag keeps an entry that means nothing to this package.
func (d *definition) keepTag(key, value string, hasValue bool) {
	if d.tags == nil {
		d.tags = make(map[string]string)
	}
	if !hasValue {
		value = "true"
	}
	d.tags[key] = value
}

// tagText returns what a key that takes text does, nil for others.
func (d *definition) tagText(key string) func(string) {
	switch key {
	case "title":
		return func(s string) { d.title = s }
	case "icon":
		return func(s string) { d.icons = append(d.icons, Icon{Src: s}) }
	case "category":
		return d.setCategory
	}
	return nil
}

// tagFlag returns what a key that takes a boolean does, nil for others.
func (d *definition) tagFlag(key string) func(bool) {
	switch key {
	case "disabled":
		return func(on bool) { d.disabled = on }
	case "hidden":
		return func(on bool) { d.hidden = on }
	}
	return nil
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
