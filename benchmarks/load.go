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
// waits for its answer first, and returns how many answers came. Every answer
// is checked: the first of a connection by its meaning, the others by their
// bytes, and by their meaning where those differ.
func load(c contestant, addr string, x exchange, conns int, d time.Duration) (int, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex // protects total and first
		total int
		first error
	)
	deadline := time.Now().Add(d)
	for range conns {
		wg.Go(func() {
			n, err := hammer(c, addr, x, deadline)
			mu.Lock()
			defer mu.Unlock()
			total += n
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return total, first
}

// hammer is the load on one connection.
func hammer(c contestant, addr string, x exchange, deadline time.Time) (int, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(deadline.Add(10 * time.Second)); err != nil {
		return 0, err
	}
	request := x.request(addr)
	in := bufio.NewReaderSize(conn, 32<<10)
	var known []byte
	var body bytes.Buffer
	for n := 0; ; n++ {
		if time.Now().After(deadline) && n > 0 {
			return n, nil
		}
		if _, err := conn.Write(request); err != nil {
			return n, err
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			return n, err
		}
		body.Reset()
		if _, err := body.ReadFrom(response.Body); err != nil {
			return n, err
		}
		if response.StatusCode == http.StatusOK && known != nil && bytes.Equal(known, body.Bytes()) {
			continue
		}
		if err := x.judge(c, response.StatusCode, body.Bytes()); err != nil {
			return n, err
		}
		known = bytes.Clone(body.Bytes())
	}
}

// request is x as it goes over the wire.
func (x *exchange) request(addr string) []byte {
	var b strings.Builder
	body := x.body()
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", addr, len(body))
	for _, h := range x.headers() {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}
