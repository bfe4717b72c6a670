package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
)

// TestPlaces: a barrier of the rank alone is followed by a wait for nothing 1000 ns later
// where a barrier of all came before it, and 9000 ns later where a wait did: one site, of two
// places. All other times are 10 ns, so that from barrier to barrier of all it is 10 + 1000 +
// 10 and 10 + 10 + 9000 + 10 ns, and not twice 5000 in the mean.
func TestPlaces(t *testing.T) {
	all := func(records []byte, ns uint64) []byte { return call(records, procBarrier, ns) }
	none := func(records []byte, ns uint64) []byte { return call(records, procWait, ns) }
	alone := func(records []byte, ns uint64) []byte {
		records = call(records, procBarrier, ns)
		records[len(records)-1] = 2 // MPI_COMM_SELF
		return records
	}
	var records []byte
	for range 5 {
		records = none(alone(all(records, 10), 10), 1000)
		records = none(alone(none(all(records, 10), 10), 10), 9000)
	}
	var got []float64
	for _, a := range mergeRecords(t, Options{Rate: 1e9}, records, records) {
		if a.Kind == trace.KindFlops {
			got = append(got, a.Flops())
		}
	}
	want := []float64{10}
	for range 5 {
		want = append(want, 1020, 9030)
	}
	want[len(want)-1] = 9020 // no barrier follows
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flop (-want +got):\n%s", diff)
	}
}

// TestChance: times that differ by nothing that was called before them have one mean.
func TestChance(t *testing.T) {
	s := sites{times: map[site]gaps{}, depths: map[site]int{}}
	at := site{before: 1, after: 2}
	var by trail
	classes := new([len(pastDepths)]map[uint64]gaps)
	for i := range 64 {
		time := float64(i % 2 * 1000)
		by.push(uint64(i / 2 % 16))
		s.add(at, time, false)
		classify(classes, &by, time)
	}
	s.choose(at, classes)
	if depth, parted := s.depths[at]; parted {
		t.Errorf("parted by %d calls", depth)
	}
}
