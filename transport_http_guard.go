package mcp

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard decides who may reach an HTTP endpoint at all: it keeps web pages from
// using a visitor's browser to call servers that they should not reach (MCP
// 2026-07-28, Streamable HTTP › Security Warning). Forwarded headers are never
// read: anybody can write them.
type guard struct {
	origins []string // in lower case
	hosts   []string // in lower case
	anyHost bool
}

func newGuard(opts *HTTPOptions) (*guard, error) {
	g := &guard{anyHost: opts.InsecureAnyHost}
	for _, o := range opts.AllowedOrigins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
			return nil, fmt.Errorf("mcp: option AllowedOrigins: %q is no origin; write it as https://app.example.com, with a port if it has one", o)
		}
		g.origins = append(g.origins, strings.ToLower(o))
	}
	for _, h := range opts.AllowedHosts {
		if h == "" || strings.ContainsAny(h, "/ @") {
			return nil, fmt.Errorf("mcp: option AllowedHosts: %q is no host name; write it as mcp.example.com or mcp.example.com:8443", h)
		}
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g, nil
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
	return !cors(w, r, origins[0])
}

func forbid(w http.ResponseWriter, why string) {
	refuseHTTP(w, http.StatusForbidden, why)
}

// onLoopback reports whether the request came in on a loopback address of
// this machine.
func onLoopback(r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return addr != nil && addr.IP.IsLoopback()
}

func (g *guard) hostAllowed(host string, local bool) bool {
	if g.anyHost || !local && g.hosts == nil {
		return true
	}
	return loopbackName(hostname(host)) || g.hostListed(host)
}

func (g *guard) hostListed(host string) bool {
	if g.hosts == nil {
		return false
	}
	host = strings.ToLower(host)
	return slices.Contains(g.hosts, host) || slices.Contains(g.hosts, hostname(host))
}

// originAllowed judges the origin of a web page.
func (g *guard) originAllowed(origin, host string, local bool) bool {
	if slices.Contains(g.origins, strings.ToLower(origin)) {
		return true
	}
	scheme, authority, ok := strings.Cut(origin, "://")
	if !ok || scheme != "http" && scheme != "https" { // null above all
		return false
	}
	if name := hostname(authority); local && loopbackName(name) {
		return true
	}
	if !strings.EqualFold(authority, host) {
		return false
	}
	// The page's own server, if it is really reached by that name: a foreign
	// name that points here would be equal too.
	name := hostname(host)
	_, err := netip.ParseAddr(name)
	return err == nil || loopbackName(name) || g.hostListed(host)
}

// hostname returns an authority without its port and an IPv6 address without
// its brackets.
func hostname(authority string) string {
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && strings.IndexByte(authority[i:], ']') < 0 &&
		(authority[0] == '[' || strings.IndexByte(authority, ':') == i) {
		authority = authority[:i]
	}
	return strings.TrimSuffix(strings.TrimPrefix(authority, "["), "]")
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
func cors(w http.ResponseWriter, r *http.Request, origin string) bool {
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
	head.Set("Access-Control-Allow-Methods", http.MethodPost)
	if allowed != nil {
		head.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	}
	head.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
	return true
}
