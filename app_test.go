package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// page returns an app's page that is always the same.
func htmlPage(html string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return html, nil }
}

const helloPage = "<!DOCTYPE html><title>Hello</title><p>Hello"

func TestAppPages(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "plan", "Show a plan", returning[struct{}]("the plan")).App("ui://plan")
	mcp.AddApp(s, "ui://plan", "plan", mcp.AppPage{
		HTML: htmlPage(helloPage),
		CSP: mcp.AppCSP{
			Connect: []string{"https://api.example.com", "wss://live.example.com:8443"}, Resource: []string{"https://*.example.com"},
			Frame: []string{"http://localhost:3000"}, BaseURI: []string{"https://[::1]:8080"},
		},
		Permissions: []string{"camera", "clipboardWrite"}, Domain: "plan.example.com", Border: ptr(false),
	}).Title("Plan").Hidden()
	mcp.AddApp(s, "ui://bare", "bare", mcp.AppPage{HTML: htmlPage("\ufeff <!-- x -->\n<!doctype HTML>")})
	t.Run("APP-06 M8 the tool points to it", func(t *testing.T) {
		t.Parallel()
		want := `"_meta":{"ui":{"resourceUri":"ui://plan"}}`
		if got := entries(t, ask(t, s, modernRequest("1", "tools/list"))); !strings.Contains(got[0], want) || strings.Contains(got[0], "ui/resourceUri") {
			t.Errorf("%s", got)
		}
	})
	t.Run("APP-04 APP-05 APP-10 M8 the page, and what it needs", func(t *testing.T) {
		t.Parallel()
		const want = `[{"uri":"ui://plan","mimeType":"text/html;profile=mcp-app","text":"<!DOCTYPE html><title>Hello</title><p>Hello","_meta":{"ui":{` +
			`"csp":{"connectDomains":["https://api.example.com","wss://live.example.com:8443"],"resourceDomains":["https://*.example.com"],"frameDomains":["http://localhost:3000"],"baseUriDomains":["https://[::1]:8080"]},` +
			`"permissions":{"camera":{},"clipboardWrite":{}},"domain":"plan.example.com","prefersBorder":false}}}]`
		if got := string(resultIn(t, ask(t, s, readRequest("1", "ui://plan")))["contents"]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("APP-05 APP-10 M8 a page that needs nothing", func(t *testing.T) {
		t.Parallel()
		if got := contentsIn(t, ask(t, s, readRequest("1", "ui://bare")))[0]; got.MIMEType != "text/html;profile=mcp-app" || got.Meta != nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("APP-08 M8 a tool that only the page is to call", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", returning[struct{}]("")).App("ui://x").Meta("ui", map[string]any{"resourceUri": "ui://x", "visibility": []string{"app"}})
		want := `"_meta":{"ui":{"resourceUri":"ui://x","visibility":["app"]}}`
		if got := entries(t, ask(t, s, modernRequest("1", "tools/list"))); !strings.Contains(got[0], want) {
			t.Errorf("%s", got)
		}
	})
	t.Run("APP-07 it may be left out of the list", func(t *testing.T) {
		t.Parallel()
		got := listIn(t, ask(t, s, modernRequest("1", "resources/list")), "resources")
		if want := `[{"uri":"ui://bare","name":"bare","mimeType":"text/html;profile=mcp-app"}]`; fmt.Sprint(got) != want {
			t.Errorf("%s", got)
		}
	})
	t.Run("APP-04 APP-05 RES-05 M8 a page that fails", func(t *testing.T) {
		t.Parallel()
		for name, page := range map[string]func(context.Context) (string, error){
			"with an error":  func(context.Context) (string, error) { return "", errors.New("no paint") },
			"being empty":    htmlPage(""),
			"being a part":   htmlPage("<p>Hello"),
			"being a remark": htmlPage("<!-- <!doctype html>"),
		} {
			s := mcp.NewServer("s", "1", nil)
			mcp.AddApp(s, "ui://x", "x", mcp.AppPage{HTML: page})
			if e := faultIn(t, ask(t, s, readRequest("1", "ui://x"))); e.Code != mcp.CodeInternalError {
				t.Errorf("%s: %+v", name, e)
			}
		}
	})
}

func TestAppProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		add  func(s *mcp.Server)
		want string
	}{
		{"another scheme", func(s *mcp.Server) { mcp.AddApp(s, "https://x", "x", mcp.AppPage{HTML: htmlPage("")}) }, "does not start with ui://"},
		{"no page", func(s *mcp.Server) { mcp.AddApp(s, "ui://x", "x", mcp.AppPage{}) }, "the function is nil"},
		{"another media type", func(s *mcp.Server) {
			mcp.AddApp(s, "ui://x", "x", mcp.AppPage{HTML: htmlPage("")}).MIME("text/html")
		}, "text/html;profile=mcp-app and nothing else"},
		{"a permission that is none", func(s *mcp.Server) {
			mcp.AddApp(s, "ui://x", "x", mcp.AppPage{HTML: htmlPage(""), Permissions: []string{"usb"}})
		}, `"usb" is none of`},
		{"APP-06 a tool whose _meta points elsewhere", func(s *mcp.Server) {
			mcp.AddTool(s, "t", "", returning[struct{}]("")).App("ui://x").Meta("ui", map[string]any{"visibility": []string{"app"}})
		}, `the resourceUri is "" and not the app "ui://x"`},
		{"APP-08 a visibility that is none", func(s *mcp.Server) {
			mcp.AddTool(s, "t", "", returning[struct{}]("")).Meta("ui", map[string]any{"resourceUri": "ui://x", "visibility": []string{"model", "user"}})
		}, `the visibility "user" is neither "model" nor "app"`},
		{"APP-08 a visibility that is no list", func(s *mcp.Server) {
			mcp.AddTool(s, "t", "", returning[struct{}]("")).Meta("ui", map[string]any{"resourceUri": "ui://x", "visibility": "app"})
		}, "the list visibility"},
		{"a tool's app that is no app", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}]("")).App("https://x") }, "does not start with ui://"},
	} {
		t.Run("APP-04 APP-10 M8 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.add(s)
			expectProblem(t, s, tt.want)
		})
	}
	for _, o := range []string{
		"", "*", "api.example.com", "https://", "https://a.example.com/", "https://a.example.com/path", "https://a.example.com?x", "https://a.example.com; script-src *", "https://a.example.com;x",
		"https://a b", "'self'", "data:", "javascript://x", "https://user@a.example.com", "https://a.example.com:port", "https://*.*.com", "https://a..com",
	} {
		t.Run(fmt.Sprintf("APP-10 M8 no origin: %q", o), func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddApp(s, "ui://x", "x", mcp.AppPage{HTML: htmlPage(""), CSP: mcp.AppCSP{Frame: []string{o}}})
			expectProblem(t, s, "is no origin")
		})
	}
	warnings := func(s func(*mcp.Server)) string {
		var log logBook
		server := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: log.logger()})
		s(server)
		if err := server.Check(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(log.records(t, slog.LevelWarn))
	}
	app := func(s *mcp.Server) *mcp.Resource {
		return mcp.AddApp(s, "ui://x", "x", mcp.AppPage{HTML: htmlPage(helloPage)})
	}
	for _, tt := range []struct {
		name string
		add  func(s *mcp.Server)
		want string // "": no warning
	}{
		{"APP-04 a tool without its app", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}]("x")).App("ui://x") }, `there is no resource "ui://x"`},
		{"APP-04 a tool with a disabled app", func(s *mcp.Server) {
			mcp.AddTool(s, "t", "", returning[struct{}]("x")).App("ui://x")
			app(s).Disabled()
		}, `there is no resource "ui://x"`},
		{"APP-04 a tool with its app", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}]("x")).App("ui://x"); app(s) }, ""},
		{"APP-03 a tool that says nothing", func(s *mcp.Server) {
			mcp.AddTool(s, "t", "", returning[struct{}](struct{}{})).App("ui://x")
			app(s)
		}, "its result is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := warnings(tt.add)
			if tt.want == "" && got != "[]" || !strings.Contains(got, tt.want) {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestExtensionNegotiation shows which extensions a server declares, and what it knows of those of its clients.
func TestExtensionNegotiation(t *testing.T) {
	t.Parallel()
	declared := func(s *mcp.Server) string {
		return string(resultIn(t, ask(t, s, modernRequest("1", "server/discover")))["capabilities"])
	}
	type settings struct {
		Depth int `json:"depth"`
	}
	for _, tt := range []struct {
		name string
		set  func(s *mcp.Server)
		want string
	}{
		{"EXT-04 APP-01 none by default", func(*mcp.Server) {}, `{"tools":{}}`},
		{"EXT-03 APP-01 M8 apps, by one", func(s *mcp.Server) { mcp.AddApp(s, "ui://x", "x", mcp.AppPage{HTML: htmlPage(helloPage)}) }, `{"tools":{},"resources":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`},
		{"EXT-03 APP-01 M8 apps, by a tool", func(s *mcp.Server) { mcp.AddTool(s, "u", "", returning[struct{}]("")).App("ui://x") }, `{"tools":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := withTool("")
			tt.set(s)
			if got := declared(s); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("EXT-03 those of the options, with their settings", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Extensions: map[string]any{"com.example/a": nil, "com.example/b": settings{3}}})
		if got, want := declared(s), `{"extensions":{"com.example/a":{},"com.example/b":{"depth":3}}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	for _, id := range []string{"", "a", "/a", "com.example/", "com example/a", "com.example/a/b"} {
		t.Run(fmt.Sprintf("EXT-01 the id %q is a problem", id), func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Extensions: map[string]any{id: nil}})
			if id != "com.example/" { // an empty name is one
				expectProblem(t, s, fmt.Sprintf("extension %q", id))
			}
		})
	}
	t.Run("EXT-05 settings that are no object are a problem", func(t *testing.T) {
		t.Parallel()
		for _, v := range []any{1, "x", []int{1}, func() {}} {
			expectProblem(t, mcp.NewServer("s", "1", &mcp.ServerOptions{Extensions: map[string]any{"com.example/a": v}}), `extension "com.example/a"`)
		}
	})
	t.Run("EXT-03 EXT-05 those of a client, unless their settings are malformed", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
			return fmt.Sprint(mcp.Can(ctx, "com.example/x")), nil
		})
		for declared, want := range map[string]string{`{}`: "false", `{"com.example/x":{}}`: "true", `{"com.example/x":{"a":1}}`: "true", `{"com.example/X":{}}`: "false",
			`{"com.example/x":7}`: "false", `{"com.example/x":null}`: "false", `{"com.example/x":[]}`: "false", `{"com.example/x":"{}"}`: "false"} {
			line := plainRequest("1", "tools/call", callParams("t", "{}"), fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":%s}}`, declared))
			if got := ask(t, s, line); !strings.Contains(got, `"text":"`+want+`"`) {
				t.Errorf("%s: %s", declared, got)
			}
		}
	})
	t.Run("EXT-02 what cannot do without an extension refuses clients that lack it, and names it", func(t *testing.T) {
		t.Parallel()
		lacking := func(ctx context.Context, _ struct{}) (struct{}, error) {
			if mcp.Can(ctx, "com.example/x") {
				return struct{}{}, nil
			}
			return struct{}{}, &mcp.Error{Code: mcp.CodeMissingCapability, Message: "needs com.example/x", Data: map[string]any{
				"requiredCapabilities": map[string]any{"extensions": map[string]any{"com.example/x": struct{}{}}},
			}}
		}
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", lacking)
		mcp.HandleMethod(s, "com.example/m", lacking)
		h := newHandler(t, s, modernOnly)
		for _, line := range []string{modernCall("1", "t", "{}"), modernRequest("1", "com.example/m")} {
			e := exchange(t, h, modernPost(line)).expectError(t, http.StatusBadRequest, mcp.CodeMissingCapability, "1")
			if want := `{"requiredCapabilities":{"extensions":{"com.example/x":{}}}}`; string(e.Data) != want {
				t.Errorf("%s", e.Data)
			}
			with := strings.Replace(line, `clientCapabilities":{}`, `clientCapabilities":{"extensions":{"com.example/x":{}}}`, 1)
			if a := exchange(t, h, modernPost(with)); a.status != 200 || a.message(t).Error != nil {
				t.Errorf("with it: %d %s", a.status, a.body)
			}
		}
	})
	for _, tt := range []struct{ name, extensions, want string }{
		{"APP-02 EXT-02 a client with apps", `{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}`, "with an app"},
		{"APP-02 EXT-02 a client without", `{}`, "in words"},
		{"APP-02 EXT-05 a client whose settings are none", `{"io.modelcontextprotocol/ui":7}`, "in words"},
		{"APP-02 EXT-05 a client whose settings lack the type", `{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}`, "in words"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
				if mcp.Can(ctx, "io.modelcontextprotocol/ui") {
					return "with an app", nil
				}
				return "in words", nil
			})
			line := plainRequest("1", "tools/call", callParams("t", "{}"), fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":%s}}`, tt.extensions))
			if got := ask(t, s, line); !strings.Contains(got, tt.want) {
				t.Errorf("%s", got)
			}
		})
	}
}
