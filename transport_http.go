package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/wire"
)

// HTTPOptions configure a server's HTTP transport. The zero value, and a nil
// pointer, are good defaults for a server on this machine.
type HTTPOptions struct {
	// AllowedOrigins are the web origins, such as "https://app.example.com",
	// whose pages may call the server. Pages of loopback origins always may
	// when the server listens on loopback, and so may those of the server's
	// own origin; all others are refused with 403.
	AllowedOrigins []string
	// AllowedHosts are the host names, with or without a port, by which the
	// server is reached. A server that listens on loopback accepts loopback
	// names besides these and no others, so that a web page cannot reach it by
	// a name of its own (DNS rebinding); set this behind a reverse proxy. Nil
	// accepts every name on other listeners.
	AllowedHosts []string
	// InsecureAnyHost turns the check of host names off.
	InsecureAnyHost bool
	// KeepAlive is how long a response may be silent: an answer that takes
	// longer becomes a stream, and a silent stream gets a comment. 0 means 15
	// seconds.
	KeepAlive time.Duration
	// Auth demands credentials; nil serves everybody. Behind middleware of
	// your own that does, see WithPrincipal.
	Auth *Auth
	// Legacy says how clients of revisions before 2026-07-28 are served.
	Legacy LegacyMode
	// SessionTTL is how long such a client's session lasts in which nothing
	// goes on: no request and no stream. 0 means 30 minutes.
	SessionTTL time.Duration
	// MaxStream is how long a stream to a client of revision 2025-11-25 may
	// stay open. Then the server ends it, and the client comes back after a
	// second for the rest (MCP 2025-11-25, Transports › Sending Messages to
	// the Server); calls go on meanwhile. Set it where something on the way
	// cuts long responses. 0 means as long as it takes.
	MaxStream time.Duration
}

// LegacyMode says how an HTTP server treats the revisions that are opened by
// initialize.
type LegacyMode int

const (
	// LegacySessions, the default, gives each client a session, which is its
	// own alone and lives in the memory of this process: handlers can ask such
	// clients, changes are announced to them, and they may come back for what
	// a broken connection held up. Behind a load balancer their requests have
	// to reach the same replica, by Mcp-Session-Id.
	LegacySessions LegacyMode = iota
	// LegacyStateless serves them without sessions, on whatever replica:
	// features can be listed and used, but such clients cannot be asked, told
	// of changes or sent logs.
	LegacyStateless
	// LegacyOff refuses them.
	LegacyOff
)

const defaultKeepAlive = 15 * time.Second

// check finds values that mean nothing; newGuard checks those that are its.
func (o *HTTPOptions) check() error {
	switch {
	case o.KeepAlive < 0:
		return fmt.Errorf("mcp: option KeepAlive: %v is negative; 0 means %v", o.KeepAlive, defaultKeepAlive)
	case o.Legacy < LegacySessions || o.Legacy > LegacyOff:
		return fmt.Errorf("mcp: option Legacy: %d is none of LegacySessions, LegacyStateless and LegacyOff", o.Legacy)
	case o.SessionTTL < 0:
		return fmt.Errorf("mcp: option SessionTTL: %v is negative; 0 means %v", o.SessionTTL, defaultSessionTTL)
	case o.MaxStream < 0:
		return fmt.Errorf("mcp: option MaxStream: %v is negative; 0 means that streams have no limit", o.MaxStream)
	}
	return nil
}

// HTTPHandler returns a handler that serves MCP's Streamable HTTP transport,
// at whatever path it is mounted. It fails with what Check finds. The handler
// is safe for concurrent use; handlers of tools run in the goroutines of
// net/http. Their contexts end when the client hangs up, which cancels the
// call in revision 2026-07-28 and not in those before.
//
// After Shutdown every request is answered 503.
//
// Servers around it should set http.Server.ReadTimeout, which bounds bodies
// and not calls here, and should not set WriteTimeout, which would cut long
// calls. opts may be nil.
func (s *Server) HTTPHandler(opts *HTTPOptions) (http.Handler, error) {
	return s.httpHandler(opts)
}

func (s *Server) httpHandler(opts *HTTPOptions) (*httpHandler, error) {
	snap, err := s.freeze()
	if err != nil {
		return nil, err
	}
	h := &httpHandler{snap: snap, over: make(chan struct{})}
	if opts != nil {
		h.opts = *opts
	}
	if err := h.opts.check(); err != nil {
		return nil, err
	}
	if h.opts.KeepAlive == 0 {
		h.opts.KeepAlive = defaultKeepAlive
	}
	if h.opts.SessionTTL == 0 {
		h.opts.SessionTTL = defaultSessionTTL
	}
	sessions := h.opts.Legacy == LegacySessions && snap.legacy()
	if h.guard, err = newGuard(&h.opts, sessions); err != nil {
		return nil, err
	}
	if h.gate, err = newGate(h.opts.Auth, s.log); err != nil {
		return nil, err
	}
	h.modernOnly = h.opts.Legacy == LegacyOff
	if served := s.versions(h.modernOnly); len(served) == 0 {
		return nil, errors.New("mcp: option Legacy: LegacyOff leaves nothing to serve, as ServerOptions.Versions names older revisions only")
	}
	if sessions {
		h.sessions = newSessionStore(s, h.opts.SessionTTL)
	}
	h.active.init(h.opts.KeepAlive)
	if err := s.serving.add(h); err != nil {
		return nil, err
	}
	return h, nil
}

// httpHandler serves one HTTP endpoint.
type httpHandler struct {
	snap       *snapshot
	opts       HTTPOptions
	guard      *guard
	gate       *gate
	modernOnly bool // revisions before 2026-07-28 are refused
	active     streams
	sessions   *sessionStore // nil: there are none

	once sync.Once
	over chan struct{} // closed by stop
}

// ServeHTTP implements http.Handler. The order of its checks is the
// protocol's.
func (h *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.guard.admit(w, r) {
		return
	}
	if h.stopped() {
		unavailable(w)
		return
	}
	r, ok := h.gate.admit(w, r)
	if !ok {
		return
	}
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r)
	case r.Method == http.MethodGet && h.hasSessions(r.Header):
		h.get(w, r)
	case r.Method == http.MethodDelete && h.hasSessions(r.Header):
		h.delete(w, r)
	default:
		h.notAllowed(w, r)
	}
}

// notAllowed answers the methods that the endpoint does not have, or not for
// the revision that the request names.
func (h *httpHandler) notAllowed(w http.ResponseWriter, r *http.Request) {
	allowed := h.guard.methods
	if r.Method == http.MethodGet || r.Method == http.MethodDelete {
		allowed = http.MethodPost
	}
	w.Header().Set("Allow", allowed)
	refuseHTTP(w, http.StatusMethodNotAllowed, fmt.Sprintf("messages are sent by POST, not by %.20q", r.Method))
}

// post answers POST: one message, or several of a revision that has batches.
func (h *httpHandler) post(w http.ResponseWriter, r *http.Request) {
	json, sse := accepts(r.Header["Accept"])
	switch {
	case !jsonBody(r.Header["Content-Type"]):
		refuseHTTP(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	case !identity(r.Header["Content-Encoding"]):
		w.Header().Set("Accept-Encoding", "identity")
		refuseHTTP(w, http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Encoding is %.60q, but only identity is accepted: send the body as it is",
			strings.Join(r.Header["Content-Encoding"], ", ")))
	case !json && !sse:
		refuseHTTP(w, http.StatusNotAcceptable, "Accept must allow application/json or text/event-stream")
	default:
		if body, ok := h.body(w, r); ok {
			h.receive(w, r, body, json, sse)
		}
	}
}

// refuseHTTP answers what never became a JSON-RPC request.
func refuseHTTP(w http.ResponseWriter, status int, why string) {
	writeJSON(w, status, jsonrpc.AppendError(nil, nil, jsonrpc.CodeInvalidRequest, "Invalid Request: "+why, nil))
}

// unavailable answers what arrives after shutdown.
func unavailable(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	writeJSON(w, http.StatusServiceUnavailable,
		jsonrpc.AppendError(nil, nil, jsonrpc.CodeInternalError, "Internal error: the server is shutting down", nil))
}

// receive deals with the message of a POST.
func (h *httpHandler) receive(w http.ResponseWriter, r *http.Request, body []byte, json, sse bool) {
	st := &httpStream{h: h, w: w, r: r, json: json, sse: sse}
	req := &st.ctx.req
	req.carrier, req.header, req.modernOnly = st, r.Header, h.modernOnly
	if err := jsonrpc.Decode(body, h.snap.srv.opts.Limits.Depth, &req.msg); err != nil {
		if isArray(body) && h.receiveBatch(w, r, body) {
			return
		}
		var fault *jsonrpc.Fault
		errors.As(err, &fault)
		writeJSON(w, http.StatusBadRequest, jsonrpc.AppendError(nil, fault.ID, fault.Code, fault.Message, nil))
		return
	}
	switch req.msg.Kind {
	case jsonrpc.Response:
		h.responded(st)
	case jsonrpc.Notification:
		h.notified(st)
	default:
		if req.msg.Method == jsonrpc.MethodListen {
			if !sse {
				refuseHTTP(w, http.StatusNotAcceptable, "Accept must allow text/event-stream: subscriptions are streams")
				return
			}
			defer h.gate.watch(st)()
		}
		h.request(st)
	}
}

// serves reports whether the endpoint serves rev, which may be nil.
func (h *httpHandler) serves(rev *wire.Revision) bool {
	return rev != nil && (rev.Modern || !h.modernOnly) && slices.Contains(h.snap.srv.revs, rev)
}

// httpStatus is the status of the answer that holds fault (MCP 2026-07-28,
// Streamable HTTP). Legacy clients take a 404 for the end of their session.
func httpStatus(fault *Error, legacy bool) int {
	switch {
	case fault == nil:
		return http.StatusOK
	case fault.status != 0:
		return fault.status
	case legacy:
		return http.StatusOK
	}
	switch fault.Code {
	case CodeParseError, CodeInvalidRequest, CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedVersion:
		return http.StatusBadRequest
	case CodeMethodNotFound:
		return http.StatusNotFound
	}
	return http.StatusOK
}

// growBody is the largest body that a client's word alone makes us allocate.
const growBody = 1 << 20

// body reads the request's body; when that fails the request has been
// answered.
func (h *httpHandler) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	limit := int64(h.snap.srv.opts.Limits.Message)
	var err error
	switch n := r.ContentLength; {
	case n > limit:
		err = ErrTooLarge
	case n >= 0 && n <= growBody:
		body = make([]byte, n)
		_, err = io.ReadFull(r.Body, body)
	case n > growBody:
		body, err = readAnnounced(r.Body, int(n))
	default:
		var buf bytes.Buffer
		_, err = buf.ReadFrom(io.LimitReader(r.Body, max(limit, limit+1))) // no limit may be the largest int
		if body = buf.Bytes(); int64(len(body)) > limit {
			err = ErrTooLarge
		}
	}
	if err == nil {
		return body, true
	}
	tooLarge, around := errors.AsType[*http.MaxBytesError](err)
	switch {
	case errors.Is(err, ErrTooLarge):
		refuseHTTP(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the message is larger than %d bytes", limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		refuseHTTP(w, http.StatusRequestTimeout, "the body did not come to its end in time")
	case around:
		refuseHTTP(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the message is larger than %d bytes", tooLarge.Limit))
	default:
		refuseHTTP(w, http.StatusBadRequest, "the body could not be read to its end")
	}
	return nil, false
}

// readAnnounced reads n bytes. The memory for them grows with what has come,
// to the very size in the end.
func readAnnounced(r io.Reader, n int) ([]byte, error) {
	body := make([]byte, 0, growBody/64)
	for {
		got, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+got]
		if err != nil || len(body) == n {
			return body, err
		}
		body = append(make([]byte, 0, min(n, 4*len(body))), body...)
	}
}

// stopped reports whether stop was called.
func (h *httpHandler) stopped() bool {
	select {
	case <-h.over:
		return true
	default:
		return false
	}
}

// stop implements stopper: running requests end with cause, and later ones
// are refused.
func (h *httpHandler) stop(cause error) {
	h.once.Do(func() {
		close(h.over)
		h.active.end(cause, func() { h.snap.srv.serving.remove(h) })
		if h.sessions != nil {
			h.sessions.stop()
		}
	})
}
