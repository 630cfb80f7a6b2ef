package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// hiddenError is a fault whose text stays in the log, under a reference that
// the client gets; "" when nothing logs it.
type hiddenError struct{ ref string }

func (e *hiddenError) Error() string {
	if e.ref == "" {
		return "internal error; the server gives no details"
	}
	return "internal error; the server's log has the details under reference " + e.ref
}

// logsFaults reports whether there is a log that a reference could lead to.
func (s *Server) logsFaults() bool { return s.log.Enabled(context.Background(), slog.LevelError) }

// hide logs err and returns what the client may know of it.
func (s *Server) hide(what string, err error, attrs ...any) error {
	if !s.logsFaults() {
		return new(hiddenError)
	}
	e := &hiddenError{ref: rand.Text()[:12]}
	s.log.Error("mcp: "+what, append([]any{"reference", e.ref, "error", err.Error()}, attrs...)...)
	return e
}

// unsendable hides why the named thing has no JSON, unless that was done
// already.
func (s *Server) unsendable(what string, err error) error {
	switch err.(type) {
	case *hiddenError, *Error:
		return err
	}
	return s.hide("the "+what+" cannot be sent", err)
}

// panicked logs a recovered panic of the named feature with its stack.
func (s *Server) panicked(feature string, v any) error {
	if !s.logsFaults() {
		return new(hiddenError)
	}
	return s.hide("panic in "+feature, fmt.Errorf("%v", v), "stack", string(debug.Stack()))
}

// failure decides how an error of a request is answered: by a failed result,
// where the method has those, or by a protocol error. The first match wins
// (MCP 2026-07-28, Tools › Error Handling).
func (s *Server) failure(req *Request, err error) (result *Result, fault *Error) {
	defer func() {
		if v := recover(); v != nil { // in a method of a handler's error
			result, fault = req.failed(s.panicked("the error of "+req.what(), v).Error())
		}
	}()
	if missing, ok := errors.AsType[*notSupportedError](err); ok {
		return missing.answer(req)
	}
	if protocol, ok := errors.AsType[*Error](err); ok && !protocol.remote {
		return nil, s.sendable(protocol)
	}
	if req.missing(err) {
		uri, _ := unquoted(req.msg.URI())
		return nil, notFound(uri, req.rev)
	}
	if args, ok := errors.AsType[*ArgsError](err); ok {
		if !req.inTool() {
			return nil, Errorf(CodeInvalidParams, "%s", args.Error())
		}
		return req.failed(args.Error())
	}
	if tool, ok := errors.AsType[*ToolError](err); ok {
		if tool.Result == nil || !req.inTool() {
			return req.failed(tool.Error())
		}
		own := *tool.Result
		own.IsError = true
		return &own, nil
	}
	return req.failed(s.shown(req, err).Error())
}

// shown is what the client may know of an error that is not for it.
func (s *Server) shown(req *Request, err error) error {
	if hidden, ok := errors.AsType[*hiddenError](err); ok {
		return hidden
	}
	if _, late := errors.AsType[*RegistrationError](err); late { // in a type that was met too late for Check
		return s.hide("mistake in "+req.what(), err)
	}
	switch {
	case !s.opts.RedactErrors:
		return err
	case errors.Is(err, ErrDeclined):
		return ErrDeclined
	case errors.Is(err, ErrDismissed):
		return ErrDismissed
	}
	return s.hide("error in "+req.what(), err)
}

// inTool tells the one method whose failures are results.
func (r *Request) inTool() bool { return r.msg.Method == jsonrpc.MethodToolsCall }

// failed is the answer that says what went wrong.
func (r *Request) failed(text string) (*Result, *Error) {
	if r.inTool() {
		return &Result{Content: []Content{Text(text)}, IsError: true}, nil
	}
	return nil, Errorf(CodeInternalError, "%s", text)
}

// what names the feature or method of r for the log.
func (r *Request) what() string {
	if d := r.feature.Load(); d != nil {
		return d.feature()
	}
	return r.msg.Method
}

// appendData appends the JSON of a protocol error's data, nothing if it has
// none. Encoding may run methods of users' types.
func (s *Server) appendData(dst []byte, e *Error) (out []byte) {
	defer func() {
		if v := recover(); v != nil {
			_ = s.panicked("the data of a protocol error", v)
			out = dst
		}
	}()
	if e.Data == nil {
		return dst
	}
	out, err := jsonx.Append(dst, e.Data)
	if err != nil {
		s.log.Error("mcp: the data of a protocol error cannot be sent", "error", err)
	}
	return out
}

// sendable keeps handlers to the codes that are theirs: what lies in
// JSON-RPC's reserved range and is not for servers to choose would tell the
// client something that is not so (MCP 2026-07-28, Basic › Error Codes).
func (s *Server) sendable(e *Error) *Error {
	switch e.Code {
	case CodeInvalidRequest, CodeInvalidParams, CodeInternalError,
		CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedVersion:
		return e
	}
	if e.own || e.Code < -32768 || e.Code > -32000 {
		return e
	}
	s.log.Error("mcp: a handler returned an error code that is reserved; -32603 was sent", "code", int(e.Code))
	out := *e
	out.Code = CodeInternalError
	return &out
}
