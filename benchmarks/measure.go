package main

import (
	"context"
	"errors"
	"slices"
	"time"
)

// workload is one line of the comparison.
type workload struct {
	name, title string
	limits      []limit
	start       func(contestant) (*runner, error)
}

// runner measures one workload of one contestant, again and again.
type runner struct {
	measure func(time.Duration) (sample, error)
	stop    func() error
}

// cpuOnly are the limits of a workload over sockets.
func cpuOnly(must, aim float64) []limit { return []limit{{cpuMetric, true, must, aim}} }

// workloads are all there are, with the limits that we have to keep to.
var workloads = []workload{
	{"W1", exchangeNamed("W1").title, []limit{{p50Metric, true, 1.0, 0.9}, {p99Metric, true, 1.2, 1.0}}, overHTTP("W1", 1)},
	{"W2", exchangeNamed("W2").title, cpuOnly(1.0, 0.9), overHTTP("W2", connections)},
	{"W3", exchangeNamed("W3").title, cpuOnly(0.7, 0.58), overHTTP("W3", connections)},
	{"W4", exchangeNamed("W4").title, []limit{{cpuMetric, true, 0.4, 0.27}, {peakMetric, true, 1.1, 0.8}}, overHTTP("W4", 4)},
	{"W5", exchangeNamed("W5").title, cpuOnly(1.15, 1.05), overHTTP("W5", connections)},
	{"W6", "stdio add, one after the other", []limit{{p50Metric, true, 1.0, 0.8}}, overPipes(exchangeNamed("W2"), 1)},
	{"W6p", "stdio add, 64 at a time", cpuOnly(0.5, 0.25), overPipes(exchangeNamed("W2"), 64)},
	{"W7", "stdio, 32 calls of 20 ms at once", []limit{{wallMetric, true, 1.15, 1.05}}, atOnce("W7", 32)},
	{"W8", "start to the first tools/list, 204 tools", []limit{{cpuMetric, true, 2, 1.3}, {peakMetric, true, 1.4, 1.15}}, startUp},
	{"W9", "idle subscriptions/listen × 1,000", []limit{{memoryMetric, true, 1.15, 1.05}}, idleStreams(1000, startPlain, openStream)},
	{"W10", exchangeNamed("W10").title, cpuOnly(1.0, 0.85), overHTTP("W10", connections)},
	{"W11", "own client and server in one process, add", []limit{
		{cpuMetric, true, 1.0, 0.7}, {allocsMetric, false, 45, 30}, {bytesMetric, false, noLimit, noLimit},
	}, betweenClientAndServer(func(s *session) call { return s.add })},
	{"W11s", "own client and server in one process, search", []limit{
		{cpuMetric, true, 0.9, 0.7}, {allocsMetric, false, noLimit, noLimit}, {bytesMetric, false, noLimit, noLimit},
	}, betweenClientAndServer(func(s *session) call { return s.search })},
	{"W12", "HTTP handler without sockets, add", []limit{
		{cpuMetric, true, 0.7, 0.5}, {allocsMetric, false, 15, 8}, {bytesMetric, false, 1536, 922},
	}, withoutSockets("W2")},
	{"W12s", "HTTP handler without sockets, search", []limit{
		{cpuMetric, true, 0.6, 0.47}, {allocsMetric, false, 25, 12}, {bytesMetric, false, noLimit, noLimit},
	}, withoutSockets("W3")},
}

// legacyWorkloads are those of clients of revision 2025-11-25.
var legacyWorkloads = []workload{
	{"W1L", "W1 in sessions of 2025-11-25", []limit{{p50Metric, true, 1.1, 0.9}, {p99Metric, true, 1.3, 1.0}}, inSessions("W1", 1)},
	{"W2L", "W2 in sessions of 2025-11-25", cpuOnly(1.1, 0.9), inSessions("W2", connections)},
	{"W3L", "W3 in sessions of 2025-11-25", cpuOnly(0.8, 0.58), inSessions("W3", connections)},
	{"W6pL", "W6p in a session of 2025-11-25", cpuOnly(0.6, 0.25), overPipes(inSession(exchangeNamed("W2")), 64)},
	{"W9L", "idle sessions of 2025-11-25, with streams × 1,000", []limit{{memoryMetric, true, 1.25, 1.05}}, idleStreams(1000, startSessions, openSessionStream)},
}

// inSessions is overHTTP for clients of an older revision.
func inSessions(name string, conns int) func(contestant) (*runner, error) {
	return underLoad(inSession(exchangeNamed(name)), conns, startSessions)
}

// startPlain starts a server without records.
func startPlain(c contestant) (*child, error) { return startChild(c, 0) }

// overHTTP measures the named exchange against a server in a process of its
// own, on so many connections.
func overHTTP(name string, conns int) func(contestant) (*runner, error) {
	x := exchangeNamed(name)
	return underLoad(x, conns, func(c contestant) (*child, error) { return startChild(c, x.records) })
}

func underLoad(x exchange, conns int, start func(contestant) (*child, error)) func(contestant) (*runner, error) {
	return func(c contestant) (*runner, error) {
		p, err := start(c)
		if err != nil {
			return nil, err
		}
		measure := func(d time.Duration) (sample, error) {
			return p.measure(func() ([]time.Duration, error) { return load(c, p.addr, x, conns, d) })
		}
		if _, err := load(c, p.addr, x, conns, warmUp); err != nil {
			return nil, errors.Join(err, p.stop())
		}
		return &runner{measure, p.stop}, nil
	}
}

// measure takes what the server used for a load.
func (p *child) measure(load func() ([]time.Duration, error)) (sample, error) {
	before, err := p.cpuTime()
	if err != nil {
		return sample{}, err
	}
	times, err := load()
	if err != nil {
		return sample{}, err
	}
	after, err := p.cpuTime()
	if err != nil {
		return sample{}, err
	}
	peak, err := p.peak()
	slices.Sort(times)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	return sample{
		cpu: micros(after-before) / float64(len(times)),
		p50: micros(times[len(times)/2]), p99: micros(times[len(times)*99/100]),
		peak: float64(peak) / (1 << 20),
	}, err
}

// startUp measures what a server uses until its first answer, in a fresh
// process every time: registering its tools, above all.
func startUp(c contestant) (*runner, error) {
	x := exchangeNamed("W5")
	measure := func(time.Duration) (sample, error) {
		p, err := startChild(c, x.records)
		if err != nil {
			return sample{}, err
		}
		_, err = load(c, p.addr, x, 1, 0)
		used, failure := p.cpuTime()
		peak, unknown := p.peak()
		return sample{cpu: float64(used.Nanoseconds()) / 1000, peak: float64(peak) / (1 << 20)}, errors.Join(err, failure, unknown, p.stop())
	}
	return &runner{measure, func() error { return nil }}, nil
}

// warmUp is how long a server is used before it is measured.
const warmUp = 200 * time.Millisecond

// withoutSockets measures the named exchange by calls of the HTTP handler.
func withoutSockets(name string) func(contestant) (*runner, error) {
	x := exchangeNamed(name)
	return func(c contestant) (*runner, error) {
		op, err := handlerCall(c, x)
		if err != nil {
			return nil, err
		}
		measure := func(d time.Duration) (sample, error) { return benchmark(d, op) }
		return &runner{measure, func() error { return nil }}, nil
	}
}

// betweenClientAndServer measures a call that a contestant's own client makes.
func betweenClientAndServer(pick func(*session) call) func(contestant) (*runner, error) {
	return func(c contestant) (*runner, error) {
		ctx := context.Background()
		s, err := c.connect(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.verify(ctx); err != nil {
			return nil, errors.Join(err, s.close())
		}
		do := pick(s).do
		measure := func(d time.Duration) (sample, error) {
			r, err := benchmark(d, func() error { return do(ctx) })
			return r, errors.Join(err, s.verify(ctx))
		}
		return &runner{measure, s.close}, nil
	}
}

// run measures w in rounds, each of which takes every contestant once.
func (w *workload) run(field []contestant, rounds int, d time.Duration, progress func(round int, c contestant, s sample)) (series, error) {
	var runners []*runner
	var failure error
	for _, c := range field {
		r, err := w.start(c)
		if err != nil {
			failure = errors.Join(failure, errors.New(w.name+", "+c.name), err)
			break
		}
		runners = append(runners, r)
	}
	all := make(series, len(field))
	for round := 0; round < rounds && failure == nil; round++ {
		for i, r := range runners {
			s, err := r.measure(d)
			if err != nil {
				failure = errors.Join(failure, errors.New(w.name+", "+field[i].name), err)
				break
			}
			progress(round, field[i], s)
			all[i] = append(all[i], s)
		}
	}
	for _, r := range runners {
		failure = errors.Join(failure, r.stop())
	}
	return all, failure
}
