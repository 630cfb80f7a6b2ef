package main

import (
	"context"
	"encoding/json"

	"github.com/typedmcp/mcp"
)

// addSchemas adds a tool whose schema has keywords that no Go type has.
func addSchemas(s *mcp.Server) {
	mcp.AddRawTool(s, "json_schema_2020_12_tool", "Returns the contact that it is given", mcp.RawSchema(contactSchema), rawContact)
}

const contactSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"properties": {
		"name": {"type": "string"},
		"reachBy": {"enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"},
		"address": {"$ref": "#/$defs/address"}
	},
	"$defs": {
		"address": {
			"$anchor": "address",
			"type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
		}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"reachBy": {"const": "email"}}, "required": ["reachBy"]},
	"then": {"required": ["email"]},
	"else": {"required": ["phone"]},
	"additionalProperties": false
}`

func rawContact(_ context.Context, args json.RawMessage) (*mcp.Result, error) {
	return &mcp.Result{Content: []mcp.Content{mcp.Text(string(args))}}, nil
}
