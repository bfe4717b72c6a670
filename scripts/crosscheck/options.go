package main

import (
	"fmt"
	"slices"
	"strings"
)

// settings are the options of a case, and what the program must know of them.
type settings struct {
	list     []string // NAME:VALUE
	model    []string // the same, which smpirun heeds on its command line only
	eager    int      // bytes; smaller messages are eager
	detached int      // bytes; smaller messages are detached
	edges    []int    // message sizes at which something changes
}

func (s *settings) set(name string, format string, args ...any) {
	s.list = append(s.list, name+":"+fmt.Sprintf(format, args...))
}

const envelope = 16 // bytes; factors go by the size with it

// drawSettings draws the options: a third of the cases has the defaults.
func drawSettings(d dice) *settings {
	s := &settings{detached: 65536, edges: []int{65536, 65472 - envelope, 1426 - envelope, 257 - envelope}}
	switch d.IntN(3) {
	case 0:
	case 1:
		s.calibrated(d)
	default:
		s.protocol(d)
		s.network(d)
		s.polls(d)
	}
	if d.chance(0.15) {
		s.rare(d)
	}
	return s
}

// calibrated sets what the calibration of a real machine sets.
func (s *settings) calibrated(d dice) {
	th := thresholds(d, 4)
	s.edges = append(s.edges, th...)
	for _, name := range []string{"smpi/os", "smpi/ois", "smpi/or"} {
		s.set(name, "%s", overheads(d, th))
	}
	s.set("smpi/bw-factor", "%s", factors(d, th, 0.3, 1.1))
	s.set("smpi/lat-factor", "%s", factors(d, th, 0.8, 20))
	s.limits(d)
	s.set("smpi/test", "%.17g", d.logarithmic(5e-7, 1e-5))
	s.set("smpi/iprobe", "%.17g", d.logarithmic(5e-7, 1e-5))
}

// protocol sets some of overheads and thresholds.
func (s *settings) protocol(d dice) {
	for _, name := range []string{"smpi/os", "smpi/ois", "smpi/or"} {
		if d.chance(0.5) {
			th := thresholds(d, 3)
			s.edges = append(s.edges, th...)
			s.set(name, "%s", overheads(d, th))
		}
	}
	if d.chance(0.6) {
		s.limits(d)
	}
}

// limits sets the sizes up to which messages are eager and detached.
func (s *settings) limits(d dice) {
	s.eager = pick(d, 0, 1, 1000, 4096, 8133, 65536)
	s.detached = s.eager + pick(d, 0, 0, 1, 5000, 65536, 200000)
	s.set("smpi/async-small-thresh", "%d", s.eager)
	s.set("smpi/send-is-detached-thresh", "%d", s.detached)
	s.edges = append(s.edges, s.eager, s.detached)
}

// network sets some of what concerns the transfers.
func (s *settings) network(d dice) {
	switch model := pick(d, "SMPI", "SMPI", "SMPI", "LV08", "CM02"); model {
	case "SMPI":
		th := thresholds(d, 3)
		if d.chance(0.5) {
			s.set("smpi/bw-factor", "%s", factors(d, th, 0.2, 1.3))
		}
		if d.chance(0.5) {
			s.set("smpi/lat-factor", "%s", factors(d, th, 0.5, 30))
		}
		for _, t := range th {
			s.edges = append(s.edges, t-envelope)
		}
	default:
		s.model = []string{"network/model:" + model}
		if d.chance(0.3) {
			s.set("network/bandwidth-factor", "%.3g", 0.5+d.Float64())
		}
		if d.chance(0.3) {
			s.set("network/latency-factor", "%.3g", 1+10*d.Float64())
		}
	}
	if d.chance(0.4) {
		s.set("network/crosstraffic", "%s", pick(d, "0", "no", "yes"))
	}
	if d.chance(0.4) {
		s.set("network/weight-S", "%s", pick(d, "0", "8775", "20537", "100", "1e6"))
	}
	if d.chance(0.4) {
		s.set("network/TCP-gamma", "%s", pick(d, "4194304", "65536", "20000", "1e8", "0"))
	}
}

// polls sets what tests and probes cost.
func (s *settings) polls(d dice) {
	if d.chance(0.5) {
		s.set("smpi/test", "%.17g", d.logarithmic(5e-7, 1e-3))
	}
	if d.chance(0.5) {
		s.set("smpi/iprobe", "%.17g", d.logarithmic(5e-7, 1e-3))
	}
	if d.chance(0.3) {
		s.set("smpi/iprobe-cpu-usage", "%s", pick(d, "0.5", "0.1", "1"))
	}
	if d.chance(0.3) {
		s.set("smpi/grow-injected-times", "%s", pick(d, "no", "yes"))
	}
}

// rare sets what few people set.
func (s *settings) rare(d dice) {
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

// thresholds draws up to most ascending message sizes.
func thresholds(d dice, most int) []int {
	th := make([]int, d.between(1, most))
	for i := range th {
		th[i] = int(d.logarithmic(50, 300000))
	}
	slices.Sort(th)
	return slices.Compact(th)
}

// overheads draws a table THRESHOLD:SECONDS:SECONDS_PER_BYTE.
func overheads(d dice, th []int) string {
	entries := []string{fmt.Sprintf("0:%.17g:%.17g", d.logarithmic(1e-8, 1e-5), d.logarithmic(1e-12, 1e-9))}
	for _, t := range th {
		a, b := d.logarithmic(1e-8, 1e-5), d.logarithmic(1e-12, 1e-9)
		if d.chance(0.2) {
			a, b = 0, 0
		}
		entries = append(entries, fmt.Sprintf("%d:%.17g:%.17g", t, a, b))
	}
	return strings.Join(entries, ";")
}

// factors draws a table THRESHOLD:FACTOR.
func factors(d dice, th []int, low, high float64) string {
	if d.chance(0.2) {
		return "0:1"
	}
	entries := []string{fmt.Sprintf("0:%.17g", d.logarithmic(low, high))}
	for _, t := range th {
		entries = append(entries, fmt.Sprintf("%d:%.17g", t, d.logarithmic(low, high)))
	}
	return strings.Join(entries, ";")
}

// size draws a message size in bytes: of any order of magnitude, or near one at
// which something changes.
func (s *settings) size(d dice) int {
	switch {
	case d.chance(0.3):
		return max(0, pick(d, s.edges...)+d.between(-1, 1))
	case d.chance(0.05):
		return 0
	}
	if d.chance(0.02) {
		return int(d.logarithmic(1e6, 1e8))
	}
	return int(d.logarithmic(1, 4e6))
}
