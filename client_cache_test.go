package mcp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

func TestClientCache(t *testing.T) {
	t.Parallel()
	// dial connects to a server whose every result is fresh for as long as ttl says, and which counts requests by method.
	dial := func(t *testing.T, ttl string) (*fakeServer, *mcp.Client, func(method string) int) {
		f := newFakeServer(t)
		c := f.dial(nil)
		sent := f.talk(func(m clientMessage) string {
			switch {
			case m.Method == "subscriptions/listen":
				f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
				return ""
			case m.Params.Cursor == nil && m.Method == "tools/list":
				return `"tools":[],"nextCursor":"2",` + ttl
			case m.Params.Cursor != nil && *m.Params.Cursor == "gone":
				return `{"code":-32602,"message":"m"}`
			}
			return `"tools":[],"prompts":[],"resources":[],"resourceTemplates":[],"contents":[],"content":[],"messages":[],` + ttl
		})
		return f, c, func(method string) (n int) {
			for _, m := range sent() {
				if m == method {
					n++
				}
			}
			return n
		}
	}
	const minute = `"ttlMs":60000,"cacheScope":"private"`
	lists := map[string]func(t *testing.T, c *mcp.Client) error{
		"tools/list": func(t *testing.T, c *mcp.Client) error {
			for _, err := range c.Tools(t.Context()) {
				return err
			}
			return nil
		},
		"prompts/list": func(t *testing.T, c *mcp.Client) error {
			for _, err := range c.Prompts(t.Context()) {
				return err
			}
			return nil
		},
		"resources/list": func(t *testing.T, c *mcp.Client) error {
			for _, err := range c.Resources(t.Context()) {
				return err
			}
			return nil
		},
		"resources/templates/list": func(t *testing.T, c *mcp.Client) error {
			for _, err := range c.Templates(t.Context()) {
				return err
			}
			return nil
		},
		"resources/read": func(t *testing.T, c *mcp.Client) error { _, err := c.ReadResource(t.Context(), "x://a"); return err },
	}
	perCall := map[string]int{"tools/list": 2}
	each := func(t *testing.T, c *mcp.Client) {
		for method, fetch := range lists {
			if err := fetch(t, c); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
	bubble(t, "CCH-10 CCH-11 fresh until the time is over, then fetched at the next use", func(t *testing.T) {
		_, c, count := dial(t, minute)
		for _, pause := range []time.Duration{0, time.Minute - time.Millisecond} {
			time.Sleep(pause)
			each(t, c)
			for method := range lists {
				if n := count(method); n != max(1, perCall[method]) {
					t.Errorf("%s was sent %d times", method, n)
				}
			}
		}
		time.Sleep(time.Millisecond)
		for method := range lists {
			if n := count(method); n != max(1, perCall[method]) { // CCH-11
				t.Errorf("%s was sent %d times by itself", method, n)
			}
		}
		each(t, c)
		for method := range lists {
			if n := count(method); n != 2*max(1, perCall[method]) {
				t.Errorf("%s was sent %d times after the time was over", method, n)
			}
		}
	})
	for _, ttl := range []string{`"ttlMs":0`, `"ttlMs":-1`, `"ttlMs":null`, `"ttlMs":"60000"`, `"x":1`, `"ttlMs":1e400`} {
		bubble(t, "CCH-10 CCH-17 stale at once: "+ttl, func(t *testing.T) {
			_, c, count := dial(t, ttl)
			for range 2 {
				if err := lists["prompts/list"](t, c); err != nil {
					t.Error(err)
				}
			}
			if n := count("prompts/list"); n != 2 {
				t.Errorf("sent %d times", n)
			}
		})
	}
	bubble(t, "CCH-06 other params, another result", func(t *testing.T) {
		_, c, count := dial(t, minute)
		for _, uri := range []string{"x://a", "x://b", "x://a"} {
			if _, err := c.ReadResource(t.Context(), uri); err != nil {
				t.Error(err)
			}
		}
		if n := count("resources/read"); n != 2 {
			t.Errorf("read %d times", n)
		}
		for range 2 { // what is the caller's own may matter
			if _, err := c.ReadResource(t.Context(), "x://a", mcp.WithMeta("com.example/k", 1)); err != nil {
				t.Error(err)
			}
		}
		if n := count("resources/read"); n != 4 {
			t.Errorf("read %d times", n)
		}
	})
	bubble(t, "CCH-06 calls are not kept", func(t *testing.T) {
		_, c, count := dial(t, minute)
		for range 2 {
			mustCall(t, c, "t", nil)
			if _, err := c.GetPrompt(t.Context(), "p", nil); err != nil {
				t.Error(err)
			}
		}
		if count("tools/call") != 2 || count("prompts/get") != 2 {
			t.Errorf("%d calls, %d prompts", count("tools/call"), count("prompts/get"))
		}
	})
	for notification, stale := range map[string][]string{
		"tools/list_changed":     {"tools/list"},
		"prompts/list_changed":   {"prompts/list"},
		"resources/list_changed": {"resources/list", "resources/templates/list"},
		`resources/updated`:      {"resources/read"},
	} {
		bubble(t, "CCH-14 "+notification+" makes stale "+strings.Join(stale, " and "), func(t *testing.T) {
			f, c, count := dial(t, minute)
			each(t, c)
			f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s","params":{"uri":"x://b"}}`, notification)
			synctest.Wait()
			if notification == "resources/updated" {
				if each(t, c); count("resources/read") != 1 {
					t.Error("another resource became stale")
				}
				f.sent <- `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://a"}}`
				synctest.Wait()
			}
			each(t, c)
			for method := range lists {
				want := max(1, perCall[method])
				for _, s := range stale {
					if s == method {
						want *= 2
					}
				}
				if n := count(method); n != want {
					t.Errorf("%s was sent %d times, not %d", method, n, want)
				}
			}
		})
	}
	bubble(t, "CCH-14 a change while the result is under way", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(nil)
		answer := func() {
			m := f.next()
			f.sent <- `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`
			f.result(m, `"prompts":[],`+minute)
		}
		for range 2 {
			go answer()
			if err := lists["prompts/list"](t, c); err != nil {
				t.Error(err)
			}
		}
	})
	bubble(t, "CCH-07 MRTR-26 what took answers to questions is not kept", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(&mcp.ClientOptions{ElicitForm: acceptForm})
		rounds := 0
		f.talk(func(m clientMessage) string {
			if rounds++; rounds%2 == 1 {
				return `"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}`
			}
			return `"contents":[],` + minute
		})
		for range 2 {
			if err := lists["resources/read"](t, c); err != nil {
				t.Error(err)
			}
		}
		if rounds != 4 {
			t.Errorf("%d rounds", rounds)
		}
	})
	for name, option := range map[string]mcp.CallOption{"answers": mcp.WithAnswers(nil, "s"), "the caller's own rounds": mcp.WithManual()} {
		bubble(t, "CCH-06 CCH-07 a call with "+name+" is another one", func(t *testing.T) {
			_, c, count := dial(t, minute)
			for range 2 { // neither is it answered by what is kept, nor kept
				for _, options := range [][]mcp.CallOption{nil, {option}} {
					if _, err := c.ReadResource(t.Context(), "x://a", options...); err != nil {
						t.Error(err)
					}
				}
			}
			if n := count("resources/read"); n != 3 {
				t.Errorf("sent %d times", n)
			}
		})
	}
	bubble(t, "CCH-13 CCH-16 the caller can have all of it fetched from the start, and that is kept", func(t *testing.T) {
		_, c, count := dial(t, minute)
		each(t, c)
		var errs []error
		for _, err := range c.Tools(t.Context(), mcp.WithFresh()) {
			errs = append(errs, err)
		}
		for _, err := range c.Prompts(t.Context(), mcp.WithFresh()) {
			errs = append(errs, err)
		}
		for _, err := range c.Resources(t.Context(), mcp.WithFresh()) {
			errs = append(errs, err)
		}
		for _, err := range c.Templates(t.Context(), mcp.WithFresh()) {
			errs = append(errs, err)
		}
		_, err := c.ReadResource(t.Context(), "x://a", mcp.WithFresh())
		if err := errors.Join(append(errs, err)...); err != nil {
			t.Error(err)
		}
		each(t, c)
		for method := range lists {
			if n := count(method); n != 2*max(1, perCall[method]) {
				t.Errorf("%s was sent %d times", method, n)
			}
		}
	})
	bubble(t, "CCH-15 pages expire one by one, and a cursor that is refused drops all", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(nil)
		first, refuse := 0, false
		f.talk(func(m clientMessage) string {
			switch {
			case m.Params.Cursor == nil:
				first++
				return `"tools":[],"nextCursor":"2",` + minute
			case refuse:
				return `{"code":-32602,"message":"m"}`
			}
			return `"tools":[],"ttlMs":1000`
		})
		mustList(t, c)
		time.Sleep(2 * time.Second)
		refuse = true
		var remote *mcp.Error
		if err := lists["tools/list"](t, c); !errors.As(err, &remote) || first != 1 {
			t.Errorf("%v after %d first pages", err, first)
		}
		refuse = false
		if mustList(t, c); first != 2 {
			t.Errorf("%d first pages", first)
		}
	})
	for name, bad := range map[string]string{
		"PAG-03 a cursor that comes twice":        `"tools":[],"nextCursor":"2","prompts":[],"resources":[],"resourceTemplates":[],"contents":[]`,
		"entries that are none":                   `"tools":7,"prompts":7,"resources":7,"resourceTemplates":7,"contents":7`,
		"a cursor that is no text, and bad reads": `"tools":[],"nextCursor":2,"prompts":[],"resources":[],"resourceTemplates":[],"contents":[{"blob":7}]`,
	} {
		for method, fetch := range lists {
			if method == "resources/read" && strings.HasPrefix(name, "PAG") {
				continue
			}
			bubble(t, "CCH-15 "+name+": nothing of it is kept, "+method, func(t *testing.T) {
				f := newFakeServer(t)
				c := f.dial(nil)
				mended := false
				f.talk(func(clientMessage) string {
					if mended {
						return `"tools":[],"prompts":[],"resources":[],"resourceTemplates":[],"contents":[]`
					}
					return bad + "," + minute
				})
				if err := fetch(t, c); err == nil || !strings.Contains(err.Error(), "invalid") {
					t.Errorf("error %v", err)
				}
				mended = true
				if err := fetch(t, c); err != nil {
					t.Errorf("then %v", err)
				}
			})
		}
	}
}

func TestOutputSchemas(t *testing.T) {
	t.Parallel()
	const typed = `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`
	for _, tt := range []struct {
		name, schema, result string
		fails                string // part of the error; "": none
	}{
		{"TOOL-08 a result that conforms", typed, `"content":[],"structuredContent":{"n":1}`, ""},
		{"TOOL-08 one that does not", typed, `"content":[],"structuredContent":{"n":0}`, "n must be at least 1"},
		{"TOOL-08 another type", typed, `"content":[],"structuredContent":[1]`, "object"},
		{"TOOL-08 C134 none", typed, `"content":[{"type":"text","text":"{\"n\":1}"}]`, "no structured content"},
		{"AMB-28 a failure is not held to it", typed, `"content":[],"isError":true`, ""},
		{"TOOL-09 AMB-29 null, where it is allowed", `{"type":["null","integer"]}`, `"content":[],"structuredContent":null`, ""},
		{"TOOL-09 AMB-29 null, where it is not", `{"type":"integer"}`, `"content":[],"structuredContent":null`, "integer"},
		{"TOOL-09 an array", `{"type":"array","items":{"type":"string"}}`, `"content":[],"structuredContent":["a"]`, ""},
		{"TOOL-08 keywords for the full validator", `{"type":"object","patternProperties":{"^x":{"type":"string"}}}`, `"content":[],"structuredContent":{"xa":1}`, "xa"},
		{"a schema that nobody can use is not used", `{"type":"nonsense"}`, `"content":[],"structuredContent":7`, ""},
		{"a reference that would have to be fetched", `{"$ref":"http://127.0.0.1:9/schema.json"}`, `"content":[],"structuredContent":7`, ""},
		{"a reference in circles", `{"$ref":"#"}`, `"content":[],"structuredContent":7`, ""},
		{"a schema too deep", strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70), `"content":[],"structuredContent":7`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var book logBook
			c := dialAnswering(t, &mcp.ClientOptions{Logger: book.logger()}, func(m clientMessage) string {
				if m.Method == "tools/list" {
					return `"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":` + tt.schema + `}]`
				}
				return tt.result
			})
			if _, err := c.CallTool(t.Context(), "t", nil); err != nil { // nothing is known yet
				t.Error(err)
			}
			mustList(t, c)
			_, err := c.CallTool(t.Context(), "t", nil)
			_, typedErr := mcp.Call[any](t.Context(), c, "t", nil)
			if tt.fails == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			for _, err := range []error{err, typedErr} {
				var broken *mcp.OutputError
				if !errors.As(err, &broken) || broken.Tool != "t" || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

func TestHeaderMismatch(t *testing.T) {
	t.Parallel()
	// serve plays a server whose tool changes which argument its headers repeat after the first list.
	serve := func(t *testing.T, healed bool) (c *mcp.Client, calls, lists *int) {
		calls, lists = new(int), new(int)
		url := handled(t, func(w http.ResponseWriter, r *http.Request, m clientMessage) {
			switch m.Method {
			case "server/discover":
				writeResult(w, m, discovered)
			case "tools/list":
				name := "Old"
				if *lists++; *lists > 1 {
					name = "New"
				}
				writeResult(w, m, `"ttlMs":60000,"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"`+name+`"}}}}]`)
			default:
				if *calls++; healed && r.Header.Get("Mcp-Param-New") == "x" {
					writeResult(w, m, `"content":[]`)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Header mismatch"}}`, m.ID)
			}
		})
		c, err := mcp.Dial(t.Context(), mcp.HTTP(url, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		mustList(t, c)
		return c, calls, lists
	}
	t.Run("XMH-20 XMH-21 one list, one more try", func(t *testing.T) {
		t.Parallel()
		c, calls, lists := serve(t, true)
		if mustCall(t, c, "t", map[string]string{"a": "x"}); *calls != 2 || *lists != 2 {
			t.Errorf("%d calls, %d lists", *calls, *lists)
		}
	})
	t.Run("XMH-20 what has no arguments in headers is not tried again", func(t *testing.T) {
		t.Parallel()
		c, _, lists := serve(t, true)
		var remote *mcp.Error
		if _, err := c.GetPrompt(t.Context(), "t", nil); !errors.As(err, &remote) || remote.Code != mcp.CodeHeaderMismatch || *lists != 1 {
			t.Errorf("%v after %d lists", err, *lists)
		}
	})
	t.Run("XMH-20 then it is given up", func(t *testing.T) {
		t.Parallel()
		c, calls, lists := serve(t, false)
		var remote *mcp.Error
		if _, err := c.CallTool(t.Context(), "t", map[string]string{"a": "x"}); !errors.As(err, &remote) || remote.Code != mcp.CodeHeaderMismatch || *calls != 2 || *lists != 2 {
			t.Errorf("%v after %d calls, %d lists", err, *calls, *lists)
		}
	})
}
