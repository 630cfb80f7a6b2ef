package oauth

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// The names of well-known addresses.
const (
	wellKnownResource = "oauth-protected-resource"
	wellKnownServer   = "oauth-authorization-server"
	wellKnownOpenID   = "openid-configuration"
)

// ParseURL parses the address of something that is trusted with secrets: it
// is absolute, https or on this machine, and has no credentials and no
// fragment.
func ParseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("it is no URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Opaque != "":
		return nil, errors.New("it is no absolute https URL")
	case u.Scheme == "http" && !Loopback(u.Hostname()):
		return nil, errors.New("it is not https, which everything but this machine must be")
	case u.User != nil:
		return nil, errors.New("it has a user name")
	case u.Fragment != "" || strings.HasSuffix(s, "#"):
		return nil, errors.New("it has a fragment")
	}
	return u, nil
}

// Loopback reports whether a host, without its port, is this machine by name.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// Canonical returns the form of a server's URL that names it as a resource
// (MCP 2026-07-28, Authorization › Canonical Server URI): scheme and host in
// lower case, no default port, and no slash alone for a path.
func Canonical(s string) (string, error) {
	u, err := ParseURL(s)
	if err != nil {
		return "", err
	}
	u.Host = canonicalHost(u)
	if u.Path == "/" {
		u.Path, u.RawPath = "", ""
	}
	return u.String(), nil
}

// canonicalHost returns host and port in lower case, without the scheme's own
// port.
func canonicalHost(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// Covers reports whether the resource that metadata is about is the server at
// the given URL: it has the same origin, and the server's path or one above.
func Covers(resource, server string) bool {
	r, err := ParseURL(resource)
	if err != nil {
		return false
	}
	s, err := ParseURL(server)
	if err != nil || r.Scheme != s.Scheme || canonicalHost(r) != canonicalHost(s) {
		return false
	}
	above, path := strings.TrimSuffix(r.EscapedPath(), "/"), strings.TrimSuffix(s.EscapedPath(), "/")
	if r.RawQuery != "" && r.RawQuery != s.RawQuery {
		return false
	}
	return path == above || strings.HasPrefix(path, above+"/")
}

// MetadataURLs returns the addresses at which the metadata of a resource is
// found, the one with its path and the root one, which are the same for a
// resource without a path (RFC 9728, section 3.1).
func MetadataURLs(resource string) (inserted, root string, err error) {
	u, err := ParseURL(resource)
	if err != nil {
		return "", "", fmt.Errorf("the resource %q: %w", resource, err)
	}
	return insert(u, wellKnownResource), origin(u) + "/.well-known/" + wellKnownResource, nil
}

// serverURLs returns the addresses at which the metadata of an authorization
// server may be, in the order of MCP 2026-07-28 (Authorization Server
// Discovery › Authorization Server Metadata Discovery).
func serverURLs(issuer *url.URL) []string {
	urls := []string{insert(issuer, wellKnownServer), insert(issuer, wellKnownOpenID)}
	if path := strings.TrimSuffix(issuer.EscapedPath(), "/"); path != "" {
		urls = append(urls, origin(issuer)+path+"/.well-known/"+wellKnownOpenID)
	}
	return urls
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// insert puts a well-known address between the host and the path of u.
func insert(u *url.URL, name string) string {
	s := origin(u) + "/.well-known/" + name + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		s += "?" + u.RawQuery
	}
	return s
}
