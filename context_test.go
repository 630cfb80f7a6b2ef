package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

type userKey struct{}

// TestRequestContext looks at the context of a request for the first time at
// different moments: it must be the same as if somebody had always looked.
func TestRequestContext(t *testing.T) {
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	timed, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	tests := []struct {
		name   string
		parent context.Context
		look   func(ctx context.Context) string // "" is good
	}{
		{"it has not ended while the handler runs", t.Context(), func(ctx context.Context) string {
			if err := context.Cause(ctx); err != nil {
				return err.Error()
			}
			return ""
		}},
		{"the client was gone before the first look", gone, func(ctx context.Context) string {
			if cause := context.Cause(ctx); !errors.Is(cause, mcp.ErrDisconnected) || ctx.Err() != context.Canceled {
				return "cause " + cause.Error()
			}
			return ""
		}},
		{"the client was gone before a context was derived", gone, func(ctx context.Context) string {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			if cause := context.Cause(ctx); !errors.Is(cause, mcp.ErrDisconnected) {
				return "no cause"
			}
			return ""
		}},
		{"a deadline from outside", timed, func(ctx context.Context) string {
			if d, ok := ctx.Deadline(); !ok || time.Until(d) > time.Hour {
				return "no deadline"
			}
			return ""
		}},
		{"a value from outside", context.WithValue(t.Context(), userKey{}, "x"), func(ctx context.Context) string {
			if ctx.Value(userKey{}) != "x" {
				return "no value"
			}
			return ""
		}},
		{"the request through a derived context", t.Context(), func(ctx context.Context) string {
			if mcp.RequestFrom(context.WithValue(ctx, userKey{}, 1)).Info().Name != "look" {
				return "another request"
			}
			return ""
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var kept context.Context
			s := mcp.NewServer("contexts", "1.0.0", nil)
			mcp.AddTool(s, "look", "", func(ctx context.Context, _ struct{}) (string, error) {
				kept = ctx
				return tt.look(ctx), nil
			})
			callOverHTTP(t, s, tt.parent)
			select {
			case <-kept.Done():
			default:
				t.Error("the context outlives its request")
			}
		})
	}
	t.Run("first looked at after the request", func(t *testing.T) {
		var kept context.Context
		s := mcp.NewServer("contexts", "1.0.0", nil)
		mcp.AddTool(s, "look", "", func(ctx context.Context, _ struct{}) (string, error) {
			kept = ctx
			return "", nil
		})
		callOverHTTP(t, s, context.WithValue(t.Context(), userKey{}, "x"))
		if err := kept.Err(); err != context.Canceled {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
		if v := kept.Value(userKey{}); v != "x" {
			t.Errorf("value %v, want x", v)
		}
	})
}

// TestRequestContextEndedEarly ends the context of a request that nobody has
// looked at yet.
func TestRequestContextEndedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mcp.NewServer("contexts", "1.0.0", nil)
		var shutdown sync.WaitGroup
		mcp.AddTool(s, "look", "", func(ctx context.Context, _ struct{}) (string, error) {
			shutdown.Go(func() { _ = s.Shutdown(t.Context()) })
			synctest.Wait()
			if cause := context.Cause(ctx); !errors.Is(cause, mcp.ErrShutdown) {
				return fmt.Sprint(cause), nil
			}
			return "", nil
		})
		callOverHTTP(t, s, t.Context())
		shutdown.Wait()
	})
}

// callOverHTTP calls the tool "look", which must answer an empty text.
func callOverHTTP(t *testing.T, s *mcp.Server, ctx context.Context) {
	t.Helper()
	h, err := s.HTTPHandler(nil)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {"2026-07-28"},
		"Mcp-Method": {"tools/call"}, "Mcp-Name": {"look"},
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"content":[{"type":"text","text":""}]`) {
		t.Errorf("answer %s", w.Body)
	}
}
