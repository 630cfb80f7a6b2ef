package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

func TestDo(t *testing.T) {
	t.Parallel()
	type point struct {
		X int `json:"x"`
	}
	for _, tt := range []struct {
		name   string
		params any
		want   string // the params that are sent
		fails  string
	}{
		{"a struct", point{1}, `"x":1,`, ""},
		{"none", nil, ``, ""},
		{"an empty object", struct{}{}, ``, ""},
		{"raw JSON", json.RawMessage(`{"x":[1,{"y":null}]}`), `"x":[1,{"y":null}],`, ""},
		{"a list", []int{1}, "", "not a JSON object"},
		{"null", (*point)(nil), "", "not a JSON object"},
		{"what has no JSON", func() {}, "", "params"},
		{"_meta", map[string]any{"_meta": 1}, "", "WithMeta"},
	} {
		t.Run("params: "+tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			c := f.dial(nil)
			if tt.fails == "" {
				go func() {
					line := <-f.received
					if want := `{"jsonrpc":"2.0","id":2,"method":"com.example/do","params":{` + tt.want + modernMeta() + `}}`; line != want {
						t.Errorf("sent %s\nwant %s", line, want)
					}
					f.result(f.parse(line), `"x":7`)
				}()
			}
			got, err := mcp.Do[point](t.Context(), c, "com.example/do", tt.params)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || len(f.received) != 0 {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || got.X != 7 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("results: raw, ignored, and one that does not fit", func(t *testing.T) {
		t.Parallel()
		c := dialAnswering(t, nil, func(clientMessage) string { return `"x":"seven"` })
		if raw, err := mcp.Do[json.RawMessage](t.Context(), c, "m", nil); err != nil || string(raw) != `{"x":"seven"}` {
			t.Errorf("%s, %v", raw, err)
		}
		if _, err := mcp.Do[struct{}](t.Context(), c, "m", nil); err != nil {
			t.Error(err)
		}
		if _, err := mcp.Do[point](t.Context(), c, "m", nil); err == nil || !strings.Contains(err.Error(), "result of m") {
			t.Errorf("error %v", err)
		}
		for method, want := range map[string]string{"": "no name", "subscriptions/listen": "Listen"} {
			if _, err := mcp.Do[struct{}](t.Context(), c, method, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", method, err)
			}
		}
	})
	t.Run("HDR-03 HDR-04 XMH-01 the headers that go with a method", func(t *testing.T) {
		t.Parallel()
		got := make(map[string]http.Header)
		url := handled(t, func(w http.ResponseWriter, r *http.Request, m clientMessage) {
			got[m.Method] = r.Header
			switch m.Method {
			case "tools/list":
				writeResult(w, m, `"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]`)
			default:
				writeResult(w, m, discovered)
			}
		})
		c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mustList(t, c)
		for method, params := range map[string]map[string]any{
			"tools/call": {"name": "t", "arguments": map[string]string{"a": "x"}}, "prompts/get": {"name": "t"}, "resources/read": {"uri": "t"},
			"tasks/get": {"taskId": "t"}, "tasks/update": {"taskId": "t"}, "tasks/cancel": {"taskId": "t"}, "com.example/do": {"name": "t"},
		} {
			if _, err := mcp.Do[struct{}](t.Context(), c, method, params); err != nil {
				t.Errorf("%s: %v", method, err)
			}
			want := "t"
			if method == "com.example/do" {
				want = ""
			}
			if h := got[method]; h.Get("Mcp-Name") != want || (h.Get("Mcp-Param-A") == "x") != (method == "tools/call") {
				t.Errorf("%s: %v", method, h)
			}
		}
	})
}

func TestServerLogs(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run("LOG-06 LFE-04 BRG-06 logs of the server, "+version, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logging: true})
			mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
				mcp.Logger(ctx).Debug("too little")
				mcp.Logger(ctx).Info("plain")
				mcp.Logger(ctx).Error("with more", "n", 1)
				return "", nil
			})
			var out bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == "time" {
					return slog.Attr{}
				}
				return a
			}}))
			c, err := mcp.Dial(t.Context(), mcp.InMemory(s), &mcp.ClientOptions{ServerLog: logger, Versions: []string{version}})
			if err != nil {
				t.Fatal(err)
			}
			mustCall(t, c, "t", nil)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			want := "level=INFO msg=plain logger=t\n" + `level=ERROR msg="the server logs" data="{\"n\":1,\"msg\":\"with more\"}" logger=t` + "\n"
			if out.String() != want {
				t.Errorf("got\n%swant\n%s", out.String(), want)
			}
		})
	}
	t.Run("LOG-06 malformed logs, odd levels and data", func(t *testing.T) {
		t.Parallel()
		var book logBook
		f := newFakeServer(t)
		c := f.dial(&mcp.ClientOptions{ServerLog: book.logger()})
		go func() {
			m := f.next()
			for _, params := range []string{`7`, `{"level":"loud","data":null}`, `{"level":"warning","data":[1]}`, `{}`} {
				f.sent <- `{"jsonrpc":"2.0","method":"notifications/message","params":` + params + `}`
			}
			f.result(m, `"content":[]`)
		}()
		mustCall(t, c, "t", nil)
		if records := book.records(t, slog.LevelWarn); len(records) != 1 || records[0]["data"] != "[1]" {
			t.Errorf("%v", records)
		}
	})
}

func TestMissingResource(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault   string
		missing bool
	}{
		"RES-06 LFE-03 -32002":          {`"code":-32002,"message":"m"`, true},
		"RES-06 -32602 with the URI":    {`"code":-32602,"message":"m","data":{"uri":"x://a"}`, true},
		"-32602 with another URI":       {`"code":-32602,"message":"m","data":{"uri":"x://b"}`, false},
		"-32602 for another reason":     {`"code":-32602,"message":"m"`, false},
		"BASE-18 -32001 has no meaning": {`"code":-32001,"message":"m","data":[1]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			c := f.dial(nil)
			go func() { f.fault(f.next(), tt.fault) }()
			_, err := c.ReadResource(t.Context(), "x://a")
			var remote *mcp.Error
			if errors.Is(err, mcp.ErrNotFound) != tt.missing || !errors.As(err, &remote) || !remote.Remote() {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestQuestionsOutOfTurn(t *testing.T) {
	t.Parallel()
	const ask = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}`
	dial := func(t *testing.T, opts mcp.ClientOptions) (*fakeServer, *mcp.Client) {
		f := newFakeServer(t)
		go func() {
			f.next()
			f.sent <- `{"jsonrpc":"2.0","id":1,"result":{` + initialized + `}}`
			f.next()
		}()
		opts.Versions = []string{legacyVersion}
		c, err := mcp.Dial(t.Context(), f.transport(), &opts)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		t.Cleanup(func() { _ = c.Close() })
		return f, c
	}
	bubble(t, "LFE-07 a question that belongs to no call", func(t *testing.T) {
		f, _ := dial(t, mcp.ClientOptions{ElicitForm: acceptForm})
		f.sent <- ask
		if got := <-f.received; !strings.Contains(got, `"code":-32602`) {
			t.Errorf("answered %s", got)
		}
	})
	bubble(t, "LFE-06 roots are answered at any time", func(t *testing.T) {
		f, _ := dial(t, mcp.ClientOptions{Roots: noRoots})
		f.sent <- `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`
		if got := <-f.received; !strings.Contains(got, `"roots":[]`) {
			t.Errorf("answered %s", got)
		}
	})
	bubble(t, "LFE-05 a question that the server withdraws is not answered", func(t *testing.T) {
		ended := make(chan error, 1)
		f, c := dial(t, mcp.ClientOptions{ElicitForm: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return &mcp.ElicitResult{Action: "accept"}, nil
		}})
		done := make(chan struct{})
		go func() { defer close(done); mustCall(t, c, "t", nil) }()
		m := f.next()
		f.sent <- ask
		synctest.Wait()
		f.sent <- `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`
		if err := <-ended; !errors.Is(err, mcp.ErrCancelled) {
			t.Errorf("ended with %v", err)
		}
		synctest.Wait()
		if len(f.received) != 0 {
			t.Errorf("sent %s", <-f.received)
		}
		f.result(m, `"content":[]`)
		<-done
	})
	bubble(t, "CAN-10 CAN-11 the time that the user takes does not count, up to the maximum", func(t *testing.T) {
		answer := make(chan struct{})
		f, c := dial(t, mcp.ClientOptions{Timeout: time.Second, MaxTimeout: 10 * time.Second, ElicitForm: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			select {
			case <-answer:
			case <-ctx.Done():
			}
			return &mcp.ElicitResult{Action: "decline"}, nil
		}})
		go func() {
			m := f.next()
			f.sent <- ask
			time.Sleep(5 * time.Second)
			close(answer)
			<-f.received
			f.result(m, `"content":[]`)
			f.next()
			f.sent <- ask
		}()
		mustCall(t, c, "t", nil)
		answer = make(chan struct{})
		start := time.Now()
		if _, err := c.CallTool(t.Context(), "t", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 11*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
	bubble(t, "a flood of questions is bounded, and a panic in a function is no answer", func(t *testing.T) {
		running := 0
		f, c := dial(t, mcp.ClientOptions{Roots: func(ctx context.Context) ([]mcp.Root, error) {
			running++
			panic("oops")
		}})
		for i := range 100 {
			f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i)
			synctest.Wait()
		}
		if running != 100 || !strings.Contains(<-f.received, `"code":-32603`) {
			t.Errorf("%d were answered", running)
		}
		_ = c
	})
	bubble(t, "LFE-08 RootsChanged tells", func(t *testing.T) {
		f, c := dial(t, mcp.ClientOptions{Roots: noRoots})
		if err := c.RootsChanged(t.Context()); err != nil {
			t.Error(err)
		}
		if m := f.next(); m.Method != "notifications/roots/list_changed" || m.ID != nil {
			t.Errorf("%+v", m)
		}
	})
	bubble(t, "LFE-11 BRG-06 what means nothing is ignored; without roots there is nothing to tell", func(t *testing.T) {
		f, c := dial(t, mcp.ClientOptions{})
		f.sent <- `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"x"}}`
		synctest.Wait()
		if err := c.RootsChanged(t.Context()); err == nil || len(f.received) != 0 {
			t.Errorf("error %v", err)
		}
	})
}

func TestClientExtensions(t *testing.T) {
	t.Parallel()
	t.Run("EXT-03 META-06 declared with every request", func(t *testing.T) {
		t.Parallel()
		f := newFakeServer(t)
		c := f.dial(&mcp.ClientOptions{Extensions: map[string]any{"com.example/x": nil, "com.example/y": map[string]int{"n": 1}}})
		go func() {
			m := f.next()
			if got := string(m.Params.Meta["io.modelcontextprotocol/clientCapabilities"]); got != `{"extensions":{"com.example/x":{},"com.example/y":{"n":1}}}` {
				t.Errorf("declared %s", got)
			}
			f.result(m, `"content":[]`)
		}()
		mustCall(t, c, "t", nil)
	})
	for id, settings := range map[string]any{"noprefix": nil, "com.example/x": 7} {
		t.Run("EXT-01 refused: "+id, func(t *testing.T) {
			t.Parallel()
			_, err := mcp.Dial(t.Context(), newFakeServer(t).transport(), &mcp.ClientOptions{Extensions: map[string]any{id: settings}})
			if err == nil || !strings.Contains(err.Error(), id) {
				t.Errorf("error %v", err)
			}
		})
	}
}
