package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// logNotice is a log as a client gets it; name "" leaves the logger out.
func logNotice(level, name, data string) string {
	if name != "" {
		name = `"logger":` + quoted(name) + `,`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,%s"data":%s}}`, level, name, data)
}

func wantLevel(level string) string { return levelMember + quoted(level) }

// allLevels are the levels of the protocol, the lowest first, with the slog.Level of each.
var allLevels = []struct {
	name  string
	level slog.Level
}{
	{"debug", slog.LevelDebug}, {"info", slog.LevelInfo}, {"notice", 2}, {"warning", slog.LevelWarn},
	{"error", slog.LevelError}, {"critical", 12}, {"alert", 16}, {"emergency", 20},
}

// newLogging returns a server whose tool "t" does log, for its client where clients get logs.
func newLogging(clients bool, book *logBook, log func(context.Context)) *mcp.Server {
	s := mcp.NewServer("fixture", "1.0.0", &mcp.ServerOptions{Logging: clients, Logger: book.logger()})
	mcp.AddTool(s, "t", "", func(ctx context.Context, _ noArgs) (string, error) {
		log(ctx)
		return "x", nil
	})
	return s
}

func TestLoggerLevels(t *testing.T) {
	t.Parallel()
	all := func(ctx context.Context) {
		for _, l := range allLevels {
			mcp.Logger(ctx).Log(ctx, l.level, l.name)
		}
	}
	for i, asked := range allLevels {
		bubble(t, "LOG-03 A24 P11 M12 M35 "+asked.name+" and what is above, before the response", func(t *testing.T) {
			c := serveLines(t, newLogging(true, new(logBook), all))
			c.send(modernCall("1", "t", `{}`, wantLevel(asked.name)))
			for _, l := range allLevels[i:] {
				c.expect(logNotice(l.name, "t", quoted(l.name)))
			}
			c.expect(modernText("1", "x"))
			c.quiet()
		})
	}
	bubble(t, "LOG-02 A24 who asks for no level gets none, the server's log all", func(t *testing.T) {
		book := new(logBook)
		c := serveLines(t, newLogging(true, book, all))
		c.send(modernCall("1", "t", `{}`))
		c.expect(modernText("1", "x"))
		c.quiet()
		if n := len(strings.Split(strings.TrimSpace(book.String()), "\n")); n != len(allLevels) {
			t.Errorf("%d records in the log: %s", n, book)
		}
	})
	bubble(t, "LOG-01 LOG-09 a server without the option sends none, and does not say that it would", func(t *testing.T) {
		for _, offered := range []bool{false, true} {
			c := serveLines(t, newLogging(offered, new(logBook), all))
			c.send(modernRequest("1", "server/discover"))
			if got := c.next(); strings.Contains(got, `"logging":{}`) != offered {
				t.Errorf("discovered %s", got)
			}
			c.send(modernCall("2", "t", `{}`, wantLevel("emergency")))
			if offered {
				c.expect(logNotice("emergency", "t", `"emergency"`))
			}
			c.expect(modernText("2", "x"))
			c.quiet()
		}
	})
	for _, level := range []string{`"verbose"`, `"INFO"`, `""`, `5`, `null`, `["info"]`} {
		t.Run("LOG-05 A24 no level: "+level, func(t *testing.T) {
			ran := false
			s := newLogging(true, new(logBook), func(context.Context) { ran = true })
			if fault := faultIn(t, ask(t, s, modernCall("1", "t", `{}`, levelMember+level))); fault.Code != mcp.CodeInvalidParams || ran {
				t.Errorf("%+v, ran: %v", fault, ran)
			}
		})
	}
	bubble(t, "levels between those of the protocol count as the next below", func(t *testing.T) {
		s := newLogging(true, new(logBook), func(ctx context.Context) {
			for _, l := range []slog.Level{-100, -1, 1, 3, 7, 11, 15, 19, 100} {
				mcp.Logger(ctx).Log(ctx, l, "")
			}
		})
		c := serveLines(t, s)
		c.send(modernCall("1", "t", `{}`, wantLevel("debug")))
		for _, name := range []string{"debug", "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
			c.expect(logNotice(name, "t", `""`))
		}
	})
	t.Run("Enabled says who listens", func(t *testing.T) {
		book := new(logBook)
		opts := &mcp.ServerOptions{Logging: true, Logger: slog.New(slog.NewJSONHandler(book, &slog.HandlerOptions{Level: slog.LevelError}))}
		s := mcp.NewServer("fixture", "1.0.0", opts)
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ noArgs) (string, error) {
			l := mcp.Logger(ctx)
			l.Info("for the client")
			return fmt.Sprint(l.Enabled(ctx, slog.LevelDebug), l.Enabled(ctx, slog.LevelInfo), l.Enabled(ctx, slog.LevelError)), nil
		})
		c := serveLines(t, s)
		c.send(modernCall("1", "t", `{}`, wantLevel("info")), modernCall("2", "t", `{}`))
		c.expectAnyOrder(logNotice("info", "t", `"for the client"`), modernText("1", "false true true"), modernText("2", "false false true"))
		if strings.Contains(book.String(), "for the client") {
			t.Error("the server's log has what it does not want")
		}
	})
}

// TestLoggerData is about what clients get of a record.
func TestLoggerData(t *testing.T) {
	t.Parallel()
	cyclic := make(map[string]any)
	cyclic["self"] = cyclic
	at := time.Date(2026, 7, 28, 1, 2, 3, 4, time.UTC)
	for _, c := range []struct {
		name string
		log  func(l *slog.Logger)
		want string
	}{
		{"LOG-06 a message", func(l *slog.Logger) { l.Info("a \"b\"\n") }, `"a \"b\"\n"`},
		{"LOG-06 an empty message is data too", func(l *slog.Logger) { l.Info("") }, `""`},
		{"LOG-06 attributes", func(l *slog.Logger) { l.Info("m", "n", 1, "s", "x", "ok", true, "none", nil) }, `{"n":1,"s":"x","ok":true,"none":null,"msg":"m"}`},
		{"large whole numbers", func(l *slog.Logger) { l.Info("m", "n", uint64(1<<63), "i", int64(-1<<63)) }, `{"n":9223372036854775808,"i":-9223372036854775808,"msg":"m"}`},
		{"times and spans of time", func(l *slog.Logger) { l.Info("m", "at", at, "for", 90*time.Second) }, `{"at":"2026-07-28T01:02:03.000000004Z","for":"1m30s","msg":"m"}`},
		{"errors", func(l *slog.Logger) { l.Info("m", "error", errors.New("no stock")) }, `{"error":"no stock","msg":"m"}`},
		{"groups", func(l *slog.Logger) { l.Info("m", slog.Group("g", "a", 1, slog.Group("h", "b", 2))) }, `{"g":{"a":1,"h":{"b":2}},"msg":"m"}`},
		{"groups without attributes are left out", func(l *slog.Logger) { l.WithGroup("g").Info("m", slog.Group("h")) }, `"m"`},
		{"a group without a name is none", func(l *slog.Logger) { l.WithGroup("").Info("m", slog.Group("", "a", 1)) }, `{"a":1,"msg":"m"}`},
		{"attributes and groups of a logger", func(l *slog.Logger) { l.With("a", 1).WithGroup("g").With("b", 2).Info("m", "c", 3) }, `{"a":1,"g":{"b":2,"c":3},"msg":"m"}`},
		{"loggers made of one do not mix", func(l *slog.Logger) {
			base := l.With("a", 1)
			_, two := base.With("b", 2), base.With("c", 3)
			two.Info("m")
		}, `{"a":1,"c":3,"msg":"m"}`},
		{"a name twice counts once", func(l *slog.Logger) { l.With("a", 1).Info("m", "a", 2, "msg", "other") }, `{"a":2,"msg":"m"}`},
		{"an empty attribute is none", func(l *slog.Logger) { l.Info("m", slog.Attr{}) }, `"m"`},
		{"values that are made when they are logged", func(l *slog.Logger) { l.Info("m", "v", valuer{slog.StringValue("late")}) }, `{"v":"late","msg":"m"}`},
		{"a value without JSON", func(l *slog.Logger) { l.Info("m", "v", struct{ C chan int }{}) }, `{"v":"!ERROR: a struct { C chan int } has no JSON","msg":"m"}`},
		{"LOG-07 a value whose method panics", func(l *slog.Logger) { l.Info("m", "v", panicsWhenLogged{}) }, `{"v":"!PANIC","msg":"m"}`},
		{"text that is not valid", func(l *slog.Logger) { l.Info("\xff", "k", "\xfe") }, "{\"k\":\"\ufffd\",\"msg\":\"\ufffd\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newLogging(true, new(logBook), func(ctx context.Context) { c.log(mcp.Logger(ctx)) })
			lines := serveLines(t, s)
			lines.send(modernCall("1", "t", `{}`, wantLevel("debug")))
			m := parseWire(t, lines.next())
			var params struct{ Data json.RawMessage }
			if err := json.Unmarshal(m.Params, &params); err != nil {
				t.Fatal(err)
			}
			var got, want any
			if json.Unmarshal(params.Data, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatalf("no JSON: %s or %s", params.Data, c.want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", params.Data, diff)
			}
		})
	}
	t.Run("a value that contains itself fails nobody", func(t *testing.T) {
		s := mcp.NewServer("fixture", "1.0.0", &mcp.ServerOptions{Logging: true})
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ noArgs) (string, error) {
			mcp.Logger(ctx).Info("m", "v", cyclic)
			return "x", nil
		})
		c := serveLines(t, s)
		c.send(modernCall("1", "t", `{}`, wantLevel("debug")))
		if m := parseWire(t, c.next()); m.Method != "notifications/message" {
			t.Errorf("got %+v", m)
		}
		c.expect(modernText("1", "x"))
	})
}

type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

type panicsWhenLogged struct{}

func (panicsWhenLogged) MarshalJSON() ([]byte, error) { panic("a secret of the program") }

// logsInJSON logs while it is encoded.
type logsInJSON struct{ ctx context.Context }

func (l logsInJSON) MarshalJSON() ([]byte, error) {
	mcp.Logger(l.ctx).Error("being encoded")
	return []byte("{}"), nil
}

// redacting is how a server keeps something out of all logs.
type redacting struct{ slog.Handler }

func (r redacting) Handle(ctx context.Context, rec slog.Record) error {
	clean := slog.NewRecord(rec.Time, rec.Level, rec.Message, rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		if a.Key == "password" {
			a.Value = slog.StringValue("***")
		}
		clean.AddAttrs(a)
		return true
	})
	return r.Handler.Handle(ctx, clean)
}

func TestLoggerUse(t *testing.T) {
	t.Parallel()
	t.Run("LOG-07 a handler around it redacts for the client and the server", func(t *testing.T) {
		book := new(logBook)
		s := newLogging(true, book, func(ctx context.Context) {
			slog.New(redacting{mcp.Logger(ctx).Handler()}).Info("signed in", "user", "ada", "password", "lovelace")
		})
		c := serveLines(t, s)
		c.send(modernCall("1", "t", `{}`, wantLevel("info")))
		c.expect(logNotice("info", "t", `{"user":"ada","password":"***","msg":"signed in"}`), modernText("1", "x"))
		if strings.Contains(book.String(), "lovelace") || !strings.Contains(book.String(), "ada") {
			t.Errorf("logged %s", book)
		}
	})
	t.Run("LOG-08 loggers are named after the feature at work", func(t *testing.T) {
		s := mcp.NewServer("fixture", "1.0.0", &mcp.ServerOptions{Logging: true})
		log := func(ctx context.Context) (string, error) { mcp.Logger(ctx).Info("here"); return "", nil }
		group := s.Scope("group")
		mcp.AddTool(group, "tool", "", func(ctx context.Context, _ noArgs) (string, error) { return log(ctx) })
		mcp.AddPrompt(s, "prompt", "", func(ctx context.Context, _ noArgs) (string, error) { return log(ctx) })
		mcp.AddResource(s, "test://a", "resource", log)
		mcp.AddTemplate(s, "test://b/{x}", "template", func(ctx context.Context, _ struct {
			X string `json:"x"`
		}) (string, error) {
			return log(ctx)
		})
		s.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				if r.Method() == "tools/list" {
					_, _ = log(ctx)
				}
				return next(ctx, r)
			}
		})
		level := []string{wantLevel("info")}
		for name, r := range map[string]round{
			"group_tool": {name: "group_tool", meta: level}, "prompt": {method: "prompts/get", name: "prompt", meta: level},
			"resource": {method: "resources/read", name: "test://a", meta: level}, "template": {method: "resources/read", name: "test://b/1", meta: level},
			"": {method: "tools/list", meta: level},
		} {
			c := serveLines(t, s)
			c.send(r.line("1"))
			c.expect(logNotice("info", name, `"here"`))
		}
	})
	t.Run("LOG-04 C113 logs go with the response of their own request", func(t *testing.T) {
		var both sync.WaitGroup
		both.Add(2)
		s := newLogging(true, new(logBook), func(ctx context.Context) {
			both.Done()
			both.Wait() // the other one is at work
			mcp.Logger(ctx).Info("of " + string(mcp.RequestFrom(ctx).ProgressToken()))
		})
		h := newHandler(t, s, nil)
		var answers [2]httpAnswer
		var group sync.WaitGroup
		for i, meta := range [][]string{{`"progressToken":1`, wantLevel("info")}, {`"progressToken":2`}} {
			group.Go(func() { answers[i] = exchange(t, h, modernPost(modernCall("1", "t", `{}`, meta...))) })
		}
		group.Wait()
		answers[0].expectStream(t, logNotice("info", "t", `"of 1"`), modernText("1", "x"))
		answers[1].expect(t, 200, modernText("1", "x"))
	})
	bubble(t, "LOG-04 nothing is logged to a client after its response", func(t *testing.T) {
		book := new(logBook)
		late := make(chan context.Context, 1)
		c := serveLines(t, newLogging(true, book, func(ctx context.Context) { late <- ctx }))
		c.send(modernCall("1", "t", `{}`, wantLevel("debug")))
		c.expect(modernText("1", "x"))
		mcp.Logger(<-late).Error("too late")
		c.quiet()
		if !strings.Contains(book.String(), "too late") {
			t.Error("the server's log does not have it either")
		}
	})
	bubble(t, "LOG-04 nor while its response is made", func(t *testing.T) {
		s := mcp.NewServer("fixture", "1.0.0", &mcp.ServerOptions{Logging: true})
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ noArgs) (logsInJSON, error) { return logsInJSON{ctx}, nil })
		c := serveLines(t, s)
		c.send(modernCall("1", "t", `{}`, wantLevel("debug")))
		if m := parseWire(t, c.next()); m.Result == nil {
			t.Errorf("got %+v", m)
		}
		c.quiet()
	})
	bubble(t, "LOG-04 STD-09 nor after it was cancelled", func(t *testing.T) {
		s := newLogging(true, new(logBook), func(ctx context.Context) {
			<-ctx.Done()
			mcp.Logger(ctx).Error("cancelled")
		})
		c := serveLines(t, s)
		c.send(modernCall("1", "t", `{}`, wantLevel("debug")))
		synctest.Wait()
		c.send(cancelNotice("1", ""))
		c.quiet()
	})
	bubble(t, "M12 M35 logs and progress keep their order", func(t *testing.T) {
		s := newLogging(true, new(logBook), func(ctx context.Context) {
			for i, text := range []string{"one", "two"} {
				mcp.Progress(ctx, float64(i+1), 0, "")
				mcp.Progress(ctx, float64(i), 0, "") // falls: dropped
				mcp.Logger(ctx).Info(text)
				mcp.Logger(ctx).Debug("not asked for")
			}
		})
		progress := func(n int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":%d}}`, n)
		}
		c := serveLines(t, s)
		c.send(modernCall("1", "t", `{}`, wantLevel("info"), `"progressToken":9`))
		c.expect(progress(1), logNotice("info", "t", `"one"`), progress(2), logNotice("info", "t", `"two"`), modernText("1", "x"))
		c.quiet()
	})
	t.Run("out of a request it discards", func(t *testing.T) {
		l := mcp.Logger(context.Background())
		if l.Info("nobody hears it"); l.Enabled(context.Background(), slog.LevelError) {
			t.Error("enabled")
		}
	})
}

// TestLoggerRate logs more than a client should have to read.
func TestLoggerRate(t *testing.T) {
	t.Parallel()
	bubble(t, "LOG-08 what is too much is left out, counted, and in the server's log", func(t *testing.T) {
		book := new(logBook)
		s := mcp.NewServer("fixture", "1.0.0", &mcp.ServerOptions{Logging: true, Logger: book.logger(), Limits: mcp.Limits{Logs: 2}})
		mcp.AddTool(s, "t", "", func(ctx context.Context, _ noArgs) (string, error) {
			for i := range 7 {
				if i == 5 {
					time.Sleep(time.Second)
				}
				mcp.Logger(ctx).Info(fmt.Sprint(i))
			}
			return "x", nil
		})
		c := serveLines(t, s)
		for _, id := range []string{"1", "2"} { // each request has its own
			c.send(modernCall(id, "t", `{}`, wantLevel("info")))
			for _, data := range []string{"0", "1", "messages left out before this one, as there were too many: 3", "5", "6"} {
				c.expect(logNotice("info", "t", quoted(data)))
			}
			c.expect(modernText(id, "x"))
		}
		if !strings.Contains(book.String(), `"msg":"3"`) {
			t.Errorf("the server's log: %s", book)
		}
	})
}
