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
	readTimeout     = 60 * time.Second // for header and body
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 10 * time.Second
	maxHeaderBytes  = 64 << 10
)

// ListenAndServe serves MCP over HTTP at the path /mcp of addr, with Auth its
// metadata too, until ctx ends or Shutdown is called, and then returns nil once
// running requests have ended; their contexts end at once, with ErrShutdown. An
// addr without a host, such as ":8080", means this machine alone:
// 127.0.0.1:8080; write 0.0.0.0:8080 to listen for others. With port 0 the
// system chooses one, which only ServerOptions.Logger is told: set it, or serve
// HTTPHandler on a listener of your own. Contexts of requests have the values
// of ctx. opts may be nil.
func (s *Server) ListenAndServe(ctx context.Context, addr string, opts *HTTPOptions) error {
	h, err := s.httpHandler(opts)
	if err != nil {
		return err
	}
	defer h.stop(ErrShutdown)
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
	return h.serveListener(ctx, l)
}

// httpServing is a web server of our own, for Shutdown to wait for.
type httpServing struct{ handler *httpHandler }

func (w *httpServing) stop(cause error) { w.handler.stop(cause) }

// serveListener serves on l, and closes it.
func (h *httpHandler) serveListener(ctx context.Context, l net.Listener) error {
	srv := h.snap.srv
	own := &httpServing{h}
	if err := srv.serving.add(own); err != nil {
		return errors.Join(err, l.Close())
	}
	defer srv.serving.remove(own)
	srv.log.Info("mcp: serving HTTP", "address", l.Addr().String(), "path", "/mcp")
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && h.gate == nil {
		srv.log.Warn("mcp: the server listens for other machines and asks nobody who they are", "address", l.Addr().String())
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	if h.gate != nil {
		mux.Handle("/.well-known/", h.gate.auth.MetadataHandler())
	}
	web := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    slog.NewLogLogger(srv.log.Handler(), slog.LevelWarn),
	}
	var failure error
	served := make(chan struct{})
	go func() {
		defer close(served)
		failure = web.Serve(l)
	}()
	select {
	case <-served:
	case <-ctx.Done():
	case <-h.over:
	}
	h.stop(ErrShutdown)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	late := web.Shutdown(bound)
	if late != nil {
		late = errors.Join(fmt.Errorf("mcp: requests were still running %v after shutdown: %w", shutdownTimeout, late), web.Close())
	}
	<-served
	if errors.Is(failure, http.ErrServerClosed) {
		return late
	}
	return errors.Join(fmt.Errorf("mcp: %w", failure), late)
}
