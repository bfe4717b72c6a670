package slurm_test

import (
	"context"
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
	"reprise/study/slurm"
)

// array returns one whose workers run a script of the shell, in a directory of its own.
func array(t *testing.T, workers int, script string) slurm.Array {
	t.Helper()
	dir := t.TempDir()
	return slurm.Array{Name: slurm.Name(dir), Workers: workers, Dir: dir, Worker: []string{"sh", "-c", script}}
}

func submit(t *testing.T, a slurm.Array) string {
	t.Helper()
	job, err := slurm.Submit(context.Background(), a)
	noError(t, err)
	return job
}

func tasks(t *testing.T, a slurm.Array) []slurm.Task {
	t.Helper()
	list, err := slurm.Tasks(context.Background(), a.Name, a.Dir)
	noError(t, err)
	return list
}

// TestArray: tasks run the command with the time at which they have to end, are listed
// while they run, leave what they print in the directory, and can be cancelled.
func TestArray(t *testing.T) {
	c := start(t)
	a := array(t, 5, `echo "it's $SLURM_JOB_ID"; exec sleep 600`)
	a.Partition, a.Time = "work", "30"
	job := submit(t, a)
	running := func() (n int) {
		for _, task := range tasks(t, a) {
			if task.State == "RUNNING" && task.Node != "" && task.Job == job {
				n++
			}
		}
		return n
	}
	c.wait("four tasks on four processors", func() bool { return running() == 4 })
	if list := tasks(t, a); len(list) != 5 {
		t.Errorf("the queue has %v, want 5 tasks", list)
	}
	c.wait("output", func() bool {
		text, err := os.ReadFile(filepath.Join(a.Dir, "slurm", job+"_0.log"))
		return err == nil && strings.HasPrefix(string(text), "it's ")
	})
	other := a
	other.Dir = t.TempDir()
	other.Name = a.Name
	if list := tasks(t, other); len(list) != 0 {
		t.Errorf("a study of the same name has the tasks %v", list)
	}
	noError(t, slurm.Cancel(context.Background(), tasks(t, a)))
	c.wait("ended", func() bool { return len(tasks(t, a)) == 0 })
	if err := slurm.Cancel(context.Background(), nil); err != nil {
		t.Errorf("cancelling nothing: %v", err)
	}
}

// TestMostTasks: a study never has more tasks than MaxTasks, in however many jobs.
func TestMostTasks(t *testing.T) {
	start(t)
	a := array(t, 20, "sleep 600")
	submit(t, a)
	if _, err := slurm.Submit(context.Background(), a); err == nil || !strings.HasPrefix(err.Error(), "20 tasks of this study wait or run") {
		t.Errorf("40 tasks: %v", err)
	}
	a.Workers = 12
	submit(t, a)
	if n := len(tasks(t, a)); n != slurm.MaxTasks {
		t.Errorf("%d tasks, want %d", n, slurm.MaxTasks)
	}
}

// TestRefused: what Slurm says is in the error, and nothing is submitted.
func TestRefused(t *testing.T) {
	c := start(t)
	a := array(t, 2, "true")
	for _, bad := range []struct {
		change func(*slurm.Array)
		want   string
	}{
		{func(a *slurm.Array) { a.Partition = "none" }, "Invalid partition name specified"},
		{func(a *slurm.Array) { a.Time = "soon" }, "Invalid --time specification"},
		{func(a *slurm.Array) { a.Memory = 1 << 50 }, "Memory specification can not be satisfied"},
		{func(a *slurm.Array) { a.Arguments = []string{"--nonsense"} }, "unrecognized option '--nonsense'"},
		{func(a *slurm.Array) { a.Dir = filepath.Join(a.Dir, "none") }, "no such file"},
	} {
		b := a
		bad.change(&b)
		if job, err := slurm.Submit(context.Background(), b); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("job %q, error %v; want one with %q", job, err, bad.want)
		}
	}
	if out := c.command("squeue", "--noheader"); out != "" {
		t.Errorf("the queue has %s", out)
	}
}

// TestUnreachable: a controller that does not answer is an error with Slurm's words.
func TestUnreachable(t *testing.T) {
	c := start(t)
	a := array(t, 2, "true")
	slurmtest.Script(t, "stop", c.dir)
	if _, err := slurm.Submit(context.Background(), a); err == nil || !strings.Contains(err.Error(), "squeue: ") || !strings.Contains(err.Error(), "nable to contact slurm controller") {
		t.Errorf("a Slurm without controller: %v", err)
	}
}

// TestNoSlurm: where Slurm is not installed, the error says so.
func TestNoSlurm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := slurm.Submit(context.Background(), array(t, 2, "true")); err == nil || !strings.HasPrefix(err.Error(), "squeue is not on PATH") {
		t.Errorf("without Slurm: %v", err)
	}
}

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
	noError(c.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	noError(c.t, err)
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
	noError(c.t, err)
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
