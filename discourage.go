package mcp

import (
	"net/url"
	"sync"

	"github.com/typedmcp/mcp/internal/wire"
)

// once remembers what was said already.
type once struct{ said sync.Map }

// warnOnce logs a warning the first time it is asked to for that topic.
func (s *Server) warnOnce(topic, text string, attrs ...any) {
	if _, before := s.warned.said.LoadOrStore(topic, true); !before {
		s.log.Warn(text, attrs...)
	}
}

const until = "revision 2026-07-28 deprecates that, and it may be removed after 2027-07-28"

// discourage warns of deprecated features and of what puts users at risk, once
// each (MCP 2026-07-28, Deprecated Features; Elicitation › Security
// Considerations).
func (s *Server) discourage(q *ready) {
	switch q.Kind {
	case kindForm:
		if name := q.form.secret; name != "" {
			s.warnOnce("secret "+name, "mcp: a form seems to ask for a secret, which would go through the client and its model; have the user open a page instead, by ElicitURL", "field", name)
		}
	case kindSampling:
		s.warnOnce("sampling", "mcp: sampling is used; "+until+": call a model provider instead", "sep", "SEP-2577")
		if in := q.Sample.IncludeContext; in != "" && in != "none" {
			s.warnOnce("includeContext", "mcp: sampling with the context of servers is used; "+until, "sep", "SEP-2596")
		}
	case kindURL:
		if u, err := url.Parse(q.URL); err == nil && u.Scheme == "http" && !loopbackName(u.Hostname()) {
			s.warnOnce("http URL", "mcp: a user is asked to open a page by http, which anybody on the way can read and change; use https")
		}
	case kindRoots:
		s.warnOnce("roots", "mcp: roots are used; "+until+": take paths as arguments or configuration instead", "sep", "SEP-2577")
	}
}

// undeclared warns of resources in the results of a server that has none
// (MCP 2026-07-28, Tools › Embedded Resources).
func (snap *snapshot) undeclared(r *Result) {
	if snap.gates[wire.Resources] {
		return
	}
	for _, c := range r.Content {
		if _, ok := c.(*EmbeddedResource); ok {
			snap.srv.warnOnce("embedded", "mcp: a tool's result embeds a resource, but the server has no resources; clients may not expect it: add some, or return it as text")
			return
		}
	}
}

// discourage warns of the deprecated features that the options switch on.
func (c *Client) discourage() {
	if c.opts.Sample != nil {
		c.log.Warn("mcp: the option Sample is set; "+until, "sep", "SEP-2577")
	}
	if c.opts.Roots != nil {
		c.log.Warn("mcp: the option Roots is set; "+until, "sep", "SEP-2577")
	}
}
