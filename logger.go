package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Logger returns a logger for the request of ctx. What is logged goes to
// ServerOptions.Logger and, as long as the request runs, to its client, if
// ServerOptions.Logging is set and the client asked for logs: those at the
// level it asked for and above (MCP 2026-07-28, Logging). Clients show logs to
// people and models; put no secrets, personal data or internals into them.
//
// The client gets the message as a string or, if the record has attributes, an
// object of them with the message under msg. slog's levels between Info, Warn
// and Error, and those above, are MCP's notice (2), critical (12), alert (16)
// and emergency (20).
func Logger(ctx context.Context) *slog.Logger {
	r := RequestFrom(ctx)
	if r.srv == nil {
		return slog.New(slog.DiscardHandler)
	}
	h := &logHandler{server: r.srv.log.Handler()}
	if level, ok := logLevelOf(r.LogLevel()); ok && r.srv.opts.Logging {
		h.client, h.level = r, level
	}
	return slog.New(h)
}

// logLevels are the levels of MCP, each from the slog.Level on that is the
// least to count as such.
var logLevels = []struct {
	least slog.Level
	name  string
}{
	{20, "emergency"}, {16, "alert"}, {12, "critical"}, {slog.LevelError, "error"},
	{slog.LevelWarn, "warning"}, {2, "notice"}, {slog.LevelInfo, "info"}, {-1 << 31, "debug"},
}

func logLevelOf(name string) (slog.Level, bool) {
	for _, l := range logLevels {
		if l.name == name {
			return l.least, true
		}
	}
	return 0, false
}

func logLevelName(level slog.Level) string {
	i := slices.IndexFunc(logLevels, func(l struct {
		least slog.Level
		name  string
	}) bool {
		return level >= l.least
	})
	return logLevels[max(i, 0)].name
}

// logHandler sends records to the server's log and to the client of a
// request.
type logHandler struct {
	server slog.Handler
	client *Request // nil: it wants none
	level  slog.Level
	scopes []logScope // what WithAttrs and WithGroup added, outermost first
}

// logScope is a group, or attributes.
type logScope struct {
	group string // "": attributes
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.client != nil && level >= h.level || h.server.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, rec slog.Record) error {
	if h.client != nil && rec.Level >= h.level {
		h.client.sendLog(ctx, logLevelName(rec.Level), h.data(rec))
	}
	if h.server.Enabled(ctx, rec.Level) {
		return h.server.Handle(ctx, rec)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(h.server.WithAttrs(attrs), logScope{attrs: attrs})
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.with(h.server.WithGroup(name), logScope{group: name})
}

func (h *logHandler) with(server slog.Handler, scope logScope) slog.Handler {
	out := *h
	out.server = server
	out.scopes = append(slices.Clip(h.scopes), scope)
	return &out
}

// data is what the client gets of a record.
func (h *logHandler) data(rec slog.Record) []byte {
	root := new(logObject)
	at := root
	for _, s := range h.scopes {
		if s.group != "" {
			at = at.object(s.group)
		} else {
			at.add(s.attrs)
		}
	}
	rec.Attrs(func(a slog.Attr) bool {
		at.add([]slog.Attr{a})
		return true
	})
	message := jsonx.AppendString(nil, rec.Message)
	if root.empty() {
		return message
	}
	root.set("msg", message)
	return root.append(nil)
}

// logObject is a JSON object being made. A name that comes again replaces the
// value it had: readers would not agree on which of two counts.
type logObject struct {
	names  []string
	values map[string]logValue
}

// logValue is a JSON text or an object.
type logValue struct {
	text   []byte
	object *logObject
}

func (o *logObject) put(name string, v logValue) {
	if o.values == nil {
		o.values = make(map[string]logValue)
	}
	if _, there := o.values[name]; !there {
		o.names = append(o.names, name)
	}
	o.values[name] = v
}

func (o *logObject) set(name string, text []byte) { o.put(name, logValue{text: text}) }

// object returns the object of that name, which it makes if there is none.
func (o *logObject) object(name string) *logObject {
	if v := o.values[name]; v.object != nil {
		return v.object
	}
	in := new(logObject)
	o.put(name, logValue{object: in})
	return in
}

// empty reports whether there is nothing to show: groups without attributes
// are left out.
func (o *logObject) empty() bool {
	for _, v := range o.values {
		if v.object == nil || !v.object.empty() {
			return false
		}
	}
	return true
}

func (o *logObject) add(attrs []slog.Attr) {
	for _, a := range attrs {
		v := a.Value.Resolve()
		switch {
		case v.Kind() != slog.KindGroup && a.Equal(slog.Attr{}):
		case v.Kind() != slog.KindGroup:
			o.set(a.Key, logText(v))
		case a.Key == "":
			o.add(v.Group())
		default:
			o.object(a.Key).add(v.Group())
		}
	}
}

func (o *logObject) append(dst []byte) []byte {
	dst = append(dst, '{')
	for _, name := range o.names {
		v := o.values[name]
		switch {
		case v.object == nil:
			dst = append(appendName(dst, name), v.text...)
		case !v.object.empty():
			dst = v.object.append(appendName(dst, name))
		}
	}
	return append(dst, '}')
}

// logText is the JSON of a value. Encoding may run methods of users' types.
func logText(v slog.Value) (text []byte) {
	defer func() {
		if p := recover(); p != nil {
			text = jsonx.AppendString(nil, "!PANIC")
		}
	}()
	switch v.Kind() {
	case slog.KindString, slog.KindDuration:
		return jsonx.AppendString(nil, v.String())
	case slog.KindTime:
		return jsonx.AppendString(nil, v.Time().Format(time.RFC3339Nano))
	}
	value := v.Any()
	if err, ok := value.(error); ok {
		if _, encodes := value.(json.Marshaler); !encodes {
			return jsonx.AppendString(nil, err.Error())
		}
	}
	text, err := jsonx.Marshal(&value)
	if err != nil {
		return jsonx.AppendString(nil, fmt.Sprintf("!ERROR: a %T has no JSON", value)) // and may contain itself: do not print it
	}
	return text
}
