package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// Tools lists the server's tools, fetching page after page as the loop goes
// on; opts are for each of them. An error is yielded once, with a nil tool, and
// ends the sequence.
func (c *Client) Tools(ctx context.Context, opts ...CallOption) iter.Seq2[*ToolInfo, error] {
	return entries(ctx, c, jsonrpc.MethodToolsList, "tools", opts, c.learn)
}

// pages yields the entries of a list method over all its pages. A cursor that
// comes twice would never end and is an error.
func (c *Client) pages(ctx context.Context, method, member string, opts []CallOption) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		var cursor *string // an empty one is a cursor too
		seen := make(map[string]bool)
		for {
			items, next, err := c.page(ctx, method, member, cursor, opts)
			if err == nil && next != nil && seen[*next] {
				err = c.unusable(method, fmt.Errorf("the cursor %.60q was sent twice", *next))
			}
			if err != nil {
				if cursor != nil && isRemote(err) { // the pages belong to another list by now
					c.cache.drop(method)
				}
				yield(nil, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			seen[*next] = true
			cursor = next
		}
	}
}

func (c *Client) page(ctx context.Context, method, member string, cursor *string, opts []CallOption) ([]json.RawMessage, *string, error) {
	raw, err := c.request(ctx, &call{method: method, options: opts, params: func(dst []byte) ([]byte, error) {
		if cursor != nil {
			dst = append(jsonx.AppendString(append(dst, `"cursor":`...), *cursor), ',')
		}
		return dst, nil
	}})
	if err != nil {
		return nil, nil, err
	}
	var members map[string]json.RawMessage
	if err := jsonx.Unmarshal(raw, &members); err != nil {
		return nil, nil, c.unusable(method, err)
	}
	var page struct {
		Items []json.RawMessage
		Next  *string
	}
	err = decodeMember(members[member], &page.Items)
	if err == nil {
		err = decodeMember(members["nextCursor"], &page.Next)
	}
	if err != nil {
		return nil, nil, c.unusable(method, err)
	}
	kept := page.Items[:0]
	for _, item := range page.Items {
		if string(item) != "null" {
			kept = append(kept, item)
		}
	}
	return kept, page.Next, nil
}

// unusable is the error of a result that cannot be used. Nothing of its method
// is kept: the next call asks the server again, which may have been mended.
func (c *Client) unusable(method string, err error) error {
	c.cache.drop(method)
	return invalidResponse(method, err)
}

// decodeMember decodes a member that may be absent.
func decodeMember(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	return jsonx.Unmarshal(raw, v)
}
