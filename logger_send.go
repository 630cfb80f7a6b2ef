package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
)

// sendLog sends a log message before the response. It is named after the
// feature that is at work.
func (r *Request) sendLog(ctx context.Context, level string, data []byte) {
	r.srv.warnOnce("logging", "mcp: logs are sent to clients; "+until, "sep", "SEP-2577")
	msg := r.logMessage(level, data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	if r.logs == nil {
		r.logs = new(logRate)
	}
	ok, missed := r.logs.admit(r.srv.opts.Limits.Logs)
	if !ok {
		return
	}
	if missed > 0 {
		note := jsonx.AppendString(nil, fmt.Sprintf("messages left out before this one, as there were too many: %d", missed))
		_ = r.carrier.notify(ctx, r.logMessage(level, note))
	}
	_ = r.carrier.notify(ctx, msg) // a lost log is no fault of the handler's
}

// logMessage is a notification that logs data.
func (r *Request) logMessage(level string, data []byte) []byte {
	msg := append([]byte(`{"jsonrpc":"2.0","method":"`), jsonrpc.NotifyMessage...)
	msg = jsonx.AppendString(append(msg, `","params":{"level":`...), level)
	if d := r.feature.Load(); d != nil && d.name != "" {
		msg = jsonx.AppendString(append(msg, `,"logger":`...), d.name)
	}
	return append(append(append(msg, `,"data":`...), data...), "}}"...)
}

// logRate bounds what a request logs to its client (MCP 2026-07-28, Logging ›
// Implementation Considerations). Its owner orders the calls.
type logRate struct {
	began        time.Time // of the second that is counted
	sent, missed int
}

// admit reports whether one more message may go, and how many before it could
// not since the last that did.
func (l *logRate) admit(limit int) (ok bool, missed int) {
	if now := time.Now(); now.Sub(l.began) >= time.Second {
		l.began, l.sent = now, 0
	}
	if l.sent >= limit {
		l.missed++
		return false, 0
	}
	l.sent++
	missed, l.missed = l.missed, 0
	return true, missed
}
