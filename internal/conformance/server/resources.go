package main

import (
	"context"

	"github.com/typedmcp/mcp"
)

// templateParams are the variables of the template.
type templateParams struct {
	ID string `json:"id"`
}

// templateData is what the template's resources hold.
type templateData struct {
	ID   string `json:"id"`
	Data string `json:"data"`
}

// addResources adds resources of every kind of contents, one that can be
// watched, and a template.
func addResources(s *mcp.Server) {
	mcp.AddText(s, "test://static-text", "static text", "text/plain", "This is the content of the static text resource.").
		Desc("A resource of text")
	mcp.AddResource(s, "test://static-binary", "static binary", func(context.Context) ([]byte, error) { return redPixel() }).
		Desc("A resource of bytes").MIME("image/png")
	mcp.AddTemplate(s, "test://template/{id}/data", "template", func(_ context.Context, p templateParams) (templateData, error) {
		return templateData{ID: p.ID, Data: "Data for ID: " + p.ID}, nil
	}).Desc("Resources by id")
	mcp.AddText(s, "test://watched-resource", "watched", "text/plain", "Watched resource content").
		Desc("A resource to watch").Watchable()
}
