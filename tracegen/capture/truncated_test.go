package capture_test

import (
	"testing"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestTruncated: testdata/truncated.c, whose rank 1 receives messages of tag 0 to 10, of 40 bytes
// if the tag is even, else of 4, into room for 4. Of those that are too long, the library that
// does not say how long leaves the trace without their size.
func TestTruncated(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "2", m.compile(t, "truncated.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		long := map[string]int64{"openmpi": 40, "mpich": -1}[m.name]
		got := map[int32]int64{}
		open := 0
		for _, a := range actions(t, merged(t, dir, capture.Options{}))[1] {
			switch a.Kind {
			case trace.KindIrecv:
				open++
				got[a.Tag] = a.X[0]
			case trace.KindRecv:
				got[a.Tag] = a.X[0]
			case trace.KindWait:
				open--
			case trace.KindComplete, trace.KindWaitAll:
				open = 0
			case trace.KindSendrecv:
				_, tag := a.Source()
				got[tag] = a.X[1]
			}
		}
		for tag := range int32(11) {
			want := int64(4)
			if tag%2 == 0 {
				want = long
			}
			if bytes, ok := got[tag]; !ok || bytes != want {
				t.Errorf("tag %d: %d bytes, %v, want %d", tag, bytes, ok, want)
			}
		}
		if open != 0 {
			t.Errorf("%d requests are left", open)
		}
	})
}
