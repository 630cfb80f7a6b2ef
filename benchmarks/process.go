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
	"strings"
	"time"
)

// Servers run in processes of their own, so that their processor time can be
// told from that of the client: this program starts itself again with the
// environment variable below. Such a process tells its address, then, for
// every line that it is sent, the processor time it has used so far and the
// memory that it holds, and it ends when there are no more. All this goes over
// pipes of its own, as standard input and output may be what it serves.
//
// All contestants are linked into one program. What their packages do before
// main runs is therefore no part of the processor time: it would be everybody's.
const serverEnv = "BENCHMARK_SERVER" // contestant, number of records, and http, sessions or stdio, separated by spaces

// The descriptors of those pipes in a server's process.
const (
	questionsFD = 3
	answersFD   = 4
)

// serveChild is the main function of a server's process.
func serveChild(spec string) error {
	begin := cpuTime()
	var name, transport string
	var records int
	if _, err := fmt.Sscan(spec, &name, &records, &transport); err != nil {
		return err
	}
	c, err := contestantNamed(name)
	if err != nil {
		return err
	}
	questions, answers := os.NewFile(questionsFD, "questions"), os.NewFile(answersFD, "answers")
	addr := transport
	if transport == "stdio" {
		go func() { _ = c.stdio(records) }()
	} else if addr, err = serveHTTP(c, records, transport == "sessions"); err != nil {
		return err
	}
	fmt.Fprintln(answers, addr)
	lines := bufio.NewScanner(questions)
	for lines.Scan() {
		memory := int64(0)
		switch lines.Text() {
		case "memory":
			debug.FreeOSMemory()
			memory, err = residentSize()
		case "peak":
			memory, err = peakSize()
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(answers, (cpuTime() - begin).Nanoseconds(), memory)
	}
	return lines.Err()
}

// serveHTTP serves c in the background, and returns its address.
func serveHTTP(c contestant, records int, sessions bool) (addr string, err error) {
	handler, err := c.handler(records, sessions)
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = (&http.Server{Handler: handler}).Serve(l) }()
	return l.Addr().String(), nil
}

// child is a running server's process.
type child struct {
	addr      string
	cmd       *exec.Cmd
	questions *os.File
	answers   *bufio.Reader

	stdin  io.WriteCloser // of a server on stdio
	stdout *bufio.Reader
}

// startChild starts c as an HTTP server.
func startChild(c contestant, records int) (*child, error) {
	p, err := newChild(c, records, "http")
	if err != nil {
		return nil, err
	}
	return p, p.start(c)
}

// startSessions starts c as an HTTP server for older clients.
func startSessions(c contestant) (*child, error) {
	p, err := newChild(c, 0, "sessions")
	if err != nil {
		return nil, err
	}
	return p, p.start(c)
}

// startPipes starts c as a server on its standard input and output.
func startPipes(c contestant) (*child, error) {
	p, err := newChild(c, 0, "stdio")
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReaderSize(out, 64<<10)
	return p, p.start(c)
}

func newChild(c contestant, records int, transport string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &child{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", serverEnv, c.name, records, transport))
	p.cmd.Stderr = os.Stderr
	return p, nil
}

func (p *child) start(c contestant) error {
	hear, ask, err := os.Pipe()
	if err != nil {
		return err
	}
	listen, tell, err := os.Pipe()
	if err != nil {
		return errors.Join(err, hear.Close(), ask.Close())
	}
	p.questions, p.answers = ask, bufio.NewReader(listen)
	p.cmd.ExtraFiles = []*os.File{hear, tell} // questionsFD, answersFD
	err = p.cmd.Start()
	if err := errors.Join(err, hear.Close(), tell.Close()); err != nil {
		return errors.Join(err, ask.Close(), listen.Close())
	}
	if p.addr, err = p.line(); err != nil {
		return errors.Join(fmt.Errorf("%s did not start: %w", c.name, err), p.stop())
	}
	return nil
}

func (p *child) line() (string, error) {
	line, err := p.answers.ReadString('\n')
	return strings.TrimSpace(line), err
}

// cpuTime is the processor time that the server has used since its main began.
func (p *child) cpuTime() (time.Duration, error) {
	ns, _, err := p.ask("\n")
	return time.Duration(ns), err
}

// peak is the most memory that the server has held so far, in bytes.
func (p *child) peak() (int64, error) {
	_, bytes, err := p.ask("peak\n")
	return bytes, err
}

// memory is what the server holds once it has given back all that it can, in
// bytes.
func (p *child) memory() (int64, error) {
	_, bytes, err := p.ask("memory\n")
	return bytes, err
}

func (p *child) ask(question string) (ns, bytes int64, err error) {
	if _, err := io.WriteString(p.questions, question); err != nil {
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
	return errors.Join(p.questions.Close(), p.cmd.Wait())
}
