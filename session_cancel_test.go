package mcp_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// TestHTTPSessionCancel shows what ends a call of a session, and what does not.
func TestHTTPSessionCancel(t *testing.T) {
	t.Parallel()
	streams(t, "LHT-17 LFE-05 C107 a notification of exactly its id", nil, func(t *testing.T, s *streamed) {
		c, other := s.open("2025-06-18", ""), s.open("2025-06-18", "")
		call := s.n.events(t, c.post(progressCall("7")))
		call.expect(progressNotice("7", 1, 2))
		c.exchange(c.post(cancelNotice(`"7"`, "x"))).expect(t, 202, "")
		c.exchange(c.post(cancelNotice("8", "x"))).expect(t, 202, "")
		other.exchange(other.post(cancelNotice("7", "x"))).expect(t, 202, "")
		exchange(t, s.h, modernPost(cancelNotice("7", "x"), "Mcp-Session-Id: "+c.id)).expect(t, 202, "")
		synctest.Wait()
		if len(s.ends) > 0 {
			t.Fatal("a call was cancelled that nobody named")
		}
		c.exchange(c.post(cancelNotice("7", "enough"))).expect(t, 202, "")
		if cause := <-s.ends; !errors.Is(cause, mcp.ErrCancelled) || !strings.Contains(cause.Error(), "enough") {
			t.Errorf("the context ended with %v", cause)
		}
		call.ended() // without an answer
	})
	for _, version := range earlier {
		streams(t, "LHT-17 before anything was sent: "+version, nil, func(t *testing.T, s *streamed) {
			c := s.open(version, "")
			for _, tt := range []struct {
				accept, kind string
				status       int
			}{{"application/json", "", 204}, {"application/json, text/event-stream", "text/event-stream", 200}} {
				got := make(chan httpAnswer, 1)
				go func() { got <- c.exchange(c.post(legacyCall("7", "steps", "{}"), "Accept: "+tt.accept)) }()
				synctest.Wait()
				c.exchange(c.post(legacyCall("7", "log", "{}"))).expectError(t, 200, mcp.CodeInvalidRequest, "7") // the id is in use
				c.exchange(c.post(cancelNotice("7", "x")))
				if cause := <-s.ends; !errors.Is(cause, mcp.ErrCancelled) {
					t.Errorf("the context ended with %v", cause)
				}
				if a := <-got; a.status != tt.status || len(a.events) != 0 || a.header.Get("Content-Type") != tt.kind {
					t.Errorf("%d %s %s", a.status, a.header, a.body)
				}
			}
		})
	}
	streams(t, "LHT-17 not a lost connection", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-06-18", "")
		call := s.n.events(t, c.post(progressCall("7")))
		call.expect(progressNotice("7", 1, 2))
		_ = call.resp.Body.Close()
		time.Sleep(time.Hour)
		if len(s.ends) > 0 {
			t.Errorf("the call was told %v", <-s.ends)
		}
		c.exchange(c.post(cancelNotice("7", "x")))
		if cause := <-s.ends; !errors.Is(cause, mcp.ErrCancelled) {
			t.Errorf("the context ended with %v", cause)
		}
	})
	streams(t, "LHT-07 the end of its session", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-06-18", "")
		call := s.n.events(t, c.post(progressCall("7")))
		call.expect(progressNotice("7", 1, 2))
		c.exchange(c.end()).expect(t, 204, "")
		if cause := <-s.ends; !errors.Is(cause, mcp.ErrDisconnected) {
			t.Errorf("the context ended with %v", cause)
		}
	})
	streams(t, "LHT-07 several ends at once", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-06-18", "")
		for range 10 {
			done := make(chan int, 8)
			for range cap(done) {
				go func() { done <- c.exchange(c.end()).status }()
			}
			for range cap(done) {
				if status := <-done; status != 204 && status != 404 {
					t.Errorf("%d", status)
				}
			}
			c = s.open("2025-06-18", "")
		}
	})
	streams(t, "LFE-05 M22 a part of a batch", nil, func(t *testing.T, s *streamed) {
		c := s.open("2025-03-26", "")
		got := make(chan httpAnswer, 1)
		go func() {
			got <- c.exchange(c.post(batchOf(legacyCall("7", "steps", "{}"), legacyCall("8", "log", "{}"))))
		}()
		synctest.Wait()
		c.exchange(c.post(batchOf(cancelNotice("7", "x"))))
		if cause := <-s.ends; !errors.Is(cause, mcp.ErrCancelled) {
			t.Errorf("the context ended with %v", cause)
		}
		a := <-got
		a.expect(t, 200, batchOf(legacyResult("8", "logged")))
	})
}
