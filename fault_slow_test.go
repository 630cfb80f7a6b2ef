package mcp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// slowReader takes a second for 64 KB.
type slowReader struct{ from io.Reader }

func (r slowReader) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return r.from.Read(p[:min(len(p), 64<<10)])
}

// timed says after how long the answer came that answer returns. The half second is that in which net/http lets a
// refused peer read.
func timed(answer func() string) string {
	start := time.Now()
	saw := answer()
	took := time.Since(start)
	if rest := took % time.Second; rest == 500*time.Millisecond {
		took -= rest
	}
	return fmt.Sprintf("%s after %v", saw, took)
}

// TestFaultsOfSlowReaders is about peers that take their time to read, or do not read at all.
func TestFaultsOfSlowReaders(t *testing.T) {
	const whole = "result of 1000000 bytes"
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name: "C110 a peer that reads slowly",
			want: map[string]string{onLines: "5 × " + whole, onHTTP: "5 × 200 " + whole, onSessions: "5 × 200 " + whole},
			inject: func(s *faultSite) string {
				p := s.peer()
				defer p.vanish()
				p.in = bufio.NewReader(slowReader{p.Conn})
				var saw []string
				for i := range 5 {
					p.send(s.call(i, "blob", `{"count":1000000}`))
					s.unharmed()
					saw = append(saw, p.answer())
				}
				return times(saw)
			},
		},
		{
			name: "C92 C110 peers that do not read their answers",
			want: map[string]string{onHTTP: "20 × the end", onSessions: "20 × the end"},
			inject: func(s *faultSite) string {
				all := s.peers(func(p *peer) string { return p.wire(s.call(1, "blob", `{"count":1000000}`)) })
				s.unharmed()
				time.Sleep(time.Minute)
				var saw []string
				for _, p := range all {
					saw = append(saw, p.answer())
					p.vanish()
				}
				return times(saw)
			},
		},
		{
			name: "C110 peers that do not read their answers, and hang up", loopback: true,
			want: map[string]string{onLines: "0 writes failed", onHTTP: "0 writes failed", onSessions: "0 writes failed"},
			inject: func(s *faultSite) string {
				all := s.peers(func(p *peer) string {
					var calls strings.Builder
					for i := range 10 {
						calls.WriteString(p.wire(s.call(i, "blob", `{"count":1000000}`)))
					}
					return calls.String()
				})
				s.unharmed()
				for _, p := range all {
					p.vanish()
				}
				return "0 writes failed" // peers fails the test at one that does
			},
		},
		{
			name: "C110 SUB-11 listeners that do not read",
			want: map[string]string{onLines: "20 × caught up", onHTTP: "20 × the end"},
			inject: func(s *faultSite) string {
				all := s.peers(func(p *peer) string { return p.wire(listenRequest("1", `"toolsListChanged":true`)) })
				synctest.Wait() // they listen
				for range 100 {
					changeTools(s.t, s.Server)
				}
				s.unharmed()
				time.Sleep(time.Minute)
				var saw []string
				for _, p := range all {
					saw = append(saw, caughtUp(p))
					p.vanish()
				}
				return times(saw)
			},
		},
	})
}

// changeTools adds a tool and removes it.
func changeTools(t testing.TB, s *mcp.Server) {
	t.Helper()
	for _, change := range []func(*mcp.Update) error{
		func(u *mcp.Update) error { mcp.AddTool(u, "new", "", returning[noArgs]("")); return nil },
		func(u *mcp.Update) error { return u.RemoveTool("new") },
	} {
		if err := s.Update(change); err != nil {
			t.Error(err)
		}
	}
}

// caughtUp says whether a listener that begins to read is told of what it missed, and not as often as that happened.
func caughtUp(p *peer) string {
	if p.s.carrier != onLines {
		return p.answer()
	}
	if err := p.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		p.s.t.Error(err)
	}
	all, _ := io.ReadAll(p.in)
	if n := strings.Count(string(all), "list_changed"); n == 0 || n > 5 {
		return fmt.Sprintf("told %d times", n)
	}
	return "caught up"
}

// drip sends text byte by byte, one a second.
func (p *peer) drip(text string) (done <-chan struct{}) {
	dripped := make(chan struct{})
	go func() {
		defer close(dripped)
		for _, c := range []byte(text) {
			time.Sleep(time.Second)
			if _, err := p.Write([]byte{c}); errors.Is(err, io.ErrClosedPipe) {
				return
			}
		}
	}()
	return dripped
}

// TestFaultsOfSlowWriters is about peers that take their time to write, or stop.
func TestFaultsOfSlowWriters(t *testing.T) {
	late := "408 error -32600: Invalid Request: the body did not come to its end in time after 1m0s"
	stuck := func(text func(p *peer) string) func(s *faultSite) string {
		return func(s *faultSite) string {
			p := s.peer()
			defer p.vanish()
			p.raw(text(p))
			return timed(func() string { s.unharmed(); return p.answer() })
		}
	}
	runFaults(t, newFaultSite, []faultRow[*faultSite]{
		{
			name:   "C92 a header that does not end",
			want:   map[string]string{onHTTP: "the end after 10s", onSessions: "the end after 10s"},
			inject: stuck(func(p *peer) string { whole := block(p); return whole[:strings.Index(whole, "Content-Length")] }),
		},
		{
			name:   "C92 a body that stops half way",
			want:   map[string]string{onHTTP: late, onSessions: late},
			inject: stuck(half),
		},
		{
			name: "C92 a message that comes drop by drop",
			want: map[string]string{onLines: "result slow", onHTTP: late, onSessions: late},
			inject: func(s *faultSite) (saw string) {
				p := s.peer()
				defer p.vanish()
				whole := p.wire(s.call(1, "echo", `{"text":"slow"}`))
				head := strings.Index(whole, "\r\n\r\n") + len("\r\n\r\n") // of lines there is none
				if s.carrier == onLines {
					head = 0
				}
				p.raw(whole[:head])
				dripped := p.drip(whole[head:])
				s.unharmed()
				if s.carrier == onLines {
					saw = p.answer()
				} else {
					saw = timed(p.answer)
				}
				p.vanish()
				<-dripped
				return saw
			},
		},
	})
}
