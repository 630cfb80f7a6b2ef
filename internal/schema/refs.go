package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// identify notes the names by which others may refer to v, and the base of
// the references below it.
func (r *reader) identify(v *vertex, at *place) {
	if r.resources == nil {
		r.resources = map[string]*vertex{rootBase.String(): v}
		r.anchors = map[string]*vertex{}
		r.dynamic = map[string][]*vertex{}
	}
	alone := r.dialect.refAlone && v.doc.members["$ref"] != nil
	if id := v.doc.members["$id"]; id != nil && id.kind == '"' && !alone {
		r.id(v, at, id.string())
	}
	for _, name := range []string{"$anchor", "$dynamicAnchor"} {
		a := v.doc.members[name]
		if a == nil || a.kind != '"' || r.dialect.keywords[name].form != stringForm {
			continue
		}
		r.anchor(v, at.base, name, a.string())
		if name == "$dynamicAnchor" {
			r.dynamic[a.string()] = append(r.dynamic[a.string()], v)
		}
	}
	if s := v.doc.members["$schema"]; s != nil && v.pointer != "" && dialects[unquote(s.text)] != r.dialect {
		r.problem(v.pointer, "$schema", "names another dialect than the root")
	}
}

func (r *reader) id(v *vertex, at *place, id string) {
	u, err := url.Parse(id)
	if err != nil {
		r.problem(v.pointer, "$id", "is no URI reference")
		return
	}
	u = at.base.ResolveReference(u)
	if u.Fragment != "" {
		if r.dialect != draft07 {
			r.problem(v.pointer, "$id", "must have no fragment: use $anchor")
			return
		}
		r.anchor(v, at.base, "$id", u.Fragment)
		if strings.HasPrefix(id, "#") {
			return
		}
	}
	u.Fragment = ""
	if other := r.resources[u.String()]; other != nil && other != v {
		r.problem(v.pointer, "$id", "repeats that at #%s", other.pointer)
		return
	}
	r.resources[u.String()] = v
	at.base, v.base = u, u
}

func (r *reader) anchor(v *vertex, base *url.URL, keyword, name string) {
	key := base.String() + "#" + name
	if r.anchors[key] != nil {
		r.problem(v.pointer, keyword, "repeats %s", quote(name))
		return
	}
	r.anchors[key] = v
}

// resolve links every reference to its target. None is ever fetched: a target
// is in the same document or there is none (MCP 2026-07-28, Overview › $ref).
func (r *reader) resolve() {
	for _, v := range r.order {
		if ref := v.doc.members["$ref"]; ref != nil && ref.kind == '"' {
			r.refer(v, "$ref", ref.string())
		}
		if ref := v.doc.members["$dynamicRef"]; ref != nil && ref.kind == '"' && r.dialect == draft2020 {
			r.refer(v, "$dynamicRef", ref.string())
			if _, name, ok := strings.Cut(ref.string(), "#"); ok {
				for _, to := range r.dynamic[name] {
					v.edges = append(v.edges, link{sameValue, to, "$dynamicRef"})
				}
			}
		}
	}
}

func (r *reader) refer(v *vertex, keyword, ref string) {
	to := r.target(v, ref)
	if to == nil {
		r.problem(v.pointer, keyword, "refers to %s, which is no schema in this document; other documents are never fetched", quote(ref))
		return
	}
	v.edges = append(v.edges, link{sameValue, to, keyword})
	switch {
	case keyword == "$ref" && !v.narrows:
		*v.node = node{types: anyType, ref: to.node}
	default:
		v.partial, r.partial = true, true
	}
}

func (r *reader) target(v *vertex, ref string) *vertex {
	u, err := url.Parse(ref)
	if err != nil {
		return nil
	}
	u = v.base.ResolveReference(u)
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	resource := r.resources[u.String()]
	switch {
	case resource == nil:
		return nil
	case fragment == "":
		return resource
	case fragment[0] != '/':
		return r.anchors[u.String()+"#"+fragment]
	}
	doc := resource.doc
	for step := range strings.SplitSeq(fragment[1:], "/") {
		step = pointerUnescapes.Replace(step)
		if doc = doc.child(step); doc == nil {
			return nil
		}
	}
	return r.schemas[doc]
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

func (d *document) child(step string) *document {
	if d.kind == '{' {
		return d.members[step]
	}
	i, err := strconv.Atoi(step)
	if d.kind != '[' || err != nil || i < 0 || i >= len(d.values) {
		return nil
	}
	return d.values[i]
}
