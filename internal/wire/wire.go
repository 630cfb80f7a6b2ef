// Package wire holds every difference between the revisions of MCP in one
// table, so that a request picks its Revision once and no other code compares
// version strings.
package wire

import (
	"slices"

	"github.com/typedmcp/mcp/internal/jsonrpc"
)

// Revision is what one revision of MCP prescribes. Revisions are compared by
// address; there is one value of each.
type Revision struct {
	// Index numbers the revisions from 0, newest first.
	Index int
	// Version is its name, a date.
	Version string
	// Modern revisions are stateless: every request carries its own metadata
	// and results are stamped. The others are opened by initialize.
	Modern bool

	// NotFound is the error code for a resource that does not exist.
	NotFound int

	// Structured allows structuredContent and outputSchema at all;
	// AnyStructured allows values of any JSON type there, not objects alone.
	Structured, AnyStructured bool
	// Titles allows title, the wider _meta, resource_link and lastModified.
	Titles bool
	// Icons allows icons, description and websiteUrl of an implementation, and
	// execution of a tool.
	Icons bool
	// Hints allows tool annotations, audio content and progress messages.
	Hints bool
	// Instructions allows instructions in the handshake.
	Instructions bool
	// Completions are a capability; before, the method just exists.
	Completions bool
	// Batches are received.
	Batches bool
	// Forms allows asking the user to fill in a form.
	Forms bool
	// FullAsks allows sending the user to a page, every kind of form field,
	// and sampling with tools.
	FullAsks bool
	// Polling has streams begin with an event that carries nothing but an id,
	// so that the server may close them before their end.
	Polling bool
	// VersionHeader has every request over HTTP but the first name the
	// revision.
	VersionHeader bool

	methods map[string]Method
}

// Method is what a revision says of one method.
type Method struct {
	// Gate is the server capability the method belongs to.
	Gate Gate
	// Cached results carry ttlMs and cacheScope.
	Cached bool
	// Suspends: the client may be asked for input before the answer.
	Suspends bool
	// Session: the method changes what the server remembers of a session.
	Session bool
}

// Gate names a server capability; methods behind a capability that is not
// advertised do not exist.
type Gate uint8

// The server capabilities that unlock methods.
const (
	Always Gate = iota
	Tools
	Resources
	Prompts
	Completions
	Logging
	Subscribe
)

// Method returns what r says of the named method, and whether r has it.
func (r *Revision) Method(name string) (Method, bool) {
	m, ok := r.methods[name]
	return m, ok
}

// Revisions has every known revision, newest first.
var Revisions = [...]*Revision{
	{
		Version: "2026-07-28", Modern: true, NotFound: jsonrpc.CodeInvalidParams,
		Structured: true, AnyStructured: true, Titles: true, Icons: true, Hints: true, Instructions: true, Completions: true,
		Forms: true, FullAsks: true, VersionHeader: true,
		methods: modernMethods,
	},
	{
		Version: "2025-11-25", NotFound: jsonrpc.CodeResourceNotFound,
		Structured: true, Titles: true, Icons: true, Hints: true, Instructions: true, Completions: true,
		Forms: true, FullAsks: true, Polling: true, VersionHeader: true,
		methods: legacyMethods,
	},
	{
		Version: "2025-06-18", NotFound: jsonrpc.CodeResourceNotFound,
		Structured: true, Titles: true, Hints: true, Instructions: true, Completions: true,
		Forms: true, VersionHeader: true,
		methods: legacyMethods,
	},
	{
		Version: "2025-03-26", NotFound: jsonrpc.CodeResourceNotFound,
		Hints: true, Instructions: true, Completions: true, Batches: true,
		methods: legacyMethods,
	},
	{
		Version: "2024-11-05", NotFound: jsonrpc.CodeResourceNotFound,
		methods: legacyMethods,
	},
}

var modernMethods = map[string]Method{
	jsonrpc.MethodDiscover:      {Cached: true},
	jsonrpc.MethodToolsList:     {Gate: Tools, Cached: true},
	jsonrpc.MethodToolsCall:     {Gate: Tools, Suspends: true},
	jsonrpc.MethodResourcesList: {Gate: Resources, Cached: true},
	jsonrpc.MethodTemplatesList: {Gate: Resources, Cached: true},
	jsonrpc.MethodResourcesRead: {Gate: Resources, Cached: true, Suspends: true},
	jsonrpc.MethodPromptsList:   {Gate: Prompts, Cached: true},
	jsonrpc.MethodPromptsGet:    {Gate: Prompts, Suspends: true},
	jsonrpc.MethodComplete:      {Gate: Completions},
	jsonrpc.MethodListen:        {},
}

var legacyMethods = map[string]Method{
	jsonrpc.MethodPing:          {},
	jsonrpc.MethodToolsList:     {Gate: Tools},
	jsonrpc.MethodToolsCall:     {Gate: Tools, Suspends: true},
	jsonrpc.MethodResourcesList: {Gate: Resources},
	jsonrpc.MethodTemplatesList: {Gate: Resources},
	jsonrpc.MethodResourcesRead: {Gate: Resources, Suspends: true},
	jsonrpc.MethodSubscribe:     {Gate: Subscribe, Session: true},
	jsonrpc.MethodUnsubscribe:   {Gate: Subscribe, Session: true},
	jsonrpc.MethodPromptsList:   {Gate: Prompts},
	jsonrpc.MethodPromptsGet:    {Gate: Prompts, Suspends: true},
	jsonrpc.MethodComplete:      {Gate: Completions},
	jsonrpc.MethodSetLevel:      {Gate: Logging, Session: true},
}

var byVersion = make(map[string]*Revision, len(Revisions))

func init() {
	for i, r := range Revisions {
		r.Index = i
		byVersion[r.Version] = r
	}
}

// others are methods that are not served by way of the table.
var others = []string{
	jsonrpc.MethodInitialize,
	"tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result",
	"elicitation/create", "sampling/createMessage", "roots/list",
}

// Known reports whether name is a method of any revision, or of the protocol's
// own extensions.
func Known(name string) bool {
	_, modern := modernMethods[name]
	_, legacy := legacyMethods[name]
	return modern || legacy || slices.Contains(others, name)
}

// Lookup returns the revision named version, nil for an unknown one.
func Lookup(version string) *Revision {
	if latest := Revisions[0]; version == latest.Version { // nearly always
		return latest
	}
	return byVersion[version]
}
