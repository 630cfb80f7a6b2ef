package schema

import "maps"

// form is what the value of a keyword looks like.
type form uint8

const (
	anyForm form = iota
	stringForm
	boolForm
	countForm
	numberForm
	typeForm       // one type, or a list
	namesForm      // a list of strings
	nameListsForm  // lists of strings by name
	valuesForm     // a list of anything
	schemaForm     // one subschema
	schemaListForm // a list of them
	schemaMapForm  // subschemas by name
	itemsForm      // one or a list: draft-07
	dependForm     // subschemas or lists of strings by name: draft-07
)

// reach is which values the subschemas of a keyword look at.
type reach uint8

const (
	noValue      reach = iota // none: definitions
	sameValue                 // the value itself
	oneMember                 // one member of an object: names exclude each other
	eachMember                // any member, beside other keywords
	otherMember               // those that oneMember and eachMember leave
	oneElement                // one element of an array, positions exclude each other
	eachElement               // any element, beside other keywords
	otherElement              // those that oneElement leaves
	memberName
)

// keywordRule describes one keyword of a dialect.
type keywordRule struct {
	form  form
	reach reach
	own   bool // the checker of this package enforces it, or there is nothing to enforce
}

// dialect is a version of JSON Schema.
type dialect struct {
	name     string
	keywords map[string]keywordRule
	// refAlone: $ref makes readers ignore all keywords beside it.
	refAlone bool
}

var dialects = map[string]*dialect{
	"https://json-schema.org/draft/2020-12/schema":  draft2020,
	"https://json-schema.org/draft/2020-12/schema#": draft2020,
	"http://json-schema.org/draft-07/schema":        draft07,
	"http://json-schema.org/draft-07/schema#":       draft07,
	"https://json-schema.org/draft-07/schema":       draft07,
	"https://json-schema.org/draft-07/schema#":      draft07,
}

// commonKeywords are those of both dialects.
var commonKeywords = map[string]keywordRule{
	"$schema": {stringForm, 0, true}, "$id": {stringForm, 0, true}, "$ref": {stringForm, sameValue, true},
	"$comment": {stringForm, 0, true}, "title": {stringForm, 0, true}, "description": {stringForm, 0, true},
	"default": {anyForm, 0, true}, "examples": {valuesForm, 0, true},
	"readOnly": {boolForm, 0, true}, "writeOnly": {boolForm, 0, true},
	"contentEncoding": {stringForm, 0, true}, "contentMediaType": {stringForm, 0, true},

	"type": {typeForm, 0, true}, "enum": {valuesForm, 0, true}, "const": {anyForm, 0, true},
	"minimum": {numberForm, 0, true}, "maximum": {numberForm, 0, true},
	"exclusiveMinimum": {numberForm, 0, true}, "exclusiveMaximum": {numberForm, 0, true},
	"multipleOf": {numberForm, 0, true},
	"minLength":  {countForm, 0, true}, "maxLength": {countForm, 0, true}, "pattern": {stringForm, 0, true},
	"format":   {stringForm, 0, true},
	"minItems": {countForm, 0, true}, "maxItems": {countForm, 0, true}, "uniqueItems": {boolForm, 0, true},
	"minProperties": {countForm, 0, true}, "maxProperties": {countForm, 0, true}, "required": {namesForm, 0, true},

	"$defs":                {schemaMapForm, noValue, true},
	"definitions":          {schemaMapForm, noValue, true},
	"properties":           {schemaMapForm, oneMember, true},
	"patternProperties":    {schemaMapForm, eachMember, false},
	"additionalProperties": {schemaForm, otherMember, true},
	"propertyNames":        {schemaForm, memberName, false},
	"contains":             {schemaForm, eachElement, false},
	"allOf":                {schemaListForm, sameValue, false},
	"anyOf":                {schemaListForm, sameValue, false},
	"oneOf":                {schemaListForm, sameValue, false},
	"not":                  {schemaForm, sameValue, false},
	"if":                   {schemaForm, sameValue, false},
	"then":                 {schemaForm, sameValue, false},
	"else":                 {schemaForm, sameValue, false},
}

var (
	draft2020 = &dialect{name: "2020-12", keywords: extend(map[string]keywordRule{
		"$anchor": {stringForm, 0, true}, "$dynamicAnchor": {stringForm, 0, true},
		"$dynamicRef": {stringForm, sameValue, false}, "deprecated": {boolForm, 0, true},
		"items":                 {schemaForm, otherElement, true},
		"prefixItems":           {schemaListForm, oneElement, false},
		"minContains":           {countForm, 0, false},
		"maxContains":           {countForm, 0, false},
		"dependentSchemas":      {schemaMapForm, sameValue, false},
		"dependentRequired":     {nameListsForm, 0, false},
		"unevaluatedItems":      {schemaForm, otherElement, false},
		"unevaluatedProperties": {schemaForm, otherMember, false},
		"contentSchema":         {schemaForm, noValue, false},
	})}
	draft07 = &dialect{name: "draft-07", refAlone: true, keywords: extend(map[string]keywordRule{
		"items":           {itemsForm, oneElement, true},
		"additionalItems": {schemaForm, otherElement, false},
		"dependencies":    {dependForm, sameValue, false},
	})}
	// anyDialect is for schemas that are not enforced: it finds the subschemas
	// of all versions.
	anyDialect = &dialect{keywords: union(draft2020.keywords, draft07.keywords)}
)

// union has the keywords of both, in the form of the second where they differ.
func union(first, second map[string]keywordRule) map[string]keywordRule {
	all := maps.Clone(first)
	maps.Copy(all, second)
	return all
}

func extend(more map[string]keywordRule) map[string]keywordRule {
	for name, rule := range commonKeywords {
		more[name] = rule
	}
	return more
}

// needed names the keywords without which others do nothing.
var needed = map[string]string{
	"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains",
	"additionalItems": "items", "contentSchema": "contentMediaType",
}

// accepts reports whether a value has the form.
func (f form) accepts(d *document) bool {
	switch f {
	case stringForm:
		return d.kind == '"'
	case boolForm:
		return d.kind == 't' || d.kind == 'f'
	case countForm:
		n := parseDecimal(d.text)
		return d.kind == '0' && n.isInteger() && !(n.negative && n.digits > 0)
	case numberForm:
		return d.kind == '0'
	case typeForm:
		_, ok := readTypes(d)
		return ok
	case namesForm:
		_, ok := d.strings()
		return ok
	case nameListsForm:
		return d.kind == '{' && d.all(namesForm.accepts)
	case valuesForm:
		return d.kind == '['
	case schemaForm:
		return isSchema(d)
	case schemaListForm:
		return d.kind == '[' && len(d.values) > 0 && d.all(isSchema)
	case schemaMapForm:
		return d.kind == '{' && d.all(isSchema)
	case itemsForm:
		return isSchema(d) || d.kind == '[' && d.all(isSchema)
	case dependForm:
		return d.kind == '{' && d.all(func(v *document) bool { return isSchema(v) || namesForm.accepts(v) })
	}
	return true
}

func (d *document) all(ok func(*document) bool) bool {
	for _, v := range d.values {
		if !ok(v) {
			return false
		}
	}
	return true
}

// isObjectType reports whether d is a schema of type object.
func (d *document) isObjectType() bool {
	t := d.members["type"]
	return t != nil && t.kind == '"' && t.string() == "object"
}

func isSchema(d *document) bool { return d.kind == '{' || d.kind == 't' || d.kind == 'f' }

// String says what the form is, for problems.
func (f form) String() string {
	return [...]string{
		anyForm: "any value", stringForm: "a string", boolForm: "true or false", countForm: "an integer not below 0",
		numberForm: "a number", typeForm: "the name of a type, or a list of such names without repetition",
		namesForm: "a list of strings", nameListsForm: "an object of lists of strings", valuesForm: "a list",
		schemaForm: "a schema", schemaListForm: "a list of schemas, not empty", schemaMapForm: "an object of schemas",
		itemsForm: "a schema or a list of schemas", dependForm: "an object of schemas or lists of strings",
	}[f]
}

func readTypes(d *document) (typeSet, bool) {
	if d.kind == '"' {
		t, ok := typeNames[d.string()]
		return t, ok
	}
	names, ok := d.strings()
	if !ok || len(names) == 0 {
		return 0, false
	}
	var set typeSet
	for _, name := range names {
		t, ok := typeNames[name]
		if !ok || set&t != 0 {
			return 0, false
		}
		set |= t
	}
	return set, true
}
