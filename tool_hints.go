package mcp

// ToolAnnotations are the hints of a tool as a client sees them. They are
// tri-state: nil is unset, is not sent and has the protocol's default, which
// for Destructive and OpenWorld is true (MCP 2026-07-28, Tools ›
// ToolAnnotations). They are claims of the server, not guarantees.
type ToolAnnotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// ReadOnly hints that the tool changes nothing; ReadOnly(false) says
// explicitly that it does. Hints are advice to hosts and are not enforced.
func (t *Tool) ReadOnly(on ...bool) *Tool {
	return t.change(func() { t.hints.ReadOnly = hint(on) })
}

// Destructive hints that the tool may destroy what is there, the protocol's
// default; Destructive(false) says that it only adds.
func (t *Tool) Destructive(on ...bool) *Tool {
	return t.change(func() { t.hints.Destructive = hint(on) })
}

// Idempotent hints that a repeated call has no further effect.
func (t *Tool) Idempotent(on ...bool) *Tool {
	return t.change(func() { t.hints.Idempotent = hint(on) })
}

// OpenWorld hints that the tool deals with an open set of things, such as the
// web, the protocol's default; OpenWorld(false) says that it does not.
func (t *Tool) OpenWorld(on ...bool) *Tool {
	return t.change(func() { t.hints.OpenWorld = hint(on) })
}

func hint(on []bool) *bool {
	v := len(on) == 0 || on[len(on)-1]
	return &v
}

// contradictory reports hints that cannot both be meant.
func (h *ToolAnnotations) contradictory() bool {
	return h.ReadOnly != nil && *h.ReadOnly && h.Destructive != nil && *h.Destructive
}
