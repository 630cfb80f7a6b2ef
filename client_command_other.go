//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

// setApart reports that there are no process groups to lead.
func setApart(*exec.Cmd) (leads bool) { return false }

// signal signals the process.
func (p *process) signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// outlived reports that no children of the process are known.
func (p *process) outlived() bool { return false }
