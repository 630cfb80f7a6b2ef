package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// connections is how many keep-alive connections the load comes on.
const connections = 64

// load sends x to c at addr over and over, on conns connections, each of which
// waits for its answer first, and returns how long each answer took. Every answer
// is checked: the first of a connection by its meaning, the others by their
// bytes, and by their meaning where those differ.
func load(c contestant, addr string, x exchange, conns int, d time.Duration) ([]time.Duration, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex // protects all and first
		all   []time.Duration
		first error
	)
	deadline := time.Now().Add(d)
	for range conns {
		wg.Go(func() {
			times, err := hammer(c, addr, x, deadline)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, times...)
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return all, first
}

// hammer is the load on one connection.
func hammer(c contestant, addr string, x exchange, deadline time.Time) (times []time.Duration, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(deadline.Add(10 * time.Second)); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(conn, 32<<10)
	session := ""
	if x.legacy {
		if session, err = openSession(conn, in, addr); err != nil {
			return nil, err
		}
	}
	request := x.request(addr, session)
	var known []byte
	var body bytes.Buffer
	for {
		begin := time.Now()
		if begin.After(deadline) && times != nil {
			return times, nil
		}
		if _, err := conn.Write(request); err != nil {
			return times, err
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			return times, err
		}
		body.Reset()
		if _, err := body.ReadFrom(response.Body); err != nil {
			return times, err
		}
		times = append(times, time.Since(begin))
		if response.StatusCode == http.StatusOK && known != nil && bytes.Equal(known, body.Bytes()) {
			continue
		}
		if err := x.judge(c, response.StatusCode, body.Bytes()); err != nil {
			return times, err
		}
		known = bytes.Clone(body.Bytes())
	}
}

// request is x as it goes over the wire.
func (x *exchange) request(addr, session string) []byte {
	var b strings.Builder
	body := x.body()
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", addr, len(body))
	for _, h := range x.headers(session) {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}
