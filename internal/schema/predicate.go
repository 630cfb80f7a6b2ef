package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// predicate says what is wrong with a value, for behind its name.
func (t *translation) predicate(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.FalseSchema:
		return "must be left out"
	case *kind.Type:
		return "must be " + typesOf(k.Want).String() + ", got " + t.got(e)
	case *kind.Enum:
		return "must be one of " + values(k.Want) + ", got " + value(k.Got)
	case *kind.Const:
		return "must be " + value(k.Want) + ", got " + value(k.Got)
	case *kind.Format:
		return "must be of the format " + k.Want + ", got " + value(k.Got)
	case *kind.Not:
		return "must not have the form that its schema excludes with \"not\", got " + t.got(e)
	case *kind.OneOf:
		return fmt.Sprintf(`must have exactly one of the forms in "oneOf" of its schema, but has those numbered %d and %d`, k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.UniqueItems:
		return fmt.Sprintf("must not have equal items, as at %d and %d", k.Duplicates[0], k.Duplicates[1])
	case *kind.Pattern:
		return "must match the pattern " + k.Want + ", got " + quote(k.Got)
	case *kind.PropertyNames:
		return "is no name that is allowed here: " + inner(e, "the name", k.Property)
	case *kind.Dependency:
		return dependency(k.Prop, k.Missing)
	case *kind.DependentRequired:
		return dependency(k.Prop, k.Missing)
	case *kind.ContentSchema:
		text, _ := t.value(e).(string)
		content, _ := decodeContent([]byte(text)) // it was decoded before
		return "must hold JSON of the form that its schema demands: " + inner(e, "the JSON", content)
	}
	return t.size(e)
}

// inner says what is wrong with something that is no value of the data by
// itself.
func inner(e *jsonschema.ValidationError, subject string, data any) string {
	t := &translation{plan: &Plan{subject: subject}, data: data}
	for _, cause := range e.Causes {
		t.add(cause)
	}
	if len(t.found) == 0 {
		return subject + " has another form"
	}
	return t.found[0].Message
}

// size describes the faults that count or compare.
func (t *translation) size(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.MinProperties:
		return atLeast(k.Want, "member", k.Got)
	case *kind.MaxProperties:
		return atMost(k.Want, "member", k.Got)
	case *kind.MinItems:
		return atLeast(k.Want, "item", k.Got)
	case *kind.MaxItems:
		return atMost(k.Want, "item", k.Got)
	case *kind.MinLength:
		return atLeast(k.Want, "character", k.Got)
	case *kind.MaxLength:
		return atMost(k.Want, "character", k.Got)
	case *kind.AdditionalItems:
		return "has " + count(k.Count, "item") + " too many"
	case *kind.Contains:
		return "must have an item of the form that its schema demands with \"contains\"" + t.example(e)
	case *kind.MinContains:
		return fmt.Sprintf("must have at least %s of the form that its schema demands with \"contains\", got %d%s", count(k.Want, "item"), len(k.Got), t.example(e))
	case *kind.MaxContains:
		return fmt.Sprintf("must have at most %s of the form that its schema has in \"contains\", got %d", count(k.Want, "item"), len(k.Got))
	case *kind.Minimum:
		return "must be at least " + decimalText(k.Want) + ", got " + decimalText(k.Got)
	case *kind.Maximum:
		return "must be at most " + decimalText(k.Want) + ", got " + decimalText(k.Got)
	case *kind.ExclusiveMinimum:
		return "must be greater than " + decimalText(k.Want) + ", got " + decimalText(k.Got)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimalText(k.Want) + ", got " + decimalText(k.Got)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimalText(k.Want) + ", got " + decimalText(k.Got)
	case *kind.ContentEncoding:
		return "must be " + k.Want + " text"
	case *kind.ContentMediaType:
		return "must hold JSON"
	}
	return "must obey the rule " + ruleOf(e)
}

// example says what keeps one item from having a form.
func (t *translation) example(e *jsonschema.ValidationError) string {
	if len(e.Causes) == 0 {
		return ""
	}
	return " (" + t.reasons(e.Causes[:1])[0] + ")"
}

func atLeast(want int, what string, got int) string {
	return fmt.Sprintf("must have at least %s, got %d", count(want, what), got)
}

func atMost(want int, what string, got int) string {
	return fmt.Sprintf("must have at most %s, got %d", count(want, what), got)
}

func dependency(name string, missing []string) string {
	quoted := make([]string, len(missing))
	for i, m := range missing {
		quoted[i] = quote(m)
	}
	return "must have " + strings.Join(quoted, ", ") + ", since it has " + quote(name)
}

// value is what e is about.
func (t *translation) value(e *jsonschema.ValidationError) any {
	v := t.data
	for _, name := range e.InstanceLocation {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i < len(in) {
				v = in[i]
			}
		}
	}
	return v
}

// got shows the value that e is about.
func (t *translation) got(e *jsonschema.ValidationError) string {
	v := t.value(e)
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "the string " + value(v)
	}
	return value(v)
}

func typesOf(names []string) typeSet {
	var t typeSet
	for _, name := range names {
		t |= typeNames[name]
	}
	return t
}

// decimalText writes a number as people do.
func decimalText(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact {
		return cut(r.FloatString(n))
	}
	return cut(r.RatString())
}

// value shows a decoded JSON value.
func value(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case json.Number:
		return cut(string(v))
	}
	text, err := jsonx.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return cut(string(text))
}

func values(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = value(v)
	}
	return strings.Join(texts, ", ")
}
