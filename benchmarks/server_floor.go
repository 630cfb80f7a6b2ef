package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"sync"
)

// floorServer is what everybody is compared with: the same answers written by
// hand on net/http and encoding/json, without any SDK. It checks no more than
// a careful author would.
type floorServer struct {
	list     json.RawMessage // the result of tools/list
	sessions sync.Map        // ids of those that are open
}

func floorHandler(n int, _ bool) (http.Handler, error) { return newFloorServer(n) }

func newFloorServer(n int) (*floorServer, error) {
	tools := []floorTool{
		newFloorTool("add", addDesc, reflect.TypeFor[addArgs](), reflect.TypeFor[addResult]()),
		newFloorTool("search", searchDesc, reflect.TypeFor[searchArgs](), reflect.TypeFor[searchResult]()),
	}
	for _, t := range records[:n] {
		tools = append(tools, newFloorTool(t.name, recordDesc, t.args, t.result))
	}
	list, err := json.Marshal(map[string]any{
		"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private", "_meta": floorMeta,
	})
	return &floorServer{list: list}, err
}

type floorRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

type floorResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

type floorResult struct {
	Type       string          `json:"resultType,omitempty"`
	Content    []floorText     `json:"content"`
	Structured any             `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Meta       *floorMetaValue `json:"_meta,omitempty"`
}

type floorText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type floorMetaValue struct {
	Server struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"io.modelcontextprotocol/serverInfo"`
}

var floorMeta = func() (m floorMetaValue) {
	m.Server.Name, m.Server.Version = "bench", "1.0.0"
	return m
}()

var floorBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (s *floorServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.stream(w, r)
		return
	}
	var req floorRequest
	if err := req.read(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if req.Params.Meta.Version == "" {
		if !s.admitLegacy(w, r, &req) {
			return
		}
	} else if r.Header.Get("Mcp-Protocol-Version") != req.Params.Meta.Version || req.Params.Meta.Version != protocolVersion ||
		r.Header.Get("Mcp-Method") != req.Method || r.Header.Get("Mcp-Name") != req.Params.Name {
		http.Error(w, "header mismatch", http.StatusBadRequest)
		return
	}
	if req.Method == "subscriptions/listen" {
		floorListen(w, r, &req)
		return
	}
	out := floorBuffers.Get().(*bytes.Buffer)
	defer floorBuffers.Put(out)
	out.Reset()
	if err := s.answer(out, &req); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
	_, _ = w.Write(out.Bytes())
}

func (req *floorRequest) read(r *http.Request) error {
	buf := floorBuffers.Get().(*bytes.Buffer)
	defer floorBuffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return err
	}
	return json.Unmarshal(buf.Bytes(), req)
}

// floorListen acknowledges a subscription and holds it until the client goes.
func floorListen(w http.ResponseWriter, r *http.Request, req *floorRequest) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`+"\n\n", req.ID)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func (s *floorServer) answer(out *bytes.Buffer, req *floorRequest) error {
	if req.Method == "tools/list" {
		out.WriteString(`{"jsonrpc":"2.0","id":`)
		out.Write(req.ID)
		out.WriteString(`,"result":`)
		out.Write(s.list)
		out.WriteByte('}')
		return nil
	}
	if req.Method == "initialize" {
		out.WriteString(`{"jsonrpc":"2.0","id":`)
		out.Write(req.ID)
		out.WriteString(`,"result":{"protocolVersion":"` + legacyVersion + `","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1.0.0"}}}`)
		return nil
	}
	result := floorCall(req)
	if req.Params.Meta.Version != "" {
		result.Type, result.Meta = "complete", &floorMeta
	}
	response, err := json.Marshal(&floorResponse{Version: "2.0", ID: req.ID, Result: &result})
	if err != nil {
		return err
	}
	out.Write(response)
	return nil
}

func floorCall(req *floorRequest) floorResult {
	value, err := floorRun(req.Params.Name, req.Params.Arguments)
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		return floorResult{Content: []floorText{{"text", err.Error()}}, IsError: true}
	}
	return floorResult{Content: []floorText{{"text", string(text)}}, Structured: value}
}

func floorRun(name string, raw json.RawMessage) (any, error) {
	switch name {
	case "add":
		var args struct {
			A *float64 `json:"a"`
			B *float64 `json:"b"`
		}
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, fmt.Errorf("invalid arguments: %w", err)
		}
		if args.A == nil || args.B == nil {
			return nil, fmt.Errorf("invalid arguments: a and b are required")
		}
		return add(context.Background(), addArgs{*args.A, *args.B})
	case "search":
		return floorSearch(raw)
	case "echo":
		var args struct {
			Data *string `json:"data"`
		}
		if err := json.Unmarshal(raw, &args); err != nil || args.Data == nil {
			return nil, fmt.Errorf("invalid arguments: data must be a string")
		}
		return echo(context.Background(), echoArgs{*args.Data})
	case "sleep":
		var args struct {
			Milliseconds *int `json:"ms"`
		}
		if err := json.Unmarshal(raw, &args); err != nil || args.Milliseconds == nil {
			return nil, fmt.Errorf("invalid arguments: ms must be an integer")
		}
		return sleep(context.Background(), sleepArgs{*args.Milliseconds})
	}
	return nil, fmt.Errorf("unknown tool %q", name)
}

func floorSearch(raw json.RawMessage) (any, error) {
	var args struct {
		Query   *string   `json:"query"`
		Limit   *int      `json:"limit"`
		Filters *[]filter `json:"filters"`
		Sort    *order    `json:"sort"`
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, fmt.Errorf("invalid arguments: %w", err)
	}
	if args.Query == nil || args.Limit == nil || args.Filters == nil || *args.Limit < 1 || *args.Limit > 100 {
		return nil, fmt.Errorf("invalid arguments: query, limit from 1 to 100 and filters are required")
	}
	for _, f := range *args.Filters {
		switch f.Op {
		case "eq", "ne", "lt", "gt", "contains":
		default:
			return nil, fmt.Errorf("invalid arguments: unknown op %q", f.Op)
		}
	}
	return search(context.Background(), searchArgs{*args.Query, *args.Limit, *args.Filters, args.Sort})
}
