package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// source is the random source of the parts of a case. Two sources of the same seed and number draw the same.
type source struct{ *rand.Rand }

func newSource(seed, number uint64) source { return source{rand.New(rand.NewPCG(seed, number))} }

// between draws an integer of [low, high].
func (d source) between(low, high int) int { return low + d.IntN(high-low+1) }

// chance is true with probability p.
func (d source) chance(p float64) bool { return d.Float64() < p }

// logarithmic draws a number of [low, high), all orders of magnitude alike; low > 0.
func (d source) logarithmic(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

// pick draws one of several values.
func pick[T any](d source, values ...T) T { return values[d.IntN(len(values))] }

// settings are the options of a case, and those of their values that the program depends on.
type settings struct {
	source
	list     []string // NAME:VALUE
	model    []string // the same, which smpirun accepts on its command line only
	eager    int      // bytes; smaller messages are eager
	detached int      // bytes; smaller messages are detached
	edges    []int    // message sizes at which something changes
}

func (s *settings) set(name string, format string, args ...any) {
	s.list = append(s.list, name+":"+fmt.Sprintf(format, args...))
}

// maybe sets an option with some probability.
func (s *settings) maybe(p float64, name string, value func() string) {
	if s.chance(p) {
		s.set(name, "%s", value())
	}
}

const envelope = 16 // bytes; factors go by the size with it

// drawSettings draws the options: a third of the cases has the defaults, a third those of
// a calibrated machine, a third some of all.
func drawSettings(d source) *settings {
	s := &settings{source: d, detached: 65536, edges: []int{65536, 65472 - envelope, 1426 - envelope, 257 - envelope}}
	choice := func(values ...string) func() string { return func() string { return pick(d, values...) } }
	number := func(low, high float64) func() string {
		return func() string { return fmt.Sprintf("%.17g", d.logarithmic(low, high)) }
	}
	overheadOptions := []string{"smpi/os", "smpi/ois", "smpi/or"}
	switch d.IntN(3) {
	case 1:
		th := d.thresholds(4)
		s.edges = append(s.edges, th...)
		for _, name := range overheadOptions {
			s.set(name, "%s", d.overheads(th))
		}
		s.set("smpi/bw-factor", "%s", d.factors(th, 0.3, 1.1))
		s.set("smpi/lat-factor", "%s", d.factors(th, 0.8, 20))
		s.limits()
		s.maybe(1, "smpi/test", number(5e-7, 1e-5))
		s.maybe(1, "smpi/iprobe", number(5e-7, 1e-5))
	case 2:
		for _, name := range overheadOptions {
			th := d.thresholds(3)
			s.edges = append(s.edges, th...)
			s.maybe(0.5, name, func() string { return d.overheads(th) })
		}
		if d.chance(0.6) {
			s.limits()
		}
		if model := pick(d, "SMPI", "SMPI", "SMPI", "LV08", "CM02"); model == "SMPI" {
			th := d.thresholds(3)
			s.maybe(0.5, "smpi/bw-factor", func() string { return d.factors(th, 0.2, 1.3) })
			s.maybe(0.5, "smpi/lat-factor", func() string { return d.factors(th, 0.5, 30) })
			for _, t := range th {
				s.edges = append(s.edges, t-envelope)
			}
		} else {
			s.model = []string{"network/model:" + model}
			s.maybe(0.3, "network/bandwidth-factor", number(0.5, 1.5))
			s.maybe(0.3, "network/latency-factor", number(1, 11))
		}
		s.maybe(0.4, "network/crosstraffic", choice("0", "no", "yes"))
		s.maybe(0.4, "network/weight-S", choice("0", "8775", "20537", "100", "1e6"))
		s.maybe(0.4, "network/TCP-gamma", choice("4194304", "65536", "20000", "1e8", "0"))
		s.maybe(0.5, "smpi/test", number(5e-7, 1e-3))
		s.maybe(0.5, "smpi/iprobe", number(5e-7, 1e-3))
		s.maybe(0.3, "smpi/iprobe-cpu-usage", choice("0.5", "0.1", "1"))
		s.maybe(0.3, "smpi/grow-injected-times", choice("no", "yes"))
	}
	if d.chance(0.15) { // seldom used
		switch d.IntN(4) {
		case 0:
			s.set("smpi/init", "%.3g", d.logarithmic(1e-6, 1e-2))
		case 1:
			s.set("smpi/finalization-barrier", "yes")
		case 2:
			s.set("smpi/simulate-computation", "no")
		case 3:
			s.set("network/loopback-bw", "%s", pick(d, "1e9", "5e8", "12.5e9"))
			s.set("network/loopback-lat", "%s", pick(d, "1e-6", "0", "3e-7"))
		}
	}
	return s
}

// limits sets the sizes up to which messages are eager and detached.
func (s *settings) limits() {
	s.eager = pick(s.source, 0, 1, 1000, 4096, 8133, 65536)
	s.detached = s.eager + pick(s.source, 0, 0, 1, 5000, 65536, 200000)
	s.set("smpi/async-small-thresh", "%d", s.eager)
	s.set("smpi/send-is-detached-thresh", "%d", s.detached)
	s.edges = append(s.edges, s.eager, s.detached)
}

// thresholds draws up to most ascending message sizes.
func (d source) thresholds(most int) []int {
	th := make([]int, d.between(1, most))
	for i := range th {
		th[i] = int(d.logarithmic(50, 300000))
	}
	slices.Sort(th)
	return slices.Compact(th)
}

// overheads draws a table THRESHOLD:SECONDS:SECONDS_PER_BYTE.
func (d source) overheads(th []int) string {
	var entries []string
	for i, t := range append([]int{0}, th...) {
		a, b := d.logarithmic(1e-8, 1e-5), d.logarithmic(1e-12, 1e-9)
		if i > 0 && d.chance(0.2) {
			a, b = 0, 0
		}
		entries = append(entries, fmt.Sprintf("%d:%.17g:%.17g", t, a, b))
	}
	return strings.Join(entries, ";")
}

// factors draws a table THRESHOLD:FACTOR.
func (d source) factors(th []int, low, high float64) string {
	if d.chance(0.2) {
		return "0:1"
	}
	var entries []string
	for _, t := range append([]int{0}, th...) {
		entries = append(entries, fmt.Sprintf("%d:%.17g", t, d.logarithmic(low, high)))
	}
	return strings.Join(entries, ";")
}

// size draws a message size in bytes: of any order of magnitude, or near one at
// which something changes.
func (s *settings) size() int {
	switch {
	case s.chance(0.3):
		return max(0, pick(s.source, s.edges...)+s.between(-1, 1))
	case s.chance(0.05):
		return 0
	case s.chance(0.02):
		return int(s.logarithmic(1e6, 1e8))
	}
	return int(s.logarithmic(1, 4e6))
}
