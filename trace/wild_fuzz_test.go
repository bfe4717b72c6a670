package trace_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/diff"
	"reprise/trace/stat"
	"reprise/trace/verify"
)

// wildTrace returns the trace of a wild program, nil if there is none.
func wildTrace(t testing.TB, data []byte, turns int64) *trace.Trace {
	t.Helper()
	file, err := tracetest.Wild(data, turns)
	if err != nil {
		return nil
	}
	tr, err := trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), "wild")
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	return tr
}

// wildSeeds are bytes for wild programs.
func wildSeeds(f *testing.F) {
	r := rand.New(rand.NewPCG(22, 1))
	for range 64 {
		data := make([]byte, 20+r.IntN(200))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
}

// FuzzWild: programs without sense are counted, checked, listed and compared without a
// panic, and what is correct is counted alike, if it can be.
func FuzzWild(f *testing.F) {
	wildSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		const turns = 3
		tr := wildTrace(t, data, turns)
		if tr == nil {
			return
		}
		defer tr.Close()
		verified, bad := verify.Trace(tr, nil)
		for _, late := range []bool{false, true} {
			counted, err := stat.Of(tr, stat.Options{Late: late}) // not everything can be counted
			if bad == nil && err == nil && counted.Totals.Messages != verified.Messages {
				t.Errorf("%v, counted as %+v", verified, counted.Totals)
			}
		}
		other := wildTrace(t, data[len(data)/8:], turns)
		if other == nil {
			return
		}
		defer other.Close()
		_, _ = diff.Traces(tr, other, diff.Options{Actions: true}) // whatever they say
		if same, err := diff.Traces(tr, wildTrace(t, data, turns), diff.Options{Actions: true, Summary: true}); err == nil && !same.Same {
			t.Errorf("a trace differs from itself: %+v", same)
		}
	})
}
