package capture_test

import (
	"testing"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestCorners: what is legal and rare, with as many messages and bytes as testdata/corners.c says.
func TestCorners(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "corners.c")
		for _, c := range []struct {
			name            string
			messages, bytes int64
		}{
			{"neighbours", 2 + 6, 8 * 4},
			{"cancelled", 2 * 3, 6 * 4},
			{"looked", 3, 3 * 4},
			{"matched", 3, 4 + 8 + 12},
			{"callback", 3 + 1, 4 * 4},
			{"groups", 2, 2 * 4},
			{"duplicates", 2*2 + 3, 7 * 4},
			{"finalized", 3, 3 * 4},
			{"unended", 3 * 3, 9 * 4},
			{"withdrawn", 3, 8 + 4 + 4},
			{"held", 2 * 2 * 3, 12 * 4},
		} {
			t.Run(c.name, func(t *testing.T) {
				dir, out, err := m.record(t, "3", program, c.name)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				var messages, bytes int64
				for _, list := range actions(t, merged(t, dir, capture.Options{})) {
					for _, a := range list {
						switch a.Kind {
						case trace.KindSend, trace.KindIsend, trace.KindSendrecv:
							messages++
							bytes += a.X[0]
						}
					}
				}
				if messages != c.messages || bytes != c.bytes {
					t.Errorf("%d messages of %d bytes, want %d of %d", messages, bytes, c.messages, c.bytes)
				}
			})
		}
	})
}

// TestCrossed: three times a broadcast and a barrier of three ranks, which are started in different orders,
// are each the same operation on all of them; MPI before 4.0 has none such.
func TestCrossed(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "3", m.compile(t, "corners.c"), "crossed")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		operations := 0
		for _, list := range actions(t, merged(t, dir, capture.Options{})) {
			for _, a := range list {
				if a.Kind == trace.KindIcollective {
					operations++
				}
			}
		}
		if operations != 3*2*3 && (operations != 0 || m.name != "openmpi") {
			t.Errorf("%d operations, want 18", operations)
		}
	})
}

// TestLookedWaits: who has seen that a request has ended has waited for it there: behind the look
// comes a wait, and nothing where the request is let go of.
func TestLookedWaits(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "3", m.compile(t, "corners.c"), "looked")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for rank, list := range actions(t, merged(t, dir, capture.Options{})) {
			var waits, frees int
			for _, a := range list {
				switch a.Kind {
				case trace.KindWait:
					waits++
				case trace.KindFree:
					frees++
				}
			}
			if waits != 1 || frees != 0 {
				t.Errorf("rank %d: %d waits, %d let go of, want 1 and 0", rank, waits, frees)
			}
		}
	})
}
