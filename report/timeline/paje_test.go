package timeline_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/report/timeline"
)

// dump has pj_dump read a file: the lines of its states, links and containers.
func dump(t *testing.T, file []byte) map[string][][]string {
	t.Helper()
	if _, err := exec.LookPath("pj_dump"); err != nil {
		t.Skip("pj_dump is not installed: see scripts/install-test-tools.sh")
	}
	path := filepath.Join(t.TempDir(), "run.paje")
	noError(t, os.WriteFile(path, file, 0o600))
	var stderr bytes.Buffer
	cmd := exec.Command("pj_dump", "--user-defined", "--float-precision=9", path)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("pj_dump: %v\n%s", err, stderr.String())
	}
	lines := map[string][][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Split(line, ", ")
		lines[fields[0]] = append(lines[fields[0]], fields[1:])
	}
	return lines
}

// TestPajePair: what pj_dump reads of the pair, by arithmetic.
func TestPajePair(t *testing.T) {
	lines := dump(t, exportPair(t, timeline.Paje))
	arrived, end := fmt.Sprintf("%.9f", pairEnd), fmt.Sprintf("%.9f", pairEnd+1)
	var states, links []string
	for _, f := range lines["State"] { // container, type, start, end, duration, nesting, value, arguments
		states = append(states, strings.Join(slices.Concat(f[:4], f[6:]), ", "))
	}
	for _, f := range lines["Link"] { // container, type, start, end, duration, value, from, to, key
		links = append(links, strings.Join(slices.Concat(f[1:4], f[5:8]), ", "))
	}
	slices.Sort(states)
	want := []string{
		"rank 0, action, 0.000000000, 1.000000000, flops, 1000000000",
		"rank 0, action, 1.000000000, " + arrived + ", send, 1 1000000 7",
		"rank 0, action, " + arrived + ", " + end + ", flops, 1000000000",
		"rank 0, phase, 0.000000000, " + arrived + ", first",
		"rank 1, action, 0.000000000, 0.000000000, irecv, 0 1000000 7",
		"rank 1, action, 0.000000000, 0.500000000, flops, 500000000",
		"rank 1, action, 0.500000000, " + arrived + ", wait, recv 0 1000000 7",
		"rank 1, action, " + arrived + ", " + end + ", flops, 1000000000",
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"message, 1.000000000, " + arrived + ", 1000000, rank 0, rank 1"}, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// TestPajeHPL: pj_dump reads a run of HPL, and finds the times and messages of its result.
func TestPajeHPL(t *testing.T) {
	file, _, res := exportHPL(t, timeline.Paje, timeline.Span{})
	lines := dump(t, file)
	if n := int64(len(lines["Link"])); n != res.Messages {
		t.Errorf("%d links, want %d", n, res.Messages)
	}
	sums := map[string]float64{}
	for _, f := range lines["State"] {
		seconds, err := strconv.ParseFloat(f[4], 64)
		noError(t, err)
		if f[1] == "action" {
			sums[f[0]] += seconds
		}
	}
	for rank, want := range res.Ranks {
		// pj_dump rounds each of the times to 1e-9 s.
		if got, n := sums[fmt.Sprintf("rank %d", rank)], float64(len(lines["State"])); got < want.End-n*1e-9 || got > want.End+n*1e-9 {
			t.Errorf("rank %d: states of %v s, want %v", rank, got, want.End)
		}
	}
}

// TestPajeOrder: events are in the order of time, up to the end of the run.
func TestPajeOrder(t *testing.T) {
	file, _, res := exportHPL(t, timeline.Paje, timeline.Span{})
	last := 0.0
	for line := range strings.Lines(string(file)) {
		if strings.TrimSpace(line) == "" || line[0] == '%' || line[0] < '5' {
			continue
		}
		at, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
		if err != nil || at < last {
			t.Fatalf("%s: after %v s (%v)", line, last, err)
		}
		last = at
	}
	if last != res.Makespan {
		t.Errorf("the last event is at %v s, want %v", last, res.Makespan)
	}
}

// TestLabels: what a file is of stands in it, where its format has a place for that.
func TestLabels(t *testing.T) {
	const text = "interrupted at 3 s\n"
	instants := readPerfetto(t, exportPair(t, timeline.Perfetto, text)).instants
	if want := "MPI ranks: " + text + " at 3000000000"; len(instants) != 1 || instants[0] != want {
		t.Errorf("Perfetto's instants %q, want %q", instants, want)
	}
	paje := exportPair(t, timeline.Paje, text)
	if !strings.Contains(string(paje), "\n# interrupted at 3 s \n") {
		t.Errorf("no comment in\n%s", paje)
	}
	if plain := dump(t, exportPair(t, timeline.Paje)); len(dump(t, paje)["State"]) != len(plain["State"]) {
		t.Error("a comment changes what pj_dump reads")
	}
}
