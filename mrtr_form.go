package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// form is what a user is asked to fill in: a flat object of strings, numbers,
// booleans and choices (MCP 2026-07-28, Elicitation › Requested Schema).
type form struct {
	typ      reflect.Type // nil: written by hand
	json     []byte       // as clients get it
	plan     *schema.Plan // what answers are checked against
	problems []schema.Problem
	bare     bool   // without fields: to send it is to agree
	secret   string // the name of a field that seems to ask for a secret
}

// forms has the form of every type that was asked for.
var forms sync.Map // reflect.Type to *form

func formOf(t reflect.Type) *form {
	if f, ok := forms.Load(t); ok {
		return f.(*form)
	}
	f, _ := forms.LoadOrStore(t, deriveForm(t))
	return f.(*form)
}

// err reports what is wrong with the form, at the place of the caller.
func (f *form) err() error {
	var all []error
	for _, p := range f.problems {
		if p.Warning {
			continue
		}
		e := &RegistrationError{Feature: "form", Field: p.Field, Tag: p.Tag, Caller: callerSite().String(), Err: errors.New(p.Reason)}
		if f.typ != nil {
			e.Type = f.typ.String()
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}

// asSchema is f as it stands in an Ask.
func (f *form) asSchema() Schema {
	s := RawSchema(string(f.json))
	s.form = f
	if err := f.err(); err != nil {
		s = s.mistake(err)
	}
	return s
}

// deriveForm makes the form of a struct type.
func deriveForm(t reflect.Type) *form {
	f := &form{typ: t}
	bare := t
	if bare.Kind() == reflect.Pointer {
		bare = bare.Elem()
	}
	if bare.Kind() != reflect.Struct {
		f.problems = []schema.Problem{{Reason: "a form is a struct: a single value goes into one of its fields"}}
		return f
	}
	full, problems := schema.Input(t, schema.Options{Full: true})
	f.plan, _ = schema.Input(t, schema.Options{})
	if f.problems = problems; full == nil || f.plan == nil {
		return f
	}
	fields, err := readForm(full.JSON())
	if err != nil {
		f.problems = append(f.problems, *err)
		return f
	}
	titles := optionTitles(bare)
	for i := range fields.list {
		if p := fields.list[i].setTitles(titles[fields.list[i].name]); p != nil {
			f.problems = append(f.problems, *p)
		}
	}
	f.json, f.bare, f.secret = fields.append(nil), len(fields.list) == 0, fields.secret()
	return f
}

// optionTitles reads the tags mcp:"titles=Red|Green" of t by JSON name.
func optionTitles(t reflect.Type) map[string][]string {
	titles := make(map[string][]string)
	for _, f := range reflect.VisibleFields(t) {
		text, ok := strings.CutPrefix(f.Tag.Get("mcp"), "titles=")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if _, taken := titles[name]; !taken { // outer fields come first
			titles[name] = splitEntries(text, '|')
		}
	}
	return titles
}

// formFrom makes the form of a schema written by hand.
func formFrom(s Schema) (*form, error) {
	switch {
	case s.mistakes != nil:
		return nil, errors.Join(s.mistakes...)
	case s.form != nil:
		return s.form, nil
	case s.goType != nil:
		f := formOf(s.goType)
		return f, f.err()
	}
	text, err := s.MarshalJSON()
	if err != nil {
		return nil, err
	}
	f := new(form)
	fields, problem := readForm(text)
	if problem == nil {
		f.json, f.bare, f.secret = text, len(fields.list) == 0, fields.secret()
		f.plan, f.problems = schema.Raw(fields.check(nil), schema.RawOptions{Object: true})
	} else {
		f.problems = []schema.Problem{*problem}
	}
	return f, f.err()
}

// decode checks the content of an answer, fills in its defaults and decodes
// it into v, a pointer to the form's type. What the user did wrong is an
// *ArgsError.
func (f *form) decode(ctx context.Context, content []byte, v any) error {
	content, err := checkArgs(f.plan, content)
	if err != nil {
		return err
	}
	return decodeArgs(ctx, f.plan, content, v)
}

// check is decode for whoever needs no value.
func (f *form) check(ctx context.Context, content []byte) error {
	if f.typ == nil {
		_, err := checkArgs(f.plan, content)
		return err
	}
	return f.decode(ctx, content, reflect.New(f.typ).Interface())
}

// complaint tells the user what was wrong with an answer.
func complaint(e *ArgsError) string {
	var b strings.Builder
	b.WriteString("The last answer cannot be used:")
	for _, v := range e.Violations {
		b.WriteString("\n- " + v.Message)
		if b.Len() > maxArgsText {
			break
		}
	}
	return b.String()
}

// formFields are the parts of a form's schema.
type formFields struct {
	list     []formField
	required []string
}

// formField is one property of a form. What it holds was taken from a schema
// and is JSON as it stood there, nil where there was nothing.
type formField struct {
	name    string
	kind    string // string, number, integer, boolean, array
	members []member
	options []formOption // of a choice
	many    bool         // several may be chosen
}

// formOption is one option of a choice.
type formOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// member is one member of a JSON object.
type member struct {
	name  string
	value []byte
}

// objectMembers returns the members of the object data, in order; an error if
// it is none or has one twice.
func objectMembers(data []byte) ([]member, error) {
	w := jsonx.Walk(data)
	defer w.Release()
	if w.Kind() != '{' {
		return nil, errors.New("is not an object")
	}
	if err := w.Open(); err != nil {
		return nil, err
	}
	var all []member
	for w.Kind() == '"' {
		name, _, err := w.Name()
		if err != nil {
			return nil, err
		}
		m := member{name: string(name)}
		if slices.ContainsFunc(all, func(o member) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("has %s twice", strconv.Quote(m.name))
		}
		if m.value, err = w.Value(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return all, w.End()
}
