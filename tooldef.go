package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// ToolDef is the definition of a tool as it stands in tools/list. Schemas are
// kept as received, byte for byte, and members that this package does not
// know survive in Extra.
type ToolDef struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage  // nil: none
	Annotations  *ToolAnnotations // nil: none
	Icons        []Icon
	Meta         Meta
	Extra        map[string]json.RawMessage // unknown members, nil for none
}

// ToolInfo is a tool as a client sees it.
type ToolInfo = ToolDef

// DisplayName is the name to show to people: the title, else the title among
// the annotations, else the name.
func (d *ToolDef) DisplayName() string {
	switch {
	case d.Title != "":
		return d.Title
	case d.Annotations != nil && d.Annotations.Title != "":
		return d.Annotations.Title
	}
	return d.Name
}

// wireTool has the known members of a tool's definition.
type wireTool struct {
	Name         string           `json:"name"`
	Title        string           `json:"title,omitempty"`
	Description  string           `json:"description,omitempty"`
	InputSchema  json.RawMessage  `json:"inputSchema"`
	OutputSchema json.RawMessage  `json:"outputSchema,omitempty"`
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
	Icons        []Icon           `json:"icons,omitempty"`
	Meta         Meta             `json:"_meta,omitempty"`
}

var knownToolMembers = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"}

// MarshalJSON implements json.Marshaler.
func (d ToolDef) MarshalJSON() ([]byte, error) {
	w := wireTool{d.Name, d.Title, d.Description, d.InputSchema, d.OutputSchema, d.Annotations, d.Icons, d.Meta}
	const rest = 256 // for all but the schemas, in most cases
	dst, err := jsonx.Append(make([]byte, 0, len(d.InputSchema)+len(d.OutputSchema)+len(d.Description)+rest), &w)
	if err != nil {
		return nil, err
	}
	dst = dst[:len(dst)-1]
	for _, name := range slices.Sorted(maps.Keys(d.Extra)) {
		if !slices.Contains(knownToolMembers, name) {
			dst = append(jsonx.AppendString(append(dst, ','), name), ':')
			dst = append(dst, d.Extra[name]...)
		}
	}
	return append(dst, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *ToolDef) UnmarshalJSON(data []byte) error {
	var w wireTool
	if err := jsonx.Unmarshal(data, &w); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := jsonx.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, name := range knownToolMembers {
		delete(all, name)
	}
	if len(all) == 0 {
		all = nil
	}
	*d = ToolDef{w.Name, w.Title, w.Description, w.InputSchema, w.OutputSchema, w.Annotations, w.Icons, w.Meta, all}
	return nil
}
