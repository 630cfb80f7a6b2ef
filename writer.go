package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"reflect"
)

// RegisterWriter says how results of type T become content: a tool whose
// handler returns a T or *T then has no output schema and sends the blocks
// that fn makes. It may be called before or after the tools are added; two
// writers for one type are a problem that Check reports. Every image.Image is
// written as a PNG image unless a writer says otherwise.
func RegisterWriter[T any](s *Server, fn func(v T) ([]Content, error)) {
	site := callerSite()
	t := reflect.TypeFor[T]()
	s.registry.mutate("writer of "+t.String(), func() {
		var err error
		switch {
		case fn == nil:
			err = errors.New("the function is nil")
		case s.registry.writers[t] != nil:
			err = errors.New("there is a writer for this type already")
		}
		if err != nil {
			s.registry.problems = append(s.registry.problems, &RegistrationError{
				Feature: "writer", Type: t.String(), Caller: site.String(), Err: err,
			})
			return
		}
		if s.registry.writers == nil {
			s.registry.writers = make(map[reflect.Type]writerFunc)
		}
		s.registry.writers[t] = func(v reflect.Value) ([]Content, error) {
			if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
				return nil, errNilResult
			}
			return fn(v.Interface().(T))
		}
		for _, tool := range s.registry.tools {
			tool.given.compiled = false // its result may be content now
		}
	})
}

// writerFunc makes content of a value of the type it is registered for.
type writerFunc func(v reflect.Value) ([]Content, error)

// writer returns how the tool's result type becomes content, nil if it is no
// matter of a writer. The function takes the result's address.
func (t *Tool) writer() func(v any) (*Result, error) {
	typ := t.resultType
	if typ == nil {
		return nil
	}
	writers := t.reg.writers
	if w := writers[typ]; w != nil {
		return func(v any) (*Result, error) { return written(w(reflect.ValueOf(v).Elem())) }
	}
	if typ.Kind() == reflect.Pointer && writers[typ.Elem()] != nil {
		w := writers[typ.Elem()]
		return func(v any) (*Result, error) {
			p := reflect.ValueOf(v).Elem()
			if p.IsNil() {
				return nil, errNilResult
			}
			return written(w(p.Elem()))
		}
	}
	if w := writers[reflect.PointerTo(typ)]; w != nil {
		return func(v any) (*Result, error) { return written(w(reflect.ValueOf(v))) }
	}
	if typ.Implements(reflect.TypeFor[image.Image]()) {
		return func(v any) (*Result, error) {
			img, _ := reflect.ValueOf(v).Elem().Interface().(image.Image)
			if img == nil || reflect.ValueOf(img).Kind() == reflect.Pointer && reflect.ValueOf(img).IsNil() {
				return nil, errNilResult
			}
			return written(pngContent(img))
		}
	}
	return nil
}

func written(content []Content, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	return &Result{Content: content}, nil
}

func pngContent(img image.Image) ([]Content, error) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil, fmt.Errorf("encoding the image: %w", err)
	}
	return []Content{Image(buf.Bytes(), "image/png")}, nil
}
