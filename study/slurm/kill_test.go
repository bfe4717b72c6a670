package slurm_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/internal/studytest"
	"reprise/study/slurm"
)

var (
	kills = flag.Int("kills", 10, "how many processes of jobs TestKilledSteps kills")
	seed  = flag.Uint64("seed", 1, "of the moments and the processes")
)

// TestKilledSteps kills workers, and the processes of Slurm that run them, at random moments,
// studies after studies, until so many were killed. What is left without a task is submitted again.
func TestKilledSteps(t *testing.T) {
	shared, command, file := start(t), studytest.Command(t), studytest.File(t, sized(*kills))
	want := studytest.Undisturbed(t, command, file)
	random := rand.New(rand.NewPCG(*seed, 1))
	killed, round := 0, 0
	for ; killed < *kills; round++ {
		e := &engine{cluster{t, shared.dir}, command, file, filepath.Join(t.TempDir(), "s"), want}
		studytest.Run(t, command, "plan", file, "-o", e.dir)
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
	text := strings.Replace(many, "N: 4000, ", "", 1) + "  N: [1500"
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
	if err != nil {
		e.t.Fatal(err)
	}
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
