// Command benchmarks compares this module with other SDKs, and with a server
// written by hand, on the same workloads. See the README beside it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func main() {
	if spec := os.Getenv(serverEnv); spec != "" {
		exit(serveChild(spec))
	}
	testing.Init()
	var (
		only   = flag.String("w", "", "workloads to run, such as W2,W12s; empty: all")
		field  = flag.String("c", "", "contestants besides floor and ours, such as gosdk,mcpgo, or none; empty: all")
		rounds = flag.Int("rounds", 7, "rounds; each takes every contestant once")
		each   = flag.Duration("t", time.Second, "time of one measurement")
		draw   = flag.String("plot", "", "file for a picture (SVG) of the processor times; empty: none")
		check  = flag.Bool("check", false, "fail if a limit is missed")
	)
	flag.Parse()
	exit(compare(names(*only), names(*field), *rounds, *each, *check, *draw))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func compare(only, peers []string, rounds int, each time.Duration, check bool, draw string) error {
	field := slices.DeleteFunc(slices.Clone(contestants), func(c contestant) bool {
		return c.name != "floor" && c.name != "ours" && peers != nil && !slices.Contains(peers, c.name)
	})
	r := newReport(os.Stdout, field)
	picture := &plot{field: field}
	for _, w := range slices.Concat(workloads, legacyWorkloads) {
		if only != nil && !slices.Contains(only, w.name) {
			continue
		}
		s, err := w.run(field, rounds, each, func(round int, c contestant, s sample) {
			first := w.limits[0].metric
			fmt.Fprintf(os.Stderr, "%s round %d of %d, %s: %s %s\n", w.name, round+1, rounds, c.name, number(first.of(s)), first.name)
		})
		if err != nil {
			return err
		}
		r.add(w, s)
		picture.add(w, s)
	}
	if err := r.flush(); err != nil {
		return err
	}
	if draw != "" {
		f, err := os.Create(draw)
		if err != nil {
			return err
		}
		if err := errors.Join(picture.write(f), f.Close()); err != nil {
			return err
		}
	}
	if check && r.misses > 0 {
		return errors.New("limits were missed")
	}
	return nil
}
