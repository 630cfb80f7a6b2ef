package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// encodeExtensions returns the settings of extensions as JSON, and what is
// wrong with them (MCP 2026-07-28, Versioning › Extension Negotiation).
func encodeExtensions(given map[string]any) (settings map[string]json.RawMessage, problems []error) {
	for _, id := range slices.Sorted(maps.Keys(given)) {
		raw, err := encodeExtension(id, given[id])
		if err != nil {
			problems = append(problems, fmt.Errorf("extension %q: %w", id, err))
			continue
		}
		if settings == nil {
			settings = make(map[string]json.RawMessage)
		}
		settings[id] = raw
	}
	return settings, problems
}

func encodeExtension(id string, v any) (json.RawMessage, error) {
	if prefix, err := splitKey(id); err != nil {
		return nil, err
	} else if prefix == "" {
		return nil, errors.New("an id needs a prefix, such as com.example/")
	}
	if v == nil {
		return json.RawMessage("{}"), nil
	}
	raw, err := encodeValue(v)
	if err != nil {
		return nil, fmt.Errorf("the settings: %w", err)
	}
	if raw[0] != '{' {
		return nil, errors.New("the settings are no JSON object")
	}
	return raw, nil
}

// extensions are those that a server declares: what its options say, and MCP
// Apps once a tool or resource is one's.
func (r *registry) extensions() map[string]json.RawMessage {
	given := r.srv.extensions
	if _, declared := given[appExtension]; declared || !r.hasApps() {
		return given
	}
	all := maps.Clone(given)
	if all == nil {
		all = make(map[string]json.RawMessage)
	}
	all[appExtension] = json.RawMessage("{}")
	return all
}

func (r *registry) hasApps() bool {
	return slices.ContainsFunc(r.tools, func(t *Tool) bool { return t.app != "" && !t.disabled }) ||
		slices.ContainsFunc(r.resources, func(res *Resource) bool { return res.mime == appMIMEType && !res.disabled })
}

// serves reports whether a read of uri can find something.
func (r *registry) serves(uri string) bool {
	return slices.ContainsFunc(r.resources, func(res *Resource) bool {
		if res.disabled {
			return false
		}
		if res.template != nil {
			_, ok := res.template.values(uri)
			return ok
		}
		return res.uri == uri || res.tree != nil && strings.HasPrefix(uri, res.uri)
	})
}

// extends reports whether a client declared an extension, with settings that
// make sense: whatever is malformed is not supported. Apps need the media type
// that pages have (MCP Apps › Capability Negotiation).
func extends(declared map[string]json.RawMessage, id string) bool {
	raw, ok := declared[id]
	if !ok || firstByte(raw) != '{' {
		return false
	}
	if id != appExtension {
		return true
	}
	var settings struct {
		Types []string `json:"mimeTypes"`
	}
	return jsonx.Unmarshal(raw, &settings) == nil && slices.Contains(settings.Types, appMIMEType)
}
