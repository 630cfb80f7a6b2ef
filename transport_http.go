package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/header"
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
	// Legacy says how clients of revisions before 2026-07-28 are served.
	Legacy LegacyMode
}

// LegacyMode says how an HTTP server treats the revisions that are opened by
// initialize.
type LegacyMode int

const (
	// LegacyStateless, the default, serves them without sessions: tools can
	// be listed and called.
	LegacyStateless LegacyMode = iota
	// LegacyOff refuses them.
	LegacyOff
)

const defaultKeepAlive = 15 * time.Second

// HTTPHandler returns a handler that serves MCP's Streamable HTTP transport,
// at whatever path it is mounted. It fails with what Check finds. The handler
// is safe for concurrent use; handlers of tools run in the goroutines of
// net/http and their contexts end when the client hangs up.
//
// Servers around it should not set http.Server.WriteTimeout, which would cut
// streams. opts may be nil.
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
	if h.opts.KeepAlive <= 0 {
		h.opts.KeepAlive = defaultKeepAlive
	}
	if h.guard, err = newGuard(&h.opts); err != nil {
		return nil, err
	}
	h.legacy = h.opts.Legacy != LegacyOff && !snap.srv.revs[len(snap.srv.revs)-1].Modern
	h.active.init(h.opts.KeepAlive)
	if err := s.serving.add(h); err != nil {
		return nil, err
	}
	return h, nil
}

// httpHandler serves one HTTP endpoint.
type httpHandler struct {
	snap        *snapshot
	opts        HTTPOptions
	guard       *guard
	legacy      bool          // revisions before 2026-07-28 are served
	bodyTimeout time.Duration // for reading a request's body; 0: none
	active      streams

	once sync.Once
	over chan struct{} // closed by stop
}

// ServeHTTP implements http.Handler. The order of its checks is the
// protocol's.
func (h *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.guard.admit(w, r) {
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	json, sse := accepts(r.Header["Accept"])
	switch {
	case !jsonBody(r.Header["Content-Type"]):
		refuseHTTP(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	case !json && !sse:
		refuseHTTP(w, http.StatusNotAcceptable, "Accept must allow application/json or text/event-stream")
	default:
		body, status := h.body(w, r)
		if status != 0 {
			refuseHTTP(w, status, http.StatusText(status))
			return
		}
		h.receive(w, r, body, json, sse)
	}
}

// refuseHTTP answers what never became a JSON-RPC request.
func refuseHTTP(w http.ResponseWriter, status int, why string) {
	writeJSON(w, status, jsonrpc.AppendError(nil, nil, jsonrpc.CodeInvalidRequest, "Invalid Request: "+why, nil))
}

// receive deals with the message of a POST.
func (h *httpHandler) receive(w http.ResponseWriter, r *http.Request, body []byte, json, sse bool) {
	st := &httpStream{h: h, w: w, json: json, sse: sse}
	st.header = r.Header
	if err := jsonrpc.Decode(body, h.snap.srv.opts.Limits.Depth, &st.msg); err != nil {
		var fault *jsonrpc.Fault
		errors.As(err, &fault)
		writeJSON(w, http.StatusBadRequest, jsonrpc.AppendError(nil, fault.ID, fault.Code, fault.Message, nil))
		return
	}
	switch st.msg.Kind {
	case jsonrpc.Response:
		refuseHTTP(w, http.StatusBadRequest, "responses are not accepted: this server asks nothing")
	case jsonrpc.Notification: // none means anything without a session
		w.WriteHeader(http.StatusAccepted)
	default:
		if !h.classify(st) {
			return
		}
		st.serve(r)
	}
}

// classify decides whether a request belongs to a legacy revision and gives
// it its session then; it reports whether there is more to do. Whoever names
// a modern version, in _meta or header, is held to the modern rules.
func (h *httpHandler) classify(st *httpStream) bool {
	version, present, repeated := header.One(st.header, header.ProtocolVersion)
	rev := wire.Lookup(version)
	modern := repeated || st.msg.Params.Meta.Version != nil || rev != nil && rev.Modern
	switch {
	case modern:
		return true
	case st.msg.Method == jsonrpc.MethodInitialize:
		h.handshake(st)
		return false
	case !h.legacy || present && rev == nil: // refused for what modern requests must carry
		return true
	case !present: // it is sent since 2025-06-18 only
		rev = wire.Lookup("2025-03-26")
	}
	st.session = &session{rev: rev}
	st.session.ready.Store(true)
	return true
}

// handshake answers initialize without opening a session.
func (h *httpHandler) handshake(st *httpStream) {
	_, result, fault := h.snap.initialize(&st.msg, h.legacy)
	if fault != nil {
		writeJSON(st.w, httpStatus(fault, false), h.snap.srv.appendFault(nil, st.msg.ID, fault))
		return
	}
	writeJSON(st.w, http.StatusOK, append(append(jsonrpc.AppendResult(nil, st.msg.ID), result...), '}'))
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

// body reads the request's body; status is not 0 when it is refused.
func (h *httpHandler) body(w http.ResponseWriter, r *http.Request) (body []byte, status int) {
	limit := int64(h.snap.srv.opts.Limits.Message)
	if r.ContentLength > limit {
		return nil, http.StatusRequestEntityTooLarge
	}
	if h.bodyTimeout > 0 {
		rc := http.NewResponseController(w)
		_ = rc.SetReadDeadline(time.Now().Add(h.bodyTimeout)) // HTTP/2 and tests may have none
		defer func() { _ = rc.SetReadDeadline(time.Time{}) }()
	}
	var err error
	if n := r.ContentLength; n >= 0 && n <= growBody {
		body = make([]byte, n)
		_, err = io.ReadFull(r.Body, body)
	} else {
		var buf bytes.Buffer
		_, err = buf.ReadFrom(io.LimitReader(r.Body, limit+1))
		body = buf.Bytes()
	}
	var tooLarge *http.MaxBytesError
	switch {
	case int64(len(body)) > limit || errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusBadRequest
	}
	return body, 0
}

// jsonBody reports whether a Content-Type is that of JSON in UTF-8.
func jsonBody(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == "application/json" {
		return true
	}
	kind, params, err := mime.ParseMediaType(values[0])
	charset, named := params["charset"]
	return err == nil && kind == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// accepts tells which of the two forms of an answer an Accept header allows.
// It is read liberally: no header allows both.
func accepts(values []string) (json, sse bool) {
	if len(values) == 0 {
		return true, true
	}
	if len(values) == 1 && (values[0] == "application/json, text/event-stream" || values[0] == "*/*") {
		return true, true
	}
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			kind, params, _ := strings.Cut(item, ";")
			if strings.Contains(strings.ReplaceAll(params, " ", "")+";", "q=0;") {
				continue
			}
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				json = true
			case "text/event-stream", "text/*":
				sse = true
			case "*/*":
				json, sse = true, true
			}
		}
	}
	return json, sse
}

// stop implements stopper: running requests end with cause, and later ones
// are refused.
func (h *httpHandler) stop(cause error) {
	h.once.Do(func() {
		close(h.over)
		h.active.end(cause, func() { h.snap.srv.serving.remove(h) })
	})
}

// requestCause watches over the context of an HTTP request: it ends with the
// reasons this package names.
func requestCause(r *http.Request) (ctx context.Context, cancel context.CancelCauseFunc, release func()) {
	parent := r.Context()
	ctx, cancel = context.WithCancelCause(context.WithoutCancel(parent))
	release = func() { cancel(nil) }
	if parent.Done() == nil {
		return ctx, cancel, release
	}
	timeout := func() {}
	if deadline, ok := parent.Deadline(); ok {
		ctx, timeout = context.WithDeadline(ctx, deadline)
	}
	unwatch := context.AfterFunc(parent, func() {
		err := context.Cause(parent)
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w: %w", ErrDisconnected, err)
		}
		cancel(err)
	})
	return ctx, cancel, func() {
		unwatch()
		timeout()
		cancel(nil)
	}
}
