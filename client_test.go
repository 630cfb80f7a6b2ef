package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func TestClientRequests(t *testing.T) {
	t.Parallel()
	t.Run("META-06 META-15 VER-01 STD-03 every request carries version and capabilities, and is one whole message", func(t *testing.T) {
		t.Parallel()
		f := newFakeServer(t)
		go func() {
			for i, members := range []string{discovered, `"tools":[],"nextCursor":"c"`, `"tools":[]`, `"content":[]`, `"content":[]`} {
				m := f.next()
				if string(m.Params.Meta["io.modelcontextprotocol/protocolVersion"]) != `"2026-07-28"` || string(m.Params.Meta["io.modelcontextprotocol/clientCapabilities"]) != "{}" {
					t.Errorf("request %d: %+v", i, m)
				}
				f.result(m, members)
			}
		}()
		c, err := mcp.Dial(t.Context(), f.transport(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mustList(t, c)
		mustCall(t, c, "t", nil)
		mustCall(t, c, "t", addArgs{1, 2}, mcp.WithMeta("traceparent", "00-1-2-01"), mcp.WithProgress(func(mcp.ProgressEvent) {}))
	})
	for _, tt := range []struct {
		name string
		opts mcp.ClientOptions
		call func(context.Context, *mcp.Client)
		want string
	}{
		{"META-07 clientInfo on request", mcp.ClientOptions{Name: "n\"", Version: "v"}, func(ctx context.Context, c *mcp.Client) { _, _ = c.CallTool(ctx, "t\n", nil) },
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t\n","_meta":{` + versionMember + `,` + capsMember + `{},` + clientMember + `{"name":"n\"","version":"v"}}}}`},
		{"META-07 none by default", mcp.ClientOptions{}, func(ctx context.Context, c *mcp.Client) { _, _ = c.CallTool(ctx, "t", json.RawMessage(`{"a": 1}`)) },
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"a":1},` + modernMeta() + `}}`},
		{"META-14 META-15 META-05 progress and own keys", mcp.ClientOptions{}, func(ctx context.Context, c *mcp.Client) {
			_, _ = c.CallTool(ctx, "t", struct{}{}, mcp.WithProgress(func(mcp.ProgressEvent) {}), mcp.WithMeta("traceparent", "x"), mcp.WithMeta("com.example/k", []int{1}), mcp.WithMeta("traceparent", "y"))
		}, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{},` + modernMeta(`"progressToken":2`, `"com.example/k":[1]`, `"traceparent":"y"`) + `}}`},
		{"PAG-01 no cursor is sent at first", mcp.ClientOptions{}, func(ctx context.Context, c *mcp.Client) {
			for range c.Tools(ctx) {
			}
		}, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modernMeta() + `}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			c := f.dial(&tt.opts)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); tt.call(ctx, c) }()
			if got := <-f.received; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			cancel()
			<-done
		})
	}
	for _, key := range []string{"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/x", "dev.mcp/x", "progressToken", "_x", ""} {
		t.Run(fmt.Sprintf("META-03 the key %q is refused before anything is sent", key), func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			c := f.dial(nil)
			_, err := c.CallTool(t.Context(), "t", nil, mcp.WithMeta(key, 1), mcp.WithMeta("fine", 1))
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", key)) {
				t.Errorf("error %v", err)
			}
			if len(f.received) != 0 {
				t.Errorf("sent %s", <-f.received)
			}
		})
	}
	t.Run("BASE-03 PRG-01 a thousand calls at once have distinct ids and tokens, and get their own answers", func(t *testing.T) {
		t.Parallel()
		f := newFakeServer(t)
		c := f.dial(nil)
		const n = 1000
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() {
				got, err := mcp.Call[int](t.Context(), c, "t", i, mcp.WithProgress(func(mcp.ProgressEvent) {}))
				if err != nil || got != i {
					t.Errorf("call %d: %d, %v", i, got, err)
				}
			})
		}
		held := make([]clientMessage, n) // all are in flight at once
		ids, tokens := make(map[string]bool), make(map[string]bool)
		for i := range held {
			held[i] = f.next()
			ids[string(held[i].ID)] = true
			tokens[string(held[i].Params.Meta["progressToken"])] = true
		}
		if len(ids) != n || len(tokens) != n || ids["0"] {
			t.Errorf("%d ids and %d tokens", len(ids), len(tokens))
		}
		slices.Reverse(held) // STD-07
		for _, m := range held {
			f.result(m, `"structuredContent":`+string(m.Params.Arguments))
		}
		group.Wait()
	})
}

func TestCallTyped(t *testing.T) {
	t.Parallel()
	type out struct {
		N int64 `json:"n"`
	}
	dial := func(t *testing.T, members string) *mcp.Client {
		return dialAnswering(t, nil, func(clientMessage) string { return members })
	}
	call := func(t *testing.T, members string) (out, error) {
		return mcp.Call[out](t.Context(), dial(t, members), "t", nil)
	}
	for _, tt := range []struct {
		name, members string
		want          int64
	}{
		{"structured content", `"structuredContent":{"n":7},"content":[]`, 7},
		{"structured before text", `"structuredContent":{"n":7},"content":[{"type":"text","text":"{\"n\":8}"}]`, 7},
		{"text alone", `"content":[{"type":"text","text":"{\"n\":7}"}]`, 7},
		{"an exact large number", `"structuredContent":{"n":9007199254740993}`, 9007199254740993},
		{"an exact large number in text", `"content":[{"type":"text","text":"{\"n\":9007199254740993}"}]`, 9007199254740993},
		{"unknown members", `"structuredContent":{"n":7,"more":1}`, 7},
	} {
		t.Run("C134 "+tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := call(t, tt.members); err != nil || got.N != tt.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	for name, members := range map[string]string{
		"no content": `"content":[]`, "no members": `"resultType":"complete"`, "text that is no JSON": `"content":[{"type":"text","text":"seven"}]`,
		"empty text": `"content":[{"type":"text","text":""}]`, "an image": `"content":[{"type":"image","data":"","mimeType":"image/png"}]`,
		"another type": `"structuredContent":{"n":"7"}`, "an array": `"structuredContent":[7]`, "a fraction": `"structuredContent":{"n":7.5}`,
		"out of range": `"structuredContent":{"n":9223372036854775808}`, "a duplicate": `"structuredContent":{"n":7,"n":8}`,
		"two of them": `"structuredContent":{"n":7},"structuredContent":{"n":8}`, "a failure that is no boolean": `"structuredContent":{"n":7},"isError":"no"`,
	} {
		t.Run("C134 "+name+" is an error, not a zero value", func(t *testing.T) {
			t.Parallel()
			got, err := call(t, members)
			var remote *mcp.Error
			if err == nil || errors.As(err, &remote) || got.N == 8 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("C134 TOOL-16 a failed tool is a *ToolError with its result", func(t *testing.T) {
		t.Parallel()
		_, err := call(t, `"content":[{"type":"text","text":"no such file"}],"structuredContent":{"n":7},"isError":true`)
		var failed *mcp.ToolError
		if !errors.As(err, &failed) || err.Error() != "no such file" || string(failed.Result.Structured.(json.RawMessage)) != `{"n":7}` {
			t.Errorf("%v", err)
		}
	})
	t.Run("TOOL-16 CallTool returns a failed tool as a result", func(t *testing.T) {
		t.Parallel()
		r := mustCall(t, dial(t, `"content":[{"type":"text","text":"no such file"}],"isError":true`), "t", nil)
		if !r.IsError || textOf(r) != "no such file" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("C134 a string is the text itself", func(t *testing.T) {
		t.Parallel()
		got, err := mcp.Call[string](t.Context(), dial(t, `"content":[{"type":"text","text":"{\"n\":7}"}]`), "t", nil)
		if err != nil || got != `{"n":7}` {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("C134 struct{} wants nothing", func(t *testing.T) {
		t.Parallel()
		if _, err := mcp.Call[struct{}](t.Context(), dial(t, `"content":[]`), "t", nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("C134 json.RawMessage and any take what there is", func(t *testing.T) {
		t.Parallel()
		c := dial(t, `"structuredContent":{"n":7}`)
		if got, err := mcp.Call[json.RawMessage](t.Context(), c, "t", nil); err != nil || string(got) != `{"n":7}` {
			t.Errorf("%s, %v", got, err)
		}
		if got, err := mcp.Call[any](t.Context(), c, "t", nil); err != nil || !cmp.Equal(got, any(map[string]any{"n": 7.0})) {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("TOOL-09 AMB-29 null is a value, absent is none", func(t *testing.T) {
		t.Parallel()
		null := mustCall(t, dial(t, `"structuredContent":null`), "t", nil)
		absent := mustCall(t, dial(t, `"content":[]`), "t", nil)
		if raw, ok := null.Structured.(json.RawMessage); !ok || string(raw) != "null" || absent.Structured != nil {
			t.Errorf("%#v, %#v", null.Structured, absent.Structured)
		}
	})
	for _, value := range []string{`[1,{"a":null}]`, `"x"`, `0`, `false`, `1e2`, `{"b":1,"a":2}`} {
		t.Run("TOOL-09 structured content is kept as it came: "+value, func(t *testing.T) {
			t.Parallel()
			r := mustCall(t, dial(t, `"structuredContent":`+value), "t", nil)
			if string(r.Structured.(json.RawMessage)) != value {
				t.Errorf("%s", r.Structured)
			}
		})
	}
}

func TestClientProgress(t *testing.T) {
	t.Parallel()
	type event = mcp.ProgressEvent
	t.Run("PRG-09 events come in the caller's goroutine, in order, all before the return", func(t *testing.T) {
		t.Parallel()
		f := newFixture(nil)
		c := dialMemory(t, f.Server, nil)
		for range 20 {
			var got []event // not protected: the race detector sees another goroutine
			mustCall(t, c, "progress", countArgs{50}, mcp.WithProgress(func(e event) { got = append(got, e) }))
			if len(got) != 50 || got[0] != (event{Done: 1, Total: 50}) || got[49] != (event{Done: 50, Total: 50}) {
				t.Fatalf("%d events: %v", len(got), got)
			}
		}
	})
	bubble(t, "PRG-09 events that come together with the answer are not lost", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(nil)
		for range 20 { // which of the two is seen first is left to chance
			begun, resume := make(chan struct{}), make(chan struct{})
			var got []event
			done := make(chan struct{})
			go func() {
				defer close(done)
				mustCall(t, c, "t", nil, mcp.WithProgress(func(e event) {
					if e.Done == 1 {
						close(begun)
						<-resume
					}
					got = append(got, e)
				}))
			}()
			m := f.next()
			f.progress(m.ID, `"progress":1`)
			<-begun
			f.progress(m.ID, `"progress":2`)
			f.result(m, `"content":[]`)
			synctest.Wait()
			close(resume)
			<-done
			if diff := cmp.Diff([]event{{Done: 1}, {Done: 2}}, got); diff != "" {
				t.Fatalf("events (-want +got):\n%s", diff)
			}
		}
	})
	t.Run("PRG-05 P10 what the server says arrives", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
			mcp.Progress(ctx, 0.2, 1, "half\nway")
			mcp.Progress(ctx, 0.5, 0, "")
			return "", nil
		})
		var got []event
		mustCall(t, dialMemory(t, s, nil), "t", nil, mcp.WithProgress(func(e event) { got = append(got, e) }))
		if diff := cmp.Diff([]event{{Done: 0.2, Total: 1, Message: "half\nway"}, {Done: 0.5}}, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
	t.Run("PRG-07 tokens that are not ours, or no longer, and malformed progress are passed over", func(t *testing.T) {
		t.Parallel()
		f := newFakeServer(t)
		c := f.dial(nil)
		var got []event
		done := make(chan struct{})
		go func() {
			defer close(done)
			mustCall(t, c, "t", nil, mcp.WithProgress(func(e event) { got = append(got, e) }))
		}()
		m := f.next()
		for _, token := range []string{`999`, `"x"`, `null`, `{}`, `1.5`, `1`} { // 1 was the discovery
			f.progress(json.RawMessage(token), `"progress":1`)
		}
		f.progress(m.ID, `"progress":"much"`)
		f.sent <- `{"jsonrpc":"2.0","method":"notifications/progress"}`
		f.progress(m.ID, `"progress":2`)
		f.result(m, `"content":[]`)
		<-done
		f.progress(m.ID, `"progress":3`) // after completion
		if diff := cmp.Diff([]event{{Done: 2}}, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		go func() { f.result(f.next(), `"content":[]`) }()
		mustCall(t, c, "t", nil)
	})
	bubble(t, "PRG-07 a flood is bounded, the newest kept", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(nil)
		begun, resume := make(chan struct{}), make(chan struct{})
		var got []event
		done := make(chan struct{})
		go func() {
			defer close(done)
			mustCall(t, c, "t", nil, mcp.WithProgress(func(e event) {
				if len(got) == 0 {
					close(begun)
					<-resume // a slow caller
				}
				got = append(got, e)
			}))
		}()
		m := f.next()
		f.progress(m.ID, `"progress":0`)
		<-begun
		const flood = 5000
		for i := range flood {
			f.progress(m.ID, fmt.Sprintf(`"progress":%d`, i+1))
		}
		f.result(m, `"content":[]`)
		synctest.Wait() // the client reads on while its caller is slow
		close(resume)
		<-done
		if n := len(got); n > 1025 || got[n-1].Done != flood {
			t.Errorf("%d events, the last %v", n, got[n-1])
		}
	})
	t.Run("PRG-08 without WithProgress no token is sent", func(t *testing.T) {
		t.Parallel()
		f := newFixture(nil)
		if r := mustCall(t, dialMemory(t, f.Server, nil), "whoami", nil); !strings.Contains(textOf(r), `"token":""`) {
			t.Error(textOf(r))
		}
	})
}
