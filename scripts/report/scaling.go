package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// A weak scaling: 1024² entries of the matrix to a rank on square grids.
var (
	scalingRanks  = []int{64, 256, 1024, 4096, 16384, 65536}
	wholeRanks    = 1024  // largest number of ranks that play all steps too
	twoStepsRanks = 16384 // largest number of ranks that play two steps, not one
)

const localOrder = 1024 // rows and columns of the matrix on each rank

// fatTree is a SimGrid platform: a host of 25 Gflop/s per rank, 16 to a leaf
// switch, and one uplink for two hosts. Ranks are a multiple of 16.
func fatTree(ranks int) string {
	return fmt.Sprintf(`<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="25Gf" bw="12.5GBps" lat="1us"
           topology="FAT_TREE" topo_parameters="2;16,%d;1,8;1,1"/>
</platform>
`, ranks-1, ranks/16)
}

// writeFatTree stores the platform in the runner's directory and returns its name.
func (l *runner) writeFatTree(ranks int) (string, error) {
	name := fmt.Sprintf("fattree%d.xml", ranks)
	return name, os.WriteFile(filepath.Join(l.dir, name), []byte(fatTree(ranks)), 0o644)
}

// scalingFlags are tracegen's for a number of ranks that is a square.
func scalingFlags(ranks int) string {
	side := int(math.Sqrt(float64(ranks)))
	return fmt.Sprintf("-N %d --NB 128 -P %d -Q %d --BCAST LnM --DEPTH 0 --SWAP bin", localOrder*side, side, side)
}

// scaling measures the first steps for all numbers of ranks, and complete runs for
// the smaller ones.
func scaling(l *runner) (string, error) {
	first := page.NewTable("ranks", "N", "trace, KB", "generation, s", "steps", "messages", "wall time, s", "messages/s", "memory, MB")
	whole := page.NewTable("ranks", "N", "steps", "messages", "wall time, s", "messages/s", "memory, MB")
	time, memory := page.Curve{Name: "wall time"}, page.Curve{Name: "memory"}
	for _, ranks := range scalingRanks {
		platform, err := l.writeFatTree(ranks)
		if err != nil {
			return "", err
		}
		g, err := l.hpl(scalingFlags(ranks))
		if err != nil {
			return "", err
		}
		steps := 2
		if ranks > twoStepsRanks {
			steps = 1
		}
		r, err := l.replay(fmt.Sprintf("--platform %s --steps 0:%d", platform, steps), g.path)
		if err != nil {
			return "", err
		}
		n := localOrder * int(math.Sqrt(float64(ranks)))
		first.Row(wording.Thousands(ranks), wording.Thousands(n), page.Digits(float64(g.size)/1e3), page.Digits(g.seconds), fmt.Sprint("0:", steps), wording.Thousands(r.Messages), page.Digits(r.seconds), page.Digits(r.rate()), page.Megabytes(r.bytes))
		time.Add(float64(ranks), r.seconds/float64(steps))
		memory.Add(float64(ranks), float64(r.bytes)/1e6)
		if ranks > wholeRanks {
			continue
		}
		if r, err = l.replay("--platform "+platform, g.path); err != nil {
			return "", err
		}
		whole.Row(wording.Thousands(ranks), wording.Thousands(n), wording.Thousands(n/128), wording.Thousands(r.Messages), page.Digits(r.seconds), page.Digits(r.rate()), page.Megabytes(r.bytes))
	}
	if err := l.plotScaling(time, memory); err != nil {
		return "", err
	}
	return "The first steps:\n\n" + first.String() + "\n" +
		page.Image(l.plots, "scaling-time", "wall time per step against ranks") + page.Image(l.plots, "scaling-memory", "peak memory against ranks") +
		"\nComplete runs:\n\n" + whole.String() +
		commands("tracegen hpl -N 1024√ranks --NB 128 -P √ranks -Q √ranks --BCAST LnM --DEPTH 0 --SWAP bin -o run.trace.zst",
			"replay --platform fattree.xml --steps 0:2 run.trace.zst"), nil
}

func (l *runner) plotScaling(time, memory page.Curve) error {
	err := page.Graph{Title: "First steps, same work per rank", X: "ranks", Y: "wall time per step, s", Curves: []page.Curve{time}}.Write(l.plots, "scaling-time")
	if err != nil {
		return err
	}
	return page.Graph{Title: "First steps, same work per rank", X: "ranks", Y: "peak memory, MB", Curves: []page.Curve{memory}}.Write(l.plots, "scaling-memory")
}
