package mcp

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// formKeywords are the keywords that a property of a form may have, by its
// type (MCP 2026-07-28, Elicitation › Requested Schema).
var formKeywords = map[string][]string{
	"string":  {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
	"number":  {"minimum", "maximum"},
	"integer": {"minimum", "maximum"},
	"boolean": {},
	"array":   {"minItems", "maxItems", "items"},
}

var commonFormKeywords = []string{"type", "title", "description", "default"}

// formFormats are the formats that a string of a form may have.
var formFormats = []string{"email", "uri", "date", "date-time"}

// readForm takes the schema of a form apart. Whatever is no part of forms is a
// problem.
func readForm(text []byte) (formFields, *schema.Problem) {
	var fields formFields
	members, err := objectMembers(text)
	if err != nil {
		return fields, &schema.Problem{Reason: "the schema of a form " + err.Error()}
	}
	for _, m := range members {
		switch m.name {
		case "type":
			if string(m.value) != `"object"` {
				return fields, &schema.Problem{Tag: "type", Reason: "a form is of type object"}
			}
		case "properties":
			if fields.list, err = readFields(m.value); err != nil {
				return fields, problemOf(err)
			}
		case "required":
			if err := jsonx.Unmarshal(m.value, &fields.required); err != nil {
				return fields, &schema.Problem{Tag: m.name, Reason: "required is a list of names"}
			}
		case "$schema", "title", "description":
		case "additionalProperties": // of no use to a form, and derived for one without fields
			if string(m.value) != "false" {
				return fields, &schema.Problem{Tag: m.name, Reason: "a form is flat and has no other properties than those declared"}
			}
		default:
			return fields, &schema.Problem{Tag: m.name, Reason: "this keyword cannot be said of a form, which is a flat list of properties"}
		}
	}
	if !slices.ContainsFunc(members, func(m member) bool { return m.name == "type" }) {
		return fields, &schema.Problem{Tag: "type", Reason: "a form is of type object"}
	}
	return fields, nil
}

// fieldError is something wrong with a property of a form.
type fieldError struct{ schema.Problem }

func (e *fieldError) Error() string { return e.Reason }

func problemOf(err error) *schema.Problem {
	if e, ok := err.(*fieldError); ok {
		return &e.Problem
	}
	return &schema.Problem{Reason: err.Error()}
}

// secretNames are parts of the names of fields that ask for a secret.
var secretNames = []string{"password", "passwd", "passphrase", "secret", "apikey", "accesstoken", "privatekey", "creditcard"}

// secret returns the name of a field that seems to ask for what must not go
// through a form, "" if there is none (MCP 2026-07-28, Elicitation › Form Mode
// Security).
func (f *formFields) secret() string {
	for _, field := range f.list {
		bare := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(field.name))
		if slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(bare, part) }) {
			return field.name
		}
	}
	return ""
}

func badField(name, keyword, format string, args ...any) error {
	return &fieldError{schema.Problem{Field: name, Tag: keyword, Reason: fmt.Sprintf(format, args...)}}
}

func readFields(properties []byte) ([]formField, error) {
	members, err := objectMembers(properties)
	if err != nil {
		return nil, fmt.Errorf("the member properties %w", err)
	}
	fields := make([]formField, len(members))
	for i, m := range members {
		if fields[i], err = readField(m.name, m.value); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// readField takes one property apart.
func readField(name string, text []byte) (formField, error) {
	f := formField{name: name}
	members, err := objectMembers(text)
	if err != nil {
		return f, badField(name, "", "the schema of a field %v", err)
	}
	for _, m := range members {
		if m.name == "type" {
			f.kind, _ = unquoted(m.value)
		}
	}
	allowed, known := formKeywords[f.kind]
	if !known {
		return f, badField(name, "type", "a field of a form is a string, a number, an integer, a boolean, or an array of strings to choose from: forms are flat")
	}
	for _, m := range members {
		if !slices.Contains(commonFormKeywords, m.name) && !slices.Contains(allowed, m.name) {
			return f, badField(name, m.name, "the keyword %s cannot be said of a field of type %s in a form", strconv.Quote(m.name), f.kind)
		}
		if m.name == "format" {
			if format, _ := unquoted(m.value); !slices.Contains(formFormats, format) {
				return f, badField(name, m.name, "the format %s is not one of forms: %q", m.value, formFormats)
			}
		}
	}
	f.members = members
	return f, f.readOptions()
}

// readOptions reads what may be chosen, in any of the forms the protocol has
// for it.
func (f *formField) readOptions() error {
	source, titled := f.members, "oneOf"
	if f.kind == "array" {
		items, err := objectMembers(f.member("items"))
		if err != nil {
			return badField(f.name, "items", "an array needs items to choose from")
		}
		source, titled, f.many = items, "anyOf", true
	}
	var names []string
	for _, m := range source {
		var err error
		switch m.name {
		case "enum":
			err = f.readEnum(m.value)
		case titled:
			err = f.readTitled(m.value)
		case "enumNames":
			err = jsonx.Unmarshal(m.value, &names)
		case "type":
			if f.many && string(m.value) != `"string"` {
				err = errors.New("they are of another type")
			}
		default:
			if f.many {
				err = errors.New("nothing else is said of them")
			}
		}
		if err != nil {
			return badField(f.name, m.name, "the options of a field are strings, listed as enum, or with titles as %s of const and title: %v", titled, err)
		}
	}
	switch {
	case f.many && len(f.options) == 0:
		return badField(f.name, "items", "an array in a form is a choice: its items need an enum of strings")
	case names != nil && len(names) != len(f.options):
		return badField(f.name, "enumNames", "there are %d names for %d values", len(names), len(f.options))
	}
	return f.distinct()
}

func (f *formField) readEnum(text []byte) error {
	var values []string
	if err := jsonx.Unmarshal(text, &values); err != nil {
		return err
	}
	for _, v := range values {
		f.options = append(f.options, formOption{Const: v})
	}
	return nil
}

func (f *formField) readTitled(text []byte) error {
	var options []formOption
	if err := jsonx.UnmarshalStrict(text, &options); err != nil {
		return err
	}
	for _, o := range options {
		if o.Title == "" {
			return fmt.Errorf("the title of %s is missing", strconv.Quote(o.Const))
		}
	}
	f.options = append(f.options, options...)
	return nil
}

func (f *formField) distinct() error {
	seen := make(map[string]bool)
	for _, o := range f.options {
		if seen[o.Const] {
			return badField(f.name, "enum", "the option %s is there twice", strconv.Quote(o.Const))
		}
		seen[o.Const] = true
	}
	return nil
}

func (f *formField) member(name string) []byte {
	for _, m := range f.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// setTitles gives the options of a field their titles, in order.
func (f *formField) setTitles(titles []string) *schema.Problem {
	switch {
	case titles == nil:
		return nil
	case len(f.options) != len(titles):
		return &schema.Problem{Field: f.name, Tag: "mcp", Reason: fmt.Sprintf("there are %d titles for %d options of enum", len(titles), len(f.options))}
	}
	for i := range f.options {
		f.options[i].Title = titles[i]
	}
	return nil
}

// append writes the schema that clients get.
func (f *formFields) append(dst []byte) []byte {
	return f.write(dst, func(dst []byte, field *formField) []byte {
		titled := len(field.options) > 0 && field.options[0].Title != ""
		for _, m := range field.members {
			switch {
			case titled && m.name == "enum":
				dst = appendOptions(appendName(dst, "oneOf"), field.options)
			case titled && m.name == "items":
				dst = append(appendOptions(append(appendName(dst, "items"), `{"anyOf":`...), field.options), '}')
			default:
				dst = append(appendName(dst, m.name), m.value...)
			}
		}
		return dst
	})
}

// check writes the schema that answers are checked against. Titles have no
// part in it, so a choice is an enum always.
func (f *formFields) check(dst []byte) []byte {
	return f.write(dst, func(dst []byte, field *formField) []byte {
		for _, m := range field.members {
			switch m.name {
			case "enum", "enumNames", "oneOf", "items":
			default:
				dst = append(appendName(dst, m.name), m.value...)
			}
		}
		if len(field.options) == 0 {
			return dst
		}
		values := make([]string, len(field.options))
		for i, o := range field.options {
			values[i] = o.Const
		}
		enum, _ := jsonx.Marshal(&values) // plain strings cannot fail
		if field.many {
			return append(append(append(appendName(dst, "items"), `{"type":"string","enum":`...), enum...), '}')
		}
		return append(appendName(dst, "enum"), enum...)
	})
}

func (f *formFields) write(dst []byte, members func([]byte, *formField) []byte) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	for i := range f.list {
		dst = append(appendName(dst, f.list[i].name), '{')
		dst = append(members(dst, &f.list[i]), '}')
	}
	dst = append(dst, '}')
	if len(f.required) > 0 {
		dst, _ = jsonx.Append(append(dst, `,"required":`...), &f.required) // plain strings cannot fail
	}
	return append(dst, '}')
}

// appendName starts a member of the object that dst is in the middle of.
func appendName(dst []byte, name string) []byte {
	return append(jsonx.AppendString(comma(dst), name), ':')
}

func appendOptions(dst []byte, options []formOption) []byte {
	dst, _ = jsonx.Append(dst, &options) // plain strings cannot fail
	return dst
}
