package main

import (
	"os"
	"testing"

	"reprise/internal/regular/regulartest"
)

// TestSpecialSteps: a machine's directory whose notes of an earlier call are no file is refused at once.
func TestSpecialSteps(t *testing.T) {
	regulartest.Special(t, func(t *testing.T, what string, put func(string)) {
		r := &machineRun{dir: t.TempDir()}
		if err := os.Mkdir(r.path("measured"), 0o777); err != nil {
			t.Fatal(err)
		}
		put(r.path(stepsFile))
		if err, want := r.begin(), r.path(stepsFile)+": want a regular file, this is "+what; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}
