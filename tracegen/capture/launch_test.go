package capture_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/tracegen/capture"
)

// TestSeveralPrograms: those of a command line that are parted by colons are recorded all.
func TestSeveralPrograms(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "ring.c")
		dir, out, err := m.record(t, "1", program, ":", "-np", "1", program, ":", "-np", "1", program)
		if err != nil || strings.Count(out, "of 3\n") != 3 {
			t.Fatalf("%v, printed %q", err, out)
		}
		if n := len(actions(t, merged(t, dir, capture.Options{}))); n != 3 {
			t.Errorf("%d ranks, want 3", n)
		}
	})
}

// TestPreloads: what a command line preloads itself is loaded into each rank, and the recorder
// too, in whatever way it says so.
func TestPreloads(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", other, "testdata/preloaded.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ways := map[string][][]string{
		"openmpi": {{"-x", "LD_PRELOAD=" + other}, {"--x", "LD_PRELOAD"}},
		"mpich":   {{"-genv", "LD_PRELOAD", other}, {"-env", "LD_PRELOAD", other}, {"-genv", "LD_PRELOAD=" + other}},
	}
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "ring.c")
		for _, way := range append(ways[m.name], []string{"env", "LD_PRELOAD=" + other}, []string{"sh", "-c", "LD_PRELOAD=" + other + " exec $0"}) {
			if way[len(way)-1] == "LD_PRELOAD" {
				t.Setenv("LD_PRELOAD", other)
			}
			dir, out, err := m.record(t, "2", append(way, program)...)
			if err != nil || strings.Count(out, "preloaded into ring\n") != 2 {
				t.Fatalf("%q: %v, printed %q", way, err, out)
			}
			merged(t, dir, capture.Options{})
		}
	})
}
