package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/typedmcp/mcp/internal/rounds"
	"github.com/typedmcp/mcp/internal/seal"
	"github.com/typedmcp/mcp/internal/wire"
)

// LatestVersion is the newest protocol revision this package speaks.
const LatestVersion = "2026-07-28"

// Server is a set of tools and the protocol around them. It does no input or
// output itself: transports such as ServeStdio feed it. A Server is safe for
// concurrent use and may serve any number of transports at once.
type Server struct {
	impl Implementation
	opts ServerOptions
	log  *slog.Logger
	revs []*wire.Revision // accepted, newest first

	extensions map[string]json.RawMessage // of the options

	mu          sync.Mutex // protects the fields below, until frozen
	registry    *registry
	middlewares []Middleware
	filter      func(ctx context.Context, f Info) bool // set by Visible

	current atomic.Pointer[snapshot] // what is served; not nil: frozen
	serving serving
	keeper  *rounds.Keeper // of the journals of calls that ask
	warned  once

	updating sync.Mutex // held by Update
	hub      hub
}

// ServerOptions configure a Server. The zero value, and a nil pointer, are
// good defaults.
type ServerOptions struct {
	// Title, Description, WebsiteURL and Icons describe the server to people;
	// Instructions tell a model how to use it. All may be empty.
	Title, Description, Instructions, WebsiteURL string
	Icons                                        []Icon
	// Versions are the protocol revisions to accept, newest first; nil means
	// all that this package knows.
	Versions []string
	// Dynamic lets Update change what is registered while the server serves,
	// and clients listen for such changes.
	Dynamic bool
	// Logging declares the logging capability: Logger then reaches clients that
	// ask for logs, and not ServerOptions.Logger alone.
	//
	// Deprecated: SEP-2577 deprecates logging to clients in revision 2026-07-28;
	// it will not be removed before 2027-07-28. Log to standard error or by
	// OpenTelemetry instead.
	Logging bool
	// ScopeSeparator joins the prefix of a Scope and a name; "" means "_".
	ScopeSeparator string
	// StrictNames makes tool names outside the protocol's recommendation
	// (1 to 128 of A-Z a-z 0-9 _ - .) errors instead of warnings.
	StrictNames bool
	// StrictArgs refuses unknown argument names for all tools; by default they
	// are ignored.
	StrictArgs bool
	// FullSchemas advertises all that is enforced of schemas derived from Go
	// types, parts of built ones among them. By default keywords that some hosts
	// refuse are left to descriptions, in words, and a warning tells of schemas
	// that were written or built with such keywords.
	FullSchemas bool
	// Extensions are the protocol extensions that the server supports, by id,
	// such as "com.example/audit", with their settings, which have to be JSON
	// objects; nil stands for none (MCP 2026-07-28, Versioning › Extension
	// Negotiation). Tool.App and AddApp declare theirs by themselves.
	Extensions map[string]any
	// PageSize is the most entries in one answer to a list method; 0 means
	// 1000.
	PageSize int
	// Cache is the caching hint of discovery, of lists and of what is read.
	// ListCache overrides it by method, such as "tools/list" or
	// "resources/read", and Resource.Cache for one resource.
	Cache     Cache
	ListCache map[string]Cache
	// StateKeys seal what clients carry for calls that ask for input; each has
	// at least 32 random bytes. The first seals and all open, so that a key can
	// be replaced: put the new one in front, and drop the old one when StateTTL
	// has passed. Replicas of a server need the same keys. nil means a random
	// key: calls that wait for input do not survive the process.
	StateKeys [][]byte
	// StateTTL is how long a client may take to answer, anew in each round; 0
	// means 10 minutes.
	StateTTL time.Duration
	// Spend makes states good for one use: it records that the state of that
	// id, which will be forgotten at until, is used, and reports whether it was
	// the first to. It is called by several goroutines at once, and before the
	// handler runs; replicas need a common store. An error fails the request.
	// With nil a client may send the same answers again, until they expire.
	Spend func(ctx context.Context, stateID string, until time.Time) (first bool, err error)
	// Limits bound what a peer can make the server hold.
	Limits Limits
	// RedactErrors replaces the text of a handler's error by a reference id,
	// under which Logger has the text; without Logger it is lost. What is meant
	// for the model, such as ToolErrorf and refused arguments, is never
	// redacted.
	RedactErrors bool
	// Files is where Icon finds the images that are named by a file; nil when
	// there are none.
	Files fs.FS
	// Logger gets the address that ListenAndServe listens on, warnings about
	// definitions, and the faults that clients do not see, under the references
	// that clients are given instead. nil discards them all, and clients are
	// told of an internal error without a reference: set it to know why. It must
	// not write to standard output.
	Logger *slog.Logger
}

// Limits bound what a peer can make a server hold. A zero field has the
// default given.
type Limits struct {
	Message  int // bytes of one message: 16 MiB
	Depth    int // nesting of arrays and objects in a message: 128
	RawArgs  int // bytes of arguments whose schema needs more than the simple keywords: 1 MiB
	InFlight int // running calls of one connection: 64
	Queue    int // calls of one connection that wait to run: 256
	Streams  int // open subscriptions of the whole server: 10,000
	Sessions int // of clients of earlier revisions at one HTTP endpoint; more end those that are idle the longest: 10,000
	Events   int // streamed messages that such a session keeps for a client that lost its connection, besides 4 MiB: 1024
	Rounds   int // of one call that asks for input: 16
	State    int // bytes of what a client carries for such a call: 64 KiB
	Logs     int // log messages to the client of one request in a second; more are left out, and counted: 100
}

// limit is a field of Limits.
type limit struct {
	name  string
	field *int
	value int // the default
}

func (l *Limits) all() []limit {
	return []limit{
		{"Message", &l.Message, 16 << 20}, {"Depth", &l.Depth, 128}, {"RawArgs", &l.RawArgs, 1 << 20},
		{"InFlight", &l.InFlight, 64}, {"Queue", &l.Queue, 256}, {"Streams", &l.Streams, 10_000}, {"Sessions", &l.Sessions, 10_000},
		{"Events", &l.Events, 1024}, {"Rounds", &l.Rounds, 16}, {"State", &l.State, 64 << 10}, {"Logs", &l.Logs, 100},
	}
}

// defaultLimits are those of servers that set none, and of clients.
var defaultLimits = Limits{}.withDefaults()

func (l Limits) withDefaults() Limits {
	for _, d := range l.all() {
		if *d.field <= 0 { // Check says what is wrong with less than none
			*d.field = d.value
		}
	}
	return l
}

// NewServer returns a server that calls itself name and version. Register
// features with AddTool and its siblings, then serve. opts may be nil.
func NewServer(name, version string, opts *ServerOptions) *Server {
	s := new(Server)
	if opts != nil {
		s.opts = *opts
	}
	s.opts.ListCache = maps.Clone(s.opts.ListCache)
	s.impl = Implementation{
		Name: name, Version: version, Title: s.opts.Title, Description: s.opts.Description,
		WebsiteURL: s.opts.WebsiteURL, Icons: slices.Clone(s.opts.Icons),
	}
	s.registry = &registry{srv: s, warned: make(map[string]bool)}
	s.log = s.opts.Logger
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.checkOptions()
	s.opts.Limits = s.opts.Limits.withDefaults()
	s.keeper = s.newKeeper()
	return s
}

const defaultStateTTL = 10 * time.Minute

func (s *Server) checkStateOptions(bad func(format string, args ...any)) {
	for i, key := range s.opts.StateKeys {
		if len(key) < seal.MinKey {
			bad("option StateKeys: key %d has %d bytes, fewer than %d", i, len(key), seal.MinKey)
		}
	}
	if s.opts.StateKeys != nil && len(s.opts.StateKeys) == 0 {
		bad("option StateKeys: there are no keys in it; nil means a random one")
	}
	if s.opts.StateTTL < 0 {
		bad("option StateTTL: %v is negative; 0 means %v", s.opts.StateTTL, defaultStateTTL)
	}
}

func (s *Server) checkSizes(bad func(format string, args ...any)) {
	if n := s.opts.PageSize; n < 0 {
		bad("option PageSize: %d is negative; 0 means %d", n, defaultPageSize)
	}
	for _, l := range s.opts.Limits.all() {
		if *l.field < 0 {
			bad("option Limits.%s: %d is negative; 0 means %d", l.name, *l.field, l.value)
		}
	}
}

// newKeeper makes what seals and opens the journals of calls that ask.
func (s *Server) newKeeper() *rounds.Keeper {
	k := &rounds.Keeper{TTL: s.opts.StateTTL, Rounds: s.opts.Limits.Rounds, Size: s.opts.Limits.State}
	if k.TTL == 0 {
		k.TTL = defaultStateTTL
	}
	var err error
	if k.Ring, err = seal.NewRing(s.opts.StateKeys...); err != nil { // there are none, or Check says why
		k.Ring = seal.RandomRing()
	}
	return k
}

// checkOptions records what is wrong with the options, for Check.
func (s *Server) checkOptions() {
	site := callerSite()
	bad := func(format string, args ...any) {
		s.registry.problems = append(s.registry.problems, &RegistrationError{
			Feature: "server", Caller: site.String(), Err: fmt.Errorf(format, args...),
		})
	}
	if s.impl.Name == "" || s.impl.Version == "" {
		bad("name and version must not be empty")
	}
	for _, v := range s.opts.Versions {
		if rev := wire.Lookup(v); rev == nil {
			bad("option Versions: revision %q is unknown; LatestVersion is %s", v, LatestVersion)
		} else if !slices.Contains(s.revs, rev) {
			s.revs = append(s.revs, rev)
		}
	}
	if s.opts.Versions == nil {
		s.revs = wire.Revisions[:]
	}
	slices.SortFunc(s.revs, func(a, b *wire.Revision) int { return a.Index - b.Index })
	s.checkStateOptions(bad)
	s.checkSizes(bad)
	if ttl := s.opts.Cache.TTL; ttl < 0 {
		bad("option Cache: the TTL %v is negative; 0 means that nothing is kept", ttl)
	}
	for _, method := range slices.Sorted(maps.Keys(s.opts.ListCache)) {
		if m, _ := wire.Revisions[0].Method(method); !m.Cached {
			bad("option ListCache: results of %q have no caching hints", method)
		}
		if ttl := s.opts.ListCache[method].TTL; ttl < 0 {
			bad("option ListCache: the TTL %v of %q is negative; 0 means that nothing is kept", ttl, method)
		}
	}
	for i, icon := range s.impl.Icons {
		var err error
		if s.impl.Icons[i], err = icon.resolve(s.opts.Files); err != nil {
			bad("option Icons: %w", err)
		}
	}
	var problems []error
	if s.extensions, problems = encodeExtensions(s.opts.Extensions); problems != nil {
		for _, err := range problems {
			bad("option Extensions: %w", err)
		}
	}
}

func (s *Server) separator() string {
	if s.opts.ScopeSeparator == "" {
		return "_"
	}
	return s.opts.ScopeSeparator
}

// Use adds middleware around every request. The first added is outermost.
func (s *Server) Use(mw ...Middleware) { s.registry.use(&s.middlewares, "server middleware", mw) }

// freeze ends registration and returns the snapshot to serve, or what Check
// found.
func (s *Server) freeze() (*snapshot, error) {
	snap, warnings, err := s.freezeOnce()
	s.warn(warnings)
	return snap, err
}

func (s *Server) freezeOnce() (*snapshot, []*RegistrationError, error) {
	s.walkTrees(s.registry)
	s.mu.Lock()
	defer s.mu.Unlock()
	if snap := s.current.Load(); snap != nil {
		return snap, nil, nil
	}
	warnings, err := s.registry.check()
	if err != nil {
		return nil, warnings, err
	}
	s.registry.frozen = true
	s.current.Store(s.compile(s.registry))
	return s.current.Load(), warnings, nil
}

// Shutdown ends all serving: contexts of running requests end with
// ErrShutdown, and the Serve calls return. It waits for them until ctx ends
// and then returns the context's cause.
func (s *Server) Shutdown(ctx context.Context) error {
	done := s.serving.stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("mcp: shutdown: %w", context.Cause(ctx))
	}
}

// serving counts the transports that are being served.
type serving struct {
	mu      sync.Mutex
	stopped bool
	active  map[stopper]struct{}
	idle    chan struct{} // closed when stopped and none is active
}

// stopper is a transport that can be told to end.
type stopper interface{ stop(cause error) }

var errStopped = errors.New("mcp: the server was shut down")

func (s *serving) add(c stopper) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errStopped
	}
	if s.active == nil {
		s.active = make(map[stopper]struct{})
	}
	s.active[c] = struct{}{}
	return nil
}

func (s *serving) remove(c stopper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, c)
	if s.stopped && len(s.active) == 0 {
		close(s.idle)
	}
}

func (s *serving) stop() <-chan struct{} {
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		s.idle = make(chan struct{})
		if len(s.active) == 0 {
			close(s.idle)
		}
	}
	active := slices.Collect(maps.Keys(s.active))
	s.mu.Unlock()
	for _, c := range active {
		c.stop(ErrShutdown) // may remove itself
	}
	return s.idle
}

// drainTime is how long calls that are running at the end of input may go on,
// and exitTime how long handlers have to return once their context ended.
const (
	drainTime = 5 * time.Second
	exitTime  = time.Second
)
