package mcp

import (
	"context"
	"net"
	"net/http"
)

// ServeListener is ListenAndServe on a listener that the test has made.
func (s *Server) ServeListener(ctx context.Context, l net.Listener, opts *HTTPOptions) error {
	h, err := s.httpHandler(opts)
	if err != nil {
		return err
	}
	defer h.stop(ErrShutdown)
	return h.serveListener(ctx, l)
}

// SessionCount is how many sessions a handler of HTTPHandler holds.
func SessionCount(h http.Handler) int {
	s := h.(*httpHandler).sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}
