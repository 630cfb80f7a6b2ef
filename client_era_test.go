package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

const (
	legacyVersion = "2025-11-25"
	initialized   = `"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}`
)

// talk lets f answer what the client sends with what answer says: the members of a result, an error in braces, or nothing
// for "". It returns what was sent, so far.
func (f *fakeServer) talk(answer func(m clientMessage) string) func() []string {
	var mu sync.Mutex
	var methods []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case line := <-f.received:
				m := f.parse(line)
				mu.Lock()
				methods = append(methods, m.Method)
				mu.Unlock()
				switch reply := answer(m); {
				case m.ID == nil || reply == "":
				case reply[0] == '{':
					f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, reply)
				default:
					f.result(m, reply)
				}
			case <-f.closed:
				return
			}
		}
	}()
	f.t.Cleanup(func() {
		f.close()
		<-done
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), methods...)
	}
}

func TestEraOnAPipe(t *testing.T) {
	t.Parallel()
	const old = "initialize notifications/initialized"
	for _, tt := range []struct {
		name     string
		probe    string // answer to server/discover
		versions []string
		want     string // methods, joined
		protocol string
		fails    string
		takes    time.Duration
	}{
		{"ERD-07 C128 a modern server", discovered, nil, "server/discover", mcp.LatestVersion, "", 0},
		{"ERD-08 C128 -32601", `{"code":-32601,"message":"m"}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-08 C128 -32602", `{"code":-32602,"message":"m"}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-08 -32600", `{"code":-32600,"message":"m"}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-08 C128 -32000", `{"code":-32000,"message":"m"}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-08 -1", `{"code":-1,"message":"m"}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-08 AMB-07 -32004 is no evidence", `{"code":-32004,"message":"m"}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-08 a malformed reply", `"supportedVersions":7`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-12 an answer without versions", `"capabilities":{}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-08 -32022 without a list", `{"code":-32022,"message":"m"}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-09 C128 silence", "", nil, "server/discover " + old, legacyVersion, "", 5 * time.Second},
		{"ERD-11 -32022 with older versions alone", `{"code":-32022,"message":"m","data":{"supported":["2025-11-25"]}}`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-11 older versions alone", `"supportedVersions":["2025-11-25","2025-06-18"]`, nil, "server/discover " + old, legacyVersion, "", 0},
		{"ERD-10 VER-03 -32022 for ever", `{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`, nil, "server/discover server/discover", "", "code -32022", 0},
		{"VER-03 no version in common", `{"code":-32022,"message":"m","data":{"supported":["2031-01-01"]}}`, nil, "server/discover", "", `speaks ["2031-01-01"]`, 0},
		{"ERD-13 C128 -32020", `{"code":-32020,"message":"m"}`, nil, "server/discover", "", "code -32020", 0},
		{"ERD-13 -32021", `{"code":-32021,"message":"m"}`, nil, "server/discover", "", "code -32021", 0},
		{"ERD-17 ERD-18 modern only", `{"code":-32601,"message":"m"}`, []string{"2026-07-28"}, "server/discover", "", "only revisions before 2026-07-28", 0},
		{"ERD-17 legacy only", discovered, []string{"2025-11-25"}, old, legacyVersion, "", 0},
		{"LIF-02 the newest that is spoken", discovered, []string{"2024-11-05", "2025-11-25"}, old, legacyVersion, "", 0},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			f := newFakeServer(t)
			var offered string
			methods := f.talk(func(m clientMessage) string {
				switch m.Method {
				case "server/discover":
					return tt.probe
				case "initialize":
					offered = m.version()
					return initialized
				}
				return `"content":[]`
			})
			start := time.Now()
			c, err := mcp.Dial(t.Context(), f.transport(), &mcp.ClientOptions{Versions: tt.versions})
			synctest.Wait()
			if got := strings.Join(methods(), " "); got != tt.want || time.Since(start) != tt.takes {
				t.Errorf("sent %q after %v", got, time.Since(start))
			}
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Server().Protocol; got != tt.protocol || offered != "" && offered != legacyVersion {
				t.Errorf("speaks %q, offered %q", got, offered)
			}
			mustCall(t, c, "t", nil)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// version is what the client offers with initialize.
func (m clientMessage) version() string { return m.Params.ProtocolVersion }

func TestEraIsRemembered(t *testing.T) {
	t.Parallel()
	// dialTwice connects twice by way of one transport; old says of each connection whether its server is an old one.
	dialTwice := func(t *testing.T, old ...bool) (methods []string) {
		n := 0
		var all []func() []string
		transport := mcp.Custom(func(context.Context) (mcp.Conn, error) {
			f, isOld := newFakeServer(t), old[n]
			n++
			all = append(all, f.talk(func(m clientMessage) string {
				switch {
				case m.Method == "server/discover" && !isOld:
					return discovered
				case m.Method == "initialize" && isOld:
					return initialized
				}
				return `{"code":-32601,"message":"m"}`
			}))
			return f, nil
		})
		for range 2 {
			c, err := mcp.Dial(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, sent := range all {
			methods = append(methods, strings.Join(sent(), " "))
		}
		return methods
	}
	bubble(t, "ERD-16 the second connect skips the probe", func(t *testing.T) {
		got := dialTwice(t, true, true)
		if got[0] != "server/discover initialize notifications/initialized" || got[1] != "initialize notifications/initialized" {
			t.Errorf("%q", got)
		}
	})
	bubble(t, "ERD-16 a verdict that proves wrong is dropped", func(t *testing.T) {
		got := dialTwice(t, true, false, false)
		if len(got) != 3 || got[1] != "initialize" || got[2] != "server/discover" {
			t.Errorf("%q", got)
		}
	})
	bubble(t, "ERD-09 a modern server that is merely slow", func(t *testing.T) {
		f := newFakeServer(t)
		slow := true
		methods := f.talk(func(m clientMessage) string {
			switch {
			case m.Method == "initialize":
				return `{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`
			case slow:
				slow = false
				return ""
			}
			return discovered
		})
		c, err := mcp.Dial(t.Context(), f.transport(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got := strings.Join(methods(), " "); got != "server/discover initialize server/discover" || c.Server().Protocol != mcp.LatestVersion {
			t.Errorf("%s: %q", c.Server().Protocol, got)
		}
	})
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	legacyOnly := func(o mcp.ClientOptions) *mcp.ClientOptions {
		o.Versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
		return &o
	}
	dial := func(t *testing.T, opts *mcp.ClientOptions, answer string) (*fakeServer, *mcp.Client, clientMessage, error) {
		f := newFakeServer(t)
		var first clientMessage
		done := make(chan struct{})
		go func() {
			defer close(done)
			first = f.next()
			f.result(first, answer)
		}()
		c, err := mcp.Dial(t.Context(), f.transport(), opts)
		<-done
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
		return f, c, first, err
	}
	bubble(t, "LIF-01 LIF-02 what is sent", func(t *testing.T) {
		f, c, first, err := dial(t, legacyOnly(mcp.ClientOptions{Name: "n", Version: "v", ElicitForm: acceptForm, Roots: noRoots}), initialized)
		if err != nil {
			t.Fatal(err)
		}
		if first.Method != "initialize" || first.version() != legacyVersion || first.Params.Meta != nil {
			t.Errorf("first %+v", first)
		}
		if m := f.next(); m.Method != "notifications/initialized" || m.ID != nil {
			t.Errorf("second %+v", m)
		}
		if info := c.Server(); info.Name != "old" || info.Protocol != legacyVersion || info.Capabilities.Tools == nil {
			t.Errorf("server %+v", info)
		}
	})
	for _, version := range []string{"1999-01-01", "2026-07-28", ""} {
		bubble(t, fmt.Sprintf("LIF-04 the server answers %q: the client disconnects", version), func(t *testing.T) {
			f, _, _, err := dial(t, legacyOnly(mcp.ClientOptions{}), `"protocolVersion":"`+version+`","capabilities":{}`)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", version)) {
				t.Errorf("error %v", err)
			}
			synctest.Wait()
			select {
			case <-f.closed:
			default:
				t.Error("the connection is open")
			}
		})
	}
	bubble(t, "LIF-04 LIF-07 an older one that is spoken holds", func(t *testing.T) {
		_, c, _, err := dial(t, legacyOnly(mcp.ClientOptions{}), `"protocolVersion":"2024-11-05","capabilities":{}`)
		if err != nil || c.Server().Protocol != "2024-11-05" {
			t.Fatalf("%v", err)
		}
	})
	bubble(t, "LIF-08 initialize is never cancelled", func(t *testing.T) {
		f := newFakeServer(t)
		_, err := mcp.Dial(t.Context(), f.transport(), legacyOnly(mcp.ClientOptions{Timeout: time.Second}))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		if m := f.next(); m.Method != "initialize" || len(f.received) != 0 {
			t.Errorf("then %s", <-f.received)
		}
	})
	bubble(t, "LIF-11 LIF-10 requests have no metadata of 2026-07-28, and stamps of results mean nothing", func(t *testing.T) {
		f, c, _, err := dial(t, legacyOnly(mcp.ClientOptions{}), initialized)
		if err != nil {
			t.Fatal(err)
		}
		f.next() // initialized
		for _, tt := range []struct {
			options []mcp.CallOption
			want    string
		}{
			{nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`},
			{[]mcp.CallOption{mcp.WithProgress(func(mcp.ProgressEvent) {}), mcp.WithMeta("com.example/k", 1)},
				`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":3,"com.example/k":1}}}`},
		} {
			go func() {
				line := <-f.received
				if line != tt.want {
					t.Errorf("sent %s", line)
				}
				f.result(f.parse(line), `"resultType":"weird","content":[]`)
			}()
			mustCall(t, c, "t", nil, tt.options...)
		}
		if _, err := c.CallTool(t.Context(), "t", nil, mcp.WithAnswers(nil, "s")); err == nil || !strings.Contains(err.Error(), "WithAnswers") {
			t.Errorf("BRG-06: error %v", err)
		}
	})
	t.Run("an unknown revision in the options", func(t *testing.T) {
		t.Parallel()
		for _, versions := range [][]string{{"2031-01-01"}, {}} {
			if _, err := mcp.Dial(t.Context(), newFakeServer(t).transport(), &mcp.ClientOptions{Versions: versions}); err == nil || !strings.Contains(err.Error(), "Versions") {
				t.Errorf("error %v", err)
			}
		}
	})
}

func acceptForm(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept"}, nil
}

func noRoots(context.Context) ([]mcp.Root, error) { return nil, nil }
