package jsonrpc

// Message is one decoded message. What it says beyond its kind, id and method
// is kept as positions in the input, so that a message is small and holds few
// pointers: a request keeps it for as long as somebody keeps the request.
//
// The methods return raw JSON that aliases the input, nil for what is absent.
type Message struct {
	Kind   Kind
	Method string // known methods are constants, so that nothing is copied for them
	ID     ID

	data   []byte
	params span
	result span
	fault  span
	paramsMembers
	metaMembers
}

// paramsMembers are the members of params that the SDK looks at.
type paramsMembers struct {
	meta, name, uri, arguments, cursor, inputResponses, requestState, requestID span
}

// metaMembers are the members of params._meta that the SDK looks at.
type metaMembers struct {
	version, capabilities, clientInfo, logLevel, progressToken span
}

// span is where a value stands in a message; zero means that it is absent.
type span struct{ from, to uint32 }

func (m *Message) at(s span) []byte {
	if s.to == 0 {
		return nil
	}
	return m.data[s.from:s.to:s.to]
}

// Params is the whole of params; null counts as absent.
func (m *Message) Params() []byte { return m.at(m.params) }

// Result is that of a response.
func (m *Message) Result() []byte { return m.at(m.result) }

// Fault is the member "error" of a response.
func (m *Message) Fault() []byte { return m.at(m.fault) }

// Meta is the whole of params._meta.
func (m *Message) Meta() []byte { return m.at(m.meta) }

// Name is params.name.
func (m *Message) Name() []byte { return m.at(m.name) }

// URI is params.uri.
func (m *Message) URI() []byte { return m.at(m.uri) }

// Arguments is params.arguments.
func (m *Message) Arguments() []byte { return m.at(m.arguments) }

// Cursor is params.cursor.
func (m *Message) Cursor() []byte { return m.at(m.cursor) }

// InputResponses is params.inputResponses.
func (m *Message) InputResponses() []byte { return m.at(m.inputResponses) }

// RequestState is params.requestState.
func (m *Message) RequestState() []byte { return m.at(m.requestState) }

// RequestID is params.requestId, of a cancellation.
func (m *Message) RequestID() []byte { return m.at(m.requestID) }

// Version is the protocol version in _meta.
func (m *Message) Version() []byte { return m.at(m.version) }

// Capabilities is the client's capabilities in _meta.
func (m *Message) Capabilities() []byte { return m.at(m.capabilities) }

// ClientInfo is the client's identity in _meta.
func (m *Message) ClientInfo() []byte { return m.at(m.clientInfo) }

// LogLevel is the log level in _meta.
func (m *Message) LogLevel() []byte { return m.at(m.logLevel) }

// ProgressToken is the progress token in _meta.
func (m *Message) ProgressToken() []byte { return m.at(m.progressToken) }
