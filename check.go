package mcp

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Check reports every problem of what has been registered, joined into one
// error: one call in a test shows every mistake. Serving fails with the same
// error. Check does not end registration.
func (s *Server) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.check()
}

func (s *Server) check() error {
	problems := append([]error(nil), s.registry.problems...)
	for _, t := range s.registry.tools {
		for _, p := range t.problems {
			problems = append(problems, p)
		}
		problems = append(problems, s.checkTool(t)...)
	}
	for _, w := range s.registry.warnings {
		s.warn(w)
	}
	s.registry.warnings = nil // each is logged once
	return errors.Join(problems...)
}

func (s *Server) warn(w *RegistrationError) {
	s.log.Warn("mcp: "+w.Err.Error(), "feature", w.Feature, "type", w.Type, "field", w.Field, "caller", w.Caller)
}

// checkTool finds what only the finished definition shows.
func (s *Server) checkTool(t *Tool) (problems []error) {
	bad := func(format string, args ...any) {
		problems = append(problems, &RegistrationError{
			Feature: t.feature(), Caller: t.site.String(), Err: fmt.Errorf(format, args...),
		})
	}
	warn := func(text string) {
		if !t.warned {
			s.warn(&RegistrationError{Feature: t.feature(), Caller: t.site.String(), Err: errors.New(text)})
		}
	}
	if fatal, advice := checkName(t.name); fatal != "" {
		bad("the name %s", fatal)
	} else if advice != "" && s.opts.StrictNames {
		bad("the name %s, and StrictNames is set", advice)
	} else if advice != "" {
		warn("the name " + advice)
	}
	if t.hints.contradictory() {
		warn("it is hinted to be both read-only and destructive")
	}
	for _, icon := range t.icons {
		if err := icon.check(); err != nil {
			bad("%w", err)
		}
	}
	t.warned = true
	return problems
}

// checkName judges a tool's name (MCP 2026-07-28, Tools › Tool Names). fatal
// says what no client could cope with, advice what some hosts refuse.
func checkName(name string) (fatal, advice string) {
	if name == "" {
		return "is empty", ""
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "has control characters", ""
	}
	if len(name) > 128 {
		return "", "is longer than 128 characters"
	}
	for _, c := range name {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			continue
		}
		return "", fmt.Sprintf("has %q, which is outside A-Z a-z 0-9 _ - . and which hosts refuse", c)
	}
	return "", ""
}

// check accepts what clients may load: https: and data: URIs.
func (i Icon) check() error {
	if strings.HasPrefix(i.Src, "https://") || strings.HasPrefix(i.Src, "data:image/") {
		return nil
	}
	return fmt.Errorf("icon %.80q is neither an https: nor a data:image/ URI", i.Src)
}

// checkMetaKey holds a key to the grammar of _meta (MCP 2026-07-28, Basic ›
// _meta) and refuses prefixes that are reserved for the protocol.
func checkMetaKey(key string) error {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	} else if strings.Contains(name, "/") {
		return fmt.Errorf("_meta key %q has more than one slash", key)
	}
	if prefixed {
		labels := strings.Split(prefix, ".")
		for _, label := range labels {
			if !metaLabel(label) {
				return fmt.Errorf("_meta key %q: the label %q must start with a letter, end with a letter or digit and hold only letters, digits and hyphens", key, label)
			}
		}
		if len(labels) > 1 && (labels[1] == "modelcontextprotocol" || labels[1] == "mcp") {
			return fmt.Errorf("_meta key %q: the prefix %q is reserved for the protocol; use a domain name of your own, reversed", key, prefix)
		}
	}
	if name == "" && prefixed {
		return nil
	}
	if !metaName(name) {
		return fmt.Errorf("_meta key %q: the name must start and end with a letter or digit and hold only letters, digits, '-', '_' and '.'", key)
	}
	return nil
}

func metaLabel(s string) bool {
	if s == "" || !letter(s[0]) || !letter(s[len(s)-1]) && !digit(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !letter(s[i]) && !digit(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func metaName(s string) bool {
	if s == "" || !letter(s[0]) && !digit(s[0]) || !letter(s[len(s)-1]) && !digit(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !letter(s[i]) && !digit(s[i]) && !strings.ContainsRune("-_.", rune(s[i])) {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
