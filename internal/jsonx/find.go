package jsonx

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"
)

// Find returns the span of the value at path, a chain of member names, within
// the object data; nil when there is none.
func Find(data []byte, path ...string) ([]byte, error) {
	w := Walk(data)
	defer w.Release()
	for {
		span, err := w.member(path[0])
		if err != nil || span == nil || len(path) == 1 {
			return span, err
		}
		path = path[1:]
		w.Reset(span)
	}
}

// member returns the value of the named member of the object that comes next,
// nil when that is no object or has no such member.
func (w *Walker) member(name string) ([]byte, error) {
	if w.Kind() != '{' {
		return nil, nil
	}
	if err := w.Open(); err != nil {
		return nil, err
	}
	for w.Kind() == '"' {
		got, _, err := w.Name()
		if err != nil {
			return nil, err
		}
		found := string(got) == name
		span, err := w.Value()
		if err != nil || found {
			return span, err
		}
	}
	return nil, w.Close()
}

// FindEach finds several members of the object data in one pass: spans[i] is
// the value of names[i], nil when there is none. A name of these that comes
// twice is an error, as is anything but an object.
func FindEach(data []byte, names []string, spans [][]byte) error {
	w := Walk(data)
	defer w.Release()
	if w.Kind() != '{' {
		return errors.New("this is no object")
	}
	if err := w.Open(); err != nil {
		return err
	}
	for w.Kind() == '"' {
		name, _, err := w.Name()
		if err != nil {
			return err
		}
		i := indexOf(names, name)
		span, err := w.Value()
		switch {
		case err != nil:
			return err
		case i < 0:
		case spans[i] != nil:
			return fmt.Errorf("the name %q occurs twice", names[i])
		default:
			spans[i] = span
		}
	}
	return w.Close()
}

func indexOf(names []string, name []byte) int {
	for i := range names {
		if names[i] == string(name) {
			return i
		}
	}
	return -1
}

// View returns the text of a JSON string without copying it, where it has no
// escapes: for comparing and looking up only, while quoted does not change.
// It reports false for anything but a string.
func View(quoted []byte) (string, bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return "", false
	}
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return unsafe.String(unsafe.SliceData(inner), len(inner)), true
	}
	s, err := Unquote(quoted)
	return s, err == nil
}
