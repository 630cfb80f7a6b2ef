package mcp

import "strings"

// Choose returns the model that the server's hints name, of those that the
// client has: the hints count in their order, and each as a part of a name
// (MCP 2026-07-28, Sampling › Model Preferences). It reports false if no hint
// fits, p nil has none; then the priorities are left to go by.
func (p *ModelPreferences) Choose(models []string) (model string, ok bool) {
	if p == nil {
		return "", false
	}
	for _, hint := range p.Hints {
		for _, m := range models {
			if hint != "" && strings.Contains(m, hint) {
				return m, true
			}
		}
	}
	return "", false
}
