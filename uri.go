package mcp

import (
	"errors"
	"fmt"
	"strings"
)

// uriChars are the characters that a URI may have unescaped (RFC 3986, 2.2 and
// 2.3).
const uriChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;="

// checkURI holds uri to being an absolute URI of RFC 3986 (MCP 2026-07-28,
// Resources › Security Considerations): it starts with a scheme, and all
// characters are those of a URI. The text of the error goes on where a
// sentence names the URI.
func checkURI(uri string) error {
	if !absolute.MatchString(uri) {
		return errors.New("is not absolute: it must start with a scheme, such as docs://")
	}
	for i, c := range uri {
		switch {
		case strings.ContainsRune(uriChars, c):
		case c == '%' && i+2 < len(uri) && hexDigit(uri[i+1]) && hexDigit(uri[i+2]):
		default:
			return fmt.Errorf("has %q, which must be percent-encoded", c)
		}
	}
	return nil
}

func hexDigit(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
