package jsonrpc

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonx"
)

var bom = []byte("\ufeff")

// Decode reads one message into m, which must be zero. depth limits how deep its arrays and
// objects may nest. The error is a *Fault: -32700 for text that is not JSON or
// not UTF-8, -32600 for JSON that is no valid message.
//
// A name that occurs twice in the envelope, in params or in _meta is refused
// without an id: two readers of such a message could disagree on what it
// says. Duplicates deeper down are left to whoever reads that part.
func Decode(data []byte, depth int, m *Message) error {
	data = bytes.TrimPrefix(data, bom)
	if uint64(len(data)) > math.MaxUint32 {
		return &Fault{Code: CodeInvalidRequest, Message: "Invalid Request: larger than 4 GiB"}
	}
	m.data = data
	if jsonx.DeeperThan(data, depth) {
		return &Fault{Code: CodeInvalidRequest, Message: fmt.Sprintf("Invalid Request: nested deeper than %d levels", depth)}
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	d.w.Reset(data)
	d.m = m
	if d.w.Kind() != '{' {
		return d.notObject()
	}
	if err := d.object(&d.names[0], d.slot); err != nil {
		return d.fault(err)
	}
	if err := d.w.End(); err != nil {
		return d.fault(err)
	}
	return d.classify(m)
}

// decoder is the pooled state of one Decode.
type decoder struct {
	w *jsonx.Walker
	m *Message
	envelope
	names [3]jsonx.NameSet // unknown names of envelope, params, _meta
}

var decoders = sync.Pool{New: func() any { return &decoder{w: jsonx.Walk(nil)} }}

func (d *decoder) release() {
	d.w.Forget()
	d.m = nil
	d.envelope = envelope{}
	for i := range d.names {
		d.names[i].Reset()
	}
	decoders.Put(d)
}

// notObject refuses a text that is no object: as a parse error when it is no
// JSON at all.
func (d *decoder) notObject() error {
	kind := d.w.Kind()
	_, err := d.w.Value()
	if err == nil {
		err = d.w.End()
	}
	if err != nil {
		return d.fault(err)
	}
	if kind == '[' {
		return &Fault{Code: CodeInvalidRequest, Message: "Invalid Request: batches are not accepted; send one message at a time"}
	}
	return &Fault{Code: CodeInvalidRequest, Message: "Invalid Request: a message is a JSON object"}
}

func (d *decoder) fault(err error) error {
	if f, ok := err.(*Fault); ok {
		return f
	}
	return &Fault{Code: CodeParseError, Message: "Parse error: " + d.w.Explain(err)}
}

// slots says where the span of a member goes, nil for names without a slot.
type slots func(name []byte) *span

// object reads the object that comes next and fills slots. A slot that holds
// params or _meta is descended into by their own methods.
func (d *decoder) object(seen *jsonx.NameSet, find slots) error {
	if err := d.w.Open(); err != nil {
		return err
	}
	for d.w.Kind() == '"' {
		name, escaped, err := d.w.Name()
		if err != nil {
			return err
		}
		slot := find(name)
		switch {
		case slot != nil && slot.to != 0:
			return duplicate(name)
		case slot != nil:
			err = d.fill(slot)
		default:
			if escaped {
				name = bytes.Clone(name)
			}
			if !seen.Add(name) {
				return duplicate(name)
			}
			_, err = d.w.Value()
		}
		if err != nil {
			return err
		}
	}
	return d.w.Close()
}

// fill reads the next value into slot, descending where members are needed.
func (d *decoder) fill(slot *span) error {
	var err error
	var start int
	switch {
	case slot == &d.m.params && d.w.Kind() == '{':
		start = d.w.Mark()
		err = d.object(&d.names[1], d.m.paramsMembers.slot)
	case slot == &d.m.meta && d.w.Kind() == '{':
		start = d.w.Mark()
		err = d.object(&d.names[2], d.m.metaMembers.slot)
	default:
		var v []byte
		v, err = d.w.Value()
		start = d.w.Offset() - len(v)
	}
	*slot = span{uint32(start), uint32(d.w.Offset())}
	return err
}

func duplicate(name []byte) error {
	return &Fault{Code: CodeInvalidRequest, Message: fmt.Sprintf("Invalid Request: the name %.60q occurs twice", name)}
}
