package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"reprise/internal/workload"
)

func main() {
	if err := bench(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// config is the command line.
type config struct {
	smpirun        bool
	optim          string
	replay         string
	patterns       []string
	ranks          []int
	messages, runs int
	seed           uint64
	inStep         bool
	uplinks        int
	keep           string
}

func parseFlags(args []string) (*config, error) {
	o := &config{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.BoolVar(&o.smpirun, "smpirun", false, "measure smpirun -replay too")
	f.StringVar(&o.optim, "optim", "Lazy", "smpirun's network/optim: Lazy, its default and fastest, or Full, whose times are replay's")
	f.StringVar(&o.replay, "replay", "bin/replay", "the program to measure")
	patterns := f.String("patterns", "ring,pairwise,binary", "comma-separated patterns")
	ranks := f.String("ranks", "64,256,1024", "comma-separated numbers of ranks: powers of two, at least 32")
	f.IntVar(&o.messages, "messages", 100000, "messages of each workload, about")
	f.IntVar(&o.runs, "runs", 5, "runs of each simulator")
	f.Uint64Var(&o.seed, "seed", 1, "what sizes and distances are drawn from")
	f.BoolVar(&o.inStep, "in-step", false, "one size for all messages of a round, so that the ranks stay in step")
	f.IntVar(&o.uplinks, "uplinks", 8, "uplinks of a leaf switch with its 16 hosts")
	f.StringVar(&o.keep, "keep", "", "keep the workloads in this directory")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.patterns = strings.Split(*patterns, ",")
	for _, p := range o.patterns {
		if p != "ring" && p != "pairwise" && p != "binary" {
			return nil, fmt.Errorf("-patterns: %q is none of ring, pairwise, binary", p)
		}
	}
	for _, text := range strings.Split(*ranks, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 32 || n&(n-1) != 0 {
			return nil, fmt.Errorf("-ranks: %q is not a power of two of at least 32", text)
		}
		o.ranks = append(o.ranks, n)
	}
	if o.optim != "Lazy" && o.optim != "Full" {
		return nil, fmt.Errorf("-optim: %q is neither Lazy nor Full", o.optim)
	}
	if f.NArg() > 0 || o.runs < 1 || o.messages < 1 || o.uplinks < 1 {
		return nil, fmt.Errorf("want flags only, and at least one run, one message and one uplink")
	}
	return o, nil
}

// bench measures all workloads and prints the table.
func bench(args []string, w io.Writer) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	if o.replay, err = exec.LookPath(o.replay); err != nil {
		return fmt.Errorf("%w (make build)", err)
	}
	if o.replay, err = filepath.Abs(o.replay); err != nil {
		return err
	}
	t := &table{w: w, smpirun: o.smpirun}
	t.header()
	for _, pattern := range o.patterns {
		for _, ranks := range o.ranks {
			load := &workload.Workload{Pattern: pattern, Ranks: ranks, Messages: max(1, o.messages/ranks) * ranks, Seed: o.seed, InStep: o.inStep, Uplinks: o.uplinks}
			ours, theirs, err := o.measure(load)
			if err != nil {
				return fmt.Errorf("%s, %d ranks: %w", pattern, ranks, err)
			}
			t.row(load, ours, theirs)
		}
	}
	t.footer()
	return nil
}

// measure runs the simulators in turn on a workload.
func (o *config) measure(load *workload.Workload) (ours, theirs sample, err error) {
	dir := filepath.Join(o.keep, fmt.Sprintf("%s-%d", load.Pattern, load.Ranks))
	if o.keep != "" {
		err = os.MkdirAll(dir, 0o755)
	} else if dir, err = os.MkdirTemp("", "bench"); err == nil {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return ours, theirs, err
	}
	if err := load.Write(dir); err != nil {
		return ours, theirs, err
	}
	simulators := []*simulator{replaySimulator(o.replay)}
	if o.smpirun {
		simulators = append(simulators, smpirunSimulator(load.Ranks, o.optim))
	}
	runs := make([][]sample, len(simulators))
	for range o.runs {
		for i, s := range simulators {
			x, err := s.run(dir)
			if err != nil {
				return ours, theirs, err
			}
			runs[i] = append(runs[i], x)
		}
	}
	ours = median(runs[0])
	if o.smpirun {
		theirs = median(runs[1])
	}
	return ours, theirs, nil
}

// table is the Markdown table.
type table struct {
	w         io.Writer
	smpirun   bool
	logRatios float64 // sum of the logarithms of the ratios of speed
	rows      int
}

func (t *table) header() {
	if t.smpirun {
		fmt.Fprintln(t.w, "| pattern | ranks | messages | replay, messages/s | MB | smpirun, messages/s | MB | speed ratio | memory ratio | makespan, relative difference |")
		fmt.Fprintln(t.w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
		return
	}
	fmt.Fprintln(t.w, "| pattern | ranks | messages | replay, messages/s | MB |")
	fmt.Fprintln(t.w, "| --- | --- | --- | --- | --- |")
}

func (t *table) row(load *workload.Workload, ours, theirs sample) {
	n := float64(load.Messages)
	fmt.Fprintf(t.w, "| %s | %d | %d | %.3g | %.1f |", load.Pattern, load.Ranks, load.Messages, n/ours.seconds, float64(ours.bytes)/1e6)
	if t.smpirun {
		ratio := theirs.seconds / ours.seconds
		t.logRatios += math.Log(ratio)
		t.rows++
		fmt.Fprintf(t.w, " %.3g | %.1f | %.1f | %.2f | %.1e |", n/theirs.seconds, float64(theirs.bytes)/1e6, ratio,
			float64(ours.bytes)/float64(theirs.bytes), math.Abs(ours.makespan-theirs.makespan)/theirs.makespan)
	}
	fmt.Fprintln(t.w)
}

func (t *table) footer() {
	if t.rows > 0 {
		fmt.Fprintf(t.w, "\nGeometric mean of the speed ratios: %.1f\n", math.Exp(t.logRatios/float64(t.rows)))
	}
}
