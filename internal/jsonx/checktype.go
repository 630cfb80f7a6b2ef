package jsonx

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TypeProblem is one reason why values of a type cannot be encoded or decoded.
type TypeProblem struct {
	Path   string // Go fields from the type on, such as Args.Filter.By; the elements of lists and maps are []
	Field  string // name of the Go field, "" if the type itself is at fault
	Tag    string // its struct tag, whole
	Reason string // what is wrong and what to do, for whoever wrote the type
	Encode bool   // values cannot be encoded, or not as the tag says
	Decode bool   // values cannot be decoded, or not as the tag says
}

// CheckType returns every problem of t and of the types it reaches, each type
// once, in the order of the fields. A type without problems never makes
// Unmarshal fail with FaultTarget, nor Append but for a value's own sake, such
// as NaN or a failing method. The result is nil for a nil t.
func CheckType(t reflect.Type) []TypeProblem {
	if t == nil {
		return nil
	}
	c := checker{seen: make(map[visit]bool)}
	c.check(t, place{path: rootName(t), encode: true, decode: true})
	if len(c.problems) == 0 {
		for v := range c.seen {
			soundTypes.Store(v, true)
		}
	}
	return c.problems
}

// soundTypes were checked, with all that they reach, and are without a problem.
var soundTypes sync.Map // visit to true

func rootName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	switch {
	case t.Name() == "" && t.Kind() == reflect.Struct:
		return "struct" // its source text may be long
	case t.Name() == "":
		return t.String()
	}
	name, _, _ := strings.Cut(t.Name(), "[") // type arguments are long
	return name
}

type checker struct {
	problems []TypeProblem
	seen     map[visit]bool
}

type visit struct {
	t              reflect.Type
	encode, decode bool
}

// place is where in the root type a type was met, and in which directions its
// own form matters: a method takes one or both away.
type place struct {
	path, field, tag string
	encode, decode   bool
}

func (p place) into(f reflect.StructField) place {
	p.path += "." + f.Name
	p.field, p.tag = f.Name, string(f.Tag)
	return p
}

func (p place) element() place {
	p.path += "[]"
	return p
}

func (c *checker) report(at place, format string, args ...any) {
	c.problems = append(c.problems, TypeProblem{
		Path: at.path, Field: at.field, Tag: at.tag, Reason: fmt.Sprintf(format, args...),
		Encode: at.encode, Decode: at.decode,
	})
}

func (c *checker) check(t reflect.Type, at place) {
	v := visit{t, at.encode, at.decode}
	if c.seen[v] {
		return
	}
	if _, ok := soundTypes.Load(v); ok {
		return
	}
	c.seen[v] = true
	switch t {
	case timeType, durationType, numberType, bigIntType:
		return
	}
	if k := t.Kind(); k != reflect.Pointer && k != reflect.Interface {
		at.encode = at.encode && !hasMethod(t, encodeMethods)
		at.decode = at.decode && !hasMethod(t, decodeMethods)
	}
	if !at.encode && !at.decode {
		return
	}
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		c.report(at, "%v has no JSON form; leave the field out with `json:\"-\"`", t)
	case reflect.Interface:
		c.checkInterface(t, at)
	case reflect.Pointer:
		if pointsToItself(t) {
			c.report(at, "the type %v is a pointer to itself", t)
			return
		}
		c.check(t.Elem(), at)
	case reflect.Slice, reflect.Array:
		c.check(t.Elem(), at.element())
	case reflect.Map:
		c.checkKey(t.Key(), at)
		c.check(t.Elem(), at.element())
	case reflect.Struct:
		c.checkStruct(t, at)
	}
}

// pointsToItself reports whether following t never reaches anything else.
func pointsToItself(t reflect.Type) bool {
	seen := make(map[reflect.Type]bool)
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		if seen[t] {
			return true
		}
		seen[t] = true
	}
	return false
}

func (c *checker) checkInterface(t reflect.Type, at place) {
	at.encode = false // what it holds has a form of its own
	switch {
	case !at.decode || t == anyType:
	case t.NumMethod() > 0:
		c.report(at, "nothing tells which type to decode into the interface %v; use a concrete type", t)
	default:
		c.report(at, "numbers are not kept exact in the type %v; use any", t)
	}
}

// checkKey holds map keys to what encoding/json allows: strings, integers and
// types that read and write themselves as text.
func (c *checker) checkKey(t reflect.Type, at place) {
	text := []reflect.Type{
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextUnmarshaler](),
	}
	k := t.Kind()
	switch {
	case t == timeType || t == durationType || t == numberType:
	case k == reflect.Pointer || k == reflect.Interface,
		k != reflect.String && !isInt(k) && !isUint(k) && !hasMethod(t, text):
		c.report(at, "%v cannot be the key of a map: a key is a string, an integer or a type with MarshalText and UnmarshalText", t)
	case at.encode && !writesName(t):
		at.decode = false
		c.report(at, "%v cannot be the key of a map: its MarshalJSON does not write a string", t)
	}
}

// writesName reports whether the zero value of t is written as a string. A
// method that fails or panics for it is given the benefit of the doubt.
func writesName(t reflect.Type) (ok bool) {
	if !hasMethod(t, encodeMethods[:2]) {
		return true
	}
	defer func() {
		if recover() != nil {
			ok = true
		}
	}()
	out, err := json.Marshal(reflect.New(t).Interface(), encodeOptions[withEncoders])
	return err != nil || jsontext.Value(out).Kind() == '"'
}

func (c *checker) checkStruct(t reflect.Type, at place) {
	names := make([]memberName, 0, t.NumField())
	allSound, allPlain := true, true
	var sound []int // fields without a problem of their own
	for i := range t.NumField() {
		f := t.Field(i)
		tag := parseTag(f)
		if tag.ignored {
			continue
		}
		allPlain = allPlain && tag.plain(f)
		fat, before := at.into(f), len(c.problems)
		inner := f.Type
		c.checkTag(f, tag, fat)
		if f.Anonymous && tag.name == "" {
			inner = c.checkEmbedded(f, tag, fat)
		} else {
			names = c.checkName(f, tag, names, fat)
		}
		if len(c.problems) > before {
			allSound = false
		} else if !f.Anonymous {
			sound = append(sound, i)
		}
		if inner != nil && (f.IsExported() || f.Anonymous) {
			c.check(inner, fat)
		}
	}
	if !allSound || !allPlain || len(names) == 0 {
		c.tryStruct(t, at, sound, allSound)
	}
}

// memberName is the JSON name of a field.
type memberName struct{ json, field string }

// checkName reports a name that another field of the same struct has.
func (c *checker) checkName(f reflect.StructField, tag fieldTag, names []memberName, at place) []memberName {
	name := cmp.Or(tag.name, f.Name)
	if i := slices.IndexFunc(names, func(other memberName) bool { return other.json == name }); i >= 0 {
		c.report(at, "the JSON name %q is that of field %s already", name, names[i].field)
	}
	return append(names, memberName{name, f.Name})
}

// checkTag reports options that jsonx refuses or that have no effect.
func (c *checker) checkTag(f reflect.StructField, tag fieldTag, at place) {
	if !f.IsExported() && !f.Anonymous {
		c.report(at, "the field is not exported, so its json tag has no effect")
		return
	}
	if tag.name == "-" {
		c.report(at, "`json:\"-,\"` names the member \"-\"; leave the field out with `json:\"-\"`, or choose another name")
	}
	for _, option := range tag.options {
		name, _, _ := strings.Cut(option, ":")
		switch name {
		case "embed", "format", "case":
			c.report(at, "the option %q of the json tag is not supported", name)
		case "string":
			if !takesString(f.Type) {
				c.report(at, "the string option applies to strings, numbers and booleans only")
			}
		}
	}
}

// takesString reports whether the library takes the string option for t.
func takesString(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == timeType {
		return false
	}
	k := t.Kind()
	basic := k == reflect.Bool || k == reflect.String || isInt(k) || isUint(k) || isFloat(k)
	return basic || k != reflect.Pointer && k != reflect.Interface && hasMethod(t, slices.Concat(encodeMethods, decodeMethods))
}

// checkEmbedded checks an embedded field without a JSON name, the fields of
// which count as those of the outer struct. It returns the type to go on with.
func (c *checker) checkEmbedded(f reflect.StructField, tag fieldTag, at place) reflect.Type {
	t := f.Type
	pointer := t.Kind() == reflect.Pointer && t.Name() == ""
	if pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() != reflect.Struct && !f.IsExported():
		c.report(at, "an embedded %v that is not exported has no JSON form; leave it out with `json:\"-\"`", f.Type)
		return nil
	case t.Kind() != reflect.Struct:
		c.report(at, "an embedded %v is no struct; give it a JSON name", f.Type)
	case hasMethod(t, slices.Concat(encodeMethods, decodeMethods)):
		c.report(at, "the embedded %v reads or writes itself, so its fields do not join those around it; give it a JSON name", t)
	case len(tag.options) > 0 && !slices.Contains(tag.options, "embed"):
		c.report(at, "an embedded struct takes options of the json tag only with a JSON name")
	case pointer && !f.IsExported() && at.decode:
		at.encode = false
		c.report(at, "an embedded pointer to the unexported %v cannot be set; embed the struct, or export it", t)
	}
	return t
}

// fieldTag is the json tag of a field, as encoding/json reads it.
type fieldTag struct {
	ignored bool
	name    string
	options []string
}

func parseTag(f reflect.StructField) fieldTag {
	text, ok := f.Tag.Lookup("json")
	if text == "-" || !ok && !f.IsExported() && !f.Anonymous {
		return fieldTag{ignored: true}
	}
	name, options, more := strings.Cut(text, ",")
	tag := fieldTag{name: name}
	if more {
		tag.options = strings.Split(options, ",")
	}
	return tag
}

// plain reports whether nothing of a field is left for the library to refuse.
// Most fields are so, and a trial costs more than all other checks: it
// prepares the library for values that may never come.
func (tag fieldTag) plain(f reflect.StructField) bool {
	if f.Anonymous || !f.IsExported() || len(tag.options) > 1 {
		return false
	}
	for _, c := range []byte(tag.name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(tag.options) == 0 || tag.options[0] == "omitempty" || tag.options[0] == "omitzero"
}

// tryStruct lets the library judge t, for what is not checked here. It stops
// at the first problem, so that sound fields are tried one by one if it finds
// any. What it says of the whole is new only if no field has a problem.
func (c *checker) tryStruct(t reflect.Type, at place, sound []int, allSound bool) {
	reason := refusal(t, at.decode)
	if reason == "" {
		return
	}
	for _, i := range sound {
		f := t.Field(i)
		alone := []reflect.StructField{{Name: f.Name, Type: reflect.TypeFor[int](), Tag: f.Tag}}
		if reason := refusal(reflect.StructOf(alone), true); reason != "" {
			c.report(at.into(f), "%s", strings.TrimPrefix(reason, "Go struct field "+f.Name+" "))
			allSound = false
		}
	}
	if allSound {
		c.report(at, "%s", reason)
	}
}

// refusal is why the library refuses the struct type t itself, "" if it does
// not. Decoding {} runs no method of t's fields; encoding may.
func refusal(t reflect.Type, decode bool) (reason string) {
	defer func() { _ = recover() }() // a method met a zero value
	value := reflect.New(t).Interface()
	var err error
	if decode {
		err = json.Unmarshal([]byte("{}"), value, decodeOptions[withCodecs])
	} else {
		_, err = json.Marshal(value, encodeOptions[withEncoders])
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.GoType == t && semantic.Err != nil {
		return semantic.Err.Error()
	}
	return ""
}
