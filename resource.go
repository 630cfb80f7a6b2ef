package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/typedmcp/mcp/internal/schema"
)

// Resource is the handle of a registered resource, resource template or tree
// of files; see Tool for what its methods have in common.
type Resource struct {
	definition
	template    *uriTemplate // nil: a single resource, or files
	params      []textParam  // the template's variables
	input       *schema.Plan // the template's variables; nil for others
	completers  map[string]CompleteFunc
	mime        string
	size        *int64
	annotations *Annotations
	cache       *Cache // nil: the server's
	watchable   bool
	tree        *fileTree // not nil: files below uri
	app         bool      // a user interface
	read        readFunc
}

// readFunc reads the resource at uri. vars are the checked values of a
// template's variables.
type readFunc func(ctx context.Context, uri string, vars []byte) (*ReadResult, error)

// ReadResult is what reading a resource gives: one or several contents, whose
// URIs may differ from the one that was asked for.
type ReadResult struct {
	Contents []ResourceContents
	Meta     Meta // nil: none
}

// ErrNotFound is returned by the handler of a resource that does not exist
// after all. The client gets the same answer as for an unknown URI.
var ErrNotFound = errors.New("mcp: resource not found")

// AddResource registers the resource with the given URI. R says what it holds:
// a string is text, a []byte is binary, a *ReadResult is sent as it is, and
// any other type is sent as JSON. A nil pointer or interface fails the read, and
// so does an error, which may be ErrNotFound.
//
// The scheme is yours to choose: file: for what is like a file system, https:
// only for what clients can fetch themselves, any other for the rest (MCP
// 2026-07-28, Resources › Common URI Schemes). fn runs in several goroutines at
// once.
func AddResource[R any](r Registrar, uri, name string, fn func(ctx context.Context) (R, error)) *Resource {
	res := newResource(r, kindResource, uri, name)
	if fn == nil {
		res.problem("", errors.New("the handler is nil"))
	}
	contents := res.contents(reflect.TypeFor[R]())
	res.read = func(ctx context.Context, uri string, _ []byte) (*ReadResult, error) {
		v, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return contents(uri, &v)
	}
	return res.register()
}

// AddText registers a resource whose text never changes.
func AddText(r Registrar, uri, name, mimeType, text string) *Resource {
	res := newResource(r, kindResource, uri, name)
	size := int64(len(text))
	res.mime, res.size = mimeType, &size
	res.read = func(_ context.Context, uri string, _ []byte) (*ReadResult, error) {
		return &ReadResult{Contents: []ResourceContents{{URI: uri, MIMEType: res.mime, Text: text}}}, nil
	}
	return res.register()
}

// AddTemplate registers the resources whose URIs match an RFC 6570 template,
// such as "orders://{id}". The template's variables are the fields of P, a
// struct, by their JSON names; their text is parsed into numbers, booleans and
// types with UnmarshalText, and a URI whose text does not parse is not found.
// R is as for AddResource. Of several templates that match, the one
// registered first is read; a resource with that very URI comes before all.
//
// What a variable stands for is decoded from percent-encoding once. It ends
// where RFC 6570 ends it: {id} takes no reserved characters, so no slash,
// {+path} takes them; {/parts*} and {?tags*} are lists, for fields that are
// slices; a query may have its parts in any order. Of two variables with a
// character between them that both may have, the first takes all it can.
// Templates that cannot be read back are problems: two expressions side by
// side, a variable twice, and {id:3}. A variable may hold any text, "../" too:
// do not make paths of it, but serve files with AddFS or AddDir.
func AddTemplate[P, R any](r Registrar, uriTemplate, name string, fn func(ctx context.Context, params P) (R, error)) *Resource {
	res := newResource(r, kindTemplate, uriTemplate, name)
	if fn == nil {
		res.problem("", errors.New("the handler is nil"))
	}
	res.derive(reflect.TypeFor[P]())
	input := res.input
	contents := res.contents(reflect.TypeFor[R]())
	res.read = func(ctx context.Context, uri string, vars []byte) (*ReadResult, error) {
		p := new(P)
		if err := decodeArgs(ctx, input, vars, p); err != nil {
			return nil, err
		}
		v, err := fn(ctx, *p)
		if err != nil {
			return nil, err
		}
		return contents(uri, &v)
	}
	return res.register()
}

func newResource(r Registrar, kind, uri, name string) *Resource {
	at := r.target()
	res := &Resource{definition: at.define(kind, "")}
	res.uri, res.name = uri, name // prefixes of scopes are for tools and prompts
	return res
}

func (r *Resource) register() *Resource {
	if r.name == "" {
		r.problem("", errors.New("the name is empty"))
	}
	if r.kind != kindTemplate {
		if err := checkURI(r.uri); err != nil {
			r.problem("", fmt.Errorf("the URI %.80q %w", r.uri, err))
		}
	}
	r.mutate(func() { r.reg.addResource(r) })
	return r
}

// derive takes the template's variables from the Go type.
func (r *Resource) derive(typ reflect.Type) {
	plan, params := r.deriveText(typ, true)
	if plan == nil {
		return
	}
	r.input, r.params = plan, params
	param := func(name string) *textParam {
		if i := slices.IndexFunc(params, func(p textParam) bool { return p.name == name }); i >= 0 {
			return &params[i]
		}
		return nil
	}
	template, err := newURITemplate(r.uri, func(name string) bool {
		p := param(name)
		return p != nil && p.list
	})
	if err != nil {
		r.problem("", err)
		return
	}
	r.template = template
	names := template.names()
	for _, p := range params {
		if p.required && !slices.Contains(names, p.name) {
			r.problem("", fmt.Errorf("the URI template has no variable %q, which %v needs", p.name, typ))
		}
	}
	for _, name := range names {
		if param(name) == nil {
			r.problem("", fmt.Errorf("the variable %q of the URI template is no field of %v; name one so with a json tag", name, typ))
		}
	}
}

// check adds what only the finished definition shows.
func (r *Resource) check() (problems, warnings []*RegistrationError) {
	problems, warnings = slices.Concat(r.problems, r.resolveIcons()), slices.Clone(r.warnings)
	if r.mime != "" {
		if err := checkMediaType(r.mime); err != nil {
			problems = append(problems, r.finding("%w", err))
		}
	}
	if r.app && r.mime != appMIMEType {
		problems = append(problems, r.finding("the media type of an app is %s and nothing else", appMIMEType))
	}
	if r.tree != nil {
		if r.tree.err != nil {
			problems = append(problems, r.finding("the files cannot be listed: %w", r.tree.err))
		}
		if r.tree.cut {
			warnings = append(warnings, r.finding("there are more than %d files; the others can be read but are not listed", maxFiles))
		}
	}
	return problems, warnings
}

// change guards every fluent method.
func (r *Resource) change(apply func()) *Resource {
	r.mutate(apply)
	return r
}

// Title sets the name shown to people.
func (r *Resource) Title(s string) *Resource { return r.change(func() { r.title = s }) }

// Desc sets the description, for models.
func (r *Resource) Desc(s string) *Resource { return r.change(func() { r.desc = s }) }

// MIME sets the media type, such as "text/markdown".
func (r *Resource) MIME(mimeType string) *Resource { return r.change(func() { r.mime = mimeType }) }

// Size says how many bytes a single resource has.
func (r *Resource) Size(bytes int64) *Resource {
	return r.change(func() {
		if bytes < 0 || r.kind == kindTemplate || r.tree != nil {
			r.problem("", fmt.Errorf("the size %d is not that of one resource", bytes))
		}
		r.size = &bytes
	})
}

// Icon adds an icon, as Tool.Icon does.
func (r *Resource) Icon(src string, sizes ...string) *Resource {
	icon := Icon{Src: src, Sizes: slices.Clone(sizes)}
	return r.change(func() { r.icons = append(r.icons, icon) })
}

// Annotate says who the resource is for and how much it matters.
func (r *Resource) Annotate(a Annotations) *Resource {
	return r.change(func() {
		if err := a.check(); err != nil {
			r.problem("", err)
		}
		r.annotations = &a
	})
}

// Cache is how long what was read may be reused, in place of the server's
// Cache option.
func (r *Resource) Cache(c Cache) *Resource {
	return r.change(func() {
		if c.TTL < 0 {
			r.problem("", fmt.Errorf("the cache TTL %v is negative; 0 means that nothing is kept", c.TTL))
		}
		r.cache = &c
	})
}

// Watchable lets clients watch the resource for changes, which the server
// tells with ResourceUpdated.
func (r *Resource) Watchable() *Resource { return r.change(func() { r.watchable = true }) }

// Category groups resources, as Tool.Category does.
func (r *Resource) Category(name string) *Resource { return r.change(func() { r.setCategory(name) }) }

// Tags says in one string what the other methods say: the keys title, icon,
// category, disabled and hidden, and others that are kept in Info.Tags. See
// Tool.Tags.
func (r *Resource) Tags(s string) *Resource {
	return r.change(func() { r.applyTags(s, r.tagText, r.tagFlag) })
}

// Hidden keeps the resource out of lists; it can still be read.
func (r *Resource) Hidden() *Resource { return r.change(func() { r.hidden = true }) }

// Disabled makes the resource unknown.
func (r *Resource) Disabled() *Resource { return r.change(func() { r.disabled = true }) }

// Complete suggests values of a template's variable. Those of an enumeration
// are suggested without it.
func (r *Resource) Complete(variable string, fn CompleteFunc) *Resource {
	return r.change(func() { r.addCompleter(&r.completers, r.params, variable, fn) })
}

// Meta adds a key to the resource's _meta, as Tool.Meta does.
func (r *Resource) Meta(key string, v any) *Resource { return r.change(r.metaSetter(key, v)) }

// RequireScopes lets only those read, watch or complete the resource whose principal was granted
// all of these OAuth scopes; over HTTP others get 403 with what they lack. It
// is listed nonetheless. Who is on the other end of a pipe, or in the same
// process, needs a principal only if there is one: see WithPrincipal.
func (r *Resource) RequireScopes(scopes ...string) *Resource {
	return r.change(func() { r.require(scopes) })
}

// Use adds middleware around this resource alone. The first added is
// outermost.
func (r *Resource) Use(mw ...Middleware) *Resource {
	r.reg.use(&r.middlewares, r.feature(), mw)
	return r
}
