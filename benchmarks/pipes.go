package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// pipeLoad sends x to a server on its standard input and output.
type pipeLoad struct {
	p      *child
	c      contestant
	x      exchange
	flight int // requests that are under way at a time

	lines [][]byte    // by id
	sent  []time.Time // likewise
}

func newPipeLoad(p *child, c contestant, x exchange, flight int) *pipeLoad {
	l := &pipeLoad{p: p, c: c, x: x, flight: flight, lines: make([][]byte, flight+1), sent: make([]time.Time, flight+1)}
	for id := range l.lines {
		l.lines[id] = append(bytes.Replace([]byte(x.body()), idMember(1), idMember(id), 1), '\n')
	}
	return l
}

func idMember(id int) []byte { return fmt.Appendf(nil, `"id":%d`, id) }

// run sends as many requests at once as may be under way, and another for each
// answer until the deadline. It returns how long each answer took. Answers are
// checked as over HTTP.
func (l *pipeLoad) run(deadline time.Time) (times []time.Duration, err error) {
	for id := 1; id <= l.flight; id++ {
		if err := l.send(id); err != nil {
			return nil, err
		}
	}
	var known []byte
	for open := l.flight; open > 0; open-- {
		line, err := l.p.stdout.ReadBytes('\n')
		if err != nil {
			return times, err
		}
		now := time.Now()
		var head struct{ ID int }
		if err := json.Unmarshal(line, &head); err != nil || head.ID < 1 || head.ID > l.flight {
			return times, fmt.Errorf("not an answer: %.300s", line)
		}
		times = append(times, now.Sub(l.sent[head.ID]))
		answer := bytes.Replace(bytes.TrimSpace(line), idMember(head.ID), idMember(1), 1)
		if !bytes.Equal(known, answer) {
			if err := l.x.judge(l.c, 200, answer); err != nil {
				return times, err
			}
			known = answer
		}
		if now.Before(deadline) {
			if err := l.send(head.ID); err != nil {
				return times, err
			}
			open++
		}
	}
	return times, nil
}

func (l *pipeLoad) send(id int) error {
	l.sent[id] = time.Now()
	_, err := l.p.stdin.Write(l.lines[id])
	return err
}

// overPipes measures x against a server on stdio, with so
// many requests under way at a time.
func overPipes(x exchange, flight int) func(contestant) (*runner, error) {
	return func(c contestant) (*runner, error) {
		p, err := startPipes(c)
		if err != nil {
			return nil, err
		}
		if x.legacy {
			if err := p.openPipeSession(); err != nil {
				return nil, errors.Join(err, p.stop())
			}
		}
		l := newPipeLoad(p, c, x, flight)
		measure := func(d time.Duration) (sample, error) {
			return p.measure(func() ([]time.Duration, error) { return l.run(time.Now().Add(d)) })
		}
		if _, err := l.run(time.Now().Add(warmUp)); err != nil {
			return nil, errors.Join(err, p.stop())
		}
		return &runner{measure, p.stop}, nil
	}
}

// atOnce measures how long n calls take that begin together.
func atOnce(name string, n int) func(contestant) (*runner, error) {
	return func(c contestant) (*runner, error) {
		p, err := startPipes(c)
		if err != nil {
			return nil, err
		}
		l := newPipeLoad(p, c, exchangeNamed(name), n)
		measure := func(time.Duration) (sample, error) {
			begin := time.Now()
			_, err := l.run(begin)
			return sample{wall: float64(time.Since(begin).Microseconds()) / 1000}, err
		}
		return &runner{measure, p.stop}, nil
	}
}
