package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
	"github.com/typedmcp/mcp/internal/wire"
)

// extensionMethod is a method that the application added.
type extensionMethod struct {
	name   string
	input  *schema.Plan
	result reflect.Type // of what call returns: the address of a value whose JSON is an object
	call   func(ctx context.Context, params []byte) (any, error)
}

// HandleMethod answers a method that MCP does not have, for extensions; it is
// served in every revision. Params but for _meta are described by P as a
// tool's arguments are, and bad ones answered with CodeInvalidParams; R is a
// struct or map, without the members _meta and resultType, and a pointer to
// what fn returned is what middleware sees. fn cannot ask for input. Names of
// the protocol's own methods, and those that begin with "notifications/" or
// "rpc.", are problems that Check reports.
func HandleMethod[P, R any](s *Server, method string, fn func(ctx context.Context, params P) (R, error)) {
	site := callerSite()
	m := &extensionMethod{name: method, result: reflect.TypeFor[*R]()}
	plan, problems := schema.Input(reflect.TypeFor[P](), schema.Options{})
	m.input = plan
	m.call = func(ctx context.Context, params []byte) (any, error) {
		p := new(P)
		if err := decodeArgs(ctx, plan, params, p); err != nil {
			return nil, err
		}
		v, err := fn(ctx, *p)
		if err != nil {
			return nil, err
		}
		return &v, nil
	}
	s.registry.mutate(fmt.Sprintf("method %q", method), func() {
		bad := func(e *RegistrationError) {
			e.Feature, e.Caller = fmt.Sprintf("method %q", method), site.String()
			s.registry.problems = append(s.registry.problems, e)
		}
		for _, p := range problems {
			if !p.Warning {
				bad(&RegistrationError{Type: reflect.TypeFor[P]().String(), Field: p.Field, Tag: p.Tag, Err: errors.New(p.Reason)})
			}
		}
		if fn == nil {
			bad(&RegistrationError{Err: errors.New("the handler is nil")})
		}
		if err := s.registry.checkMethod(method); err != nil {
			bad(&RegistrationError{Err: err})
		}
		if err := checkExtensionResult(reflect.TypeFor[R]()); err != nil {
			bad(&RegistrationError{Type: reflect.TypeFor[R]().String(), Err: err})
		}
		if s.registry.methods == nil {
			s.registry.methods = make(map[string]*extensionMethod)
		}
		s.registry.methods[method] = m
	})
}

// checkMethod refuses names that are not the application's.
func (r *registry) checkMethod(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case strings.HasPrefix(name, "notifications/"), strings.HasPrefix(name, "rpc."):
		return errors.New(`names that begin with "notifications/" or "rpc." are reserved`)
	case wire.Known(name):
		return errors.New("it is a method of the protocol")
	case r.methods[name] != nil:
		return errors.New("there is a handler for this method already")
	}
	return nil
}

// checkExtensionResult refuses results that are no object, or that have
// members which the server sets.
func checkExtensionResult(t reflect.Type) error {
	plan, problems := schema.Output(t, schema.Options{})
	for _, p := range problems {
		if !p.Warning {
			return fmt.Errorf("field %s: %s", p.Field, p.Reason)
		}
	}
	if !plan.Object() {
		return errors.New("the result of a method is an object: a struct or a map")
	}
	for _, name := range []string{"_meta", "resultType"} {
		if raw, _ := jsonx.Find(plan.JSON(), "properties", name); raw != nil {
			return fmt.Errorf("the result has a member %q, which the server sets", name)
		}
	}
	return nil
}

// run answers a request: the innermost Handler of the method.
func (m *extensionMethod) run(ctx context.Context, req *Request) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = req.srv.panicked(fmt.Sprintf("method %q", m.name), v)
		}
	}()
	params, err := withoutMeta(req.msg.Params())
	if err != nil {
		return nil, err
	}
	if params, err = checkArgs(m.input, params); err != nil {
		return nil, err
	}
	return m.call(ctx, params)
}

// withoutMeta returns params without their _meta, which is the protocol's.
func withoutMeta(params []byte) ([]byte, error) {
	out := []byte{'{'}
	if params == nil {
		return append(out, '}'), nil
	}
	w := jsonx.Walk(params)
	defer w.Release()
	if err := w.Open(); err != nil {
		return nil, err
	}
	for w.Kind() == '"' {
		name, _, err := w.Name()
		if err != nil {
			return nil, err
		}
		key := string(name)
		value, err := w.Value()
		if err != nil {
			return nil, err
		}
		if key != "_meta" {
			out = append(append(jsonx.AppendString(comma(out), key), ':'), value...)
		}
	}
	return append(out, '}'), nil
}

// appendExtension appends the members of the object at v.
func appendExtension(dst []byte, v any) ([]byte, error) {
	start := len(dst)
	dst, err := jsonx.Append(dst, v)
	switch {
	case err != nil:
		return dst, err
	case dst[start] != '{':
		return dst, errors.New("the result is no JSON object")
	case dst[start+1] == '}' && dst[start-1] == ',': // there is nothing to separate
		return dst[:start-1], nil
	}
	return append(dst[:start], dst[start+1:len(dst)-1]...), nil
}
