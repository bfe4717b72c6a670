package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How long one simulation may take. What is left of a case by shrinking may not
// end at all.
const (
	patience          = 2 * time.Minute
	shrinkingPatience = time.Second
)

//go:embed smpi/times.cpp
var timesSource []byte

// tools are the simulators: a replay program for smpirun, and replay.
type tools struct {
	times    string // path of the compiled times.cpp
	replay   string // path of replay
	patience time.Duration
}

// newTools compiles times.cpp into a directory and looks for the programs.
func newTools(dir, replay string) (*tools, error) {
	path, err := exec.LookPath(replay)
	if err != nil {
		return nil, fmt.Errorf("%w (make build)", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("smpirun"); err != nil {
		return nil, fmt.Errorf("%w (scripts/install-simgrid.sh)", err)
	}
	source := filepath.Join(dir, "times.cpp")
	if err := os.WriteFile(source, timesSource, 0o644); err != nil {
		return nil, err
	}
	t := &tools{times: filepath.Join(dir, "times"), replay: path, patience: patience}
	out, err := exec.Command("smpicxx", "-std=c++17", "-O1", "-o", t.times, source).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("smpicxx times.cpp: %w\n%s", err, out)
	}
	return t, nil
}

// timeline is what a simulator says: for each rank the time of its end in
// seconds, and if known the time at which each action has completed.
type timeline struct {
	ends    []float64
	actions [][]float64
}

// simgrid runs smpirun in a case's directory, with its exact solver and options
// beyond those of the case.
func (t *tools) simgrid(dir string, c *testCase, options ...string) (*timeline, error) {
	ranks := len(c.script.ranks)
	args := []string{"-no-privatize", "-np", strconv.Itoa(ranks), "-platform", "platform.xml", "-hostfile", "hostfile",
		"-replay", "trace.index", t.times, "--log=root.thresh:critical"}
	for _, o := range append(append([]string{"network/optim:Full", "cpu/optim:Full"}, c.options...), options...) {
		args = append(args, "--cfg="+o)
	}
	out := filepath.Join(dir, "times.txt")
	if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	env := []string{"CROSSCHECK_TIMES=" + out, "CROSSCHECK_ROUTES=" + filepath.Join(dir, routesFile), "TMPDIR=" + dir}
	if _, err := t.run(dir, env, "smpirun", args...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return parseTimes(string(text), ranks)
}

// parseTimes parses lines RANK END TIME TIME ...
func parseTimes(text string, ranks int) (*timeline, error) {
	t := &timeline{make([]float64, ranks), make([][]float64, ranks)}
	all := strings.Split(strings.TrimSpace(text), "\n")
	if len(all) != ranks {
		return nil, fmt.Errorf("smpirun: %d of %d ranks end: a deadlock", len(all), ranks)
	}
	for _, l := range all {
		fields := strings.Fields(l)
		var v []float64
		for _, f := range fields {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return nil, fmt.Errorf("times: %w", err)
			}
			v = append(v, x)
		}
		if len(v) < 2 || v[0] < 0 || int(v[0]) >= ranks {
			return nil, fmt.Errorf("times: line %q", l)
		}
		t.ends[int(v[0])], t.actions[int(v[0])] = v[1], v[2:]
	}
	return t, nil
}

// reprise runs replay in a case's directory.
func (t *tools) reprise(dir string, c *testCase, options ...string) (*timeline, error) {
	ends, err := t.replayed(dir, "trace.index", append(append([]string(nil), c.options...), options...))
	if err != nil {
		return nil, err
	}
	if len(ends) != len(c.script.ranks) {
		return nil, fmt.Errorf("replay --json: %d ranks, want %d", len(ends), len(c.script.ranks))
	}
	return &timeline{ends: ends}, nil
}

// replayed runs replay on a trace in a directory, and returns when each rank ends, in seconds.
func (t *tools) replayed(dir, trace string, options []string) ([]float64, error) {
	args := []string{"--platform", "platform.xml", "--hostfile", "hostfile", "--quiet", "--json"}
	for _, o := range options {
		args = append(args, "--cfg", o)
	}
	text, err := t.run(dir, nil, t.replay, append(args, trace)...)
	if err != nil {
		return nil, err
	}
	var report struct {
		Ranks []struct {
			End float64 `json:"end_s"`
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("replay --json: %w", err)
	}
	var ends []float64
	for _, r := range report.Ranks {
		ends = append(ends, r.End)
	}
	return ends, nil
}

// run runs a program in a directory and returns its standard output. smpirun is a
// script: what it has started ends with it.
func (t *tools) run(dir string, env []string, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, firstLines(stderr.String()+stdout.String()))
	}
	return stdout.Bytes(), nil
}

// firstLines shortens what a program has said.
func firstLines(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 400 {
		s = s[:400] + "…"
	}
	return s
}
