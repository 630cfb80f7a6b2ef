package mcp

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Param names one parameter of a plain function, whose name Go does not keep.
// It is an immutable value; make it with Arg.
type Param struct {
	name, desc string
	optional   bool
	standard   any // the default
}

// Arg names the next parameter, besides a context, of the function given to
// AddFunc or AddMethod. An empty desc is left out.
func Arg(name, desc string) Param { return Param{name: name, desc: desc} }

// Optional lets the argument be absent: the parameter is then its zero value.
// A pointer parameter is always optional, and nil when absent.
func (p Param) Optional() Param {
	p.optional = true
	return p
}

// Default is the value of the argument when it is absent, which makes it
// optional.
func (p Param) Default(v any) Param {
	p.optional, p.standard = true, v
	return p
}

// AddFunc registers a plain function as a tool. fn may take a context first;
// each further parameter is an argument, named by one Param each, in order. A
// single parameter that is a struct, or a pointer to one, without params is
// the arguments struct as for AddTool. Results may be none, R, error, or R and
// error, with R as for AddTool. Variadic functions are refused.
//
// Problems, such as a wrong number of params, are reported by Check.
func AddFunc(r Registrar, name, desc string, fn any, params ...Param) *Tool {
	t := newTool(r, name, desc)
	t.function(reflect.ValueOf(fn), params)
	return t.register()
}

// AddMethod registers the method of recv that is called method, as AddFunc
// does with functions: for methods that are only known by name. A method value
// given to AddTool or AddFunc is checked by the compiler and is preferable.
func AddMethod(r Registrar, recv any, method, name, desc string, params ...Param) *Tool {
	t := newTool(r, name, desc)
	t.method(recv, method, params)
	return t.register()
}

// method makes a method, found by its name, the handler.
func (t *Tool) method(recv any, method string, params []Param) {
	v := reflect.ValueOf(recv)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		t.problem("", fmt.Errorf("the receiver of method %s is nil", method))
		return
	}
	m := v.MethodByName(method)
	if !m.IsValid() {
		why := "there is no such method; methods must be exported"
		if _, ok := reflect.PointerTo(v.Type()).MethodByName(method); ok {
			why = "its receiver is a pointer; give one"
		}
		t.problem("", fmt.Errorf("method %s of %s: %s", method, v.Type(), why))
		return
	}
	t.function(m, params)
}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// signature is what a function takes and gives.
type signature struct {
	fn         reflect.Value
	hasContext bool
	params     []reflect.Type // without the context
	result     reflect.Type   // nil: none
	fails      bool           // an error comes last
}

// function makes fn the handler. All reflection on its type is done here.
func (t *Tool) function(fn reflect.Value, params []Param) {
	sig, err := readSignature(fn)
	if err != nil {
		t.problem("", err)
		return
	}
	whole := len(params) == 0 && len(sig.params) == 1 && isArgsStruct(sig.params[0])
	if whole {
		t.argsType = sig.params[0]
	} else if t.argsType, err = argsStruct(sig.params, params); err != nil {
		t.problem("", fmt.Errorf("%s: %w", fn.Type(), err))
		return
	}
	t.resultType = reflect.TypeFor[struct{}]()
	if sig.result != nil {
		t.resultType = sig.result
	}
	t.derive()
	if !whole {
		t.nameParams(fn.Type(), params)
	}
	t.call = func(ctx context.Context, t *Tool, args []byte) (*Result, error) {
		in := reflect.New(t.argsType)
		if err := t.decode(ctx, args, in.Interface()); err != nil {
			return nil, err
		}
		if err := t.confirmed(ctx, args); err != nil {
			return nil, err
		}
		return t.callWith(ctx, sig, in.Elem(), whole)
	}
}

// nameParams makes the problems of the arguments struct, which users do not
// know, speak of the function and its parameters.
func (t *Tool) nameParams(fn reflect.Type, params []Param) {
	for _, e := range slices.Concat(t.problems, t.warnings) {
		if e.Type != t.argsType.String() {
			continue
		}
		e.Type = fn.String()
		field, below, nested := strings.Cut(strings.TrimPrefix(e.Field, "struct.P"), ".")
		if i, err := strconv.Atoi(field); err == nil && i <= len(params) {
			e.Field = params[i-1].name
			if strings.HasPrefix(e.Tag, "jsonschema:default") {
				e.Err = fmt.Errorf("the default %w", e.Err)
			}
			e.Tag = "" // the user wrote none
		}
		if nested {
			e.Field += "." + below
		}
	}
}

// callWith calls the function with decoded arguments.
func (t *Tool) callWith(ctx context.Context, sig *signature, args reflect.Value, whole bool) (*Result, error) {
	in := make([]reflect.Value, 0, len(sig.params)+1)
	if sig.hasContext {
		in = append(in, reflect.ValueOf(ctx))
	}
	if whole {
		in = append(in, args)
	} else {
		for i := range sig.params {
			in = append(in, args.Field(i))
		}
	}
	out := sig.fn.Call(in)
	if sig.fails {
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			return nil, err
		}
	}
	v := reflect.New(t.resultType)
	if sig.result != nil {
		v.Elem().Set(out[0])
	}
	return t.wrap(v.Interface())
}

func readSignature(fn reflect.Value) (*signature, error) {
	if fn.Kind() != reflect.Func {
		return nil, fmt.Errorf("a function is needed, not %v", kindOf(fn))
	}
	if fn.IsNil() {
		return nil, errors.New("the handler is nil")
	}
	typ := fn.Type()
	if typ.IsVariadic() {
		return nil, fmt.Errorf("%s: the last parameter is variadic; make it a slice", typ)
	}
	sig := &signature{fn: fn}
	for i := range typ.NumIn() {
		switch in := typ.In(i); {
		case in != contextType:
			sig.params = append(sig.params, in)
		case i == 0:
			sig.hasContext = true
		default:
			return nil, fmt.Errorf("%s: the context must be the first parameter", typ)
		}
	}
	n := typ.NumOut()
	if n > 0 && typ.Out(n-1) == errorType {
		sig.fails = true
		n--
	}
	if n > 1 {
		return nil, fmt.Errorf("%s: the results must be none, R, error, or R and error", typ)
	}
	if n == 1 {
		sig.result = typ.Out(0)
	}
	return sig, nil
}

func kindOf(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	return "a value of type " + v.Type().String()
}

// isArgsStruct reports whether t is a struct, or a pointer to one, that is an
// object in JSON.
func isArgsStruct(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer {
		t = reflect.PointerTo(t)
	}
	return t.Elem().Kind() == reflect.Struct &&
		!t.Implements(reflect.TypeFor[json.Marshaler]()) && !t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// argsStruct makes the struct that an arguments object is decoded into: one
// field for each parameter.
func argsStruct(types []reflect.Type, params []Param) (reflect.Type, error) {
	if len(types) != len(params) {
		at := min(len(types), len(params))
		if at < len(types) {
			return nil, fmt.Errorf("parameter %d besides the context (%s) has no Param: each needs one, in order", at+1, types[at])
		}
		return nil, fmt.Errorf("Param %d, named %q, has no parameter: besides the context there are %d", at+1, params[at].name, len(types))
	}
	fields := make([]reflect.StructField, len(types))
	seen := make(map[string]bool)
	for i, p := range params {
		tag, err := p.tag(types[i])
		if err == nil && seen[p.name] {
			err = errors.New("another parameter has that name")
		}
		if err != nil {
			return nil, fmt.Errorf("parameter %d (%s), named %q: %w", i+1, types[i], p.name, err)
		}
		seen[p.name] = true
		fields[i] = reflect.StructField{Name: "P" + strconv.Itoa(i+1), Type: types[i], Tag: tag}
	}
	return reflect.StructOf(fields), nil
}

// tag writes the struct tag that says the same as p of a parameter of type t.
func (p Param) tag(t reflect.Type) (reflect.StructTag, error) {
	switch {
	case p.name == "" || p.name == "-":
		return "", errors.New("a parameter needs a name other than -")
	case strings.ContainsAny(p.name, "\",\\`'"):
		return "", errors.New("the name has a quote, comma or backslash")
	}
	name := p.name
	if p.optional {
		name += ",omitzero"
	}
	tag := "json:" + strconv.Quote(name)
	if p.desc != "" {
		tag += " jsonschema_description:" + strconv.Quote(p.desc)
	}
	if p.standard != nil {
		standard, err := p.defaultText(t)
		if err != nil {
			return "", err
		}
		tag += " jsonschema:" + strconv.Quote("default="+strings.ReplaceAll(standard, ",", `\,`))
	}
	return reflect.StructTag(tag), nil
}

// defaultText is the default as a jsonschema tag has it: strings are bare
// there, but where any JSON may stand.
func (p Param) defaultText(t reflect.Type) (string, error) {
	raw, err := encodeValue(p.standard)
	if err != nil {
		return "", fmt.Errorf("the default has no JSON: %w", err)
	}
	if err := jsonx.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
		return "", fmt.Errorf("the default %s does not fit: %w", raw, err)
	}
	if raw[0] == '"' && t.Kind() != reflect.Interface && t != reflect.TypeFor[json.RawMessage]() {
		return jsonx.Unquote(raw)
	}
	return string(raw), nil
}
