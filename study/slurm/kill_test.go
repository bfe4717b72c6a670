package slurm_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"reprise/internal/slurmtest"
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
	cluster, command, file := slurmtest.Start(t), studytest.Command(t), studytest.File(t, many)
	want := studytest.Undisturbed(t, command, file)
	random := rand.New(rand.NewPCG(*seed, 1))
	killed, round := 0, 0
	for ; killed < *kills; round++ {
		e := &engine{cluster.For(t), t, command, file, filepath.Join(t.TempDir(), "s"), want}
		studytest.Run(t, command, "plan", file, "-o", e.dir)
		for killed < *kills && e.left() {
			if e.kill(random) {
				killed++
			}
			if _, err := os.Stat(filepath.Join(e.dir, "workers")); err != nil || len(e.tasks()) < 4 {
				e.submit("--workers", "2")
			}
			time.Sleep(time.Duration(random.Int64N(int64(100 * time.Millisecond))))
		}
		e.finish()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d processes of jobs killed in %d studies", killed, round)
}

// left reports whether runs of the study are left.
func (e *engine) left() bool {
	s := e.status()
	return s.Running+s.Waiting > 0
}

func (e *engine) tasks() []slurm.Task {
	e.t.Helper()
	list, err := slurm.Tasks(e.t.Context(), slurm.Name(e.dir), e.dir)
	if err != nil {
		e.t.Fatal(err)
	}
	return list
}

// kill kills a process of the study's jobs, and reports whether there was one.
func (e *engine) kill(random *rand.Rand) bool {
	pids := e.Steps("SLURM_JOB_NAME=" + slurm.Name(e.dir))
	return len(pids) > 0 && syscall.Kill(pids[random.IntN(len(pids))], syscall.SIGKILL) == nil
}
