package slurm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/internal/slurmtest"
)

// cluster is a Slurm of slurmtest, and the test that breaks it.
type cluster struct {
	t   *testing.T
	dir string
}

func start(t *testing.T) cluster {
	t.Helper()
	return cluster{t, slurmtest.Start(t)}
}

// slurmd starts the daemon of a node again.
func (c cluster) slurmd(node string) {
	c.t.Helper()
	slurmtest.Script(c.t, "slurmd", c.dir, node)
}

// killSlurmd kills the daemon of a node. Slurm finds the node down some ten seconds later, or when
// the daemon is there again.
func (c cluster) killSlurmd(node string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "slurmd."+node+".pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// A step is a process of a job.
type step struct {
	pid    int
	parent int    // of Slurm, which runs it; 0 if that was killed
	job    string // ID of the array, and number of its task in it
}

// steps returns the processes of this cluster's jobs that have a variable in their environment,
// such as "SLURMD_NODENAME=node1". Some end while they are looked at.
func (c cluster) steps(variable string) (steps []step) {
	c.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		words := strings.Split(string(text), "\x00")
		if err != nil || !slices.Contains(words, variable) ||
			!slices.Contains(words, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf")) {
			continue
		}
		value := map[string]string{}
		for _, w := range words {
			name, v, _ := strings.Cut(w, "=")
			value[name] = v
		}
		s := step{job: value["SLURM_ARRAY_JOB_ID"] + "_" + value["SLURM_ARRAY_TASK_ID"]}
		s.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(file)))
		stat, gone := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
		if err != nil || gone != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // proc(5): state, parent
		name, err := os.ReadFile("/proc/" + fields[1] + "/comm")
		if err == nil && strings.TrimSpace(string(name)) == "slurmstepd" {
			s.parent, err = strconv.Atoi(fields[1])
		}
		if err == nil {
			steps = append(steps, s)
		}
	}
	return steps
}

// command runs a command of Slurm and returns what it prints.
func (c cluster) command(name string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// wait waits until something is so, for a quarter of an hour at most: mostly it takes seconds, but
// not for who shares the machine with others.
func (c cluster) wait(what string, so func() bool) {
	c.t.Helper()
	for end := time.Now().Add(15 * time.Minute); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("not %s after a quarter of an hour:\n%s", what, c.command("squeue", "--array"))
		}
	}
}
