package oauth

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Reach says which networks a client may connect to.
type Reach int

const (
	// ReachPublic is the internet: addresses that belong to this machine, a
	// private network, or a service of the cloud's, are refused.
	ReachPublic Reach = iota
	// ReachLocal is the internet and this machine, by its loopback addresses.
	ReachLocal
	// ReachAll is every network.
	ReachAll
)

// newTransport returns a transport that decides by the addresses that it
// really connects to, so that a name cannot resolve to one thing when it is
// looked at and to another when it is used. Proxies would connect in its
// stead, and are not used.
func newTransport(reach Reach) http.RoundTripper {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if reach != ReachAll {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return reach.allow(address) }
	}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// allow judges the address of a connection that is about to be made.
func (r Reach) allow(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %s is not understood", address)
	}
	ip := at.Addr().WithZone("").Unmap()
	switch {
	case r == ReachLocal && ip.IsLoopback():
		return nil
	case public(ip):
		return nil
	}
	return fmt.Errorf("%s is not an address of the internet: metadata of others may not lead there", ip)
}

// public reports whether an address is one of the internet.
func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, block := range notPublic {
		if block.Contains(ip) {
			return false
		}
	}
	return true
}

// notPublic are the special-purpose blocks (RFC 6890) that netip takes for
// global, and those of IPv6 that hold IPv4 addresses.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}
