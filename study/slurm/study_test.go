package slurm_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/internal/studytest"
)

// many is a study of 72 runs of some 50 ms each.
const many = `
program: hpl
parameters: {N: 4000, P: 4, Q: 4}
machine: dahu
factors:
  NB: [16, 24, 32, 48]
  DEPTH: [0, 1]
  SWAP: [bin-exch, long, mix]
  BCAST: [1ring, 2ring, long]
`

// TestStudies: whatever happens to workers of Slurm, the table of a study is, to the byte, that
// of one machine, and each run was made once.
func TestStudies(t *testing.T) {
	slurm, command, file := start(t), studytest.Command(t), studytest.File(t, many)
	want := studytest.Undisturbed(t, command, file)
	for _, c := range []struct {
		name string
		test func(*engine)
	}{
		{"same table", sameTable}, {"cancelled", cancelled}, {"preempted", preempted}, {"requeued", requeued}, {"dead node", deadNode}, {"killed slurmd", killedSlurmd}, {"full disk", fullDisk},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &engine{cluster{t, slurm.dir}, command, file, filepath.Join(t.TempDir(), "s"), want}
			studytest.Run(t, command, "plan", file, "-o", e.dir)
			c.test(e)
			e.wait("idle", func() bool { return len(e.command("squeue", "--noheader")) == 0 })
		})
	}
}

// engine is a study on a Slurm.
type engine struct {
	cluster
	study, file, dir string
	want             string // its table
}

// status is what study status says.
type status struct {
	Done, Running, Waiting, Failed int
	Tasks                          []struct{ Job, Task, State, Node string }
	Workers                        []struct {
		PID   int
		Alive bool
	}
	Warnings []string
}

func (e *engine) status() (s status) {
	e.t.Helper()
	if err := json.Unmarshal([]byte(studytest.Run(e.t, e.study, "status", e.dir, "--json")), &s); err != nil {
		e.t.Fatal(err)
	}
	return s
}

func (e *engine) submit(args ...string) {
	e.t.Helper()
	studytest.Run(e.t, e.study, append([]string{"submit", e.dir, "--slurm", "--lease", "2s"}, args...)...)
}

// idle reports whether no task and no worker of the study is left.
func (e *engine) idle() bool {
	s := e.status()
	alive := 0
	for _, w := range s.Workers {
		if w.Alive {
			alive++
		}
	}
	return len(s.Tasks) == 0 && alive == 0
}

// finish submits workers until the study is done, and checks that it came out as if nobody had
// disturbed it.
func (e *engine) finish() {
	e.t.Helper()
	e.wait("idle", e.idle)
	for jobs := 0; jobs < 5 && !e.done(); jobs++ {
		time.Sleep(time.Second) // a lease of which a killed worker has written half is held for 2 s
		e.submit("--workers", "4")
		e.wait("idle", e.idle)
	}
	if !e.done() {
		e.t.Fatalf("not done after five jobs more:\n%s", e.output())
	}
	if studytest.Table(e.t, e.dir) != e.want {
		e.t.Errorf("%s/table.csv is another one than that of a study on one machine", e.dir)
	}
	studytest.CheckOnce(e.t, e.dir)
}

// sameTable: what workers of Slurm make is, to the byte, what one machine makes.
func sameTable(e *engine) {
	e.submit("--workers", "4", "--time", "10", "--partition", "work")
	if s := e.status(); len(s.Tasks) != 4 {
		e.t.Errorf("the queue has %v, want 4 tasks", s.Tasks)
	}
	e.finish()
	if out := studytest.Run(e.t, e.study, "submit", e.dir, "--slurm"); !strings.Contains(out, "nothing is submitted") {
		e.t.Errorf("submitting a study that is done: %s", out)
	}
	if out := studytest.Run(e.t, e.study, "cancel", e.dir); !strings.Contains(out, "0 tasks") {
		e.t.Errorf("cancelling a study that is done: %s", out)
	}
}

// cancelled: cancelled workers give back what they were making, and others go on.
func cancelled(e *engine) {
	e.submit("--workers", "6")
	e.working()
	studytest.Run(e.t, e.study, "cancel", e.dir)
	e.wait("idle", e.idle)
	if s := e.status(); s.Running != 0 || s.Failed != 0 {
		e.t.Errorf("after cancelling: %+v", s)
	}
	e.finish()
}

// working waits until some runs are done.
func (e *engine) working() {
	e.t.Helper()
	e.wait("working", func() bool { s := e.status(); return s.Done > 5 })
}

// preempted: tasks that have to give way to others are queued again, and go on.
func preempted(e *engine) {
	e.submit("--workers", "4", "--partition", "work")
	e.working()
	e.command("sbatch", "--partition=urgent", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 1")
	e.wait("queued again", func() bool {
		return slices.ContainsFunc(e.status().Tasks, func(t struct{ Job, Task, State, Node string }) bool { return t.State == "PENDING" })
	})
	if jobs, err := filepath.Glob(filepath.Join(e.dir, "slurm", "job-*.json")); err != nil || len(jobs) != 1 {
		e.t.Errorf("jobs %v, want 1: it was not submitted again", jobs)
	}
	e.finish()
}

// requeued: so are tasks that somebody queues again.
func requeued(e *engine) {
	e.submit("--workers", "4")
	e.working()
	e.command("scontrol", "requeue", e.status().Tasks[0].Job)
	e.finish()
}

// deadNode: a node of which nothing answers any more, and whose processes are gone.
func deadNode(e *engine) {
	e.submit("--workers", "4")
	e.working()
	e.killSlurmd("node1")
	for _, s := range e.steps("SLURMD_NODENAME=node1") {
		if s.parent != 0 {
			_ = syscall.Kill(s.parent, syscall.SIGKILL) // it may have ended, as may the other
		}
		_ = syscall.Kill(s.pid, syscall.SIGKILL)
	}
	e.wait("done", func() bool { s := e.status(); return s.Running+s.Waiting == 0 })
	e.slurmd("node1")
	e.finish()
}

// killedSlurmd: a daemon that dies and comes again leaves the workers of its node alone.
func killedSlurmd(e *engine) {
	e.submit("--workers", "4")
	e.working()
	e.killSlurmd("node0")
	time.Sleep(time.Second)
	e.slurmd("node0")
	e.finish()
}
