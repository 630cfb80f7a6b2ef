package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/mark3labs/mcp-go/server"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/typedmcp/mcp"
)

// The record tools are many, and each has types of its own, as the tools of a
// server do: nothing that was found out about one type serves the next. The
// type parameters make the types different and are of no other use.

type recordArgs[X, Y any] struct {
	Tenant   string   `json:"tenant"`
	ID       string   `json:"id"`
	Revision int      `json:"revision"`
	Fields   []string `json:"fields"`
	From     string   `json:"from,omitempty"`
	Until    string   `json:"until,omitempty"`
	Limit    int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000"`
	Verbose  bool     `json:"verbose,omitempty"`
	Filters  []filter `json:"filters,omitempty"`
	Sort     *order   `json:"sort,omitempty"`
}

type recordResult[X, Y any] struct {
	Total int   `json:"total"`
	Hits  []hit `json:"hits"`
}

func record[X, Y any](context.Context, recordArgs[X, Y]) (recordResult[X, Y], error) {
	return recordResult[X, Y]{}, nil
}

// recordTool registers one record tool with each contestant's server.
type recordTool struct {
	name         string
	args, result reflect.Type // for the floor
	ours         func(s *mcp.Server, name string)
	gosdk        func(s *gosdk.Server, name string)
	mcpgo        func(s *server.MCPServer, name string)
}

// recordTools is how many tools a list has besides add and search.
const recordTools = 202

var records = func() []recordTool {
	list := slices.Concat(recordRow[bool](), recordRow[int](), recordRow[int8](), recordRow[int16](), recordRow[int32](),
		recordRow[int64](), recordRow[uint](), recordRow[uint8](), recordRow[uint16](), recordRow[uint32](),
		recordRow[uint64](), recordRow[float32](), recordRow[float64](), recordRow[string](), recordRow[error]())[:recordTools]
	for i := range list {
		list[i].name = fmt.Sprintf("record_%03d", i)
	}
	return list
}()

func recordRow[X any]() []recordTool {
	return []recordTool{newRecord[X, bool](), newRecord[X, int](), newRecord[X, int8](), newRecord[X, int16](), newRecord[X, int32](),
		newRecord[X, int64](), newRecord[X, uint](), newRecord[X, uint8](), newRecord[X, uint16](), newRecord[X, uint32](),
		newRecord[X, uint64](), newRecord[X, float32](), newRecord[X, float64](), newRecord[X, string]()}
}

func newRecord[X, Y any]() recordTool {
	return recordTool{
		args: reflect.TypeFor[recordArgs[X, Y]](), result: reflect.TypeFor[recordResult[X, Y]](),
		ours:  func(s *mcp.Server, name string) { mcp.AddTool(s, name, recordDesc, record[X, Y]) },
		gosdk: func(s *gosdk.Server, name string) { gosdkTool(s, name, recordDesc, recordSchema, record[X, Y]) },
		mcpgo: func(s *server.MCPServer, name string) { mcpgoTool(s, name, recordDesc, recordSchema, record[X, Y]) },
	}
}
