package slurm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func tasks(t *testing.T, a slurm.Array) []slurm.Task {
	t.Helper()
	list, err := slurm.Tasks(context.Background(), a.Name, a.Dir)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := slurm.Cancel(context.Background(), tasks(t, a)); err != nil {
		t.Fatal(err)
	}
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
