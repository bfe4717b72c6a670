package capture_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestSpin: of testdata/spin.c, calls that ask again and again are waits, whatever their
// number was; a test before other work stays.
func TestSpin(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "2", m.compile(t, "spin.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var got []trace.Kind
		for _, a := range actions(t, merged(t, dir, capture.Options{}))[1] {
			got = append(got, a.Kind)
		}
		want := []trace.Kind{trace.KindIrecv, trace.KindWait, trace.KindIrecv, trace.KindWait, trace.KindIprobe, trace.KindRecv,
			trace.KindIrecv, trace.KindTest, trace.KindCollective, trace.KindWait}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rank 1 (-want +got):\n%s", diff)
		}
	})
}
