package mcp

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// takeStdout keeps standard output for the protocol alone: it returns the
// handle under a private name and lets the standard handle, which child
// processes inherit, and os.Stdout mean standard error until restore.
func takeStdout() (out *os.File, restore func() error, err error) {
	process := windows.CurrentProcess()
	stdout, errOut := windows.Handle(os.Stdout.Fd()), windows.Handle(os.Stderr.Fd())
	var private windows.Handle
	if err := windows.DuplicateHandle(process, stdout, process, &private, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, nil, fmt.Errorf("mcp: copying standard output: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, errOut); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("mcp: redirecting standard output to standard error: %w", err), windows.CloseHandle(private))
	}
	original := os.Stdout
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(private), "stdout"), func() error {
		os.Stdout = original
		return windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, stdout)
	}, nil
}
