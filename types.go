package mcp

import (
	"encoding/json"
	"time"
)

// Implementation describes a client or a server. It is for display and logs;
// nothing may be decided by it (MCP 2026-07-28, Basic › _meta).
type Implementation struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	WebsiteURL  string `json:"websiteUrl,omitempty"`
	Icons       []Icon `json:"icons,omitempty"`
}

// Icon is an image that a host may show beside a server, tool, prompt or
// resource. Src is an https: or data: URI, and a Client leaves out icons with
// any other; Sizes holds "WIDTHxHEIGHT" or
// "any", none meaning unknown; Theme is "light", "dark" or empty for both.
type Icon struct {
	Src      string   `json:"src"`
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
	Theme    string   `json:"theme,omitempty"`
}

// Annotations tell a client who content is for and how much it matters (MCP
// 2026-07-28, Resources › Annotations). The zero value says nothing.
type Annotations struct {
	// Audience holds "user", "assistant" or both.
	Audience []string `json:"audience,omitempty"`
	// Priority is between 0 (optional) and 1 (required); nil is unsaid.
	Priority *float64 `json:"priority,omitempty"`
	// LastModified is the moment of the last change; zero is unsaid.
	LastModified time.Time `json:"lastModified,omitzero"`
}

// Cache says how long a result may be reused and by whom (MCP 2026-07-28,
// Caching). The zero value is the safe one: private, stale at once.
type Cache struct {
	// TTL is how long the result stays fresh; it is sent in milliseconds.
	TTL time.Duration
	// Public allows sharing the result between users.
	Public bool
}

// Meta is the content of a _meta member: raw JSON by key. Keys follow MCP
// 2026-07-28, Basic › _meta; those with a reserved prefix are not for
// applications.
type Meta map[string]json.RawMessage

// ClientCapabilities is what a client says it can do. In revision 2026-07-28
// every request says it anew; before, it was agreed once in the handshake.
type ClientCapabilities struct {
	Elicitation  *ElicitationCapability     `json:"elicitation,omitempty"`
	Sampling     *SamplingCapability        `json:"sampling,omitempty"`
	Roots        *RootsCapability           `json:"roots,omitempty"`
	Extensions   map[string]json.RawMessage `json:"extensions,omitempty"`
	Experimental map[string]json.RawMessage `json:"experimental,omitempty"`
}

// ElicitationCapability says in which modes a client can ask its user. An
// empty one means forms alone.
type ElicitationCapability struct {
	Form *struct{} `json:"form,omitempty"`
	URL  *struct{} `json:"url,omitempty"`
}

// SamplingCapability says that a client can call a model.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28.
type SamplingCapability struct {
	Tools   *struct{} `json:"tools,omitempty"`
	Context *struct{} `json:"context,omitempty"`
}

// RootsCapability says that a client can name its root folders.
//
// Deprecated: SEP-2577 deprecates roots in revision 2026-07-28; they will not
// be removed before 2027-07-28.
type RootsCapability struct {
	ListChanged bool `json:"listChanged,omitempty"` // before 2026-07-28
}

// ServerCapabilities is what a server offers.
type ServerCapabilities struct {
	Tools        *ListCapability            `json:"tools,omitempty"`
	Prompts      *ListCapability            `json:"prompts,omitempty"`
	Resources    *ResourcesCapability       `json:"resources,omitempty"`
	Completions  *struct{}                  `json:"completions,omitempty"`
	Logging      *struct{}                  `json:"logging,omitempty"`
	Extensions   map[string]json.RawMessage `json:"extensions,omitempty"`
	Experimental map[string]json.RawMessage `json:"experimental,omitempty"`
}

// ListCapability is the capability of a feature that is a list.
type ListCapability struct {
	ListChanged bool `json:"listChanged,omitempty"`
}

// ResourcesCapability is the capability of resources.
type ResourcesCapability struct {
	Subscribe   bool `json:"subscribe,omitempty"`
	ListChanged bool `json:"listChanged,omitempty"`
}

// ServerInfo is what a client learned about a server when it connected.
type ServerInfo struct {
	Implementation
	// Protocol is the revision spoken with it.
	Protocol     string
	Capabilities ServerCapabilities
	Instructions string
}

// ListResult is what middleware sees of a list method: the entries of one
// page as JSON objects, and the cursor of the next page, empty at the end.
type ListResult struct {
	Items []json.RawMessage
	Next  string
}

// ProgressEvent is one progress notification, as a client receives it. Total
// is 0 and Message empty when the server did not say.
type ProgressEvent struct {
	Done, Total float64
	Message     string
}
