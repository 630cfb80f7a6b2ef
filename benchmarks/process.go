package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Servers run in processes of their own, so that their processor time can be
// told from that of the client: this program starts itself again with the
// environment variable below. Such a process prints its address, then, for
// every line that it reads, the processor time it has used so far and the
// memory that it holds, and it ends with its input.
//
// All contestants are linked into one program. What their packages do before
// main runs is therefore no part of the processor time: it would be everybody's.
const serverEnv = "BENCHMARK_SERVER" // contestant and number of records, separated by a space

// serveChild is the main function of a server's process.
func serveChild(spec string) error {
	begin := cpuTime()
	name, records, _ := strings.Cut(spec, " ")
	c, err := contestantNamed(name)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(records)
	if err != nil {
		return err
	}
	handler, err := c.handler(n)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = (&http.Server{Handler: handler}).Serve(l) }()
	fmt.Println(l.Addr())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		memory := int64(0)
		if lines.Text() == "memory" {
			debug.FreeOSMemory()
			if memory, err = residentSize(); err != nil {
				return err
			}
		}
		fmt.Println((cpuTime() - begin).Nanoseconds(), memory)
	}
	return lines.Err()
}

// child is a running server's process.
type child struct {
	addr string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func startChild(c contestant, records int) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &child{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", serverEnv, c.name, records))
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.addr, err = p.line()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s did not start: %w", c.name, err), p.stop())
	}
	return p, nil
}

func (p *child) line() (string, error) {
	line, err := p.out.ReadString('\n')
	return strings.TrimSpace(line), err
}

// cpuTime is the processor time that the server has used since its main began.
func (p *child) cpuTime() (time.Duration, error) {
	ns, _, err := p.ask("\n")
	return time.Duration(ns), err
}

// memory is what the server holds once it has given back all that it can, in
// bytes.
func (p *child) memory() (int64, error) {
	_, bytes, err := p.ask("memory\n")
	return bytes, err
}

func (p *child) ask(question string) (ns, bytes int64, err error) {
	if _, err := io.WriteString(p.in, question); err != nil {
		return 0, 0, err
	}
	line, err := p.line()
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(line, &ns, &bytes)
	return ns, bytes, err
}

func (p *child) stop() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}
