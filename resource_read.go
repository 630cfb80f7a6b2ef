package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// contents returns how values of a handler's result type become contents. The
// function takes the value's address.
func (r *Resource) contents(typ reflect.Type) func(uri string, v any) (*ReadResult, error) {
	one := func(c ResourceContents) (*ReadResult, error) {
		c.MIMEType = r.mime
		return &ReadResult{Contents: []ResourceContents{c}}, nil
	}
	switch typ {
	case reflect.TypeFor[string]():
		return func(uri string, v any) (*ReadResult, error) {
			return one(ResourceContents{URI: uri, Text: *v.(*string)})
		}
	case reflect.TypeFor[[]byte]():
		return func(uri string, v any) (*ReadResult, error) {
			blob := *v.(*[]byte)
			if blob == nil {
				blob = []byte{}
			}
			return one(ResourceContents{URI: uri, Blob: blob})
		}
	case reflect.TypeFor[*ReadResult]():
		return func(_ string, v any) (*ReadResult, error) {
			if result := *v.(**ReadResult); result != nil {
				return result, nil
			}
			return nil, r.unreadable(errNilResult)
		}
	}
	for _, p := range jsonx.CheckType(typ) {
		if p.Encode {
			r.problems = append(r.problems, &RegistrationError{
				Feature: r.feature(), Type: typ.String(), Field: p.Path, Tag: p.Tag, Caller: r.site.String(), Err: errors.New(p.Reason),
			})
		}
	}
	if r.mime == "" {
		r.mime = "application/json"
	}
	return func(uri string, v any) (*ReadResult, error) {
		text, err := jsonx.Marshal(v)
		if err == nil && isNil(v, text) {
			err = errNilResult
		}
		if err != nil {
			return nil, r.unreadable(err)
		}
		return one(ResourceContents{URI: uri, Text: string(text)})
	}
}

// unreadable hides why what the handler returned cannot be sent.
func (r *Resource) unreadable(err error) error {
	return r.srv.unsendable("contents of "+r.feature(), err)
}

// resourcePlan is a resource ready to be read.
type resourcePlan struct {
	*Resource
	place uint64
	run   Handler // scope and resource middleware around fetch
}

func (p *resourcePlan) order() uint64 { return p.place }

// placesEach is how many entries of a list one registration may have: files
// are listed one by one.
const placesEach = 1 << 20

// compileResources makes the plans of r's resources.
func (snap *snapshot) compileResources(r *registry, single, templates *listing) {
	single.method, single.member, single.event = jsonrpc.MethodResourcesList, "resources", resourcesChanged
	templates.method, templates.member, templates.event = jsonrpc.MethodTemplatesList, "resourceTemplates", resourcesChanged
	snap.gates[wire.Resources] = snap.srv.opts.Dynamic
	snap.resources = make(map[string]*resourcePlan)
	for _, res := range r.resources {
		if res.disabled {
			continue
		}
		snap.gates[wire.Resources] = true
		p := &resourcePlan{Resource: res, place: res.seq * placesEach}
		p.run = chain(p.fetch, append(res.scope.all(), res.middlewares...)...)
		l := single
		switch {
		case res.template != nil:
			l = templates
			snap.templates = append(snap.templates, p)
			if completes(res.params, res.completers) {
				snap.gates[wire.Completions] = true
			}
		case res.tree != nil:
			snap.trees = append(snap.trees, p)
		default:
			snap.resources[res.uri] = p
		}
		if res.watchable {
			snap.gates[wire.Subscribe] = true
		}
		switch {
		case res.hidden:
		case res.tree != nil:
			l.items = append(l.items, p.entries()...)
		default:
			l.items = append(l.items, p)
		}
	}
}

// readResource answers resources/read.
func (snap *snapshot) readResource(ctx context.Context, req *Request) (any, error) {
	uri, ok := unquoted(req.msg.URI())
	if !ok {
		return nil, Errorf(CodeInvalidParams, "Invalid params: uri must be a string")
	}
	if err := checkURI(uri); err != nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: the uri %.200q %v", uri, err)
	}
	p := snap.resourceAt(ctx, uri)
	if p == nil {
		return nil, notFound(uri, req.rev)
	}
	req.resource.Store(p.Resource)
	req.feature.Store(&p.definition)
	if err := req.permit(&p.definition); err != nil {
		return nil, err
	}
	return p.run(ctx, req)
}

// resourceAt finds what answers for uri: a resource of that URI, else the
// first template that matches, else the first tree of files that has it.
func (snap *snapshot) resourceAt(ctx context.Context, uri string) *resourcePlan {
	visible := func(p *resourcePlan) bool {
		return snap.visible(ctx, func() Info { return p.infoAt(uri) })
	}
	if p := snap.resources[uri]; p != nil && visible(p) {
		return p
	}
	for _, p := range snap.templates {
		if _, ok := p.template.values(uri); ok && visible(p) {
			return p
		}
	}
	for _, p := range snap.trees {
		if _, ok := p.tree.find(uri); ok && visible(p) {
			return p
		}
	}
	return nil
}

// infoAt describes what of r is at uri: of a tree, the one file, under the URI
// that it is listed with, however the request has spelt it.
func (r *Resource) infoAt(uri string) Info {
	info := r.info()
	if r.tree == nil {
		return info
	}
	if name, ok := r.tree.name(uri); ok {
		info.Name, info.URI = name, r.tree.uri(name)
	}
	return info
}

// notFound is the answer to a URI that names nothing (MCP 2026-07-28,
// Resources › Error Handling).
func notFound(uri string, rev *wire.Revision) *Error {
	return &Error{Code: Code(rev.NotFound), Message: "Resource not found", own: true, Data: struct {
		URI string `json:"uri"`
	}{uri}}
}

// fetch runs the handler: the innermost Handler of a resource.
func (p *resourcePlan) fetch(ctx context.Context, req *Request) (_ any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = p.srv.panicked(p.feature(), v)
		}
	}()
	if err = req.openRound(); err != nil {
		return nil, err
	}
	uri, _ := unquoted(req.msg.URI())
	var vars []byte
	if p.template != nil {
		values, _ := p.template.values(uri)
		if vars, err = checkArgs(p.input, textJSON(p.params, values)); err != nil {
			return nil, err
		}
	}
	result, err := p.read(ctx, uri, vars)
	return req.closeRound(result, err)
}

// missing reports whether err says that r reads what does not exist.
func (r *Request) missing(err error) bool {
	if r.msg.Method != jsonrpc.MethodResourcesRead {
		return false
	}
	var args *ArgsError // of a template's variables
	return errors.Is(err, ErrNotFound) || errors.As(err, &args)
}

// appendMembers appends the members of r, without braces and _meta.
func (r *ReadResult) appendMembers(dst []byte, rev *wire.Revision) ([]byte, error) {
	if len(r.Contents) == 0 { // to a client that would be a resource which does not exist
		return dst, errors.New("there are no contents; return ErrNotFound if the resource does not exist")
	}
	dst = append(dst, `"contents":[`...)
	for i := range r.Contents {
		if i > 0 {
			dst = append(dst, ',')
		}
		c := &r.Contents[i]
		if c.URI == "" {
			return dst, fmt.Errorf("contents %d: the URI is missing", i)
		}
		var err error
		if dst, err = c.appendJSON(dst, rev); err != nil {
			return dst, fmt.Errorf("contents %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

// ResourceInfo is a resource as a client sees it in a list. Size is in bytes,
// nil when unknown.
type ResourceInfo struct {
	URI         string       `json:"uri"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"`
	Size        *int64       `json:"size,omitempty"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// TemplateInfo is a resource template as a client sees it in a list.
type TemplateInfo struct {
	URITemplate string       `json:"uriTemplate"`
	Name        string       `json:"name"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	MIMEType    string       `json:"mimeType,omitempty"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Meta        Meta         `json:"_meta,omitempty"`
}

// describe returns the resource's entry in its list as rev has it.
func (p *resourcePlan) describe(rev *wire.Revision) ResourceInfo {
	out := ResourceInfo{URI: p.uri, Name: p.name, Description: p.desc, MIMEType: p.mime, Size: p.size}
	if p.annotations != nil {
		a := p.annotations.in(rev)
		out.Annotations = &a
	}
	if rev.Titles {
		out.Title, out.Meta = p.title, p.meta
	}
	if rev.Icons {
		out.Icons = p.listedIcons
	}
	return out
}

func (p *resourcePlan) encode(rev *wire.Revision) json.RawMessage {
	out := p.describe(rev)
	if p.template == nil {
		return mustEncode(&out, &p.definition)
	}
	return mustEncode(&TemplateInfo{
		URITemplate: out.URI, Name: out.Name, Title: out.Title, Description: out.Description, MIMEType: out.MIMEType,
		Annotations: out.Annotations, Icons: out.Icons, Meta: out.Meta,
	}, &p.definition)
}
