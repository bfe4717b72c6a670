package capture_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestCollectives: testdata/collectives.c makes 20 operations that block on each of three
// communicators of more than a rank, six others on two of them, and all agree. On a grid of 3 × 2
// ranks, the first dimension of which is closed, a rank has three neighbours.
func TestCollectives(t *testing.T) {
	var first [][]trace.Action
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "6", m.compile(t, "collectives.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		ranks := actions(t, merged(t, dir, capture.Options{}))
		for rank, list := range ranks {
			counts := map[trace.Kind]int{}
			for _, a := range list {
				counts[a.Kind]++
			}
			want := map[trace.Kind]int{trace.KindCollective: 3 * 20, trace.KindIcollective: 2 * 6, trace.KindPhase: 4,
				trace.KindSend: 2, trace.KindIrecv: 2 + 2*3, trace.KindIsend: 2 * 3, trace.KindWaitAll: 2, trace.KindWait: 2*3 + 4*3}
			if diff := cmp.Diff(want, counts); diff != "" {
				t.Errorf("rank %d (-want +got):\n%s", rank, diff)
			}
		}
		if first == nil {
			first = ranks
		} else if diff := cmp.Diff(first, ranks); diff != "" {
			t.Errorf("the other library does something else (-first +this):\n%s", diff)
		}
	})
}
