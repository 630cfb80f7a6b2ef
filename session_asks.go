package mcp

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// asks are the requests of the server to the client of a session that wait for
// their responses. The zero value is ready.
type asks struct {
	mu   sync.Mutex // protects the fields below
	last uint64     // id; none is used twice in a session
	open map[uint64]chan<- reply
}

// reply is what a client responded.
type reply struct {
	id     uint64          // of the request
	result json.RawMessage // nil: fault
	fault  replyFault
}

type replyFault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// begin returns the id of a new request, whose response will go to ch. There
// must be room.
func (a *asks) begin(ch chan<- reply) (id uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	if a.open == nil {
		a.open = make(map[uint64]chan<- reply)
	}
	a.open[a.last] = ch
	return a.last
}

// forget gives up a request; it reports whether that had no response yet.
func (a *asks) forget(id uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, open := a.open[id]
	delete(a.open, id)
	return open
}

// responded takes in a response. One to nothing that is open is ignored: it
// may have come too late.
func (a *asks) responded(m *jsonrpc.Message) {
	id, err := strconv.ParseUint(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	a.mu.Lock()
	ch := a.open[id]
	delete(a.open, id)
	a.mu.Unlock()
	if ch == nil {
		return
	}
	r := reply{id: id, result: m.Result()}
	if r.result == nil {
		_ = jsonx.Unmarshal(m.Fault(), &r.fault) // a malformed fault is a fault
	}
	ch <- r
}
