package schema

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// leaf builds the node of a type whose Go shape does not tell its JSON.
func (d *deriver) leaf(t reflect.Type) (*node, bool) {
	switch {
	case isBuiltIn(t):
		return nil, false
	case hasSchemaMethod(t):
		return d.schemaMethod(t), true
	case t == urlGo:
		d.problem("", "has type url.URL, which JSON cannot hold as text: use a string, with format=uri")
		return nil, true
	}
	if n := knownKind(t); n != nil {
		return n, true
	}
	if codesJSON(t, d.out) || codesText(t, d.out) {
		if f, ok := promotedFrom(t, d.out); ok {
			return d.promoted(t, f), true
		}
	}
	switch {
	case codesJSON(t, d.out):
		d.warn(fmt.Sprintf("has type %s, which reads and writes JSON of its own: any value is advertised; give it a method JSONSchema to say more", t))
		return &node{types: anyType, opaque: true}, true
	case codesText(t, d.out):
		return d.textNode(t), true
	}
	return nil, false
}

// promoted builds the node of a struct that has the JSON of a field it embeds.
func (d *deriver) promoted(t reflect.Type, f reflect.StructField) *node {
	if f.Type.Kind() == reflect.Pointer && !d.out {
		d.problem("", fmt.Sprintf("has type %s, which the embedded pointer %s decodes, and that is nil then: embed the struct itself", t, f.Name))
		return nil
	}
	for i := range t.NumField() {
		if other := t.Field(i); other.IsExported() && other.Name != f.Name {
			d.warn(fmt.Sprintf("has the member %s, which is never written: the embedded %s encodes %s as a whole", other.Name, f.Name, t))
		}
	}
	return d.build(f.Type, nil, false)
}

// textNode builds the node of a type that reads or writes itself as text.
func (d *deriver) textNode(t reflect.Type) *node {
	n := &node{types: stringType}
	if values, ok := d.values(t); ok {
		n.enum = values
		return n
	}
	if d.out {
		return n
	}
	what := textHints[t]
	if what != "" {
		n.hints = []string{what}
	} else {
		what = "text of another form"
	}
	n.str = &stringRules{max: noLimit, format: &format{what: what, ok: textReader(t)}, own: ownText(t)}
	return n
}

// textReader reports whether a text decodes into t.
func textReader(t reflect.Type) func([]byte) bool {
	return func(text []byte) bool { return readText(t, text) == nil }
}

// ownText tells why a text does not decode into t, in t's own words. Types
// that are well known need none.
func ownText(t reflect.Type) func([]byte) string {
	if textHints[t] != "" {
		return nil
	}
	return func(text []byte) string {
		reason, _ := jsonx.OwnText(readText(t, text), t)
		return reason
	}
}

// readText decodes text into a value of t. A method that panics on some text
// does not take it.
func readText(t reflect.Type, text []byte) (err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	v, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler)
	if !ok {
		return nil
	}
	return v.UnmarshalText(text)
}

var errPanicked = errors.New("") // nothing fit to send

// values asks a type that has a method Values for all its values.
func (d *deriver) values(t reflect.Type) (*enumRules, bool) {
	if isBuiltIn(t) {
		return nil, false
	}
	m, ok := method(t, "Values")
	if !ok || t.Kind() == reflect.Interface || m.Type.NumIn() != 1 || m.Type.NumOut() != 1 || m.Type.Out(0).Kind() != reflect.Slice {
		return nil, false
	}
	if e := m.Type.Out(0).Elem(); e != t && e.Kind() != reflect.String {
		return nil, false
	}
	list, ok := d.call(t, "Values")
	if !ok {
		return nil, false
	}
	if list.Len() == 1 && list.Index(0).IsZero() {
		return nil, false // the parts of an empty text, not all values
	}
	e := new(enumRules)
	for i := range list.Len() {
		v := reflect.New(list.Index(i).Type())
		v.Elem().Set(list.Index(i))
		text, err := jsonx.Marshal(v.Interface())
		if err != nil || !isScalar(text) {
			d.problem("", fmt.Sprintf("has type %s, whose method Values lists a value that is no JSON scalar", t))
			return nil, false
		}
		if !slices.Contains(e.values, string(text)) {
			e.add(string(text))
		}
	}
	d.checked = true
	return e, len(e.values) > 0
}

// call runs a method of a zero value of t that takes nothing and returns one
// value. A panic is a problem of the type.
func (d *deriver) call(t reflect.Type, name string) (out reflect.Value, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			d.problem("", fmt.Sprintf("has type %s, whose method %s panics on a zero value: %v", t, name, r))
			ok = false
		}
	}()
	return reflect.New(t).MethodByName(name).Call(nil)[0], true
}

// mapKey returns the rule for the names of a map, nil if any will do.
func (d *deriver) mapKey(t reflect.Type) (*keyRule, bool) {
	switch {
	case t == durationGo:
		return &keyRule{what: durationFormat.what, ok: isDuration}, true
	case t == numberGo:
		return nil, true
	case codesText(t, d.out):
		what := textHints[t]
		if what == "" {
			what = "text of another form"
		}
		if d.out {
			return nil, true
		}
		return &keyRule{what, textReader(t), ownText(t)}, true
	case codesJSON(t, d.out):
	case t.Kind() == reflect.String:
		return nil, true
	default:
		if r, ok := integerRanges[t.Kind()]; ok {
			return r.key(), true
		}
	}
	d.formless("has a map key of type %s, which cannot be a JSON name: use a string, an integer or a type that reads and writes text", t)
	return nil, false
}

// key takes the decimal digits of an integer in a range.
func (r integerRange) key() *keyRule {
	what := "integers"
	if !is64Bit(r.high) {
		what += " from " + r.low.text + " to " + r.high.text
	}
	return &keyRule{what: what, ok: func(name []byte) bool {
		if !isPlainInteger(name) {
			return false
		}
		d := parseDecimal(name)
		return d.compare(&r.low.value) >= 0 && d.compare(&r.high.value) <= 0
	}}
}

// scalarNode builds the node of a bool, number or string.
func (d *deriver) scalarNode(t reflect.Type, schemaType string) *node {
	n := &node{types: typeNames[schemaType]}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		n.num = &numberRules{floatBits: t.Bits()}
	default:
		if r, ok := integerRanges[t.Kind()]; ok {
			n.num = &numberRules{lowest: r.low, highest: r.high}
			n.num.settle()
		}
	}
	if values, ok := d.values(t); ok {
		n.enum = values
	}
	return n
}
