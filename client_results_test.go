package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func TestWholeResults(t *testing.T) {
	t.Parallel()
	bubble(t, "CMP-03 a completion", func(t *testing.T) {
		c := dialAnswering(t, nil, func(clientMessage) string {
			return `"resultType":"complete","completion":{"values":["a","b"],"total":7,"hasMore":true}`
		})
		got, err := c.Complete(t.Context(), mcp.PromptRef("p"), "a", "", nil)
		if diff := cmp.Diff(&mcp.Completion{Values: []string{"a", "b"}, Total: 7, HasMore: true}, got); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
	})
	bubble(t, "PRM-06 a prompt", func(t *testing.T) {
		c := dialAnswering(t, nil, func(clientMessage) string {
			return `"resultType":"complete","description":"greets","messages":[{"role":"assistant","content":{"type":"text","text":"hi"}}]`
		})
		got, err := c.GetPrompt(t.Context(), "p", nil)
		want := &mcp.PromptResult{Description: "greets", Messages: []mcp.Message{mcp.Assistant("hi")}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
	})
	bubble(t, "CCH-16 what was fetched afresh is kept in the place of the other", func(t *testing.T) {
		answers := 0
		c := dialAnswering(t, nil, func(clientMessage) string {
			answers++
			return fmt.Sprintf(`"resultType":"complete","ttlMs":60000,"cacheScope":"private","contents":[{"uri":"x://a","text":"answer %d"}]`, answers)
		})
		var texts []string
		for _, opts := range [][]mcp.CallOption{nil, nil, {mcp.WithFresh()}, nil} {
			r, err := c.ReadResource(t.Context(), "x://a", opts...)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, r.Contents[0].Text)
		}
		if got := strings.Join(texts, ", "); got != "answer 1, answer 1, answer 2, answer 2" {
			t.Error(got)
		}
	})
	bubble(t, "CCH-16 a thousand results are kept, and no more", func(t *testing.T) {
		asked := 0
		c := dialAnswering(t, nil, func(clientMessage) string {
			asked++
			return `"resultType":"complete","ttlMs":60000,"cacheScope":"private","contents":[]`
		})
		read := func(i int) {
			if _, err := c.ReadResource(t.Context(), fmt.Sprintf("x://%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 1001 {
			read(i)
		}
		read(1000)
		if asked != 1001 {
			t.Errorf("asked %d times for what is kept", asked)
		}
		read(0)
		if asked != 1002 {
			t.Error("more than a thousand are kept")
		}
	})
}

func TestGivingUpAnsweredCalls(t *testing.T) {
	t.Parallel()
	bubble(t, "CAN-03 a call that is given up as its answer is there is not cancelled", func(t *testing.T) {
		f := newFakeServer(t)
		c := f.dial(nil)
		for range 20 { // which of the two is seen first is left to chance
			ctx, cancel := context.WithCancel(t.Context())
			begun, resume, done := make(chan struct{}), make(chan struct{}), make(chan error)
			go func() {
				_, err := c.CallTool(ctx, "t", nil, mcp.WithProgress(func(mcp.ProgressEvent) { close(begun); <-resume }))
				done <- err
			}()
			call := f.next()
			f.progress(call.Params.Meta["progressToken"], `"progress":1`)
			<-begun
			f.result(call, `"resultType":"complete","content":[]`)
			synctest.Wait()
			cancel()
			close(resume)
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			synctest.Wait()
			select {
			case line := <-f.received:
				t.Fatalf("the server was told %s", line)
			default:
			}
		}
	})
}
