package jsonrpc

import (
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// envelope holds the members of a message that only classify looks at.
type envelope struct {
	version, id, method span
}

func (d *decoder) slot(name []byte) *span {
	switch string(name) {
	case "jsonrpc":
		return &d.version
	case "id":
		return &d.id
	case "method":
		return &d.method
	case "params":
		return &d.m.params
	case "result":
		return &d.m.result
	case "error":
		return &d.m.fault
	}
	return nil
}

func (p *paramsMembers) slot(name []byte) *span {
	switch string(name) {
	case "_meta":
		return &p.meta
	case "name":
		return &p.name
	case "arguments":
		return &p.arguments
	case "uri":
		return &p.uri
	case "cursor":
		return &p.cursor
	case "inputResponses":
		return &p.inputResponses
	case "requestState":
		return &p.requestState
	case "requestId":
		return &p.requestID
	}
	return nil
}

func (t *metaMembers) slot(name []byte) *span {
	switch string(name) {
	case MetaVersion:
		return &t.version
	case MetaCapabilities:
		return &t.capabilities
	case MetaClientInfo:
		return &t.clientInfo
	case MetaLogLevel:
		return &t.logLevel
	case MetaProgressToken:
		return &t.progressToken
	}
	return nil
}

// classify decides what kind of message was read and whether it is whole.
func (e *envelope) classify(m *Message) error {
	id, name := m.at(e.id), m.at(e.method)
	result, fault := m.Result() != nil, m.Fault() != nil
	if id != nil && validID(id) {
		m.ID = id
	}
	invalid := func(why string) error {
		return &Fault{Code: CodeInvalidRequest, Message: "Invalid Request: " + why, ID: m.ID}
	}
	switch {
	case string(m.at(e.version)) != `"2.0"`:
		return invalid(`the member "jsonrpc" must be "2.0"`)
	case name == nil && result != fault:
		m.Kind = Response // an error may come with id null or without id
		if m.ID == nil && (result || id != nil && string(id) != "null") {
			return invalid("a response repeats the id of its request")
		}
		return nil
	case name == nil:
		return invalid(`the member "method" is missing`)
	case id != nil && m.ID == nil:
		return invalid("an id is a string or an integer")
	case name[0] != '"':
		return invalid(`the member "method" must be a string`)
	}
	method, ok := intern(name)
	if !ok || method == "" {
		return invalid(`the member "method" must not be empty`)
	}
	m.Method = method
	m.Kind = Notification
	if id != nil {
		m.Kind = Request
		if strings.HasPrefix(method, "notifications/") {
			return invalid("a notification has no id")
		}
	}
	if string(m.Params()) == "null" {
		m.params = span{}
	}
	return nil
}

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
