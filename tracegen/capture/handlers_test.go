package capture_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/tracegen/capture"
)

// TestHandlers: the error handler of testdata/handlers.c is called as often as without the recorder,
// and what its ranks send is in the trace.
func TestHandlers(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "handlers.c")
		args := append(slices.Clone(m.launcher), "2", program)
		plain, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, plain)
		}
		dir, out, err := m.record(t, "2", program)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if diff := cmp.Diff(lines(string(plain)), lines(out)); diff != "" {
			t.Errorf("calls of the handler (-without +recorded):\n%s", diff)
		}
		want := []string{"0 1 1 8\n", "0 1 2 4\n", "1 0 1 8\n", "1 0 2 4\n"}
		if diff := cmp.Diff(want, sent(actions(t, merged(t, dir, capture.Options{})))); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
}

// lines returns the lines of a text in order.
func lines(text string) []string {
	list := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(list)
	return list
}
