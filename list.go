package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

const defaultPageSize = 1000

// listing is what one list method lists, in order of registration.
type listing struct {
	method, member string // of the entries in a result
	event          event  // what tells of a change
	items          []listed
	caches         [len(wire.Revisions)]listCache
}

// listed is a feature as a list has it.
type listed interface {
	order() uint64 // of registration
	definitionOf() *definition
	info() Info
	encode(rev *wire.Revision) json.RawMessage
}

// listCache holds a list as one revision has it, encoded on first use.
type listCache struct {
	once    sync.Once
	entries []json.RawMessage // one an item
	first   []byte            // the result that is the first page, whole
}

// listing returns what the named method lists, nil for other methods.
func (snap *snapshot) listing(method string) *listing {
	for i := range snap.lists {
		if snap.lists[i].method == method {
			return &snap.lists[i]
		}
	}
	return nil
}

// encoded returns l as rev has it.
func (snap *snapshot) encoded(l *listing, rev *wire.Revision) *listCache {
	c := &l.caches[rev.Index]
	c.once.Do(func() {
		size := 512
		for _, item := range l.items {
			entry := item.encode(rev)
			c.entries = append(c.entries, entry)
			size += len(entry) + 1
		}
		page := snap.appendList(appendOpen(make([]byte, 0, size), rev), l, snap.page(l, l.items, c.entries), rev)
		c.first, _ = snap.appendStamp(page, nil, rev) // only a handler's _meta could fail
	})
	return c
}

// list answers a list method.
func (snap *snapshot) list(ctx context.Context, req *Request, l *listing) (*ListResult, error) {
	after, err := snap.cursor(l, req.msg.Cursor())
	if err != nil {
		return nil, err
	}
	from, _ := slices.BinarySearchFunc(l.items, after+1, func(item listed, place uint64) int {
		return cmp.Compare(item.order(), place)
	})
	items, entries := l.items[from:], snap.encoded(l, req.rev).entries[from:]
	if snap.filter != nil {
		items, entries = snap.onlyVisible(ctx, items, entries, snap.pageSize()+1)
	}
	r := snap.page(l, items, entries)
	if !snap.direct {
		for i := range r.Items { // middleware may write into them
			r.Items[i] = slices.Clone(r.Items[i])
		}
	}
	return r, nil
}

// onlyVisible returns the first of items, up to limit, that the request of ctx
// may know of.
func (snap *snapshot) onlyVisible(ctx context.Context, items []listed, entries []json.RawMessage, limit int) ([]listed, []json.RawMessage) {
	var keptItems []listed
	var keptEntries []json.RawMessage
	for i, item := range items {
		if len(keptItems) == limit {
			break
		}
		if snap.filter(ctx, item.info()) {
			keptItems, keptEntries = append(keptItems, item), append(keptEntries, entries[i])
		}
	}
	return keptItems, keptEntries
}

// pageSize is how many entries a page has at most.
func (snap *snapshot) pageSize() int {
	if size := snap.srv.opts.PageSize; size > 0 {
		return size
	}
	return defaultPageSize
}

// page returns the page that begins with the first of items.
func (snap *snapshot) page(l *listing, items []listed, entries []json.RawMessage) *ListResult {
	end := min(snap.pageSize(), len(items))
	r := &ListResult{Items: slices.Clone(entries[:end])}
	if end < len(items) {
		r.Next = snap.cursorAfter(l, items[end-1].order())
	}
	return r
}

// A cursor names the last entry of a page by its order of registration, so
// that it stays right when entries come and go. A checksum over the server's
// name and the method keeps out cursors of other servers and other lists.

func (snap *snapshot) cursorAfter(l *listing, place uint64) string {
	n := strconv.FormatUint(place, 36)
	return base64.RawURLEncoding.EncodeToString([]byte(n + "." + snap.cursorSum(l, n)))
}

func (snap *snapshot) cursorSum(l *listing, n string) string {
	sum := crc32.ChecksumIEEE([]byte(l.method + "\x00" + snap.srv.impl.Name + "\x00" + n))
	return strconv.FormatUint(uint64(sum), 36)
}

// cursor reads a cursor of l; an absent one is the start.
func (snap *snapshot) cursor(l *listing, raw []byte) (after uint64, err error) {
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
	if err != nil || sum != snap.cursorSum(l, n) {
		return 0, bad
	}
	return after, nil
}

// appendList appends the members of a list result.
func (snap *snapshot) appendList(dst []byte, l *listing, r *ListResult, rev *wire.Revision) []byte {
	dst = append(append(append(dst, '"'), l.member...), `":[`...)
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
	return snap.appendHints(dst, l.method, rev)
}
