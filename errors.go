package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonrpc"
)

// Code is a JSON-RPC error code.
type Code int

// The codes of JSON-RPC 2.0, which are -32700 and -32600 to -32603, and of MCP
// 2026-07-28 (Basic › Error Codes), -32020 to -32022, in this order.
const (
	CodeParseError         Code = jsonrpc.CodeParseError
	CodeInvalidRequest     Code = jsonrpc.CodeInvalidRequest
	CodeMethodNotFound     Code = jsonrpc.CodeMethodNotFound
	CodeInvalidParams      Code = jsonrpc.CodeInvalidParams
	CodeInternalError      Code = jsonrpc.CodeInternalError
	CodeHeaderMismatch     Code = jsonrpc.CodeHeaderMismatch
	CodeMissingCapability  Code = jsonrpc.CodeMissingCapability
	CodeUnsupportedVersion Code = jsonrpc.CodeUnsupportedVersion
)

// Error is a protocol error: the JSON-RPC error that answers a request in
// place of a result. A handler that returns one fails the request itself; to
// tell the model that a tool failed, return any other error. Find it with
// errors.As.
//
// A handler may use codes outside -32768…-32000, which belong to
// applications, and those in that range that MCP lets servers choose:
// CodeInvalidRequest, CodeInvalidParams, CodeInternalError,
// CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedVersion. Any
// other is sent as CodeInternalError, and logged.
type Error struct {
	Code Code
	// Message is sent to the peer: one short sentence.
	Message string
	// Data is sent as JSON when not nil. On the client it is a
	// json.RawMessage.
	Data any

	remote bool
	status int      // of the HTTP answer; 0: what the code implies
	own    bool     // made by this package: the code is right as it is
	scopes []string // not nil: those that the caller would need
}

// Errorf returns a protocol error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// Remote reports whether the peer sent e. Faults found on this side, such as
// a timeout, are never remote errors.
func (e *Error) Remote() bool { return e.remote }

// ToolError is a failed tool call: a result with IsError set. A handler
// returns one to choose the whole result; Call returns one for such a result.
type ToolError struct {
	Result *Result
}

// ToolErrorf returns a *ToolError whose text is meant for the model: what went
// wrong and what it can do about it. The text is never redacted.
func ToolErrorf(format string, args ...any) error {
	return &ToolError{Result: &Result{
		Content: []Content{Text(fmt.Sprintf(format, args...))},
		IsError: true,
	}}
}

// Error returns the text blocks of the result.
func (e *ToolError) Error() string {
	var texts []string
	if e.Result != nil {
		for _, c := range e.Result.Content {
			if t, ok := c.(*TextContent); ok {
				texts = append(texts, t.Text)
			}
		}
	}
	if len(texts) == 0 {
		return "the tool failed without a message"
	}
	return strings.Join(texts, "\n")
}

// RegistrationError is one problem of one registered feature. Server.Check
// joins them all; find the single ones with errors.As or by unwrapping.
type RegistrationError struct {
	Feature string // such as `tool "add"`
	Type    string // the Go type concerned, "" when none is; whole, while Error shortens structs without a name
	Field   string // the field path in Type, "" when it concerns the whole
	Tag     string // the struct tag at fault, "" when none is
	Caller  string // file:line of the registration
	Err     error
}

// Error implements error.
func (e *RegistrationError) Error() string {
	var b strings.Builder
	if e.Caller != "" {
		b.WriteString(e.Caller + ": ")
	}
	b.WriteString(e.Feature)
	if e.Type != "" {
		b.WriteString(": type " + e.Type)
	}
	if e.Field != "" {
		b.WriteString(": field " + e.Field)
	}
	if e.Tag != "" {
		b.WriteString(": tag `" + e.Tag + "`")
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return shortTypes(b.String())
}

// shortTypes leaves of each struct without a name that a text has the first
// field: Go writes them out whole.
func shortTypes(text string) string {
	const open = "struct { "
	var b strings.Builder
	for {
		before, fields, found := strings.Cut(text, open)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		first, _, _ := strings.Cut(fields, " ")
		b.WriteString("struct{ " + strings.TrimSuffix(first, ";") + " … }")
		text = afterBrace(fields)
	}
}

// afterBrace returns what follows the brace that closes a struct, given what
// follows the one that opens it. Tags are quoted, and may hold braces.
func afterBrace(text string) string {
	for depth := 1; text != "" && depth > 0; {
		switch quoted, err := strconv.QuotedPrefix(text); {
		case err == nil:
			text = text[len(quoted):]
			continue
		case text[0] == '{':
			depth++
		case text[0] == '}':
			depth--
		}
		text = text[1:]
	}
	return text
}

// Unwrap returns the cause.
func (e *RegistrationError) Unwrap() error { return e.Err }

// FrozenError is the value of the panic that a change to a serving server
// causes: registrations end with the first Serve, ListenAndServe, HTTPHandler
// or Dial(InMemory).
type FrozenError struct {
	Feature string // what was to be changed
	Caller  string // file:line of the change
}

// Error implements error.
func (e *FrozenError) Error() string {
	return fmt.Sprintf("%s: %s cannot be changed: the server is serving; register everything before the first Serve, ListenAndServe, HTTPHandler or Dial", e.Caller, e.Feature)
}

// Causes of the end of a request's context, for context.Cause. All match
// context.Canceled too.
var (
	// ErrCancelled means that the client no longer wants the answer. The
	// cause's text has the client's reason.
	ErrCancelled error = &cause{"mcp: request cancelled by the client"}
	// ErrDisconnected means that the client is gone, or sends no more.
	ErrDisconnected error = &cause{"mcp: client disconnected"}
	// ErrShutdown means that the server is stopping.
	ErrShutdown error = &cause{"mcp: server is shutting down"}
)

// ErrClosed is returned by calls on a closed Client and by calls that its
// closing cut off.
var ErrClosed = errors.New("mcp: client is closed")

// cause is a reason for a context to end; code that only knows contexts sees
// context.Canceled in it.
type cause struct{ text string }

func (c *cause) Error() string        { return c.text }
func (c *cause) Is(target error) bool { return target == context.Canceled }

// callSite is where user code called into this package.
type callSite struct {
	file string
	line int
}

func callerSite() callSite {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, modulePrefix) {
			return callSite{f.File, f.Line}
		}
		if !more {
			return callSite{}
		}
	}
}

// modulePrefix starts the names of this package's functions, with their dot,
// so that its external tests count as callers.
const modulePrefix = "github.com/typedmcp/mcp."

func (c callSite) String() string {
	if c.line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", c.file, c.line)
}
