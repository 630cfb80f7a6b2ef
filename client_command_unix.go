//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// setApart has cmd lead a process group of its own, unless its attributes say
// already how it starts. It reports whether cmd will lead one.
func setApart(cmd *exec.Cmd) (leads bool) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
	a := cmd.SysProcAttr
	return a.Setsid || a.Setpgid && a.Pgid == 0
}

// signal signals the process and, if it leads a group, its children.
func (p *process) signal(sig syscall.Signal) error {
	if p.leads {
		return syscall.Kill(-p.cmd.Process.Pid, sig)
	}
	return p.cmd.Process.Signal(sig)
}

// outlived reports whether children of the process, which has ended, go on.
func (p *process) outlived() bool { return p.leads && p.signal(0) == nil }
