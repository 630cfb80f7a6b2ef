// Package jsonrpc reads and writes the JSON-RPC 2.0 messages of MCP.
//
// Decode finds, in one pass and without building values, everything that a
// server needs to decide what to do with a message: id, method, the members
// of params that routing looks at, and the members of _meta. All of it are
// spans of the input, kept as received.
package jsonrpc

// Error codes of JSON-RPC 2.0 and MCP 2026-07-28 (Basic › Error Codes).
const (
	CodeParseError         = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternalError      = -32603
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
	CodeResourceNotFound   = -32002 // 2025-11-25 and before
)

// Methods and notifications that the SDK knows in any revision.
const (
	MethodInitialize    = "initialize"
	MethodPing          = "ping"
	MethodDiscover      = "server/discover"
	MethodToolsList     = "tools/list"
	MethodToolsCall     = "tools/call"
	MethodResourcesList = "resources/list"
	MethodTemplatesList = "resources/templates/list"
	MethodResourcesRead = "resources/read"
	MethodPromptsList   = "prompts/list"
	MethodPromptsGet    = "prompts/get"
	MethodComplete      = "completion/complete"
	MethodListen        = "subscriptions/listen"
	MethodSetLevel      = "logging/setLevel"
	MethodSubscribe     = "resources/subscribe"
	MethodUnsubscribe   = "resources/unsubscribe"

	NotifyInitialized = "notifications/initialized"
	NotifyCancelled   = "notifications/cancelled"
	NotifyProgress    = "notifications/progress"
	NotifyMessage     = "notifications/message"
)

// Keys of _meta with a meaning of their own (MCP 2026-07-28, Basic › _meta).
const (
	MetaVersion        = "io.modelcontextprotocol/protocolVersion"
	MetaCapabilities   = "io.modelcontextprotocol/clientCapabilities"
	MetaClientInfo     = "io.modelcontextprotocol/clientInfo"
	MetaServerInfo     = "io.modelcontextprotocol/serverInfo"
	MetaLogLevel       = "io.modelcontextprotocol/logLevel"
	MetaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
	MetaProgressToken  = "progressToken"
)

// Kind tells requests, notifications and responses apart.
type Kind uint8

// The kinds of message.
const (
	Request Kind = iota + 1
	Notification
	Response
)

// Fault says why a message was refused. ID is the id to answer with, empty
// when it could not be read or must not be trusted.
type Fault struct {
	Code    int
	Message string
	ID      ID
}

func (f *Fault) Error() string { return f.Message }
