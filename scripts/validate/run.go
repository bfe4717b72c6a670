package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// A run is what tracegen hpl and replay are given. Platform, kernels, pivots, hosts and links
// are the text of a file, or the name of a file or of something built in.
type run struct {
	hpl      string // flags of tracegen hpl, separated by blanks
	platform string // XML
	kernels  string // YAML
	pivots   string // a line each; "": random
	hosts    string // a line each; "": ranks fill hosts in order
	links    string // noise of the network, YAML; "": none
	flags    string // further flags of replay, separated by blanks
}

// result is what replay prints of a run.
type result struct {
	Makespan float64 `json:"makespan_s"`
	Gflops   float64 `json:"gflops"`

	IsEstimate bool    `json:"estimate"`
	Interval   float64 `json:"interval_s"` // half-width, if it is an estimate; so are these:
	Steps      int     `json:"steps"`
	Simulated  int     `json:"simulated_steps"`
}

// tolerance returns the flags of replay for an estimate.
func tolerance(percent float64) string { return fmt.Sprintf("--tolerance %g%%", percent) }

// runner makes runs.
type runner struct {
	bin  string         // directory of the programs
	jobs int            // at once
	done map[run]result // so that tables that share runs replay them once
}

// replayAll returns the results of runs in order. It begins with the last: tables mostly end
// with the longest.
func (l *runner) replayAll(runs []run) ([]result, error) {
	results, errs := make([]result, len(runs)), make([]error, len(runs))
	slots := make(chan struct{}, l.jobs)
	var wg sync.WaitGroup
	for i := len(runs) - 1; i >= 0; i-- {
		if r, ok := l.done[runs[i]]; ok {
			results[i] = r
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			results[i], errs[i] = l.replay(runs[i])
		})
	}
	wg.Wait()
	for i, r := range runs {
		if errs[i] == nil {
			l.done[r] = results[i]
		}
	}
	return results, errors.Join(errs...)
}

// replay makes a run in a directory of its own.
func (l *runner) replay(r run) (res result, err error) {
	dir, err := os.MkdirTemp("", "validate")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir)
	trace := filepath.Join(dir, "trace.zst")
	generate := append([]string{"hpl", "--quiet", "-o", trace}, strings.Fields(r.hpl)...)
	play := append([]string{"--quiet", "--json"}, strings.Fields(r.flags)...)
	for _, input := range []struct {
		args             *[]string
		flag, text, file string
	}{
		{&generate, "--pivots", r.pivots, "pivots"},
		{&play, "--platform", r.platform, "platform.xml"}, {&play, "--kernels", r.kernels, "kernels.yaml"},
		{&play, "--hostfile", r.hosts, "hosts"}, {&play, "--network-noise", r.links, "noise.yaml"},
	} {
		if input.text == "" {
			continue
		}
		value := input.text
		if strings.Contains(value, "\n") {
			value = filepath.Join(dir, input.file)
			if err := os.WriteFile(value, []byte(input.text), 0o644); err != nil {
				return res, err
			}
		}
		if input.flag == "--pivots" {
			value = "file:" + value
		}
		*input.args = append(*input.args, input.flag, value)
	}
	if _, err := l.execute("tracegen", generate); err != nil {
		return res, err
	}
	out, err := l.execute("replay", append(play, trace))
	if err != nil {
		return res, err
	}
	return res, json.Unmarshal(out, &res)
}

// execute runs one of the programs on one core and returns its standard output.
func (l *runner) execute(name string, args []string) ([]byte, error) {
	log.Println("$", name, strings.Join(args, " "))
	cmd := exec.Command(filepath.Join(l.bin, name), args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %.500s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}
