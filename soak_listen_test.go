//go:build soak

package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// soaker is one listener: it lists the tools whenever it is told that they changed.
type soaker struct {
	notice func() error           // waits for a change
	list   func() (string, error) // the answer to tools/list
}

// follow lists until the list has the tool that comes last, ten times a second at most, as a considerate client does:
// what changes in between it is told of once.
func (s *soaker) follow(last string) error {
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for ; ; <-pace.C {
		state, err := s.list()
		if err != nil {
			return err
		}
		if strings.Contains(state, last) {
			return nil
		}
		if err := s.notice(); err != nil {
			return err
		}
	}
}

// overPipe listens on a connection of its own and lists on the same.
func overPipe(t *testing.T, s *mcp.Server) *soaker {
	client, server := newPipeConns()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, server) }()
	t.Cleanup(func() { stop(); _ = client.Close(); <-served })
	send := func(line string) error { return client.Write(ctx, []byte(line)) }
	due := false
	read := func() (string, error) {
		msg, err := client.Read(ctx)
		due = due || strings.Contains(string(msg), "list_changed")
		return string(msg), err
	}
	if err := send(listenRequest("0", `"toolsListChanged":true`)); err != nil {
		t.Fatal(err)
	}
	if line, err := read(); err != nil || !strings.Contains(line, "acknowledged") {
		t.Fatalf("%s, %v", line, err)
	}
	return &soaker{
		notice: func() (err error) {
			for !due && err == nil {
				_, err = read()
			}
			due = false
			return err
		},
		list: func() (string, error) {
			if err := send(modernRequest("1", "tools/list")); err != nil {
				return "", err
			}
			for {
				if line, err := read(); err != nil || strings.HasPrefix(line, `{"jsonrpc":"2.0","id":1`) {
					return strings.TrimSpace(line), err
				}
			}
		},
	}
}

// overHTTP listens to a stream and lists by requests beside it.
func overHTTP(t *testing.T, h http.Handler, web *httptest.Server, client *http.Client) *soaker {
	st := openFor(t, client, web.URL+"/mcp", modernPost(listenRequest("0", `"toolsListChanged":true`), "Host: "+web.Listener.Addr().String()), time.Hour)
	for !strings.Contains(st.next(), "acknowledged") {
	}
	return &soaker{
		notice: func() error {
			for {
				switch frame := st.next(); {
				case frame == "end":
					return errors.New("the stream ended")
				case strings.Contains(frame, "list_changed"):
					return nil
				}
			}
		},
		list: func() (string, error) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, modernPost(modernRequest("1", "tools/list")))
			return w.Body.String(), nil
		},
	}
}

// TestSoakListeners holds 200 listeners, and some that never read, to the last state of lists that change 3,000 times,
// a hundred times a second, and the server to no more memory and goroutines than at the start.
func TestSoakListeners(t *testing.T) {
	before := goroutines()
	const changes, warm = 3000, 300
	t.Run("C110 C112 SUB-11 200 listeners", func(t *testing.T) {
		s := lettered(nil)
		h := newHandler(t, s, modernOnly)
		web := httptest.NewServer(h)
		t.Cleanup(web.Close)
		client := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(client.CloseIdleConnections)
		var soakers []*soaker
		for range 100 {
			soakers = append(soakers, overPipe(t, s), overHTTP(t, h, web, client))
		}
		for range 10 { // these read nothing any more
			overPipe(t, s)
		}
		var following sync.WaitGroup
		for i, sk := range soakers {
			following.Go(func() {
				if err := sk.follow(fmt.Sprintf(`"v%d"`, changes-1)); err != nil {
					t.Errorf("listener %d: %v", i, err)
				}
			})
		}
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		var heap uint64
		begin := time.Now()
		for i := range changes {
			<-tick.C
			err := s.Update(func(u *mcp.Update) error { // returns whoever reads or not
				if i > 0 {
					if err := u.RemoveTool(fmt.Sprintf("v%d", i-1)); err != nil {
						return err
					}
				}
				add(u, fmt.Sprintf("v%d", i))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if i == warm {
				heap = live()
			}
		}
		took := time.Since(begin) // 30 s where the machine keeps up
		done := make(chan struct{})
		go func() { following.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(3 * time.Minute):
			t.Fatal("some listeners never learned of the last state")
		}
		if now := live(); now > heap+heap/10 {
			t.Errorf("the heap grew from %d to %d bytes", heap, now)
		} else {
			t.Logf("the heap was %d bytes after %d changes, and is %d after %d, which took %v", heap, warm, now, changes, took.Round(time.Second))
		}
	})
	if left := leftGoroutines(before, 10*time.Second); len(left) > 0 {
		t.Errorf("C115 %d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}
