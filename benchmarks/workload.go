package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	protocolVersion = "2026-07-28"
	legacyVersion   = "2025-11-25"
)

// What every call sends, and what comes back.
var (
	addInput    = addArgs{A: 17, B: 25.5}
	searchInput = searchArgs{
		Query: "billing migration and what is left of it", Limit: hitCount,
		Filters: []filter{{"space", "eq", "finance"}, {"created", "gt", "2026-01-01"}, {"title", "contains", "report"}},
		Sort:    &order{By: "created", Desc: true},
	}
	sum   = addResult{Sum: 42.5}
	found = searchResult{Total: 1234, Hits: hits}
	large = echoResult{Data: strings.Repeat("0123456789abcdef", 1<<16)} // 1 MiB
	slept = sleepResult{20}
)

// exchange is one request over HTTP and how its answer is judged.
type exchange struct {
	name, title  string
	method, tool string
	params       string // members of params before _meta
	legacy       bool   // within a session of revision 2025-11-25
	records      int    // tools that the server has besides add and search
	check        func(result json.RawMessage) error
	bytes        string // our whole answer; "": its meaning alone counts
}

var exchanges = []exchange{
	{"W1", "HTTP add, 1 connection", "tools/call", "add", callParams("add", addInput), false, 0,
		structured(sum), ourAnswer(sum)},
	{"W2", "HTTP add, 64 connections", "tools/call", "add", callParams("add", addInput), false, 0,
		structured(sum), ourAnswer(sum)},
	{"W3", "HTTP search, 64 connections", "tools/call", "search", callParams("search", searchInput), false, 0,
		structured(found), ourAnswer(found)},
	{"W4", "HTTP echo of 1 MiB, 4 connections", "tools/call", "echo", callParams("echo", large), false, 0,
		structured(large), ourAnswer(large)},
	{"W7", "stdio sleep of 20 ms", "tools/call", "sleep", callParams("sleep", sleepArgs{20}), false, 0,
		structured(slept), ourAnswer(slept)},
	{"W5", "HTTP tools/list of 204 tools", "tools/list", "", "", false, recordTools, checkList, ""},
	{"W10", "HTTP add, invalid arguments", "tools/call", "add", `"name":"add","arguments":{"a":"seventeen"},`, false, 0, checkRefusal, ""},
}

func exchangeNamed(name string) exchange {
	for _, x := range exchanges {
		if x.name == name {
			return x
		}
	}
	panic("no exchange " + name)
}

// inSession is x as clients of revision 2025-11-25 make it.
func inSession(x exchange) exchange {
	x.legacy = true
	for _, modern := range []string{`"resultType":"complete",`, `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.0.0"}}`} {
		x.bytes = strings.Replace(x.bytes, modern, "", 1)
	}
	return x
}

func callParams(tool string, args any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`"name":%q,"arguments":%s,`, tool, raw)
}

// body is the message that is sent.
func (x *exchange) body() string {
	if x.legacy {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, x.method, strings.TrimSuffix(x.params, ","))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{},`+
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"}}}}`, x.method, x.params, protocolVersion)
}

// headers are those of the request, in pairs. session is that of a legacy one.
func (x *exchange) headers(session string) [][2]string {
	h := [][2]string{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}}
	if x.legacy {
		if session != "" {
			h = append(h, [2]string{"Mcp-Protocol-Version", legacyVersion}, [2]string{"Mcp-Session-Id", session})
		}
		return h
	}
	h = append(h, [2]string{"Mcp-Protocol-Version", protocolVersion}, [2]string{"Mcp-Method", x.method})
	if x.tool != "" {
		h = append(h, [2]string{"Mcp-Name", x.tool})
	}
	return h
}

// ourAnswer is what we answer when a tool returns value.
func ourAnswer(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","structuredContent":%s,`+
		`"content":[{"type":"text","text":%s}],`+
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.0.0"}}}}`, text, quoted)
}

// judge checks a whole answer of c.
func (x *exchange) judge(c contestant, status int, body []byte) error {
	if status != 200 {
		return fmt.Errorf("status %d: %.300s", status, body)
	}
	if c.name == "ours" && x.bytes != "" && string(body) != x.bytes {
		return fmt.Errorf("got %.300s, want %.300s", body, x.bytes)
	}
	var message struct {
		Version string          `json:"jsonrpc"`
		ID      int             `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		return fmt.Errorf("%w in %.300s", err, body)
	}
	if message.Version != "2.0" || message.ID != 1 || message.Error != nil {
		return fmt.Errorf("not the answer: %.300s", body)
	}
	if err := x.check(message.Result); err != nil {
		return fmt.Errorf("%w in %.300s", err, body)
	}
	return nil
}

// same compares two values by their JSON.
func same(got, want any) error {
	g, err := plain(got)
	if err != nil {
		return err
	}
	w, err := plain(want)
	if err != nil {
		return err
	}
	if !bytes.Equal(g, w) {
		return fmt.Errorf("got %.200s, want %.200s", g, w)
	}
	return nil
}

// plain is the JSON of v with sorted members and without white space.
func plain(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

type toolResult struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

// structured wants value as structured content and as text.
func structured(value any) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		var r toolResult
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		if r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" {
			return errors.New("not one text block")
		}
		return errors.Join(same(r.Structured, value), same(json.RawMessage(r.Content[0].Text), value))
	}
}

func checkRefusal(raw json.RawMessage) error {
	var r toolResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if !r.IsError || len(r.Content) != 1 || r.Content[0].Text == "" || r.Structured != nil {
		return errors.New("not a refusal")
	}
	return nil
}

func checkList(raw json.RawMessage) error {
	var list struct {
		Tools []struct {
			Name, Description string
			InputSchema       json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Tools) != 2+recordTools {
		return fmt.Errorf("%d tools", len(list.Tools))
	}
	for _, t := range list.Tools {
		want := recordSchema
		switch t.Name {
		case "add":
			want = addSchema
		case "search":
			want = searchSchema
		}
		if err := same(t.InputSchema, json.RawMessage(want)); err != nil {
			return fmt.Errorf("tool %s: %w", t.Name, err)
		}
	}
	return nil
}
