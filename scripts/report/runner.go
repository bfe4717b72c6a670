package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// runner measures processes.
type runner struct {
	bin     string // directory of the programs
	dir     string // of traces and platforms
	plots   string // directory
	version string // of the programs
	runs    int
	log     io.Writer
	traces  map[string]generated // by arguments
}

func (l *runner) close() { os.RemoveAll(l.dir) }

// cost is what a process took.
type cost struct {
	seconds float64 // wall time
	bytes   int64   // peak resident memory
}

// run runs a program, of bin if it is there, in the runner's directory, and returns
// its standard output.
func (l *runner) run(name string, args ...string) ([]byte, cost, error) {
	fmt.Fprintln(l.log, "$", name, strings.Join(args, " "))
	if path := filepath.Join(l.bin, name); isFile(path) {
		name = path
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = l.dir
	out, c, err := measure(cmd)
	if own := ownPeak(); err == nil && c.bytes < own+slack {
		return nil, c, fmt.Errorf("%s: took less memory than scripts/report itself, %d bytes, so that it is not known", name, own)
	}
	return out, c, err
}

// slack is how far the kernel's counts of memory may be off, in bytes.
const slack = 1 << 20

// ownPeak returns the peak memory of this process in bytes, or 0 if it is not known.
func ownPeak() int64 {
	var kB int64
	if _, err := fmt.Sscanf(procField("/proc/self/status", "VmHWM"), "%d kB", &kB); err != nil {
		return 0
	}
	return kB << 10
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// measure runs a command. Its memory is at least what this process has had.
func measure(cmd *exec.Cmd) ([]byte, cost, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	c := cost{seconds: time.Since(begin).Seconds()}
	if err != nil {
		return nil, c, fmt.Errorf("%s: %w: %.500s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.bytes = u.Maxrss << 10
	}
	return stdout.Bytes(), c, nil
}

// generated is a trace file and what it took to write.
type generated struct {
	path string // relative to the runner's directory
	size int64  // bytes
	cost
}

// hpl generates a trace of HPL, unless it is there already. The flags are in one
// string, separated by blanks.
func (l *runner) hpl(flags string) (generated, error) {
	if g, ok := l.traces[flags]; ok {
		return g, nil
	}
	g := generated{path: fmt.Sprintf("run%d.trace.zst", len(l.traces))}
	args := append([]string{"hpl", "--quiet", "-o", g.path}, strings.Fields(flags)...)
	var err error
	if g.cost, err = l.median(func() (cost, error) {
		_, c, err := l.run("tracegen", args...)
		return c, err
	}); err != nil {
		return g, err
	}
	info, err := os.Stat(filepath.Join(l.dir, g.path))
	if err != nil {
		return g, err
	}
	g.size = info.Size()
	l.traces[flags] = g
	return g, nil
}

// replayed is what replay tells of a run, and what it took.
type replayed struct {
	Messages int64   `json:"messages"`
	Polls    int64   `json:"polls"`
	Makespan float64 `json:"makespan_s"`
	estimated
	cost
}

// replay plays a trace with the given flags, in one string separated by blanks.
func (l *runner) replay(flags, trace string) (replayed, error) {
	var r replayed
	args := append([]string{"--quiet", "--json"}, strings.Fields(flags)...)
	c, err := l.median(func() (cost, error) {
		out, c, err := l.run("replay", append(args, trace)...)
		if err != nil {
			return c, err
		}
		return c, json.Unmarshal(out, &r)
	})
	r.cost = c
	return r, err
}

// estimated is told of an estimate only.
type estimated struct {
	Interval  float64 `json:"interval_s"` // half-width
	Simulated int64   `json:"simulated_messages"`
}

// rate returns messages per second of the whole process.
func (r replayed) rate() float64 { return float64(r.Messages) / r.seconds }

// enough is the time after which one measurement is as good as several.
const enough = 5 // s

// median measures several times, once if that takes long, and returns the median time
// and the largest memory.
func (l *runner) median(f func() (cost, error)) (cost, error) {
	var all []cost
	for range l.runs {
		c, err := f()
		if err != nil {
			return c, err
		}
		if all = append(all, c); c.seconds > enough {
			break
		}
	}
	return median(all), nil
}

func median(all []cost) cost {
	sort.Slice(all, func(i, j int) bool { return all[i].seconds < all[j].seconds })
	m := all[len(all)/2]
	for _, c := range all {
		m.bytes = max(m.bytes, c.bytes)
	}
	return m
}
