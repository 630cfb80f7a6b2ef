package mcp

import (
	"context"
	"fmt"
)

// Handler answers one request. The dynamic type of its result is fixed by the
// method:
//
//   - tools/call: *Result
//   - prompts/get: *PromptResult
//   - resources/read: *ReadResult
//   - completion/complete: *Completion
//   - subscriptions/listen: *Filter, what is honoured, once it is acknowledged
//   - the list methods: *ListResult
//   - server/discover: *ServerInfo
//   - a method of HandleMethod: a pointer to what its function returned
//
// A result of another type is answered as an internal error and logged. Errors
// are what the handler returned, before they become an answer: an *ArgsError
// for refused arguments, an *Error for a protocol error.
type Handler func(ctx context.Context, req *Request) (any, error)

// Middleware wraps a Handler. It may look at the request, answer in the place
// of next, or change what next returned. Middleware of a server sees every
// admitted request, unknown tools included, but no notifications, initialize
// or ping; middleware of a scope or tool sees the calls of its tools, those
// with invalid arguments included. The first one added is outermost.
type Middleware func(next Handler) Handler

// use adds mw to a list of middleware. One that is nil is a problem for Check.
func (r *registry) use(list *[]Middleware, feature string, mw []Middleware) {
	r.mutate(feature, func() {
		for i, m := range mw {
			if m != nil {
				*list = append(*list, m)
				continue
			}
			r.problems = append(r.problems, &RegistrationError{
				Feature: feature, Caller: callerSite().String(),
				Err: fmt.Errorf("middleware %d of the %d given to Use is nil", i+1, len(mw)),
			})
		}
	})
}

// chain wraps h in mws, the first outermost.
func chain(h Handler, mws ...Middleware) Handler {
	for i := len(mws) - 1; i >= 0; i-- {
		h = mws[i](h)
	}
	return h
}
