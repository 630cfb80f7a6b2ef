package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Check reports every problem of what has been registered, joined into one
// error: one call in a test shows every mistake. Serving fails with the same
// error. Check does not end registration.
func (s *Server) Check() error {
	s.mu.Lock()
	warnings, err := s.check()
	s.mu.Unlock()
	s.warn(warnings) // not under the lock: a log handler is user code
	return err
}

// check returns all problems, joined, and the warnings that it has not
// returned before. s.mu is held.
func (s *Server) check() (warnings []*RegistrationError, err error) {
	problems := slices.Clone(s.registry.problems)
	for _, t := range s.registry.tools {
		refused, advice := t.check()
		for _, p := range refused {
			problems = append(problems, p)
		}
		for _, w := range advice {
			if text := w.Error(); !s.registry.warned[text] {
				s.registry.warned[text] = true
				warnings = append(warnings, w)
			}
		}
	}
	return warnings, errors.Join(problems...)
}

func (s *Server) warn(warnings []*RegistrationError) {
	for _, w := range warnings {
		s.log.Warn("mcp: "+w.Err.Error(), "feature", w.Feature, "type", w.Type, "field", w.Field, "caller", w.Caller)
	}
}

// check adds what only the finished definition shows to the problems and
// warnings that were recorded on the way.
func (t *Tool) check() (problems, warnings []*RegistrationError) {
	problems, warnings = slices.Clone(t.problems), slices.Clone(t.warnings)
	finding := func(format string, args ...any) *RegistrationError {
		return &RegistrationError{Feature: t.feature(), Caller: t.site.String(), Err: fmt.Errorf(format, args...)}
	}
	if fatal, advice := checkName(t.name); fatal != "" {
		problems = append(problems, finding("the name %s", fatal))
	} else if advice != "" && t.srv.opts.StrictNames {
		problems = append(problems, finding("the name %s, and StrictNames is set", advice))
	} else if advice != "" {
		warnings = append(warnings, finding("the name %s", advice))
	}
	if t.hints.contradictory() {
		warnings = append(warnings, finding("it is hinted to be both read-only and destructive"))
	}
	for _, icon := range t.icons {
		if err := icon.check(); err != nil {
			problems = append(problems, finding("%w", err))
		}
	}
	return problems, warnings
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

// maxIcon is the largest image, in bytes, that an icon may carry in itself.
const maxIcon = 64 << 10

// check accepts what hosts load and show (MCP 2026-07-28, Basic › Icons):
// https: URIs, and images in data: URIs, which every list carries along.
func (i Icon) check() error {
	for _, size := range i.Sizes {
		if !iconSize(size) {
			return fmt.Errorf(`icon %.80q: the size %q is neither "any" nor like "48x48"`, i.Src, size)
		}
	}
	if i.Theme != "" && i.Theme != "light" && i.Theme != "dark" {
		return fmt.Errorf(`icon %.80q: the theme %q is neither "light" nor "dark"`, i.Src, i.Theme)
	}
	data, inline := strings.CutPrefix(i.Src, "data:")
	if !inline {
		if u, err := url.Parse(i.Src); err != nil || u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("icon %.80q is neither an https: URI nor a data: URI", i.Src)
		}
		return nil
	}
	kind, data, _ := strings.Cut(data, ",")
	switch kind {
	case "image/png;base64", "image/jpeg;base64", "image/webp;base64", "image/svg+xml;base64":
	default:
		return fmt.Errorf("icon %.80q: a data: URI must begin with data:image/png;base64, or that of image/jpeg, image/webp or image/svg+xml", i.Src)
	}
	image, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return fmt.Errorf("icon %.80q: the data is not standard base64: %w", i.Src, err)
	}
	if len(image) > maxIcon {
		return fmt.Errorf("icon %.80q: the image has %d bytes, more than %d; give its https: URI instead", i.Src, len(image), maxIcon)
	}
	return nil
}

// iconSize accepts "any" and sizes such as "48x48".
func iconSize(s string) bool {
	width, height, both := strings.Cut(s, "x")
	return s == "any" || both && digits(width) && digits(height)
}

func digits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}

// encodeMeta returns the JSON of a value for a _meta of the application's.
// Encoding may run a method of a user's type, which may panic.
func encodeMeta(key string, v any) (raw json.RawMessage, err error) {
	if err := checkMetaKey(key); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, fmt.Errorf("_meta key %q: panic: %v", key, p)
		}
	}()
	if raw, err = jsonx.Marshal(v); err != nil {
		return nil, fmt.Errorf("_meta key %q: %w", key, err)
	}
	return raw, nil
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
