package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// appMIMEType is the media type of a page of MCP Apps.
const appMIMEType = "text/html;profile=mcp-app"

// appExtension names the extension MCP Apps.
const appExtension = "io.modelcontextprotocol/ui"

// AppPage is a user interface for the results of tools (MCP Apps): an HTML5
// page that hosts show in a sandbox.
type AppPage struct {
	// HTML returns the page.
	HTML func(ctx context.Context) (string, error)
	// CSP lists what the page may load; the zero value is nothing.
	CSP AppCSP
	// Permissions are those of camera, microphone, geolocation and
	// clipboardWrite that the page asks for.
	Permissions []string
	// Domain is an origin of its own for the page, "" for the host's choice.
	Domain string
	// Border says whether the page wants a border; nil leaves it to the host.
	Border *bool
}

// AppCSP lists the origins, such as "https://api.example.com", that a page may
// connect to, load images, scripts and styles from, show in frames, and use as
// its base.
type AppCSP struct {
	Connect  []string `json:"connectDomains,omitempty"`
	Resource []string `json:"resourceDomains,omitempty"`
	Frame    []string `json:"frameDomains,omitempty"`
	BaseURI  []string `json:"baseUriDomains,omitempty"`
}

// AddApp registers a user interface under a URI of the scheme ui. Tools point
// to it with Tool.App. Hosts without MCP Apps show what such a tool returns,
// which has to make sense by itself; whether the client is one that shows apps
// is what Can says.
func AddApp(r Registrar, uri, name string, page AppPage) *Resource {
	res := newResource(r, kindResource, uri, name)
	res.mime, res.app = appMIMEType, true
	if !strings.HasPrefix(uri, "ui://") {
		res.problem("", fmt.Errorf("the app's URI %.80q does not start with ui://", uri))
	}
	if page.HTML == nil {
		res.problem("HTML", errors.New("the function is nil"))
	}
	meta := page.meta(res)
	res.read = func(ctx context.Context, uri string, _ []byte) (*ReadResult, error) {
		html, err := page.HTML(ctx)
		if err == nil && !isHTML5(html) {
			err = res.unreadable(errors.New("the page does not begin with <!DOCTYPE html>"))
		}
		if err != nil {
			return nil, err
		}
		return &ReadResult{Contents: []ResourceContents{{URI: uri, MIMEType: appMIMEType, Text: html, Meta: meta}}}, nil
	}
	return res.register()
}

// isHTML5 reports whether a page is a document of HTML5 (MCP Apps › Content
// Requirements), as far as its beginning says.
func isHTML5(page string) bool {
	page = strings.TrimLeft(strings.TrimPrefix(page, "\ufeff"), " \t\r\n\f")
	for strings.HasPrefix(page, "<!--") {
		_, after, closed := strings.Cut(page, "-->")
		if !closed {
			return false
		}
		page = strings.TrimLeft(after, " \t\r\n\f")
	}
	const doctype = "<!doctype html"
	return len(page) >= len(doctype) && strings.EqualFold(page[:len(doctype)], doctype)
}

// checkApps finds tools that point to an app which is not there, such that
// tell nothing to hosts without apps, and what is wrong with their _meta.
func (r *registry) checkApps() (problems, warnings []*RegistrationError) {
	for _, t := range r.tools {
		if err := t.checkAppMeta(); err != nil {
			problems = append(problems, t.finding("the _meta key %q: %w", "ui", err))
		}
		if t.app == "" || t.disabled {
			continue
		}
		if !r.serves(t.app) {
			warnings = append(warnings, t.finding("there is no resource %q, so that hosts cannot show its app; register one with AddApp", t.app))
		}
		if t.resultType != nil && t.shape == shapeEmpty {
			warnings = append(warnings, t.finding("its result is empty, so that hosts which show no apps have nothing to tell the model"))
		}
	}
	return problems, warnings
}

// checkAppMeta holds what Tool.Meta says of an app to what hosts act on (MCP
// Apps › Visibility): of a word that they do not know they may make anything.
func (t *Tool) checkAppMeta() error {
	raw := t.meta["ui"]
	if raw == nil {
		return nil
	}
	var ui struct {
		Resource   string   `json:"resourceUri"`
		Visibility []string `json:"visibility"`
	}
	if err := jsonx.Unmarshal(raw, &ui); err != nil {
		return errors.New(`it is no object with the string resourceUri and the list visibility`)
	}
	if t.app != "" && ui.Resource != t.app {
		return fmt.Errorf("the resourceUri is %q and not the app %q", ui.Resource, t.app)
	}
	for _, who := range ui.Visibility {
		if who != "model" && who != "app" {
			return fmt.Errorf(`the visibility %q is neither "model" nor "app"`, who)
		}
	}
	return nil
}

var appPermissions = []string{"camera", "microphone", "geolocation", "clipboardWrite"}

// origin matches what may stand in a policy (CSP): anything else could say
// more than it seems to.
var origin = regexp.MustCompile(`^(https?|wss?)://((\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// meta is the _meta of the page's contents; nil when there is nothing to say.
func (p *AppPage) meta(r *Resource) Meta {
	for _, origins := range [][]string{p.CSP.Connect, p.CSP.Resource, p.CSP.Frame, p.CSP.BaseURI} {
		for _, o := range origins {
			if !origin.MatchString(o) {
				r.problem("CSP", fmt.Errorf("%q is no origin; write it as https://api.example.com", o))
			}
		}
	}
	permissions := make(map[string]struct{})
	for _, name := range p.Permissions {
		if !slices.Contains(appPermissions, name) {
			r.problem("Permissions", fmt.Errorf("%q is none of %q", name, appPermissions))
		}
		permissions[name] = struct{}{}
	}
	ui := struct {
		CSP         *AppCSP             `json:"csp,omitempty"`
		Permissions map[string]struct{} `json:"permissions,omitempty"`
		Domain      string              `json:"domain,omitempty"`
		Border      *bool               `json:"prefersBorder,omitempty"`
	}{Permissions: permissions, Domain: p.Domain, Border: p.Border}
	if c := p.CSP; c.Connect != nil || c.Resource != nil || c.Frame != nil || c.BaseURI != nil {
		ui.CSP = &c
	}
	raw, err := jsonx.Marshal(&ui)
	if err != nil || string(raw) == "{}" {
		return nil
	}
	return Meta{"ui": raw}
}
