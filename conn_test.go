package mcp_test

import (
	"testing"
	"testing/synctest"
)

func TestConnAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := serveLines(t, newFixture(nil).Server)
		c.send(modernCall("1", "add", `{"a":1,"b":2}`))
		c.expect(modernSum("1", 3))
		c.send(modernCall("2", "echo", `{"text":"x"}`))
		c.expect(modernText("2", "x"))
		c.quiet()
		if err := c.hangUp(); err != nil {
			t.Error(err)
		}
	})
}
