package main

import (
	"encoding/xml"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestAnswers holds every contestant to the right answer in every workload: a
// comparison with one that does something else says nothing.
func TestAnswers(t *testing.T) {
	for _, c := range contestants {
		t.Run(c.name, func(t *testing.T) {
			for _, x := range exchanges {
				t.Run(x.title, func(t *testing.T) {
					op, err := handlerCall(c, x)
					if err != nil {
						t.Fatal(err)
					}
					if err := op(); err != nil {
						t.Error(err)
					}
					handler, err := c.handler(x.records, false)
					if err != nil {
						t.Fatal(err)
					}
					s := httptest.NewServer(handler)
					defer s.Close()
					times, err := load(c, strings.TrimPrefix(s.URL, "http://"), x, 2, time.Millisecond)
					if err != nil || len(times) < 2 {
						t.Errorf("%d answers, error %v", len(times), err)
					}
				})
			}
			for _, name := range []string{"W2", "W3"} {
				t.Run("in sessions, "+name, func(t *testing.T) {
					handler, err := c.handler(0, true)
					if err != nil {
						t.Fatal(err)
					}
					s := httptest.NewServer(handler)
					defer s.Close()
					addr := strings.TrimPrefix(s.URL, "http://")
					times, err := load(c, addr, inSession(exchangeNamed(name)), 2, time.Millisecond)
					if err != nil || len(times) < 2 {
						t.Errorf("%d answers, error %v", len(times), err)
					}
					conn, err := openSessionStream(addr)
					if err != nil {
						t.Fatal(err)
					}
					if err := conn.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			t.Run("subscriptions/listen", func(t *testing.T) {
				handler, err := c.handler(0, false)
				if err != nil {
					t.Fatal(err)
				}
				s := httptest.NewServer(handler)
				defer s.Close()
				conn, err := openStream(strings.TrimPrefix(s.URL, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			})
			t.Run("in one process", func(t *testing.T) {
				s, err := c.connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := s.verify(t.Context()); err != nil {
					t.Error(err)
				}
				if err := s.close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestJudge shows that wrong answers are found.
func TestJudge(t *testing.T) {
	good := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }
	text := `"content":[{"type":"text","text":"{\"sum\":42.5}"}]`
	tests := []struct {
		name, exchange string
		status         int
		body           string
		ok             bool
	}{
		{"right", "W2", 200, good(`{` + text + `,"structuredContent":{"sum":42.5}}`), true},
		{"wrong status", "W2", 202, good(`{` + text + `,"structuredContent":{"sum":42.5}}`), false},
		{"no JSON", "W2", 200, `{`, false},
		{"another id", "W2", 200, `{"jsonrpc":"2.0","id":2,"result":{` + text + `,"structuredContent":{"sum":42.5}}}`, false},
		{"wrong sum", "W2", 200, good(`{` + text + `,"structuredContent":{"sum":42}}`), false},
		{"wrong text", "W2", 200, good(`{"content":[{"type":"text","text":"42.5"}],"structuredContent":{"sum":42.5}}`), false},
		{"no text", "W2", 200, good(`{"content":[],"structuredContent":{"sum":42.5}}`), false},
		{"an error", "W2", 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`, false},
		{"refused", "W10", 200, good(`{"content":[{"type":"text","text":"b is missing"}],"isError":true}`), true},
		{"not refused", "W10", 200, good(`{` + text + `,"structuredContent":{"sum":42.5}}`), false},
		{"empty list", "W5", 200, good(`{"tools":[]}`), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := exchangeNamed(tt.exchange)
			if err := x.judge(contestants[0], tt.status, []byte(tt.body)); (err == nil) != tt.ok {
				t.Errorf("got %v, want ok %t", err, tt.ok)
			}
		})
	}
	t.Run("other bytes of ours", func(t *testing.T) {
		x := exchangeNamed("W2")
		c, err := contestantNamed("ours")
		if err != nil {
			t.Fatal(err)
		}
		if err := x.judge(c, 200, []byte(x.bytes+" ")); err == nil {
			t.Error("a byte too many was not found")
		}
		if err := x.judge(c, 200, []byte(x.bytes)); err != nil {
			t.Error(err)
		}
	})
}

// TestReport shows how ratios and verdicts come about.
func TestReport(t *testing.T) {
	var out strings.Builder
	r := newReport(&out, contestants[:2])
	w := workload{name: "W0", limits: []limit{{cpuMetric, true, 0.7, 0.5}, {allocsMetric, false, 15, 8}, {bytesMetric, false, noLimit, noLimit}}}
	r.add(w, series{
		{{cpu: 10, allocs: 30, bytes: 1}, {cpu: 20, allocs: 30, bytes: 1}, {cpu: 40, allocs: 30, bytes: 1}},
		{{cpu: 6, allocs: 16, bytes: 1}, {cpu: 8, allocs: 16, bytes: 1}, {cpu: 24, allocs: 16, bytes: 1}},
	})
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(out.String()) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"workload metric floor ours × floor min–max must aim verdict",
		"W0 CPU µs 20.0 8.00 0.60 0.40–0.60 0.70× 0.50× must",
		"W0 allocs 30.0 16.0 0.53 0.53–0.53 15.0 8.00 MISS",
		"W0 bytes 1.00 1.00 1.00 1.00–1.00",
	}
	if got := strings.Join(rows, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got:\n%s", got)
	}
	if r.misses != 1 {
		t.Errorf("%d misses, want 1", r.misses)
	}
}

// TestPlot shows that every workload and contestant is in the picture, as well-formed XML, with longer bars for more.
func TestPlot(t *testing.T) {
	p := &plot{field: contestants}
	for _, w := range workloads[:3] {
		p.add(w, series{{{cpu: 10, p50: 1, p99: 1}}, {{cpu: 9, p50: 1, p99: 1}}, {{cpu: 90, p50: 1, p99: 1}}, {{cpu: 1e9, p50: 1, p99: 1}}})
	}
	var out strings.Builder
	if err := p.write(&out); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"W2: ", "W3: ", ">ours<", ">gosdk<", ">mcpgo<", ">0.90<", ">9.00<"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(out.String(), "W1: ") {
		t.Error("a workload without processor time is there")
	}
	if !(plotX(0.1) == plotLeft && plotX(1) < plotX(9) && plotX(1e8) == plotLeft+plotWidth) {
		t.Error("the scale is wrong")
	}
}
