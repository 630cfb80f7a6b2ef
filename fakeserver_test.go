package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/typedmcp/mcp"
)

// fakeServer is the server's end of a connection, played by a test. It is the Conn that the client gets.
type fakeServer struct {
	t        testing.TB
	received chan string // what the client wrote
	sent     chan string // what the client is to read
	closed   chan struct{}
	close    func()
}

func newFakeServer(t testing.TB) *fakeServer {
	f := &fakeServer{t: t, received: make(chan string, 4096), sent: make(chan string, 4096), closed: make(chan struct{})}
	f.close = sync.OnceFunc(func() { close(f.closed) })
	return f
}

func (f *fakeServer) Read(ctx context.Context) ([]byte, error) {
	select {
	case msg := <-f.sent:
		return []byte(msg), nil
	default:
	}
	select {
	case msg := <-f.sent:
		return []byte(msg), nil
	case <-f.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *fakeServer) Write(ctx context.Context, msg []byte) error {
	select {
	case f.received <- string(msg):
		return nil
	case <-f.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *fakeServer) Close() error {
	f.close()
	return nil
}

// transport reaches f.
func (f *fakeServer) transport() mcp.Transport {
	return mcp.Custom(func(context.Context) (mcp.Conn, error) { return f, nil })
}

// clientMessage is a message as a client sends it.
type clientMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Name            string                     `json:"name"`
		Arguments       json.RawMessage            `json:"arguments"`
		Cursor          *string                    `json:"cursor"`
		Meta            map[string]json.RawMessage `json:"_meta"`
		RequestID       json.RawMessage            `json:"requestId"`
		Reason          string                     `json:"reason"`
		ProgressToken   json.RawMessage            `json:"progressToken"`
		ProtocolVersion string                     `json:"protocolVersion"`
		Notifications   json.RawMessage            `json:"notifications"`
	} `json:"params"`
}

// next returns the next message of the client.
func (f *fakeServer) next() clientMessage {
	f.t.Helper()
	return f.parse(<-f.received)
}

func (f *fakeServer) parse(line string) clientMessage {
	f.t.Helper()
	var m clientMessage
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" || m.Method == "" {
		f.t.Errorf("no message that a client may send: %v: %s", err, line)
	}
	return m
}

// result answers m with the result whose members are given.
func (f *fakeServer) result(m clientMessage, members string) {
	f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, members)
}

// fault answers m with an error whose members are given.
func (f *fakeServer) fault(m clientMessage, members string) {
	f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{%s}}`, m.ID, members)
}

// progress reports progress on m.
func (f *fakeServer) progress(token json.RawMessage, members string) {
	f.sent <- fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,%s}}`, token, members)
}

const discovered = `"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"`

// dial connects a client, whose discovery f answers, until the test ends.
func (f *fakeServer) dial(opts *mcp.ClientOptions) *mcp.Client {
	f.t.Helper()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		f.result(f.next(), discovered)
	}()
	c, err := mcp.Dial(context.Background(), f.transport(), opts)
	if err != nil {
		f.t.Fatal(err)
	}
	<-answered
	f.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return c
}

// answering lets f answer every request with what answer returns, the members of its result, until the test ends.
// Notifications go by.
func (f *fakeServer) answering(answer func(clientMessage) string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case line := <-f.received:
				if m := f.parse(line); m.ID != nil {
					f.result(m, answer(m))
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
}

// dialAnswering connects a client to a fake server that answers every request after discovery with answer.
func dialAnswering(t testing.TB, opts *mcp.ClientOptions, answer func(clientMessage) string) *mcp.Client {
	f := newFakeServer(t)
	c := f.dial(opts)
	f.answering(answer)
	return c
}
