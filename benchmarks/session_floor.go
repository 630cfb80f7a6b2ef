package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
)

// floorSession is a client and a server by hand: the client encodes a request,
// the server answers it, the client decodes the answer.
func floorSession(context.Context) (*session, error) {
	var gotSum addResult
	var gotFound searchResult
	return &session{
		add: call{
			do:  func(context.Context) error { return floorRoundTrip("add", &addInput, &gotSum) },
			got: func() any { return gotSum },
		},
		search: call{
			do:  func(context.Context) error { return floorRoundTrip("search", &searchInput, &gotFound) },
			got: func() any { return gotFound },
		},
		close: func() error { return nil },
	}, nil
}

type floorOutgoing struct {
	JSONRPC string              `json:"jsonrpc"`
	ID      int                 `json:"id"`
	Method  string              `json:"method"`
	Params  floorOutgoingParams `json:"params"`
}

type floorOutgoingParams struct {
	Name      string            `json:"name"`
	Arguments any               `json:"arguments"`
	Meta      floorOutgoingMeta `json:"_meta"`
}

type floorOutgoingMeta struct {
	Version      string   `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities struct{} `json:"io.modelcontextprotocol/clientCapabilities"`
}

func floorRoundTrip(tool string, args, value any) error {
	message, err := json.Marshal(&floorOutgoing{
		JSONRPC: "2.0", ID: 1, Method: "tools/call",
		Params: floorOutgoingParams{Name: tool, Arguments: args, Meta: floorOutgoingMeta{Version: protocolVersion}},
	})
	if err != nil {
		return err
	}
	var req floorRequest
	if err := json.Unmarshal(message, &req); err != nil {
		return err
	}
	out := floorBuffers.Get().(*bytes.Buffer)
	defer floorBuffers.Put(out)
	out.Reset()
	if err := new(floorServer).answer(out, &req); err != nil {
		return err
	}
	var response struct {
		Result struct {
			Content    []floorText     `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal(out.Bytes(), &response); err != nil {
		return err
	}
	if response.Result.IsError {
		return errors.New(response.Result.Content[0].Text)
	}
	return json.Unmarshal(response.Result.Structured, value)
}
