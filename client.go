package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/wire"
)

// The client stands beside the server in this package and shares its types:
//
//	client.go             Dial, options, Close
//	client_era.go         which revision the server speaks; client_peer.go: the server once that is known
//	client_call.go        one request and its answer; client_rounds.go: with the questions on the way
//	client_tools.go, client_features.go, client_pages.go, client_do.go    the methods
//	client_cache.go, client_output.go, client_mirror.go    what lists teach about the calls to come
//	client_incoming.go    what servers send by themselves; client_listen.go: changes
//	client_link.go        what all transports keep of requests under way
//	client_conn.go, client_command.go, transport_memory.go    pipes
//	client_http.go        HTTP; client_http_session.go, client_http_stream.go: before 2026-07-28; client_http_sse.go: 2024-11-05

// Client talks to one server. It is safe for concurrent use; Close it when
// done.
type Client struct {
	opts       ClientOptions
	log        *slog.Logger
	transport  Transport
	modern     []*wire.Revision // those to speak, newest first
	legacy     []*wire.Revision
	extensions map[string]json.RawMessage

	peer    atomic.Pointer[peer]
	turn    chan struct{}   // of one element: who has put it there may connect
	opened  time.Time       // when that was tried last
	ctx     context.Context // of everything that goes on beside calls
	end     context.CancelCauseFunc
	busy    sync.WaitGroup // goroutines beside calls
	cache   cache
	watched watchers

	mu    sync.Mutex // protects tools, and that nothing is added to busy after end
	tools map[string]*knownTool
}

// ClientOptions configure a Client. The zero value, and a nil pointer, are
// good defaults.
type ClientOptions struct {
	// Name and Version tell servers who is calling; with an empty Name they
	// are not told.
	Name, Version string
	// Versions are the revisions of MCP to speak; nil means all that this
	// package knows. With 2026-07-28 alone, or without it, the server is not
	// asked which it speaks, and there is no falling back.
	Versions []string
	// Timeout is how long a call may go without an answer or progress; 0 means
	// 60 seconds. MaxTimeout is how long it may take in all, progress or not;
	// 0 means 10 minutes. ProbeTimeout is how long a server on a pipe may take
	// to say that it speaks 2026-07-28 before it is taken for an older one; 0
	// means 5 seconds.
	Timeout, MaxTimeout, ProbeTimeout time.Duration
	// ElicitForm and ElicitURL ask the user what a server wants to know: to fill
	// in a form, and to open a page. Setting one declares to servers that they
	// may ask so. They should end with their context: of the call that is asked
	// for, whose goroutine they run in; with servers of earlier revisions, of
	// the question, in a goroutine of its own. An error is logged, and tells the
	// server that the user turned away.
	ElicitForm, ElicitURL func(context.Context, *ElicitRequest) (*ElicitResult, error)
	// Sample has a model go on with a conversation of a server's; setting it
	// declares so. A person should be able to see and refuse both request and
	// result. An error fails the call.
	//
	// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will
	// not be removed before 2027-07-28.
	Sample func(context.Context, *SampleRequest) (*SampleResult, error)
	// SampleTools declares with Sample that the model may use tools.
	//
	// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will
	// not be removed before 2027-07-28.
	SampleTools bool
	// Roots lists the folders that servers may work in; setting it declares so.
	// An error fails the call.
	//
	// Deprecated: SEP-2577 deprecates roots in revision 2026-07-28; they will
	// not be removed before 2027-07-28.
	Roots func(context.Context) ([]Root, error)
	// ServerLog gets the logs of the server, those at ServerLogLevel and above,
	// which is asked for with every call; before revision 2026-07-28 once, when
	// connecting. Its attributes are data, unless that is a string, and logger,
	// if the server names one. nil asks for none.
	//
	// Deprecated: SEP-2577 deprecates logging in revision 2026-07-28; it will
	// not be removed before 2027-07-28.
	ServerLog *slog.Logger
	// ServerLogLevel is the least level for ServerLog; nil means
	// slog.LevelInfo.
	//
	// Deprecated: SEP-2577 deprecates logging in revision 2026-07-28; it will
	// not be removed before 2027-07-28.
	ServerLogLevel slog.Leveler
	// MaxRounds is how often a server may ask in one call; 0 means 10.
	MaxRounds int
	// Logger gets what is wrong with what servers send; nil discards it.
	Logger *slog.Logger
	// Extensions are declared to servers: settings by the extension's id, such
	// as "com.example/feature". A value is encoded as a JSON object; nil means
	// no settings.
	Extensions map[string]any
}

const (
	defaultTimeout      = 60 * time.Second
	defaultMaxTimeout   = 10 * time.Minute
	defaultProbeTimeout = 5 * time.Second
)

// Dial connects to a server, finds out which revision of MCP it speaks, and
// learns what it offers. ctx bounds the dial only. opts may be nil.
//
// The server is asked in revision 2026-07-28 first. Unless the answer is of
// that revision, the client goes on with the handshake of the earlier ones;
// refusals for want of authorization, faults of the server (status 5xx) and of
// the network say nothing about revisions and fail the dial (MCP 2026-07-28,
// Versioning › Backward Compatibility). What was found out is remembered in t:
// another Dial with it asks in the right one at once.
func Dial(ctx context.Context, t Transport, opts *ClientOptions) (*Client, error) {
	c := &Client{transport: t, turn: make(chan struct{}, 1)}
	if opts != nil {
		c.opts = *opts
	}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("mcp: dial: %w", err)
	}
	c.ctx, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	p, err := c.connect(ctx)
	if err != nil {
		c.end(ErrClosed)
		c.busy.Wait()
		return nil, fmt.Errorf("mcp: dial: %w", err)
	}
	c.peer.Store(p)
	return c, nil
}

// prepare checks the options and puts defaults where nothing is set.
func (c *Client) prepare() error {
	o := &c.opts
	setDefault(&o.Timeout, defaultTimeout)
	setDefault(&o.MaxTimeout, defaultMaxTimeout)
	setDefault(&o.ProbeTimeout, defaultProbeTimeout)
	if c.log = o.Logger; c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.transport == nil {
		return errors.New("the transport is nil; use Command, HTTP, InMemory or Custom")
	}
	for _, v := range o.Versions {
		if wire.Lookup(v) == nil {
			return fmt.Errorf("the option Versions has %q, which is no known revision", v)
		}
	}
	for _, r := range wire.Revisions {
		switch wanted := o.Versions == nil || slices.Contains(o.Versions, r.Version); {
		case wanted && r.Modern:
			c.modern = append(c.modern, r)
		case wanted:
			c.legacy = append(c.legacy, r)
		}
	}
	if len(c.modern)+len(c.legacy) == 0 {
		return errors.New("the option Versions names no revision; leave it nil for all")
	}
	var problems []error
	if c.extensions, problems = encodeExtensions(o.Extensions); problems != nil {
		return fmt.Errorf("the option Extensions: %w", errors.Join(problems...))
	}
	c.discourage()
	return nil
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// start runs fn in a goroutine that Close waits for, unless c is closed.
func (c *Client) start(fn func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	c.busy.Go(fn)
	return nil
}

// Server is what the server said of itself when the client connected. Its
// identity is for display and must not decide anything.
func (c *Client) Server() ServerInfo { return c.peer.Load().server }

// Close ends the connection; calls and subscriptions that are under way end
// with ErrClosed, and the server is told so. It waits for the end of a server
// that Command has started, for which see there. It may be called more than once.
func (c *Client) Close() error {
	c.mu.Lock()
	c.end(ErrClosed)
	c.mu.Unlock()
	c.turn <- struct{}{} // who is connecting gives up now
	defer func() { <-c.turn }()
	err := c.peer.Load().link.close()
	c.busy.Wait()
	return err
}
