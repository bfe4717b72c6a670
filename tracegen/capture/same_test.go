package capture_test

import (
	"testing"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestOneHandle: testdata/same.c, whose 2^18 requests are found in time in proportion to their
// number; to pass all that were found already would take a minute. Two messages go each way.
func TestOneHandle(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "same.c")
		dir, out, err := m.record(t, "2", program, "262144")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for rank, list := range actions(t, merged(t, dir, capture.Options{})) {
			counts := map[trace.Kind]int{}
			for _, a := range list {
				counts[a.Kind]++
			}
			if counts[trace.KindIsend] != 2 || counts[trace.KindIrecv] != 2 || counts[trace.KindWaitAll] != 1 {
				t.Errorf("rank %d: %v, want 2 isends, 2 irecvs and a waitall", rank, counts)
			}
		}
	})
}
