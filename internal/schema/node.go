package schema

import (
	"reflect"
	"regexp"
)

// typeSet is a set of JSON Schema types.
type typeSet uint8

const (
	nullType typeSet = 1 << iota
	booleanType
	integerType
	numberType
	stringType
	arrayType
	objectType
	anyType typeSet = 1<<iota - 1
)

var typeNames = map[string]typeSet{
	"null": nullType, "boolean": booleanType, "integer": integerType, "number": numberType,
	"string": stringType, "array": arrayType, "object": objectType,
}

// node is one schema. Its rules apply to values of the kind they are for, as
// in JSON Schema; nil rules allow everything.
type node struct {
	types typeSet
	ref   *node  // a definition: all else is in there, but for the description
	name  string // of a definition

	title       string
	description string
	hints       []string // what the advertised keywords cannot say
	examples    []string // JSON texts
	flags       []string // readOnly, writeOnly, deprecated
	header      string   // x-mcp-header

	object *objectRules
	array  *arrayRules
	str    *stringRules
	num    *numberRules
	enum   *enumRules

	exact  bool      // integers must be exact as float64: the value goes into an any
	opaque bool      // the type decodes itself: the bytes stay as they are
	source *document // what such a type says of itself
	rest   *rest     // the part of it that is not ours to check
}

func (n *node) resolved() *node {
	for n.ref != nil {
		n = n.ref
	}
	return n
}

// objectRules are the keywords for objects.
type objectRules struct {
	props   []property
	index   map[string]int // of props, if they are many
	extra   *node          // schema of members that are not declared; nil: anything
	key     *keyRule       // what names of such members must be
	closed  bool           // they are refused
	derived bool           // they are refused if the plan is strict
	min     int
	max     int // -1: no limit
	needs   []uint64
}

// property is one declared member.
type property struct {
	name     string
	node     *node
	required bool
	fallback []byte // JSON of the default; nil: none
	implied  bool   // the default is not declared but follows from those within
	dropNull bool   // null means absent
	insert   []byte // the member to insert for an absent one

	owner    reflect.Type // struct type with the Go field
	goPath   []string     // names from the struct, through embedded ones
	demanded bool         // by validate:"required"
	rules    *tagRules    // nil if there are none
}

// tagRules are those of a validate tag that the schema cannot have.
type tagRules struct {
	levels      []level // for the library
	siblings    []siblingEntry
	comparisons []comparison
	conditions  []condition
}

// arrayRules are the keywords for arrays.
type arrayRules struct {
	items  *node
	min    int
	max    int // -1: no limit
	unique bool
}

// stringRules are the keywords for strings.
type stringRules struct {
	min     int
	max     int // -1: no limit
	pattern *regexp.Regexp
	format  *format
	own     func(text []byte) string // what a type of the application says of text it refuses, "" if nothing fit to send; may be nil
	base64  bool
	quoted  *node // the string holds a JSON value, as the option "string" of json tags has it
}

// enumRules are the allowed values, JSON scalars.
type enumRules struct {
	texts   []string // the strings, unquoted
	numbers []*bound
	bools   [2]bool // false, true
	null    bool
	values  []string // all as JSON texts, in order
}

// keyRule says what the names of a map are.
type keyRule struct {
	what string // for messages: an integer
	ok   func(name []byte) bool
	own  func(name []byte) string // as of stringRules
}

const (
	// indexAfter is the number of properties beyond which a map finds names
	// faster than a scan.
	indexAfter = 16
	noLimit    = -1
)

func newObject() *objectRules { return &objectRules{max: noLimit} }

// find returns the index of the property name, trying next first: members
// mostly come in the order of the schema. It returns -1 if there is none.
func (o *objectRules) find(name []byte, next int) int {
	if next < len(o.props) && o.props[next].name == string(name) {
		return next
	}
	if o.index != nil {
		if i, ok := o.index[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range o.props {
		if o.props[i].name == string(name) {
			return i
		}
	}
	return -1
}

// isFree reports whether n says nothing at all.
func (n *node) isFree() bool {
	return n.ref == nil && n.source == nil && n.types == anyType && n.enum == nil && n.description == "" && len(n.hints) == 0
}

// admitsNull reports whether null may stand where n is.
func (n *node) admitsNull() bool {
	n = n.resolved()
	if n.types&nullType == 0 {
		return false
	}
	return n.enum == nil || n.enum.null
}
