package slurm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/studytest"
)

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
	slurm, command := start(t), studytest.Command(t)
	file := studytest.File(t, fmt.Sprintf(long, orderOf(t, command, 2*time.Minute)))
	want := make(chan string)
	go func() { want <- studytest.Undisturbed(t, command, file) }()
	e := &engine{slurm, command, file, filepath.Join(t.TempDir(), "s"), ""}
	studytest.Run(t, command, "plan", file, "-o", e.dir)
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
	c := exec.Command(command, "run", studytest.File(t, fmt.Sprintf(long, order)), "-o", filepath.Join(t.TempDir(), "s"), "--quiet")
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
	if err != nil {
		e.t.Fatal(err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		fmt.Fprintf(&b, "%s: %s%v\n", filepath.Base(name), text, err)
	}
	saved, err := filepath.Glob(filepath.Join(e.dir, "checkpoints", "*"))
	fmt.Fprintln(&b, "checkpoints:", len(saved), err)
	return b.String()
}
