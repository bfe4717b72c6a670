package capture_test

import (
	"slices"
	"testing"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestCounts: 40 turns of testdata/counts.c are steps, though each of their operations has a list
// of counts, and say what the ranks send: to rank i 1 + rank + 2i elements, in the gathering
// 3 + rank.
func TestCounts(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		dir, out, err := m.record(t, "3", m.compile(t, "counts.c"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		tr := merged(t, dir, capture.Options{})
		if n := tr.Header().Steps; n < 40 {
			t.Errorf("%d steps, want 40", n)
		}
		cursors, err := tr.Cursors(nil, trace.CursorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for rank := range cursors {
			r, turns := trace.NewActionReader(&cursors[rank], trace.Hit{}, 0), 0
			for a := r.Next(); a != nil; a = r.Next() {
				if a.Kind != trace.KindCollective {
					continue
				}
				c := a.Collective(&cursors[rank])
				want := []int64{0, int64(1 + rank), int64(4 + 2*rank), int64(9 + 3*rank)}
				switch {
				case c.Kind == trace.CollAlltoallv && slices.Equal(c.SendSums, want):
					turns++
				case c.Kind == trace.CollAllgatherv && c.Send == int64(3+rank) && slices.Equal(c.RecvSums, []int64{0, 3, 7, 12}):
				default:
					t.Fatalf("rank %d: %+v", rank, c)
				}
			}
			if r.Err() != nil || turns != 40 {
				t.Errorf("rank %d: %d turns, %v", rank, turns, r.Err())
			}
		}
	})
}
