// Package sse writes and reads server-sent events (WHATWG HTML, 9.2
// Server-sent events), the form in which MCP streams messages over HTTP
// (MCP 2026-07-28, Streamable HTTP › Receiving Messages).
package sse

// Message is the name of an event that carries a JSON-RPC message. It is also
// what an event without a name is called.
const Message = "message"

// Event is one server-sent event.
type Event struct {
	ID   string // "" when written: none; when read: the last one seen on the stream
	Name string // "" when written: none, which means Message; when read: never ""
	Data []byte // what the event carries, as it is; lines end in "\n" when read
}
