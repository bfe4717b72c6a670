package slurm_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/study/slurm"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// many returns a study of 72 runs of HPL of order n: some 10 ms each with 1,500, 50 ms with 4,000.
func many(n int) string {
	return fmt.Sprintf(`
program: hpl
parameters: {N: %d, P: 4, Q: 4}
machine: dahu
factors:
  NB: [16, 24, 32, 48]
  DEPTH: [0, 1]
  SWAP: [bin-exch, long, mix]
  BCAST: [1ring, 2ring, long]
`, n)
}

// TestStudies: whatever happens to workers of Slurm, the table of a study is, to the byte, that
// of one machine, and each run was made once.
func TestStudies(t *testing.T) {
	slurm, command, file := start(t), commandStudy(t), studyFile(t, many(4000))
	want := undisturbed(t, command, file)
	for _, c := range []struct {
		name string
		test func(*engine)
	}{
		{"same table", sameTable}, {"cancelled", cancelled}, {"preempted", preempted}, {"requeued", requeued}, {"dead node", deadNode}, {"killed slurmd", killedSlurmd}, {"full disk", fullDisk},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &engine{cluster{t, slurm.dir}, command, file, filepath.Join(t.TempDir(), "s"), want}
			runStudy(t, command, "plan", file, "-o", e.dir)
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
	noError(e.t, json.Unmarshal([]byte(runStudy(e.t, e.study, "status", e.dir, "--json")), &s))
	return s
}

func (e *engine) submit(args ...string) {
	e.t.Helper()
	runStudy(e.t, e.study, append([]string{"submit", e.dir, "--slurm", "--lease", "2s"}, args...)...)
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
	if tables(e.t, e.dir) != e.want {
		e.t.Errorf("%s/table.csv is another one than that of a study on one machine", e.dir)
	}
	checkOnce(e.t, e.dir)
}

// sameTable: what workers of Slurm make is, to the byte, what one machine makes.
func sameTable(e *engine) {
	e.submit("--workers", "4", "--time", "10", "--partition", "work")
	if s := e.status(); len(s.Tasks) != 4 {
		e.t.Errorf("the queue has %v, want 4 tasks", s.Tasks)
	}
	e.finish()
	if out := runStudy(e.t, e.study, "submit", e.dir, "--slurm"); !strings.Contains(out, "nothing is submitted") {
		e.t.Errorf("submitting a study that is done: %s", out)
	}
	if out := runStudy(e.t, e.study, "cancel", e.dir); !strings.Contains(out, "0 tasks") {
		e.t.Errorf("cancelling a study that is done: %s", out)
	}
}

// cancelled: cancelled workers give back what they were making, and others go on.
func cancelled(e *engine) {
	e.submit("--workers", "6")
	e.working()
	runStudy(e.t, e.study, "cancel", e.dir)
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

var (
	kills = flag.Int("kills", 10, "how many processes of jobs TestKilledSteps kills")
	seed  = flag.Uint64("seed", 1, "of the moments and the processes")
)

// TestKilledSteps kills workers, and the processes of Slurm that run them, at random moments,
// studies after studies, until so many were killed. What is left without a task is submitted again.
func TestKilledSteps(t *testing.T) {
	shared, command, file := start(t), commandStudy(t), studyFile(t, sized(*kills))
	want := undisturbed(t, command, file)
	random := rand.New(rand.NewPCG(*seed, 1))
	killed, round := 0, 0
	for ; killed < *kills; round++ {
		e := &engine{cluster{t, shared.dir}, command, file, filepath.Join(t.TempDir(), "s"), want}
		runStudy(t, command, "plan", file, "-o", e.dir)
		for killed < *kills && !e.done() {
			switch killing := e.kill(random); {
			case killing:
				killed++
			case len(e.tasks()) <= slurm.MaxTasks/2: // of which some start as others end
				e.submit("--workers", fmt.Sprint(slurm.MaxTasks/2))
			}
			time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond))))
		}
		e.finish()
		if t.Failed() {
			return
		}
		t.Logf("study %d: %d killed so far", round+1, killed)
	}
	t.Logf("%d processes of jobs killed in %d studies", killed, round)
}

// sized returns a study of short runs that is not done before some of so many kills.
func sized(kills int) string {
	text := strings.Replace(many(4000), "N: 4000, ", "", 1) + "  N: [1500"
	for n := range kills / 20 {
		text += fmt.Sprint(", ", 1501+n)
	}
	return text + "]\n"
}

// done reports whether a worker has found that all runs are done.
func (e *engine) done() bool {
	_, err := os.Stat(filepath.Join(e.dir, "table.csv"))
	return err == nil
}

func (e *engine) tasks() []slurm.Task {
	e.t.Helper()
	list, err := slurm.Tasks(e.t.Context(), slurm.Name(e.dir), e.dir)
	noError(e.t, err)
	return list
}

// kill kills a worker, or the process of Slurm that runs it, and reports whether there was one. In
// the latter case the worker goes on, but Slurm only finds out after minutes that the job is
// gone: it is cancelled.
func (e *engine) kill(random *rand.Rand) bool {
	steps := e.steps("SLURM_JOB_NAME=" + slurm.Name(e.dir))
	if len(steps) == 0 {
		return false
	}
	s := steps[random.IntN(len(steps))]
	if s.parent == 0 || random.IntN(2) == 0 {
		return syscall.Kill(s.pid, syscall.SIGKILL) == nil
	}
	killed := syscall.Kill(s.parent, syscall.SIGKILL) == nil
	e.command("scancel", s.job)
	return killed
}

// long is a study of two short runs and, to be added, one that takes longer than a minute: a
// worker takes it for an estimate, of 600 steps, but it polls, and no estimate is that good.
const long = `
program: hpl
parameters: {P: 16, Q: 16, NB: 64, DEPTH: 1, BCAST: 1ring, SWAP: long}
machine: dahu
factors:
  N: [1000, 2000, %d]
tolerance: 0.2%%
`

// TestWalltime: a worker whose job is over after a minute gives back what it was making, with its
// state, and one that follows goes on from there.
func TestWalltime(t *testing.T) {
	slurm, command := start(t), commandStudy(t)
	file := studyFile(t, fmt.Sprintf(long, orderOf(t, command, 2*time.Minute)))
	want := make(chan string)
	go func() { want <- undisturbed(t, command, file) }()
	e := &engine{slurm, command, file, filepath.Join(t.TempDir(), "s"), ""}
	runStudy(t, command, "plan", file, "-o", e.dir)
	e.submit("--workers", "1", "--time", "1")
	e.wait("idle", e.idle)
	if saved, err := filepath.Glob(filepath.Join(e.dir, "checkpoints", "*")); err != nil || len(saved) != 1 {
		t.Errorf("checkpoints %v, %v, want 1: the long run was to be interrupted\n%s", saved, err, e.output())
	}
	e.submit("--workers", "1")
	e.wait("idle", e.idle)
	e.want = <-want
	e.finish()
}

// orderOf returns the order of a matrix whose run takes about so long of a processor as quick as
// now, and longer on one that is shared: it takes some time for each row of blocks.
func orderOf(t *testing.T, command string, takes time.Duration) int {
	t.Helper()
	const order = 60000
	c := exec.Command(command, "run", studyFile(t, fmt.Sprintf(long, order)), "-o", filepath.Join(t.TempDir(), "s"), "--quiet")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n := int(order * takes.Seconds() / c.ProcessState.UserTime().Seconds())
	t.Logf("N = %d", n)
	return n
}

// output returns what the tasks have printed, and which checkpoints there are.
func (e *engine) output() string {
	var b strings.Builder
	logs, err := filepath.Glob(filepath.Join(e.dir, "slurm", "*.log"))
	noError(e.t, err)
	for _, name := range logs {
		text, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s: %s%v\n", filepath.Base(name), text, err)
	}
	saved, err := filepath.Glob(filepath.Join(e.dir, "checkpoints", "*"))
	fmt.Fprintln(&b, "checkpoints:", len(saved), err)
	return b.String()
}

// smallDisk mounts a file system of 1 MB and returns its directory.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("needs a small file system, which this user cannot mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// fill fills the disk of a directory to the last byte, and returns the file that does.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	noError(t, err)
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	return f.Name()
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestFullDisk: workers on a disk that is full, or read-only, end with an error that says so,
// and what they had done stays.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t)
	command, file, dir := commandStudy(t), studyFile(t, many(4000)), filepath.Join(disk, "s")
	runStudy(t, command, "plan", file, "-o", dir)
	filler := fill(t, disk)
	if out := failStudy(t, 1, command, "worker", dir, "--quiet"); !strings.Contains(out, "no space left on device") || !strings.Contains(out, dir) {
		t.Errorf("a worker on a full disk says %s", out)
	}
	noError(t, os.Truncate(filler, 700<<10))
	worker := exec.Command(command, "worker", dir, "--quiet")
	noError(t, worker.Start())
	fill(t, disk+"/s") // while it works
	if err := worker.Wait(); err == nil || worker.ProcessState.ExitCode() != 1 {
		t.Errorf("a worker whose disk becomes full: %v", err)
	}
	remount(t, disk, "ro")
	if out := failStudy(t, 1, command, "worker", dir, "--quiet"); !strings.Contains(out, "read-only file system") {
		t.Errorf("a worker on a read-only disk says %s", out)
	}
	runStudy(t, command, "status", dir)
	remount(t, disk, "rw")
	noError(t, errors.Join(os.Remove(filler), os.Remove(disk+"/s/filler")))
	runStudy(t, command, "worker", dir, "--quiet")
	if tables(t, dir) != undisturbed(t, command, file) {
		t.Errorf("the table is another one than that of a study whose disk was never full")
	}
	checkOnce(t, dir)
}

func remount(t *testing.T, dir, how string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+how, dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
}

// fullDisk: a disk that becomes full under the workers of Slurm costs only the time until it
// has room again.
func fullDisk(e *engine) {
	disk := smallDisk(e.t)
	e.dir = filepath.Join(disk, "s")
	runStudy(e.t, e.study, "plan", e.file, "-o", e.dir)
	filler := fill(e.t, disk)
	if out := failStudy(e.t, 1, e.study, "submit", e.dir, "--slurm"); !strings.Contains(out, "no space left on device") {
		e.t.Errorf("submitting on a full disk: %s", out)
	}
	noError(e.t, os.Truncate(filler, 800<<10))
	e.submit("--workers", "4")
	e.working()
	full := fill(e.t, e.dir)
	e.wait("idle", e.idle)
	if s := e.status(); s.Waiting == 0 {
		e.t.Errorf("the disk was full, and all is done: %+v", s)
	}
	noError(e.t, errors.Join(os.Remove(filler), os.Remove(full)))
	e.finish()
}
