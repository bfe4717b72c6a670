// Package slurmtest gives tests a Slurm of two nodes on this machine, which they may break:
// scripts/slurm.sh, as make slurmtest has installed it.
package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// variable of the environment without which there is no Slurm.
const variable = "REPRISE_SLURM"

// A Cluster is a Slurm with the nodes node0 and node1, two processors each, and the
// partitions work and, before which that gives way, urgent.
type Cluster struct {
	t   testing.TB
	dir string
}

// Start starts a Slurm until the test ends, and has its commands find it. Without
// make slurmtest the test is skipped.
func Start(t *testing.T) *Cluster {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skip("needs a Slurm: make slurmtest installs it and runs this test")
	}
	dir, err := os.MkdirTemp("", "slurm") // a socket's name has to be short
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{t, dir}
	t.Cleanup(func() {
		c.script("stop", dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	c.script("start", dir)
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	return c
}

// For returns the cluster for a part of a test.
func (c *Cluster) For(t testing.TB) *Cluster { return &Cluster{t, c.dir} }

// script runs scripts/slurm.sh.
func (c *Cluster) script(args ...string) {
	c.t.Helper()
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(file), "..", "..", "scripts", "slurm.sh")
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF=")
	said, err := os.Create(filepath.Join(c.dir, "said")) // a pipe would be held open by the daemons
	if err != nil {
		c.t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		c.t.Fatalf("slurm.sh %v: %v\n%s", args, err, text)
	}
}

// Stop ends all daemons, as if the cluster could not be reached.
func (c *Cluster) Stop() {
	c.t.Helper()
	c.script("stop", c.dir)
}

// KillSlurmd kills the daemon of a node. Slurm finds the node down some ten seconds later,
// or when the daemon is there again.
func (c *Cluster) KillSlurmd(node string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "slurmd."+node+".pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		c.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
}

// A Step is a process of a job.
type Step struct {
	PID    int
	Parent int    // of Slurm, which runs it; 0 if that was killed
	Job    string // id of the array, and number of its task in it
}

// KillSteps kills the processes of the jobs of a node, and those that run them.
func (c *Cluster) KillSteps(node string) {
	c.t.Helper()
	for _, s := range c.Steps("SLURMD_NODENAME=" + node) {
		if s.Parent != 0 {
			_ = syscall.Kill(s.Parent, syscall.SIGKILL) // it may have ended, as may the other
		}
		_ = syscall.Kill(s.PID, syscall.SIGKILL)
	}
}

// Steps returns the processes of this cluster's jobs that have a variable in their environment,
// such as "SLURMD_NODENAME=node1".
func (c *Cluster) Steps(variable string) (steps []Step) {
	c.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file) // of the others, some end meanwhile
		words := strings.Split(string(text), "\x00")
		if err != nil || !slices.Contains(words, variable) ||
			!slices.Contains(words, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf")) {
			continue
		}
		s := Step{Job: value(words, "SLURM_ARRAY_JOB_ID=") + "_" + value(words, "SLURM_ARRAY_TASK_ID=")}
		if s.PID, err = strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			s.Parent, err = slurmstepd(s.PID)
		}
		if err == nil {
			steps = append(steps, s)
		}
	}
	return steps
}

// value returns what follows a prefix in the first word that has it.
func value(words []string, prefix string) string {
	for _, w := range words {
		if v, ok := strings.CutPrefix(w, prefix); ok {
			return v
		}
	}
	return ""
}

// slurmstepd returns the parent of a process of a job, 0 if that is none of Slurm's; an error
// if the process is gone.
func slurmstepd(pid int) (int, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0, err
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err == nil && strings.TrimSpace(string(name)) != "slurmstepd" {
		parent = 0
	}
	return parent, err
}

// StartSlurmd starts the daemon of a node again.
func (c *Cluster) StartSlurmd(node string) {
	c.t.Helper()
	c.script("slurmd", c.dir, node)
}

// Command runs a command of Slurm and returns what it prints.
func (c *Cluster) Command(name string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// Wait waits until something is so, for a quarter of an hour at most: mostly it takes seconds,
// but not for who shares the machine with others.
func (c *Cluster) Wait(what string, so func() bool) {
	c.t.Helper()
	for end := time.Now().Add(15 * time.Minute); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("not %s after a quarter of an hour:\n%s", what, c.Command("squeue", "--array"))
		}
	}
}
