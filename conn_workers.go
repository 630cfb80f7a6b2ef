package mcp

import "sync"

// workers runs jobs on goroutines that are reused: a fresh goroutine would
// grow its stack anew for every call. A job never waits for a worker.
type workers struct {
	run  func(*flight)
	keep int // idle goroutines to keep

	work chan *flight  // unbuffered: a send succeeds only if a worker is idle
	quit chan struct{} // closed: idle workers end
	wg   sync.WaitGroup

	mu   sync.Mutex // protects idle
	idle int
}

func newWorkers(keep int, run func(*flight)) *workers {
	return &workers{run: run, keep: keep, work: make(chan *flight), quit: make(chan struct{})}
}

// start runs f on an idle worker or a new one.
func (w *workers) start(f *flight) {
	select {
	case w.work <- f:
	default:
		w.wg.Add(1)
		go w.loop(f)
	}
}

func (w *workers) loop(f *flight) {
	defer w.wg.Done()
	for {
		w.run(f) // a handler may end its goroutine here
		if !w.rest() {
			return
		}
		select {
		case f = <-w.work:
			w.leave()
		case <-w.quit:
			return
		}
	}
}

// rest makes the worker idle, unless enough are.
func (w *workers) rest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle >= w.keep {
		return false
	}
	w.idle++
	return true
}

func (w *workers) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle--
}

// end lets idle workers go and returns a channel that is closed when all have
// gone.
func (w *workers) end() <-chan struct{} {
	close(w.quit)
	done := make(chan struct{})
	go func() {
		w.wg.Wait()
		close(done)
	}()
	return done
}
