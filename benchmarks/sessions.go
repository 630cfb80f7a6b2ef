package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// What opens a session of revision 2025-11-25.
var (
	initialize = exchange{method: "initialize", legacy: true, params: fmt.Sprintf(
		`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}`, legacyVersion)}
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// openSession opens a session over HTTP, and returns its id.
func openSession(conn net.Conn, in *bufio.Reader, addr string) (string, error) {
	head, err := roundTrip(conn, in, initialize.request(addr, ""), http.StatusOK)
	if err != nil {
		return "", fmt.Errorf("initialize: %w", err)
	}
	session := head.Get("Mcp-Session-Id")
	notice := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\n\r\n%s",
		addr, len(initialized), legacyVersion, session, initialized)
	if _, err := roundTrip(conn, in, []byte(notice), http.StatusAccepted); err != nil {
		return "", fmt.Errorf("initialized: %w", err)
	}
	return session, nil
}

func roundTrip(conn net.Conn, in *bufio.Reader, request []byte, status int) (http.Header, error) {
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != status {
		err = fmt.Errorf("status %d: %.300s", response.StatusCode, body)
	}
	return response.Header, err
}

// openPipeSession opens a session on a server's standard input.
func (p *child) openPipeSession() error {
	if _, err := io.WriteString(p.stdin, initialize.body()+"\n"); err != nil {
		return err
	}
	if _, err := p.stdout.ReadBytes('\n'); err != nil {
		return err
	}
	_, err := io.WriteString(p.stdin, initialized+"\n")
	return err
}

// openSessionStream returns once the stream of a session of its own is open.
func openSessionStream(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := streamOfSession(conn, addr); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func streamOfSession(conn net.Conn, addr string) error {
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	session, err := openSession(conn, in, addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMcp-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\n\r\n",
		addr, legacyVersion, session); err != nil {
		return err
	}
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("no stream: status %d", response.StatusCode)
	}
	return nil
}
