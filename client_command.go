package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// How long the end of a server process may take, step by step.
const (
	inputGrace  = 5 * time.Second // after its input was closed
	silentGrace = time.Second / 4 // likewise, if it said nothing while the dial had time
	signalGrace = 2 * time.Second // after it was told to end
	outputGrace = time.Second     // after it ended, for output that children of its own hold open
	stderrTail  = 2 << 10         // bytes of its last words that errors tell
)

// Command starts a server as a child process and talks to it over its standard
// input and output, MCP's stdio transport. cmd says what to start; its Path,
// Args, Env, Dir, ExtraFiles, SysProcAttr and Stderr count, and it is never
// started itself, so that a context given to exec.CommandContext has no effect.
// Nothing may be set for its standard input and output, which are the client's.
//
//	client, err := mcp.Dial(ctx, mcp.Command(exec.Command("my-server", "-v")), nil)
//
// What the process writes to standard error goes to cmd.Stderr, or nowhere if
// that is nil; it is no sign of failure. What it writes to standard output
// besides messages is passed over.
//
// If the process ends, the calls under way fail with its exit status and its
// last words, and the next call starts it again. A server that ends when it is
// spoken to in revision 2026-07-28 is started again and spoken to in an earlier
// one.
//
// Close tells the server of the calls that it gives up, closes the process's
// input and waits for up to 5 seconds. Then it sends SIGTERM, where there is
// that, and 2 seconds later kills it. So does a dial that fails, but it waits
// for a quarter of a second only for a process that has said nothing until the
// dial's context ended.
//
// On Unix the process leads a process group of its own, unless cmd.SysProcAttr
// is set. What is sent to it reaches its children too, such as the server that
// npx or a shell has started. Ctrl-C at a terminal reaches this program alone,
// which may have other uses for it; should it end, its servers see the end of
// their input. A server that asks something at the terminal, as ssh does for a
// password, has to stay in the program's group:
//
//	cmd.SysProcAttr = new(syscall.SysProcAttr)
func Command(cmd *exec.Cmd) Transport {
	t := &commandTransport{cmd: cmd}
	t.pipe, t.renews = true, true
	return t
}

type commandTransport struct {
	traits
	cmd *exec.Cmd
}

func (t *commandTransport) open(ctx context.Context, c *Client, _ era) (link, error) {
	switch {
	case t.cmd == nil:
		return nil, errors.New("Command was given nil")
	case t.cmd.Stdin != nil || t.cmd.Stdout != nil:
		return nil, errors.New("the Stdin and Stdout of a command are the client's; leave them nil")
	case t.cmd.Process != nil:
		return nil, errors.New("the command was started already; Command starts it itself")
	}
	p, err := startProcess(t.cmd)
	if err != nil {
		return nil, err
	}
	p.opening = ctx
	return newConnLink(ctx, p, c), nil
}

// process is a Conn to a child.
type process struct {
	Conn
	cmd     *exec.Cmd
	opening context.Context // bounds the wait for a first word
	spoke   atomic.Bool     // there was one
	leads   bool            // a process group
	stdin   *os.File
	stdout  *os.File
	stderr  tail
	exited  chan struct{} // closed when it was waited for
	status  error         // of it; set before that
	finish  func() error
}

func startProcess(from *exec.Cmd) (*process, error) {
	p := &process{exited: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: from.Path, Args: from.Args, Env: from.Env, Dir: from.Dir,
		ExtraFiles: from.ExtraFiles, SysProcAttr: from.SysProcAttr, Err: from.Err, WaitDelay: outputGrace,
	}
	p.cmd.Stderr = &p.stderr
	if from.Stderr != nil {
		p.cmd.Stderr = io.MultiWriter(&p.stderr, from.Stderr)
	}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), stdin.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout = childIn, childOut
	p.leads = setApart(p.cmd)
	err = p.cmd.Start()
	_, _ = childIn.Close(), childOut.Close() // the child has its own
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the server: %w", err), stdin.Close(), stdout.Close())
	}
	p.stdin, p.stdout = stdin, stdout
	p.Conn = NewConn(stdout, stdin)
	p.finish = sync.OnceValue(p.end)
	go p.wait()
	return p, nil
}

// wait collects the process. Children of its own may keep its output open,
// which must not keep the reader waiting.
func (p *process) wait() {
	if err := p.cmd.Wait(); !errors.Is(err, exec.ErrWaitDelay) {
		p.status = err
	}
	_ = p.stdout.SetReadDeadline(time.Now().Add(outputGrace))
	close(p.exited)
}

// Read implements Conn. Lines that are no JSON object are noise. The error at
// the end is how the process did.
func (p *process) Read(ctx context.Context) ([]byte, error) {
	for {
		msg, err := p.Conn.Read(ctx)
		switch {
		case err == nil && noise(msg):
			continue
		case err == nil || errors.Is(err, ErrTooLarge):
			p.spoke.Store(true)
			return msg, err
		}
		if !within(outputGrace, p.exited) {
			return nil, fmt.Errorf("the server closed its output: %w", err)
		}
		return nil, p.obituary()
	}
}

// noise reports whether a line cannot be a message.
func noise(line []byte) bool {
	c := firstByte(bytes.TrimPrefix(line, []byte("\ufeff")))
	return c != '{' && c != '['
}

// obituary says how the process ended.
func (p *process) obituary() error {
	text := "the server process ended"
	if words := p.stderr.text(); words != "" {
		text += fmt.Sprintf("; the last that it wrote to standard error: %s", words)
	}
	if p.status == nil {
		return &exitError{text + " (exit status 0)", nil}
	}
	return &exitError{strings.Replace(text, "ended", fmt.Sprintf("ended (%v)", p.status), 1), p.status}
}

// exitError is the end of a process, which errors.As finds an *exec.ExitError
// in if that was no success.
type exitError struct {
	text   string
	status error
}

func (e *exitError) Error() string { return e.text }

func (e *exitError) Unwrap() error { return e.status }

// Close implements Conn.
func (p *process) Close() error { return p.finish() }

// end ends the process, by ever stronger means.
func (p *process) end() error {
	err := p.stdin.Close()
	grace := inputGrace
	if !p.spoke.Load() && p.opening.Err() != nil {
		grace = silentGrace
	}
	if !within(grace, p.exited) {
		p.terminate()
	}
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, p.stdout.Close())
}

// terminate tells the process, and children of its own, to end, and kills what
// does not.
func (p *process) terminate() {
	told := time.Now()
	if p.signal(syscall.SIGTERM) != nil || !within(signalGrace, p.exited) {
		_ = p.signal(syscall.SIGKILL) // it may have ended just now
		<-p.exited
	}
	for p.outlived() {
		if time.Since(told) > signalGrace {
			_ = p.signal(syscall.SIGKILL)
			return
		}
		time.Sleep(outlivedPause)
	}
}

// outlivedPause is how often it is looked whether children have ended. Nobody
// but their parent is told.
const outlivedPause = 20 * time.Millisecond

// tail keeps the last of what is written to it.
type tail struct {
	mu  sync.Mutex // protects buf
	buf []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b[max(0, len(b)-stderrTail):]...)
	if extra := len(t.buf) - stderrTail; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(b), nil
}

// text is what was kept, in quotes.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	words := strings.TrimSpace(strings.ToValidUTF8(string(t.buf), ""))
	if words == "" {
		return ""
	}
	return string(jsonx.AppendString(nil, words))
}
