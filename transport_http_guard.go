package mcp

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// guard decides who may reach an HTTP endpoint at all: it keeps web pages from
// using a visitor's browser to call servers that they should not reach (MCP
// 2026-07-28, Streamable HTTP › Security Warning). Forwarded headers are never
// read: anybody can write them.
type guard struct {
	origins []string // as browsers send them
	hosts   []authority
	anyHost bool
	methods string // that the endpoint has
}

func newGuard(opts *HTTPOptions, sessions bool) (*guard, error) {
	g := &guard{anyHost: opts.InsecureAnyHost, methods: http.MethodPost}
	if sessions {
		g.methods = "GET, POST, DELETE"
	}
	for _, o := range opts.AllowedOrigins {
		origin, ok := parseOrigin(o)
		if !ok {
			return nil, fmt.Errorf("mcp: option AllowedOrigins: %q is no origin; write it as https://app.example.com, with a port if it has one", o)
		}
		g.origins = append(g.origins, origin)
	}
	for _, h := range opts.AllowedHosts {
		host, ok := parseAuthority(h)
		if !ok || !host.named() {
			return nil, fmt.Errorf("mcp: option AllowedHosts: %q is no host; write it as mcp.example.com or mcp.example.com:8443", h)
		}
		g.hosts = append(g.hosts, host)
	}
	return g, nil
}

// parseOrigin returns an origin in the form that browsers send: in lower case
// and without the default port.
func parseOrigin(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || !strings.EqualFold(s, u.Scheme+"://"+u.Host) {
		return "", false
	}
	host, ok := parseAuthority(u.Host)
	if !ok || !host.named() {
		return "", false
	}
	s = strings.ToLower(s)
	switch {
	case u.Scheme == "https" && host.port == "443", u.Scheme == "http" && host.port == "80":
		s = strings.TrimSuffix(s, ":"+host.port)
	}
	return s, true
}

// admit reports whether the request may go on; otherwise it has been answered.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) bool {
	local := onLoopback(r)
	if !g.hostAllowed(r.Host, local) {
		forbid(w, fmt.Sprintf("the host %.200q is not among HTTPOptions.AllowedHosts", r.Host))
		return false
	}
	origins := r.Header["Origin"]
	if origins == nil {
		return true
	}
	if len(origins) != 1 || !g.originAllowed(origins[0], r.Host, local) {
		forbid(w, fmt.Sprintf("the origin %.200q is not among HTTPOptions.AllowedOrigins", strings.Join(origins, ", ")))
		return false
	}
	return !g.cors(w, r, origins[0])
}

func forbid(w http.ResponseWriter, why string) {
	refuseHTTP(w, http.StatusForbidden, why)
}

// onLoopback reports whether the request came in on a loopback address of
// this machine.
func onLoopback(r *http.Request) bool {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return addr != nil && addr.IP.IsLoopback()
	case net.Addr: // of another network, or of a listener that wraps one
		at, err := netip.ParseAddrPort(addr.String())
		return err == nil && at.Addr().Unmap().IsLoopback()
	}
	return false
}

func (g *guard) hostAllowed(host string, local bool) bool {
	if g.anyHost || !local && g.hosts == nil {
		return true
	}
	at, ok := parseAuthority(host)
	return ok && (loopbackName(at.name) || g.hostListed(at))
}

func (g *guard) hostListed(host authority) bool {
	return slices.ContainsFunc(g.hosts, host.matches)
}

// originAllowed judges the origin of a web page.
func (g *guard) originAllowed(origin, host string, local bool) bool {
	if slices.Contains(g.origins, strings.ToLower(origin)) {
		return true
	}
	scheme, rest, ok := strings.Cut(origin, "://")
	if !ok || scheme != "http" && scheme != "https" { // null above all
		return false
	}
	page, ok := parseAuthority(rest)
	if !ok {
		return false
	}
	if local && loopbackName(page.name) {
		return true
	}
	if !strings.EqualFold(rest, host) {
		return false
	}
	// The page's own server, if it is really reached by that name: a foreign
	// name that points here would be equal too.
	return page.address() || loopbackName(page.name) || g.hostListed(page)
}

// authority is the host of a request or an option. An IPv6 address has no
// brackets, and the port may be empty.
type authority struct{ name, port string }

func parseAuthority(s string) (authority, bool) {
	name, rest := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return authority{}, false
		}
		name, rest = s[1:end], s[end+1:]
	} else if i := strings.IndexByte(s, ':'); i >= 0 && i == strings.LastIndexByte(s, ':') {
		name, rest = s[:i], s[i:]
	}
	if name == "" {
		return authority{}, false
	}
	if rest == "" || rest == ":" {
		return authority{name, ""}, true
	}
	port := rest[1:]
	_, err := strconv.ParseUint(port, 10, 16)
	return authority{name, port}, rest[0] == ':' && err == nil
}

// named reports whether the name could be that of a host, in the form that
// requests have it.
func (a authority) named() bool {
	return a.address() || !strings.ContainsFunc(a.name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_')
	})
}

// address reports whether the name is an IP address.
func (a authority) address() bool {
	_, err := netip.ParseAddr(a.name)
	return err == nil
}

// matches reports whether a, of a request, is the host that an option allows.
// One without a port allows every port; a request without one means the
// default of a scheme that only the outermost server knows.
func (a authority) matches(allowed authority) bool {
	switch allowed.port {
	case "", a.port:
	case "80", "443":
		if a.port != "" {
			return false
		}
	default:
		return false
	}
	if strings.EqualFold(a.name, allowed.name) {
		return true
	}
	one, err := netip.ParseAddr(a.name)
	other, otherErr := netip.ParseAddr(allowed.name)
	return err == nil && otherErr == nil && one == other
}

func loopbackName(name string) bool {
	if name == "127.0.0.1" || strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

// corsHeaders are what a browser may send to the endpoint, besides the
// parameters that tools mirror.
var corsHeaders = []string{
	"accept", "authorization", "content-type", "last-event-id",
	"mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id",
}

// cors tells the browser of an allowed page that it may read the answer. It
// reports whether the request was a preflight, which has then been answered.
func (g *guard) cors(w http.ResponseWriter, r *http.Request, origin string) bool {
	head := w.Header()
	head.Add("Vary", "Origin")
	head.Set("Access-Control-Allow-Origin", origin)
	head.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	var allowed []string
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if slices.Contains(corsHeaders, name) || strings.HasPrefix(name, "mcp-param-") {
			allowed = append(allowed, name)
		}
	}
	head.Set("Access-Control-Allow-Methods", g.methods)
	if allowed != nil {
		head.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	}
	head.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
	return true
}
