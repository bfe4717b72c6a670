package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/internal/actiontimes"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
)

//go:embed smpi/times.cpp
var timesSource []byte

// tools are the simulators: a replay program for smpirun, and replay.
type tools struct {
	times    string // path of the compiled times.cpp
	program  string // path of the compiled program on communicators
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
	t := &tools{times: filepath.Join(dir, "times"), replay: path, patience: 2 * time.Minute}
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

// simgrid runs smpirun in a case's directory, with its exact solver.
func (t *tools) simgrid(dir string, c *testCase) (*timeline, error) {
	if c.text != "" {
		return t.execute(dir, c)
	}
	args := []string{"-no-privatize", "-np", strconv.Itoa(len(c.lines)), "-platform", "platform.xml", "-hostfile", "hostfile",
		"-replay", "trace.index", t.times, "--log=root.thresh:critical"}
	options := []string{"network/optim:Full", "cpu/optim:Full"}
	if c.energy { // as by default, which profiles of links do not always survive
		args = append(args, "--log=host_energy.thresh:info", "--log=link_energy.thresh:info", "--log=root.app:file:"+filepath.Join(dir, "energy.txt"))
		options = []string{"plugin:host_energy", "plugin:link_energy"}
	}
	for _, o := range append(options, c.options...) {
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
	return parseTimes(string(text), len(c.lines))
}

// parseTimes parses lines RANK END TIME TIME ...
func parseTimes(text string, ranks int) (*timeline, error) {
	t := &timeline{make([]float64, ranks), make([][]float64, ranks)}
	all := strings.Split(strings.TrimSpace(text), "\n")
	if len(all) != ranks {
		return nil, fmt.Errorf("smpirun: %d of %d ranks end: a deadlock", len(all), ranks)
	}
	for _, l := range all {
		var v []float64
		for _, f := range strings.Fields(l) {
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

// reprise runs replay in a case's directory and, on a trace of actions, the library for their times, and checks
// routes.
func (t *tools) reprise(dir string, c *testCase) (*timeline, error) {
	trace, args := "trace.index", []string{"--platform", "platform.xml", "--hostfile", "hostfile", "--quiet", "--json"}
	if c.text != "" {
		trace, args = "trace.zst", append(args, "--cfg", "smpi/simulate-computation:no")
	}
	for _, o := range c.options {
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
	l := &timeline{}
	for _, r := range report.Ranks {
		l.ends = append(l.ends, r.End)
	}
	if len(l.ends) != len(c.lines) {
		return nil, fmt.Errorf("replay --json: %d ranks, want %d", len(l.ends), len(c.lines))
	}
	if c.energy {
		return l, compareEnergies(dir, text)
	}
	if c.text == "" {
		if l.actions, err = actionTimes(dir, c); err == nil {
			err = checkRoutes(dir)
		}
	}
	return l, err
}

// actionTimes replays a case in its directory by the library, as the command does, and returns for
// each rank the time at which each line has completed, NaN if it is no action. It returns nil
// for cases of too many actions.
func actionTimes(dir string, c *testCase) ([][]float64, error) {
	if c.actions() > actiontimes.MostActions/16 {
		return nil, nil
	}
	s, err := actiontimes.Open(filepath.Join(dir, "trace.index"), dir)
	if err != nil {
		return nil, err
	}
	p, err := platforms.Load(filepath.Join(dir, "platform.xml"))
	if err != nil {
		return nil, err
	}
	o := replay.DefaultOptions()
	o.Network.Solver = netmodel.SolverClocks // the command solves single flows but in crowds
	if err := o.Network.ApplyConfig(p); err != nil {
		return nil, err
	}
	for _, option := range c.options {
		name, value, _ := strings.Cut(option, ":")
		if err := o.Network.Set(name, value); err != nil {
			return nil, err
		}
	}
	hosts, err := replay.ParseHostfile(strings.NewReader(joinLines(c.hosts)), "hostfile", p, len(c.lines))
	if err != nil {
		return nil, err
	}
	res, err := replay.RunSource(context.Background(), s.Header(), s, replay.Machine{Platform: p, Hosts: hosts}, o)
	if err != nil {
		return nil, err
	}
	return s.EndTimes(res, o.Network.InitTime), nil
}

// run runs a program in a directory and returns its standard output. smpirun is a
// script: the processes that it started end with it.
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
		return nil, fmt.Errorf("%s: %w: %.400s", filepath.Base(name), err, strings.TrimSpace(stderr.String()+stdout.String()))
	}
	return stdout.Bytes(), nil
}

// routesFile is where times.cpp writes the routes between the hosts of a case.
const routesFile = "routes.txt"

// checkRoutes compares the routes between the hosts of the case in a directory with SimGrid's, link by
// link, and the sums of their latencies; the error names the first difference.
//
// Links that the file names have the same names. For those that SimGrid makes up in a cluster, each of
// ours must be the same one of SimGrid's in all routes.
func checkRoutes(dir string) error {
	p, err := platforms.Load(filepath.Join(dir, "platform.xml"))
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, routesFile))
	if err != nil {
		return err
	}
	defer f.Close()
	named := map[string]bool{}
	for i := range p.NumLinks() {
		named[p.Link(int32(i)).Name] = true
	}
	toOurs, toTheirs := map[string]string{}, map[string]string{"loopback": "__loopback__"}
	same := func(theirs, ours string) bool {
		if named[theirs] {
			return theirs == ours
		}
		if _, ok := toOurs[theirs]; !ok {
			toOurs[theirs] = ours
		}
		if _, ok := toTheirs[ours]; !ok {
			toTheirs[ours] = theirs
		}
		return toOurs[theirs] == ours && toTheirs[ours] == theirs
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() { // SOURCE DESTINATION LATENCY LINK...
		words := strings.Fields(lines.Text())
		if len(words) < 3 {
			return fmt.Errorf("%s: line %q", routesFile, lines.Text())
		}
		if len(words) == 3 && words[0] == words[1] {
			continue // a host without a loopback, to which nothing is sent
		}
		from, okFrom := p.HostIndex(words[0])
		to, okTo := p.HostIndex(words[1])
		if !okFrom || !okTo {
			return fmt.Errorf("no host %q or %q", words[0], words[1])
		}
		links, err := p.AppendLinks(platforms.AsListed, nil, from, to)
		if err != nil {
			return err
		}
		var ours []string
		for _, l := range links {
			ours = append(ours, p.Link(l).Name)
		}
		if !slices.EqualFunc(words[3:], ours, same) {
			return fmt.Errorf("route from %s to %s: SimGrid has %v, replay %v", words[0], words[1], words[3:], ours)
		}
		if slices.Contains(ours, "loopback") || len(p.Profiles()) > 0 {
			continue // an option, which the model of the network applies, or a profile changes the latency
		}
		if links, err = p.AppendLinks(platforms.AsSummed, links[:0], from, to); err != nil {
			return err
		}
		latency := 0.0
		for _, l := range links {
			_, seconds, _ := p.LinkFigures(l)
			latency += seconds
		}
		if sum, err := strconv.ParseFloat(words[2], 64); err != nil || sum != latency {
			return fmt.Errorf("route from %s to %s: latency %s in SimGrid, %v in replay", words[0], words[1], words[2], latency)
		}
	}
	return lines.Err()
}
