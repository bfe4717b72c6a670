package slurm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/slurmtest"
	"reprise/internal/studytest"
)

// long is a study of one run, which takes most of a minute on a processor that is shared, and
// two short ones.
const long = `
program: hpl
parameters: {P: 16, Q: 16, NB: 64}
machine: dahu
factors:
  N: [1000, 2000, 250000]
`

// TestWalltime: workers whose time is over give back what they were making; those that follow go on
// from its checkpoint.
func TestWalltime(t *testing.T) {
	cluster, command, file := slurmtest.Start(t), studytest.Command(t), studytest.File(t, long)
	want := make(chan string)
	go func() { want <- studytest.Undisturbed(t, command, file) }()
	e := &engine{cluster, t, command, file, filepath.Join(t.TempDir(), "s"), ""}
	studytest.Run(t, command, "plan", file, "-o", e.dir)
	submitted := 0
	for submitted < 6 && !e.done() {
		e.submit("--workers", "1", "--time", "1")
		submitted++
		e.Wait("idle", e.idle)
		t.Log(e.output())
	}
	e.want = <-want
	e.finish()
	t.Logf("%d jobs of a minute", submitted)
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
