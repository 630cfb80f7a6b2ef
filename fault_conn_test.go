package mcp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// faultPeers is how many peers do the same wrong thing at once.
const faultPeers = 20

// peers opens so many connections and sends on each what text returns.
func (s *faultSite) peers(text func(*peer) string) (all []*peer) {
	for range faultPeers {
		p := s.peer()
		p.raw(text(p))
		all = append(all, p)
	}
	return all
}

// block is a call that lasts until its context ends. On its connection nothing is written meanwhile, which would tell that
// the peer is gone.
func block(p *peer) string { return p.wire(p.s.call(1, "block", "{}"), "Accept: application/json") }

// began waits until n calls of the fixture's tools have begun.
func (s *faultSite) began(n int) {
	for range n {
		receive(s.t, s.started)
	}
}

// causes says why n calls ended.
func (s *faultSite) causes(n int) string {
	var all []string
	for range n {
		cause := receive(s.t, s.ended)
		all = append(all, fmt.Sprint("disconnected ", errors.Is(cause, mcp.ErrDisconnected)))
	}
	return times(all)
}

// half is the first half of a call that must not be carried out.
func half(p *peer) string {
	whole := block(p)
	return whole[:len(whole)-40]
}

// TestFaultsOfConnections is about peers that go away.
func TestFaultsOfConnections(t *testing.T) {
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "C106 C115 peers that vanish mid-call", loopback: true,
			want: map[string]string{onLines: "20 × disconnected true", onHTTP: "20 × disconnected true"},
			inject: func(s *faultSite) string {
				all := s.peers(block)
				s.began(faultPeers)
				for _, p := range all {
					p.vanish()
				}
				s.unharmed()
				return s.causes(faultPeers)
			},
		},
		{
			name: "C115 peers that vanish mid-call, whose sessions go on until they are idle for long",
			want: map[string]string{onSessions: "20 × 404 error -32600: Invalid Request: there is no such session, or it has ended; begin a new one with initialize, without Mcp-Session-Id"},
			inject: func(s *faultSite) string {
				all := s.peers(func(p *peer) string { return p.wire(s.call(1, "hold", "{}")) })
				s.began(faultPeers)
				for _, p := range all {
					p.vanish()
				}
				time.Sleep(time.Hour) // calls go on, and sessions with them
				s.unharmed()
				for _, p := range all {
					if saw := again(p, plainRequest("2", "ping")); !strings.HasPrefix(saw, "200") {
						s.t.Errorf("while its call is running, a session answers %s", saw)
					}
				}
				close(s.release)
				time.Sleep(time.Hour)
				var saw []string
				for _, p := range all {
					saw = append(saw, again(p, plainRequest("2", "ping")))
				}
				return times(saw)
			},
		},
		{
			name: "C106 peers that vanish mid-stream", loopback: true,
			want: map[string]string{onLines: "20 × disconnected true", onHTTP: "20 × disconnected true"},
			inject: func(s *faultSite) string {
				all := s.peers(func(p *peer) string { return p.wire(modernCall("1", "flood", "{}", token1)) })
				for _, p := range all { // some of it came
					if _, err := io.CopyN(io.Discard, p.in, 2000); err != nil {
						s.t.Error(err)
					}
				}
				s.unharmed()
				for _, p := range all {
					p.vanish()
				}
				return s.causes(faultPeers)
			},
		},
		{
			name: "peers that vanish from the stream of their session", loopback: true,
			want: map[string]string{onSessions: "20 × HTTP/1.1 200 OK"},
			inject: func(s *faultSite) (saw string) {
				all := s.peers(func(p *peer) string {
					return written(s.t, (&httpSession{id: p.session, version: "2025-11-25"}).get())
				})
				var lines []string
				for _, p := range all {
					line, err := p.in.ReadString('\n')
					if err != nil {
						s.t.Error(err)
					}
					lines = append(lines, strings.TrimSpace(line))
				}
				s.unharmed()
				for _, p := range all {
					p.vanish()
				}
				return times(lines)
			},
		},
		{
			name: "C92 peers that vanish mid-upload", loopback: true,
			want: map[string]string{onLines: "0 calls", onHTTP: "0 calls", onSessions: "0 calls"},
			inject: func(s *faultSite) string {
				all := s.peers(half)
				s.unharmed()
				for _, p := range all {
					p.vanish()
				}
				return fmt.Sprintf("%d calls", len(s.started))
			},
		},
	})
}

// again sends a message of p's session on a connection of its own.
func again(p *peer, body string) string {
	conn := p.s.dial()
	next := &peer{Conn: conn, s: p.s, in: bufio.NewReader(conn), session: p.session}
	defer next.Close()
	next.send(body)
	return next.answer()
}

// TestFaultsOfHalfClosedConnections is about peers that say that they send no more.
func TestFaultsOfHalfClosedConnections(t *testing.T) {
	halfClose := func(p *peer) {
		if err := p.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			p.s.t.Error(err)
		}
	}
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "C92 half a message, and a half-closed connection", loopback: true,
			want: map[string]string{
				onLines:    "error -32700: Parse error: the JSON text ends too early",
				onHTTP:     "400 error -32600: Invalid Request: the body could not be read to its end",
				onSessions: "400 error -32600: Invalid Request: the body could not be read to its end",
			},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer p.vanish()
				p.raw(half(p))
				s.unharmed()
				halfClose(p)
				return p.answer()
			},
		},
		{
			name: "a call, and a half-closed connection", loopback: true,
			want: map[string]string{onLines: "result released ", onHTTP: "200 result released ", onSessions: "200 result released "},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer p.vanish()
				p.raw(p.wire(s.call(1, "hold", "{}")))
				s.began(1)
				halfClose(p)
				s.unharmed()
				close(s.release)
				return p.answer()
			},
		},
		{
			name: "C106 a call that listens, and a half-closed connection", loopback: true,
			want: map[string]string{onHTTP: "mcp: client disconnected: context canceled, and then 200 failure mcp: client disconnected: context canceled"},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer p.vanish()
				p.raw(block(p))
				s.began(1)
				halfClose(p)
				s.unharmed()
				cause := receive(s.t, s.ended)
				return fmt.Sprintf("%v, and then %s", cause, p.answer())
			},
		},
	})
}
