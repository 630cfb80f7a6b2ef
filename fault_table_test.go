package mcp_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// faultRow is one thing that a peer does wrong, and what comes of it. Every row is held to three things: what the peer
// sees, that nobody else is harmed meanwhile, and that goroutines and memory are back afterwards, while the other side
// lives on.
type faultRow[S faultStage] struct {
	name     string                                     // what it does, after the ids of cases
	loopback bool                                       // on sockets, with their buffers and resets; else in memory, with the clock of a bubble
	set      func(*mcp.ServerOptions, *mcp.HTTPOptions) // nil: nothing
	want     map[string]string                          // what the peer sees, by the carrier; it is tried on no other
	inject   func(stage S) (saw string)                 // does it, calls unharmed while it lasts, and is gone at the end
}

// faultStage is where a fault happens: both sides of a protocol, and somebody else who has a call under way all the time.
type faultStage interface {
	unharmed()        // somebody else makes a call, on a connection of its own
	looks() int       // how often
	end(t testing.TB) // the call that was under way all the time is answered; all is closed
}

// faultHeap is how many bytes may stay of a fault that moves megabytes.
const faultHeap = 512 << 10

// runFaults plays every row on each of its carriers, one after the other, as the heap is that of the process.
func runFaults[S faultStage](t *testing.T, begin func(testing.TB, string, faultRow[S]) S, rows []faultRow[S]) {
	for _, row := range rows {
		var carriers []string
		for carrier := range row.want {
			carriers = append(carriers, carrier)
		}
		slices.Sort(carriers)
		for _, carrier := range carriers {
			t.Run(row.name+"/"+carrier, func(t *testing.T) {
				before := goroutines()
				play := func(t *testing.T) { row.play(t, row.want[carrier], begin(t, carrier, row)) }
				if row.loopback {
					play(t)
				} else {
					synctest.Test(t, play)
				}
				backTo(t, before, "at the end")
			})
		}
	}
}

func (row faultRow[S]) play(t *testing.T, want string, stage S) {
	stage.unharmed() // what is made once, is made now
	before, heap, looks := goroutines(), live(), stage.looks()
	if saw := row.inject(stage); saw != want {
		t.Errorf("the peer saw %s\nwant %s", saw, want)
	}
	if stage.looks() == looks {
		t.Error("nobody looked after the others while it happened")
	}
	stage.unharmed()
	backTo(t, before, "after the fault")
	if now := live(); now > heap+faultHeap {
		t.Errorf("%d KB of the heap are not back", (now-heap)>>10)
	}
	stage.end(t)
}

// backTo holds the goroutines to those that were there before.
func backTo(t testing.TB, before map[string]string, when string) {
	t.Helper()
	if left := leftGoroutines(before, 20*time.Second); len(left) > 0 {
		t.Fatalf("%d goroutines are left %s:\n%s", len(left), when, strings.Join(left[:min(len(left), 3)], "\n\n"))
	}
}

// live is how many bytes of the heap are reachable.
func live() uint64 {
	var m runtime.MemStats
	for range 3 { // pools let go of what they hold in two
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
