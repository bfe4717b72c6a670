package capture_test

import (
	"slices"
	"testing"

	"reprise/trace"
	"reprise/tracegen/capture"
)

// TestDrain: of testdata/any.c rank 0 waits for any of its requests as often as there are, by
// either call, whichever came first; of what is begun anew meanwhile, for what had ended.
func TestDrain(t *testing.T) {
	eachMPI(t, func(t *testing.T, m mpi) {
		program := m.compile(t, "any.c")
		for _, ranks := range []string{"2", "4"} {
			dir, out, err := m.record(t, ranks, program)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got, want []trace.Kind
			tr := merged(t, dir, capture.Options{})
			turns := 0
			for _, a := range actions(t, tr)[0] {
				got = append(got, a.Kind)
				if a.Kind == trace.KindCollective {
					turns++
				}
				how := trace.CompleteAny
				if turns >= 10 {
					how = trace.CompleteSome
				}
				if a.Kind == trace.KindComplete && trace.Completion(a.Sym) != how {
					t.Errorf("%s ranks, turn %d: %v, want %v", ranks, turns, trace.Completion(a.Sym), how)
				}
			}
			others := tr.Header().Ranks - 1
			each, done := trace.KindComplete, others
			if others == 1 {
				each = trace.KindWait // for one request alone
			}
			for range 20 {
				want = append(want, slices.Repeat([]trace.Kind{trace.KindIrecv}, others)...)
				want = append(want, slices.Repeat([]trace.Kind{each}, done)...)
				want = append(want, trace.KindCollective)
			}
			for range 10 * (2 - min(2, others)) {
				want = append(want, trace.KindIrecv, trace.KindWait)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s ranks: %v, want %v", ranks, got, want)
			}
		}
	})
}
