package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestConnCancelStress cancels calls at every point of their lives. After a cancellation the client sends a ping: as the
// server reads in order and writes in order, nothing for the cancelled call may come after the ping's answer.
func TestConnCancelStress(t *testing.T) {
	t.Parallel()
	bubble(t, "CAN-07 STD-09 A67 1,000 calls cancelled at random", func(t *testing.T) {
		const calls = 1000
		left := func(id int) bool { return id%10 == 0 } // to run to their end
		f := newFixture(&mcp.ServerOptions{Limits: mcp.Limits{InFlight: 50, Queue: calls}})
		mcp.AddTool(f, "work", "Report count times, or until cancelled", func(ctx context.Context, a countArgs) (string, error) {
			for i := range a.Count {
				mcp.Progress(ctx, float64(i+1), 0, "")
				runtime.Gosched()
			}
			if a.Count%7 == 0 {
				<-ctx.Done()
			}
			return "worked", context.Cause(ctx)
		})
		c := serveLines(t, f.Server)
		var group sync.WaitGroup
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, 2))
			var open []int
			cancelOne := func() {
				i := random.IntN(len(open))
				id := fmt.Sprint(open[i])
				open[i] = open[len(open)-1]
				open = open[:len(open)-1]
				c.send(cancelNotice(id, "stress"), plainRequest(`"after `+id+`"`, "ping"))
			}
			for id := range calls {
				count := random.IntN(20)
				if left(id) {
					count = 1
				} else {
					open = append(open, id)
				}
				c.send(modernCall(fmt.Sprint(id), "work", fmt.Sprintf(`{"count":%d}`, count), fmt.Sprintf(`"progressToken":%d`, id)))
				for random.IntN(2) == 0 && len(open) > 0 {
					cancelOne()
				}
			}
			for len(open) > 0 {
				cancelOne()
			}
		})
		cancelled := make(map[string]bool)
		answered := make(map[string]bool)
		for finished := 0; finished < calls; {
			m := parseWire(t, c.next())
			id := string(m.ID)
			if m.Method != "" {
				var p struct{ ProgressToken json.RawMessage }
				if err := json.Unmarshal(m.Params, &p); err != nil {
					t.Fatal(err)
				}
				id = string(p.ProgressToken)
			}
			if ping, ok := strings.CutPrefix(strings.Trim(id, `"`), "after "); ok {
				cancelled[ping] = true
				finished++
				continue
			}
			if cancelled[id] || answered[id] {
				t.Fatalf("call %s is over, but this came: %.200s%.200s", id, m.Params, m.Result)
			}
			if m.Method != "" {
				continue
			}
			answered[id] = true
			if n, _ := strconv.Atoi(id); left(n) {
				finished++
			}
		}
		if len(answered) == calls {
			t.Error("every call was answered: the test shows nothing")
		}
		group.Wait()
		c.quiet()
		if err := c.hangUp(); err != nil {
			t.Error(err)
		}
	})
}
