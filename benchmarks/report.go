package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// metric is one column of samples. Lower is better in all of them.
type metric struct {
	name string
	of   func(sample) float64
}

var (
	cpuMetric    = metric{"CPU µs", func(s sample) float64 { return s.cpu }}
	bytesMetric  = metric{"bytes", func(s sample) float64 { return s.bytes }}
	allocsMetric = metric{"allocs", func(s sample) float64 { return s.allocs }}
	p50Metric    = metric{"p50 µs", func(s sample) float64 { return s.p50 }}
	p99Metric    = metric{"p99 µs", func(s sample) float64 { return s.p99 }}
	wallMetric   = metric{"ms", func(s sample) float64 { return s.wall }}
	peakMetric   = metric{"peak MiB", func(s sample) float64 { return s.peak }}
	memoryMetric = metric{"KiB each", func(s sample) float64 { return s.memory }}
)

// limit is what our side has to keep to in one metric of a workload.
type limit struct {
	metric    metric
	ratio     bool // to floor, rather than absolute
	must, aim float64
}

var noLimit = math.Inf(1)

// series are the samples of one workload: by contestant, then by round.
type series [][]sample

// ratios are those of a contestant to the floor of the same round.
func (s series) ratios(i int, m metric) []float64 {
	list := make([]float64, len(s[i]))
	for round := range list {
		list[round] = m.of(s[i][round]) / m.of(s[0][round])
	}
	return list
}

func (s series) values(i int, m metric) []float64 {
	list := make([]float64, len(s[i]))
	for round := range list {
		list[round] = m.of(s[i][round])
	}
	return list
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// report prints tables row by row.
type report struct {
	out    *tabwriter.Writer
	ours   int // our place among the contestants
	misses int
}

func newReport(w io.Writer, field []contestant) *report {
	r := &report{out: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	r.ours = slices.IndexFunc(field, func(c contestant) bool { return c.name == "ours" })
	fmt.Fprint(r.out, "workload\tmetric\t")
	for i, c := range field {
		fmt.Fprintf(r.out, "%s\t", c.name)
		if i > 0 {
			fmt.Fprint(r.out, "× floor\tmin–max\t")
		}
	}
	fmt.Fprintln(r.out, "must\taim\tverdict\t")
	return r
}

// add prints the rows of one workload.
func (r *report) add(w workload, s series) {
	for _, l := range w.limits {
		fmt.Fprintf(r.out, "%s\t%s\t", w.name, l.metric.name)
		for i := range s {
			fmt.Fprintf(r.out, "%s\t", number(median(s.values(i, l.metric))))
			if i > 0 {
				ratios := s.ratios(i, l.metric)
				fmt.Fprintf(r.out, "%.2f\t%.2f–%.2f\t", median(ratios), slices.Min(ratios), slices.Max(ratios))
			}
		}
		unit := ""
		got := median(s.values(r.ours, l.metric))
		if l.ratio {
			unit = "×"
			got = median(s.ratios(r.ours, l.metric))
		}
		verdict := "aim"
		switch {
		case got > l.must:
			verdict = "MISS"
			r.misses++
		case got > l.aim:
			verdict = "must"
		}
		if l.must == noLimit {
			fmt.Fprint(r.out, "\t\t\t\n")
			continue
		}
		fmt.Fprintf(r.out, "%s%s\t%s%s\t%s\t\n", number(l.must), unit, number(l.aim), unit, verdict)
	}
}

func (r *report) flush() error { return r.out.Flush() }

// number prints three digits, or all before the point.
func number(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
