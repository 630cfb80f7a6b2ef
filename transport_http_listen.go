package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Timeouts of ListenAndServe. There is none for writing: it would cut
// streams, which have one for each write.
const (
	headerTimeout   = 10 * time.Second
	bodyTimeout     = 60 * time.Second
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 10 * time.Second
	maxHeaderBytes  = 64 << 10
)

// ListenAndServe serves MCP over HTTP at the path /mcp of addr until ctx ends,
// and then returns nil once running requests have ended. An addr without a
// host, such as ":8080", means this machine alone: 127.0.0.1:8080; write
// 0.0.0.0:8080 to listen for others. opts may be nil.
func (s *Server) ListenAndServe(ctx context.Context, addr string, opts *HTTPOptions) error {
	h, err := s.httpHandler(opts)
	if err != nil {
		return err
	}
	h.bodyTimeout = bodyTimeout
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("mcp: listening on %q: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		s.log.Warn("mcp: the server listens for other machines and asks nobody who they are", "address", l.Addr().String())
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("mcp: %w", err)
	case <-ctx.Done():
	case <-h.over:
	}
	h.stop(ErrShutdown)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err = web.Shutdown(bound)
	if err != nil {
		err = errors.Join(fmt.Errorf("mcp: requests were still running %v after shutdown: %w", shutdownTimeout, err), web.Close())
	}
	<-served
	return err
}
