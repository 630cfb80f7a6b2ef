package mcp

import (
	"context"
	"net"
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
