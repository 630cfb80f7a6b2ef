package schema

import (
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Fresh derives without the cache.
func Fresh(t reflect.Type, out, full bool) (*Plan, []Problem) {
	return derive(planKey{t: t, out: out, full: full})
}

// NewCompiler is the full validator as it is set up for hand-written schemas.
func NewCompiler() *jsonschema.Compiler { return newCompiler() }

// Partial reports whether a hand-written schema needs the full validator.
func (p *Plan) Partial() bool { return p.rest != nil }

// Validations replaces the slots of full validations and returns those that
// were there.
func Validations(slots chan struct{}) chan struct{} {
	before := validations
	validations = slots
	return before
}
