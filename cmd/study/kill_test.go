package main

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/command/commandtest"
)

// killed is a study of 48 runs of some milliseconds each.
const killed = `program: hpl
parameters: {P: 2, Q: 2, NB: 64}
machine: dahu
factors:
  N: [1500, 1600, 1700, 1800, 1900, 2000]
  DEPTH: [0, 1]
  BCAST: [1ring, 2ring, long, longM]
`

// TestKill: workers that are killed at any moment lose nothing but the runs that they are making:
// the table is that of an undisturbed study to the byte, and each run is in the journals once.
func TestKill(t *testing.T) {
	file := write(t, "killed.yaml", killed)
	calm, dir := filepath.Join(t.TempDir(), "calm"), filepath.Join(t.TempDir(), "killed")
	if out, err := commandtest.Command(t, "study", "run", file, "-o", calm).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	kills := 0
	if out, err := commandtest.Command(t, "study", "plan", file, "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	workers := []*exec.Cmd{begin(t, "run", file, "-o", dir), begin(t, "worker", dir)}
	for range 40 {
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
		i := random.IntN(len(workers))
		if workers[i].Process.Kill() == nil {
			kills++
		}
		_ = workers[i].Wait() // it was killed, or has ended
		workers[i] = begin(t, "worker", dir)
	}
	for _, w := range workers {
		_ = w.Process.Kill()
		_ = w.Wait()
	}
	out, err := commandtest.Command(t, "study", "run", file, "-o", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "all runs are done") {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%d kills", kills)
	for _, name := range []string{"table.csv", "table.parquet"} {
		want, err := os.ReadFile(filepath.Join(calm, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s differs from that of a study that nobody disturbed: %v", name, err)
		}
	}
	for id, n := range timesMade(t, dir) {
		if n != 1 {
			t.Errorf("run %s is in the journals %d times", id, n)
		}
	}
	for _, sub := range []string{"leases", "workers"} {
		if left, _ := filepath.Glob(filepath.Join(dir, sub, "*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// begin starts a command of study.
func begin(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	p := commandtest.Command(t, "study", args...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// timesMade returns how often each run is in the journals.
func timesMade(t *testing.T, dir string) map[string]int {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(dir, "journals", "*"))
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, path := range journals {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var e struct {
				Run string `json:"run"`
			}
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				times[e.Run]++
			}
		}
	}
	if len(times) != 48 {
		t.Errorf("%d runs in the journals, want 6*2*4", len(times))
	}
	return times
}
