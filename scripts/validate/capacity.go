package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"reprise/internal/wording"
)

// capacityInputs are those of the capacity study: 512 ranks on a fat tree.
type capacityInputs struct {
	Links struct {
		LoopbackBandwidth float64 `json:"loopback_bandwidth_bytes_per_s"`
		LoopbackLatency   float64 `json:"loopback_latency_s"`
	} `json:"links"`
}

// Effective coefficients of the study's kernels, seconds per unit of the size: the
// nominal ones times 6217956542.969/1e9, the ratio of running power and host speed.
const (
	capacityScale = 6.217956542969
	capacityDgemm = 1.742435e-10 * capacityScale
	capacityDtrsm = 8.897459e-11 * capacityScale // of M*N*N, whatever the side
)

// Block size and process rows of the study.
const capacityBlock, capacityRows = 120, 16

// capacityFlags are tracegen's, beside -N, NB and P.
const capacityFlags = "-Q 32 --PFACT left --NBMIN 2 --NDIV 2 --RFACT left --BCAST 1rg --DEPTH 0 --SWAP mix --swap-threshold 64 --copy-l"

// capacitySwitches are the numbers of top switches that are replayed, by placement.
// Congestion on random placements takes minutes to solve.
var capacitySwitches = map[string][]int{"sequential": {1, 2, 4, 8, 16}, "random": {1, 16}}

// capacity replays 512 ranks on fat trees of 1 to 16 top switches and variations of
// links and processors. Everything is known but the random placements; ours are
// drawn from a seed.
func capacity(l *runner) (section, error) {
	var in capacityInputs
	if err := l.document("scalability/platform_2017.json", &in); err != nil {
		return section{}, err
	}
	s, err := l.csvTable("scalability/capacity_2017.csv", "matrix_size", "top_switches", "link_bandwidth_bytes_per_s", "link_latency_s", "speed_factor", "mapping", "smpi_time_s")
	if err != nil {
		return section{}, err
	}
	var points []point
	index, count := map[string]int{}, map[string]float64{}
	for _, r := range s.rows {
		n, k := r.whole("matrix_size"), r.whole("top_switches")
		if !slices.Contains(capacitySwitches[r.text("mapping")], k) {
			continue
		}
		labels := []string{wording.Thousands(n), fmt.Sprint(k), megabytesPerSecond(r.number("link_bandwidth_bytes_per_s")), fmt.Sprintf("%g", 1e6*r.number("link_latency_s")),
			r.text("speed_factor"), r.text("mapping")}
		key := strings.Join(labels, " ")
		i, ok := index[key]
		if !ok {
			i, index[key] = len(points), len(points)
			points = append(points, point{labels: labels, run: in.run(r, n, k)})
		}
		count[key]++
		points[i].smpi += (hplGflops(n, r.number("smpi_time_s")) - points[i].smpi) / count[key] // a running mean
	}
	if s.err != nil {
		return section{}, s.err
	}
	if err := l.replayPoints(points); err != nil {
		return section{}, err
	}
	text := agree(points, func(p point) string { return strings.Join(p.labels, " ") }).text() + "\n" +
		pointTable([]string{"N", "top switches", "links, MB/s", "µs", "speed", "placement"}, points)
	return section{text, capacityClaims(points)}, nil
}

func megabytesPerSecond(x float64) string { return fmt.Sprintf("%g", x/1e6) }

// run is one of the study's: a row of its table.
func (in *capacityInputs) run(r row, n, switches int) run {
	w := network{
		Bandwidth: r.number("link_bandwidth_bytes_per_s"), Latency: r.number("link_latency_s"),
		LoopbackBandwidth: in.Links.LoopbackBandwidth, LoopbackLatency: in.Links.LoopbackLatency,
	}
	x := run{
		hpl:      fmt.Sprintf("-N %d --NB %d -P %d %s", n, capacityBlock, capacityRows, capacityFlags),
		pivots:   fourthRows(n, capacityBlock, capacityRows),
		platform: w.xml(cluster{last: 511, cores: 1, fatTree: fmt.Sprintf("2;16,32;1,%d;1,1", switches)}),
		kernels:  capacityKernels(r.number("speed_factor")),
	}
	if r.text("mapping") == "random" {
		x.hosts = shuffledHosts(512)
	}
	return x
}

// fourthRows returns the pivots of the simulations of 2017, from 0. Their search for the
// largest element of a column answers with the fourth of the rows that remain to a
// process, and as the processes have the same matrix in memory, the first process row
// wins. At the end, when it has no four rows, each column is its own pivot: ours, since
// theirs is outside of the matrix. nb is 3 or more.
func fourthRows(n, nb, processRows int) string {
	var b strings.Builder
	for c := range n {
		block := (c/nb + processRows - 1) / processRows * processRows // the first process row's next
		row := max(c, block*nb) + 3
		if row/nb > block {
			row += (processRows - 1) * nb
		}
		if row >= n {
			row = c
		}
		fmt.Fprintln(&b, row)
	}
	return b.String()
}

func capacityKernels(speed float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nunit: s\nkernels:\n  dgemm: {terms: {M*N*K: %s}}\n  dtrsm: {terms: {M*N^2: %s}}\n", exact(capacityDgemm/speed), exact(capacityDtrsm/speed))
	otherKernels(nil).write(&b, false)
	return b.String()
}

// shuffledHosts lists the hosts in an order that is random but always the same.
func shuffledHosts(n int) string {
	var b strings.Builder
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		fmt.Fprintf(&b, "node-%d\n", i)
	}
	return b.String()
}

// capacityClaims checks what switches, placement, latency and bandwidth are worth.
func capacityClaims(points []point) []verdict {
	at := map[string]float64{}
	for _, p := range points {
		at[strings.Join(p.labels, " ")] = p.ours
	}
	// Of the labels: switches, links in MB/s, µs, speed, placement.
	const base, one, random, thin, wide, slow = "16 1250 24 1 sequential", "1 1250 24 1 sequential", "16 1250 24 1 random", "16 125 24 1 sequential", "16 12500 24 1 sequential", "16 1250 240 1 sequential"
	narrow := func(k int, placement string) string { return fmt.Sprintf("50,000 %d 1.25 24 1 %s", k, placement) }
	needed := []string{"50,000 " + base, "50,000 " + one, "50,000 " + random}
	list := func(placement string) string {
		var values []string
		for _, k := range capacitySwitches[placement] {
			values = append(values, gflops(at[narrow(k, placement)]))
		}
		return strings.Join(values, " / ")
	}
	for _, placement := range []string{"sequential", "random"} {
		for _, k := range capacitySwitches[placement] {
			needed = append(needed, narrow(k, placement))
		}
	}
	than := func(what string) float64 { return relative(at["50,000 "+what], at["50,000 "+base]) }
	return []verdict{
		decide(31, at, needed, func() (string, bool) {
			return fmt.Sprintf("10 Gb/s: 1 instead of 16 switches %s %%, random %s %%; 10 Mb/s: %s Gflops, random with 1 / 16 %s", tenth(than(one)), tenth(than(random)), list("sequential"), list("random")),
				math.Abs(than(one)) < 2 && at[narrow(16, "sequential")] > 2*at[narrow(1, "sequential")] && at[narrow(1, "random")] < 0.7*at[narrow(1, "sequential")]
		}),
		decide(32, at, []string{"50,000 " + base, "50,000 " + slow, "50,000 " + wide, "50,000 " + thin, "100,000 " + base, "100,000 " + slow}, func() (string, bool) {
			by50, by100 := at["50,000 "+base]/at["50,000 "+slow], at["100,000 "+base]/at["100,000 "+slow]
			return fmt.Sprintf("latency ×10: %.1f at 50,000, %.1f at 100,000; bandwidth ×10 %s %%, /10 %s %%", by50, by100, tenth(than(wide)), tenth(than(thin))),
				math.Abs(by50-3.7) < 0.8 && math.Abs(by100-2.1) < 0.4 && math.Abs(than(wide)) < 6 && math.Abs(than(thin)) < 6
		}),
	}
}
