package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

const defaultPageSize = 1000

// listCache holds tools/list as one revision has it, encoded on first use.
type listCache struct {
	once    sync.Once
	entries []json.RawMessage // one a tool, in order of registration
	first   []byte            // the result that is the first page, whole
}

// list returns the encoded list for rev.
func (snap *snapshot) list(rev *wire.Revision) *listCache {
	c := &snap.lists[rev.Index]
	c.once.Do(func() {
		for _, p := range snap.listed {
			c.entries = append(c.entries, p.encode(rev))
		}
		req := &Request{rev: rev, msg: jsonrpc.Message{Method: jsonrpc.MethodToolsList}}
		page := snap.appendList(appendOpen(nil, rev), "tools", snap.page(c, 0), req)
		c.first, _ = snap.appendStamp(page, nil, rev) // only a handler's _meta could fail
	})
	return c
}

// listTools answers tools/list.
func (snap *snapshot) listTools(req *Request) (*ListResult, error) {
	after, err := snap.cursor(req.msg.Params.Cursor)
	if err != nil {
		return nil, err
	}
	from, _ := slices.BinarySearchFunc(snap.listed, after+1, func(p *toolPlan, seq uint64) int {
		return int(int64(p.seq) - int64(seq))
	})
	r := snap.page(snap.list(req.rev), from)
	if !snap.direct {
		for i := range r.Items { // middleware may write into them
			r.Items[i] = slices.Clone(r.Items[i])
		}
	}
	return r, nil
}

// page returns the page of c that starts at index from.
func (snap *snapshot) page(c *listCache, from int) *ListResult {
	size := snap.srv.opts.PageSize
	if size <= 0 {
		size = defaultPageSize
	}
	end := min(from+size, len(c.entries))
	r := &ListResult{Items: slices.Clone(c.entries[from:end])}
	if end < len(c.entries) {
		r.Next = snap.cursorAfter(snap.listed[end-1].seq)
	}
	return r
}

// A cursor names the last entry of a page by its order of registration, so
// that it stays right when entries come and go. A checksum over the server's
// name keeps out cursors of other servers and other lists.

func (snap *snapshot) cursorAfter(seq uint64) string {
	n := strconv.FormatUint(seq, 36)
	return base64.RawURLEncoding.EncodeToString([]byte(n + "." + snap.cursorSum(n)))
}

func (snap *snapshot) cursorSum(n string) string {
	sum := crc32.ChecksumIEEE([]byte(jsonrpc.MethodToolsList + "\x00" + snap.srv.impl.Name + "\x00" + n))
	return strconv.FormatUint(uint64(sum), 36)
}

// cursor reads a cursor of this list; an absent one is the start.
func (snap *snapshot) cursor(raw []byte) (after uint64, err error) {
	if raw == nil {
		return 0, nil
	}
	bad := Errorf(CodeInvalidParams, "Invalid params: the cursor is not one of this list; start again without a cursor")
	text, ok := unquoted(raw)
	if !ok {
		return 0, bad
	}
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return 0, bad
	}
	n, sum, _ := strings.Cut(string(plain), ".")
	after, err = strconv.ParseUint(n, 36, 63)
	if err != nil || sum != snap.cursorSum(n) {
		return 0, bad
	}
	return after, nil
}

// appendList appends the members of a list result.
func (snap *snapshot) appendList(dst []byte, member string, r *ListResult, req *Request) []byte {
	dst = append(append(append(dst, '"'), member...), `":[`...)
	for i, item := range r.Items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	dst = append(dst, ']')
	if r.Next != "" {
		dst = jsonx.AppendString(append(dst, `,"nextCursor":`...), r.Next)
	}
	return snap.appendHints(dst, req.msg.Method, req.rev)
}

// encode returns the tool's entry in tools/list as rev has it.
func (p *toolPlan) encode(rev *wire.Revision) json.RawMessage {
	def := ToolDef{Name: p.name, Description: p.desc, InputSchema: p.input.JSON(), Extra: p.extra}
	if p.output != nil && rev.Structured && (rev.AnyStructured || p.output.Object()) {
		def.OutputSchema = p.output.JSON()
	}
	if rev.Titles {
		def.Title, def.Meta = p.title, p.meta
	}
	if rev.Icons {
		def.Icons = p.given.icons
	}
	if rev.Hints && p.hints.set() {
		def.Annotations = &ToolAnnotations{
			ReadOnly: p.hints.ReadOnly, Destructive: p.hints.Destructive,
			Idempotent: p.hints.Idempotent, OpenWorld: p.hints.OpenWorld,
		}
	}
	raw, err := def.MarshalJSON()
	if err != nil { // every part was encoded before
		panic(fmt.Sprintf("mcp: %s: %v", p.feature(), err))
	}
	return raw
}
