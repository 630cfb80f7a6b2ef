package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// cache keeps results for as long as their servers say they stay fresh (MCP
// 2026-07-28, Caching). It belongs to one client. Private results are for the
// authorization alone that they were got with. The zero value is empty.
type cache struct {
	mu      sync.Mutex // protects the fields below
	results map[string]stored
	size    int               // bytes
	drops   map[string]uint64 // by method: how often its results became stale at once
}

type stored struct {
	raw    []byte
	until  time.Time
	public bool // for everybody
	bearer bearer
}

// bearer tells one access token from another; the zero value is none.
type bearer [sha256.Size]byte

func bearerOf(token string) bearer {
	if token == "" {
		return bearer{}
	}
	return sha256.Sum256([]byte(token))
}

// bearing is a link whose requests have tokens.
type bearing interface {
	// bearer is that of a request which would be sent now.
	bearer(ctx context.Context) (bearer, error)
}

// A cache is emptied when it would hold more than this.
const (
	maxStored      = 1000
	maxStoredBytes = 32 << 20
)

// WithFresh has the server asked even if the client keeps a result that is
// fresh yet; what comes is kept in its place. The pages of a list, which expire
// one by one, are with it all of one time, as far as the server has that (MCP
// 2026-07-28, Caching › Pagination).
func WithFresh() CallOption {
	return callOption(func(o *callOptions) { o.fresh = true })
}

// stored makes a call, unless the result of an equal one is still fresh.
func (c *Client) stored(ctx context.Context, r *call, o *callOptions) ([]byte, error) {
	key, cacheable := cacheKey(r, o)
	if !cacheable {
		return c.rounds(ctx, r, o)
	}
	found, drops := c.cache.get(key, r.method)
	if found.raw != nil && !o.fresh && c.entitled(ctx, &found, o) {
		return found.raw, nil
	}
	raw, err := c.rounds(ctx, r, o)
	if err == nil && r.retry == nil { // answers to questions are for this call alone
		c.cache.put(key, r.method, raw, r.bearer, drops)
	}
	return raw, err
}

// entitled reports whether a result may be served to who calls now. That costs
// no more than asking the Authorizer. One that fails is not the cache's matter:
// the request will tell.
func (c *Client) entitled(ctx context.Context, found *stored, o *callOptions) bool {
	l, ok := c.peer.Load().link.(bearing)
	if !ok || found.public {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	now, err := l.bearer(ctx)
	return err == nil && now == found.bearer
}

// cacheKey is the same for calls whose results are. What a caller adds to
// _meta may matter to the server: such calls have no key.
func cacheKey(r *call, o *callOptions) (string, bool) {
	if m, _ := wire.Revisions[0].Method(r.method); !m.Cached || o.meta != nil || o.answers != nil || o.manual {
		return "", false
	}
	key := append([]byte(r.method), ' ')
	if r.params != nil {
		var err error
		if key, err = r.params(key); err != nil {
			return "", false
		}
	}
	return string(key), true
}

// get returns a fresh result, with raw nil if there is none, and what put wants
// to know.
func (s *cache) get(key, method string) (found stored, drops uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.results[key]
	if ok && !time.Now().Before(found.until) {
		s.remove(key)
		found.raw = nil
	}
	return found, s.drops[method]
}

// put keeps a result that was got with b, unless the server does not want that,
// or said while it was under way that things have changed.
func (s *cache) put(key, method string, raw []byte, b bearer, drops uint64) {
	ttl, public := freshness(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key)
	if ttl <= 0 || s.drops[method] != drops || len(raw) > maxStoredBytes {
		return
	}
	if len(s.results) >= maxStored || s.size+len(raw) > maxStoredBytes {
		s.results, s.size = nil, 0
	}
	if s.results == nil {
		s.results = make(map[string]stored)
	}
	s.results[key] = stored{raw, time.Now().Add(ttl), public, b}
	s.size += len(raw)
}

// remove takes a result out. s.mu is held.
func (s *cache) remove(key string) {
	s.size -= len(s.results[key].raw)
	delete(s.results, key)
}

// drop makes all results of a method stale, those under way too.
func (s *cache) drop(method string) { s.dropKeys(method, method+" ") }

// dropRead makes what was read from uri stale.
func (s *cache) dropRead(uri string) {
	key, _ := readParams(uri)([]byte(jsonrpc.MethodResourcesRead + " "))
	s.dropKeys(jsonrpc.MethodResourcesRead, string(key))
}

func (s *cache) dropKeys(method, prefix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drops == nil {
		s.drops = make(map[string]uint64)
	}
	s.drops[method]++
	for key := range s.results {
		if strings.HasPrefix(key, prefix) {
			s.remove(key)
		}
	}
}

// clear makes everything stale.
func (s *cache) clear() {
	for _, method := range []string{
		jsonrpc.MethodToolsList, jsonrpc.MethodPromptsList, jsonrpc.MethodResourcesList, jsonrpc.MethodTemplatesList, jsonrpc.MethodResourcesRead,
	} {
		s.drop(method)
	}
}

// freshness is how long a result stays fresh, 0 if its server does not say, and
// whether it is the same for everybody, which the server has to say.
func freshness(raw []byte) (ttl time.Duration, public bool) {
	var w struct {
		TTL   json.Number     `json:"ttlMs"`
		Scope json.RawMessage `json:"cacheScope"`
	}
	if jsonx.Unmarshal(raw, &w) != nil {
		return 0, false
	}
	ms, err := w.TTL.Float64()
	if err != nil || !(ms > 0) {
		return 0, false
	}
	scope, _ := jsonx.View(w.Scope)
	return time.Duration(min(ms, math.MaxInt64/2/float64(time.Millisecond))) * time.Millisecond, scope == "public"
}
