package mcp

import (
	"net/http"
	"net/url"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/oauth"
)

// MetadataHandler serves the document by which clients find out where to get
// tokens for the server (RFC 9728): at the well-known address with the path of
// Resource, as in /.well-known/oauth-protected-resource/mcp, and at the one
// without. All else is not found, so that it may be mounted at / as well.
// Scripts of all web pages may read it. Without Resource, nothing is there.
//
// ListenAndServe serves it by itself; do it yourself beside HTTPHandler.
func (a *Auth) MetadataHandler() http.Handler {
	if a.Resource == "" {
		return http.NotFoundHandler()
	}
	if err := a.check(); err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		})
	}
	doc, _ := jsonx.Marshal(&oauth.ResourceMetadata{ // strings cannot fail
		Resource: a.Resource, Servers: a.Servers, Scopes: a.Scopes, Methods: []string{"header"},
	})
	at := make(map[string]bool)
	inserted, root, _ := oauth.MetadataURLs(a.Resource) // check has parsed it
	for _, address := range []string{inserted, root} {
		if u, err := url.Parse(address); err == nil {
			at[u.EscapedPath()] = true
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !at[r.URL.EscapedPath()] {
			http.NotFound(w, r)
			return
		}
		serveMetadata(w, r, doc)
	})
}

// serveMetadata serves a public document to everybody, the scripts of all web
// pages among them.
func serveMetadata(w http.ResponseWriter, r *http.Request, doc []byte) {
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		head.Set("Cache-Control", "public, max-age=300")
		writeJSON(w, http.StatusOK, doc)
	case http.MethodOptions:
		head.Set("Access-Control-Allow-Methods", "GET, HEAD")
		head.Set("Access-Control-Allow-Headers", "MCP-Protocol-Version")
		head.Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(http.StatusNoContent)
	default:
		head.Set("Allow", "GET, HEAD, OPTIONS")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}
