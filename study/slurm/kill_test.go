package slurm_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	mostKilled = flag.Int("workers", 20, "how many workers TestKill kills")
	pause      = flag.Duration("pause", 80*time.Millisecond, "the longest time between two of them; more where processes start slowly")
	dirs       = flag.String("dirs", "", "names of a directory, with commas, such as two mounts of one export over NFS; \"\": one of this machine")
)

// TestKill kills workers at random moments, studies after studies, until so many were killed:
// each table is that of a study that nobody has disturbed, and each run was made once.
// With -dirs the workers use these names in turn; as root, every other worker is like one of
// another host: the others see by its heartbeat alone that it is dead.
func TestKill(t *testing.T) {
	command, file := commandStudy(t), studyFile(t, many(1500))
	want := undisturbed(t, command, file)
	k := &killer{T: t, command: command, rand: rand.New(rand.NewPCG(*seed, 0)), parents: []string{t.TempDir()}}
	if *dirs != "" {
		k.parents = strings.Split(*dirs, ",")
	}
	round := 0
	for ; k.count < *mostKilled; round++ {
		name := fmt.Sprintf("round%d", round)
		dir := filepath.Join(k.parents[0], name)
		runStudy(t, command, "plan", file, "-o", dir)
		k.disturb(name)
		runStudy(t, command, "run", file, "-o", dir, "--quiet") // what is left
		if tables(t, dir) != want {
			t.Fatalf("%s/table.csv is another one than that of an undisturbed study", dir)
		}
		checkOnce(t, dir)
		if t.Failed() {
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d workers killed in %d studies", k.count, round)
}

// killer kills workers.
type killer struct {
	*testing.T
	command string
	rand    *rand.Rand
	parents []string // names of the directory with the studies
	count   int      // killed so far
	started int
}

// crew is how many workers there are at a time.
const crew = 3

// disturb has a crew of workers make a study, of which it kills one every now and then and
// starts another, until the study is done or enough were killed.
func (k *killer) disturb(name string) {
	workers := make([]*worker, crew)
	for k.count < *mostKilled && !exists(filepath.Join(k.parents[0], name, "table.csv")) {
		for i, w := range workers {
			if w == nil || w.ended() {
				workers[i] = k.start(name)
			}
		}
		time.Sleep(time.Duration(k.rand.Int64N(int64(*pause))))
		if workers[k.rand.IntN(crew)].kill() {
			k.count++
		}
	}
	for _, w := range workers {
		if w != nil && w.kill() {
			k.count++
		}
	}
}

// worker is a process that may have ended.
type worker struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// start starts a worker of a study.
func (k *killer) start(name string) *worker {
	dir := filepath.Join(k.parents[k.started%len(k.parents)], name)
	w := &worker{exec.Command(k.command, "worker", dir, "--lease", "2s", "--quiet"), make(chan struct{})}
	if k.started%2 == 1 && os.Geteuid() == 0 {
		w.cmd.SysProcAttr = elsewhere()
	}
	k.started++
	if err := w.cmd.Start(); err != nil {
		k.Fatal(err)
	}
	go func() {
		_ = w.cmd.Wait() // how it ended is in its state
		close(w.done)
	}()
	return w
}

func (w *worker) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// kill kills a worker, and reports whether it had not ended by itself.
func (w *worker) kill() bool {
	_ = w.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-w.done
	status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
