package jsonx

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a JSON value or delimiter, named by its first byte:
// 'n', 't', 'f', '"', '0' (any number), '{', '}', '[', ']'. The zero Kind
// means that the input is broken or has ended; the next read says which.
type Kind = jsontext.Kind

// Walker reads one JSON text in a single forward pass, without building
// values and without allocating. Grammar, UTF-8 and surrogate pairs are
// checked as it goes; duplicate member names are left to its caller, who
// knows what a duplicate means at that place. A Walker is not safe for
// concurrent use.
type Walker struct {
	dec  *jsontext.Decoder
	buf  bytes.Buffer
	data []byte
	name []byte // scratch for names with escapes
}

// walkOptions lets duplicates pass: where they occur decides the answer.
var walkOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true)}

var walkers = sync.Pool{New: func() any {
	w := new(Walker)
	w.dec = jsontext.NewDecoder(&w.buf, walkOptions...)
	return w
}}

// Walk returns a pooled Walker at the start of data. The spans it returns
// alias data, which must not change while they are in use. Release gives the
// Walker back.
func Walk(data []byte) *Walker {
	w := walkers.Get().(*Walker)
	w.Reset(data)
	return w
}

// Release returns w to the pool; w must not be used afterwards.
func (w *Walker) Release() {
	w.Forget()
	walkers.Put(w)
}

// Forget lets go of the text, unless it is small: emptying w costs as much as
// walking some tokens.
func (w *Walker) Forget() {
	if len(w.data) > keepText {
		w.Reset(nil)
	}
}

// keepText is the size of a text that may stay alive in a pool, in bytes.
const keepText = 4 << 10

// Reset puts w at the start of data.
func (w *Walker) Reset(data []byte) {
	w.data = data
	w.buf = *bytes.NewBuffer(data)
	w.dec.Reset(&w.buf, walkOptions...)
}

// Kind tells what comes next without consuming it.
func (w *Walker) Kind() Kind { return w.dec.PeekKind() }

// Open consumes the '{' or '[' that Kind announced.
func (w *Walker) Open() error { return w.token() }

// Close consumes the '}' or ']' that Kind announced.
func (w *Walker) Close() error { return w.token() }

func (w *Walker) token() error {
	_, err := w.dec.ReadToken()
	return err
}

// Name consumes a member name and returns it unescaped. It is valid until
// the next call of Name; escaped tells that it does not alias the input.
func (w *Walker) Name() (name []byte, escaped bool, err error) {
	quoted, err := w.dec.ReadValue()
	if err != nil {
		return nil, false, err
	}
	end := int(w.dec.InputOffset())
	inner := w.data[end-len(quoted)+1 : end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, false, nil
	}
	w.name, err = jsontext.AppendUnquote(w.name[:0], quoted)
	return w.name, true, err
}

// Value consumes the next value, whole, and returns its span of the input.
func (w *Walker) Value() ([]byte, error) {
	v, err := w.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(w.dec.InputOffset())
	return w.data[end-len(v) : end : end], nil
}

// Offset is the position in the input behind what was last consumed.
func (w *Walker) Offset() int { return int(w.dec.InputOffset()) }

// Mark returns the position of the value that Kind announced, for Since.
func (w *Walker) Mark() int {
	i := w.Offset()
	for i < len(w.data) && w.data[i] != '{' && w.data[i] != '[' {
		i++ // white space and the separator before the value
	}
	return i
}

// Since returns the span of input from mark to what was last consumed.
func (w *Walker) Since(mark int) []byte {
	end := w.Offset()
	return w.data[mark:end:end]
}

// End reports nil when only white space is left.
func (w *Walker) End() error {
	_, err := w.dec.ReadToken()
	switch {
	case err == nil:
		return errMore
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

var errMore = errors.New("there is more than one JSON value")

// Explain says why a method of w failed with err, and where in the text, in
// words that may be shown to whoever sent it.
func (w *Walker) Explain(err error) string {
	if err == errMore {
		return err.Error()
	}
	return explain(w.data, err).Reason
}

// DeeperThan reports whether arrays and objects of data nest deeper than
// limit. Counting brackets first makes it nearly free for ordinary messages.
func DeeperThan(data []byte, limit int) bool {
	if bytes.Count(data, []byte{'{'})+bytes.Count(data, []byte{'['}) <= limit {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
