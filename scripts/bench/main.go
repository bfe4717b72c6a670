// Bench measures how fast replay is, side by side with SimGrid's trace replay.
//
//	go run ./scripts/bench [-smpirun] [-optim Lazy|Full] [-messages N] [-ranks 64,256,1024] [-runs 5] [-in-step]
//
// It writes three communication patterns (package workload) as SimGrid text traces, on a
// two-level fat tree with SMPI's default options, and plays each with replay and, with -smpirun, in
// turn with smpirun -replay: in its default mode, its fastest, or in the one whose times are replay's
// (docs/deviations.md, 2). It prints a Markdown table: medians of the wall times of whole processes, as
// messages per second, peak memory, ratios, and the difference of the two predictions.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/scripts/bench/workload"
)

func main() {
	if err := bench(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// sample is one run of a simulator.
type sample struct {
	seconds  float64 // wall time of the process
	bytes    int64   // peak resident memory
	makespan float64 // simulated seconds
}

// simulator plays the workload of the directory that it runs in.
type simulator struct {
	name     string
	args     []string
	makespan func(output []byte) (float64, error)
}

var simulationTime = regexp.MustCompile(`Simulation time ([0-9.]+)`)

// simulators returns replay and smpirun, with the network solver that optim names.
func simulators(replay string, ranks int, optim string) []simulator {
	return []simulator{
		{replay, []string{"--platform", "platform.xml", "--hostfile", "hostfile", "--quiet", "--json", "trace.index"}, func(output []byte) (float64, error) {
			var report struct {
				Makespan float64 `json:"makespan_s"`
			}
			err := json.Unmarshal(output, &report)
			return report.Makespan, err
		}},
		{"smpirun", []string{"-no-privatize", "-np", strconv.Itoa(ranks), "-platform", "platform.xml", "-hostfile", "hostfile",
			"-replay", "trace.index", "--cfg=smpi/host-speed:1Gf", "--cfg=network/optim:" + optim}, func(output []byte) (float64, error) {
			m := simulationTime.FindSubmatch(output)
			if m == nil {
				return 0, errors.New("no line \"Simulation time\"")
			}
			return strconv.ParseFloat(string(m[1]), 64)
		}},
	}
}

func bench(args []string, w io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	smpirun := f.Bool("smpirun", false, "measure smpirun -replay too")
	optim := f.String("optim", "Lazy", "smpirun's network/optim: Lazy, its default and fastest, or Full, whose times are replay's")
	replay := f.String("replay", "bin/replay", "the program to measure")
	patterns := f.String("patterns", "ring,pairwise,binary", "comma-separated patterns")
	ranks := f.String("ranks", "64,256,1024", "comma-separated numbers of ranks: powers of two, at least 32")
	messages := f.Int("messages", 100000, "messages of each workload, about")
	runs := f.Int("runs", 5, "runs of each simulator")
	seed := f.Uint64("seed", 1, "what sizes and distances are drawn from")
	inStep := f.Bool("in-step", false, "one size for all messages of a round, so that the ranks stay in step")
	uplinks := f.Int("uplinks", 8, "uplinks of a leaf switch with its 16 hosts")
	keep := f.String("keep", "", "keep the workloads in this directory")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *optim != "Lazy" && *optim != "Full" {
		return fmt.Errorf("-optim: %q is neither Lazy nor Full", *optim)
	}
	if f.NArg() > 0 || *runs < 1 || *messages < 1 || *uplinks < 1 {
		return errors.New("want flags only, and at least one run, one message and one uplink")
	}
	var loads []*workload.Workload
	for _, pattern := range strings.Split(*patterns, ",") {
		if !slices.Contains([]string{"ring", "pairwise", "binary"}, pattern) {
			return fmt.Errorf("-patterns: %q is none of ring, pairwise, binary", pattern)
		}
		for _, text := range strings.Split(*ranks, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 32 || n&(n-1) != 0 {
				return fmt.Errorf("-ranks: %q is not a power of two of at least 32", text)
			}
			loads = append(loads, &workload.Workload{Pattern: pattern, Ranks: n, Messages: max(1, *messages/n) * n, Seed: *seed, InStep: *inStep, Uplinks: *uplinks})
		}
	}
	path, err := exec.LookPath(*replay)
	if err != nil {
		return fmt.Errorf("%w (make build)", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	head := "| pattern | ranks | messages | replay, messages/s | MB |"
	if *smpirun {
		head += " smpirun, messages/s | MB | speed ratio | memory ratio | makespan, relative difference |"
	}
	fmt.Fprintf(w, "%s\n|%s\n", head, strings.Repeat(" --- |", strings.Count(head, "|")-1))
	logRatios := 0.0
	for _, load := range loads {
		list := simulators(path, load.Ranks, *optim)
		if !*smpirun {
			list = list[:1]
		}
		medians, err := measure(load, *keep, list, *runs)
		if err != nil {
			return fmt.Errorf("%s, %d ranks: %w", load.Pattern, load.Ranks, err)
		}
		n, ours := float64(load.Messages), medians[0]
		fmt.Fprintf(w, "| %s | %d | %d | %.3g | %.1f |", load.Pattern, load.Ranks, load.Messages, n/ours.seconds, float64(ours.bytes)/1e6)
		for _, theirs := range medians[1:] {
			ratio := theirs.seconds / ours.seconds
			logRatios += math.Log(ratio)
			fmt.Fprintf(w, " %.3g | %.1f | %.1f | %.2f | %.1e |", n/theirs.seconds, float64(theirs.bytes)/1e6, ratio,
				float64(ours.bytes)/float64(theirs.bytes), math.Abs(ours.makespan-theirs.makespan)/theirs.makespan)
		}
		fmt.Fprintln(w)
	}
	if *smpirun {
		fmt.Fprintf(w, "\nGeometric mean of the speed ratios: %.1f\n", math.Exp(logRatios/float64(len(loads))))
	}
	return nil
}

// measure runs simulators in turn on a workload, and returns for each the run of median time.
func measure(load *workload.Workload, keep string, list []simulator, repeats int) ([]sample, error) {
	dir := filepath.Join(keep, fmt.Sprintf("%s-%d", load.Pattern, load.Ranks))
	var err error
	if keep != "" {
		err = os.MkdirAll(dir, 0o755)
	} else if dir, err = os.MkdirTemp("", "bench"); err == nil {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return nil, err
	}
	if err := load.Write(dir); err != nil {
		return nil, err
	}
	runs := make([][]sample, len(list))
	for range repeats {
		for i, s := range list {
			x, err := s.run(dir)
			if err != nil {
				return nil, err
			}
			runs[i] = append(runs[i], x)
		}
	}
	var medians []sample
	for _, x := range runs {
		medians = append(medians, median(x))
	}
	return medians, nil
}

// run runs the simulator in a directory.
func (s *simulator) run(dir string) (sample, error) {
	cmd := exec.Command(s.name, s.args...)
	var output, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &output, &stderr
	begin := time.Now()
	err := cmd.Run()
	x := sample{seconds: time.Since(begin).Seconds()}
	if err != nil {
		return x, fmt.Errorf("%s: %w: %.300s", s.name, err, stderr.Bytes())
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		x.bytes = u.Maxrss << 10 // of the process or of the largest it has waited for
	}
	if x.makespan, err = s.makespan(append(output.Bytes(), stderr.Bytes()...)); err != nil {
		return x, fmt.Errorf("%s: %w", s.name, err)
	}
	return x, nil
}

// median returns the run of median time, with the largest memory of all.
func median(runs []sample) sample {
	slices.SortFunc(runs, func(a, b sample) int { return cmp.Compare(a.seconds, b.seconds) })
	m := runs[len(runs)/2]
	for _, r := range runs {
		m.bytes = max(m.bytes, r.bytes)
	}
	return m
}
