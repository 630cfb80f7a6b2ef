package schema

import (
	"bytes"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// maxViolations is where a check stops: more would not help anyone.
const maxViolations = 20

var emptyObject = []byte("{}")

// Check is the way of arguments up to their decoding: absent properties get
// their defaults, null for an optional property is dropped, integers are
// spelled in plain digits, all by editing bytes; what breaks the schema is
// reported, at most 20 violations. Nil violations mean that out may be
// decoded. It is args itself if nothing had to be edited, and then nothing is
// allocated. No arguments and null are an empty object.
func (p *Plan) Check(args []byte) (out []byte, violations []Violation) {
	if len(args) == 0 || string(args) == "null" {
		args = emptyObject
	}
	if p.verbatim {
		return args, nil
	}
	r := startRun(p, args)
	defer r.release()
	r.editing = true
	if !r.document(p.root) {
		return nil, r.explain(p.root)
	}
	out = r.edited()
	if violations = p.rest.check(p, out, nil); violations != nil {
		return nil, violations
	}
	return out, nil
}

// Validate checks data without editing it: null is a value like others, and
// nothing is filled in.
func (p *Plan) Validate(data []byte) []Violation {
	if p.verbatim {
		return nil
	}
	r := startRun(p, data)
	defer r.release()
	if !r.document(p.root) {
		return r.explain(p.root)
	}
	return p.rest.check(p, data, nil)
}

// run is one check. The first walk only finds out whether anything is wrong;
// then a second walk of the same code collects what to say about it.
type run struct {
	w       *jsonx.Walker
	plan    *Plan
	data    []byte
	editing bool
	out     []byte // data with its edits, up to
	copied  int    // this place; 0: nothing was edited
	words   []uint64
	names   []*jsonx.NameSet // one for each open object that needs it
	open    int              // how many of them are in use
	items   itemList         // of the last array whose items have to differ

	collecting bool
	stopped    bool // collected enough, or the input is broken
	path       []step
	unknown    []string
	violations []Violation
	message    []byte // scratch
}

var runs = sync.Pool{New: func() any { return &run{w: jsonx.Walk(nil)} }}

func startRun(p *Plan, data []byte) *run {
	r := runs.Get().(*run)
	r.plan, r.data = p, data
	r.w.Reset(data)
	return r
}

// release returns r to the pool, without what long data has made large.
func (r *run) release() {
	r.w.Forget()
	kept := run{w: r.w, words: r.words[:0], path: r.path[:0], message: r.message[:0]}
	if len(r.data) <= maxPooled {
		kept.out, kept.names = r.out[:0], r.names
		for _, set := range r.names {
			set.Reset() // or it would keep the data alive
		}
		kept.items = r.items
		kept.items.forget()
	}
	*r = kept
	runs.Put(r)
}

// maxPooled is the size of data up to which all memory of a run is kept.
const maxPooled = 64 << 10

// explain walks again and collects.
func (r *run) explain(n *node) []Violation {
	r.w.Reset(r.data)
	r.out, r.copied, r.words, r.open = r.out[:0], 0, r.words[:0], 0
	r.collecting, r.stopped = true, false
	r.document(n)
	if r.stopped {
		return r.violations
	}
	return r.plan.rest.check(r.plan, r.edited(), r.violations)
}

func (r *run) document(n *node) bool {
	ok := r.value(n)
	if r.stopped || !ok && !r.collecting {
		return false
	}
	if err := r.w.End(); err != nil {
		return r.broken(err)
	}
	return ok
}

// value checks what comes next and consumes it.
func (r *run) value(n *node) bool {
	n = n.resolved()
	if n.rest == nil {
		return r.own(n)
	}
	kind := r.w.Kind()
	from := r.w.Offset()
	if !r.own(n) || kind == 0 {
		return false
	}
	text := bytes.TrimLeft(r.data[from:r.w.Offset()], " \t\r\n,:")
	found := n.rest.check(partPlan, text, nil)
	if !r.collecting {
		return found == nil
	}
	for _, v := range found {
		r.graft(v)
	}
	return found == nil
}

// partPlan names the value of a type that has a schema of its own.
var partPlan = &Plan{subject: "the value"}

// own checks what comes next by the keywords that this package enforces.
func (r *run) own(n *node) bool {
	switch r.w.Kind() {
	case '{':
		if n.types&objectType == 0 || n.enum != nil {
			return r.wrongType(n)
		}
		return r.object(n)
	case '[':
		if n.types&arrayType == 0 || n.enum != nil {
			return r.wrongType(n)
		}
		return r.array(n)
	case '"':
		if n.types&stringType == 0 {
			return r.wrongType(n)
		}
		return r.string(n)
	case '0':
		if n.types&(numberType|integerType) == 0 {
			return r.wrongType(n)
		}
		return r.number(n)
	case 't', 'f':
		if n.types&booleanType == 0 {
			return r.wrongType(n)
		}
		return r.literal(n)
	case 'n':
		if n.types&nullType == 0 {
			return r.wrongType(n)
		}
		return r.literal(n)
	}
	_, err := r.w.Value()
	return r.broken(err)
}

func (r *run) literal(n *node) bool {
	text, err := r.w.Value()
	if err != nil {
		return r.broken(err)
	}
	return n.enum == nil || r.inEnum(n, text)
}

func (r *run) array(n *node) bool {
	rules, items := n.array, openNode(n)
	if rules != nil && rules.items != nil {
		items = rules.items
	}
	if err := r.w.Open(); err != nil {
		return r.broken(err)
	}
	ok, count := true, 0
	first := r.w.Offset() - 1
	for k := r.w.Kind(); k != ']'; k = r.w.Kind() {
		r.enterIndex(count)
		ok = r.value(items) && ok
		r.leave()
		if r.stopped || !ok && !r.collecting {
			return false
		}
		count++
	}
	if err := r.w.Close(); err != nil {
		return r.broken(err)
	}
	if rules == nil {
		return ok
	}
	return r.arrayRules(rules, count, r.data[first:r.w.Offset()]) && ok
}

func (r *run) arrayRules(rules *arrayRules, count int, array []byte) bool {
	ok := r.size("item", "Items", rules.min, rules.max, count)
	if rules.unique && count > 1 {
		ok = r.uniqueItems(array) && ok
	}
	return ok
}
