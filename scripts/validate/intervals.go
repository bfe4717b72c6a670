package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"reprise/kernels"
)

// compareIntervals draws runs of HPL in which ranks poll or times are random, until 50 of a seed
// are estimated, and replays these completely, too. At most 6 of 50 complete runs may be
// outside of the estimate's interval of 95 %, which happens to one seed in a hundred, and none by
// more than two half-widths.
func compareIntervals(l *runner, seeds string, stdout io.Writer) error {
	const wanted, mostMisses, mostHalfWidths, batch, mostDraws = 50, 6, 2, 25, 1000
	var failed []error
	for _, text := range strings.Split(seeds, ",") {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("-intervals %q: want numbers", seeds)
		}
		var runs []run
		var estimates []result
		for number := uint64(0); len(runs) < wanted; number += batch {
			if number >= mostDraws {
				return fmt.Errorf("seed %d: only %d of %d runs were estimated", seed, len(runs), number)
			}
			var drawn, estimated []run
			for k := range uint64(batch) {
				r, percent, err := drawRun(seed, number+k)
				if err != nil {
					return err
				}
				drawn = append(drawn, r)
				r.flags += " " + tolerance(percent)
				estimated = append(estimated, r)
			}
			results, err := l.replayAll(estimated)
			if err != nil {
				return err
			}
			for i, e := range results {
				if e.IsEstimate && len(runs) < wanted {
					runs, estimates = append(runs, drawn[i]), append(estimates, e)
				}
			}
		}
		complete, err := l.replayAll(runs)
		if err != nil {
			return err
		}
		misses, worst, width, bias, share := 0, 0.0, 0.0, 0.0, 0.0
		for i, e := range estimates {
			off := (e.Makespan - complete[i].Makespan) / e.Interval
			if !(math.Abs(off) <= math.Abs(worst)) {
				worst = off
			}
			width += 100 * e.Interval / e.Makespan / wanted
			bias += relative(e.Makespan, complete[i].Makespan) / wanted
			share += 100 * float64(e.Simulated) / float64(e.Steps) / wanted
			if !(math.Abs(off) <= 1) {
				misses++
				fmt.Fprintf(stdout, "missed by %+.2f half-widths: tracegen hpl %s; replay %s\n", off, runs[i].hpl, runs[i].flags)
			}
		}
		fmt.Fprintf(stdout, "seed %d: %d of %d outside of the interval, worst %+.2f half-widths; mean half-width %.2f %%, error %+.2f %%, steps simulated %.0f %%\n",
			seed, misses, wanted, worst, width, bias, share)
		if misses > mostMisses || !(math.Abs(worst) <= mostHalfWidths) {
			failed = append(failed, fmt.Errorf("seed %d: %d misses, the worst by %.2f half-widths; allowed are %d and %d", seed, misses, math.Abs(worst), mostMisses, mostHalfWidths))
		}
	}
	return errors.Join(failed...)
}

// source is the random source of the parts of a run.
type source struct{ *rand.Rand }

func (d source) chance(p float64) bool { return d.Float64() < p }

// logarithmic draws a number of [low, high), all orders of magnitude alike; low > 0.
func (d source) logarithmic(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

func pick[T any](d source, values ...T) T { return values[d.IntN(len(values))] }

// drawRun draws a run and a tolerance in percent: a small grid, and enough steps for an estimate, of a
// second. Either ranks poll, or times are random, or both.
func drawRun(seed, number uint64) (x run, percent float64, err error) {
	d := source{rand.New(rand.NewPCG(seed, number))}
	grid := pick(d, [][2]int{{1, 8}, {1, 16}, {2, 2}, {2, 4}, {2, 16}, {3, 5}, {4, 4}, {4, 6}, {4, 8}, {6, 6}, {8, 2}, {8, 8}, {8, 16}, {16, 4}, {16, 16}}...)
	most := math.Min(4000, 1.2e5/float64(grid[0]*grid[1]))
	nb, steps := pick(d, 8, 16, 32, 64, 128), d.logarithmic(most/3, most)
	poll, noisy := d.chance(0.7), d.chance(0.65)
	bcast, depth := pick(d, "1rg", "1rM", "2rg", "2rM"), pick(d, 1, 1, 1, 2)
	if !poll {
		noisy, bcast, depth = true, pick(d, "1rg", "1rM", "2rg", "2rM", "Lng", "LnM"), 0
		if strings.HasPrefix(bcast, "L") {
			depth = pick(d, 0, 1)
		}
	}
	percent = pick(d, 0.5, 1, 1, 2, 2, 5)
	x.hpl = fmt.Sprintf("-N %d --NB %d -P %d -Q %d --PMAP %s --BCAST %s --DEPTH %d --SWAP %s", int(float64(nb)*steps), nb, grid[0], grid[1],
		pick(d, "row", "col"), bcast, depth, pick(d, "bin", "long", "mix"))
	flags := []string{fmt.Sprintf("--seed %d", 1+d.IntN(1000))}
	if !noisy {
		flags = nil
	}
	switch d.IntN(6) {
	case 0, 1:
		x.platform, x.kernels = "dahu", pick(d, "dahu", "dahu-c1", "dahu-a1")
		if grid[0]*grid[1] <= 32 && d.chance(0.5) {
			flags = append(flags, "--ranks-per-host 1")
		}
	case 2, 3:
		x.platform, x.kernels = "default", "default"
	case 4:
		x.platform, x.kernels = "stampede", "stampede"
	default:
		gbps, us, tree := pick(d, 1, 10, 100), pick(d, 1, 5, 20), ""
		if d.chance(0.5) {
			tree = fmt.Sprintf(` topology="FAT_TREE" topo_parameters="2;16,16;1,%d;1,1"`, pick(d, 1, 2, 4))
		}
		x.kernels = "default"
		x.platform = fmt.Sprintf(`<?xml version="1.0"?>
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-255" speed="%dGf" bw="%dGbps" lat="%dus" loopback_bw="10GBps" loopback_lat="0.2us"%s/>
</platform>
`, pick(d, 5, 20, 80), gbps, us, tree)
	}
	if poll { // what a poll costs, and what it sees
		if d.chance(0.5) {
			flags = append(flags, fmt.Sprintf("--cfg smpi/iprobe:%.2g", d.logarithmic(1e-8, 1e-4)))
		}
		if d.chance(0.5) {
			flags = append(flags, "--cfg smpi/grow-injected-times:"+pick(d, "yes", "no"))
		}
		if d.chance(0.15) {
			flags = append(flags, "--cfg reprise/poll:arrived")
		}
	}
	noisyKernels := noisy && d.chance(0.8)
	if noisyKernels {
		text, err := kernels.BuiltinText(x.kernels)
		if err != nil {
			return x, 0, err
		}
		law := fmt.Sprintf("%s: %.1f%%", pick(d, "normal", "half-normal"), d.logarithmic(0.5, 12))
		if d.chance(0.2) {
			law = fmt.Sprintf("normal: [{weight: 0.99, sd: %.1f%%}, {weight: 0.01, mean: %.0f%%, sd: 10%%}]", d.logarithmic(0.5, 5), d.logarithmic(20, 200))
		}
		x.kernels = string(text) + "\nnoise: {" + law + "}\n"
	}
	if noisy && (!noisyKernels || d.chance(0.3)) {
		p := d.logarithmic(2, 50)
		x.links = fmt.Sprintf("version: 1\nunit: s\nos: [{noise: {half-normal: %.0f%%}}]\nois: [{noise: {half-normal: %.0f%%}}]\nlatency: [{above: %d, noise: {half-normal: %.0f%%}}]\n",
			p, p, pick(d, 1023, 63999), p)
	}
	x.flags = strings.Join(flags, " ")
	return x, percent, nil
}
