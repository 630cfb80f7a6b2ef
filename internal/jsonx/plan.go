package jsonx

import (
	"encoding"
	stdjson "encoding/json"
	"math/big"
	"reflect"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

var (
	anyType      = reflect.TypeFor[any]()
	bigIntType   = reflect.TypeFor[big.Int]()
	durationType = reflect.TypeFor[time.Duration]()
	numberType   = reflect.TypeFor[stdjson.Number]()
	timeType     = reflect.TypeFor[time.Time]()
)

var (
	encodeMethods = []reflect.Type{
		reflect.TypeFor[json.MarshalerTo](), reflect.TypeFor[json.Marshaler](),
		reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextMarshaler](),
	}
	decodeMethods = []reflect.Type{
		reflect.TypeFor[json.UnmarshalerFrom](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextUnmarshaler](),
	}
)

// plan is what is decided once for each type that is given to Unmarshal or
// Append: the cheapest option set that is right for all it reaches.
type plan struct {
	encode encodeMode
	decode decodeMode
	hasAny bool
}

var plans sync.Map // reflect.Type to *plan

func planFor(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := new(plan)
	p.add(t, make(map[reflect.Type]bool))
	actual, _ := plans.LoadOrStore(t, p)
	return actual.(*plan)
}

// add records what t and the types it reaches need.
func (p *plan) add(t reflect.Type, seen map[reflect.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t {
	case durationType, numberType:
		p.encode |= withEncoders
		p.decode |= withCodecs
		return
	case bigIntType:
		p.decode |= withCodecs
		return
	}
	if t.Kind() != reflect.Pointer && hasMethod(t, encodeMethods) && hasMethod(t, decodeMethods) {
		return // it encodes and decodes itself
	}
	switch t.Kind() {
	case reflect.Interface:
		p.encode |= withEncoders // a Duration may turn up in it
		p.hasAny = p.hasAny || t == anyType
	case reflect.Slice:
		if e := t.Elem(); e.Kind() == reflect.Uint8 && e.PkgPath() != "" {
			p.decode |= namedByteSlices
		}
		p.add(t.Elem(), seen)
	case reflect.Pointer, reflect.Array:
		p.add(t.Elem(), seen)
	case reflect.Map:
		p.add(t.Key(), seen)
		p.add(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() || f.Anonymous {
				p.add(f.Type, seen)
			}
		}
	}
}

// hasMethod reports whether t or *t has one of the methods.
func hasMethod(t reflect.Type, methods []reflect.Type) bool {
	ptr := reflect.PointerTo(t)
	for _, m := range methods {
		if t.Implements(m) || ptr.Implements(m) {
			return true
		}
	}
	return false
}
