package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"sort"
	"strconv"
	"syscall"
	"time"
)

// sample is one run of a simulator.
type sample struct {
	seconds  float64 // wall time of the process
	bytes    int64   // peak resident memory
	makespan float64 // simulated seconds
}

// simulator plays the workload of a directory.
type simulator struct {
	name     string
	args     []string
	makespan func(output []byte) (float64, error)
}

func replaySimulator(path string) *simulator {
	return &simulator{path, []string{"--platform", "platform.xml", "--hostfile", "hostfile", "--quiet", "--json", "trace.index"},
		func(output []byte) (float64, error) {
			var report struct {
				Makespan float64 `json:"makespan_s"`
			}
			err := json.Unmarshal(output, &report)
			return report.Makespan, err
		}}
}

var simulationTime = regexp.MustCompile(`Simulation time ([0-9.]+)`)

// smpirunSimulator plays a workload with the network solver that optim names.
func smpirunSimulator(ranks int, optim string) *simulator {
	return &simulator{"smpirun", []string{"-no-privatize", "-np", strconv.Itoa(ranks), "-platform", "platform.xml", "-hostfile", "hostfile",
		"-replay", "trace.index", "--cfg=smpi/host-speed:1Gf", "--cfg=network/optim:" + optim},
		func(output []byte) (float64, error) {
			m := simulationTime.FindSubmatch(output)
			if m == nil {
				return 0, fmt.Errorf("no line \"Simulation time\"")
			}
			return strconv.ParseFloat(string(m[1]), 64)
		}}
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
	sort.Slice(runs, func(i, j int) bool { return runs[i].seconds < runs[j].seconds })
	m := runs[len(runs)/2]
	for _, r := range runs {
		m.bytes = max(m.bytes, r.bytes)
	}
	return m
}
