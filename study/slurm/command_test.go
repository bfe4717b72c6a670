package slurm_test

// This file drives the command study as tests of whole studies need it: runs it, and checks what must hold whatever has
// happened to its workers, with Slurm (study_test.go) or without (kill_test.go).

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// variable of the environment with the path of a command that is built already, for machines without a compiler.
const variable = "REPRISE_STUDY"

// commandStudy returns the path of the command study, which it builds.
func commandStudy(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	// Once for each test that asks: go build is quick when nothing has changed.
	path := filepath.Join(t.TempDir(), "study")
	if out, err := exec.Command("go", "build", "-o", path, "reprise/cmd/study").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// runStudy runs a command that must succeed, and returns what it prints.
func runStudy(t testing.TB, name string, args ...string) string {
	t.Helper()
	return failStudy(t, 0, name, args...)
}

// failStudy runs a command that must exit with a code, and returns what it prints.
func failStudy(t testing.TB, code int, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		t.Fatalf("%s %s: %v, want code %d\n%s", filepath.Base(name), strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

// studyFile writes the file of a study into a new directory, and returns its path.
func studyFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// undisturbed returns the table of a study that one process makes.
func undisturbed(t testing.TB, command, file string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "undisturbed")
	runStudy(t, command, "run", file, "-o", dir, "--quiet")
	return tables(t, dir)
}

// tables returns the tables of a study's directory, CSV and Parquet.
func tables(t testing.TB, dir string) string {
	t.Helper()
	var both []byte
	for _, name := range []string{"table.csv", "table.parquet"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, text...)
	}
	return string(both)
}

// checkOnce checks that the journals of a study have each run of its plan once: none is lost,
// none was made again that was done, and no lease is left.
func checkOnce(t testing.TB, dir string) {
	t.Helper()
	// The files are read here by their documented format, not by package study, so that a fault there is not hidden.
	times := map[string]int{}
	journals, err := filepath.Glob(filepath.Join(dir, "journals", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range journals {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var e struct{ Run string }
			if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &e) == nil {
				times[e.Run]++
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	var plan struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal(text, &plan); err != nil {
		t.Fatal(err)
	}
	for _, r := range plan.Runs {
		if times[r.ID] != 1 {
			t.Errorf("%s: run %s was made %d times", dir, r.ID, times[r.ID])
		}
	}
	if len(times) != len(plan.Runs) {
		t.Errorf("%s: the journals have %d runs, the plan %d", dir, len(times), len(plan.Runs))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "leases", "*")); err != nil || len(left) > 0 {
		t.Errorf("%s: leases are left: %v, %v", dir, left, err)
	}
}
