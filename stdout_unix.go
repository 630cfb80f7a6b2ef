//go:build unix

package mcp

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takeStdout keeps standard output for the protocol alone: it returns a
// private copy of descriptor 1, which child processes do not inherit, and lets
// 1 mean standard error until restore.
func takeStdout() (out *os.File, restore func() error, err error) {
	private, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, fmt.Errorf("mcp: copying standard output: %w", err)
	}
	// A second copy to restore from, as whoever serves closes the first.
	saved, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup2(2, 1)
	}
	if err != nil {
		if saved >= 0 {
			err = errors.Join(err, unix.Close(saved))
		}
		return nil, nil, errors.Join(fmt.Errorf("mcp: redirecting standard output to standard error: %w", err), unix.Close(private))
	}
	return os.NewFile(uintptr(private), "stdout"), func() error {
		return errors.Join(unix.Dup2(saved, 1), unix.Close(saved))
	}, nil
}
