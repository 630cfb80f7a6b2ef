package mcp

import (
	"mime"
	"strconv"
	"strings"
)

// jsonBody reports whether a Content-Type is that of JSON in UTF-8.
func jsonBody(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == "application/json" {
		return true
	}
	kind, params, err := mime.ParseMediaType(values[0])
	if err != nil || kind != "application/json" {
		return false
	}
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}

// identity reports whether a body is sent as it is: none of the codings that a
// Content-Encoding names changes it (RFC 9110, 8.4).
func identity(values []string) bool {
	for _, value := range values {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return false
			}
		}
	}
	return true
}

// accepts tells which of the two forms of an answer an Accept header allows:
// for each the most specific range that covers it decides (RFC 9110, 12.5.1).
// Beyond that it is read liberally: an absent or empty header allows both, and
// parameters other than the weight are passed over.
func accepts(values []string) (json, sse bool) {
	if len(values) == 1 && (values[0] == "application/json, text/event-stream" || values[0] == "*/*") {
		return true, true
	}
	var forJSON, forSSE preference
	empty := true
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			kind, params, _ := strings.Cut(item, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			if kind == "" {
				continue
			}
			empty = false
			allowed := !weightless(params)
			switch kind {
			case "application/json":
				forJSON.consider(3, allowed)
			case "text/event-stream":
				forSSE.consider(3, allowed)
			case "application/*":
				forJSON.consider(2, allowed)
			case "text/*":
				forSSE.consider(2, allowed)
			case "*/*", "*":
				forJSON.consider(1, allowed)
				forSSE.consider(1, allowed)
			}
		}
	}
	return empty || forJSON.allowed, empty || forSSE.allowed
}

// preference is what the ranges read so far say of one media type.
type preference struct {
	specific int // of the range that decides; 0: none covers the type
	allowed  bool
}

func (p *preference) consider(specific int, allowed bool) {
	if specific > p.specific || specific == p.specific && allowed {
		*p = preference{specific, allowed}
	}
}

// weightless reports whether the parameters of a media range rule it out, by
// a weight of zero.
func weightless(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && weight == 0
		}
	}
	return false
}
