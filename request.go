package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// Request holds the facts of one request. Its methods are safe for concurrent
// use and stay valid after the request has ended. What they return must not
// be changed.
type Request struct {
	srv        *Server
	rev        *wire.Revision
	msg        jsonrpc.Message
	carrier    carrier
	ctx        *requestContext            // what r is part of; nil in inert
	header     http.Header                // nil off HTTP
	session    *session                   // nil in modern requests; until they are admitted, that of their connection
	tool       atomic.Pointer[toolPlan]   // set by the look-up
	resource   atomic.Pointer[Resource]   // likewise
	feature    atomic.Pointer[definition] // likewise, of every kind
	subscriber *subscriber                // of an acknowledged subscriptions/listen
	asked      atomic.Pointer[asking]     // nil: nobody asked, and no answers came

	mu       sync.Mutex // protects the next four, and orders notifications
	logs     *logRate   // nil: nothing was logged
	progress float64    // last value sent
	moved    bool       // progress was sent
	ended    bool
	// modernOnly: what came in this way is not served in older revisions,
	// though the server knows some. It stands here for the sake of size.
	modernOnly bool
}

var inert = &Request{rev: wire.Revisions[0]}

// RequestFrom returns the request that ctx belongs to. It is never nil:
// outside a request it is one without any facts.
func RequestFrom(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return inert
}

// Method is the JSON-RPC method, "" outside a request.
func (r *Request) Method() string { return r.msg.Method }

// Version is the protocol revision of this request, "" outside a request.
func (r *Request) Version() string {
	if r == inert {
		return ""
	}
	return r.rev.Version
}

// Client is how the client names itself; the zero value when it does not. It
// is for display and logs and must not decide anything.
func (r *Request) Client() Implementation {
	if r.session != nil {
		return r.session.client
	}
	var c Implementation
	if raw := r.msg.ClientInfo(); raw != nil && jsonx.Unmarshal(raw, &c) != nil {
		return Implementation{}
	}
	return c
}

// Capabilities is what the client declared: on this very request in revision
// 2026-07-28, in the handshake before.
func (r *Request) Capabilities() ClientCapabilities {
	if r.session != nil {
		return r.session.capabilities
	}
	var c ClientCapabilities
	if raw := r.msg.Capabilities(); raw != nil && jsonx.Unmarshal(raw, &c) != nil {
		return ClientCapabilities{} // what cannot be read is not declared
	}
	return c
}

// Params is the request's params as received, nil when there are none.
func (r *Request) Params() json.RawMessage { return r.msg.Params() }

// Meta is the request's _meta, trace context (traceparent, tracestate,
// baggage) included; nil when there is none.
func (r *Request) Meta() Meta {
	var m Meta
	if raw := r.msg.Meta(); raw != nil && jsonx.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// Header holds the HTTP header of the request, nil on other transports.
func (r *Request) Header() http.Header { return r.header }

// ProgressToken is the token for progress as received, a JSON string or
// integer; nil when the client wants no progress.
func (r *Request) ProgressToken() json.RawMessage { return r.msg.ProgressToken() }

// LogLevel is the least level of logs that the client wants for this request,
// as named by MCP ("debug" … "emergency"); "" when it wants none.
//
// Deprecated: SEP-2577 deprecates logging to clients in revision 2026-07-28; it
// will not be removed before 2027-07-28.
func (r *Request) LogLevel() string {
	if r.session != nil {
		return r.session.logLevel()
	}
	level, _ := unquoted(r.msg.LogLevel())
	return level
}

// SessionID identifies the session of a revision before 2026-07-28 over HTTP;
// "" on other transports and in stateless requests.
func (r *Request) SessionID() string {
	if r.session == nil {
		return ""
	}
	return r.session.id
}

// Info describes the tool, prompt or resource that is asked for. Before the
// look-up, and when it finds nothing, Kind and Name, or URI, are those of the
// request; for other methods it is zero.
func (r *Request) Info() Info {
	if d := r.feature.Load(); d != nil {
		if res := r.resource.Load(); res != nil {
			uri, _ := unquoted(r.msg.URI())
			return res.infoAt(uri)
		}
		return d.info()
	}
	name, _ := unquoted(r.msg.Name())
	switch r.msg.Method {
	case jsonrpc.MethodToolsCall:
		return Info{Kind: kindTool, Name: name}
	case jsonrpc.MethodPromptsGet:
		return Info{Kind: kindPrompt, Name: name}
	case jsonrpc.MethodResourcesRead:
		uri, _ := unquoted(r.msg.URI())
		return Info{Kind: kindResource, URI: uri}
	}
	return Info{}
}

// Info describes a registered feature. Kind is "tool", "prompt", "resource" or
// "template"; URI is that of a resource, or the template. Category and Tags
// are those given at registration, and so are Scopes, those of RequireScopes;
// nobody may change the map and the slice.
type Info struct {
	Kind, Name, URI, Category string
	Tags                      map[string]string
	Scopes                    []string
}

// Progress tells the client how far the request is. done must rise with every
// report; one that does not is dropped. total is 0 when unknown; message may
// be empty. It does nothing when the client asked for no progress, outside a
// request and after its end (MCP 2026-07-28, Progress).
func Progress(ctx context.Context, done, total float64, message string) {
	r := RequestFrom(ctx)
	token := r.msg.ProgressToken()
	if token == nil || r.carrier == nil || math.IsNaN(done) || math.IsInf(done, 0) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.moved && done <= r.progress {
		return
	}
	r.progress, r.moved = done, true
	msg := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), token...)
	msg = appendNumber(append(msg, `,"progress":`...), done)
	if total > 0 && !math.IsInf(total, 0) {
		msg = appendNumber(append(msg, `,"total":`...), total)
	}
	if message != "" && r.rev.Hints {
		msg = jsonx.AppendString(append(msg, `,"message":`...), message)
	}
	_ = r.carrier.notify(ctx, append(msg, "}}"...)) // a lost report is no fault of the handler's
}

// appendNumber appends f as JSON has it, whole numbers without an exponent.
func appendNumber(dst []byte, f float64) []byte {
	dst, _ = jsonx.Append(dst, &f) // f is finite
	return dst
}

// end stops the request's notifications; none follows its response.
func (r *Request) end() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
}

// unquoted returns the text of a JSON string; false for anything else.
func unquoted(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	s, err := jsonx.Unquote(raw)
	return s, err == nil
}
