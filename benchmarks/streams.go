package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// listening opens a subscription that never tells anything.
var listening = exchange{method: "subscriptions/listen", params: `"notifications":{"toolsListChanged":true},`}

// idleStreams measures what a server holds for each of n streams that are open
// and silent, in a fresh process every time.
func idleStreams(n int, start func(contestant) (*child, error), open func(addr string) (net.Conn, error)) func(contestant) (*runner, error) {
	return func(c contestant) (*runner, error) {
		measure := func(time.Duration) (sample, error) {
			p, err := start(c)
			if err != nil {
				return sample{}, err
			}
			s, err := p.holding(c, n, open)
			return s, errors.Join(err, p.stop())
		}
		return &runner{measure, func() error { return nil }}, nil
	}
}

func (p *child) holding(c contestant, n int, open func(addr string) (net.Conn, error)) (sample, error) {
	first, err := open(p.addr)
	if err != nil {
		return sample{}, err
	}
	defer first.Close()
	before, err := p.memory()
	if err != nil {
		return sample{}, err
	}
	for range n {
		conn, err := open(p.addr)
		if err != nil {
			return sample{}, err
		}
		defer conn.Close()
	}
	after, err := p.memory()
	return sample{memory: float64(after-before) / 1024 / float64(n)}, err
}

// openStream returns once a subscription is acknowledged.
func openStream(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := acknowledge(conn, addr); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func acknowledge(conn net.Conn, addr string) error {
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write(listening.request(addr, "")); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return fmt.Errorf("no stream: status %d, %s", response.StatusCode, kind)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "notifications/subscriptions/acknowledged") {
			return nil
		}
	}
	return errors.Join(errors.New("not acknowledged"), lines.Err())
}
