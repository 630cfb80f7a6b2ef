package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// sample is what one round measured of one contestant. Bytes and allocations
// are only known within this process.
type sample struct {
	cpu           float64 // µs for each operation
	bytes, allocs float64 // for each operation
	memory        float64 // KiB for each stream
	p50, p99      float64 // µs until the answer
	wall          float64 // ms for all
	peak          float64 // MiB
}

// benchmark measures op, which must check what it did, for about d.
func benchmark(d time.Duration, op func() error) (sample, error) {
	if err := flag.Set("test.benchtime", d.String()); err != nil {
		return sample{}, err
	}
	var failure error
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		start := cpuTime()
		for range b.N {
			if err := op(); err != nil {
				failure = err
				b.FailNow()
			}
		}
		b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
	})
	return sample{
		cpu: r.Extra["cpu-ns/op"] / 1000, bytes: float64(r.AllocedBytesPerOp()), allocs: float64(r.AllocsPerOp()),
	}, failure
}

// handlerCall returns a call of c's HTTP handler without any socket: one
// request, whose answer must not change from one call to the next.
func handlerCall(c contestant, x exchange) (func() error, error) {
	handler, err := c.handler(x.records, false)
	if err != nil {
		return nil, err
	}
	local := context.WithValue(context.Background(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	message := x.body()
	base, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:8080/mcp", strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	for _, h := range x.headers("") {
		base.Header.Set(h[0], h[1])
	}
	text := strings.NewReader(message)
	body := io.NopCloser(text)
	out := &recorder{head: make(http.Header)}
	serve := func() {
		text.Reset(message)
		r := base.WithContext(local)
		r.Body = body
		out.reset()
		handler.ServeHTTP(out, r)
	}
	serve()
	if err := x.judge(c, out.status, out.body.Bytes()); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	first := bytes.Clone(out.body.Bytes())
	return func() error {
		serve()
		if out.status == http.StatusOK && bytes.Equal(out.body.Bytes(), first) {
			return nil
		}
		return x.judge(c, out.status, out.body.Bytes())
	}, nil
}

// recorder is an http.ResponseWriter that keeps its memory.
type recorder struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) reset() {
	clear(r.head)
	r.status = 0
	r.body.Reset()
}

func (r *recorder) Header() http.Header { return r.head }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}
