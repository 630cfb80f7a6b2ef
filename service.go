package mcp

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ToolTag marks a method of a service as a tool, in the tag of a blank field
// of the service's struct:
//
//	type Docs struct {
//		_ mcp.ToolTag `method:"List" name:"list" desc:"List documents" tags:"readonly" params:"category=Which ones;page=From 1"`
//		…
//	}
//
// method is the Go method, name and desc what the tool is called and does,
// tags as for Tool.Tags. params names the method's parameters in order, each
// with a description behind the equals sign, if any; a semicolon within a
// description is written \\; in the tag. A method with a single struct
// parameter needs no params.
type ToolTag struct{}

// ScopeTag, in the tag of a blank field, puts the tools of a service into a
// scope: all names get the prefix of its tag scope:"auth". See Scope.
type ScopeTag struct{}

// AddService registers the methods of svc, a pointer to a struct, that the
// struct's blank marker fields name; other methods stay private. It registers
// all of them or, if anything is wrong with one, none, and Check reports every
// mistake. The handles are in the order of the markers.
func AddService(r Registrar, svc any) []*Tool {
	at := r.target()
	site := callerSite()
	var problems []error
	bad := func(err error) {
		problems = append(problems, &RegistrationError{
			Feature: "service", Type: fmt.Sprintf("%T", svc), Caller: site.String(), Err: err,
		})
	}
	tools := at.service(svc, bad)
	names := make(map[string]bool)
	for _, t := range tools {
		for _, p := range t.problems {
			problems = append(problems, p)
		}
		if names[t.name] {
			bad(fmt.Errorf("two markers name the %s", t.feature()))
		}
		names[t.name] = true
	}
	at.reg.mutate("service", func() {
		for _, t := range tools {
			if first := at.reg.byName[kindTool+" "+t.name]; first != nil {
				bad(fmt.Errorf("%s: the name is already taken by the tool registered at %s", t.feature(), first.site))
			}
		}
		at.reg.problems = append(at.reg.problems, problems...)
		if problems != nil {
			return
		}
		for _, t := range tools {
			at.reg.addTool(t)
		}
	})
	return tools
}

// service makes the tools that the markers of svc ask for, without
// registering them.
func (at target) service(svc any, bad func(error)) []*Tool {
	v := reflect.ValueOf(svc)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		bad(errors.New("a service is a non-nil pointer to a struct with marker fields"))
		return nil
	}
	typ := v.Elem().Type()
	var tools []*Tool
	var markers []reflect.StructTag
	for i := range typ.NumField() {
		switch f := typ.Field(i); f.Type {
		case reflect.TypeFor[ScopeTag]():
			prefix := f.Tag.Get("scope")
			if err := checkMarker(f.Tag, "scope"); err != nil {
				bad(fmt.Errorf("the marker ScopeTag `%s`: %w", f.Tag, err))
				continue
			}
			at.scope = &Scope{srv: at.srv, reg: at.reg, parent: at.scope, prefix: prefix}
		case reflect.TypeFor[ToolTag]():
			if err := checkMarker(f.Tag, "method", "name", "desc", "tags", "params"); err != nil {
				bad(fmt.Errorf("the marker ToolTag `%s`: %w", f.Tag, err))
			}
			markers = append(markers, f.Tag)
		}
	}
	if markers == nil {
		bad(errors.New("the struct has no marker field of type ToolTag"))
	}
	for _, tag := range markers {
		t := newTool(scoped(at), tag.Get("name"), tag.Get("desc"))
		if method := tag.Get("method"); method != "" {
			t.method(svc, method, markerParams(tag))
		}
		t.Tags(tag.Get("tags"))
		tools = append(tools, t)
	}
	return tools
}

// checkMarker holds the tag of a marker to the keys it may have. The first is
// needed.
func checkMarker(tag reflect.StructTag, keys ...string) error {
	rest := string(tag)
	for {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			break
		}
		key, value, _ := strings.Cut(rest, ":")
		quoted, err := strconv.QuotedPrefix(value)
		switch {
		case err != nil || key == "" || quoted[0] != '"':
			return errors.New(`a marker's tag is a list of key:"value"`)
		case !slices.Contains(keys, key):
			return fmt.Errorf("the key %q is none of %q", key, keys)
		}
		rest = value[len(quoted):]
	}
	if tag.Get(keys[0]) == "" {
		return fmt.Errorf("it needs the key %q", keys[0])
	}
	return nil
}

// scoped is the Registrar of a target.
func scoped(at target) Registrar {
	if at.scope != nil {
		return at.scope
	}
	return at.srv
}

// markerParams reads the params of a marker.
func markerParams(tag reflect.StructTag) []Param {
	var params []Param
	for _, entry := range splitEntries(tag.Get("params"), ';') {
		name, desc, _ := strings.Cut(entry, "=")
		params = append(params, Arg(strings.TrimSpace(name), strings.TrimSpace(desc)))
	}
	return params
}
