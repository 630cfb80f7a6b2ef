package oauth

import (
	"net/http"
	"slices"
	"strings"
)

// Challenge is what WWW-Authenticate says of bearer tokens (RFC 6750, section
// 3, and RFC 9728, section 5.1).
type Challenge struct {
	Error            string // invalid_token, insufficient_scope and the like; "" on first contact
	Description      string
	Scope            string // scopes to ask for, separated by spaces
	ResourceMetadata string // where the metadata of the resource is
}

// InsufficientScope is the error of a token that is good but for its scopes.
const InsufficientScope = "insufficient_scope"

// String returns the header's value.
func (c Challenge) String() string {
	var b strings.Builder
	b.WriteString("Bearer")
	sep := " "
	for _, p := range [...]struct{ name, value string }{
		{"error", c.Error}, {"error_description", c.Description}, {"scope", c.Scope}, {"resource_metadata", c.ResourceMetadata},
	} {
		if p.value == "" {
			continue
		}
		b.WriteString(sep)
		sep = ", "
		b.WriteString(p.name)
		b.WriteString(`="`)
		for _, c := range []byte(p.value) {
			if c == '"' || c == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
		b.WriteByte('"')
	}
	return b.String()
}

// FindChallenge returns the first bearer challenge of a response, and the zero
// value for none. There may be several headers, and several challenges in
// each, of any scheme.
func FindChallenge(h http.Header) Challenge {
	for _, value := range h.Values("WWW-Authenticate") {
		for _, c := range parseChallenges(value) {
			if strings.EqualFold(c.scheme, "bearer") {
				return Challenge{
					Error: c.params["error"], Description: c.params["error_description"],
					Scope: c.params["scope"], ResourceMetadata: c.params["resource_metadata"],
				}
			}
		}
	}
	return Challenge{}
}

type rawChallenge struct {
	scheme string
	params map[string]string // names in lower case; the first of a name counts
}

// parseChallenges reads a list of challenges (RFC 9110, section 11.6.1). What
// follows a syntax error is dropped.
func parseChallenges(s string) []rawChallenge {
	var found []rawChallenge
	for {
		s = strings.TrimLeft(s, " \t,")
		word := s[:tokenEnd(s)]
		if word == "" {
			return found
		}
		s = s[len(word):]
		rest := strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "==") {
			found = append(found, rawChallenge{scheme: word, params: make(map[string]string)})
			s = skipToken68(rest)
			continue
		}
		value, after, ok := parseValue(strings.TrimLeft(rest[1:], " \t"))
		if !ok || len(found) == 0 {
			return found
		}
		params, name := found[len(found)-1].params, strings.ToLower(word)
		if _, repeated := params[name]; !repeated {
			params[name] = value
		}
		s = after
	}
}

// skipToken68 drops the credentials in Base64 that a challenge may have in
// place of parameters.
func skipToken68(s string) string {
	word, _, _ := strings.Cut(s, ",")
	word = strings.TrimRight(word, " \t")
	if Token68(word) {
		return s[len(word):]
	}
	return s
}

// Token68 reports whether s has the form of credentials (RFC 9110, section
// 11.2).
func Token68(s string) bool {
	body := strings.TrimRight(s, "=")
	return body != "" && !strings.ContainsFunc(body, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-._~+/", c))
	})
}

// parseValue reads a token or a quoted string.
func parseValue(s string) (value, after string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := tokenEnd(s)
		return s[:end], s[end:], end > 0
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// tokenEnd returns the length of the token at the beginning of s.
func tokenEnd(s string) int {
	end := strings.IndexFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
	if end < 0 {
		return len(s)
	}
	return end
}

// Scopes splits a list of scopes and takes out repeated ones.
func Scopes(lists ...string) []string {
	var all []string
	for _, list := range lists {
		for scope := range strings.FieldsSeq(list) {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}
