package jsonrpc

import (
	"bytes"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// envelope holds the members of a message that only classify looks at.
type envelope struct {
	version, id, method []byte
}

func (d *decoder) slot(name []byte) (*[]byte, bool) {
	switch string(name) {
	case "jsonrpc":
		return &d.version, true
	case "id":
		return &d.id, true
	case "method":
		return &d.method, true
	case "params":
		return &d.m.Params.Raw, true
	case "result":
		return &d.m.Result, true
	case "error":
		return &d.m.Error, true
	}
	return nil, false
}

func (p *Params) slot(name []byte) (*[]byte, bool) {
	switch string(name) {
	case "_meta":
		return &p.Meta.Raw, true
	case "name":
		return &p.Name, true
	case "arguments":
		return &p.Arguments, true
	case "uri":
		return &p.URI, true
	case "cursor":
		return &p.Cursor, true
	case "inputResponses":
		return &p.InputResponses, true
	case "requestState":
		return &p.RequestState, true
	case "requestId":
		return &p.RequestID, true
	}
	return nil, false
}

func (t *Meta) slot(name []byte) (*[]byte, bool) {
	switch string(name) {
	case MetaVersion:
		return &t.Version, true
	case MetaCapabilities:
		return &t.Capabilities, true
	case MetaClientInfo:
		return &t.ClientInfo, true
	case MetaLogLevel:
		return &t.LogLevel, true
	case MetaProgressToken:
		return &t.ProgressToken, true
	}
	return nil, false
}

// classify decides what kind of message was read and whether it is whole.
func (e *envelope) classify(m *Message) error {
	hasID := e.id != nil
	if hasID && validID(e.id) {
		m.ID = e.id
	}
	invalid := func(why string) error {
		return &Fault{Code: CodeInvalidRequest, Message: "Invalid Request: " + why, ID: m.ID}
	}
	switch {
	case string(e.version) != `"2.0"`:
		return invalid(`the member "jsonrpc" must be "2.0"`)
	case e.method == nil && (m.Result != nil) != (m.Error != nil):
		m.Kind = Response // an error may come with id null or without id
		if m.ID == nil && (m.Result != nil || hasID && !bytes.Equal(e.id, null)) {
			return invalid("a response repeats the id of its request")
		}
		return nil
	case e.method == nil:
		return invalid(`the member "method" is missing`)
	case hasID && m.ID == nil:
		return invalid("an id is a string or an integer")
	case e.method[0] != '"':
		return invalid(`the member "method" must be a string`)
	}
	method, ok := intern(e.method)
	if !ok || method == "" {
		return invalid(`the member "method" must not be empty`)
	}
	m.Method = method
	m.Kind = Notification
	if hasID {
		m.Kind = Request
		if strings.HasPrefix(method, "notifications/") {
			return invalid("a notification has no id")
		}
	}
	if bytes.Equal(m.Params.Raw, null) {
		m.Params.Raw = nil
	}
	return nil
}

var null = []byte("null")

// intern returns the method named by the JSON string quoted, known ones as
// constants.
func intern(quoted []byte) (string, bool) {
	switch string(quoted[1 : len(quoted)-1]) {
	case MethodToolsCall:
		return MethodToolsCall, true
	case MethodToolsList:
		return MethodToolsList, true
	case MethodDiscover:
		return MethodDiscover, true
	case MethodResourcesRead:
		return MethodResourcesRead, true
	case MethodPromptsGet:
		return MethodPromptsGet, true
	case MethodComplete:
		return MethodComplete, true
	case NotifyCancelled:
		return NotifyCancelled, true
	case NotifyProgress:
		return NotifyProgress, true
	case NotifyMessage:
		return NotifyMessage, true
	}
	s, err := jsonx.Unquote(quoted)
	return s, err == nil
}
