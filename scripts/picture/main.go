// Picture draws docs/picture.svg, which README.md shows: where the time of a rank goes in
// the run of its first screen, step by step, as replay reports it.
//
//	go run ./scripts/picture [-bin bin] [-o docs/picture.svg]
//
// It replays the first 17, 34, ... steps; the differences are the bars. That takes two
// minutes. Needs the programs in -bin (make build).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	run         = "-N 50000 --NB 128 -P 32 -Q 32 --PFACT crout --RFACT right --NBMIN 2 --BCAST 2rg --DEPTH 1 --SWAP bin"
	steps       = 391 // of the run: 50,000 columns in blocks of 128
	stepsPerBar = 17
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("picture: ")
	bin := flag.String("bin", "bin", "directory of the programs")
	out := flag.String("o", "docs/picture.svg", "file to write")
	flag.Parse()
	bars, err := measure(*bin)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, draw(bars), 0o666); err != nil {
		log.Fatal(err)
	}
}

// measure returns the bars of the run.
func measure(bin string) ([]bar, error) {
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	trace := filepath.Join(dir, "run.trace.zst")
	if _, err := output(bin, "tracegen", "hpl --quiet "+run+" -o "+trace); err != nil {
		return nil, err
	}
	var bars []bar
	var before report
	for end := stepsPerBar; end <= steps; end += stepsPerBar {
		text, err := output(bin, "replay", fmt.Sprintf("--quiet --json --platform dahu --steps 0:%d %s", end, trace))
		if err != nil {
			return nil, err
		}
		var r report
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, err
		}
		bars = append(bars, between(&before, &r))
		before = r
	}
	return bars, nil
}

// output runs a program with arguments that have no blanks in them.
func output(bin, name, args string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(bin, name), strings.Fields(args)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	return text, nil
}

// report is what of replay's JSON the picture shows.
type report struct {
	Kinds   []share `json:"time_by_kind"`
	Kernels []share `json:"time_by_kernel"`
}

type share struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_s"` // seconds, over the ranks
}

// layers of a bar, from the bottom.
const (
	dgemm = iota
	otherKernels
	messages
	polls
	numLayers
)

// bar has the time of the mean rank per step, in milliseconds.
type bar [numLayers]float64

// between returns the bar of the steps that the later report has more.
func between(earlier, later *report) bar {
	a, b := earlier.seconds(), later.seconds()
	for i := range b {
		b[i] = (b[i] - a[i]) / stepsPerBar * 1000
	}
	return b
}

// seconds sums up a report.
func (r *report) seconds() (sum bar) {
	for _, s := range r.Kinds {
		switch s.Name {
		case "compute":
			sum[otherKernels] += s.Mean
		case "poll":
			sum[polls] += s.Mean
		default:
			sum[messages] += s.Mean
		}
	}
	for _, s := range r.Kernels {
		if name, _, _ := strings.Cut(s.Name, " "); name == "dgemm" {
			sum[dgemm] += s.Mean
			sum[otherKernels] -= s.Mean
		}
	}
	return sum
}
