package mcp_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/typedmcp/mcp"
)

// answers sends text and says how often each answer came of n. It reads while it sends.
func (p *peer) answers(n int, text ...string) string {
	var sending sync.WaitGroup
	defer sending.Wait()
	defer p.vanish()
	sending.Go(func() {
		for _, one := range text {
			if _, err := p.Write([]byte(one)); err != nil {
				return
			}
		}
	})
	var saw []string
	for range n {
		saw = append(saw, p.answer())
	}
	return times(saw)
}

// huge is a call of echo with so many bytes, whose length is announced where there are headers, or not.
func (p *peer) huge(size int, announced bool) string {
	small := p.s.call(1, "echo", `{"text":"x"}`)
	before, after, _ := strings.Cut(small, `"x"`)
	body := before + `"` + strings.Repeat("x", size) + `"` + after
	head, _, isHTTP := strings.Cut(p.wire(small), "\r\n\r\n")
	if !isHTTP {
		return body + "\n"
	}
	length := fmt.Sprint("Content-Length: ", len(small))
	if announced {
		return strings.Replace(head, length, fmt.Sprint("Content-Length: ", len(body)), 1) + "\r\n\r\n" + body
	}
	return fmt.Sprintf("%s\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", strings.Replace(head, length, "Transfer-Encoding: chunked", 1), len(body), body)
}

// TestFaultsOfMessages is about messages that are none, or too much.
func TestFaultsOfMessages(t *testing.T) {
	const (
		tooLarge = "error -32600: Invalid Request: the message is larger than 16777216 bytes"
		tooDeep  = "error -32600: Invalid Request: nested deeper than 128 levels"
		tooMany  = "error -32603: Internal error: too many subscriptions (20)"
		noJSON   = "error -32700: Parse error: not valid JSON at byte 0"
	)
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "C92 P16 a message of 17 MB", loopback: true,
			want: map[string]string{
				onLines:    "1 × " + tooLarge,
				onHTTP:     "1 × 413 " + tooLarge,
				onSessions: "1 × 413 " + tooLarge,
			},
			inject: func(s *faultSite) string {
				p := s.peer()
				s.unharmed()
				return p.answers(1, p.huge(17<<20, true))
			},
		},
		{
			name: "C92 P16 a message of 17 MB that does not say so", loopback: true,
			want: map[string]string{
				onHTTP:     "1 × 413 " + tooLarge,
				onSessions: "1 × 413 " + tooLarge,
			},
			inject: func(s *faultSite) string {
				p := s.peer()
				s.unharmed()
				return p.answers(1, p.huge(17<<20, false))
			},
		},
		{
			name: "messages that are nested a million deep", loopback: true,
			want: map[string]string{
				onLines:    "5 × " + tooDeep,
				onHTTP:     "5 × 400 " + tooDeep,
				onSessions: "5 × 400 " + tooDeep,
			},
			inject: func(s *faultSite) string {
				p := s.peer()
				s.unharmed()
				deep := p.wire(s.call(1, "echo", `{"text":`+strings.Repeat("[", 1e6)+strings.Repeat("]", 1e6)+`}`))
				return p.answers(5, deep, deep, deep, deep, deep)
			},
		},
		{
			name: "C62 100,000 bad lines", loopback: true,
			want: map[string]string{onLines: "100000 × " + noJSON + ", 1 × result good"},
			inject: func(s *faultSite) string {
				p := s.peer()
				s.unharmed()
				return p.answers(100_001, strings.Repeat("bad\n", 100_000), p.wire(s.call(1, "echo", `{"text":"good"}`)))
			},
		},
		{
			name: "C62 5,000 bad bodies", loopback: true,
			want: map[string]string{
				onHTTP:     "1 × 200 result good, 5000 × 400 " + noJSON,
				onSessions: "1 × 200 result good, 5000 × 400 " + noJSON,
			},
			inject: func(s *faultSite) string {
				p := s.peer()
				s.unharmed()
				return p.answers(5001, strings.Repeat(p.wire("bad"), 5000), p.wire(s.call(1, "echo", `{"text":"good"}`)))
			},
		},
		{
			name: "more calls than may wait", loopback: true,
			set:  func(o *mcp.ServerOptions, _ *mcp.HTTPOptions) { o.Limits = mcp.Limits{InFlight: 10, Queue: 20} },
			want: map[string]string{onLines: "970 × error -32603: Internal error: too many requests in flight on this connection (running 10, waiting 20)"},
			inject: func(s *faultSite) string {
				p := s.peer()
				var calls strings.Builder
				for i := range 1000 {
					calls.WriteString(p.wire(s.call(i, "block", "{}")))
				}
				defer s.unharmed()
				return p.answers(970, calls.String())
			},
		},
		{
			name: "more subscriptions than there may be", loopback: true,
			set:  func(o *mcp.ServerOptions, _ *mcp.HTTPOptions) { o.Limits = mcp.Limits{Streams: 20} },
			want: map[string]string{onLines: "30 × " + tooMany + ", 20 × result ", onHTTP: "30 × 200 " + tooMany},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer s.unharmed()
				if s.carrier == onLines {
					var all strings.Builder
					for i := range 50 {
						all.WriteString(p.wire(listenRequest(fmt.Sprint(i), "")))
					}
					return p.answers(50, all.String())
				}
				var saw []string
				for i := range 50 {
					next := s.peer()
					defer next.vanish()
					next.send(listenRequest("1", ""))
					if i >= 20 {
						saw = append(saw, next.answer())
						continue
					}
					if _, err := next.in.ReadString('{'); err != nil { // acknowledged
						s.t.Error(err)
					}
				}
				p.vanish()
				return times(saw)
			},
		},
	})
}

// TestFaultsOfHeaders is about requests whose headers are too many or too long.
func TestFaultsOfHeaders(t *testing.T) {
	flood := func(lines string) func(*faultSite) string {
		return func(s *faultSite) string {
			p := s.peer()
			s.unharmed()
			whole := p.wire(s.call(1, "echo", `{"text":"x"}`))
			return p.answers(1, strings.Replace(whole, "\r\n", "\r\n"+lines, 1))
		}
	}
	const tooLarge = "1 × 431"
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "C92 a header line without end", loopback: true,
			want:   map[string]string{onHTTP: tooLarge, onSessions: tooLarge},
			inject: flood("X: " + strings.Repeat("x", 4<<20) + "\r\n"),
		},
		{
			name: "C92 header lines without end", loopback: true,
			want:   map[string]string{onHTTP: tooLarge, onSessions: tooLarge},
			inject: flood(strings.Repeat("X: y\r\n", 1e6)),
		},
		{
			name: "C79 a thousand names of one tool", loopback: true,
			want:   map[string]string{onHTTP: "1 × 400 error -32020: Header mismatch: the Mcp-Name header is repeated: send it once"},
			inject: flood(strings.Repeat("Mcp-Name: echo\r\n", 1000)),
		},
		{
			name: "C85 a thousand sessions in one request", loopback: true,
			want:   map[string]string{onSessions: "1 × 400 error -32600: Invalid Request: the header Mcp-Session-Id is repeated"},
			inject: flood(strings.Repeat("Mcp-Session-Id: X\r\n", 1000)),
		},
	})
}
