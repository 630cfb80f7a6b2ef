package main

import (
	"context"
	"time"
)

// The tools that every server offers. Their functions and their input schemas
// are the same for all, so that what differs is the cost of getting a call to
// the function and its result back.

type addArgs struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type addResult struct {
	Sum float64 `json:"sum"`
}

func add(_ context.Context, a addArgs) (addResult, error) {
	return addResult{Sum: a.A + a.B}, nil
}

type searchArgs struct {
	Query   string   `json:"query" jsonschema:"minLength=1,maxLength=200"`
	Limit   int      `json:"limit" jsonschema:"minimum=1,maximum=100"`
	Filters []filter `json:"filters"`
	Sort    *order   `json:"sort,omitempty"`
}

type filter struct {
	Field string `json:"field"`
	Op    string `json:"op" jsonschema:"enum=eq,enum=ne,enum=lt,enum=gt,enum=contains"`
	Value string `json:"value"`
}

type order struct {
	By   string `json:"by"`
	Desc bool   `json:"desc"`
}

type searchResult struct {
	Total int   `json:"total"`
	Hits  []hit `json:"hits"`
}

type hit struct {
	ID      int      `json:"id"`
	Title   string   `json:"title"`
	URL     string   `json:"url"`
	Snippet string   `json:"snippet"`
	Score   float64  `json:"score"`
	Tags    []string `json:"tags"`
	Author  author   `json:"author"`
	Created string   `json:"created"`
}

type author struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

const hitCount = 20

// hits are made once: the benchmark is not about them.
var hits = func() []hit {
	list := make([]hit, hitCount)
	for i := range list {
		list[i] = hit{
			ID:      10_000 + i,
			Title:   "Quarterly report on the migration of the billing system",
			URL:     "https://wiki.example.com/finance/reports/2026/q2/billing-migration",
			Snippet: `The team moved the remaining "legacy" accounts and closed the old ledger.`,
			Score:   float64(hitCount-i) / 23,
			Tags:    []string{"billing", "migration"},
			Author:  author{Name: "Ada Lovelace", Email: "ada@example.com"},
			Created: "2026-05-04T10:20:30Z",
		}
	}
	return list
}()

func search(_ context.Context, a searchArgs) (searchResult, error) {
	return searchResult{Total: 1234, Hits: hits[:min(a.Limit, len(hits))]}, nil
}

// echoArgs and sleepArgs are those of tools that only servers without records
// have.
type echoArgs struct {
	Data string `json:"data"`
}

type echoResult struct {
	Data string `json:"data"`
}

func echo(_ context.Context, a echoArgs) (echoResult, error) { return echoResult(a), nil }

type sleepArgs struct {
	Milliseconds int `json:"ms"`
}

type sleepResult struct {
	Slept int `json:"slept"`
}

func sleep(_ context.Context, a sleepArgs) (sleepResult, error) {
	time.Sleep(time.Duration(a.Milliseconds) * time.Millisecond)
	return sleepResult{a.Milliseconds}, nil
}

// Descriptions of the tools.
const (
	echoDesc   = "Returns what it is given"
	sleepDesc  = "Returns after some time"
	addDesc    = "Adds two numbers"
	searchDesc = "Searches the wiki and returns what fits best, best first"
	recordDesc = "Reads the stored versions of one record of a tenant, newest first, with the fields that were asked for"
)

// Input schemas for those who cannot derive them from the types above.
const (
	addSchema = `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`

	echoSchema  = `{"type":"object","properties":{"data":{"type":"string"}},"required":["data"]}`
	sleepSchema = `{"type":"object","properties":{"ms":{"type":"integer"}},"required":["ms"]}`

	filterSchema = `{"type":"object","properties":{"field":{"type":"string"},` +
		`"op":{"type":"string","enum":["eq","ne","lt","gt","contains"]},"value":{"type":"string"}},"required":["field","op","value"]}`

	orderSchema = `{"type":"object","properties":{"by":{"type":"string"},"desc":{"type":"boolean"}},"required":["by","desc"]}`

	searchSchema = `{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200},` +
		`"limit":{"type":"integer","minimum":1,"maximum":100},` +
		`"filters":{"type":"array","items":` + filterSchema + `},"sort":` + orderSchema + `},"required":["query","limit","filters"]}`

	recordSchema = `{"type":"object","properties":{"tenant":{"type":"string"},"id":{"type":"string"},"revision":{"type":"integer"},` +
		`"fields":{"type":"array","items":{"type":"string"}},"from":{"type":"string"},"until":{"type":"string"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":1000},"verbose":{"type":"boolean"},` +
		`"filters":{"type":"array","items":` + filterSchema + `},"sort":` + orderSchema + `},"required":["tenant","id","revision","fields"]}`
)
