package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// plot is a picture of processor time by workload: bars on a logarithmic
// scale, in multiples of the floor, which is a line.
type plot struct {
	field  []contestant
	groups []group
}

type group struct {
	workload workload
	ratios   []float64 // by contestant
}

// What the picture looks like, in pixels.
const (
	plotLeft    = 270 // of the bars; names stand before them
	plotWidth   = 480 // of the scale
	plotRight   = 60  // for the figure after the longest bar
	plotTop     = 60
	barHeight   = 13
	groupGap    = 14
	leastRatio  = 0.25 // where the scale begins
	largest     = 256.0
	plotPalette = "#999999 #0b7285 #d9480f #5f3dc4"
)

func (p *plot) add(w workload, s series) {
	if w.limits[0].metric.name != cpuMetric.name {
		return
	}
	g := group{workload: w}
	for i := range s {
		g.ratios = append(g.ratios, median(s.ratios(i, cpuMetric)))
	}
	p.groups = append(p.groups, g)
}

func plotX(ratio float64) float64 {
	at := math.Log(min(max(ratio, leastRatio), largest)/leastRatio) / math.Log(largest/leastRatio)
	return plotLeft + at*plotWidth
}

func (p *plot) write(w io.Writer) error {
	var b strings.Builder
	colors := strings.Fields(plotPalette)
	height := plotTop + len(p.groups)*((len(p.field)-1)*barHeight+groupGap) + 30
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		plotLeft+plotWidth+plotRight, height)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	b.WriteString(`<text x="10" y="20" font-size="14">Processor time of an operation, in multiples of a server written by hand (less is better)</text>` + "\n")
	for i, c := range p.field[1:] {
		x := plotLeft + i*90
		fmt.Fprintf(&b, `<rect x="%d" y="32" width="10" height="10" fill="%s"/><text x="%d" y="41">%s</text>`+"\n", x, colors[i+1], x+14, c.name)
	}
	for ratio := leastRatio; ratio <= largest; ratio *= 4 {
		x := plotX(ratio)
		fmt.Fprintf(&b, `<line x1="%.0f" y1="%d" x2="%.0f" y2="%d" stroke="#ddd"/><text x="%.0f" y="%d" text-anchor="middle" fill="#666">%g×</text>`+"\n",
			x, plotTop-8, x, height-24, x, height-10, ratio)
	}
	y := plotTop
	for _, g := range p.groups {
		y = p.bars(&b, g, y, colors)
	}
	one := plotX(1)
	fmt.Fprintf(&b, `<line x1="%.0f" y1="%d" x2="%.0f" y2="%d" stroke="%s" stroke-width="2"/>`+"\n</svg>\n", one, plotTop-8, one, height-24, colors[0])
	_, err := io.WriteString(w, b.String())
	return err
}

// bars draws the bars of one workload from y on, and returns where the next
// ones begin.
func (p *plot) bars(b *strings.Builder, g group, y int, colors []string) int {
	fmt.Fprintf(b, `<text x="10" y="%d">%s: %s</text>`+"\n", y+barHeight-2, g.workload.name, g.workload.title)
	for i, ratio := range g.ratios {
		if i == 0 {
			continue
		}
		x := plotX(ratio)
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/><text x="%.1f" y="%d">%s</text>`+"\n",
			plotLeft, y, x-plotLeft, barHeight-2, colors[i], x+4, y+barHeight-3, number(ratio))
		y += barHeight
	}
	return y + groupGap
}
