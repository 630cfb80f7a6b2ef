package main

import (
	"reflect"
	"strconv"
	"strings"
)

// floorTool is a tool in the floor's list. Its schemas are read from the types
// of its function, by what a careful author would write for these tools alone.
type floorTool struct {
	Name         string       `json:"name"`
	Description  string       `json:"description"`
	InputSchema  *floorSchema `json:"inputSchema"`
	OutputSchema *floorSchema `json:"outputSchema"`
}

type floorSchema struct {
	Type       string                  `json:"type"`
	Properties map[string]*floorSchema `json:"properties,omitempty"`
	Required   []string                `json:"required,omitempty"`
	Items      *floorSchema            `json:"items,omitempty"`
	Enum       []string                `json:"enum,omitempty"`
	Minimum    *int                    `json:"minimum,omitempty"`
	Maximum    *int                    `json:"maximum,omitempty"`
	MinLength  *int                    `json:"minLength,omitempty"`
	MaxLength  *int                    `json:"maxLength,omitempty"`
}

func newFloorTool(name, desc string, args, result reflect.Type) floorTool {
	return floorTool{name, desc, floorSchemaOf(args), floorSchemaOf(result)}
}

func floorSchemaOf(t reflect.Type) *floorSchema {
	switch t.Kind() {
	case reflect.Pointer:
		return floorSchemaOf(t.Elem())
	case reflect.String:
		return &floorSchema{Type: "string"}
	case reflect.Bool:
		return &floorSchema{Type: "boolean"}
	case reflect.Int:
		return &floorSchema{Type: "integer"}
	case reflect.Float64:
		return &floorSchema{Type: "number"}
	case reflect.Slice:
		return &floorSchema{Type: "array", Items: floorSchemaOf(t.Elem())}
	case reflect.Struct:
	default:
		panic("no schema for " + t.String())
	}
	s := &floorSchema{Type: "object", Properties: make(map[string]*floorSchema, t.NumField())}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := floorSchemaOf(f.Type)
		if tag := f.Tag.Get("jsonschema"); tag != "" {
			p.constrain(tag)
		}
		s.Properties[name] = p
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

func (s *floorSchema) constrain(tag string) {
	for part := range strings.SplitSeq(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		if key == "enum" {
			s.Enum = append(s.Enum, value)
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			panic(err)
		}
		switch key {
		case "minimum":
			s.Minimum = &n
		case "maximum":
			s.Maximum = &n
		case "minLength":
			s.MinLength = &n
		case "maxLength":
			s.MaxLength = &n
		}
	}
}
