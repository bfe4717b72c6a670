package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"reprise/kernels"
)

// drawn is a run of HPL with noise or polls, drawn at random, that is estimated as well
// as replayed completely.
type drawn struct {
	run
	what    string // its machine, and what makes it random
	percent float64
}

// dice draws what a run consists of. Two dice of the same seed and number draw the same.
type dice struct{ *rand.Rand }

func newDice(seed, number uint64) dice { return dice{rand.New(rand.NewPCG(seed, number))} }

func (d dice) chance(p float64) bool { return d.Float64() < p }

// logarithmic draws a number of [low, high), all orders of magnitude alike; low > 0.
func (d dice) logarithmic(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

func pick[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

// drawnGrids are the grids of drawn runs.
var drawnGrids = [][2]int{{1, 8}, {1, 16}, {2, 2}, {2, 4}, {2, 16}, {3, 5}, {4, 4}, {4, 6}, {4, 8}, {6, 6}, {8, 2}, {8, 8}, {8, 16}, {16, 4}, {16, 16}}

// mostRankSteps bounds the steps of a drawn run times its ranks: a second.
const mostRankSteps = 1.2e5

// draw draws a run: a small grid, and enough steps for an estimate. Either ranks poll, or
// times are random, or both.
func draw(seed, number uint64) (drawn, error) {
	d := newDice(seed, number)
	grid := pick(d, drawnGrids...)
	most := math.Min(4000, mostRankSteps/float64(grid[0]*grid[1]))
	nb, steps := pick(d, 8, 16, 32, 64, 128), d.logarithmic(most/3, most)
	poll, noisy := d.chance(0.7), d.chance(0.65)
	bcast, depth := pick(d, "1rg", "1rM", "2rg", "2rM"), pick(d, 1, 1, 1, 2)
	if !poll {
		noisy, bcast, depth = true, pick(d, "1rg", "1rM", "2rg", "2rM", "Lng", "LnM"), 0
		if strings.HasPrefix(bcast, "L") {
			depth = pick(d, 0, 1)
		}
	}
	x := drawn{percent: pick(d, 0.5, 1, 1, 2, 2, 5)}
	x.hpl = fmt.Sprintf("-N %d --NB %d -P %d -Q %d --PMAP %s --BCAST %s --DEPTH %d --SWAP %s", int(float64(nb)*steps), nb, grid[0], grid[1],
		pick(d, "row", "col"), bcast, depth, pick(d, "bin", "long", "mix"))
	flags := []string{fmt.Sprintf("--seed %d", 1+d.IntN(1000))}
	if !noisy {
		flags = nil
	}
	x.what = d.machine(&x.run, grid[0]*grid[1], &flags)
	if poll {
		x.what += d.polls(&flags)
	}
	if noisy {
		what, err := d.noise(&x.run)
		if err != nil {
			return x, err
		}
		x.what += what
	}
	x.flags = strings.Join(flags, " ")
	return x, nil
}

// machine draws where a run is replayed.
func (d dice) machine(x *run, ranks int, flags *[]string) string {
	switch d.IntN(6) {
	case 0, 1:
		x.platform, x.kernels = "dahu", pick(d, "dahu", "dahu-c1", "dahu-a1")
		if ranks <= 32 && d.chance(0.5) {
			*flags = append(*flags, "--ranks-per-host 1")
		}
		return x.kernels
	case 2, 3:
		x.platform, x.kernels = "default", "default"
		return "default"
	case 4:
		x.platform, x.kernels = "stampede", "stampede"
		return "stampede"
	}
	gbps, us := pick(d, 1, 10, 100), pick(d, 1, 5, 20)
	tree := ""
	if d.chance(0.5) {
		tree = fmt.Sprintf(` topology="FAT_TREE" topo_parameters="2;16,16;1,%d;1,1"`, pick(d, 1, 2, 4))
	}
	x.platform = fmt.Sprintf(`<?xml version="1.0"?>
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-255" speed="%dGf" bw="%dGbps" lat="%dus" loopback_bw="10GBps" loopback_lat="0.2us"%s/>
</platform>
`, pick(d, 5, 20, 80), gbps, us, tree)
	x.kernels = "default"
	return fmt.Sprintf("%s of %d Gb/s", map[bool]string{false: "flat", true: "tree"}[tree != ""], gbps)
}

// polls draws what polls cost, and what they see.
func (d dice) polls(flags *[]string) string {
	cost, text := "as on the machine", ""
	if d.chance(0.5) {
		cost = fmt.Sprintf("%.2g", d.logarithmic(1e-8, 1e-4))
		*flags = append(*flags, "--cfg smpi/iprobe:"+cost)
		text = ", polls of " + cost + " s"
	}
	if d.chance(0.5) {
		grows := pick(d, "yes", "no")
		*flags = append(*flags, "--cfg smpi/grow-injected-times:"+grows)
		text += map[string]string{"yes": ", growing", "no": ", constant"}[grows]
	}
	if d.chance(0.15) {
		*flags = append(*flags, "--cfg reprise/poll:arrived")
		text += ", of arrivals"
	}
	if text == "" {
		return ", polls"
	}
	return text
}

// noise draws the noise of kernels, of the network, or of both.
func (d dice) noise(x *run) (string, error) {
	what := ""
	if d.chance(0.8) {
		text, err := kernels.BuiltinText(x.kernels)
		if err != nil {
			return "", err
		}
		law := fmt.Sprintf("%s: %.1f%%", pick(d, "normal", "half-normal"), d.logarithmic(0.5, 12))
		if d.chance(0.2) {
			law = fmt.Sprintf("normal: [{weight: 0.99, sd: %.1f%%}, {weight: 0.01, mean: %.0f%%, sd: 10%%}]", d.logarithmic(0.5, 5), d.logarithmic(20, 200))
		}
		x.kernels = string(text) + "\nnoise: {" + law + "}\n"
		what = ", kernels " + law
	}
	if what == "" || d.chance(0.3) {
		p := d.logarithmic(2, 50)
		x.links = fmt.Sprintf("version: 1\nunit: s\nos: [{noise: {half-normal: %.0f%%}}]\nois: [{noise: {half-normal: %.0f%%}}]\nlatency: [{above: %d, noise: {half-normal: %.0f%%}}]\n",
			p, p, pick(d, 1023, 63999), p)
		what += fmt.Sprintf(", network %.0f%%", p)
	}
	return what, nil
}
