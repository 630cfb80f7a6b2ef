package mcp

import "github.com/typedmcp/mcp/internal/jsonrpc"

// legacySession is the session that initialize opened, nil for none.
func (c *conn) legacySession() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// leave ends what the server does for the connection's session.
func (c *conn) leave() {
	if sess := c.legacySession(); sess != nil {
		sess.close(c.snap.srv)
	}
}

// responded takes in the response to a request of ours.
func (c *conn) responded(m *jsonrpc.Message) {
	if sess := c.legacySession(); sess != nil {
		sess.asks.responded(m)
	}
}

// tellSoon has a worker tell the session what has changed. It never blocks.
func (c *conn) tellSoon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.telling && !c.stopping {
		c.telling = true
		c.pool.start(nil)
	}
}

// tell sends the notifications that are due. While the client reads nothing
// they wait, and join.
func (c *conn) tell() {
	c.mu.Lock()
	sess, due := c.session, c.telling
	c.mu.Unlock()
	if !due || c.out.await(c.base) != nil {
		return
	}
	c.mu.Lock()
	c.telling = false
	c.mu.Unlock()
	for _, msg := range sess.sub.take() {
		c.out.enqueue(msg)
	}
	c.out.flush()
}
