package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/typedmcp/mcp/internal/jsonrpc"
)

// hiddenError is a fault whose text stays in the log, under a reference that
// the client gets.
type hiddenError struct{ ref string }

func (e *hiddenError) Error() string {
	return "internal error; the server's log has the details under reference " + e.ref
}

// hide logs err and returns what the client may know of it.
func (s *Server) hide(what string, err error, attrs ...any) error {
	e := &hiddenError{ref: rand.Text()[:12]}
	s.log.Error("mcp: "+what, append([]any{"reference", e.ref, "error", err.Error()}, attrs...)...)
	return e
}

// unsendable hides why the named thing has no JSON, unless that is logged
// already.
func (s *Server) unsendable(what string, err error) error {
	var hidden *hiddenError
	if errors.As(err, &hidden) {
		return hidden
	}
	return s.hide("the "+what+" cannot be sent", err)
}

// panicked logs a recovered panic of the named feature with its stack.
func (s *Server) panicked(feature string, v any) error {
	return s.hide("panic in "+feature, fmt.Errorf("%v", v), "stack", string(debug.Stack()))
}

// failure decides how an error of a request is answered: by a failed result,
// where the method has those, or by a protocol error. The first match wins
// (MCP 2026-07-28, Tools › Error Handling).
func (s *Server) failure(req *Request, err error) (*Result, *Error) {
	var (
		protocol *Error
		args     *ArgsError
		tool     *ToolError
		hidden   *hiddenError
	)
	inTool := req.msg.Method == jsonrpc.MethodToolsCall
	switch {
	case errors.As(err, &protocol) && !protocol.remote:
		return nil, s.sendable(protocol)
	case errors.As(err, &args):
		if !inTool {
			return nil, Errorf(CodeInvalidParams, "%s", args.Error())
		}
		return failed(args.Error()), nil
	case errors.As(err, &tool) && tool.Result != nil && inTool:
		result := *tool.Result
		result.IsError = true
		return &result, nil
	case errors.As(err, &hidden):
		err = hidden
	case errors.As(err, &tool):
	case s.opts.RedactErrors || errors.Is(err, errNilResult):
		err = s.hide("error in "+req.what(), err)
	}
	if inTool {
		return failed(err.Error()), nil
	}
	return nil, Errorf(CodeInternalError, "%s", err.Error())
}

// failed is a tool result that tells the model what went wrong.
func failed(text string) *Result {
	return &Result{Content: []Content{Text(text)}, IsError: true}
}

// what names the feature or method of r for the log.
func (r *Request) what() string {
	if p := r.tool.Load(); p != nil {
		return p.feature()
	}
	return r.msg.Method
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
	if e.Code < -32768 || e.Code > -32000 {
		return e
	}
	s.log.Error("mcp: a handler returned an error code that is reserved; -32603 was sent", "code", int(e.Code))
	out := *e
	out.Code = CodeInternalError
	return &out
}
