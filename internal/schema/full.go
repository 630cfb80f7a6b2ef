package schema

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// otherFormats are the formats that only the full validator knows.
var otherFormats = []string{
	"duration", "hostname", "iri", "iri-reference", "json-pointer", "period", "regex",
	"relative-json-pointer", "semver", "time", "uri-reference", "uri-template",
}

// rest is what the checker of this package leaves of a schema: the whole of
// it, compiled by the full validator. A nil rest is nothing.
type rest struct {
	compiler *jsonschema.Compiler
	schema   *jsonschema.Schema
	base     string
}

// validations bounds how many full validations run at once: they are the
// one part of a call that a client can make expensive.
var validations = make(chan struct{}, runtime.GOMAXPROCS(0))

// nothingElse is a loader that fetches nothing, from no place.
type nothingElse struct{}

var errNotFetched = errors.New("other documents are never fetched")

func (nothingElse) Load(string) (any, error) { return nil, errNotFetched }

// compile hands the whole document to the full validator.
func (r *reader) compile(doc *document) *rest {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc.text))
	if err != nil {
		r.problem("", "", "the schema is not valid JSON")
		return nil
	}
	c := newCompiler()
	base := rootBase.String()
	if err := c.AddResource(base, value); err != nil {
		r.problem("", "", "the schema cannot be compiled: %v", err)
		return nil
	}
	s, err := c.Compile(base)
	if err != nil {
		r.problem("", "", "the schema cannot be compiled: %s", compileError(err))
		return nil
	}
	return &rest{compiler: c, schema: s, base: base}
}

// newCompiler asserts all that can be asserted, and our formats as we do.
func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.UseLoader(nothingElse{})
	c.AssertFormat()
	c.AssertContent()
	for name, f := range formats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: f.validate})
	}
	c.RegisterContentEncoding(&jsonschema.Decoder{Name: "base64", Decode: decodeBase64})
	c.RegisterContentMediaType(&jsonschema.MediaType{Name: "application/json", Validate: checkContent, UnmarshalJSON: decodeContent})
	return c
}

// contentPlan takes any JSON that the full validator can handle at a cost in
// proportion to its size. It has a rest only for the sake of its numbers.
var contentPlan = &Plan{root: freeNode, rest: new(rest), subject: "the content"}

// checkContent checks JSON that a string holds: no walk has been over it.
func checkContent(data []byte) error {
	if jsonx.DeeperThan(data, maxNesting) {
		return errors.New("must not nest so deep")
	}
	r := startRun(contentPlan, data)
	defer r.release()
	if !r.document(contentPlan.root) {
		return errors.New("must be JSON with numbers in range")
	}
	return nil
}

func decodeContent(data []byte) (any, error) {
	if err := checkContent(data); err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

func decodeBase64(text string) ([]byte, error) {
	if !isBase64([]byte(text)) {
		return nil, errors.New("must be base64 text")
	}
	return base64.StdEncoding.DecodeString(text)
}

// compileError shortens what the validator says to the part on the schema.
func compileError(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		err = invalid.Err
	}
	text := strings.ReplaceAll(err.Error(), rootBase.String(), "")
	return strings.Join(strings.Fields(text), " ")
}

// validate makes f a format of the full validator, so that both agree.
func (f *format) validate(v any) error {
	if text, ok := v.(string); ok && !f.ok([]byte(text)) {
		return fmt.Errorf("must be %s", f.what)
	}
	return nil
}

// accepts reports whether the subschema at pointer takes v.
func (s *rest) accepts(pointer string, v any) bool {
	sub, err := s.compiler.Compile(s.base + "#" + pointer)
	return err != nil || sub.Validate(v) == nil
}

// check validates data, which our checker has accepted or found violations in,
// and adds what it did not find.
func (s *rest) check(p *Plan, data []byte, found []Violation) []Violation {
	if s == nil {
		return found
	}
	validations <- struct{}{}
	defer func() { <-validations }()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return append(found, Violation{Rule: "json", Message: p.subject + " must be valid JSON"})
	}
	var invalid *jsonschema.ValidationError
	switch err := s.schema.Validate(value); {
	case err == nil:
		return found
	case errors.As(err, &invalid):
		t := &translation{plan: p, data: value, found: found, from: len(found)}
		t.add(invalid)
		return t.found
	default:
		return append(found, Violation{Rule: "schema", Message: p.subject + " cannot be checked"})
	}
}
