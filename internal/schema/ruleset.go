package schema

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"
)

// library runs the rules that are left to go-playground: one validator for
// each pass, for all types of the process. It reads no tags: rules are
// registered for each struct type.
type library struct {
	mu     sync.RWMutex
	passes []*validator.Validate
	known  map[reflect.Type]bool
}

// libraries are for arguments and for results: which rules a schema takes over
// may differ.
var libraries [2]library

// noTag is a struct tag that nobody has.
const noTag = "mcp rules are registered"

// typeRules are the rules of one struct type: by pass and field.
type typeRules struct {
	t      reflect.Type
	passes []map[string]string
}

// ruleSet is what a plan leaves to the library.
type ruleSet struct {
	types  []typeRules
	passes int
	lib    *library
	once   sync.Once
}

// collectRules gathers the rules of all struct types below n, nil if there
// are none.
func collectRules(n *node, out bool) *ruleSet {
	c := &ruleCollector{ruled: map[*objectRules]bool{}, byType: map[reflect.Type]int{}}
	for again := true; again; {
		again = false
		c.seen = map[*objectRules]bool{}
		c.mark(n, &again)
	}
	if !c.below(n) {
		return nil
	}
	c.seen = map[*objectRules]bool{}
	c.gather(n)
	return &ruleSet{types: c.types, passes: c.passes, lib: &libraries[boolInt(out)]}
}

type ruleCollector struct {
	ruled  map[*objectRules]bool // objects with rules in or below them
	seen   map[*objectRules]bool
	byType map[reflect.Type]int
	types  []typeRules
	passes int
}

// structBelow returns the struct that n is or that its elements are, nil if
// there is none. A collection of collections may hold nothing but itself.
func structBelow(n *node) *objectRules {
	for range maxDepth {
		n = n.resolved()
		if n.object != nil && n.object.derived && !n.opaque {
			return n.object
		}
		if n = elementNode(n); n == nil {
			return nil
		}
	}
	return nil
}

// below reports whether there are rules in what n holds.
func (c *ruleCollector) below(n *node) bool { return c.ruled[structBelow(n)] }

// mark finds the objects with rules; it has to run until nothing changes,
// since types may be recursive.
func (c *ruleCollector) mark(n *node, changed *bool) {
	c.each(n, func(o *objectRules) {
		for i := range o.props {
			p := &o.props[i]
			c.passes = max(c.passes, len(p.comparisons())+1)
			if (p.rules != nil || c.below(p.node)) && !c.ruled[o] {
				c.ruled[o] = true
				*changed = true
			}
		}
	})
}

func (c *ruleCollector) gather(n *node) {
	c.each(n, func(o *objectRules) {
		for i := range o.props {
			for pass := range c.passes {
				c.set(&o.props[i], pass)
			}
		}
	})
}

// each visits every struct below n once, inner ones first.
func (c *ruleCollector) each(n *node, visit func(*objectRules)) {
	o := structBelow(n)
	if o == nil || c.seen[o] {
		return
	}
	c.seen[o] = true
	for i := range o.props {
		c.each(o.props[i].node, visit)
	}
	visit(o)
}

// set registers what a pass does with a field. The first pass runs the rules
// that look at the field alone; each further one runs one comparison.
func (c *ruleCollector) set(p *property, pass int) {
	var entries []string
	if list := p.comparisons(); pass > 0 && pass <= len(list) {
		entries = append(entries, list[pass-1].entry)
	}
	entries = append(entries, p.dives(c, pass == 0)...)
	i, ok := c.byType[p.owner]
	if !ok {
		i = len(c.types)
		c.byType[p.owner] = i
		c.types = append(c.types, typeRules{t: p.owner})
	}
	t := &c.types[i]
	for len(t.passes) <= pass {
		t.passes = append(t.passes, map[string]string{})
	}
	t.passes[pass][p.goPath[len(p.goPath)-1]] = strings.Join(entries, ",")
}

// comparisons are the rules that compare p with another field.
func (p *property) comparisons() []comparison {
	if p.rules == nil {
		return nil
	}
	return p.rules.comparisons
}

// dives writes the rules of a field level by level, as deep as there are
// rules: without dive the library skips the elements of collections.
func (p *property) dives(c *ruleCollector, own bool) []string {
	var entries []string
	n := p.node
	for i := 0; ; i++ {
		var l level
		deeper := false
		if own && p.rules != nil && i < len(p.rules.levels) {
			l = p.rules.levels[i]
			deeper = slices.ContainsFunc(p.rules.levels[i+1:], level.isRuled)
		}
		if len(l.keys) > 0 {
			entries = append(append(append(entries, "keys"), l.keys...), "endkeys")
		}
		entries = append(entries, l.rules...)
		inner := elementNode(n)
		if inner == nil || !deeper && !c.below(inner) {
			return entries
		}
		entries = append(entries, "dive")
		n = inner
	}
}

func elementNode(n *node) *node {
	n = n.resolved()
	switch {
	case n.opaque:
		return nil
	case n.array != nil:
		return n.array.items
	case n.object != nil && !n.object.derived:
		return n.object.extra
	}
	return nil
}

// prepare registers the types of s, once.
func (s *ruleSet) prepare() {
	s.lib.mu.Lock()
	defer s.lib.mu.Unlock()
	if s.lib.known == nil {
		s.lib.known = map[reflect.Type]bool{}
	}
	for len(s.lib.passes) < s.passes {
		v := validator.New(validator.WithRequiredStructEnabled())
		v.SetTagName(noTag)
		s.lib.passes = append(s.lib.passes, v)
	}
	for _, t := range s.types {
		if s.lib.known[t.t] {
			continue
		}
		s.lib.known[t.t] = true
		for pass, rules := range t.passes {
			s.lib.passes[pass].RegisterStructValidationMapRules(rules, reflect.Zero(t.t).Interface())
		}
	}
}

// run is one pass over a struct. skip tells which fields are absent.
func (s *ruleSet) run(ctx context.Context, pass int, v any, skip func(ns []byte) bool) (validator.ValidationErrors, error) {
	s.lib.mu.RLock()
	defer s.lib.mu.RUnlock()
	err := s.lib.passes[pass].StructFilteredCtx(ctx, v, skip)
	if faults, ok := err.(validator.ValidationErrors); ok {
		return faults, nil
	}
	return nil, err
}

// trial is the validator that rules are tried on at registration.
var trial = sync.OnceValue(func() *validator.Validate { return validator.New() })

// fitsLibrary reports why the library cannot run a rule on values of t: it
// would panic, or fail for whatever is sent.
func fitsLibrary(entry string, t reflect.Type) (reason string) {
	for alternative := range strings.SplitSeq(entry, "|") {
		name, _, _ := strings.Cut(alternative, "=")
		known := ruleTable[name]
		text := t.Kind() == reflect.String
		number := t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
		switch {
		case known.kind == unknownRule:
			return "is unknown" + meant(name, append(slices.Sorted(maps.Keys(ruleTable)), "required", "omitempty", "dive"))
		case known.kind == refusedRule:
			return known.text
		case known.kind == siblingRule || known.kind == presenceRule:
			return "cannot be one of several alternatives"
		case t.Kind() == reflect.Struct && !t.ConvertibleTo(timeGo): // the library would pass by it
			return "does not fit a struct"
		case t == numberGo:
			return "does not fit a number kept as text"
		case known.kind == textRule && !text, known.kind == formatRule && !text:
			return "fits strings only"
		case known.kind == portRule && !text && !number, known.kind == placeRule && !text && !number:
			return "fits strings and numbers only"
		}
	}
	defer func() {
		if r := recover(); r != nil {
			reason = fmt.Sprintf("does not fit the type or has a bad parameter: %v", r)
		}
	}()
	_ = trial().Var(sample(t), entry) // whether the sample passes says nothing
	return ""
}

// sample is a value of t with one element in every list and map.
func sample(t reflect.Type) any {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(reflect.Zero(t.Key()), reflect.Zero(t.Elem()))
	}
	return v.Interface()
}

// numberParam reads the parameter of a limit as the library does, for which
// integers may be hexadecimal, and writes it as JSON does.
func numberParam(param string, k reflect.Kind) (string, bool) {
	switch {
	case k == reflect.Float32 || k == reflect.Float64:
		_, err := strconv.ParseFloat(param, 64)
		return param, err == nil && isNumber(param)
	case k >= reflect.Uint && k <= reflect.Uintptr:
		n, err := strconv.ParseUint(param, 0, 64)
		return strconv.FormatUint(n, 10), err == nil
	}
	n, err := strconv.ParseInt(param, 0, 64)
	return strconv.FormatInt(n, 10), err == nil
}

func sizeParam(param string) (int, bool) {
	n, err := strconv.ParseInt(param, 0, 31)
	return int(n), err == nil && n >= 0
}
