package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// Validator is implemented by argument types with rules that a schema cannot
// say, such as those across fields. Validate runs on decoded arguments that
// passed the schema, before the handler. Return an *ArgsError to name fields;
// the text of any other error reaches the model as it is. It may have a value
// or a pointer receiver.
type Validator interface {
	Validate(ctx context.Context) error
}

// ArgsError says why arguments were refused. Middleware finds it with
// errors.As; the model gets all violations in one failed result.
type ArgsError struct {
	Violations []Violation
}

// Violation is one broken rule: where, as a JSON Pointer ("" for the whole),
// which, as a schema keyword or rule name, and a sentence for the model.
type Violation struct {
	Path, Rule, Message string
}

// maxArgsText bounds what a refusal tells the model, in bytes.
const maxArgsText = 4 << 10

// Error lists the violations, one a line.
func (e *ArgsError) Error() string {
	var b strings.Builder
	size := 64
	for i := range e.Violations {
		size += len(e.Violations[i].Message)
	}
	b.Grow(min(size, maxArgsText))
	b.WriteString("Invalid arguments:")
	for i := range e.Violations {
		b.WriteString("\n- ")
		b.WriteString(e.Violations[i].Message)
		if b.Len() > maxArgsText {
			return strings.ToValidUTF8(b.String()[:maxArgsText], "") + "…" // no rune in halves
		}
	}
	return b.String()
}

// checkArgs runs the schema over the arguments as received and returns them
// as they are to be decoded: with defaults filled in.
func checkArgs(plan *schema.Plan, args []byte) ([]byte, error) {
	args, violations := plan.Check(args)
	if violations != nil {
		return nil, argsError(violations)
	}
	return args, nil
}

func argsError(violations []schema.Violation) *ArgsError {
	e := &ArgsError{Violations: make([]Violation, len(violations))}
	for i, v := range violations {
		e.Violations[i] = Violation(v)
	}
	return e
}

// argsTooLong refuses arguments whose check could cost too much.
func argsTooLong(got, limit int) *ArgsError {
	return &ArgsError{Violations: []Violation{{
		Rule:    "maxBytes",
		Message: fmt.Sprintf("arguments have %d bytes, more than the %d that this tool takes: send less at once", got, limit),
	}}}
}

// decodeArgs decodes checked arguments into the struct at a and runs the
// rules that need its values: those of plan, unless that is nil, and those of
// a Validator.
func decodeArgs(ctx context.Context, plan *schema.Plan, args []byte, a any) error {
	if err := jsonx.Unmarshal(args, a); err != nil {
		return decodeViolation(err)
	}
	if plan != nil && plan.HasRules() {
		if violations := plan.Rules(ctx, a, args); violations != nil {
			return argsError(violations)
		}
	}
	v, ok := a.(Validator)
	if p := reflect.ValueOf(a).Elem(); !ok && p.Kind() == reflect.Pointer { // A itself is a pointer
		v, ok = p.Interface().(Validator)
	}
	if !ok {
		return nil
	}
	return validate(ctx, v)
}

// validate runs a Validator. What it returns is the caller's fault, so every
// error but those with a meaning of their own becomes an *ArgsError.
func validate(ctx context.Context, v Validator) error {
	err := v.Validate(ctx)
	if err == nil {
		return nil
	}
	var (
		args     *ArgsError
		protocol *Error
		tool     *ToolError
	)
	if errors.As(err, &args) || errors.As(err, &protocol) || errors.As(err, &tool) || errors.Is(err, context.Canceled) {
		return err
	}
	return &ArgsError{Violations: []Violation{{Rule: "validate", Message: err.Error()}}}
}

// decodeViolation reports what only decoding finds, such as a number that
// does not fit.
func decodeViolation(err error) error {
	v := Violation{Rule: "type", Message: err.Error()}
	var d *jsonx.DecodeError
	if errors.As(err, &d) {
		v.Path = d.Pointer
		v.Message = strings.TrimPrefix(schema.Subject(d.Pointer)+": ", ": ") + d.Reason
	}
	return &ArgsError{Violations: []Violation{v}}
}
