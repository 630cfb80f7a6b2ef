package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp"
)

const secret = "sesame-dsn://user:hunter2@db"

// remoteFault is an error that another server sent, as a proxy gets it.
func remoteFault(t testing.TB) error {
	s := mcp.NewServer("upstream", "1", nil)
	mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) {
		return "", mcp.Errorf(4711, "upstream fault")
	})
	_, err := dialMemory(t, s, nil).CallTool(context.Background(), "t", nil)
	var fault *mcp.Error
	if !errors.As(err, &fault) || !fault.Remote() {
		t.Fatalf("no remote error: %v", err)
	}
	return err
}

// oddError has methods that misbehave.
type oddError struct{ text *string }

func (e *oddError) Error() string { return *e.text }

func TestErrorPrecedence(t *testing.T) {
	t.Parallel()
	remote := remoteFault(t)
	argsErr := &mcp.ArgsError{Violations: []mcp.Violation{{Message: "a must be even"}}}
	toolErr := &mcp.ToolError{Result: &mcp.Result{Content: []mcp.Content{mcp.Text("one"), mcp.Text("two")}, Structured: 7, Meta: mcp.Meta{"k": json.RawMessage("1")}}}
	around := func(err error) error { return fmt.Errorf("around %s: %w", secret, err) }
	const failed = `,"isError":true`
	refused := holdingText("Invalid arguments:\n- a must be even") + failed

	for _, tt := range []struct {
		name     string
		err      error
		want     string // members of a failed result, or "error" and the members of an error
		redacted string // the same under RedactErrors; "ref": a text with a reference; "": the same
	}{
		{"*Error", mcp.Errorf(4711, "fault %d", 1), `error{"code":4711,"message":"fault 1"}`, ""},
		{"*Error wrapped: only its own text", around(mcp.Errorf(4711, "fault")), `error{"code":4711,"message":"fault"}`, ""},
		{"*Error joined", errors.Join(errors.New(secret), mcp.Errorf(4711, "fault")), `error{"code":4711,"message":"fault"}`, ""},
		{"*Error before *ArgsError", errors.Join(argsErr, mcp.Errorf(4711, "fault")), `error{"code":4711,"message":"fault"}`, ""},
		{"*Error before *ToolError", errors.Join(toolErr, mcp.Errorf(4711, "fault")), `error{"code":4711,"message":"fault"}`, ""},
		{"BASE-14 data as a string", &mcp.Error{Code: 1, Message: "m", Data: "s"}, `error{"code":1,"message":"m","data":"s"}`, ""},
		{"BASE-14 data as an array", &mcp.Error{Code: 1, Message: "m", Data: []int{1}}, `error{"code":1,"message":"m","data":[1]}`, ""},
		{"BASE-14 data as an object", &mcp.Error{Code: 1, Message: "m", Data: row{7, "x"}}, `error{"code":1,"message":"m","data":{"id":7,"name":"x"}}`, ""},
		{"data without JSON is left out", &mcp.Error{Code: 1, Message: "m", Data: func() {}}, `error{"code":1,"message":"m"}`, ""},
		{"data whose method panics is left out", &mcp.Error{Code: 1, Message: "m", Data: panicsInJSON{}}, `error{"code":1,"message":"m"}`, ""},
		{"data whose method fails is left out", &mcp.Error{Code: 1, Message: "m", Data: failsInJSON{}}, `error{"code":1,"message":"m"}`, ""},

		{"remote *Error of a proxied call", remote, holdingText("upstream fault (code 4711)") + failed, "ref"},
		{"remote *Error wrapped", fmt.Errorf("calling upstream: %w", remote), holdingText("calling upstream: upstream fault (code 4711)") + failed, "ref"},

		{"*ArgsError", argsErr, refused, ""},
		{"*ArgsError wrapped: only its own text", around(argsErr), refused, ""},
		{"*ArgsError before *ToolError", errors.Join(toolErr, argsErr), refused, ""},

		{"A31 ToolErrorf", mcp.ToolErrorf("no %s here", "file"), holdingText("no file here") + failed, ""},
		{"A31 ToolErrorf wrapped", around(mcp.ToolErrorf("no file")), holdingText("no file") + failed, ""},
		{"A31 *ToolError with a whole result", toolErr, `"structuredContent":7,` + holding(`{"type":"text","text":"one"},{"type":"text","text":"two"}`) + failed, ""},
		{"*ToolError whose result cannot be sent", &mcp.ToolError{Result: &mcp.Result{Content: []mcp.Content{nil}}}, "ref", ""},
		{"*ToolError without a result", around(&mcp.ToolError{}), holdingText("the tool failed without a message") + failed, ""},

		{"A4 A46 TOOL-15 a plain error", errors.New(secret), holdingText(secret) + failed, "ref"},
		{"a deadline of the handler's own", context.DeadlineExceeded, holdingText("context deadline exceeded") + failed, "ref"},
		{"a cancelled context of the handler's own", context.Canceled, holdingText("context canceled") + failed, "ref"},

		{"a typed nil *Error", (*mcp.Error)(nil), "ref", ""},
		{"a typed nil *ToolError", (*mcp.ToolError)(nil), "ref", ""},
		{"a typed nil *ArgsError", (*mcp.ArgsError)(nil), "ref", ""},
		{"an error whose method panics", &oddError{}, "ref", ""},
	} {
		for _, redact := range []bool{false, true} {
			want := tt.want
			if redact && tt.redacted != "" {
				want = tt.redacted
			}
			t.Run(fmt.Sprintf("%s, redacted %v", tt.name, redact), func(t *testing.T) {
				t.Parallel()
				var book logBook
				s := mcp.NewServer("fixture", "1.0.0", &mcp.ServerOptions{RedactErrors: redact, Logger: book.logger()})
				mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) { return "unused", tt.err })
				c := serveLines(t, s)
				c.send(modernCall("1", "t", "{}"))
				answer := c.next()
				fault, isFault := strings.CutPrefix(want, "error")
				switch {
				case want == "ref":
					ref := reference(t, failureIn(t, answer))
					if !strings.Contains(book.String(), ref) {
						t.Errorf("reference %s, log %s", ref, book.String())
					}
				case isFault:
					if answer != `{"jsonrpc":"2.0","id":1,"error":`+fault+`}` {
						t.Errorf("answer %s", answer)
					}
				default:
					answer = strings.Replace(answer, `"_meta":{"k":1,`, `"_meta":{`, 1)
					if answer != modernResult("1", want) {
						t.Errorf("answer %s", answer)
					}
				}
				if strings.Contains(answer, secret) && !strings.Contains(want, secret) {
					t.Errorf("the secret is in %s", answer)
				}
				c.send(modernCall("2", "t", "{}")) // the server lives
				c.next()
			})
		}
	}
}

func TestErrorRedaction(t *testing.T) {
	t.Parallel()
	for _, redact := range []bool{false, true} {
		t.Run(fmt.Sprintf("A47 with redaction %v the secret is in the log or on the wire", redact), func(t *testing.T) {
			t.Parallel()
			var book logBook
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{RedactErrors: redact, Logger: book.logger()})
			mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) { return "", errors.New(secret) })
			text := failureIn(t, ask(t, s, modernCall("1", "t", "{}")))
			if !redact {
				if text != secret || book.String() != "" {
					t.Errorf("text %q, log %q", text, book.String())
				}
				return
			}
			records := book.records(t, slog.LevelError)
			if len(records) != 1 || records[0]["reference"] != reference(t, text) || records[0]["error"] != secret {
				t.Errorf("text %q, log %v", text, records)
			}
		})
	}
	t.Run("A47 every reference is another", func(t *testing.T) {
		t.Parallel()
		var book logBook
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{RedactErrors: true, Logger: book.logger()})
		mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) { return "", errors.New(secret) })
		first := ask(t, s, modernCall("1", "t", "{}"))
		if second := ask(t, s, modernCall("1", "t", "{}")); first == second {
			t.Error("the same reference twice")
		}
	})
	for name, logger := range map[string]*slog.Logger{
		"no log": nil, "a log that discards": slog.New(slog.DiscardHandler),
		"a log that takes no errors": slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError + 1})),
	} {
		t.Run("A47 C61 no reference leads to "+name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{RedactErrors: true, Logger: logger})
			mcp.AddTool(s, "error", "", func(context.Context, struct{}) (string, error) { return "", errors.New(secret) })
			mcp.AddTool(s, "panic", "", func(context.Context, struct{}) (string, error) { panic(secret) })
			mcp.AddTool(s, "unsendable", "", returning[struct{}](any(failsInJSON{})))
			for _, tool := range []string{"error", "panic", "unsendable"} {
				undisclosed(t, failureIn(t, ask(t, s, modernCall("1", tool, "{}"))))
			}
		})
	}
	t.Run("A47 errors of middleware are redacted like those of handlers", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{RedactErrors: true})
		s.Use(func(mcp.Handler) mcp.Handler {
			return func(context.Context, *mcp.Request) (any, error) { return nil, errors.New(secret) }
		})
		mcp.AddTool(s, "t", "", returning[struct{}](""))
		undisclosed(t, failureIn(t, ask(t, s, modernCall("1", "t", "{}"))))
		for _, method := range []string{"tools/list", "server/discover"} {
			e := faultIn(t, ask(t, s, modernRequest("1", method)))
			if e.Code != mcp.CodeInternalError {
				t.Errorf("%s: %+v", method, e)
			}
			undisclosed(t, e.Message)
		}
	})
}

func TestErrorsOutsideTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		err     error
		code    mcp.Code
		message string
	}{
		{"a plain error is -32603 with its text", errors.New("boom"), mcp.CodeInternalError, "boom"},
		{"ToolErrorf is -32603 with its text", fmt.Errorf("around: %w", mcp.ToolErrorf("for the model")), mcp.CodeInternalError, "for the model"},
		{"*ArgsError is -32602", &mcp.ArgsError{Violations: []mcp.Violation{{Message: "bad"}}}, mcp.CodeInvalidParams, "Invalid arguments:\n- bad"},
		{"*Error as it is", mcp.Errorf(mcp.CodeInvalidRequest, "no"), mcp.CodeInvalidRequest, "no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			s.Use(func(mcp.Handler) mcp.Handler {
				return func(context.Context, *mcp.Request) (any, error) { return nil, tt.err }
			})
			mcp.AddTool(s, "t", "", returning[struct{}](""))
			if e := faultIn(t, ask(t, s, modernRequest("1", "tools/list"))); e.Code != tt.code || e.Message != tt.message {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestErrorCodes(t *testing.T) {
	t.Parallel()
	kept := map[mcp.Code]bool{
		mcp.CodeInvalidRequest: true, mcp.CodeInvalidParams: true, mcp.CodeInternalError: true,
		mcp.CodeHeaderMismatch: true, mcp.CodeMissingCapability: true, mcp.CodeUnsupportedVersion: true,
		-32769: true, -31999: true, 0: true, 1: true, 404: true, -1: true,
	}
	ids := map[mcp.Code]string{-32050: "BASE-15", -32023: "BASE-15", -32099: "BASE-15", -32002: "BASE-16", -32042: "BASE-16",
		-32000: "BASE-17", -32001: "BASE-17", -32019: "BASE-17", 404: "BASE-19", -32768: "BASE-19"}
	codes := []mcp.Code{-32700, -32601, -32768, -32100, -32099, -32050, -32042, -32023, -32019, -32002, -32001, -32000, -32604}
	for code := range kept {
		codes = append(codes, code)
	}
	for _, code := range codes {
		t.Run(fmt.Sprintf("%s %d is a handler's to use: %v", ids[code], code, kept[code]), func(t *testing.T) {
			t.Parallel()
			var book logBook
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: book.logger()})
			err := &mcp.Error{Code: code, Message: "own", Data: 7}
			mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) { return "", err })
			e := faultIn(t, ask(t, s, modernCall("1", "t", "{}")))
			want := code
			if !kept[code] {
				want = mcp.CodeInternalError
			}
			if e.Code != want || e.Message != "own" || string(e.Data) != "7" || err.Code != code {
				t.Errorf("%+v", e)
			}
			logged := strings.Contains(book.String(), "reserved") && strings.Contains(book.String(), fmt.Sprint(int(code)))
			if logged == kept[code] {
				t.Errorf("log %q", book.String())
			}
		})
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	type wrapped struct{ DSN string }
	for name, v := range map[string]any{
		"string": secret, "error": errors.New(secret), "*Error": mcp.Errorf(1, secret), "ToolErrorf": mcp.ToolErrorf(secret), "struct": wrapped{secret},
	} {
		for _, redact := range []bool{false, true} {
			t.Run(fmt.Sprintf("C61 A46 A47 TOOL-15 %s, redacted %v: the value stays in the log, with the stack", name, redact), func(t *testing.T) {
				t.Parallel()
				var book logBook
				s := mcp.NewServer("s", "1", &mcp.ServerOptions{RedactErrors: redact, Logger: book.logger()})
				mcp.AddTool(s, "t", "", func(_ context.Context, a tagArgs) (string, error) {
					if a.Tag == "" {
						panicDeepDown(v)
					}
					return a.Tag, nil
				})
				c := serveLines(t, s)
				c.send(modernCall("1", "t", "{}"))
				answer := c.next()
				ref := reference(t, failureIn(t, answer))
				if strings.Contains(answer, secret) || strings.Contains(answer, "goroutine") {
					t.Errorf("answer %s", answer)
				}
				records := book.records(t, slog.LevelError)
				if len(records) != 1 || records[0]["reference"] != ref {
					t.Fatalf("log %v", records)
				}
				stack, _ := records[0]["stack"].(string)
				if !strings.Contains(fmt.Sprint(records[0]["error"]), secret) || !strings.Contains(stack, "panicDeepDown") {
					t.Errorf("log %v", records)
				}
				c.send(modernCall("2", "t", `{"tag":"next"}`))
				if got := string(resultIn(t, c.next())["content"]); !strings.Contains(got, "next") {
					t.Errorf("then %s", got)
				}
			})
		}
	}
	t.Run("C61 a nil panic", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) { panic(nil) })
		undisclosed(t, failureIn(t, ask(t, s, modernCall("1", "t", "{}"))))
	})
	t.Run("C61 a panic in Validate", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", returning[panicsInValidate](""))
		undisclosed(t, failureIn(t, ask(t, s, modernCall("1", "t", "{}"))))
	})
	t.Run("C61 runtime.Goexit fails the request and no more", func(t *testing.T) {
		t.Parallel()
		var book logBook
		s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: book.logger(), Limits: mcp.Limits{InFlight: 1}})
		mcp.AddTool(s, "t", "", func(context.Context, struct{}) (string, error) {
			runtime.Goexit()
			return "", nil
		})
		c := serveLines(t, s)
		for _, id := range []string{"1", "2", "3"} {
			c.send(modernCall(id, "t", "{}"))
			ref := reference(t, c.expectError(id, mcp.CodeInternalError))
			if !strings.Contains(book.String(), ref) {
				t.Errorf("reference %s, log %s", ref, book.String())
			}
		}
	})
}

func panicDeepDown(v any) { panic(v) }

type panicsInValidate struct{}

func (panicsInValidate) Validate(context.Context) error { panic(secret) }

func TestCancelledWins(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() (string, error){
		"a result":   func() (string, error) { return "late", nil },
		"an *Error":  func() (string, error) { return "", mcp.Errorf(1, "late") },
		"ToolErrorf": func() (string, error) { return "", mcp.ToolErrorf("late") },
		"its cause":  func() (string, error) { return "", context.Canceled },
		"a panic":    func() (string, error) { panic("late") },
		"Goexit":     func() (string, error) { runtime.Goexit(); return "", nil },
	} {
		t.Run("A67 CAN-04 a cancelled call is not answered, whatever it returns: "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mcp.NewServer("s", "1", nil)
				causes := make(chan error, 1)
				mcp.AddTool(s, "t", "", func(ctx context.Context, _ struct{}) (string, error) {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					mcp.Progress(ctx, 1, 0, "late")
					return fail()
				})
				c := serveLines(t, s)
				c.send(modernCall("1", "t", "{}", `"progressToken":1`))
				synctest.Wait()
				c.send(cancelNotice("1", "enough"))
				if cause := <-causes; !errors.Is(cause, mcp.ErrCancelled) || !errors.Is(cause, context.Canceled) || !strings.Contains(cause.Error(), "enough") {
					t.Errorf("cause %v", cause)
				}
				c.quiet()
			})
		})
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{mcp.Errorf(4711, "a %s", "b"), "a b (code 4711)"},
		{mcp.ToolErrorf("a %d", 1), "a 1"},
		{&mcp.ToolError{Result: &mcp.Result{Content: []mcp.Content{mcp.Text("a"), mcp.Image(nil, "x/y"), mcp.Text("b")}}}, "a\nb"},
		{&mcp.ToolError{Result: &mcp.Result{}}, "the tool failed without a message"},
		{&mcp.ToolError{}, "the tool failed without a message"},
		{&mcp.ArgsError{Violations: []mcp.Violation{{Message: "a"}, {Message: "b"}}}, "Invalid arguments:\n- a\n- b"},
		{&mcp.RegistrationError{Feature: "f", Err: errors.New("e")}, "f: e"},
		{&mcp.RegistrationError{Feature: "f", Type: "T", Field: "F", Tag: "x", Caller: "a.go:1", Err: errors.New("e")}, "a.go:1: f: type T: field F: tag `x`: e"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
	t.Run("C136 causes of an end match context.Canceled, and no other", func(t *testing.T) {
		for _, cause := range []error{mcp.ErrCancelled, mcp.ErrDisconnected, mcp.ErrShutdown} {
			if !errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, nil) {
				t.Error(cause)
			}
		}
		if errors.Is(mcp.ErrCancelled, mcp.ErrShutdown) || errors.Is(mcp.ErrClosed, context.Canceled) {
			t.Error("causes are one")
		}
	})
}
