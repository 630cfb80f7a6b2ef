package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/typedmcp/mcp"
)

// scoped is a server of which everything requires the scopes files:read and admin.
func scoped() *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "t", "", returning[struct{}]("called")).RequireScopes("files:read", "admin").RequireScopes("admin")
	mcp.AddPrompt(s, "p", "", returning[idArgs]("got")).Complete("id", noValues).RequireScopes("files:read", "admin")
	mcp.AddText(s, "r://x", "x", "", "read").Watchable().RequireScopes("files:read", "admin")
	mcp.AddTemplate(s, "t://{id}", "t", returning[idArgs]("read")).RequireScopes("files:read", "admin")
	mcp.AddFS(s, "f:///", fstest.MapFS{"a": file("read")}).RequireScopes("files:read", "admin")
	return s
}

// scopedRequests use each of them.
var scopedRequests = map[string]string{
	"a tool": modernCall("1", "t", `{}`), "a prompt": getPrompt("1", "p", `{"id":"1"}`), "a resource": readRequest("1", "r://x"),
	"a template": readRequest("1", "t://1"), "a file": readRequest("1", "f:///a"),
	"the completion of a prompt":   completeRequest(`{"type":"ref/prompt","name":"p"}`, "id", ""),
	"the completion of a template": completeRequest(`{"type":"ref/resource","uri":"t://{id}"}`, "id", ""),
}

func TestRequireScopes(t *testing.T) {
	t.Parallel()
	s := scoped()
	h := newHandler(t, s, modernOnly)
	by := func(p *mcp.Principal, r *http.Request) *http.Request {
		return r.WithContext(mcp.WithPrincipal(r.Context(), p))
	}
	for name, line := range scopedRequests {
		t.Run("M24 AUS-12 AUS-13 "+name, func(t *testing.T) {
			t.Parallel()
			for who, p := range map[string]*mcp.Principal{
				"nobody": nil, "one without scopes": {Subject: "a"}, "one with one of them": {Subject: "a", Scopes: []string{"admin", "files"}},
			} {
				r := modernPost(line)
				if p != nil {
					r = by(p, r)
				}
				a := exchange(t, h, r)
				e := a.expectError(t, http.StatusForbidden, mcp.CodeInvalidRequest, "1")
				if got, want := a.header.Get("WWW-Authenticate"), `Bearer error="insufficient_scope", scope="files:read admin"`; got != want || !strings.Contains(e.Message, `"files:read" "admin"`) {
					t.Errorf("%s: %s, %s", who, got, e.Message)
				}
			}
			all := &mcp.Principal{Subject: "a", Scopes: []string{"admin", "other", "files:read"}}
			a := exchange(t, h, by(all, modernPost(line)))
			if m := a.message(t); a.status != 200 || m.Error != nil {
				t.Errorf("with all of them: %d %s", a.status, a.body)
			}
			resultIn(t, ask(t, s, line)) // on a pipe: the local user
		})
		t.Run("M24 on a pipe with a principal, "+name, func(t *testing.T) {
			t.Parallel()
			c := newScriptConn()
			ctx, stop := context.WithCancel(mcp.WithPrincipal(context.Background(), &mcp.Principal{Subject: "a", Scopes: []string{"admin"}}))
			served := c.serve(ctx, s)
			c.in <- step{msg: line}
			if e := faultIn(t, receive(t, c.out)); e.Code != mcp.CodeInvalidRequest || !strings.Contains(e.Message, "files:read") {
				t.Errorf("%+v", e)
			}
			stop()
			<-served
		})
	}
	t.Run("M24 what requires scopes is listed", func(t *testing.T) {
		t.Parallel()
		for method, member := range map[string]string{
			"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
		} {
			if a := exchange(t, h, modernPost(modernRequest("1", method))); len(listIn(t, a.body, member)) == 0 {
				t.Errorf("%s: %s", method, a.body)
			}
		}
	})
	t.Run("M24 SUB-05 what requires scopes is not watched without", func(t *testing.T) {
		t.Parallel()
		for scopes, want := range map[string]string{"admin": `"notifications":{}`, "admin files:read": `"notifications":{"resourceSubscriptions":["r://x"]}`} {
			c := newScriptConn()
			ctx, stop := context.WithCancel(mcp.WithPrincipal(context.Background(), &mcp.Principal{Subject: "a", Scopes: strings.Fields(scopes)}))
			served := c.serve(ctx, s)
			c.in <- step{msg: modernRequest("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["r://x"]}`)}
			if line := receive(t, c.out); !strings.Contains(line, want) {
				t.Errorf("with %s: %s", scopes, line)
			}
			stop()
			<-served
		}
	})
	t.Run("M24 an unknown tool is unknown first", func(t *testing.T) {
		t.Parallel()
		exchange(t, h, modernPost(modernCall("1", "nosuch", `{}`))).expectError(t, 200, mcp.CodeInvalidParams, "1")
	})
	t.Run("M24 legacy clients too", func(t *testing.T) {
		t.Parallel()
		both := newHandler(t, scoped(), &mcp.HTTPOptions{Legacy: mcp.LegacyStateless})
		a := exchange(t, both, httpPost(legacyCall("1", "t", `{}`), "MCP-Protocol-Version: 2025-06-18"))
		if a.status != http.StatusForbidden {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
	for name, scopes := range map[string][]string{"with a space": {"a b"}, "with a quote": {`a"`}, "that is empty": {""}, "beyond ASCII": {"ä"}} {
		t.Run("M24 a scope "+name+" is a problem", func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddTool(s, "t", "", returning[struct{}]("")).RequireScopes(scopes...)
			expectProblem(t, s, "is not one of OAuth")
		})
	}
	t.Run("M24 none at all is a problem", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddPrompt(s, "p", "", returning[struct{}]("")).RequireScopes()
		expectProblem(t, s, "names no scope")
	})
	t.Run("CCH-05 M24 a public cache of what requires scopes is a problem", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{ListCache: map[string]mcp.Cache{"resources/read": {Public: true}}})
		mcp.AddText(s, "r://x", "x", "", "").RequireScopes("a")
		expectProblem(t, s, "without the scopes it requires")
	})
}
