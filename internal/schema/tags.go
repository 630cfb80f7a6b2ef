package schema

import (
	"fmt"
	"slices"
	"strings"
)

// keyword is one entry of a jsonschema tag.
type keyword struct{ name, value string }

func (k keyword) String() string {
	if k.value == "" {
		return k.name
	}
	return k.name + "=" + k.value
}

var (
	// proseKeywords may hold commas: what follows one and is no keyword itself
	// goes on with the text.
	proseKeywords = []string{"title", "description", "default", "example", "pattern"}
	flagKeywords  = []string{"required", "uniqueItems", "readOnly", "writeOnly", "deprecated"}
	otherKeywords = []string{
		"enum", "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf", "minItems", "maxItems", "minProperties", "maxProperties",
	}
	tagKeywords = slices.Concat(proseKeywords, flagKeywords, otherKeywords)
	// foreignKeywords belong to invopop's grammar; what they say has another
	// place here.
	foreignKeywords = map[string]string{
		"type":           "follows from the Go type: leave it out",
		"nullable":       "is not supported: use a pointer, for which null means absent",
		"-":              `is not supported: leave the field out with the tag json:"-"`,
		"anchor":         "is not supported",
		"oneof_required": "is not supported: say it with a validate tag or a Validate method",
		"anyof_required": "is not supported: say it with a validate tag or a Validate method",
		"oneof_ref":      "is not supported: give the type a method JSONSchema",
		"anyof_ref":      "is not supported: give the type a method JSONSchema",
		"oneof_type":     "is not supported: give the type a method JSONSchema",
		"anyof_type":     "is not supported: give the type a method JSONSchema",
		"allof_ref":      "is not supported: give the type a method JSONSchema",
		"allof_type":     "is not supported: give the type a method JSONSchema",
		"optional":       `is not a keyword: put omitempty or omitzero into the json tag`,
		"min":            "is not a keyword: use minimum, minLength or minItems",
		"max":            "is not a keyword: use maximum, maxLength or maxItems",
		"desc":           "is not a keyword: use description",
	}
)

// parseTag reads the jsonschema tag: entries name=value or a bare flag,
// separated by commas. A comma within a value is written \, and may stand
// unescaped in a text where no keyword follows it.
func parseTag(tag string) (list []keyword, problems []string) {
	for _, part := range splitTag(tag) {
		name, value, hasValue := strings.Cut(part, "=")
		switch {
		case hasValue && (slices.Contains(proseKeywords, name) || slices.Contains(otherKeywords, name)):
			list = append(list, keyword{name, value})
		case slices.Contains(flagKeywords, name):
			if hasValue && value != "true" {
				problems = append(problems, fmt.Sprintf("%s takes no value but true", name))
				continue
			}
			list = append(list, keyword{name, ""})
		case foreignKeywords[name] != "":
			problems = append(problems, name+" "+foreignKeywords[name])
		case len(list) > 0 && slices.Contains(proseKeywords, list[len(list)-1].name) && !(hasValue && isWord(name)):
			list[len(list)-1].value += "," + part
		case hasValue:
			problems = append(problems, fmt.Sprintf(`%q is no keyword%s; if it belongs to a text, write the comma before it as \\,`, name, meant(name, tagKeywords)))
		default:
			problems = append(problems, fmt.Sprintf("%q is no keyword%s; a text goes into description=… or the tag jsonschema_description", part, meant(part, tagKeywords)))
		}
	}
	return list, problems
}

// splitTag cuts at commas that no backslash escapes.
func splitTag(tag string) []string {
	switch {
	case tag == "":
		return nil
	case !strings.Contains(tag, `\,`):
		return strings.Split(tag, ",")
	}
	var parts []string
	var part strings.Builder
	for i := 0; i < len(tag); i++ {
		switch {
		case tag[i] == '\\' && i+1 < len(tag) && tag[i+1] == ',':
			part.WriteByte(',')
			i++
		case tag[i] == ',':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(tag[i])
		}
	}
	return append(parts, part.String())
}

// isWord reports whether text could have been meant as a keyword.
func isWord(text string) bool {
	for _, c := range text {
		if !(c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return text != ""
}
