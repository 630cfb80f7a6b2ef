package schema

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-playground/validator/v10"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// HasRules reports whether the type has rules that its schema cannot express.
// Without them Rules need not be called.
func (p *Plan) HasRules() bool { return p.rules != nil }

// Rules checks v, decoded from raw, against what no schema can express: the
// part of the validate tags that compares fields or looks into texts. The
// rules of what is absent in raw are skipped, but for those that demand or
// forbid it. v is a struct, or a map or list of structs, or a pointer to one.
func (p *Plan) Rules(ctx context.Context, v any, raw []byte) []Violation {
	if p.rules == nil {
		return nil
	}
	p.rules.once.Do(p.rules.prepare)
	r := &ruleRun{plan: p, ctx: ctx}
	r.value(reflect.ValueOf(v), p.root.resolved(), raw, nil)
	return r.violations
}

// ruleRun is one call of Rules.
type ruleRun struct {
	plan       *Plan
	ctx        context.Context
	violations []Violation
}

// value runs the rules of all structs in v that no other struct holds.
func (r *ruleRun) value(v reflect.Value, n *node, raw []byte, path []step) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		r.structure(v, n, raw, path)
	case reflect.Map:
		r.members(v, n, raw, path)
	case reflect.Slice, reflect.Array:
		r.elements(v, n, raw, path)
	}
}

func (r *ruleRun) members(v reflect.Value, n *node, raw []byte, path []step) {
	inner := elementNode(n)
	if inner == nil || v.Type().Key().Kind() != reflect.String {
		return
	}
	walkMembers(raw, func(name string, span []byte) {
		value := v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		if value.IsValid() {
			r.value(value, inner.resolved(), span, append(path[:len(path):len(path)], step{name, -1}))
		}
	})
}

func (r *ruleRun) elements(v reflect.Value, n *node, raw []byte, path []step) {
	inner := elementNode(n)
	if inner == nil {
		return
	}
	i := 0
	walkElements(raw, func(span []byte) {
		if i < v.Len() {
			r.value(v.Index(i), inner.resolved(), span, append(path[:len(path):len(path)], step{"", i}))
		}
		i++
	})
}

// structure runs the rules of one struct and of all it holds.
func (r *ruleRun) structure(v reflect.Value, n *node, raw []byte, path []step) {
	s := &presence{run: r, places: map[string]*spot{}}
	prefix := v.Type().Name()
	if prefix != "" {
		prefix += "."
	}
	s.object(n, raw, prefix, path)
	target := v.Interface()
	if v.CanAddr() {
		target = v.Addr().Interface()
	}
	for pass := range r.plan.rules.passes {
		r.pass(pass, target, s)
	}
}

// pass hands a struct to the library. It must not take the server down: what
// panics there is one failed check.
func (r *ruleRun) pass(pass int, v any, s *presence) {
	defer func() {
		if recover() != nil {
			r.add(nil, "validate", "cannot be checked: a rule failed")
		}
	}()
	faults, err := r.plan.rules.run(r.ctx, pass, v, func(ns []byte) bool { return s.skips(ns, pass) })
	if err != nil {
		r.add(nil, "validate", "cannot be checked: a rule failed")
	}
	slices.SortStableFunc(faults, func(a, b validator.FieldError) int { return s.compare(a.StructNamespace(), b.StructNamespace()) })
	for _, f := range faults {
		r.fault(f, pass, s)
	}
}

// fault translates what the library found, which speaks of Go fields.
func (r *ruleRun) fault(f validator.FieldError, pass int, s *presence) {
	at, depth := s.find(f.StructNamespace())
	if at == nil {
		r.add(nil, f.Tag(), "must obey the rule "+f.Tag())
		return
	}
	entry := f.Tag()
	if f.Param() != "" && !strings.Contains(entry, "|") {
		entry += "=" + f.Param()
	}
	text := ruleText(entry, "")
	if list := at.prop.comparisons(); pass > 0 && pass <= len(list) && depth == 0 {
		text = list[pass-1].text
	}
	if text == "" {
		text = "valid by the rule " + f.Tag()
	}
	r.add(at.path, f.Tag(), "must be "+text+sent(f.Value()))
}

// sent shows the value of a fault if it reads as it was sent.
func sent(v any) string {
	switch v := reflect.ValueOf(v); {
	case v.Kind() == reflect.String:
		return ", got " + quote(v.String())
	case v.IsValid() && v.Type() == durationGo:
		return ", got " + quote(fmt.Sprint(v))
	case v.CanInt(), v.CanUint(), v.CanFloat():
		return fmt.Sprintf(", got %v", v)
	}
	return ""
}

func (r *ruleRun) add(path []step, rule, text string) {
	if len(r.violations) >= maxViolations {
		return
	}
	subject := (&run{plan: r.plan, path: path}).subject()
	r.violations = append(r.violations, Violation{pointer(path), rule, subject + " " + text})
}

// walkMembers calls fn for each member of an object.
func walkMembers(raw []byte, fn func(name string, span []byte)) {
	w := jsonx.Walk(raw)
	defer w.Release()
	if w.Kind() != '{' || w.Open() != nil {
		return
	}
	for w.Kind() != '}' {
		name, _, err := w.Name()
		if err != nil {
			return
		}
		text := string(name)
		span, err := w.Value()
		if err != nil {
			return
		}
		fn(text, span)
	}
}

// walkElements calls fn for each element of an array.
func walkElements(raw []byte, fn func(span []byte)) {
	w := jsonx.Walk(raw)
	defer w.Release()
	if w.Kind() != '[' || w.Open() != nil {
		return
	}
	for w.Kind() != ']' {
		span, err := w.Value()
		if err != nil {
			return
		}
		fn(span)
	}
}
