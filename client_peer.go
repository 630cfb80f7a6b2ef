package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// peer is the server at the other end of one link, once it is known what it
// speaks.
type peer struct {
	link   link
	rev    *wire.Revision
	stamp  []byte // the members of _meta that every request carries; empty before 2026-07-28
	server ServerInfo
}

// restartPause is the least time between two attempts to bring a lost
// connection back, so that a server which falls over at once is not started in
// a loop.
const restartPause = 250 * time.Millisecond

// reach returns the server, whose connection it brings back first where that
// was lost and the transport can.
func (c *Client) reach(ctx context.Context) (*peer, error) {
	p := c.peer.Load()
	if p.link.state().down() == nil || !c.transport.about().renews {
		return p, nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p = c.peer.Load(); p.link.state().down() == nil || c.ctx.Err() != nil {
		return p, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()
	lost := p.link.state().down()
	c.log.Warn("mcp: the connection was lost; it is opened anew", "error", lost)
	_ = p.link.close() // it is down already
	if err := sleep(ctx, restartPause-time.Since(c.opened)); err != nil {
		return nil, err
	}
	next, err := c.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("the connection was lost (%w) and could not be opened anew: %w", lost, err)
	}
	c.cache.clear() // another process may offer something else
	c.peer.Store(next)
	return next, nil
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// declared is what the client can do, as servers of rev are told.
func (c *Client) declared(rev *wire.Revision) *ClientCapabilities {
	out := c.capabilities()
	out.Extensions = c.extensions
	if out.Roots != nil && !rev.Modern {
		out.Roots.ListChanged = true
	}
	return out
}

// appendIdentity appends what servers are told of who is calling.
func (c *Client) appendIdentity(dst []byte) []byte {
	dst = jsonx.AppendString(append(dst, `{"name":`...), c.opts.Name)
	return append(jsonx.AppendString(append(dst, `,"version":`...), c.opts.Version), '}')
}

// encodeStamp encodes the metadata of every request (MCP 2026-07-28, Basic ›
// _meta).
func (c *Client) encodeStamp(rev *wire.Revision) []byte {
	dst := jsonx.AppendString(nil, jsonrpc.MetaVersion)
	dst = jsonx.AppendString(append(dst, ':'), rev.Version)
	dst = jsonx.AppendString(append(dst, ','), jsonrpc.MetaCapabilities)
	dst, _ = jsonx.Append(append(dst, ':'), c.declared(rev)) // plain structs cannot fail
	if c.opts.Name != "" {
		dst = jsonx.AppendString(append(dst, ','), jsonrpc.MetaClientInfo)
		dst = c.appendIdentity(append(dst, ':'))
	}
	return dst
}

// logLevelAsked is the level of the server's logs to ask for, "" for none.
func (c *Client) logLevelAsked() string {
	if c.opts.ServerLog == nil {
		return ""
	}
	level := slog.LevelInfo
	if c.opts.ServerLogLevel != nil {
		level = c.opts.ServerLogLevel.Level()
	}
	return logLevelName(level)
}

// discovered reads the result of server/discover. Versions nil means that it
// has none: it is not one of revision 2026-07-28.
func (c *Client) discovered(raw []byte, rev *wire.Revision) (info ServerInfo, versions []string, err error) {
	var w struct {
		Versions     []string        `json:"supportedVersions"`
		Capabilities json.RawMessage `json:"capabilities"`
		Instructions string          `json:"instructions"`
		Server       json.RawMessage `json:"serverInfo"`
		Meta         struct {
			Server json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return ServerInfo{}, nil, invalidResponse(jsonrpc.MethodDiscover, err)
	}
	server := w.Meta.Server
	if server == nil {
		server = w.Server
	}
	return c.serverInfo(rev, server, w.Capabilities, w.Instructions), w.Versions, nil
}

// serverInfo reads what a server says of itself. A part that is malformed is
// left out: servers are good for much without.
func (c *Client) serverInfo(rev *wire.Revision, server, capabilities json.RawMessage, instructions string) ServerInfo {
	info := ServerInfo{Protocol: rev.Version, Instructions: instructions}
	for name, part := range map[string]struct {
		raw  json.RawMessage
		into any
	}{"serverInfo": {server, &info.Implementation}, "capabilities": {capabilities, &info.Capabilities}} {
		if err := decodeMember(part.raw, part.into); err != nil {
			c.log.Warn("mcp: what the server says of itself is malformed; it was left out", "member", name, "error", err)
		}
	}
	info.Icons = loadable(info.Icons)
	return info
}

// initialize opens a session of a revision before 2026-07-28 (MCP 2025-11-25,
// Lifecycle › Initialization), of the one that is offered or of another that the server prefers.
func (c *Client) initialize(ctx context.Context, l link, offered *wire.Revision) (*peer, error) {
	p := &peer{link: l, rev: offered}
	l.state().legacy.Store(true)
	r := &call{method: jsonrpc.MethodInitialize, silent: true, params: func(dst []byte) ([]byte, error) {
		dst = jsonx.AppendString(append(dst, `"protocolVersion":`...), offered.Version)
		dst, err := jsonx.Append(append(dst, `,"capabilities":`...), c.declared(offered))
		dst = append(dst, `,"clientInfo":`...)
		if c.opts.Name == "" { // which must be there
			return append(dst, `{"name":"unnamed","version":"0"},`...), err
		}
		return append(c.appendIdentity(dst), ','), err
	}}
	raw, err := c.exchangeWith(ctx, p, r, &callOptions{timeout: c.opts.Timeout})
	if err != nil {
		return nil, err
	}
	var w struct {
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		Server       json.RawMessage `json:"serverInfo"`
		Instructions string          `json:"instructions"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, invalidResponse(jsonrpc.MethodInitialize, err)
	}
	if p.rev = c.legacyRevision(w.Version); p.rev == nil {
		return nil, fmt.Errorf("the server speaks revision %.40q; this client speaks %s", w.Version, names(c.legacy))
	}
	l.state().batches.Store(p.rev.Batches)
	p.server = c.serverInfo(p.rev, w.Server, w.Capabilities, w.Instructions)
	if s, ok := l.(sessionLink); ok {
		s.opened(p.rev)
	}
	if err := l.tell(ctx, []byte(`{"jsonrpc":"2.0","method":"`+jsonrpc.NotifyInitialized+`"}`)); err != nil {
		return nil, fmt.Errorf("%s: %w", jsonrpc.NotifyInitialized, err)
	}
	return p, c.setLevel(ctx, p)
}

// sessionLink is a link that has to know when a session is open.
type sessionLink interface{ opened(rev *wire.Revision) }

// setLevel asks a server of an earlier revision for its logs. One that refuses
// is good for all else.
func (c *Client) setLevel(ctx context.Context, p *peer) error {
	level := c.logLevelAsked()
	if level == "" || p.server.Capabilities.Logging == nil {
		return nil
	}
	_, err := c.exchangeWith(ctx, p, &call{method: jsonrpc.MethodSetLevel, params: func(dst []byte) ([]byte, error) {
		return append(jsonx.AppendString(append(dst, `"level":`...), level), ','), nil
	}}, &callOptions{timeout: c.opts.Timeout})
	var refused *Error
	if errors.As(err, &refused) {
		c.log.Warn("mcp: the server refused to send logs", "level", level, "error", refused)
		return nil
	}
	return err
}

func (c *Client) legacyRevision(version string) *wire.Revision {
	for _, r := range c.legacy {
		if r.Version == version {
			return r
		}
	}
	return nil
}

// RootsChanged tells a server of an earlier revision that the folders which
// ClientOptions.Roots lists have changed. Since revision 2026-07-28 servers ask
// when they need them: there is nothing to tell.
//
// Deprecated: SEP-2577 deprecates roots in revision 2026-07-28; they will not
// be removed before 2027-07-28.
func (c *Client) RootsChanged(ctx context.Context) error {
	if c.opts.Roots == nil {
		return errors.New("mcp: RootsChanged: the option Roots is not set, so servers know of no roots")
	}
	p, err := c.reach(ctx)
	if err == nil && !p.rev.Modern {
		err = p.link.tell(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`))
	}
	if err != nil {
		return fmt.Errorf("mcp: RootsChanged: %w", err)
	}
	return nil
}
