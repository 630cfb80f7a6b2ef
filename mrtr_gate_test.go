package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// newGated returns a server with a tool for every kind of question, by the name of its kind.
func newGated(opts *mcp.ServerOptions) *mcp.Server {
	s := mcp.NewServer("gated", "1.0.0", opts)
	hello := []mcp.Message{mcp.User("Hello")}
	asks := map[string]func(context.Context) error{
		"form": func(ctx context.Context) error { _, err := mcp.Elicit[nameForm](ctx, "q", "Who?"); return err },
		"url":  func(ctx context.Context) error { return mcp.ElicitURL(ctx, "q", "Pay", "https://example.com", nil) },
		"sampling": func(ctx context.Context) error {
			_, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{Messages: hello, MaxTokens: 1, IncludeContext: "none"})
			return err
		},
		"tools": func(ctx context.Context) error {
			_, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{Messages: hello, MaxTokens: 1, Tools: []mcp.ToolDef{{Name: "t", InputSchema: []byte(`{"type":"object"}`)}}})
			return err
		},
		"choice": func(ctx context.Context) error {
			_, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{Messages: hello, MaxTokens: 1, ToolChoice: "none"})
			return err
		},
		"context": func(ctx context.Context) error {
			_, err := mcp.Sample(ctx, "q", &mcp.SampleRequest{Messages: hello, MaxTokens: 1, IncludeContext: "thisServer"})
			return err
		},
		"roots": func(ctx context.Context) error { _, err := mcp.Roots(ctx, "q"); return err },
		"gather": func(ctx context.Context) error {
			return mcp.Gather(ctx, mcp.AskForm[nameForm]("q", "Who?"), mcp.AskRoots("r"), mcp.AskURL("u", "Pay", "https://example.com"))
		},
		"reenter": func(context.Context) error {
			return mcp.InputRequired(nil, mcp.AskRoots("r"), mcp.AskForm[nameForm]("q", "Who?"))
		},
	}
	for name, fn := range asks {
		mcp.AddTool(s, name, "", func(ctx context.Context, a struct {
			Progress bool `json:"progress,omitempty"`
		}) (string, error) {
			if a.Progress {
				mcp.Progress(ctx, 1, 2, "")
			}
			return "", fn(ctx)
		})
	}
	return s
}

func TestGating(t *testing.T) {
	s := newGated(nil)
	for _, c := range []struct {
		name, tool, caps string
		missing          string // requiredCapabilities; "": the question is asked
	}{
		{"ELI-02 A64 forms declared by an empty object", "form", `{"elicitation":{}}`, ``},
		{"ELI-02 forms declared", "form", `{"elicitation":{"form":{}}}`, ``},
		{"ELI-02 both modes declared", "form", `{"elicitation":{"form":{},"url":{}}}`, ``},
		{"ELI-02 ELI-04 pages alone declared, a form asked", "form", `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{}}}`},
		{"MRTR-07 nothing declared, a form asked", "form", `{}`, `{"elicitation":{"form":{}}}`},
		{"MRTR-07 something else declared", "form", `{"sampling":{},"roots":{}}`, `{"elicitation":{"form":{}}}`},
		{"ELI-02 pages declared", "url", `{"elicitation":{"url":{}}}`, ``},
		{"ELI-02 ELI-04 forms declared by an empty object, a page asked", "url", `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`},
		{"ELI-04 forms declared, a page asked", "url", `{"elicitation":{"form":{}}}`, `{"elicitation":{"url":{}}}`},
		{"A64 sampling declared", "sampling", `{"sampling":{}}`, ``},
		{"A64 META-12 sampling not declared", "sampling", `{"elicitation":{}}`, `{"sampling":{}}`},
		{"SMP-02 tools declared", "tools", `{"sampling":{"tools":{}}}`, ``},
		{"SMP-02 tools not declared", "tools", `{"sampling":{}}`, `{"sampling":{"tools":{}}}`},
		{"SMP-02 nothing declared, tools needed", "tools", `{}`, `{"sampling":{"tools":{}}}`},
		{"SMP-02 a tool choice is of tools too", "choice", `{"sampling":{"context":{}}}`, `{"sampling":{"tools":{}}}`},
		{"SMP-04 context declared", "context", `{"sampling":{"context":{}}}`, ``},
		{"SMP-04 context not declared", "context", `{"sampling":{"tools":{}}}`, `{"sampling":{"context":{}}}`},
		{"ROOT-04 roots declared", "roots", `{"roots":{}}`, ``},
		{"ROOT-04 roots not declared", "roots", `{"elicitation":{}}`, `{"roots":{}}`},
		{"A64 MRTR-07 all that is missing is named", "gather", `{"sampling":{}}`, `{"elicitation":{"form":{},"url":{}},"roots":{}}`},
		{"MRTR-07 one of several is missing: none is asked", "gather", `{"elicitation":{"url":{}},"roots":{}}`, `{"elicitation":{"form":{}}}`},
		{"everything that is gathered is declared", "gather", `{"elicitation":{"form":{},"url":{}},"roots":{}}`, ``},
		{"MRTR-07 by InputRequired", "reenter", `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{}},"roots":{}}`},
		{"malformed capabilities declare nothing", "form", `{"elicitation":true}`, `{"elicitation":{"form":{}}}`},
		{"null declares nothing", "form", `{"elicitation":null}`, `{"elicitation":{"form":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := round{name: c.tool, caps: c.caps}
			res := play(t, s, call)
			if c.missing == "" {
				if res.Type != "input_required" {
					t.Errorf("got %s", res)
				}
				return
			}
			res.faults(t, mcp.CodeMissingCapability, "Missing required client capability: ")
			if diff := cmp.Diff(`{"requiredCapabilities":`+c.missing+`}`, string(res.fault.Data)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGatingHTTP is about the status of such an answer.
func TestGatingHTTP(t *testing.T) {
	h, err := newGated(nil).HTTPHandler(nil)
	if err != nil {
		t.Fatal(err)
	}
	post := func(r round) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.request())
		return w
	}
	t.Run("META-12 400 when nothing was streamed", func(t *testing.T) {
		w := post(round{name: "form", caps: `{}`})
		readRound(t, w.Body.String()).faults(t, mcp.CodeMissingCapability, "elicitation")
		if w.Code != http.StatusBadRequest || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got %d %s", w.Code, w.Header())
		}
	})
	t.Run("META-12 in the stream when it was open", func(t *testing.T) {
		w := post(round{name: "form", args: `{"progress":true}`, caps: `{}`, meta: []string{`"progressToken":1`}})
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/event-stream" || !strings.Contains(w.Body.String(), `"code":-32021`) {
			t.Errorf("got %d %s %s", w.Code, w.Header(), w.Body)
		}
	})
	t.Run("MRTR-27 a question may be the last event of a stream", func(t *testing.T) {
		w := post(round{name: "form", args: `{"progress":true}`, meta: []string{`"progressToken":1`}})
		progress, question := strings.Index(w.Body.String(), "notifications/progress"), strings.Index(w.Body.String(), `"resultType":"input_required"`)
		if w.Code != http.StatusOK || progress < 0 || question < progress {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
	t.Run("MRTR-27 or a JSON answer", func(t *testing.T) {
		w := post(round{name: "form"})
		readRound(t, w.Body.String()).asks(t, "q")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got %d %s", w.Code, w.Header())
		}
	})
	t.Run("a refused state is an ordinary error", func(t *testing.T) {
		r := round{name: "form", state: ptr("x")}
		if w := post(r); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"code":-32602`) {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

// TestWithoutSupport shows handlers that go on without an answer.
func TestWithoutSupport(t *testing.T) {
	s := mcp.NewServer("gated", "1.0.0", nil)
	mcp.AddTool(s, "greet", "", func(ctx context.Context, _ noArgs) (string, error) {
		who, err := mcp.Elicit[nameForm](ctx, "who", "Who?")
		if errors.Is(err, mcp.ErrNotSupported) {
			return "Hello, stranger", nil
		}
		return "Hello, " + who.Name, err
	})
	mcp.AddTool(s, "can", "", func(ctx context.Context, _ noArgs) (string, error) {
		var can []string
		for _, kind := range []string{"elicitation.form", "elicitation.url", "sampling", "sampling.tools", "sampling.context", "roots", "walking", ""} {
			if mcp.Can(ctx, kind) {
				can = append(can, kind)
			}
		}
		return strings.Join(can, " "), nil
	})
	t.Run("AMB-40 a handler may go on without", func(t *testing.T) {
		play(t, s, round{name: "greet", caps: `{}`}).says(t, "Hello, stranger")
		play(t, s, round{name: "greet"}).asks(t, "who")
	})
	for caps, want := range map[string]string{
		`{}`:                         "",
		`{"elicitation":{}}`:         "elicitation.form",
		`{"elicitation":{"url":{}}}`: "elicitation.url",
		`{"sampling":{"tools":{}}}`:  "sampling sampling.tools",
		allCapabilities:              "elicitation.form elicitation.url sampling sampling.tools sampling.context roots",
	} {
		t.Run("A22 Can tells what was declared "+caps, func(t *testing.T) {
			play(t, s, round{name: "can", caps: caps}).says(t, want)
		})
	}
	t.Run("A22 C113 each request sees its own", func(t *testing.T) {
		c := serveLines(t, s)
		c.send(round{name: "can", caps: `{"roots":{}}`}.line("1"), round{name: "can", caps: `{"sampling":{}}`}.line("2"))
		texts := map[string]string{}
		for range 2 {
			line := c.next()
			texts[string(parseWire(t, line).ID)] = readRound(t, line).text()
		}
		if texts["1"] != "roots" || texts["2"] != "sampling" {
			t.Errorf("got %v", texts)
		}
	})
	t.Run("out of a request nobody can be asked", func(t *testing.T) {
		ctx := context.Background()
		_, err := mcp.Elicit[nameForm](ctx, "who", "Who?")
		if !errors.Is(err, mcp.ErrNotSupported) || errors.Is(err, mcp.ErrInputRequired) || mcp.Can(ctx, "roots") {
			t.Errorf("got %v", err)
		}
		n, err := mcp.Step(ctx, "n", func(context.Context) (int, error) { return 7, nil })
		if n != 7 || err != nil {
			t.Errorf("Step: %d, %v", n, err)
		}
	})
}

// TestLegacyAsking is about clients of earlier revisions that declare nothing.
func TestLegacyAsking(t *testing.T) {
	s := newGated(nil)
	mcp.AddTool(s, "sure", "", func(context.Context, noArgs) (string, error) { return "done", nil }).Confirm("Sure?")
	mcp.AddPrompt(s, "ask", "", func(ctx context.Context, _ noArgs) (string, error) {
		_, err := mcp.Elicit[nameForm](ctx, "q", "Who?")
		return "", err
	})
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		for _, tool := range []string{"form", "url", "sampling", "roots", "reenter", "sure"} {
			t.Run(fmt.Sprint("A56 ", tool, " at ", version), func(t *testing.T) {
				text := failureIn(t, askLegacy(t, s, version, legacyCall("1", tool, `{}`)))
				if !strings.HasPrefix(text, "this client cannot be asked for input") {
					t.Errorf("got %q", text)
				}
			})
		}
		t.Run("a prompt has no results that failed: "+version, func(t *testing.T) {
			fault := faultIn(t, askLegacy(t, s, version, plainRequest("1", "prompts/get", `"name":"ask"`)))
			if fault.Code != mcp.CodeInternalError || !strings.HasPrefix(fault.Message, "this client cannot be asked for input") {
				t.Errorf("got %+v", fault)
			}
		})
	}
}

// TestDeprecated shows that deprecated features are warned of once each.
func TestDeprecated(t *testing.T) {
	log := new(logBook)
	s := newGated(&mcp.ServerOptions{Logger: log.logger(), Logging: true})
	mcp.AddTool(s, "log", "", func(ctx context.Context, _ noArgs) (string, error) {
		mcp.Logger(ctx).Info("hello")
		return "", nil
	})
	mcp.AddTool(s, "plain", "", func(ctx context.Context, _ noArgs) (string, error) {
		return "", mcp.ElicitURL(ctx, "q", "Pay", "http://example.com", nil)
	})
	wants := []string{}
	for _, c := range []struct {
		tool string
		meta []string
		want string // "": nothing more
	}{
		{tool: "form"}, {tool: "url"},
		{tool: "sampling", want: "sampling is used"}, {tool: "sampling"},
		{tool: "context", want: "with the context of servers"}, {tool: "context"},
		{tool: "roots", want: "roots are used"}, {tool: "gather"},
		{tool: "log"},
		{tool: "log", meta: []string{`"io.modelcontextprotocol/logLevel":"debug"`}, want: "logs are sent"},
		{tool: "log", meta: []string{`"io.modelcontextprotocol/logLevel":"debug"`}},
		{tool: "plain", want: "http"}, {tool: "plain"},
	} {
		t.Run("DEP-04 ELI-24 "+c.tool, func(t *testing.T) {
			conn := serveLines(t, s)
			conn.send(round{name: c.tool, meta: c.meta}.line("1"))
			for parseWire(t, conn.next()).ID == nil {
			}
			if c.want != "" {
				wants = append(wants, c.want)
			}
			warned := log.records(t, slog.LevelWarn)
			if len(warned) != len(wants) {
				t.Fatalf("%d warnings, want %d: %v", len(warned), len(wants), warned)
			}
			if n := len(wants); n > 0 && !strings.Contains(fmt.Sprint(warned[n-1]["msg"]), wants[n-1]) {
				t.Errorf("warned %v, want %q", warned[n-1], wants[n-1])
			}
		})
	}
}
