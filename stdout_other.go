//go:build !unix && !windows

package mcp

import (
	"io"
	"os"
)

// takeStdout keeps standard output for the protocol alone, as far as this
// platform allows: os.Stdout means standard error until restore.
func takeStdout() (out io.Writer, restore func() error, err error) {
	original := os.Stdout
	os.Stdout = os.Stderr
	return struct{ io.Writer }{original}, func() error { os.Stdout = original; return nil }, nil
}
