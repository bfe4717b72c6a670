package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// run is a line of HPL's results, and the load of the machine before.
type run struct {
	point
	gflops float64
}

func (l *lab) runFile(ranks, start int) string {
	return l.path(fmt.Sprintf("hpcc-%d-%d.txt", ranks, start))
}

// runs returns all runs of HPL, after making those that are missing. Starts of different
// numbers of ranks alternate.
func (l *lab) runs() (list []run, err error) {
	for start := range l.plan.starts {
		for _, ranks := range l.plan.rankCounts() {
			file := l.runFile(ranks, start)
			if !exists(file) {
				if err := l.hpcc(file, ranks); err != nil {
					return nil, err
				}
			}
			more, err := readRuns(file)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	return list, nil
}

// hpcc starts the HPC Challenge benchmark, whose HPL comes after its other parts, and keeps
// its output, with the load before it in the first line.
func (l *lab) hpcc(file string, ranks int) error {
	dir, err := filepath.Abs(l.path(fmt.Sprintf("hpcc-%d", ranks)))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	input := hpccinf(dat(repeated(l.plan.sizes, l.plan.repeats), l.plan.blocks, l.plan.gridsOf(ranks)))
	if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(input), 0o666); err != nil {
		return err
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	if _, err := l.command(dir, "mpirun", "-np", strconv.Itoa(ranks), "hpcc"); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("load "+string(load)), text...), 0o666)
}

// resultLine is one of HPL's: T/V, N, NB, P, Q, time and Gflop/s.
var resultLine = regexp.MustCompile(`(?m)^W[RC]\w+ +(\d+) +(\d+) +(\d+) +(\d+) +[\d.]+ +(\S+) *$`)

// readRuns reads what hpcc has kept a file of.
func readRuns(file string) (list []run, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(text), "HPL ERROR") {
		return nil, fmt.Errorf("%s: HPL refused its input and ran another one", file)
	}
	for _, m := range resultLine.FindAllStringSubmatch(string(text), -1) {
		var n [4]int
		for i := range n {
			if n[i], err = strconv.Atoi(m[1+i]); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, m[0], err)
			}
		}
		gflops, err := strconv.ParseFloat(m[5], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, m[0], err)
		}
		list = append(list, run{point{n[0], n[1], grid{n[2], n[3]}}, gflops})
	}
	if failed := strings.Count(string(text), "FAILED"); failed > 0 || len(list) == 0 {
		return nil, fmt.Errorf("%s: %d runs of HPL, %d with a wrong result", file, len(list), failed)
	}
	return list, nil
}
