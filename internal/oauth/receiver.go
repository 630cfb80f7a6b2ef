package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// Receiver waits on this machine for a user to come back with the browser (RFC
// 8252, section 7.3). It must be closed.
type Receiver struct {
	redirect string
	path     string
	server   *http.Server
	served   chan struct{} // closed when the server has ended
	state    atomic.Pointer[string]
	answer   chan url.Values // of one element
}

// receiverPath is where users come back to if nobody says otherwise.
const receiverPath = "/callback"

// NewReceiver listens at a redirect URL on this machine; "" means an address
// of the receiver's choice, and so does port 0.
func NewReceiver(redirect string) (*Receiver, error) {
	if redirect == "" {
		redirect = "http://127.0.0.1:0" + receiverPath
	}
	u, err := url.Parse(redirect)
	if err != nil || !Receivable(redirect) {
		return nil, fmt.Errorf("the redirect URL %q is not http on this machine, where alone it can be received", redirect)
	}
	host, port := u.Hostname(), u.Port()
	if host != "::1" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "80"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("nobody can come back to %s: %w", redirect, err)
	}
	if port == "0" {
		_, port, _ = net.SplitHostPort(l.Addr().String())
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	r := &Receiver{redirect: u.String(), path: u.EscapedPath(), served: make(chan struct{}), answer: make(chan url.Values, 1)}
	r.server = &http.Server{Handler: r, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	r.server.SetKeepAlivesEnabled(false)
	go func() {
		defer close(r.served)
		_ = r.server.Serve(l) // always an error, that of Close
	}()
	return r, nil
}

// Redirect is the URL to send the user back to.
func (r *Receiver) Redirect() string { return r.redirect }

// Await has open show the user the page at address, and returns the parameters
// with which the user came back: those of the attempt with the given state;
// all others are sent away. It is called once.
func (r *Receiver) Await(ctx context.Context, state string, open func() error) (url.Values, error) {
	r.state.Store(&state)
	if err := open(); err != nil {
		return nil, fmt.Errorf("the browser could not be opened: %w", err)
	}
	select {
	case answer := <-r.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the user did not come back: %w", context.Cause(ctx))
	}
}

// Close stops waiting.
func (r *Receiver) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // for the page to be sent
	defer cancel()
	if errors.Is(r.server.Shutdown(ctx), context.DeadlineExceeded) {
		_ = r.server.Close()
	}
	<-r.served
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Content-Security-Policy", "default-src 'none'")
	host, _, err := net.SplitHostPort(req.Host)
	if err != nil {
		host = req.Host
	}
	switch {
	case !Loopback(host), req.URL.EscapedPath() != r.path:
		http.NotFound(w, req)
		return
	case req.Method != http.MethodGet:
		head.Set("Allow", http.MethodGet)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	answer := req.URL.Query()
	if state := r.state.Load(); state == nil || answer.Get("state") != *state {
		http.Error(w, "This is not the sign-in that the program waits for.", http.StatusBadRequest)
		return
	}
	select {
	case r.answer <- answer:
		_, _ = w.Write([]byte("You can close this window and go back to the program.\n"))
	default:
		http.Error(w, "This sign-in has ended.", http.StatusBadRequest)
	}
}

// Receivable reports whether a Receiver can listen at a redirect URL.
func Receivable(redirect string) bool {
	u, err := url.Parse(redirect)
	return err == nil && u.Scheme == "http" && Loopback(u.Hostname())
}
