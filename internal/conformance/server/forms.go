package main

import (
	"context"
	"fmt"

	"github.com/typedmcp/mcp"
)

// addForms adds tools that ask for every kind of field.
func addForms(s *mcp.Server) {
	mcp.AddTool(s, "test_elicitation_sep1034_defaults", "Asks with a default for every field", askWithDefaults)
	mcp.AddTool(s, "test_elicitation_sep1330_enums", "Asks for choices of every kind", askChoices)
}

// profile has a default for every field.
type profile struct {
	Name     string  `json:"name" jsonschema:"default=John Doe"`
	Age      int     `json:"age" jsonschema:"default=30"`
	Score    float64 `json:"score" jsonschema:"default=95.5"`
	Status   string  `json:"status" jsonschema:"enum=active,enum=inactive,enum=pending,default=active"`
	Verified bool    `json:"verified" jsonschema:"default=true"`
}

func askWithDefaults(ctx context.Context, _ none) (string, error) {
	p, err := mcp.Elicit[profile](ctx, "profile", "Is your profile still right?")
	return fmt.Sprintf("Elicitation completed: action=accept, content=%+v", p), err
}

// choices is written by hand, as enumNames are a form of old.
const choices = `{"type":"object","properties":{
	"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
	"titledSingle":{"type":"string","oneOf":[
		{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
	"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
	"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
	"titledMulti":{"type":"array","items":{"anyOf":[
		{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`

func askChoices(ctx context.Context, _ none) (string, error) {
	if err := mcp.Gather(ctx, mcp.AskSchema("choices", "What do you choose?", mcp.RawSchema(choices))); err != nil {
		return "", err
	}
	chosen, _, err := mcp.Answer[map[string]any](ctx, "choices")
	return fmt.Sprintf("Elicitation completed: action=accept, content=%v", chosen), err
}
