package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check reports every problem of what has been registered, joined into one
// error: one call in a test shows every mistake. Serving fails with the same
// error. Check does not end registration.
func (s *Server) Check() error {
	s.walkTrees(s.registry)
	s.mu.Lock()
	warnings, err := s.registry.check()
	s.mu.Unlock()
	s.warn(warnings) // not under the lock: a log handler is user code
	return err
}

// check returns all problems, joined, and the warnings that it did not return
// the last time. Server.mu is held.
func (r *registry) check() (warnings []*RegistrationError, err error) {
	problems := slices.Clone(r.problems)
	standing := make(map[string]bool) // those of what has gone are not kept
	take := func(refused, advice []*RegistrationError) {
		for _, p := range refused {
			problems = append(problems, p)
		}
		for _, w := range advice {
			text := w.Error()
			if !r.warned[text] && !standing[text] {
				warnings = append(warnings, w)
			}
			standing[text] = true
		}
	}
	for _, t := range r.tools {
		take(t.check())
	}
	for _, p := range r.prompts {
		take(p.check())
	}
	for _, res := range r.resources {
		take(res.check())
	}
	take(r.checkShared(), nil)
	take(r.checkApps())
	take(nil, r.checkTemplates())
	r.warned = standing
	return warnings, errors.Join(problems...)
}

func (s *Server) warn(warnings []*RegistrationError) {
	for _, w := range warnings {
		s.log.Warn("mcp: "+shortTypes(w.Err.Error()), "feature", w.Feature, "type", shortTypes(w.Type), "field", w.Field, "caller", w.Caller)
	}
}

// check adds what only the finished definition shows to the problems and
// warnings that were recorded on the way.
func (t *Tool) check() (problems, warnings []*RegistrationError) {
	refused, advice := t.compile()
	problems, warnings = slices.Concat(t.problems, refused), slices.Concat(t.warnings, advice)
	t.checkNamed(&problems, &warnings)
	if t.hints.contradictory() {
		warnings = append(warnings, t.finding("it is hinted to be both read-only and destructive"))
	}
	return problems, warnings
}

// checkNamed judges the name of a tool or prompt.
func (d *definition) checkNamed(problems, warnings *[]*RegistrationError) {
	if fatal, advice := checkName(d.name); fatal != "" {
		*problems = append(*problems, d.finding("the name %s", fatal))
	} else if advice != "" && d.srv.opts.StrictNames {
		*problems = append(*problems, d.finding("the name %s, and StrictNames is set", advice))
	} else if advice != "" {
		*warnings = append(*warnings, d.finding("the name %s", advice))
	}
}

// checkName judges a tool's name (MCP 2026-07-28, Tools › Tool Names). fatal
// says what no client could cope with, advice what some hosts refuse.
func checkName(name string) (fatal, advice string) {
	if name == "" {
		return "is empty", ""
	}
	if !utf8.ValidString(name) {
		return "is not valid UTF-8", ""
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return "has control characters", ""
	}
	if n := utf8.RuneCountInString(name); n > 128 {
		return "", fmt.Sprintf("has %d characters, more than the 128 that hosts accept", n)
	}
	for _, c := range name {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			continue
		}
		return "", fmt.Sprintf("has %q, which is outside A-Z a-z 0-9 _ - . and which hosts refuse", c)
	}
	return "", ""
}

// encodeMeta returns the JSON of a value for a _meta of the application's.
func encodeMeta(key string, v any) (json.RawMessage, error) {
	if err := checkMetaKey(key); err != nil {
		return nil, err
	}
	raw, err := encodeValue(v)
	if err != nil {
		return nil, fmt.Errorf("_meta key %q: %w", key, err)
	}
	return raw, nil
}

// checkMetaKey holds a key to the grammar of _meta (MCP 2026-07-28, Basic ›
// _meta) and refuses prefixes that are reserved for the protocol.
func checkMetaKey(key string) error {
	prefix, err := splitKey(key)
	if err == nil {
		labels := strings.Split(prefix, ".")
		if len(labels) > 1 && (labels[1] == "modelcontextprotocol" || labels[1] == "mcp") {
			err = fmt.Errorf("the prefix %q is reserved for the protocol; use a domain name of your own, reversed", prefix)
		}
	}
	if err != nil {
		return fmt.Errorf("_meta key %q: %w", key, err)
	}
	return nil
}

// splitKey returns the prefix of a key, "" for none, and what breaks the
// grammar of keys.
func splitKey(key string) (prefix string, err error) {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	} else if strings.Contains(name, "/") {
		return "", errors.New("more than one slash")
	}
	if prefixed {
		for label := range strings.SplitSeq(prefix, ".") {
			if !metaLabel(label) {
				return "", fmt.Errorf("the label %q must start with a letter, end with a letter or digit and hold only letters, digits and hyphens", label)
			}
		}
	}
	if !metaName(name) && (name != "" || !prefixed) {
		return "", errors.New("the name must start and end with a letter or digit and hold only letters, digits, '-', '_' and '.'")
	}
	return prefix, nil
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
