package verify

import (
	"math/rand/v2"
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// TestPending compares the set with a map from slots to whether they are loose.
func TestPending(t *testing.T) {
	var p pending
	want := map[int32]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		slot := random.Int32N(300)
		q := p.find(slot)
		loose, open := want[slot]
		if open != (q != nil) || open && loose != q.loose || len(p.open) != len(want) {
			t.Fatalf("slot %d: %+v of %d, want %v loose %v of %d", slot, q, len(p.open), open, loose, len(want))
		}
		switch what := random.IntN(1000); {
		case what == 0:
			p.clear()
			clear(want)
		case what < 300 && open:
			p.remove(q)
			delete(want, slot)
		case what < 500 && open:
			q.loose, want[slot] = true, true
		default:
			p.add(slot)
			want[slot] = false
		}
	}
}

// TestManyRequests: 2^16 messages that a rank sends itself, all of them open at once, take time in
// proportion to their number; to look at all that are open would take minutes.
func TestManyRequests(t *testing.T) {
	const messages = 1 << 16
	data := ringTrace(t, func(_ *trace.Writer, b *trace.Builder) {
		self := b.Member(0, b.Param(0))
		for i := range int32(messages) {
			b.Message(trace.OpIrecv, 0, 2*i, self, trace.Const(5), trace.Const(8))
			b.Message(trace.OpIsend, 0, 2*i+1, self, trace.Const(5), trace.Const(8))
		}
		for i := range int32(2 * messages) {
			b.Wait(2*messages - 1 - i)
		}
	}, nil)
	v, err := Trace(tracetest.Open(t, data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(6 * 3 * messages); v.Messages != want {
		t.Errorf("%d messages, want %d", v.Messages, want)
	}
}
