package mcp

import "slices"

// streams implements carrier.
func (f *flight) streams() bool { return true }

// withdraw implements carrier.
func (f *flight) withdraw(msg []byte) {
	f.conn.out.enqueue(msg)
	f.conn.out.flush()
}

// yield implements yielder. Calls that wait for the client are as many as may
// wait to run, those included; beyond that they keep their places.
func (f *flight) yield() (reclaim func()) {
	c := f.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !f.counted || len(c.queue)+c.away >= c.snap.srv.opts.Limits.Queue {
		return func() {}
	}
	c.away++
	if next := c.vacate(); next != nil {
		c.pool.start(next)
	}
	return f.reclaim
}

// vacate gives the place of a call to the next that waits for one, and returns
// that if it is yet to be started. c.mu is held.
func (c *conn) vacate() (next *flight) {
	if len(c.queue) == 0 {
		c.calls--
		return nil
	}
	next = c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	if next.turn != nil {
		c.grant(next)
		return nil
	}
	return next
}

// grant lets a call go on that waited in reclaim. c.mu is held.
func (c *conn) grant(f *flight) {
	close(f.turn)
	f.turn = nil
}

// reclaim returns when f has a place again, or is over and needs none.
func (f *flight) reclaim() {
	c := f.conn
	c.mu.Lock()
	c.away--
	if c.calls < c.snap.srv.opts.Limits.InFlight {
		c.calls++
		c.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	f.turn = turn
	c.queue = append(c.queue, f)
	c.mu.Unlock()
	select {
	case <-turn:
		return
	case <-f.ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.turn == nil { // it was granted meanwhile
		return
	}
	f.turn = nil
	c.queue = slices.DeleteFunc(c.queue, func(q *flight) bool { return q == f })
	f.counted = false // it ends without a place
	c.others++
}
