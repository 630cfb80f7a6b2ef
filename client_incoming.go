package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// maxAsking is how many questions of a server's are answered at once.
const maxAsking = 16

// incoming deals with what a server sends by itself over l. It never waits.
func (c *Client) incoming(l link, m *jsonrpc.Message) {
	k := l.state()
	if m.Kind == jsonrpc.Request {
		if !k.legacy.Load() { // a server of revision 2026-07-28 asks in its results
			c.log.Warn("mcp: the server sent a request, which its revision does not allow; it was dropped", "method", m.Method)
			return
		}
		c.question(l, m)
		return
	}
	switch e, isEvent := eventOf(m); {
	case isEvent:
		c.changed(k, m, e)
	case m.Method == notifyAcknowledged:
		k.acknowledged(m)
	case m.Method == jsonrpc.NotifyMessage:
		c.serverLog(m)
	case m.Method == jsonrpc.NotifyCancelled:
		k.withdrawn(m)
	case m.Method == "notifications/elicitation/complete": // says nothing that the next call would not find out
	default:
		c.log.Warn("mcp: the server sent what this client does not expect; it was dropped", "method", m.Method)
	}
}

// serverLog passes a log message of the server's on.
func (c *Client) serverLog(m *jsonrpc.Message) {
	if c.opts.ServerLog == nil {
		return
	}
	var params struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if err := decodeMember(m.Params(), &params); err != nil {
		c.log.Warn("mcp: the server sent a malformed log message; it was dropped", "error", err)
		return
	}
	level, known := logLevelOf(params.Level)
	switch {
	case !known:
		level = slog.LevelInfo
	case params.Level == "debug":
		level = slog.LevelDebug
	}
	var attrs []slog.Attr
	text, isText := jsonx.View(params.Data)
	if !isText {
		text = "the server logs"
		attrs = append(attrs, slog.String("data", string(params.Data)))
	}
	if params.Logger != "" {
		attrs = append(attrs, slog.String("logger", params.Logger))
	}
	c.opts.ServerLog.LogAttrs(c.ctx, level, string([]byte(text)), attrs...)
}

// withdrawn ends what the server does not want any more: a question of its
// own, or a subscription.
func (k *calls) withdrawn(m *jsonrpc.Message) {
	id := jsonrpc.ParseID(m.RequestID())
	if id == nil {
		return
	}
	if n, own := ownID(m.RequestID()); own {
		if p := k.find(n); p != nil && p.sub != nil {
			k.settle(p, errEnded)
			return
		}
	}
	k.mu.Lock()
	end := k.asked[id.Key()]
	k.mu.Unlock()
	if end != nil {
		end(ErrCancelled)
	}
}

// question answers a request of a server before revision 2026-07-28: in a
// goroutine of its own, as the user may be asked.
func (c *Client) question(l link, m *jsonrpc.Message) {
	k := l.state()
	key := m.ID.Key()
	ctx, end := context.WithCancelCause(c.ctx)
	k.mu.Lock()
	_, twice := k.asked[key]
	refused := twice || k.err != nil || len(k.asked) >= maxAsking
	if !refused {
		if k.asked == nil {
			k.asked = make(map[string]context.CancelCauseFunc)
		}
		k.asked[key] = end
	}
	k.mu.Unlock()
	if refused {
		end(nil)
		c.log.Warn("mcp: a request of the server was dropped: there are too many, or the connection ends", "method", m.Method)
		return
	}
	k.asking.Add(1)
	_ = c.start(func() { // a client that is closed answers nothing
		defer end(nil)
		msg := c.reply(ctx, k, m)
		k.mu.Lock()
		delete(k.asked, key)
		k.mu.Unlock()
		k.spoke.Store(time.Now().UnixNano())
		k.asking.Add(-1)
		if ctx.Err() != nil { // the server withdrew it, or is gone
			return
		}
		ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
		if err := l.tell(ctx, msg); err != nil {
			c.log.Warn("mcp: the answer to a request of the server could not be sent", "method", m.Method, "error", err)
		}
	})
}

// The codes of what a client refuses (MCP 2025-11-25, Sampling › Error
// Handling).
const codeRefused Code = -1

// reply makes the response to a request of the server's.
func (c *Client) reply(ctx context.Context, k *calls, m *jsonrpc.Message) []byte {
	result, err := c.reactTo(ctx, k, m)
	if err == nil {
		return append(append(jsonrpc.AppendResult(nil, m.ID), result...), '}')
	}
	var fault *Error
	if !errors.As(err, &fault) || fault.remote {
		c.log.Warn("mcp: a request of the server failed", "method", m.Method, "error", err)
		fault = Errorf(CodeInternalError, "Internal error: the client could not answer")
	}
	return jsonrpc.AppendError(nil, m.ID, int(fault.Code), fault.Message, nil)
}

// reactTo returns the result of a request of the server's.
func (c *Client) reactTo(ctx context.Context, k *calls, m *jsonrpc.Message) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	if m.Method == jsonrpc.MethodPing {
		return emptyObject, nil
	}
	w := wireAsk{Method: m.Method, Params: m.Params()}
	raw, err := jsonx.Marshal(&w)
	if err != nil {
		return nil, err
	}
	switch m.Method {
	case "roots/list", "sampling/createMessage", "elicitation/create":
	default:
		return nil, Errorf(CodeMethodNotFound, "Method not found: %.60q", m.Method)
	}
	q, err := readAsk("", raw)
	if err != nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %v", err)
	}
	if missing := q.missing(c.capabilities()); missing != nil {
		code := CodeMethodNotFound
		if m.Method == "elicitation/create" {
			code = CodeInvalidParams
		}
		return nil, Errorf(code, "this client did not declare %s", missing.names())
	}
	if q.Kind != kindRoots && k.idle() {
		return nil, Errorf(CodeInvalidParams, "Invalid params: %s belongs to a request of the client, and none is being served", m.Method)
	}
	result, err = c.appendAnswer(ctx, nil, q)
	if err != nil && q.Kind == kindSampling {
		c.log.Warn("mcp: sampling was refused", "error", err)
		return nil, Errorf(codeRefused, "the request was refused")
	}
	return result, err
}
